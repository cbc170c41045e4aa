/** The trigger in an active workflow of a real n8n, which is killed and restarted. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import { type TestEnvironment, setUpTestEnvironment } from '../../../harness/testEnvironment.mts';
import { CREDENTIAL_NAME, CREDENTIAL_TYPE, readExample, sandboxCredential } from '../../../harness/examples.mts';
import { type RunningN8n, startN8n } from '../../../harness/n8nProcess.mts';
import {
	type Execution,
	createOwner,
	outputItems,
	parseExecutionData,
	type N8nApi,
	signIn,
	withCredential,
} from '../../../harness/n8nApi.mts';
import { isStartStored } from '../../support/pollLog.mts';
import { waitUntil } from '../../support/waitUntil.mts';

const TRIGGER = 'Airports that changed';
const SECONDS_BETWEEN_POLLS = 4;
/** Long enough for a slow machine to poll. */
const TIME_LIMIT_MS = 300_000;

const owner = createOwner();
let environment: TestEnvironment;
let n8n: RunningN8n;
let n8nApi: N8nApi;
let workflowId: string;

before(async () => {
	environment = await setUpTestEnvironment();
	await start();
});

after(async () => {
	await n8n?.stop();
	await environment.tearDown();
});

async function start(): Promise<void> {
	n8n = await startN8n({ userFolder: environment.userFolder, isBare: true });
	n8nApi = await signIn(n8n.url, owner);
}

/** n8n polls at most once a minute for each poll time, so there are several. */
const pollTimes = {
	item: Array.from({ length: 60 / SECONDS_BETWEEN_POLLS }, (_, index) => ({
		mode: 'custom',
		cronExpression: `${index * SECONDS_BETWEEN_POLLS} * * * * *`,
	})),
};

const locator = (value: string) => ({ __rl: true, mode: 'list', value });

async function createWorkflow(): Promise<string> {
	const id = await n8nApi.createCredential(sandboxCredential(environment.sandbox));
	return await n8nApi.createWorkflow({
		name: 'Watch airports',
		nodes: [
			{
				id: '0b8c6f0e-52c0-4a0e-9a6e-000000000001',
				name: TRIGGER,
				type: 'n8n-nodes-data-platform.dataPlatformTrigger',
				typeVersion: 1,
				position: [0, 0],
				parameters: { pollTimes, triggerOn: 'createdOrUpdated', application: locator('geo'), table: locator('airports') },
				credentials: { [CREDENTIAL_TYPE]: { id, name: CREDENTIAL_NAME } },
			},
		],
		connections: {},
	});
}

/** Activates the workflow and waits until n8n has stored the state of its first poll. */
async function activate(): Promise<void> {
	await n8nApi.publish(workflowId);
	await waitUntil('n8n stores where watching begins', () => isStartStored(environment.userFolder, workflowId));
}

/** Creates airports from outside, each in a request of its own; returns their codes. */
async function create(...codes: string[]): Promise<void> {
	for (const iata of codes) {
		await axios.post(
			`${environment.sandbox.baseUrl}/api/v2/apps/geo/tables/airports/data`,
			{ fields: { iata, name: `Airport ${iata}` } },
			{ headers: { Authorization: `Bearer ${environment.sandbox.tokens.role}` } },
		);
	}
}

/** All executions of the workflow so far. */
async function executed(): Promise<Array<Pick<Execution, 'data'>>> {
	const filter = encodeURIComponent(JSON.stringify({ workflowId }));
	const { results } = await n8nApi.request<{ results: Array<{ id: string; status: string }> }>(
		'GET',
		`/executions?filter=${filter}&limit=100`,
	);
	return await Promise.all(
		results.map(async ({ id }) => {
			const execution = await n8nApi.request<{ data: string }>('GET', `/executions/${id}`);
			return { data: parseExecutionData(execution.data) as Execution['data'] };
		}),
	);
}

async function countFailed(): Promise<number> {
	const filter = encodeURIComponent(JSON.stringify({ workflowId, status: ['error'] }));
	const { results } = await n8nApi.request<{ results: unknown[] }>('GET', `/executions?filter=${filter}&limit=100`);
	return results.length;
}

/** What all executions together were started with, such as `created AAA`. */
async function emitted(): Promise<string[]> {
	return (await executed())
		.flatMap((execution) => outputItems(execution, TRIGGER))
		.map(({ json }) => `${String(json.event)} ${(json as { iata: string }).iata}`)
		.sort();
}

