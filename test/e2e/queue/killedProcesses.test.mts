/** Queue mode if a process ends in mid-job: a worker or main, killed or asked to stop. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFailure, outputItems } from '../../../harness/n8nApi.mts';
import { baseNode, linearWorkflow, webhookNode } from '../../support/linearWorkflow.mts';
import { countRecords, readRecords } from '../../support/apiClient.mts';
import { waitUntil } from '../../support/waitUntil.mts';
import { run } from '../run.mts';
import { countOutcomes, queueHarness } from './queueHarness.mts';
import { APP, createTables, ORDERS } from './queueFixtures.mts';

const ITEMS = 2_000;

/** Forty requests one after the other: time enough to kill a process in the middle. */
const SLOWLY = { requests: { settings: { batchSize: 50, parallelRequests: 1 } } };

const harness = await queueHarness();

/** Makes the tables empty, and the requests slow. */
async function startOver(): Promise<void> {
	await createTables(harness.environment.sandbox);
	await harness.admin.settings({ latencyMs: 100 });
}

const countOrders = async () => await countRecords(harness.environment.sandbox, APP, ORDERS);

/** Waits until a part is written, and sends a signal to the worker that writes. Returns its number. */
async function signalWorker(signal: 'SIGKILL' | 'SIGTERM'): Promise<number> {
	await waitUntil('a part is written', async () => (await countOrders()) >= ITEMS / 5);
	const number = await harness.latestWorker();
	process.kill(harness.environment.workers[number]!.pid, signal);
	return number;
}

/** Each order exists once, and was written once. */
async function expectAllOnce(): Promise<void> {
	const stored = await readRecords(harness.environment.sandbox, APP, ORDERS);
	assert.equal(stored.length, ITEMS);
	assert.equal(new Set(stored.map(({ fields }) => fields.number)).size, ITEMS);
	const versions = await harness.admin.history(APP, ORDERS);
	assert.equal(versions.length, ITEMS);
	assert.ok(versions.every(({ action }) => action === 'inserted'));
}

test('a worker killed in mid-job: the error workflow runs, a rerun completes the job, nothing is written twice', async (context) => {
	await startOver();
	const { environment, n8nApi, credential } = harness;
	const alarm = await n8nApi.createWorkflow(linearWorkflow('Alarm', credential, [], baseNode('Start', 'errorTrigger', 1)));
	await n8nApi.publish(alarm);
	const sync = await n8nApi.createWorkflow({
		...linearWorkflow('Sync when called', credential, harness.syncSteps('called', ITEMS, 0, SLOWLY), webhookNode('sync')),
		settings: { errorWorkflow: alarm },
	});
	await n8nApi.publish(sync);
	await harness.callWebhook('sync', {});
	const victim = await signalWorker('SIGKILL');
	const killed = Date.now();
	const [died] = await waitUntil('the execution ends', async () => await harness.allFinished(sync, 1));
	const written = await countOrders();
	context.diagnostic(`${written} of ${ITEMS} written, missed after ${Math.round((Date.now() - killed) / 1000)} s`);
	assert.equal(died!.status, 'error');
	assert.ok(written >= ITEMS / 5 && written < ITEMS, `${written} were written`);
	const [alarmRun] = await waitUntil('the alarm', async () => await harness.allFinished(alarm, 1));
	const [item] = outputItems(alarmRun!, 'Start') as Array<{ json: { execution?: { id: string } } }>;
	assert.equal(item?.json.execution?.id, died!.id);

	await harness.callWebhook('sync', {});
	const [again] = await waitUntil('the rerun ends', async () => await harness.allFinished(sync, 2));
	assert.equal(describeFailure(again!), undefined);
	assert.equal(await harness.latestWorker(), 1 - victim);
	const counts = countOutcomes(again!);
	context.diagnostic(`the rerun: ${JSON.stringify(counts)}`);
	assert.equal(counts.inserted, ITEMS - written);
	assert.equal((counts.updated ?? 0) + (counts.unchanged ?? 0), written);
	await Promise.all([expectAllOnce(), environment.startWorker(victim)]);
});

test('main killed in mid-job: the worker goes on, and main finds the run ended well', async () => {
	await startOver();
	const { environment } = harness;
	const workflow = await harness.createSyncWorkflow('main', ITEMS, 0, SLOWLY);
	// Its response is lost with main.
	const lost = harness.n8nApi.runWorkflow(workflow, 'Start').catch(() => undefined);
	await waitUntil('a part is written', async () => (await countOrders()) >= ITEMS / 5);
	process.kill(environment.main.pid, 'SIGKILL');
	await lost;
	await harness.startMain();
	const [execution] = await waitUntil('the execution ends', async () => await harness.allFinished(workflow, 1));
	assert.equal(describeFailure(execution!), undefined);
	assert.deepEqual(countOutcomes(execution!), { inserted: ITEMS });
	await expectAllOnce();
});

test('a worker asked to stop ends its job first', async () => {
	await startOver();
	const { environment, n8nApi } = harness;
	const workflow = await harness.createSyncWorkflow('stop', ITEMS, 0, SLOWLY);
	const running = run(n8nApi, workflow);
	const asked = await signalWorker('SIGTERM');
	await running;
	assert.equal(await environment.workers[asked]!.exited, 0);
	await Promise.all([expectAllOnce(), environment.startWorker(asked)]);
});
