import type { StoredRecord } from '../../harness/sandboxAdmin.mts';
import { UNKNOWN_ID, usePlatform } from './contract.cts';

const platform = usePlatform({ seeded: false });
const data = '/apps/shop/tables/items/data';
const metadata = '?dataResponseType=MetadataOnly';

beforeEach(async () => {
	await platform.admin.reset();
	await platform.admin.createTable({
		app: 'shop',
		table: {
			internalName: 'items',
			fields: [
				{ name: 'code', type: 'text', metadata: { importKey: true } },
				{ name: 'name', type: 'text', metadata: { required: true, maxLength: 10 } },
				{ name: 'price', type: 'decimal', metadata: { min: 0 } },
			],
		},
		records: ['a', 'b', 'c'].map((code) => ({ fields: { code, name: code, price: 1 } })),
	});
});

const stored = () => platform.admin.records('shop', 'items');
const byCode = async () => new Map((await stored()).map((record) => [record.fields.code as string, record]));
const failedAt = (errors: Array<{ RecordIndex: number }>) => errors.map(({ RecordIndex }) => RecordIndex);
const ids = (records: StoredRecord[]) => records.map(({ id }) => id);

describe('a bulk update', () => {
	test('silently skips empty, unknown and unchanged records', async () => {
		const [a, b, c] = await stored();
		const bulk = [
			{ id: a?.id, fields: { price: 2 } },
			{ id: UNKNOWN_ID, fields: { price: 2 } },
			{ id: '', fields: { price: 2 } },
			{ id: null, fields: { price: 2 } },
			{ fields: { price: 2 } },
			{ id: b?.id, fields: { price: 1, name: 'b' } },
			{ id: c?.id, fields: { price: -1 } },
			{ id: b?.id, fields: { name: 'B' } },
		];
		const response = await platform.client.patch(`${data}/bulk${metadata}`, { bulk });
		expect(response.status).toBe(200);
		expect(response.data.bulk).toEqual({ successCount: 7, insertedCount: 0, updatedCount: 2 });
		expect(ids(response.data.data)).toEqual([a?.id, b?.id]);
		expect(response.data.errors).toEqual([expect.objectContaining({ RecordIndex: 6, message: expect.stringContaining("'price'") })]);
		const after = await stored();
		expect(after.map(({ ver }) => ver)).toEqual([1, 1, 0]);
		expect(after[2]).toEqual(c);
		await platform.admin.settings({ updatedCount: false, errorPosition: 'none' });
		const again = await platform.client.patch(`${data}/bulk`, { bulk: bulk.slice(0, 7) });
		expect(again.data.bulk).toEqual({ successCount: 6, insertedCount: 0 });
		expect(again.data.errors[0]).not.toHaveProperty('RecordIndex');
		expect(again.data).not.toHaveProperty('data');
	});

	test('PATCH keeps the other fields, PUT clears them', async () => {
		const [a] = await stored();
		const bulk = [{ id: a?.id, fields: { name: 'x' } }];
		await platform.client.patch(`${data}/bulk`, { bulk });
		expect((await stored())[0]?.fields).toEqual({ code: 'a', name: 'x', price: 1 });
		await platform.client.put(`${data}/bulk`, { bulk });
		expect((await stored())[0]?.fields).toEqual({ name: 'x' });
		const { data: response } = await platform.client.put(`${data}/bulk`, { bulk: [{ id: a?.id, fields: {} }] });
		expect(response.errors[0].message).toContain("'name' is required");
	});

	test('with useUpsert inserts unknown ids', async () => {
		const [a] = await stored();
		const bulk = [
			{ id: a?.id, fields: { name: 'x' } },
			{ id: UNKNOWN_ID, fields: { code: 'n', name: 'new' } },
			{ fields: { code: 'm', name: 'new' } },
		];
		const response = await platform.client.patch(`${data}/bulk${metadata}`, { bulk, useUpsert: true });
		expect(response.data.bulk).toEqual({ successCount: 3, insertedCount: 2, updatedCount: 1 });
		expect(ids(response.data.data).slice(0, 2)).toEqual([a?.id, UNKNOWN_ID]);
		expect(await stored()).toHaveLength(5);
	});

	test('times never decrease, and every change increments ver', async () => {
		const [a] = await stored();
		for (const name of ['1', '2', '3']) await platform.client.patch(`${data}/bulk`, { bulk: [{ id: a?.id, fields: { name } }] });
		const history = await platform.admin.history('shop', 'items', a?.id);
		expect(history.map(({ ver }) => ver)).toEqual([0, 1, 2, 3]);
		expect(history.map(({ fields }) => fields?.name)).toEqual(['a', '1', '2', '3']);
		const times = history.map(({ at }) => at);
		expect([...times].sort()).toEqual(times);
		const log = await platform.admin.requests();
		expect(history.slice(1).map(({ request }) => request)).toEqual(log.map(({ number }) => number));
	});
});

