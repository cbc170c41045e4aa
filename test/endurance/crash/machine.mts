/** The n8n of a crash test: its workflows are started, and it is killed and started again. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningN8n, startN8n } from '../../../n8n/launch.mts';
import { type Execution, inventOwner, type Session, signIn } from '../../../n8n/session.mts';
import { START } from './workflows.mts';

interface ExecutionRow {
	id: string;
	status: string;
	retryOf?: string | null;
	retrySuccessId?: string | null;
}

/** n8n takes a moment to mark what was interrupted. */
const RECOVERY_MILLISECONDS = 30_000;

export class Machine {
	readonly #userFolder: string;
	readonly #owner = inventOwner();
	#n8n: RunningN8n | undefined;
	#session: Session | undefined;
	/** All that n8n printed, as far as it was kept. */
	printed = '';

	constructor(userFolder: string) {
		this.#userFolder = userFolder;
	}

	get session(): Session {
		if (!this.#session) throw new Error('n8n does not run.');
		return this.#session;
	}

	async start(): Promise<void> {
		this.#n8n = await startN8n({ userFolder: this.#userFolder });
		this.#session = await signIn(this.#n8n.url, this.#owner);
	}

	async kill(): Promise<void> {
		const n8n = this.#n8n;
		if (!n8n) return;
		// First, so that what breaks off now is known to have had a reason.
		this.#n8n = undefined;
		process.kill(n8n.pid, 'SIGKILL');
		await n8n.exited;
		this.printed += n8n.output();
	}

	async stop(): Promise<void> {
		await this.#n8n?.stop();
		this.printed += this.#n8n?.output() ?? '';
		this.#n8n = undefined;
	}

	/** Runs a workflow to its end; undefined when n8n was killed before. */
	async run(workflowId: string): Promise<Execution | undefined> {
		const n8n = this.#n8n;
		try {
			return await this.session.runWorkflow(workflowId, START);
		} catch (error) {
			if (n8n === this.#n8n) throw error;
			return undefined;
		}
	}

	async activate(workflowId: string): Promise<void> {
		const { versionId } = await this.session.call<{ versionId: string }>(
			'GET',
			`/workflows/${workflowId}`,
		);
		await this.session.call('POST', `/workflows/${workflowId}/activate`, { versionId });
	}

	/**
	 * Repeats the executions of a workflow that were interrupted or failed, as a user does with
	 * *Retry*. Answers how many there were.
	 */
	async repeatFailed(workflowId: string): Promise<number> {
		const end = Date.now() + RECOVERY_MILLISECONDS;
		let failed: ExecutionRow[] = [];
		for (;;) {
			const rows = await this.#executions(workflowId);
			const repeated = new Set(rows.map(({ retryOf }) => retryOf));
			failed = rows.filter(
				({ id, status, retrySuccessId }) =>
					['crashed', 'error'].includes(status) && !retrySuccessId && !repeated.has(id),
			);
			if (failed.length > 0 || Date.now() > end) break;
			if (!rows.some(({ status }) => ['new', 'running', 'unknown'].includes(status))) break;
			await sleep(200);
		}
		for (const { id } of failed) await this.session.call('POST', `/executions/${id}/retry`, {});
		return failed.length;
	}

	async #executions(workflowId: string): Promise<ExecutionRow[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		const { results } = await this.session.call<{ results: ExecutionRow[] }>(
			'GET',
			`/executions?filter=${filter}&limit=100`,
		);
		return results;
	}
}
