/** The trigger of instant events in real n8n: the platform calls its webhook. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import axios from 'axios';
import { CREDENTIAL_TYPE, sandboxCredential } from '../../../harness/examples.mts';
import { outputItems, parseExecutionData, type ExecutionData, withCredential } from '../../../harness/n8nApi.mts';
import { readRecords } from '../../support/apiClient.mts';
import { listExecutions, storeCredential } from '../../support/n8n.mts';
import { waitUntil } from '../../support/waitUntil.mts';
import { useN8n } from '../sharedN8n.mts';

const SECRET = 'made up for this test';

const n8n = await useN8n();

test('the platform calls, and is refused without the secret', async () => {
	const credential = await storeCredential(n8n.api, sandboxCredential(n8n.sandbox), { moreSettings: true, webhookSecret: SECRET });
	const example = withCredential(await n8n.readExample('instant-events.json'), CREDENTIAL_TYPE, credential);
	const workflowId = await n8n.api.createWorkflow(example);
	await n8n.api.publish(workflowId);
	const [record] = await readRecords(n8n.sandbox, 'crm', 'contacts');
	const recordId = record!.id;
	const call = async (body: unknown, secret = SECRET) =>
		(
			await axios.post(`${n8n.url}/webhook/${String(example.nodes[0]!.webhookId)}/webhook`, body, {
				// n8n may close a connection that it keeps at the moment of the next call.
				headers: { authorization: `Bearer ${secret}`, connection: 'close' },
				validateStatus: () => true,
			})
		).status;
	const failures = async () => await listExecutions(n8n.api, workflowId, { status: 'error' });
	/** What a node returned in all of them. */
	const itemsOf = async (node: string) => {
		const items = [];
		for (const { id } of await listExecutions(n8n.api, workflowId)) {
			const { data: text } = await n8n.api.request<{ data: string }>('GET', `/executions/${id}`);
			items.push(...outputItems({ data: parseExecutionData(text) as ExecutionData }, node));
		}
		return items.map(({ json }) => ({ event: json.event, id: json.id }));
	};

	await waitUntil('the webhook is there', async () => (await call({})) !== 404);
	assert.equal(await call({ recordId }), 200);
	await waitUntil('the event of the record', async () => (await itemsOf('Go on from here')).length > 0);
	assert.equal(await call({ recordId }, 'another secret'), 401);
	assert.equal(await call({ id: recordId }), 400);
	assert.equal(await call({ recordId }), 200);
	await n8n.sandbox.client().delete(`/apps/crm/tables/contacts/data/${recordId}`);
	assert.equal(await call({ recordId }), 200);
	await waitUntil('the event of its deletion', async () => (await itemsOf('The record is gone')).length > 0);
	assert.deepEqual(await itemsOf('The record is gone'), [{ event: 'deleted', id: recordId }]);
	assert.deepEqual(
		(await itemsOf('Go on from here')).map(({ id }) => id),
		[recordId],
	);

	// n8n responds before it has read the record.
	const readMs = 10_000;
	const match = { method: 'GET', path: '/data/' };
	await n8n.sandbox.admin.faults([
		{ match, when: { nth: [1] }, fault: { kind: 'slowBefore', ms: readMs } },
		{ match, when: { nth: [2] }, fault: { kind: 'status', status: 403 } },
	]);
	const called = Date.now();
	assert.equal(await call({ recordId }), 200);
	assert.ok(Date.now() - called < readMs, 'n8n responded after it read');

	// The platform has its response by then; the failure is an execution of its own.
	assert.equal(await call({ recordId: 'f0000000-0000-4000-8000-000000000000' }), 200);
	await waitUntil('the failure', async () => (await failures()).length > 0);
	assert.equal((await failures()).length, 1);
	await n8n.api.unpublish(workflowId);
});
