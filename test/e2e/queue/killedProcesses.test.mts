/** Queue mode if a process ends in mid-job: a worker or main, killed or asked to stop. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Execution, describeFailure, outputItems } from '../../../harness/n8nApi.mts';
import { linearWorkflow, BASE_NODES, type Step } from '../../support/linearWorkflow.mts';
import { countRecords, readRecords } from '../../support/apiClient.mts';
import { waitUntil } from '../../support/waitUntil.mts';
import { isFinished, countOutcomes, queueHarness } from './queueHarness.mts';
import { APP, createTables, ORDERS } from './queueFixtures.mts';

const ITEMS = 5_000;

/** Fifty requests one after the other: time enough to kill a process in the middle. */
const SLOWLY = { requests: { settings: { batchSize: 100, parallelRequests: 1 } } };

const harness = await queueHarness();

/** Makes the tables empty, and the requests slow. */
async function startOver(): Promise<void> {
	await createTables(harness.environment.sandbox);
	await harness.admin.settings({ latencyMs: 100 });
}

const isPartWritten = async () => (await countRecords(harness.environment.sandbox, APP, ORDERS)) >= 1_000;

/** Each order exists once, and was written once. */
async function expectAllOnce(): Promise<void> {
	const stored = await readRecords(harness.environment.sandbox, APP, ORDERS);
	assert.equal(stored.length, ITEMS);
	assert.equal(new Set(stored.map(({ fields }) => fields.number)).size, ITEMS);
	const versions = await harness.admin.history(APP, ORDERS);
	assert.equal(versions.length, ITEMS);
	assert.ok(versions.every(({ action }) => action === 'inserted'));
}

test('a worker killed in mid-job: the run ends as failed, a rerun completes it, nothing twice', async (context) => {
	await startOver();
	const workflow = await harness.createSyncWorkflow('one', ITEMS, 0, SLOWLY);
	const run = harness.n8nApi.runWorkflow(workflow, 'Start');
	await waitUntil('a part is written', isPartWritten);
	const victim = await harness.latestWorker();
	process.kill(harness.environment.workers[victim]!.pid, 'SIGKILL');
	const killed = Date.now();
	const broken = await run;
	const seconds = Math.round((Date.now() - killed) / 1000);
	const written = await countRecords(harness.environment.sandbox, APP, ORDERS);
	context.diagnostic(`${written} of ${ITEMS} written, missed after ${seconds} s`);
	context.diagnostic(`${broken.status}: ${describeFailure(broken)}`);
	assert.ok(written >= 1_000 && written < ITEMS, `${written} were written`);
	assert.notEqual(broken.status, 'success');

	const restarted = Date.now();
	const again = await harness.n8nApi.runWorkflow(workflow, 'Start');
	assert.equal(describeFailure(again), undefined);
	assert.equal(await harness.latestWorker(), 1 - victim);
	const counts = countOutcomes(again);
	const rerunSeconds = Math.round((Date.now() - restarted) / 1000);
	context.diagnostic(`the rerun: ${JSON.stringify(counts)} in ${rerunSeconds} s`);
	assert.equal(counts.inserted, ITEMS - written);
	assert.equal((counts.updated ?? 0) + (counts.unchanged ?? 0), written);

	await expectAllOnce();
	await harness.environment.startWorker(victim);
});

test('the error workflow runs for an execution that died with its worker', async () => {
	await startOver();
	const { environment, n8nApi, credential } = harness;
	const errorTrigger: Step = { name: 'Start', type: `${BASE_NODES}.errorTrigger`, typeVersion: 1, parameters: {} };
	const alarm = await n8nApi.createWorkflow(linearWorkflow('Alarm', credential, [], errorTrigger));
	await harness.activate(alarm);
	const webhook: Step = {
		name: 'Start',
		type: `${BASE_NODES}.webhook`,
		typeVersion: 2,
		parameters: { httpMethod: 'POST', path: 'sync', options: {} },
		webhookId: 'b7f6f4f0-2a52-4c56-8a0e-0d6c5a5f0002',
	};
	const sync = await n8nApi.createWorkflow({
		...linearWorkflow('Sync when called', credential, harness.syncSteps('called', ITEMS, 0, SLOWLY), webhook),
		settings: { errorWorkflow: alarm },
	});
	await harness.activate(sync);
	await harness.callWebhook('sync', {});
	await waitUntil('a part is written', isPartWritten);
	const victim = await harness.latestWorker();
	process.kill(environment.workers[victim]!.pid, 'SIGKILL');
	await waitUntil('the execution ends', async () => (await harness.listExecutions(sync)).every(isFinished));
	const [died] = await harness.finishedExecutions(sync);
	assert.equal(died?.status, 'error');
	await waitUntil('the alarm', async () => (await harness.finishedExecutions(alarm)).length > 0);
	const [alarmRun] = await harness.finishedExecutions(alarm);
	const [item] = outputItems(alarmRun!, 'Start') as Array<{ json: { execution?: { id: string } } }>;
	assert.equal(item?.json.execution?.id, died?.id);
	await environment.startWorker(victim);
});

test('main killed in mid-job: the worker goes on, and main finds the run ended well', async () => {
	await startOver();
	const { environment } = harness;
	const workflow = await harness.createSyncWorkflow('main', ITEMS, 0, SLOWLY);
	// Its response is lost with main.
	const lost = harness.n8nApi.runWorkflow(workflow, 'Start').catch(() => undefined);
	await waitUntil('a part is written', isPartWritten);
	process.kill(environment.main.pid, 'SIGKILL');
	await lost;
	await harness.startMain();
	const ended = async (): Promise<Execution[]> => await harness.finishedExecutions(workflow);
	await waitUntil('the execution ends', async () => (await ended()).length === 1);
	const [execution] = await ended();
	assert.equal(describeFailure(execution!), undefined);
	assert.deepEqual(countOutcomes(execution!), { inserted: ITEMS });
	await expectAllOnce();
});

test('a worker asked to stop ends its job first', async () => {
	await startOver();
	const { environment, n8nApi } = harness;
	const workflow = await harness.createSyncWorkflow('stop', ITEMS, 0, SLOWLY);
	const run = n8nApi.runWorkflow(workflow, 'Start');
	await waitUntil('a part is written', isPartWritten);
	const asked = await harness.latestWorker();
	process.kill(environment.workers[asked]!.pid, 'SIGTERM');
	const execution = await run;
	assert.equal(describeFailure(execution), undefined);
	assert.equal(await environment.workers[asked]!.exited, 0);
	await expectAllOnce();
	await environment.startWorker(asked);
});
