/** The n8n of a crash test: starts its workflows, kills it and restarts it. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningN8n, startN8n } from '../../../harness/n8nProcess.mts';
import { type Execution, createOwner, type N8nApi, signIn } from '../../../harness/n8nApi.mts';
import { type ExecutionSummary, listExecutions } from '../../support/n8n.mts';
import { START } from './workflows.mts';

/** n8n takes a moment to mark what was interrupted. */
const RECOVERY_MS = 30_000;

export class N8nHost {
	readonly #userFolder: string;
	readonly #owner = createOwner();
	#n8n: RunningN8n | undefined;
	#n8nApi: N8nApi | undefined;
	/** When this n8n was started. */
	#startedAt = 0;
	/** n8n's output, as far as it was kept. */
	log = '';

	constructor(userFolder: string) {
		this.#userFolder = userFolder;
	}

	get n8nApi(): N8nApi {
		if (!this.#n8nApi) throw new Error('n8n does not run.');
		return this.#n8nApi;
	}

	async start(): Promise<void> {
		this.#startedAt = Date.now();
		this.#n8n = await startN8n({ userFolder: this.#userFolder, isBare: true });
		this.#n8nApi = await signIn(this.#n8n.url, this.#owner);
	}

	async kill(): Promise<void> {
		const n8n = this.#n8n;
		if (!n8n) return;
		// First, so that errors from now on are known to have a reason.
		this.#n8n = undefined;
		process.kill(n8n.pid, 'SIGKILL');
		await n8n.exited;
		this.log += n8n.output();
	}

	async stop(): Promise<void> {
		await this.#n8n?.stop();
		this.log += this.#n8n?.output() ?? '';
		this.#n8n = undefined;
	}

	/** Runs a workflow to its end; undefined if n8n was killed before. */
	async run(workflowId: string): Promise<Execution | undefined> {
		const n8n = this.#n8n;
		try {
			return await this.n8nApi.runWorkflow(workflowId, START);
		} catch (error) {
			if (n8n === this.#n8n) throw error;
			return undefined;
		}
	}

	/**
	 * Repeats the executions of a workflow that were interrupted or failed, like a user with *Retry*.
	 * Returns how many there were.
	 */
	async retryFailedExecutions(workflowId: string): Promise<number> {
		const end = Date.now() + RECOVERY_MS;
		let failed: ExecutionSummary[] = [];
		for (;;) {
			const rows = await listExecutions(this.n8nApi, workflowId);
			const repeated = new Set(rows.map(({ retryOf }) => retryOf));
			failed = rows.filter(
				({ id, status, startedAt, retrySuccessId }) =>
					(['crashed', 'error'].includes(status) || this.#hasDied({ status, startedAt })) && !retrySuccessId && !repeated.has(id),
			);
			if (failed.length > 0 || Date.now() > end) break;
			if (!rows.some(({ status }) => ['new', 'running', 'unknown'].includes(status))) break;
			await sleep(200);
		}
		for (const { id } of failed) await this.n8nApi.request('POST', `/executions/${id}/retry`, {});
		return failed.length;
	}

	/** n8n leaves an execution as running if its log only says that it was started. */
	#hasDied({ status, startedAt }: Pick<ExecutionSummary, 'status' | 'startedAt'>): boolean {
		return status === 'running' && Date.parse(startedAt ?? '') < this.#startedAt;
	}
}