describe('a bulk creation', () => {
	test('writes the valid records and reports the invalid ones', async () => {
		await platform.admin.settings({ importKey: 'unique' });
		const bulk = [
			{ fields: { code: 'x', name: 'x' } },
			{ fields: { code: 'y' } },
			{ fields: { code: 'a', name: 'taken' } },
			{ fields: { code: 'z', name: 'longer than ten', price: 'much', colour: 'red' } },
			{ fields: { name: 'no key' } },
			{ fields: { code: 'x', name: 'twice' } },
		];
		const response = await platform.client.post(`${data}/bulk${metadata}`, { bulk, skipAudit: true });
		expect(response.data.bulk).toEqual({ successCount: 2, insertedCount: 2, updatedCount: 0 });
		expect(failedAt(response.data.errors)).toEqual([1, 2, 3, 3, 3, 5]);
		expect(ids(response.data.data)).toEqual(ids((await stored()).slice(3)));
		expect((await byCode()).get('a')?.fields.name).toBe('a');
	});

	test('with useUpsert updates the records that the import key finds', async () => {
		const before = await byCode();
		const bulk = [
			{ fields: { code: 'n', name: 'new' } },
			{ fields: { code: 'a', price: 5 } },
			{ fields: { code: 'b', name: 'b' } },
			{ fields: { name: 'no key' } },
			{ fields: { code: '', name: 'no key' } },
			{ fields: { code: 7, name: 'wrong key' } },
			{ fields: { code: 'n', name: 'newer' } },
		];
		const response = await platform.client.post(`${data}/bulk${metadata}`, { bulk, useUpsert: true });
		expect(response.data.bulk).toEqual({ successCount: 4, insertedCount: 1, updatedCount: 2 });
		const after = await byCode();
		const [n, a] = [after.get('n')?.id, before.get('a')?.id];
		expect(ids(response.data.data)).toEqual([n, a, n]);
		expect(after.get('a')).toMatchObject({ ver: 1, fields: { name: 'a', price: 5 } });
		expect(after.get('b')).toEqual(before.get('b'));
		expect(after.get('n')).toMatchObject({ ver: 1, fields: { name: 'newer' } });
		expect(failedAt(response.data.errors)).toEqual([3, 4, 5]);
	});

	test('without a mark, the import key is the first field', async () => {
		const fields = ['name', 'city'].map((name) => ({ name, type: 'text' }));
		await platform.admin.createTable({ app: 'shop', table: { internalName: 'plain', fields } });
		const upsert = async (...all: object[]) => {
			const bulk = all.map((each) => ({ fields: each }));
			return (await platform.client.post('/plain/data/bulk', { bulk, useUpsert: true })).data;
		};
		expect((await upsert({ name: 'x' }, { name: 'x', city: 'y' })).bulk).toMatchObject({ insertedCount: 1, updatedCount: 1 });
		expect((await upsert({ city: 'y' })).errors[0].message).toContain("'name' is the import key");
	});

	test.each([
		['notUnique', 2, 0],
		['unique', 1, 1],
	])('importKey %s: a plain create of an existing key inserts %d more', async (importKey, inserted, rejected) => {
		await platform.admin.settings({ importKey });
		const bulk = [{ fields: { code: 'a', name: 'second' } }, { fields: { code: 'q', name: 'q' } }];
		const { data: response } = await platform.client.post(`${data}/bulk`, { bulk });
		expect(response.bulk.insertedCount).toBe(inserted);
		expect(response.errors ?? []).toHaveLength(rejected);
		const upsert = { bulk: [{ fields: { code: 'a', price: 6 } }], useUpsert: true };
		expect((await platform.client.post(`${data}/bulk`, upsert)).data.bulk).toMatchObject({ insertedCount: 0, updatedCount: 1 });
		// Of several, the oldest.
		const prices = (await stored()).filter(({ fields }) => fields.code === 'a').map(({ fields }) => fields.price);
		expect(prices).toEqual([6, undefined].slice(0, inserted));
	});

	test.each<[string, unknown, unknown, unknown]>([
		['text', 'Ä', 'Ä', 'ä'],
		['dropdown', 'x', 'x', 'X'],
		['number', 10, 1e1, 11],
		['decimal', 0.5, 5e-1, -0.5],
		['date', '2024-03-01', '2024-02-29T23:30:00Z', '2024-03-01T23:30:00Z'],
		['datetime', '2024-03-01T12:00:00', '2024-03-01T11:00:00Z', '2024-03-01T12:00:00Z'],
	])('an import key of type %s is compared as it is stored', async (type, first, same, other) => {
		const fields = [
			{ name: 'key', type, metadata: { importKey: true } },
			{ name: 'name', type: 'text' },
		];
		await platform.admin.createTable({ app: 'berlin', timeZone: 'Europe/Berlin', table: { internalName: 'keyed', fields } });
		const write = async (key: unknown, name: string) => {
			const bulk = [{ fields: { key, name } }];
			return (await platform.client.post('/keyed/data/bulk', { bulk, useUpsert: true })).data.bulk;
		};
		const inserted = { successCount: 1, insertedCount: 1, updatedCount: 0 };
		expect(await write(first, 'a')).toEqual(inserted);
		expect(await write(same, 'b')).toEqual({ ...inserted, insertedCount: 0, updatedCount: 1 });
		expect(await write(other, 'c')).toEqual(inserted);
		expect((await platform.admin.records('berlin', 'keyed')).map((record) => record.fields.name)).toEqual(['b', 'c']);
		const filter = [{ field: 'key', operator: '===', value: String(same) }];
		const found = (await platform.client.post('/keyed/data/filter', { filter })).data.data;
		expect(found.map((record: StoredRecord) => record.fields.name)).toEqual(['b']);
		await platform.admin.settings({ importKey: 'unique' });
		const again = await platform.client.post('/keyed/data', { fields: { key: same } });
		expect(again.data.errors[0].message).toContain('must be unique');
	});

	test.each([
		['checkbox', true],
		['chips', ['x']],
		['url_link', { href: 'https://example.com' }],
	])('a field of type %s cannot be an import key', async (type, key) => {
		const fields = [{ name: 'key', type, metadata: { importKey: true } }];
		await platform.admin.createTable({ app: 'shop', table: { internalName: 'odd', fields } });
		const response = await platform.client.post('/odd/data', { fields: { key }, useUpsert: true });
		expect(response.status).toBe(400);
		expect(response.data.errors[0].message).toContain(`'key' (${type})`);
	});
});

