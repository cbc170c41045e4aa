/**
 * Queue mode with workers that write at once: one file in parts, the same keys, and more requests
 * than the platform allows.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CREDENTIAL_NAME, CREDENTIAL_TYPE, N8N_ADDRESS, PART_EXAMPLE, readExample, webhookCredential } from '../../../harness/examples.mts';
import { type ExecutionItem, type JsonObject, outputItems, withCredential, type WorkflowJson } from '../../../harness/n8nApi.mts';
import { baseNode, inTable, linearWorkflow } from '../../support/linearWorkflow.mts';
import { listExecutions, storeCredential } from '../../support/n8n.mts';
import { readRecords } from '../../support/apiClient.mts';
import { fileResponse, startStubServer } from '../../support/stubServer.mts';
import { waitUntil } from '../../support/waitUntil.mts';
import { jsonOf, postToWebhook, run } from '../run.mts';
import { countOutcomes, queueHarness } from './queueHarness.mts';
import { APP, fetchItemsNode, createTables, NOTES, ORDERS, rowFileNode, writeManyNode } from './queueFixtures.mts';

const RUNS_AT_ONCE = 8;

const harness = await queueHarness();

const ROWS = 8_000;
/** The least time that each request of the platform takes. */
const LATENCY_MS = 400;

const orderNumber = (index: number) => `N${index + 1}`;

/** An example, on the orders and a file of orders, with these parts. */
async function prepared(name: string, fileUrl: string, parts: JsonObject[]): Promise<WorkflowJson> {
	const example = await readExample(name, {
		[N8N_ADDRESS]: harness.environment.main.url,
		'https://files.example.com/airports.csv': fileUrl,
	});
	for (const { name: node, parameters } of example.nodes) {
		if (node === 'Parts') parameters.jsonOutput = JSON.stringify({ parts });
		if (node === 'Import rows of the part') Object.assign(parameters, inTable(APP, ORDERS));
	}
	const credential = { id: harness.credential, name: CREDENTIAL_NAME };
	return withCredential(example, CREDENTIAL_TYPE, credential);
}

test('one file in parts: both workers import at the same time, each row once', async (context) => {
	const { environment, n8nApi } = harness;
	const lines = Array.from({ length: ROWS }, (_, index) => `${orderNumber(index)},file,"a, b"\n`);
	const csv = Buffer.from(`number,run,again\n${lines.join('')}`);
	const server = await startStubServer(() => fileResponse('orders.csv', csv, 'text/csv'));
	context.after(async () => await server.stop());
	const key = webhookCredential();
	const webhook = await storeCredential(n8nApi, key);
	const create = async (name: string, ...parts: JsonObject[]) => {
		const workflow = await prepared(name, `${server.origin}/orders.csv`, parts);
		return await n8nApi.createWorkflow(withCredential(workflow, key.type, webhook));
	};
	const part = await create(PART_EXAMPLE);
	const quarter = ROWS / 4;
	const inFour = await create(
		'large-file-in-parts.json',
		{ startAtRow: 1, endAtRow: quarter + 1 },
		{ startAtRow: quarter + 2, endAtRow: 2 * quarter + 1 },
		{ startAtRow: 2 * quarter + 2, endAtRow: 3 * quarter + 1 },
		{ startAtRow: 3 * quarter + 2, endAtRow: 0 },
	);
	await n8nApi.publish(part);
	assert.equal(await postToWebhook(`${environment.main.url}/webhook/import-part`, {}), 403);

	await createTables(environment.sandbox);
	await harness.admin.settings({ latencyMs: LATENCY_MS });
	const before = await harness.executionsByWorker();
	const execution = await run(n8nApi, inFour, 'Every night');
	await harness.admin.settings({ latencyMs: 0 });
	const [total] = jsonOf(execution, 'Total');
	assert.deepEqual([total?.sum_rows, total?.sum_inserted], [ROWS, ROWS]);
	const stored = await readRecords(environment.sandbox, APP, ORDERS);
	const numbers = new Set(stored.map(({ fields }) => fields.number));
	assert.equal(stored.length, ROWS);
	assert.ok(lines.every((_, index) => numbers.has(orderNumber(index))));

	const shares = (await harness.executionsByWorker()).map(
		(all, number) => all.slice(before[number]!.length).filter((id) => id !== execution.id).length,
	);
	context.diagnostic(`of the parts, the workers ran ${shares.join(' and ')}`);
	assert.equal(shares[0]! + shares[1]!, 4);
	assert.ok(shares.every((share) => share > 0));
	const [first, second] = (await listExecutions(n8nApi, part)).sort((a, b) => a.startedAt!.localeCompare(b.startedAt!));
	assert.ok(second!.startedAt! < first!.stoppedAt, 'the parts ran one after the other');
	await n8nApi.unpublish(part);
});

