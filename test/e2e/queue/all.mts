/** The tests of queue mode with one n8n, in this order: those of the last file stop it. */
import './concurrentWorkers.test.mts';
import './killedProcesses.test.mts';
import './queueMode.test.mts';
