/**
 * A clock for each run that skips the waits between attempts, without the node noticing. Requests,
 * timeouts and the stall check of a download take their real time.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';

interface Time {
	/** How far ahead of the machine's clock this run is, in milliseconds. */
	ahead: number;
	/** The node's timeout, where the user sets none. */
	timeoutS: number;
}

type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

const times = new AsyncLocalStorage<Time>();

for (const clock of [Date, performance]) {
	const machineTime = clock.now.bind(clock);
	clock.now = () => machineTime() + (times.getStore()?.ahead ?? 0);
}

const requireFromWorkflow = createRequire(createRequire(import.meta.url).resolve('n8n-workflow/package.json'));
const sleeping = requireFromWorkflow('@n8n/utils/sleep') as { sleep: Sleep };
const trueSleep = sleeping.sleep;

/** Whether the API client is the caller: all other sleeps measure real time. */
const isRetryWait = () => /\btransport[\\/]client\.js\b/.test(new Error().stack?.split('\n')[3] ?? '');

sleeping.sleep = async (ms, signal) => {
	const time = times.getStore();
	if (!time || !isRetryWait()) return await trueSleep(ms, signal);
	signal?.throwIfAborted();
	await setImmediate();
	time.ahead += ms;
};

const connecting = createRequire(import.meta.url)('../../../dist/nodes/DataPlatform/run/createClient.js') as { DEFAULT_TIMEOUT_S: number };
const defaultTimeoutS = connecting.DEFAULT_TIMEOUT_S;

// Some operations have no option for it. With a fault that never responds, they would take minutes.
Object.defineProperty(connecting, 'DEFAULT_TIMEOUT_S', { get: () => times.getStore()?.timeoutS ?? defaultTimeoutS });

/** Runs `work` on its own clock. @param ahead how far it is ahead of the machine's when it starts */
export const onVirtualClock = async <Result,>(timeoutS: number, work: () => Promise<Result>, ahead = 0) =>
	await times.run({ ahead, timeoutS }, work);
