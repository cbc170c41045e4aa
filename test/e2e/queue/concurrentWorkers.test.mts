/** Queue mode when workers write at once: the same keys, and more than the platform allows. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { describeFailure } from '../../../harness/n8nApi.mts';
import { linearWorkflow } from '../../support/linearWorkflow.mts';
import { readRecords } from '../../support/apiClient.mts';
import { countOutcomes, QueueHarness } from './queueHarness.mts';
import {
	APP,
	fetchItemsNode,
	createTables,
	NOTES,
	ORDERS,
	writeManyNode,
} from './queueFixtures.mts';

const RUNS_AT_ONCE = 8;

let harness: QueueHarness;

before(async () => {
	harness = await QueueHarness.start();
});

after(async () => {
	await harness?.stop();
});

test('workers that write the same keys at once: each record once, whole, of one of them', async (context) => {
	await createTables(harness.environment.sandbox);
	await harness.admin.settings({ latencyMs: 100 });
	const before = await harness.executionsByWorker();
	const names = Array.from({ length: RUNS_AT_ONCE }, (_, index) => `run${index}`);
	// Each begins elsewhere, so that they meet in the middle of each other's work.
	const workflows = await Promise.all(
		names.map(async (name, index) => await harness.createSyncWorkflow(name, 1_000, index * 100)),
	);
	const executions = await Promise.all(
		workflows.map(async (workflow) => await harness.n8nApi.runWorkflow(workflow, 'Start')),
	);
	await harness.admin.settings({ latencyMs: 0 });
	const shares = (await harness.executionsByWorker()).map(
		(all, number) => all.length - before[number]!.length,
	);
	context.diagnostic(`executions of the workers: ${shares.join(' and ')}`);
	assert.equal(shares[0]! + shares[1]!, RUNS_AT_ONCE);
	assert.ok(shares.every((share) => share > 0));

	for (const execution of executions) assert.equal(describeFailure(execution), undefined);
	const counts = executions.map(countOutcomes);
	const inserted = counts.reduce((sum, outcome) => sum + (outcome.inserted ?? 0), 0);
	assert.equal(inserted, 1_000);
	for (const outcome of counts) {
		assert.equal(
			(outcome.inserted ?? 0) + (outcome.updated ?? 0) + (outcome.unchanged ?? 0),
			1_000,
			JSON.stringify(outcome),
		);
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
	// Eight syncs take more than 80 requests.
	await harness.admin.settings({ rateLimitPerMinute: 20, rateLimitWindowMs: 3_000 });
	const workflows = await Promise.all(
		Array.from(
			{ length: RUNS_AT_ONCE },
			async (_, index) => await harness.createSyncWorkflow(`${index}`, 1_000),
		),
	);
	const executions = await Promise.all(
		workflows.map(async (workflow) => await n8nApi.runWorkflow(workflow, 'Start')),
	);
	await harness.admin.settings({
		rateLimitPerMinute: null,
		rateLimitWindowMs: 60_000,
	});
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
	await harness.admin.faults([
		{
			match: { path: '/notes/data/bulk$' },
			when: { nth: [2] },
			fault: { kind: 'failRecords', indexes: [1] },
		},
	]);
	try {
		const write = writeManyNode('createMany', NOTES, {
			retryOnFail: true,
			maxTries: 3,
			waitBetweenTries: 100,
		});
		const workflow = await harness.n8nApi.createWorkflow(
			linearWorkflow('Retry', harness.credential, [
				fetchItemsNode(`${harness.orders.origin}/orders?prefix=R&count=300&run=retry`),
				{
					name: 'Text',
					type: 'n8n-nodes-base.set',
					typeVersion: 3.4,
					parameters: {
						assignments: {
							assignments: [
								{ id: 'text', name: 'text', type: 'string', value: '={{ $json.number }}' },
							],
						},
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
