/**
 * n8n in queue mode, with its parts as on several machines: main polls and receives webhooks, two
 * workers execute, files are in the database. Only the database's credential contains the token.
 */

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CREDENTIAL_NAME, CREDENTIAL_TYPE, sandboxCredential } from '../../../harness/examples.mts';
import { logFile } from '../../../harness/queueEnvironment.mts';
import { describeFailure, outputItems } from '../../../harness/n8nApi.mts';
import { byId, everySeconds, inTable, linearWorkflow, triggerNode, webhookNode } from '../../support/linearWorkflow.mts';
import { listExecutions, storeCredential } from '../../support/n8n.mts';
import { readRecords } from '../../support/apiClient.mts';
import { countPolls } from '../../support/pollLog.mts';
import { waitUntil } from '../../support/waitUntil.mts';
import { run } from '../run.mts';
import { isFinished, queueHarness } from './queueHarness.mts';
import { APP, attachmentNode, createTables, fetchItemsNode, ORDERS, writeManyNode } from './queueFixtures.mts';

const RUNS_AT_ONCE = 8;
const ITEMS_EACH = 500;

const harness = await queueHarness();
const { environment } = harness;
/** A token that the sandbox made up, so that it can be searched for. */
const token = await harness.admin.createToken({
	name: 'searched-for',
	type: 'role',
	permissions: [{ app: '*', table: '*', allow: ['structure', 'read', 'create', 'update'] }],
});
const { id: credential } = await storeCredential(harness.n8nApi, sandboxCredential(environment.sandbox), { token });

const tookUp = async () => (await harness.executionsByWorker()).flat();

test('bulk syncs started by hand run on both workers, and what they write is there', async (context) => {
	await createTables(environment.sandbox);
	await harness.admin.settings({ latencyMs: 200 });
	const before = await harness.executionsByWorker();
	const prefixes = Array.from({ length: RUNS_AT_ONCE }, (_, index) => `${'ABCDEFGH'[index]}`);
	const workflows = await Promise.all(
		prefixes.map(
			async (prefix) =>
				await harness.n8nApi.createWorkflow(
					linearWorkflow(`Sync ${prefix}`, credential, [
						fetchItemsNode(`${harness.orders.origin}/orders?prefix=${prefix}&count=${ITEMS_EACH}&run=one`),
						writeManyNode('upsert', ORDERS),
					]),
				),
		),
	);
	const executions = await Promise.all(workflows.map(async (workflow) => await run(harness.n8nApi, workflow)));
	await harness.admin.settings({ latencyMs: 0 });
	for (const execution of executions) {
		const outcomes = outputItems(execution, 'Write').map(({ json }) => json.outcome);
		assert.deepEqual(outcomes, Array(ITEMS_EACH).fill('inserted'));
	}
	const byWorker = (await harness.executionsByWorker()).map((ids, number) => ids.slice(before[number]!.length));
	context.diagnostic(`executions of the workers: ${byWorker.map((ids) => ids.length).join(' and ')}`);
	assert.ok(byWorker.every((ids) => ids.length > 0));
	assert.deepEqual(byWorker.flat().sort(), executions.map(({ id }) => id).sort());

	const stored = await readRecords(environment.sandbox, APP, ORDERS);
	const expected = prefixes.flatMap((prefix) => Array.from({ length: ITEMS_EACH }, (_, index) => `${prefix}${index + 1}`));
	assert.deepEqual(stored.map(({ fields }) => fields.number).sort(), expected.sort());
	assert.equal((await harness.admin.history(APP, ORDERS)).length, expected.length);
});

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('files that main receives go up from a worker and come down again, unchanged', async (context) => {
	const recordId = byId('={{ $json.query.record }}');
	const up = attachmentNode('Up', 'upload', { recordId, target: 'existing', existingFiles: 'replace', inputDataFieldName: 'data' });
	const down = attachmentNode('Down', 'download', { recordId: byId("={{ $('Start').item.json.query.record }}"), outputField: 'back' });
	const workflow = await harness.n8nApi.createWorkflow(linearWorkflow('Papers', credential, [up, down], webhookNode('papers')));
	await harness.n8nApi.publish(workflow);
	const stored = await readRecords(environment.sandbox, APP, ORDERS);
	const sizes = [1, 1_000, 100_000, 3_000_001, 10_000_000];
	const files = sizes.map((size, index) => ({ record: stored[index]!.id, bytes: randomBytes(size) }));
	await Promise.all(files.map(async ({ record, bytes }) => await harness.callWebhook(`papers?record=${record}`, bytes)));
	const executions = await waitUntil('all files are through', async () => await harness.allFinished(workflow, sizes.length));
	const taken = await tookUp();
	for (const execution of executions) {
		assert.equal(describeFailure(execution), undefined);
		assert.ok(taken.includes(execution.id));
		const [item] = outputItems(execution, 'Down') as Array<{ binary?: { back?: { id?: string } } }>;
		const [start] = outputItems(execution, 'Start');
		const record = (start?.json.query as { record: string }).record;
		const { bytes } = files.find((file) => file.record === record)!;
		const id = item?.binary?.back?.id ?? '';
		assert.match(id, /^database:/);
		assert.equal(hash(await harness.downloadBinary(id)), hash(bytes));
		const { fields } = (await readRecords(environment.sandbox, APP, ORDERS)).find((entry) => entry.id === record)!;
		const [paper] = fields.papers as Array<{ fileId: string }>;
		const there = await environment.sandbox.admin.http.get<ArrayBuffer>(`/files/${paper!.fileId}`, { responseType: 'arraybuffer' });
		assert.equal(hash(Buffer.from(there.data)), hash(bytes));
	}
	const rows = await environment.postgres.query('SELECT count(*), sum("fileSize") FROM binary_data');
	context.diagnostic(`files and bytes in the database: ${rows}`);
});

