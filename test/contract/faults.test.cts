import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import axios from 'axios';
import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import { jsonResponse, startStubServer } from '../support/stubServer.mts';
import { waitUntil } from '../support/waitUntil.mts';
import { BROKEN_CONNECTION, usePlatform } from './contract.cts';

const platform = usePlatform({ seeded: false });
const items = '/apps/shop/tables/items/data';
const bulk = ['a', 'b', 'c'].map((code) => ({ fields: { code } }));

beforeEach(async () => {
	await platform.admin.reset();
	await platform.admin.createTable({
		app: 'shop',
		table: { internalName: 'items', fields: [{ name: 'code', type: 'text', metadata: { importKey: true } }] },
	});
});

/** Sends three records with one active fault. */
async function sendWith(fault: FaultRule['fault'], timeout = 5000) {
	await platform.admin.faults([{ id: 'the-fault', fault }]);
	return platform.sandbox.client().post(`${items}/bulk?dataResponseType=MetadataOnly`, { bulk }, { timeout });
}
const stored = async () => (await platform.admin.records('shop', 'items')).map(({ fields }) => fields.code).join('');
const logged = async () => (await platform.admin.requests()).at(-1);

test.each([
	[{ status: 500 }, 500, undefined],
	[{ status: 429 }, 429, undefined],
	[{ status: 503, retryAfterSeconds: 7 }, 503, '7'],
	[{ status: 503, retryAfterDate: 7 }, 503, expect.stringMatching(/ GMT$/)],
])('the fault %j responds with %d, and nothing is written', async (options, status, retryAfter) => {
	const response = await sendWith({ kind: 'status', ...options });
	expect(response.status).toBe(status);
	expect(response.data.errors[0].id).toBe('faultException');
	expect(response.headers['retry-after']).toEqual(retryAfter);
	expect(await stored()).toBe('');
	expect(await logged()).toMatchObject({ status, outcome: 'completed', faults: ['the-fault'] });
});

test('a status can follow the write, and have a body', async () => {
	const body = { weird: true };
	const response = await sendWith({ kind: 'status', status: 504, body, afterWrite: true });
	expect([response.status, response.data]).toEqual([504, body]);
	expect(await stored()).toBe('abc');
	const text = { kind: 'status', status: 200, body: 'fine', contentType: 'text/plain' };
	expect((await sendWith(text)).data).toBe('fine');
});

test.each([
	['resetUpload', ''],
	['resetBefore', ''],
	['resetAfter', 'abc'],
])('%s ends the connection when %j is written', async (kind, written) => {
	await expect(sendWith({ kind })).rejects.toMatchObject({ code: 'ECONNRESET' });
	expect(await stored()).toBe(written);
	expect(await logged()).toMatchObject({ status: null, outcome: 'reset' });
	// The administration has no faults.
	await platform.admin.faults([]);
});

test.each([
	['hang', {}, ''],
	['hang', { afterWrite: true }, 'abc'],
	['slowAfter', { ms: 1200 }, 'abc'],
])('%s %j takes longer than the timeout', async (kind, options, written) => {
	await expect(sendWith({ kind, ...options }, 300)).rejects.toThrow('timeout');
	await platform.admin.waitUntilIdle();
	expect(await stored()).toBe(written);
});

test('a write completes after its client has timed out', async () => {
	await expect(sendWith({ kind: 'slowBefore', ms: 1500 }, 200)).rejects.toThrow('timeout');
	expect(await stored()).toBe('');
	await platform.admin.waitUntilIdle();
	expect(await stored()).toBe('abc');
	expect(await logged()).toMatchObject({ outcome: 'reset', status: null, busy: false });
});

test('a request that a fault delays over a reset is never written', async () => {
	const delayed = sendWith({ kind: 'slowBefore', ms: 1000 });
	while ((await logged())?.busy !== true) await new Promise((resolve) => setTimeout(resolve, 20));
	await platform.admin.reset();
	await platform.admin.createTable({ app: 'shop', table: { internalName: 'items', fields: [{ name: 'code', type: 'text' }] } });
	await expect(delayed).rejects.toMatchObject({ code: 'ECONNRESET' });
	expect(await stored()).toBe('');
});

