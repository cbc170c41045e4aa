/**
 * Queue mode with workers that write at once: one file in parts, the same keys, and more requests
 * than the platform allows.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CREDENTIAL_NAME, CREDENTIAL_TYPE, N8N_ADDRESS, PART_EXAMPLE, readExample, webhookCredential } from '../../../harness/examples.mts';
import {
	describeFailure,
	type ExecutionItem,
	type JsonObject,
	outputItems,
	withCredential,
	type WorkflowJson,
} from '../../../harness/n8nApi.mts';
import { linearWorkflow } from '../../support/linearWorkflow.mts';
import { countRecords, readRecords } from '../../support/apiClient.mts';
import { fileResponse, startStubServer } from '../../support/stubServer.mts';
import { waitUntil } from '../../support/waitUntil.mts';
import { countOutcomes, queueHarness } from './queueHarness.mts';
import { APP, fetchItemsNode, createTables, inTable, NOTES, ORDERS, rowFileNode, writeManyNode } from './queueFixtures.mts';

const RUNS_AT_ONCE = 8;

const harness = await queueHarness();

const ROWS = 40_000;
/** The least time that each request of the platform takes. */
const LATENCY_MS = 200;

const orderNumber = (index: number) => `N${index + 1}`;

/** An example, on the orders and a file of orders, with these parts. */
async function prepared(name: string, fileUrl: string, parts: JsonObject[]): Promise<WorkflowJson> {
	const example = await readExample(name, {
		[N8N_ADDRESS]: harness.environment.main.url,
		'https://files.example.com/airports.csv': fileUrl,
	});
	for (const { name: node, parameters } of example.nodes) {
		if (node === 'Parts') parameters.jsonOutput = JSON.stringify({ parts });
		if (node === 'Import rows of the part') Object.assign(parameters, inTable(ORDERS));
	}
	const credential = { id: harness.credential, name: CREDENTIAL_NAME };
	return withCredential(example, CREDENTIAL_TYPE, credential);
}

test('one file in parts: both workers import at the same time, each row once', async (context) => {
	const { environment, n8nApi } = harness;
	const lines = Array.from({ length: ROWS }, (_, index) => `${orderNumber(index)},file,"a, b"\n`);
	const csv = Buffer.from(`number,run,again\n${lines.join('')}`);
	const server = await startStubServer(() => fileResponse('orders.csv', csv, 'text/csv'));
	try {
		const key = webhookCredential();
		const webhook = { id: await n8nApi.createCredential(key), name: key.name };
		const create = async (name: string, ...parts: JsonObject[]) => {
			const workflow = await prepared(name, `${server.origin}/orders.csv`, parts);
			return await n8nApi.createWorkflow(withCredential(workflow, key.type, webhook));
		};
		const inParts = 'large-file-in-parts.json';
		const part = await create(PART_EXAMPLE);
		const quarter = ROWS / 4;
		const inFour = await create(
			inParts,
			{ startAtRow: 1, endAtRow: quarter + 1 },
			{ startAtRow: quarter + 2, endAtRow: 2 * quarter + 1 },
			{ startAtRow: 2 * quarter + 2, endAtRow: 3 * quarter + 1 },
			{ startAtRow: 3 * quarter + 2, endAtRow: 0 },
		);
		const inOne = await create(inParts, { startAtRow: 1, endAtRow: 0 });
		await n8nApi.publish(part);
		await waitUntil('the webhook is there', async () => {
			const { status } = await fetch(`${environment.main.url}/webhook/import-part`, { method: 'POST' });
			return status === 403;
		});

		const run = async (workflow: string) => {
			await createTables(environment.sandbox);
			await harness.admin.settings({ latencyMs: LATENCY_MS });
			const before = await harness.executionsByWorker();
			const started = performance.now();
			const execution = await n8nApi.runWorkflow(workflow, 'Every night');
			const seconds = (performance.now() - started) / 1000;
			await harness.admin.settings({ latencyMs: 0 });
			assert.equal(describeFailure(execution), undefined);
			const shares = (await harness.executionsByWorker()).map((all, number) =>
				all.slice(before[number]!.length).filter((id) => id !== execution.id),
			);
			const [total] = outputItems(execution, 'Total');
			assert.deepEqual([total?.json.sum_rows, total?.json.sum_inserted], [ROWS, ROWS]);
			assert.equal(await countRecords(environment.sandbox, APP, ORDERS), ROWS);
			return { seconds, shares: shares.map((ids) => ids.length) };
		};
		const one = await run(inOne);
		const four = await run(inFour);
		const stored = await readRecords(environment.sandbox, APP, ORDERS);
		const numbers = new Set(stored.map(({ fields }) => fields.number));
		assert.equal(stored.length, ROWS);
		assert.ok(lines.every((_, index) => numbers.has(orderNumber(index))));
		context.diagnostic(
			`${ROWS} rows in one part: ${one.seconds.toFixed(1)} s; in four: ` +
				`${four.seconds.toFixed(1)} s, of which the workers ran ${four.shares.join(' and ')}`,
		);
		assert.deepEqual([...one.shares].sort(), [0, 1]);
		assert.equal(four.shares[0]! + four.shares[1]!, 4);
		assert.ok(four.shares.every((share) => share > 0));
		const [first, second] = (await harness.listExecutions(part)).slice(0, 4).sort((a, b) => a.startedAt.localeCompare(b.startedAt));
		assert.ok(second!.startedAt < first!.stoppedAt, 'the parts ran one after the other');
		await n8nApi.unpublish(part);
	} finally {
		await server.stop();
	}
});

