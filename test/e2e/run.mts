/** Runs workflows that must succeed, and starts them by their webhooks. */

import assert from 'node:assert/strict';
import {
	describeFailure,
	type Execution,
	type ExecutionItem,
	type JsonObject,
	type N8nApi,
	outputItems,
	type WorkflowJson,
} from '../../harness/n8nApi.mts';
import { waitUntil } from '../support/waitUntil.mts';

/** Runs a workflow, a new or a stored one. */
export async function run(api: N8nApi, workflow: WorkflowJson | string, trigger = 'Start', items?: ExecutionItem[]): Promise<Execution> {
	const id = typeof workflow === 'string' ? workflow : await api.createWorkflow(workflow);
	const execution = await api.runWorkflow(id, trigger, items);
	assert.equal(describeFailure(execution), undefined);
	return execution;
}

/** What a node returned. */
export const jsonOf = (execution: Execution, node: string): JsonObject[] => outputItems(execution, node).map(({ json }) => json);

/** Posts to a webhook, which n8n registers shortly after its workflow is published. Returns the status. */
export async function postToWebhook(url: string, body: unknown): Promise<number> {
	const isBytes = body instanceof Uint8Array;
	const headers = { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' };
	return await waitUntil('the webhook is there', async () => {
		const { status } = await fetch(url, { method: 'POST', headers, body: isBytes ? new Uint8Array(body) : JSON.stringify(body) });
		return status === 404 ? undefined : status;
	});
}
