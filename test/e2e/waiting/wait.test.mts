/**
 * Trigger and Wait in a real n8n: the execution waits, and continues when a workflow of the platform
 * posts to the resume URL, or when the time limit passes.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import axios from 'axios';
import { describeFailure } from '../../../harness/n8nApi.mts';
import { baseNode, linearWorkflow, platformNode } from '../../support/linearWorkflow.mts';
import { waitUntil } from '../../support/waitUntil.mts';
import { jsonOf, run } from '../run.mts';
import { useN8n } from '../sharedN8n.mts';

interface WorkflowRun {
	workflow: string;
	payload: Record<string, unknown>;
	output: { status: number } | null;
	error: string | null;
}

const n8n = await useN8n();
const admin = n8n.sandbox.admin.http;

/** Creates a workflow of the platform and returns its webhook URL. */
async function platformWorkflow(name: string, script: string): Promise<string> {
	const { data } = await admin.post('/workflows', { name, script, response: 'output' });
	return data.data.webhookUrl as string;
}

const runsOf = async (name: string) => ((await admin.get('/runs')).data.data as WorkflowRun[]).filter(({ workflow }) => workflow === name);

const headers = () => ({ Authorization: `Bearer ${n8n.sandbox.tokens.role}` });

/** Makes the platform's Send Webhook step post to a URL. Returns n8n's status. */
async function sendWebhook(url: string, body: object): Promise<number> {
	const script = 'const { url, body } = svc.workflow.payloadRequest; return svc.sendWebhook(url, body);';
	const step = await platformWorkflow('Send', script);
	const { data } = await axios.post(step, { url, body }, { headers: headers() });
	return (data as { status: number }).status;
}

/** A workflow that waits for the platform; `name` is that of the platform's workflow. */
async function waitingWorkflow(name: string, items: object[], parameters: object): Promise<string> {
	const webhookUrl = await platformWorkflow(name, 'return null;');
	const workflow = linearWorkflow(name, n8n.credential.id, [
		baseNode('List', 'set', 3.4, { mode: 'raw', jsonOutput: JSON.stringify({ list: items }) }),
		baseNode('Items', 'splitOut', 1, { fieldToSplitOut: 'list' }),
		platformNode('Wait', 'workflow: triggerAndWait', { webhookUrl, ...parameters }),
		baseNode('After', 'noOp', 1),
	]);
	return await n8n.api.createWorkflow(workflow);
}

test('an execution waits until the platform posts to the resume URL', async () => {
	const json = { question: 'Delete 3 contacts?' };
	const limit = { waitAmount: 1, waitUnit: 'days' };
	const workflow = await waitingWorkflow('Review', [json], limit);
	const running = run(n8n.api, workflow);
	await waitUntil('the platform starts its workflow', async () => (await runsOf('Review')).length > 0);
	const [{ payload }] = (await runsOf('Review')) as [WorkflowRun];
	const { resumeUrl, ...rest } = payload;
	assert.deepEqual(rest, json);
	assert.ok(String(resumeUrl).startsWith(`${n8n.url}/webhook-waiting/`), String(resumeUrl));

	const answer = { approved: true, by: 'Ada' };
	// n8n rejects it until the execution is stored as waiting.
	await waitUntil('n8n takes the webhook', async () => (await sendWebhook(String(resumeUrl), answer)) === 200);
	const execution = await running;
	for (const name of ['Wait', 'After']) assert.deepEqual(jsonOf(execution, name), [{ resumed: true, body: answer }]);
	// Only once, because the execution has ended.
	assert.notEqual(await sendWebhook(String(resumeUrl), answer), 200);
	assert.equal((await runsOf('Review')).length, 1);
});

test('without a webhook it continues with the input item when the time is over', async () => {
	const json = { question: 'Anybody there?' };
	const limit = { waitAmount: 0.1, waitUnit: 'minutes' };
	const workflow = await waitingWorkflow('Silence', [json], limit);
	assert.deepEqual(jsonOf(await run(n8n.api, workflow), 'After'), [json]);
});

test('several items are an error before anything is sent', async () => {
	const limit = { waitAmount: 0.1, waitUnit: 'minutes' };
	const workflow = await waitingWorkflow('Several', [{ a: 1 }, { a: 2 }], limit);
	const execution = await n8n.api.runWorkflow(workflow, 'Start');
	assert.match(describeFailure(execution) ?? '', /one workflow at a time, but there are 2 items/);
	assert.deepEqual(await runsOf('Several'), []);
});

test('the example of an MCP server: agents outside of n8n find and use the tools', async () => {
	const id = await n8n.api.createWorkflow(await n8n.readExample('mcp-server-for-agents.json'));
	await n8n.api.publish(id);
	let session: Record<string, string> = {};
	const call = async (method: string, params: object) => {
		const { data, headers: responded } = await axios.post<string>(
			`${n8n.url}/mcp/data-platform`,
			{ jsonrpc: '2.0', id: 1, method, params },
			{
				headers: { Accept: 'application/json, text/event-stream', ...session },
				responseType: 'text',
				transformResponse: (text: string) => text,
			},
		);
		const given = responded['mcp-session-id'] as string | undefined;
		if (given) session = { 'Mcp-Session-Id': given };
		const line = data.split('\n').find((entry) => entry.startsWith('data:')) ?? data;
		return (JSON.parse(line.replace(/^data:/, '')) as { result: Record<string, unknown> }).result;
	};
	const clientInfo = { name: 'test', version: '1' };
	const hello = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
	// n8n responds before the workflow is active.
	await waitUntil('the server is there', async () =>
		call('initialize', hello).then(
			() => true,
			() => false,
		),
	);
	const { tools } = (await call('tools/list', {})) as { tools: Array<{ name: string }> };
	assert.deepEqual(tools.map(({ name }) => name).sort(), ['Count_deals', 'Find_contacts']);
	const use = async (name: string, given: object) => JSON.stringify(await call('tools/call', { name, arguments: given }));
	assert.match(await use('Find_contacts', { surname: 'wren' }), /cleo\.wren@example\.com/);
	assert.match(await use('Count_deals', { stage: 'wno' }), /'open', 'won', 'lost'/);
	await n8n.api.unpublish(id);
});
