/** Queue mode when a worker is killed in mid-job, and when workers write the same keys at once. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import axios from 'axios';
import { sandboxCredential } from '../../n8n/examples.mts';
import { type QueueDesk, setUpQueue } from '../../n8n/queue.mts';
import { type Execution, failureOf, inventOwner, itemsOf, signIn } from '../../n8n/session.mts';
import type { Session } from '../../n8n/session.mts';
import { chain } from '../e2e/chain.mts';
import type { LoopbackServer } from '../e2e/loopback.mts';
import { readRecords } from '../e2e/outside.mts';
import {
	APP,
	change,
	count,
	fetchItems,
	history,
	makeTables,
	NOTES,
	ORDERS,
	serveOrders,
	until,
	writeMany,
} from './shop.mts';

const ITEMS = 5_000;
const RUNS_AT_ONCE = 8;

/** A dead worker is missed sooner than by n8n's own values: a minute, 10 s, 30 s. */
const LOCK = {
	QUEUE_WORKER_LOCK_DURATION: '15000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '3000',
	QUEUE_WORKER_STALLED_INTERVAL: '5000',
};

let desk: QueueDesk;
let session: Session;
let orders: LoopbackServer;
let credential: string;

before(async () => {
	orders = await serveOrders();
	desk = await setUpQueue({ env: LOCK });
	await makeTables(desk.sandbox);
	session = await signIn(desk.main.url, inventOwner());
	credential = await session.createCredential(sandboxCredential(desk.sandbox));
});

after(async () => {
	await orders?.stop();
	await desk?.clear();
});

/** A workflow that writes so many orders, beginning behind the first `skipped` ones. */
const sync = async (run: string, items: number, skipped = 0) =>
	await session.createWorkflow(
		chain(`Sync ${run}`, credential, [
			fetchItems(`${orders.url}/orders?prefix=O&count=${items}&run=${run}&skipped=${skipped}`),
			writeMany('upsertMany', ORDERS),
		]),
	);

/** How many of an execution's items had each outcome. */
function outcomes(execution: Execution): Record<string, number> {
	const counted: Record<string, number> = {};
	for (const { json } of itemsOf(execution, 'Write')) {
		const outcome = String(json.outcome);
		counted[outcome] = (counted[outcome] ?? 0) + 1;
	}
	return counted;
}

/** The number of the worker that took up the latest execution of all. */
async function latestWorker(): Promise<number> {
	const latest = await Promise.all(
		desk.workers.map(async (_, number) => Number((await desk.executionsOf(number)).at(-1) ?? 0)),
	);
	return latest.indexOf(Math.max(...latest));
}

test('a worker killed in mid-job: the run ends as failed, a rerun completes it, nothing twice', async (context) => {
	const workflow = await sync('one', ITEMS);
	await change(desk.sandbox, { latencyMs: 100 });
	const running = session.runWorkflow(workflow, 'Start');
	await until('a part is written', async () => (await count(desk.sandbox, ORDERS)) >= 1_000);
	const victim = await latestWorker();
	process.kill(desk.workers[victim]!.pid, 'SIGKILL');
	const killed = Date.now();
	const broken = await running;
	const seconds = Math.round((Date.now() - killed) / 1000);
	const written = await count(desk.sandbox, ORDERS);
	context.diagnostic(`${written} of ${ITEMS} written, missed after ${seconds} s`);
	context.diagnostic(`${broken.status}: ${failureOf(broken)}`);
	assert.ok(written >= 1_000 && written < ITEMS, `${written} were written`);
	assert.notEqual(broken.status, 'success');

	const restarted = Date.now();
	const again = await session.runWorkflow(workflow, 'Start');
	assert.equal(failureOf(again), undefined);
	assert.equal(await latestWorker(), 1 - victim);
	const told = outcomes(again);
	const rerunSeconds = Math.round((Date.now() - restarted) / 1000);
	context.diagnostic(`the rerun: ${JSON.stringify(told)} in ${rerunSeconds} s`);
	assert.equal(told.inserted, ITEMS - written);
	assert.equal((told.updated ?? 0) + (told.unchanged ?? 0), written);

	const stored = await readRecords(desk.sandbox, APP, ORDERS);
	assert.equal(stored.length, ITEMS);
	assert.equal(new Set(stored.map(({ fields }) => fields.number)).size, ITEMS);
	const versions = await history(desk.sandbox, ORDERS);
	assert.equal(versions.filter(({ action }) => action === 'inserted').length, ITEMS);
	assert.equal(versions.length, ITEMS);
	await change(desk.sandbox, { latencyMs: 0 });
	await desk.startWorker(victim);
});

