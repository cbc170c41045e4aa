/** A running n8n in queue mode with its owner signed in, and the functions that the tests need. */

import assert from 'node:assert/strict';
import { after } from 'node:test';
import axios from 'axios';
import { type QueueEnvironment, setUpQueueEnvironment } from '../../../harness/queueEnvironment.mts';
import { sandboxCredential } from '../../../harness/examples.mts';
import { type Execution, createOwner, outputItems, type N8nApi, signIn, type JsonObject } from '../../../harness/n8nApi.mts';
import { linearWorkflow, type Step } from '../../support/linearWorkflow.mts';
import type { SandboxAdmin } from '../../../harness/sandboxAdmin.mts';
import { type ExecutionSummary, listExecutions } from '../../support/n8n.mts';
import type { StubServer } from '../../support/stubServer.mts';
import { postToWebhook } from '../run.mts';
import { fetchItemsNode, createTables, ORDERS, serveOrders, writeManyNode } from './queueFixtures.mts';

const owner = createOwner();

const ENVIRONMENT = {
	// A dead worker is noticed sooner than with n8n's own values: a minute, 10 s, 30 s.
	QUEUE_WORKER_LOCK_DURATION: '10000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
	QUEUE_WORKER_STALLED_INTERVAL: '2000',
	// A worker that is asked to stop may end its job.
	N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '60',
};

/** An execution that neither waits nor runs. */
export const isFinished = ({ status }: ExecutionSummary) => !['new', 'running', 'waiting'].includes(status);

/** How many of an execution's items had each outcome at the node that writes. */
export function countOutcomes(execution: Execution): Record<string, number> {
	const counted: Record<string, number> = {};
	for (const { json } of outputItems(execution, 'Write')) {
		const outcome = String(json.outcome);
		counted[outcome] = (counted[outcome] ?? 0) + 1;
	}
	return counted;
}

export class QueueHarness {
	/** The id of the credential for the sandbox. */
	credential = '';

	readonly environment: QueueEnvironment;
	readonly orders: StubServer;
	/** The administration of the sandbox. */
	readonly admin: SandboxAdmin;
	n8nApi: N8nApi;

	private constructor(environment: QueueEnvironment, orders: StubServer, n8nApi: N8nApi) {
		this.environment = environment;
		this.orders = orders;
		this.admin = environment.sandbox.admin;
		this.n8nApi = n8nApi;
	}

	static async start(): Promise<QueueHarness> {
		const environment = await setUpQueueEnvironment({ env: ENVIRONMENT });
		try {
			await createTables(environment.sandbox);
			const n8nApi = await signIn(environment.main.url, owner);
			const harness = new QueueHarness(environment, await serveOrders(), n8nApi);
			harness.credential = await n8nApi.createCredential(sandboxCredential(environment.sandbox));
			return harness;
		} catch (error) {
			await environment.tearDown();
			throw error;
		}
	}

	async stop(): Promise<void> {
		await this.orders.stop();
		await this.environment.tearDown();
	}

	/** Starts main again after it has ended. */
	async startMain(): Promise<void> {
		await this.environment.startMain();
		this.n8nApi = await signIn(this.environment.main.url, owner);
	}

	/** Steps that write this many orders, after the first `skipped` ones. */
	syncSteps(run: string, items: number, skipped = 0, options: JsonObject = {}): Step[] {
		const query = `prefix=O&count=${items}&run=${run}&skipped=${skipped}`;
		return [fetchItemsNode(`${this.orders.origin}/orders?${query}`), writeManyNode('upsert', ORDERS, {}, options)];
	}

	/** Stores a workflow of such steps that is started by hand, and returns its ID. */
	async createSyncWorkflow(run: string, items: number, skipped = 0, options: JsonObject = {}): Promise<string> {
		const steps = this.syncSteps(run, items, skipped, options);
		return await this.n8nApi.createWorkflow(linearWorkflow(`Sync ${run}`, this.credential, steps));
	}

	/** Calls a webhook of an active workflow. */
	async callWebhook(path: string, body: unknown): Promise<void> {
		assert.equal(await postToWebhook(`${this.environment.main.url}/webhook/${path}`, body), 200);
	}

	/** The executions of a workflow that have ended, the latest first, with what they did. */
	async finishedExecutions(workflowId: string): Promise<Execution[]> {
		const listed = (await listExecutions(this.n8nApi, workflowId)).filter(isFinished);
		return (await Promise.all(listed.map(({ id }) => this.n8nApi.readExecution(id)))).filter((one) => one !== undefined);
	}

	/** Those, if this many have ended. */
	async allFinished(workflowId: string, count: number): Promise<Execution[] | undefined> {
		const finished = await this.finishedExecutions(workflowId);
		return finished.length === count ? finished : undefined;
	}

	/** The bytes that a worker stored, from main, as n8n's editor would show or save them. */
	async downloadBinary(id: string): Promise<Buffer> {
		const { main } = this.environment;
		const response = await axios.get<ArrayBuffer>(`${main.url}/rest/binary-data?id=${encodeURIComponent(id)}&action=download`, {
			headers: { cookie: this.n8nApi.cookie(), 'browser-id': this.n8nApi.browserId },
			responseType: 'arraybuffer',
		});
		return Buffer.from(response.data);
	}

	/** The executions that each worker started. */
	async executionsByWorker(): Promise<string[][]> {
		return await Promise.all(this.environment.workers.map((_, number) => this.environment.executionsOf(number)));
	}

	/** The number of the worker that started the latest execution. */
	async latestWorker(): Promise<number> {
		const latest = (await this.executionsByWorker()).map((ids) => Number(ids.at(-1) ?? 0));
		return latest.indexOf(Math.max(...latest));
	}
}

let started: Promise<QueueHarness> | undefined;

/** That of all test files in this process: `all.mts` has them all. */
export async function queueHarness(): Promise<QueueHarness> {
	if (!started) after(async () => await (await started)?.stop());
	return await (started ??= QueueHarness.start());
}