test('a delay below the timeout only makes the response late', async () => {
	const start = Date.now();
	expect((await sendWith({ kind: 'slowBefore', ms: 150 })).status).toBe(200);
	expect(Date.now() - start).toBeGreaterThanOrEqual(149);
});

const cuts = [{ kind: 'truncate' }, { kind: 'truncate', bytes: 0 }, { kind: 'wrongLength', by: 20 }];

test.each(cuts)('%j cuts the response off after the write', async (fault) => {
	await expect(sendWith(fault)).rejects.toThrow(BROKEN_CONNECTION);
	expect(await stored()).toBe('abc');
});

test('a Content-Length that is too short truncates the JSON', async () => {
	const response = await sendWith({ kind: 'wrongLength', by: -10 });
	expect(typeof response.data).toBe('string');
	expect(await stored()).toBe('abc');
});

test.each([
	[{ kind: 'html' }, 502, 'text/html; charset=utf-8', ''],
	[{ kind: 'html', status: 200, afterWrite: true }, 200, 'text/html; charset=utf-8', 'abc'],
	[{ kind: 'empty' }, 200, undefined, ''],
	[{ kind: 'empty', status: 504, afterWrite: true }, 504, undefined, 'abc'],
])('%j responds with %d, type %s, when %j is written', async (fault, status, type, written) => {
	const response = await sendWith(fault);
	expect(response.status).toBe(status);
	expect(response.headers['content-type']).toBe(type);
	expect(await stored()).toBe(written);
});

const withIndex = expect.objectContaining({ RecordIndex: 1, message: 'No.' });
const withoutIndex = expect.not.objectContaining({ RecordIndex: expect.anything() });

test.each([
	[{ kind: 'failRecords', indexes: [1], message: 'No.' }, 2, 2, [withIndex], 'ac'],
	[{ kind: 'failRecords', field: 'code', values: ['a', 'c'], withIndex: false }, 1, 1, [withoutIndex, withoutIndex], 'b'],
	[{ kind: 'skipRecords', field: 'code', values: ['b'] }, 2, 2, undefined, 'ac'],
	[{ kind: 'fewerRecords', count: 2 }, 3, 1, undefined, 'abc'],
	[{ kind: 'moreRecords' }, 3, 4, undefined, 'abc'],
])('after %j, the response counts %d of 3 records and has %d', async (fault, successCount, returned, errors, written) => {
	const { data } = await sendWith(fault);
	expect(data.bulk.successCount).toBe(successCount);
	expect(data.data).toHaveLength(returned);
	expect(data.errors).toEqual(errors);
	expect(await stored()).toBe(written);
});

const failures = [{ kind: 'status', status: 502 }, { kind: 'resetBefore' }];

test.each(failures)('with %j and writeAfterMs, the records are written after the client was told that it failed', async (fault) => {
	const writeAfterMs = 200;
	const response = await sendWith({ ...fault, writeAfterMs }).catch(() => undefined);
	expect(response?.status).not.toBe(200);
	await waitUntil('the records are stored', async () => (await stored()) === 'abc');
	const [record] = await platform.admin.records('shop', 'items');
	const sent = Date.parse((await logged())!.startedAt);
	// A timer may be a little early.
	expect(Date.parse(record!.created) - sent).toBeGreaterThan(writeAfterMs - 10);
});

test.each([
	[{ kind: 'rejectBatch', field: 'code', values: ['b'], status: 400 }, 400, ''],
	[{ kind: 'rejectBatch', field: 'code', values: ['b'], status: 413 }, 413, ''],
	[{ kind: 'rejectBatch', field: 'code', values: ['b'], status: 422 }, 422, ''],
	[{ kind: 'rejectBatch', field: 'code', values: ['x'], status: 422 }, 200, 'abc'],
	[{ kind: 'rejectAbove', records: 2 }, 413, ''],
	[{ kind: 'rejectAbove', records: 3 }, 200, 'abc'],
])('with the fault %j, a batch of the records a, b and c gets %d', async (fault, status, written) => {
	expect((await sendWith(fault)).status).toBe(status);
	expect(await stored()).toBe(written);
});