test('a table goes into a file in the database and back, unchanged', async () => {
	const numbers = Array.from({ length: 20_000 }, (_, index) => orderNumber(index));
	const orders = numbers.map((number) => ({ number, run: 'file', again: 'a, b' }));
	await createTables(harness.environment.sandbox, orders);
	const workflow = await harness.n8nApi.createWorkflow(
		linearWorkflow('Export and import', harness.credential, [
			rowFileNode('Export', 'exportToFile'),
			rowFileNode('Import', 'importFromFile', { skipUnchanged: true }),
		]),
	);
	const execution = await harness.n8nApi.runWorkflow(workflow, 'Start');
	assert.equal(describeFailure(execution), undefined);
	const [exported] = outputItems(execution, 'Export') as Array<ExecutionItem & { binary: { data: { id: string } } }>;
	assert.equal(exported?.json.records, numbers.length);
	const { id } = exported.binary.data;
	assert.match(id, /^database:/);
	const text = (await harness.downloadBinary(id)).toString('utf8');
	const inFile = [...text.matchAll(/,(N\d+),file,"a, b",/g)].map(([, number]) => number);
	assert.deepEqual(inFile.sort(), numbers.sort());
	const [{ json } = { json: {} }] = outputItems(execution, 'Import');
	assert.deepEqual([json.rows, json.unchanged], [numbers.length, numbers.length]);
});

test('workers that write the same keys at once: each record once, whole, of one of them', async (context) => {
	await createTables(harness.environment.sandbox);
	await harness.admin.settings({ latencyMs: 100 });
	const before = await harness.executionsByWorker();
	const names = Array.from({ length: RUNS_AT_ONCE }, (_, index) => `run${index}`);
	// Each starts elsewhere, so that they meet in the middle of each other's work.
	const workflows = await Promise.all(names.map(async (name, index) => await harness.createSyncWorkflow(name, 1_000, index * 100)));
	const executions = await Promise.all(workflows.map(async (workflow) => await harness.n8nApi.runWorkflow(workflow, 'Start')));
	await harness.admin.settings({ latencyMs: 0 });
	const shares = (await harness.executionsByWorker()).map((all, number) => all.length - before[number]!.length);
	context.diagnostic(`executions of the workers: ${shares.join(' and ')}`);
	assert.equal(shares[0]! + shares[1]!, RUNS_AT_ONCE);
	assert.ok(shares.every((share) => share > 0));

	for (const execution of executions) assert.equal(describeFailure(execution), undefined);
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
	// Eight syncs make one request each at least.
	await harness.admin.settings({ rateLimitPerMinute: 2, rateLimitWindowMs: 3_000 });
	const workflows = await Promise.all(
		Array.from({ length: RUNS_AT_ONCE }, async (_, index) => await harness.createSyncWorkflow(`${index}`, 1_000)),
	);
	const executions = await Promise.all(workflows.map(async (workflow) => await n8nApi.runWorkflow(workflow, 'Start')));
	await harness.admin.settings({ rateLimitPerMinute: null, rateLimitWindowMs: 60_000 });
	for (const execution of executions) assert.equal(describeFailure(execution), undefined);
	const log = await harness.admin.requests();
	const refused = log.filter(({ status }) => status === 429).length;
	context.diagnostic(`${refused} of ${log.length} requests got a 429`);
	assert.ok(refused > 0);
	const inserted = executions.reduce((sum, run) => sum + (countOutcomes(run).inserted ?? 0), 0);
	assert.equal(inserted, 1_000);
	const versions = await harness.admin.history(APP, ORDERS);
	assert.equal(versions.filter(({ action }) => action === 'inserted').length, 1_000);
});

test('Retry On Fail on a worker: the second try creates nothing again', async () => {
	await harness.admin.faults([{ match: { path: '/notes/data/bulk$' }, when: { nth: [2] }, fault: { kind: 'failRecords', indexes: [1] } }]);
	try {
		const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 100 };
		const options = { requests: { settings: { batchSize: 100 } } };
		const write = writeManyNode('create', NOTES, settings, options);
		const workflow = await harness.n8nApi.createWorkflow(
			linearWorkflow('Retry', harness.credential, [
				fetchItemsNode(`${harness.orders.origin}/orders?prefix=R&count=300&run=retry`),
				{
					name: 'Text',
					type: 'n8n-nodes-base.set',
					typeVersion: 3.4,
					parameters: {
						assignments: { assignments: [{ id: 'text', name: 'text', type: 'string', value: '={{ $json.number }}' }] },
						options: {},
					},
				},
				write,
			]),
		);
		const execution = await harness.n8nApi.runWorkflow(workflow, 'Start');
		assert.equal(describeFailure(execution), undefined);
		assert.equal(countOutcomes(execution).inserted, 300);
		const stored = await readRecords(harness.environment.sandbox, APP, NOTES);
		assert.equal(stored.length, 300);
		assert.equal(new Set(stored.map(({ fields }) => fields.text)).size, 300);
	} finally {
		await harness.admin.faults([]);
	}
});