describe('one record', () => {
	test('with useUpsert gets 201 if inserted, 200 if updated or unchanged', async () => {
		const post = (fields: object) => platform.client.post(data, { fields, useUpsert: true });
		expect((await post({ code: 'n', name: 'n' })).status).toBe(201);
		expect((await post({ code: 'n', name: 'm' })).data.data).toMatchObject({ ver: 1 });
		const unchanged = await post({ code: 'n', name: 'm' });
		expect(unchanged.status).toBe(200);
		expect(unchanged.data.data.ver).toBe(1);
		expect((await post({ name: 'n' })).status).toBe(400);
	});

	test('is returned as dataResponseType says', async () => {
		const fields = { name: 'n' };
		const post = (type: string) => platform.client.post(`${data}?dataResponseType=${type}`, { fields });
		expect((await post('All')).data.data.fields.name).toBe('n');
		expect(Object.keys((await post('MetadataOnly')).data.data)).toEqual(['id', 'created', 'modified', 'ver']);
		expect((await post('None')).data).toEqual({ data: {} });
		expect((await post('Some')).status).toBe(400);
		const bulk = [{ fields }];
		expect((await platform.client.post(`${data}/bulk?dataResponseType=All`, { bulk })).status).toBe(400);
	});

	test('is new as long as created and modified are the same', async () => {
		const bulk = Array.from({ length: 50 }, (_, index) => ({ fields: { code: `${index}`, name: '0' } }));
		const twice = bulk.map(({ fields: { code } }) => ({ fields: { code, name: '1' } }));
		await platform.client.post(`${data}/bulk`, { bulk: [...bulk, ...twice.slice(25)], useUpsert: true });
		const records = (await stored()).slice(3);
		expect(records.map(({ ver }) => ver)).toEqual(bulk.map((_, index) => (index < 25 ? 0 : 1)));
		for (const { ver, created, modified } of records) expect(created === modified).toBe(ver === 0);
	});

	test('keeps ver and modified if an update changes nothing', async () => {
		const [a] = await stored();
		await platform.client.patch(`${data}/${a?.id}`, { fields: { name: 'a' } });
		await platform.client.put(`${data}/${a?.id}`, { fields: a?.fields });
		expect((await stored())[0]).toEqual(a);
	});

	test('has times in UTC with milliseconds', async () => {
		const { created } = (await platform.client.get(data)).data.data[0];
		expect(created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
		expect(new Date(created).toISOString()).toBe((await stored())[0]?.created);
	});
});

test('records are deleted by a filter, up to a limit that is required', async () => {
	const remove = (params: object) => platform.client.delete(`${data}/bulk`, { params });
	expect((await remove({ filter: 'code(eq)a' })).status).toBe(400);
	expect((await remove({ limit: 0 })).status).toBe(400);
	expect((await remove({ limit: 2147483648 })).status).toBe(400);
	expect((await remove({ limit: 2147483647, filter: 'code(gte)b' })).status).toBe(204);
	expect((await stored()).map(({ fields }) => fields.code)).toEqual(['a']);
	expect((await remove({ limit: 5 })).status).toBe(204);
	expect(await stored()).toEqual([]);
	const deleted = (await platform.admin.history('shop', 'items')).map(({ action }) => action);
	expect(deleted.slice(-3)).toEqual(['deleted', 'deleted', 'deleted']);
});

test.each([
	['wholeBatch400', 400],
	['wholeBatch422', 422],
])('a batch can be rejected as a whole: %s', async (batchFailure, status) => {
	await platform.admin.settings({ batchFailure });
	const before = await stored();
	const bulk = [{ fields: { name: 'x' } }, { fields: { name: 7 } }];
	const response = await platform.sandbox.client().post(`${data}/bulk`, { bulk });
	expect(response.status).toBe(status);
	expect(response.data).toEqual({ errors: [expect.objectContaining({ RecordIndex: 1 })] });
	expect(await stored()).toEqual(before);
});

test.each<[string, unknown]>([
	['no bulk', {}],
	['an object as bulk', { bulk: {} }],
	['no fields', { bulk: [{ id: 'x' }] }],
	['fields that are not an object', { bulk: [{ fields: [] }] }],
	['an unknown property', { bulk: [{ fields: {}, ver: 1 }] }],
	['an invalid flag', { bulk: [], useUpsert: 'yes' }],
	['a number as id', { bulk: [{ id: 1, fields: {} }] }],
	['a scalar', 7],
	['null', null],
])('a body with %s is rejected', async (_name, body) => {
	const headers = { 'Content-Type': 'application/json' };
	const response = await platform.client.patch(`${data}/bulk`, JSON.stringify(body), { headers });
	expect(response.status).toBe(400);
});

test('an empty batch succeeds', async () => {
	const response = await platform.client.post(`${data}/bulk`, { bulk: [] });
	expect(response.data).toEqual({ bulk: { successCount: 0, insertedCount: 0, updatedCount: 0 } });
});
