/** Starts the processes that are measured. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Measurement } from '../measure.mts';
import { profileArgs } from '../profile.mts';
import type { BareClientTasks } from './bareClient.mts';
import type { FileTasks } from './files.mts';
import type { NodeTasks } from './node.mts';
import type { Reply } from './workerProcess.mts';

export interface WorkerTasks {
	node: NodeTasks;
	bareClient: BareClientTasks;
	rowFiles: Pick<FileTasks, 'importFile' | 'exportFile'>;
	attachments: Pick<FileTasks, 'upload' | 'download'>;
}

/** Node's default heap is too small for a million items and their outputs. */
const LARGE_HEAP = ['--max-old-space-size=10000'];

/**
 * With a small heap, the peak for files of rows is what they need, not what Node.js uses before it
 * collects garbage.
 */
const SMALL_HEAP = ['--max-old-space-size=200', '--max-semi-space-size=8'];

/** The program of each, and the options of its Node process. */
const PROGRAMS: Record<keyof WorkerTasks, [file: string, options: string[]]> = {
	node: ['node.mts', LARGE_HEAP],
	bareClient: ['bareClient.mts', LARGE_HEAP],
	rowFiles: ['files.mts', SMALL_HEAP],
	attachments: ['files.mts', []],
};

export interface Worker<Tasks> {
	/** @returns the measurement, with the details that the work returned */
	run<Name extends keyof Tasks & string, Details = object>(
		name: Name,
		task: Tasks[Name],
	): Promise<Measurement & Details>;
	/** Resolves when it has ended, and has written its profile if one is wanted. */
	stop(): Promise<void>;
}

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
	const [file, options] = PROGRAMS[name];
	const child = fork(join(import.meta.dirname, file), {
		execArgv: ['--expose-gc', ...options, ...profileArgs(name)],
		env: { ...process.env, ...(certificateFile && { NODE_EXTRA_CA_CERTS: certificateFile }) },
	});
	const ended = once(child, 'exit');
	const exited = ended.then(([code]) => {
		throw new Error(`The worker '${name}' exited (${String(code)}).`);
	});
	// Matters only while something waits for the worker.
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
		stop: async () => {
			if (child.connected) child.disconnect();
			await ended;
		},
	};
}
