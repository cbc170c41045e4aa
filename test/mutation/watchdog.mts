/**
 * Ends this process if one test computes endlessly: nothing in its own thread could. Runs in
 * another thread, and counts computing time, so that a busy machine ends nothing.
 */
import { workerData } from 'node:worker_threads';

const LOOK_EVERY_MS = 50;

/** How many tests were begun and ended, so odd while one runs; and how long it may compute, in ms. */
const watched = new Int32Array(workerData as SharedArrayBuffer);

const cpuMs = () => {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1000;
};

let seen = -1;
let since = 0;
setInterval(() => {
	const run = Atomics.load(watched, 0);
	if (run !== seen) {
		seen = run;
		since = cpuMs();
	} else if (run % 2 === 1 && cpuMs() - since > Atomics.load(watched, 1)) {
		process.kill(process.pid, 'SIGKILL');
	}
}, LOOK_EVERY_MS);
