/** The package in n8n as its editor uses it: lists, columns, the credential's test, runs. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CREDENTIAL_TYPE, sandboxCredential } from '../../../harness/examples.mts';
import { describeFailure, type JsonObject, withCredential, type WorkflowJson } from '../../../harness/n8nApi.mts';
import { readRecords } from '../../support/apiClient.mts';
import { byId, inTable, NODE_TYPE } from '../../support/linearWorkflow.mts';
import { storeCredential } from '../../support/n8n.mts';
import { jsonOf, run } from '../run.mts';
import { useN8n } from '../sharedN8n.mts';

const NEWSLETTER = 'adults-who-want-the-newsletter.json';
const BRANCHES = 'bad-rows-on-their-own-branch.json';

const n8n = await useN8n();

/** Runs a workflow that fails. */
const runFailing = async (workflow: WorkflowJson) => await n8n.api.runWorkflow(await n8n.api.createWorkflow(workflow), 'Start');

/** Sends the request of the editor when a list in the panel is opened. */
async function requestList<T>(kind: string, methodName: string, parameters: JsonObject): Promise<T> {
	return await n8n.api.request<T>('POST', `/dynamic-node-parameters/${kind}`, {
		path: 'parameters',
		methodName,
		nodeTypeAndVersion: { name: NODE_TYPE, version: 1 },
		currentNodeParameters: { resource: 'record', operation: 'upsert', ...parameters },
		credentials: { [CREDENTIAL_TYPE]: n8n.credential },
	});
}

test('n8n offers the node, and as a tool for agents', async () => {
	const response = await fetch(`${n8n.url}/types/nodes.json`, { headers: { cookie: n8n.api.cookie(), 'browser-id': n8n.api.browserId } });
	assert.equal(response.status, 200);
	const types = (await response.json()) as Array<{ name: string }>;
	const names = types.map(({ name }) => name).filter((name) => name.startsWith(NODE_TYPE));
	assert.ok(names.includes(NODE_TYPE), names.join());
	assert.ok(names.includes(`${NODE_TYPE}Tool`), names.join());
});

test('the credential test accepts a valid token and rejects an invalid one', async () => {
	const check = async (token: string) => {
		const { data, ...rest } = sandboxCredential(n8n.sandbox);
		return await n8n.api.request<{ status: string; message: string }>('POST', '/credentials/test', {
			credentials: { id: n8n.credential.id, ...rest, data: { ...data, token } },
		});
	};
	assert.equal((await check(n8n.sandbox.tokens.role)).status, 'OK');
	const refused = await check(n8n.sandbox.tokens.expired);
	assert.equal(refused.status, 'Error');
	assert.ok(!refused.message.includes(n8n.sandbox.tokens.expired));
});

test('applications and tables are listed, a table depends on its application', async () => {
	type List = { results: Array<{ name: string; value: string }> };
	const values = async (methodName: string, parameters: JsonObject) =>
		(await requestList<List>('resource-locator-results', methodName, parameters)).results.map(({ value }) => value);
	const applications = await values('searchApplications', {});
	assert.ok(applications.includes('crm') && applications.includes('geo'), applications.join());
	const crm = await values('searchTables', { application: byId('crm') });
	assert.ok(crm.includes('contacts') && !crm.includes('airports'), crm.join());
	assert.deepEqual(await values('searchTables', { application: byId('geo') }), ['airports']);
});

test("the mapper shows the table's fields", async () => {
	const { fields } = await requestList<{ fields: Array<{ id: string; type: string; required: boolean }> }>(
		'resource-mapper-fields',
		'getColumnsToUpsert',
		inTable('geo', 'airports'),
	);
	assert.deepEqual(
		fields.map(({ id, type, required }) => [id, type, required]),
		[
			['iata', 'string', false],
			['name', 'string', false],
			['city', 'string', false],
			['state', 'string', false],
			['country', 'string', false],
			['latitude', 'number', false],
			['longitude', 'number', false],
		],
	);
});

test('good and bad rows part, and both branches still know where a row came from', async () => {
	const before = await readRecords(n8n.sandbox, 'crm', 'contacts');
	const execution = await run(n8n.api, await n8n.readExample(BRANCHES));
	assert.deepEqual(jsonOf(execution, 'Written'), [
		{ email: 'ada@example.com', outcome: 'inserted' },
		{ email: 'cleo@example.com', outcome: 'inserted' },
	]);
	const refused = jsonOf(execution, 'Refused');
	assert.equal(refused.length, 1);
	assert.equal(refused[0]?.email, 'bob@example.com');
	assert.match(String(refused[0]?.why), /age/i);

	const after = await readRecords(n8n.sandbox, 'crm', 'contacts');
	const added = after.filter(({ id }) => before.every((record) => record.id !== id));
	assert.deepEqual(added.map(({ fields }) => fields.email).sort(), ['ada@example.com', 'cleo@example.com']);
});

test('the platform filters and sorts what a workflow reads', async () => {
	const execution = await run(n8n.api, await n8n.readExample(NEWSLETTER));
	const shown = jsonOf(execution, 'Name and address');

	const contacts = (await readRecords(n8n.sandbox, 'crm', 'contacts')).map(({ fields }) => fields);
	const wanted = contacts.filter(({ age, newsletter }) => Number(age) >= 18 && newsletter === true);
	assert.ok(wanted.length > 0 && wanted.length < contacts.length);
	assert.deepEqual(shown.map(({ email }) => email).sort(), wanted.map(({ email }) => email).sort());
	const surnames = jsonOf(execution, 'Get contacts').map(({ surname }) => String(surname));
	assert.deepEqual(surnames, [...surnames].sort());
});

test('without the error branch a bad row stops the run before anything is written', async () => {
	const workflow = await n8n.readExample(BRANCHES);
	const nodes = workflow.nodes.map((node) => {
		if (node.type !== NODE_TYPE) return node;
		const { onError: _onError, ...stopping } = node;
		return stopping;
	});
	const before = await readRecords(n8n.sandbox, 'crm', 'contacts');
	const execution = await runFailing({ ...workflow, nodes });
	assert.equal(execution.status, 'error');
	assert.match(describeFailure(execution) ?? '', /age/i);
	assert.deepEqual(await readRecords(n8n.sandbox, 'crm', 'contacts'), before);
});

test('an expired token stops the run, and appears nowhere', async () => {
	const token = n8n.sandbox.tokens.expired;
	const expired = await storeCredential(n8n.api, sandboxCredential(n8n.sandbox), { accessType: 'jwt', token });
	const workflow = withCredential(await n8n.readExample(BRANCHES), CREDENTIAL_TYPE, expired);
	const nodes = workflow.nodes.map((node) => ({ ...node, onError: 'stopWorkflow' }));
	const execution = await runFailing({ ...workflow, nodes });
	assert.equal(execution.status, 'error');
	assert.match(describeFailure(execution) ?? '', /token/i);
	assert.ok(!JSON.stringify(execution).includes(token));
});