test('main polls and workers execute; with no worker up nothing is lost, nothing emitted twice', async (context) => {
	const trigger = triggerNode('Start', everySeconds(2), { triggerOn: 'createdOrUpdated', ...inTable(APP, ORDERS) });
	const workflow = await harness.n8nApi.createWorkflow(linearWorkflow('Watch', credential, [], trigger));
	const polls = async () => await countPolls(harness.admin);
	await createTables(environment.sandbox);
	await harness.admin.clearRequests();
	await harness.n8nApi.publish(workflow);
	await waitUntil('n8n polls', async () => (await polls()) >= 2);
	const isStored = async () =>
		(await environment.postgres.query(`SELECT "staticData" IS NOT NULL FROM workflow_entity WHERE id = '${workflow}'`)) === 't';
	await waitUntil('the place is stored', isStored);

	const create = async (...numbers: string[]) => {
		for (const number of numbers) await environment.sandbox.client().post(`/apps/${APP}/tables/${ORDERS}/data`, { fields: { number } });
	};
	const emitted = async () =>
		(await harness.finishedExecutions(workflow))
			.flatMap((execution) => outputItems(execution, 'Start'))
			.map(({ json }) => `${String(json.event)} ${(json as { number: string }).number}`)
			.sort();
	const expectEmitted = async (...numbers: string[]) => {
		const expected = numbers.map((number) => `created ${number}`).sort();
		await waitUntil('everything is emitted', async () => (await emitted()).length >= expected.length);
		// One that started after that, completely, including any execution that it started.
		const before = await polls();
		await waitUntil('two more polls', async () => (await polls()) >= before + 2);
		await waitUntil('all executions end', async () => (await listExecutions(harness.n8nApi, workflow)).every(isFinished));
		assert.deepEqual(await emitted(), expected);
	};
	await create('T1', 'T2', 'T3');
	await expectEmitted('T1', 'T2', 'T3');

	await Promise.all(environment.workers.map((worker) => worker.stop()));
	await create('T4', 'T5');
	const before = await polls();
	await waitUntil('main polls without workers', async () => (await polls()) >= before + 3);
	assert.equal((await emitted()).length, 3);
	await environment.startWorker(0);
	await create('T6');
	await expectEmitted('T1', 'T2', 'T3', 'T4', 'T5', 'T6');
	const executions = await harness.finishedExecutions(workflow);
	const taken = await tookUp();
	assert.ok(executions.every(({ id }) => taken.includes(id)));
	context.diagnostic(`${executions.length} executions emitted 6 changes`);
	await harness.n8nApi.unpublish(workflow);
});

async function holdsAny(file: string, forms: readonly string[]): Promise<boolean> {
	let rest = '';
	for await (const chunk of createReadStream(file, 'latin1')) {
		const text = rest + (chunk as string);
		if (forms.some((form) => text.includes(form))) return true;
		rest = text.slice(-2_000);
	}
	return false;
}

test('neither Redis nor the database nor a log contains the token in plain text', async () => {
	for (const fault of [
		{ kind: 'status', status: 500 },
		{ kind: 'html', status: 403 },
	]) {
		await harness.admin.faults([{ fault }]);
		const write = writeManyNode('create', ORDERS);
		const parameters = { ...write.parameters, options: { requests: { settings: { maxRetryWait: 0 } } } };
		const url = `${harness.orders.origin}/orders?prefix=X&count=3&run=x`;
		const workflow = linearWorkflow('Fails', credential, [fetchItemsNode(url), { ...write, parameters }]);
		const failed = await harness.n8nApi.runWorkflow(await harness.n8nApi.createWorkflow(workflow), 'Start');
		assert.equal(failed.status, 'error');
	}
	await harness.admin.faults([]);
	const redisKeys = await environment.redis.dump();
	await environment.stopN8n();
	const database = await environment.postgres.dump(join(environment.folder, 'database.sql'));

	// As it is, and as its bytes would look in the database's dump.
	const bytes = Buffer.from(token);
	const forms = [token, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, '').slice(0, -1)];
	const logs = ['main', 'worker-0', 'worker-1'].map((name) => logFile(join(environment.folder, name)));
	for (const file of [redisKeys, environment.redis.commands, database, ...logs]) {
		assert.ok(!(await holdsAny(file, forms)), file);
	}
	// The search finds what exists: the credential's name, an execution, a line of the log.
	assert.ok(await holdsAny(database, [CREDENTIAL_NAME]));
	assert.ok(await holdsAny(database, [CREDENTIAL_TYPE]));
	assert.ok(await holdsAny(environment.redis.commands, ['executionId']));
	for (const log of logs.slice(1)) assert.ok(await holdsAny(log, ['Worker started execution']));
});