test('docs/sandbox.md describes every fault', () => {
	const read = (path: string) => readFileSync(join(__dirname, '../..', path), 'utf8');
	const docs = read('docs/sandbox.md');
	const rules = read('sandbox/faults/rules.mts').matchAll(/^\tfault\('(\w+)'/gm);
	const kinds = [...rules].map(([, kind]) => kind!);
	expect(kinds).toContain('reorderRecords');
	expect(kinds.filter((kind) => !docs.includes(`{"kind": "${kind}"`))).toEqual([]);
});

test('a response has its records in reverse order', async () => {
	const { data } = await sendWith({ kind: 'reorderRecords' });
	const ids = (await platform.admin.records('shop', 'items')).map(({ id }) => id);
	expect(data.data.map(({ id }: { id: string }) => id)).toEqual(ids.reverse());
	expect(await stored()).toBe('abc');
});

test('a redirect leads to the given location, and nothing is written', async () => {
	const other = await startStubServer(() => jsonResponse({}));
	const location = `${other.origin}/stolen`;
	for (const status of [301, 302, 303, 307, 308]) {
		const response = await sendWith({ kind: 'redirect', location, status });
		expect([response.status, response.headers.location]).toEqual([status, location]);
	}
	const headers = { Authorization: `Bearer ${platform.tokens.role}` };
	const followed = await axios.get(`${platform.sandbox.baseUrl}/api/v2/ping`, { headers, proxy: false });
	expect(followed.request.path).toBe('/stolen');
	expect(await stored()).toBe('');
	await other.stop();
});

test('rules match requests by method, path and body, and by count', async () => {
	const ping = async () => (await platform.sandbox.client().get('/ping')).status;
	const fault = { kind: 'status', status: 503 };
	const run = async (rule: Omit<FaultRule, 'fault'>, times = 6) => {
		await platform.admin.faults([{ ...rule, fault }]);
		const statuses: number[] = [];
		for (let count = 0; count < times; count += 1) statuses.push(await ping());
		return statuses.map((status) => (status === 503 ? 'x' : '.')).join('');
	};
	expect(await run({ when: { nth: [1, 3] } })).toBe('x.x...');
	expect(await run({ when: { every: 3 } })).toBe('..x..x');
	expect(await run({ when: { first: 2 } })).toBe('xx....');
	expect(await run({ when: { every: 2, first: 4 } })).toBe('.x.x..');
	const random = { when: { probability: 0.5, seed: 3 } };
	const once = await run(random, 20);
	expect(once).toMatch(/x.*\..*x/);
	expect(await run(random, 20)).toBe(once);
	expect(await run({ match: { method: 'POST' } })).toBe('......');
	expect(await run({ match: { method: 'get', path: '/ping$' } })).toBe('xxxxxx');
	expect((await platform.admin.http.get('/faults')).data.data[0].seen).toBe(6);

	await platform.admin.faults([{ match: { bodyContains: '"code":"b"' }, fault }]);
	const post = async (code: string) => (await platform.sandbox.client().post(items, { fields: { code } })).status;
	expect([await post('a'), await post('b'), await post('c')]).toEqual([201, 503, 201]);
	await platform.admin.http.delete('/faults');
	expect(await post('b')).toBe(201);
});

test('several faults apply to one request', async () => {
	await platform.admin.faults([
		{ id: 'skip', fault: { kind: 'skipRecords', indexes: [0] } },
		{ id: 'fail', fault: { kind: 'failRecords', indexes: [1] } },
		{ id: 'cut', when: { nth: [2] }, fault: { kind: 'resetAfter' } },
	]);
	const send = () => platform.sandbox.client().post(`${items}/bulk`, { bulk, useUpsert: true });
	expect((await send()).data.bulk.insertedCount).toBe(1);
	await expect(send()).rejects.toThrow(BROKEN_CONNECTION);
	expect(await logged()).toMatchObject({ faults: ['skip', 'fail', 'cut'], outcome: 'reset' });
});
