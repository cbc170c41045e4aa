/** Sandboxes in a thread of this process, which start faster than in their own processes. */
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { connectSandbox, type ConnectedSandbox, type SandboxTokens } from '../../harness/sandboxProcess.mts';
import { openSandbox } from '../../sandbox/sandbox.mts';

export interface SandboxThread {
	sandboxes: ConnectedSandbox[];
	stop(): Promise<void>;
}

interface Opened {
	baseUrl: string;
	tokens: SandboxTokens;
}

/** Starts this many sandboxes without demo data, on free ports. */
export async function startSandboxThread(count: number): Promise<SandboxThread> {
	const thread = new Worker(new URL(import.meta.url), { workerData: count });
	const [opened] = (await once(thread, 'message')) as [Opened[]];
	return {
		sandboxes: opened.map(({ baseUrl, tokens }) => connectSandbox(baseUrl, tokens)),
		stop: async () => void (await thread.terminate()),
	};
}

if (!isMainThread) {
	const opened = Array.from({ length: workerData as number }, async () => {
		const { baseUrl, tokens } = await openSandbox({ port: 0, file: ':memory:', seeded: false });
		return { baseUrl, tokens };
	});
	parentPort!.postMessage(await Promise.all(opened));
}