test('workers that write the same keys at once: each record once, whole, of one of them', async (context) => {
	await makeTables(desk.sandbox);
	await change(desk.sandbox, { latencyMs: 100 });
	const before = await Promise.all([0, 1].map(desk.executionsOf));
	const names = Array.from({ length: RUNS_AT_ONCE }, (_, index) => `run${index}`);
	// Each begins elsewhere, so that they meet in the middle of each other's work.
	const workflows = await Promise.all(
		names.map(async (name, index) => await sync(name, 1_000, index * 100)),
	);
	const executions = await Promise.all(
		workflows.map(async (workflow) => await session.runWorkflow(workflow, 'Start')),
	);
	await change(desk.sandbox, { latencyMs: 0 });
	const shares = (await Promise.all([0, 1].map(desk.executionsOf))).map(
		(all, number) => all.length - before[number]!.length,
	);
	context.diagnostic(`executions of the workers: ${shares.join(' and ')}`);
	assert.equal(shares[0]! + shares[1]!, RUNS_AT_ONCE);
	assert.ok(shares.every((share) => share > 0));

	for (const execution of executions) assert.equal(failureOf(execution), undefined);
	const told = executions.map(outcomes);
	const inserted = told.reduce((sum, outcome) => sum + (outcome.inserted ?? 0), 0);
	assert.equal(inserted, 1_000);
	for (const outcome of told) {
		assert.equal(
			(outcome.inserted ?? 0) + (outcome.updated ?? 0) + (outcome.unchanged ?? 0),
			1_000,
			JSON.stringify(outcome),
		);
	}
	const stored = await readRecords(desk.sandbox, APP, ORDERS);
	assert.equal(stored.length, 1_000);
	assert.equal(new Set(stored.map(({ fields }) => fields.number)).size, 1_000);
	const winners = new Set(stored.map(({ fields }) => fields.run));
	context.diagnostic(`their values are of ${winners.size} of ${RUNS_AT_ONCE} runs`);
	for (const { fields } of stored) {
		assert.ok(names.includes(String(fields.run)));
		assert.equal(fields.again, fields.run, String(fields.number));
	}
});

test('Retry On Fail on a worker: the second try creates nothing again', async () => {
	await axios.put(`${desk.sandbox.baseUrl}/sandbox/faults`, [
		{
			match: { path: '/notes/data/bulk$' },
			when: { nth: [2] },
			fault: { kind: 'failRecords', indexes: [1] },
		},
	]);
	const server = await serveOrders();
	try {
		const write = writeMany('createMany', NOTES, {
			retryOnFail: true,
			maxTries: 3,
			waitBetweenTries: 100,
		});
		const workflow = await session.createWorkflow(
			chain('Retry', credential, [
				fetchItems(`${server.url}/orders?prefix=R&count=300&run=retry`),
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
		const execution = await session.runWorkflow(workflow, 'Start');
		assert.equal(failureOf(execution), undefined);
		assert.equal(outcomes(execution).inserted, 300);
		const stored = await readRecords(desk.sandbox, APP, NOTES);
		assert.equal(stored.length, 300);
		assert.equal(new Set(stored.map(({ fields }) => fields.text)).size, 300);
	} finally {
		await server.stop();
		await axios.delete(`${desk.sandbox.baseUrl}/sandbox/faults`);
	}
});