/** Waits until everything was emitted, and for one more poll, which must not repeat anything. */
async function expectEmitted(...codes: string[]): Promise<void> {
	const expected = codes.map((code) => `created ${code}`).sort();
	const end = Date.now() + TIME_LIMIT_MS;
	while ((await emitted()).length < expected.length && Date.now() < end) await sleep(500);
	await sleep(SECONDS_BETWEEN_POLLS * 1000);
	assert.deepEqual(await emitted(), expected);
}

test('an active workflow is started with what changes from then on, each change once', async () => {
	await create('AAA', 'BBB');
	workflowId = await createWorkflow();
	await activate();
	assert.deepEqual(await emitted(), []);
	await create('CCC', 'DDD', 'EEE');
	await expectEmitted('CCC', 'DDD', 'EEE');
});

test('killed before it emitted anything, it still begins where it was activated', async () => {
	await n8nApi.unpublish(workflowId);
	workflowId = await createWorkflow();
	await activate();
	process.kill(n8n.pid, 'SIGKILL');
	await n8n.exited;
	await create('III');
	await start();
	await expectEmitted('III');
});

test('instant events: the platform calls, and is refused without the secret', async () => {
	const credential = sandboxCredential(environment.sandbox);
	const id = await n8nApi.createCredential({
		...credential,
		data: { ...credential.data, moreSettings: true, webhookSecret: 'made up for this test' },
	});
	const example = withCredential(await readExample('instant-events.json', environment.services.addresses), CREDENTIAL_TYPE, {
		id,
		name: CREDENTIAL_NAME,
	});
	const { webhookId } = example.nodes[0]!;
	workflowId = await n8nApi.createWorkflow(example);
	await n8nApi.publish(workflowId);
	const contacts = `${environment.sandbox.baseUrl}/api/v2/apps/crm/tables/contacts/data`;
	const headers = { Authorization: `Bearer ${environment.sandbox.tokens.role}` };
	const { data } = await axios.get<{ data: Array<{ id: string }> }>(`${contacts}?limit=1`, { headers });
	const recordId = data.data[0]!.id;
	const call = async (body: unknown, secret = 'made up for this test') =>
		(
			await axios.post(`${n8n.url}/webhook/${String(webhookId)}/webhook`, body, {
				// n8n may close a connection that it keeps at the moment of the next call.
				headers: { authorization: `Bearer ${secret}`, connection: 'close' },
				validateStatus: () => true,
			})
		).status;
	const itemsOf = async (node: string) => (await executed()).flatMap((execution) => outputItems(execution, node));
	const waitForItems = async (node: string, count: number) => {
		const end = Date.now() + TIME_LIMIT_MS;
		while ((await itemsOf(node)).length < count && Date.now() < end) await sleep(200);
		return (await itemsOf(node)).map(({ json }) => ({ event: json.event, id: json.id }));
	};

	const registered = Date.now() + TIME_LIMIT_MS;
	while ((await call({})) === 404 && Date.now() < registered) await sleep(200);
	assert.equal(await call({ recordId }), 200);
	const afterOne = await waitForItems('Go on from here', 1);
	assert.equal(await call({ recordId }, 'another secret'), 401);
	assert.equal(await call({ id: recordId }), 400);
	assert.equal(await call({ recordId }), 200);
	await axios.delete(`${contacts}/${recordId}`, { headers });
	assert.equal(await call({ recordId }), 200);
	assert.deepEqual(await waitForItems('The record is gone', 1), [{ event: 'deleted', id: recordId }]);
	assert.deepEqual(await itemsOf('Go on from here').then((items) => items.length), 1);
	assert.deepEqual(
		afterOne.map((item) => item.id),
		[recordId],
	);

	// n8n responds before it has read the record.
	const readMs = 10_000;
	const match = { method: 'GET', path: '/data/' };
	await environment.sandbox.admin.faults([
		{ match, when: { nth: [1] }, fault: { kind: 'slowBefore', ms: readMs } },
		{ match, when: { nth: [2] }, fault: { kind: 'status', status: 403 } },
	]);
	const called = Date.now();
	assert.equal(await call({ recordId }), 200);
	assert.ok(Date.now() - called < readMs, 'n8n responded after it read');

	// The platform has its response by then; the failure is an execution of its own.
	assert.equal(await call({ recordId: 'f0000000-0000-4000-8000-000000000000' }), 200);
	const end = Date.now() + TIME_LIMIT_MS;
	let failed = 0;
	while (failed === 0 && Date.now() < end) {
		await sleep(200);
		failed = await countFailed();
	}
	assert.equal(failed, 1);
});
