/** Who refuses a write: the role's import right, the plan's limits, a gateway. */
import { usePlatform } from './contract.cts';

const platform = usePlatform({ seeded: false });
const data = '/apps/shop/tables/items/data';
const item = (code: string) => ({ fields: { code } });
const stored = async () => (await platform.admin.records('shop', 'items')).map(({ fields }) => String(fields.code)).join('');

beforeEach(async () => {
	await platform.admin.reset();
	const fields = [
		{ name: 'code', type: 'text', metadata: { importKey: true } },
		{ name: 'papers', type: 'file' },
	];
	await platform.admin.createTable({ app: 'shop', table: { internalName: 'items', fields }, records: [item('a')] });
	await platform.admin.createTable({ app: 'other', table: { internalName: 'items', fields }, records: [item('z')] });
});

test.each([
	['write', true, 200],
	['write', false, 200],
	['import', true, 200],
	['import', false, 403],
])('if bulk requests need the right to %s, a role with the import right: %j, gets %i', async (bulkRight, mayImport, status) => {
	await platform.admin.settings({ bulkRight });
	const allow = ['read', 'create', 'update', 'delete', ...(mayImport ? ['import'] : [])];
	const value = await platform.admin.createToken({ name: 'robot', type: 'role', permissions: [{ app: 'shop', table: '*', allow }] });
	const client = platform.as(value);
	const [a] = await platform.admin.records('shop', 'items');
	const update = { bulk: [{ id: a!.id, fields: {} }] };
	const bulk = [
		client.post(`${data}/bulk`, { bulk: [item('b')] }),
		client.patch(`${data}/bulk`, update),
		client.put(`${data}/bulk`, update),
	];
	for (const response of await Promise.all(bulk)) {
		expect(response.status).toBe(status);
		if (status === 403) expect(response.data.errors[0].message).toContain("'import'");
	}
	expect((await client.delete(`${data}/bulk?limit=1&filter=code(eq)z`)).status).toBe(status === 200 ? 204 : 403);
	expect((await client.post(data, item('c'))).status).toBe(201);
	expect((await client.delete(`${data}/${a!.id}`)).status).toBe(204);
});

test.each([
	['perRecord', 200, 'abc', [2, 3]],
	['wholeBatch', 400, 'a', [undefined]],
])('with limitErrors %s, a batch beyond the limit of records gets %i', async (limitErrors, status, left, positions) => {
	await platform.admin.settings({ maxRecords: 3, limitErrors });
	const response = await platform.client.post(`${data}/bulk`, { bulk: ['b', 'c', 'd', 'e'].map(item) });
	expect(response.status).toBe(status);
	expect(response.data.errors.map((error: { RecordIndex?: number }) => error.RecordIndex)).toEqual(positions);
	expect(response.data.errors[0]).toMatchObject({ type: 'exception', message: "The limit of 3 records in 'shop' is reached." });
	expect(await stored()).toBe(left);
	await platform.client.post(`${data}/bulk`, { bulk: [item('b'), item('c')] });
	expect((await platform.client.post(data, item('d'))).status).toBe(400);
	// Other applications have limits of their own, and what exists may change.
	expect((await platform.client.post('/apps/other/tables/items/data', item('d'))).status).toBe(201);
	expect((await platform.client.post(`${data}/bulk`, { bulk: [item('a')], useUpsert: true })).status).toBe(200);
});

test('files beyond the storage are rejected, until others are removed', async () => {
	await platform.admin.settings({ maxStorageBytes: 5 });
	const [a] = await platform.admin.records('shop', 'items');
	const file = { filename: 'x.txt', mimetype: 'text/plain', filedata: `data:text/plain;base64,${btoa('abc')}` };
	const put = async (papers: unknown) => await platform.client.patch(`${data}/${a!.id}`, { fields: { papers } });
	expect((await put([file])).status).toBe(200);
	const full = await put({ add: [file] });
	expect(full.status).toBe(400);
	expect(full.data.errors).toMatchObject([{ id: 'limitExceededException', message: 'The storage of 5 bytes is full.' }]);
	expect((await put([])).status).toBe(200);
	expect((await put([file])).status).toBe(200);
});

test.each([
	[{ kind: 'html', status: 403 }, 403, expect.stringContaining('<h1>')],
	[{ kind: 'empty', status: 405 }, 405, ''],
	[{ kind: 'status', status: 406, body: 'Not allowed' }, 406, 'Not allowed'],
])('a gateway that dislikes a text: %j', async (fault, status, body) => {
	await platform.admin.faults([{ match: { bodyContains: 'drop' }, fault }]);
	const client = platform.sandbox.client(platform.tokens.role);
	const response = await client.post(`${data}/bulk`, { bulk: [item('drop')] });
	expect([response.status, response.data]).toEqual([status, body]);
	expect((await client.post(`${data}/bulk`, { bulk: [item('b')] })).status).toBe(200);
	expect(await stored()).toBe('ab');
});