test('a table goes into a file in the database and back, unchanged', async () => {
	const numbers = Array.from({ length: 4_000 }, (_, index) => orderNumber(index));
	const orders = numbers.map((number) => ({ number, run: 'file', again: 'a, b' }));
	await createTables(harness.environment.sandbox, orders);
	const steps = [rowFileNode('Export', 'exportToFile'), rowFileNode('Import', 'importFromFile', { skipUnchanged: true })];
	const execution = await run(harness.n8nApi, linearWorkflow('Export and import', harness.credential, steps));
	const [exported] = outputItems(execution, 'Export') as Array<ExecutionItem & { binary: { data: { id: string } } }>;
	assert.equal(exported?.json.records, numbers.length);
	const { id } = exported.binary.data;
	assert.match(id, /^database:/);
	const text = (await harness.downloadBinary(id)).toString('utf8');
	const inFile = [...text.matchAll(/,(N\d+),file,"a, b",/g)].map(([, number]) => number);
	assert.deepEqual(inFile.sort(), numbers.sort());
	const [imported] = jsonOf(execution, 'Import');
	assert.deepEqual([imported?.rows, imported?.unchanged], [numbers.length, numbers.length]);
});

test('workers that write the same keys at once: each record once, whole, of one of them', async (context) => {
	await createTables(harness.environment.sandbox);
	await harness.admin.settings({ latencyMs: 100 });
	const before = await harness.executionsByWorker();
	const names = Array.from({ length: RUNS_AT_ONCE }, (_, index) => `run${index}`);
	// Each starts elsewhere, so that they meet in the middle of each other's work.
	const workflows = await Promise.all(names.map(async (name, index) => await harness.createSyncWorkflow(name, 1_000, index * 100)));
	const executions = await Promise.all(workflows.map(async (workflow) => await run(harness.n8nApi, workflow)));
	await harness.admin.settings({ latencyMs: 0 });
	const shares = (await harness.executionsByWorker()).map((all, number) => all.length - before[number]!.length);
	context.diagnostic(`executions of the workers: ${shares.join(' and ')}`);
	assert.equal(shares[0]! + shares[1]!, RUNS_AT_ONCE);
	assert.ok(shares.every((share) => share > 0));

	const counts = executions.map(countOutcomes);
	const inserted = counts.reduce((sum, outcome) => sum + (outcome.inserted ?? 0), 0);
	assert.equal(inserted, 1_000);
	for (const outcome of counts) {
		assert.equal((outcome.inserted ?? 0) + (outcome.updated ?? 0) + (outcome.unchanged ?? 0), 1_000, JSON.stringify(outcome));
	}
	const stored = await readRecords(harness.environment.sandbox, APP, ORDERS);
	assert.equal(stored.length, 1_000);
	assert.equal(new Set(stored.map(({ fields }) => fields.number)).size, 1_000);
	const winners = new Set(stored.map(({ fields }) => fields.run));
	context.diagnostic(`their values are of ${winners.size} of ${RUNS_AT_ONCE} runs`);
	for (const { fields } of stored) {
		assert.ok(names.includes(String(fields.run)));
		assert.equal(fields.again, fields.run, String(fields.number));
	}
});

test('more at once than the platform allows: all wait their turn, all is written once', async (context) => {
	const { environment, n8nApi } = harness;
	await createTables(environment.sandbox);
	await harness.admin.clearRequests();
	await harness.admin.settings({ rateLimitPerMinute: 1, rateLimitWindowMs: 10_000 });
	const workflows = await Promise.all(
		Array.from({ length: RUNS_AT_ONCE }, async (_, index) => await harness.createSyncWorkflow(`${index}`, 1_000)),
	);
	const running = Promise.all(workflows.map(async (workflow) => await run(n8nApi, workflow)));
	const refused = async () => (await harness.admin.requests()).filter(({ status }) => status === 429).length;
	await waitUntil('a request gets a 429', async () => (await refused()) > 0);
	await harness.admin.settings({ rateLimitPerMinute: 2, rateLimitWindowMs: 3_000 });
	const executions = await running;
	await harness.admin.settings({ rateLimitPerMinute: null, rateLimitWindowMs: 60_000 });
	context.diagnostic(`${await refused()} requests got a 429`);
	const inserted = executions.reduce((sum, run) => sum + (countOutcomes(run).inserted ?? 0), 0);
	assert.equal(inserted, 1_000);
	const versions = await harness.admin.history(APP, ORDERS);
	assert.equal(versions.filter(({ action }) => action === 'inserted').length, 1_000);
});

test('Retry On Fail on a worker: the second try creates nothing again', async (context) => {
	await harness.admin.faults([{ match: { path: '/notes/data/bulk$' }, when: { nth: [2] }, fault: { kind: 'failRecords', indexes: [1] } }]);
	context.after(async () => await harness.admin.faults([]));
	const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 100 };
	const assignments = [{ id: 'text', name: 'text', type: 'string', value: '={{ $json.number }}' }];
	const steps = [
		fetchItemsNode(`${harness.orders.origin}/orders?prefix=R&count=300&run=retry`),
		baseNode('Text', 'set', 3.4, { assignments: { assignments }, options: {} }),
		writeManyNode('create', NOTES, settings, { requests: { settings: { batchSize: 100 } } }),
	];
	const execution = await run(harness.n8nApi, linearWorkflow('Retry', harness.credential, steps));
	assert.equal(countOutcomes(execution).inserted, 300);
	const stored = await readRecords(harness.environment.sandbox, APP, NOTES);
	assert.equal(stored.length, 300);
	assert.equal(new Set(stored.map(({ fields }) => fields.text)).size, 300);
});
