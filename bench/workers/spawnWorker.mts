/** Starts the processes that are measured. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Measurement } from '../report/row.mts';
import type { Reply } from './workerProcess.mts';
import type { BareClientTasks } from './bareClient.mts';
import type { NodeTasks } from './node.mts';
import type { HttpRequestNodeTasks } from './httpRequestNode.mts';

interface WorkerTasks {
	node: NodeTasks;
	httpRequestNode: HttpRequestNodeTasks;
	bareClient: BareClientTasks;
}

export interface Worker<Tasks> {
	/** @returns the measurement, with the details that the work returned */
	run<Name extends keyof Tasks & string, Details = object>(
		work: Name,
		task: Tasks[Name],
	): Promise<Measurement & Details>;
	stop(): void;
}

/** A million items and their outputs need more than Node takes by itself. */
const HEAP_MB = 10_000;

/** @throws Error with the process's own words where it can't start, or a work fails */
export async function spawnWorker<Name extends keyof WorkerTasks>(
	name: Name,
): Promise<Worker<WorkerTasks[Name]>> {
	const profile = process.env.BENCH_PROFILE
		? [
				'--cpu-prof',
				`--cpu-prof-dir=${process.env.BENCH_PROFILE}`,
				`--cpu-prof-name=${name}-${Date.now()}.cpuprofile`,
			]
		: [];
	const child = fork(join(import.meta.dirname, `${name}.mts`), {
		execArgv: ['--expose-gc', `--max-old-space-size=${HEAP_MB}`, ...profile],
	});
	const exited = once(child, 'exit').then(([code]) => {
		throw new Error(`The process '${name}' ended (${String(code)})`);
	});
	// Its end is a failure only for who waits for it.
	exited.catch(() => undefined);
	const message = async () => (await Promise.race([once(child, 'message'), exited]))[0] as unknown;
	await message();
	return {
		async run<Details>(work: string, task: unknown) {
			child.send({ work, task });
			const reply = (await message()) as Reply;
			if ('error' in reply) throw new Error(`${name}: ${work}: ${reply.error}`);
			return reply as Measurement & Details;
		},
		stop: () => child.disconnect(),
	};
}
