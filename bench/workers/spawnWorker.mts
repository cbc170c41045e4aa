/** Starts the processes that are measured. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Measurement } from '../measure.mts';
import { profileArgs } from '../profile.mts';
import type { BareClientTasks } from './bareClient.mts';
import type { HttpRequestNodeTasks } from './httpRequestNode.mts';
import type { NocoDbNodeTasks } from './nocoDbNode.mts';
import type { NodeTasks } from './node.mts';
import type { RowFileTasks } from './rowFiles.mts';
import type { Reply } from './workerProcess.mts';

export interface WorkerTasks {
	node: NodeTasks;
	httpRequestNode: HttpRequestNodeTasks;
	nocoDbNode: NocoDbNodeTasks;
	bareClient: BareClientTasks;
	rowFiles: RowFileTasks;
}

export interface Worker<Tasks> {
	/** @returns the measurement, with the details that the work returned */
	run<Name extends keyof Tasks & string, Details = object>(
		name: Name,
		task: Tasks[Name],
	): Promise<Measurement & Details>;
	stop(): void;
}

/** Node's default heap is too small for a million items and their outputs. */
const HEAP_MB = 10_000;

/** Files of rows get a small heap: the peak is then what they need, not what Node.js takes before it collects. */
const ROW_FILES_HEAP = ['--max-old-space-size=200', '--max-semi-space-size=8'];

const heapArgs = (name: keyof WorkerTasks) =>
	name === 'rowFiles' ? ROW_FILES_HEAP : [`--max-old-space-size=${HEAP_MB}`];

/**
 * Starts a worker process and waits until it is ready.
 *
 * @param certificateFile a certificate that it trusts, in PEM
 * @throws Error with the process's own message if it does not start, or if a task fails
 */
export async function spawnWorker<Name extends keyof WorkerTasks>(
	name: Name,
	certificateFile?: string,
): Promise<Worker<WorkerTasks[Name]>> {
	const child = fork(join(import.meta.dirname, `${name}.mts`), {
		execArgv: ['--expose-gc', ...heapArgs(name), ...profileArgs(name)],
		env: { ...process.env, ...(certificateFile && { NODE_EXTRA_CA_CERTS: certificateFile }) },
	});
	const exited = once(child, 'exit').then(([code]) => {
		throw new Error(`The worker '${name}' exited (${String(code)}).`);
	});
	// It matters only while something waits for the worker.
	exited.catch(() => undefined);
	const message = async () => (await Promise.race([once(child, 'message'), exited]))[0] as unknown;
	await message();
	return {
		async run<Details>(task: string, input: unknown) {
			child.send({ name: task, input });
			const reply = (await message()) as Reply;
			if ('error' in reply) throw new Error(`${name}: ${task}: ${reply.error}`);
			return reply as Measurement & Details;
		},
		stop: () => {
			if (child.connected) child.disconnect();
		},
	};
}
