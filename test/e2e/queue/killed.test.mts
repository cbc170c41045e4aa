/** Queue mode when a process ends in mid-job: a worker, main, killed or asked to stop. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { type Execution, failureOf, itemsOf } from '../../../n8n/session.mts';
import { chain, FOR_N8N, type Step } from '../../support/linearWorkflow.mts';
import { readRecords } from '../../support/apiClient.mts';
import { hasEnded, outcomes, Running } from './running.mts';
import { APP, change, count, history, makeTables, ORDERS, until } from './shop.mts';

const ITEMS = 5_000;

/** A dead worker is missed sooner than by n8n's own values: a minute, 10 s, 30 s. */
const LOCK = {
	QUEUE_WORKER_LOCK_DURATION: '15000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '3000',
	QUEUE_WORKER_STALLED_INTERVAL: '5000',
};

let running: Running;

before(async () => {
	running = await Running.start({ ...LOCK, N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '60' });
});

after(async () => {
	await running?.stop();
});

beforeEach(async () => {
	await makeTables(running.desk.sandbox);
	await change(running.desk.sandbox, { latencyMs: 100 });
});

const isPartWritten = async () => (await count(running.desk.sandbox, ORDERS)) >= 1_000;

/** Each order is there once, and was written once. */
async function expectAllOnce(): Promise<void> {
	const stored = await readRecords(running.desk.sandbox, APP, ORDERS);
	assert.equal(stored.length, ITEMS);
	assert.equal(new Set(stored.map(({ fields }) => fields.number)).size, ITEMS);
	const versions = await history(running.desk.sandbox, ORDERS);
	assert.equal(versions.length, ITEMS);
	assert.ok(versions.every(({ action }) => action === 'inserted'));
}

test('a worker killed in mid-job: the run ends as failed, a rerun completes it, nothing twice', async (context) => {
	const workflow = await running.sync('one', ITEMS);
	const run = running.session.runWorkflow(workflow, 'Start');
	await until('a part is written', isPartWritten);
	const victim = await running.latestWorker();
	process.kill(running.desk.workers[victim]!.pid, 'SIGKILL');
	const killed = Date.now();
	const broken = await run;
	const seconds = Math.round((Date.now() - killed) / 1000);
	const written = await count(running.desk.sandbox, ORDERS);
	context.diagnostic(`${written} of ${ITEMS} written, missed after ${seconds} s`);
	context.diagnostic(`${broken.status}: ${failureOf(broken)}`);
	assert.ok(written >= 1_000 && written < ITEMS, `${written} were written`);
	assert.notEqual(broken.status, 'success');

	const restarted = Date.now();
	const again = await running.session.runWorkflow(workflow, 'Start');
	assert.equal(failureOf(again), undefined);
	assert.equal(await running.latestWorker(), 1 - victim);
	const told = outcomes(again);
	const rerunSeconds = Math.round((Date.now() - restarted) / 1000);
	context.diagnostic(`the rerun: ${JSON.stringify(told)} in ${rerunSeconds} s`);
	assert.equal(told.inserted, ITEMS - written);
	assert.equal((told.updated ?? 0) + (told.unchanged ?? 0), written);

	await expectAllOnce();
	await running.desk.startWorker(victim);
});

test('the error workflow is told of an execution that died with its worker', async () => {
	const { desk, session, credential } = running;
	const errorTrigger: Step = {
		name: 'Start',
		type: `${FOR_N8N}.errorTrigger`,
		typeVersion: 1,
		parameters: {},
	};
	const alarm = await session.createWorkflow(chain('Alarm', credential, [], errorTrigger));
	await running.activate(alarm);
	const webhook: Step = {
		name: 'Start',
		type: `${FOR_N8N}.webhook`,
		typeVersion: 2,
		parameters: { httpMethod: 'POST', path: 'sync', options: {} },
		webhookId: 'b7f6f4f0-2a52-4c56-8a0e-0d6c5a5f0002',
	};
	const sync = await session.createWorkflow({
		...chain('Sync when called', credential, running.syncSteps('called', ITEMS), webhook),
		settings: { errorWorkflow: alarm },
	});
	await running.activate(sync);
	await running.call('sync', {});
	await until('a part is written', isPartWritten);
	const victim = await running.latestWorker();
	process.kill(desk.workers[victim]!.pid, 'SIGKILL');
	await until('the execution ends', async () => (await running.list(sync)).every(hasEnded));
	const [died] = await running.ended(sync);
	assert.equal(died?.status, 'error');
	await until('the alarm', async () => (await running.ended(alarm)).length > 0);
	const [told] = await running.ended(alarm);
	const [item] = itemsOf(told!, 'Start') as Array<{ json: { execution?: { id: string } } }>;
	assert.equal(item?.json.execution?.id, died?.id);
	await desk.startWorker(victim);
});

test('main killed in mid-job: the worker goes on, and main finds the run ended well', async () => {
	const { desk } = running;
	const workflow = await running.sync('main', ITEMS);
	// Its answer is lost with main.
	const lost = running.session.runWorkflow(workflow, 'Start').catch(() => undefined);
	await until('a part is written', isPartWritten);
	process.kill(desk.main.pid, 'SIGKILL');
	await lost;
	await running.startMain();
	const ended = async (): Promise<Execution[]> => await running.ended(workflow);
	await until('the execution ends', async () => (await ended()).length === 1);
	const [execution] = await ended();
	assert.equal(failureOf(execution!), undefined);
	assert.deepEqual(outcomes(execution!), { inserted: ITEMS });
	await expectAllOnce();
});

test('a worker asked to stop ends its job first', async () => {
	const { desk, session } = running;
	const workflow = await running.sync('stop', ITEMS);
	const run = session.runWorkflow(workflow, 'Start');
	await until('a part is written', isPartWritten);
	const asked = await running.latestWorker();
	process.kill(desk.workers[asked]!.pid, 'SIGTERM');
	const execution = await run;
	assert.equal(failureOf(execution), undefined);
	assert.equal(await desk.workers[asked]!.exited, 0);
	await expectAllOnce();
	await desk.startWorker(asked);
});
