/**
 * A real n8n for the benchmarks: started as `npm start` does, its workflows run through its API, their
 * times read from the executions that it stored. One that ended or hangs is started again.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
	createOwner,
	type JsonObject,
	type N8nApi,
	signIn,
	type WorkflowJson,
} from '../../harness/n8nApi.mts';
import { makeUserFolder, type RunningN8n, startN8n } from '../../harness/n8nProcess.mts';
import { installPackage, packPackage } from '../../harness/nodePackage.mts';
import { findFreePort } from '../../harness/processes.mts';
import { ContestantFailed } from '../compete.mts';
import type { Measurement } from '../measure.mts';
import { profilePath } from '../profile.mts';
import { treeMemory, watchTreeMemory } from './processTree.mts';
import { readExecution, type Returned, type StoredExecution } from './storedExecution.mts';

/** How long a run may take in total, with making the items and saving the execution. */
export const MAX_SECONDS = 180;

const POLL_INTERVAL_MS = 50;

/** n8n is restarted if it keeps this much more memory than after its start, so that it can be measured. */
const MAX_GROWTH_MB = 250;

interface Running {
	n8n: RunningN8n;
	api: N8nApi;
	/** The address of probe.cts inside it. */
	probe: string;
	/** Its memory after its start. */
	startMB: number;
	/** Whether it has run a workflow. */
	isUsed: boolean;
}

/** The end of n8n's output: V8's error message rather than the stack below it. */
function lastWords(output: string): string {
	const lines = output.trim().split('\n');
	return (lines.findLast((line) => line.includes('FATAL ERROR')) ?? lines.at(-1) ?? '').trim();
}

export class N8nHost {
	readonly #folder: string;
	readonly #env: Record<string, string>;
	readonly #maxGrowthMB: number;
	readonly #owner = createOwner();
	readonly #credentials = new Map<string, { id: string; name: string }>();
	#running?: Running;

	private constructor(folder: string, env: Record<string, string>, maxGrowthMB: number) {
		this.#folder = folder;
		this.#env = env;
		this.#maxGrowthMB = maxGrowthMB;
	}

	/** Installs the package for an n8n that starts when it is needed. */
	static async create(
		env: Record<string, string>,
		{ isMeasured }: { isMeasured: boolean },
	): Promise<N8nHost> {
		const folder = await makeUserFolder();
		await installPackage(folder, await packPackage(folder));
		return new N8nHost(folder, env, isMeasured ? MAX_GROWTH_MB : Infinity);
	}

	/** A client of its API. */
	async api(): Promise<N8nApi> {
		return (await this.#ready()).api;
	}

	/** A stored credential with this data. */
	async credential(type: string, data: JsonObject): Promise<{ id: string; name: string }> {
		const key = JSON.stringify([type, data]);
		let credential = this.#credentials.get(key);
		if (!credential) {
			const name = `${type} ${this.#credentials.size + 1}`;
			const id = await (await this.api()).createCredential({ name, type, data });
			credential = { id, name };
			this.#credentials.set(key, credential);
		}
		return credential;
	}

	/**
	 * Runs a workflow that begins at `Start`.
	 *
	 * @param measured the names of the nodes whose times count
	 * @param isCold whether our node has forgotten what it knew
	 * @returns also what the last of them returned
	 * @throws ContestantFailed if the workflow failed or took too long, or n8n ended
	 */
	async run(
		workflow: WorkflowJson,
		measured: string[],
		isCold = false,
	): Promise<Measurement & Returned> {
		const workflowId = await (await this.api()).createWorkflow(workflow);
		const profile = profilePath(workflow.name);
		const asked = new URLSearchParams({
			...(profile !== undefined && { profile }),
			...(isCold && { cold: '1' }),
		});
		const query = `?${asked.toString()}`;
		const { n8n, api, probe } = await this.#collected(query);
		const before = treeMemory(n8n.pid);
		const peakMemory = watchTreeMemory(n8n.pid);
		const id = await api.startWorkflow(workflowId, 'Start');
		const execution = await this.#waitFor(id).finally(peakMemory);
		const peak = peakMemory();
		const stopped = await fetch(`${probe}/stop${query}`);
		const blocks = (await stopped.json()) as Array<[from: number, to: number]>;
		// The execution can be as large as the data that was written.
		await api.request('POST', '/executions/delete', { ids: [id] });
		if (execution.failure !== undefined) throw new ContestantFailed(execution.failure);
		const times = measured.flatMap((name) => execution.timesOf(name));
		const from = Math.min(...times.map(({ startedAt }) => startedAt));
		const to = Math.max(...times.map(({ startedAt, milliseconds }) => startedAt + milliseconds));
		return {
			seconds: times.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1000,
			memoryMB: before === 0 ? undefined : peak - before,
			// Not what n8n does before and after these nodes, such as saving the execution.
			blockMs: Math.max(0, ...blocks.map(([a, b]) => Math.min(b, to) - Math.max(a, from))),
			...execution.returnedBy(measured.at(-1)!),
		};
	}

	async #ready(): Promise<Running> {
		return (this.#running ??= await this.#start());
	}

	async #start(): Promise<Running> {
		const port = await findFreePort();
		const file = join(import.meta.dirname, 'probe.cts');
		const env = {
			...this.#env,
			NODE_OPTIONS: `--require=${JSON.stringify(file)}`,
			BENCH_PROBE_PORT: String(port),
			// The task runner stays, so that its start is not in the time of a Code node.
			N8N_RUNNERS_AUTO_SHUTDOWN_TIMEOUT: '0',
		};
		const n8n = await startN8n({ userFolder: this.#folder, env });
		const api = await signIn(n8n.url, this.#owner);
		const startMB = treeMemory(n8n.pid);
		return { n8n, api, probe: `http://127.0.0.1:${port}`, startMB, isUsed: false };
	}

	/** n8n without the garbage of the previous run, started again if too much is left. */
	async #collected(query: string): Promise<Running> {
		const running = await this.#ready();
		await fetch(`${running.probe}/start${query}`);
		const growth = treeMemory(running.n8n.pid) - running.startMB;
		if (running.isUsed && growth > this.#maxGrowthMB) {
			await this.stop();
			return await this.#collected(query);
		}
		running.isUsed = true;
		return running;
	}

	async #waitFor(executionId: string): Promise<StoredExecution> {
		const { n8n } = this.#running!;
		const database = join(this.#folder, '.n8n', 'database.sqlite');
		const deadline = Date.now() + MAX_SECONDS * 1000;
		let hasEnded = false;
		void n8n.exited.then(() => (hasEnded = true));
		for (;;) {
			const execution = readExecution(database, executionId);
			if (execution) return execution;
			if (hasEnded || Date.now() > deadline) {
				const words = hasEnded ? lastWords(n8n.output()) : `no end after ${MAX_SECONDS} s`;
				await this.stop();
				throw new ContestantFailed(words);
			}
			await sleep(POLL_INTERVAL_MS);
		}
	}

	async stop(): Promise<void> {
		await this.#running?.n8n.stop();
		this.#running = undefined;
	}
}
