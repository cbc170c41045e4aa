import { startSandbox } from '../../harness/sandboxProcess.mts';
import { CheckedPlatform } from './contract.cts';

const data = '/apps/shop/tables/items/data';
const fields = [
	{ name: 'code', type: 'text', metadata: { importKey: true } },
	{ name: 'name', type: 'text' },
	{ name: 'seen', type: 'system_type', metadata: { source: 'modified' } },
];
const codes = ['a', 'b', 'c', 'd', 'e'];
const records = codes.map((code) => ({ fields: { code } }));

interface ListedRecord {
	created: string;
	modified: string;
	ver: number;
	fields: { code: string; seen: string };
}

const platform = new CheckedPlatform();

beforeAll(async () => platform.use(await startSandbox({ seeded: false, settings: { maxListedRecords: 4 } })));
afterAll(() => platform.sandbox.stop());
beforeEach(() => platform.admin.reset());

const createTable = () => platform.admin.createTable({ app: 'shop', table: { internalName: 'items', fields }, records });
const codesOf = (response: { data: { data: ListedRecord[] } }) => response.data.data.map((record) => record.fields.code).join('');

test('settings of the command line hold until they are changed, and again after a reset', async () => {
	const current = async () => (await platform.admin.http.get('/settings')).data.data;
	expect(await current()).toMatchObject({ maxListedRecords: 4, maxFilteredRecords: null });
	await platform.admin.settings({ maxListedRecords: null });
	expect(await current()).toMatchObject({ maxListedRecords: null });
	await platform.admin.reset();
	expect(await current()).toMatchObject({ maxListedRecords: 4, timePrecisionMs: 1 });
});

test.each([
	[2, null, ['ab', 'cd', 'e', '', 'a'], ['abcde', 'cde', 'e', '', 'a']],
	[null, 3, ['abcde', 'cde', 'e', '', 'a'], ['abc', 'cde', 'e', '', 'a']],
	[1, 7, ['a', 'c', 'e', '', 'a'], ['abcde', 'cde', 'e', '', 'a']],
])('a page has %j records at most if listed, %j if filtered', async (maxListedRecords, maxFilteredRecords, listed, filtered) => {
	await createTable();
	await platform.admin.settings({ maxListedRecords, maxFilteredRecords });
	const pages = [
		{ skip: 0, limit: 1000 },
		{ skip: 2, limit: 3 },
		{ skip: 4, limit: 2 },
		{ skip: 5, limit: 1 },
		{ skip: 0, limit: 1 },
	];
	const filter = { filter: [] };
	expect(await Promise.all(pages.map(async (params) => codesOf(await platform.client.get(data, { params }))))).toEqual(listed);
	expect(await Promise.all(pages.map(async (params) => codesOf(await platform.client.post(`${data}/filter`, filter, { params }))))).toEqual(
		filtered,
	);
	expect((await platform.client.get(`${data}/count`)).data.data.count).toBe(5);
});

describe('timePrecisionMs', () => {
	const list = async (): Promise<ListedRecord[]> => (await platform.client.post(`${data}/filter`, { filter: [] })).data.data;
	const update = (name: string) =>
		platform.client.post(`${data}/bulk`, { bulk: codes.map((code) => ({ fields: { code, name } })), useUpsert: true });

	test.each([
		[1, /T\d\d:\d\d:\d\d\.\d{3}Z$/],
		[40, /T\d\d:\d\d:\d\d\.\d{2}0Z$/],
		[1000, /T\d\d:\d\d:\d\dZ$/],
		[60_000, /T\d\d:\d\d:00Z$/],
	])('times are multiples of %d ms', async (timePrecisionMs, form) => {
		await platform.admin.settings({ timePrecisionMs });
		await createTable();
		await update('changed');
		for (const { created, modified, fields: shown } of await list()) {
			for (const time of [created, modified]) {
				expect(Date.parse(time) % timePrecisionMs).toBe(0);
				expect(time).toMatch(form);
			}
			expect(shown.seen).toBe(modified);
		}
		const body = { fields: { modified: { aggregations: ['max'] } } };
		const summary = (await platform.client.post(`${data}/summary`, body)).data.data;
		expect(summary.fields.modified.max).toBe((await list()).at(-1)?.modified);
		const stored = await platform.admin.records('shop', 'items');
		expect(stored.map(({ modified }) => Date.parse(modified))).toEqual((await list()).map(({ modified }) => Date.parse(modified)));
	});

	test('an update within the same tick shows in the version only', async () => {
		await platform.admin.settings({ timePrecisionMs: 365 * 24 * 3_600_000 });
		await createTable();
		await update('changed');
		const shown = await list();
		expect(shown.map(({ ver }) => ver)).toEqual([1, 1, 1, 1, 1]);
		for (const { created, modified } of shown) expect(modified).toBe(created);
		const [{ modified }] = shown as [ListedRecord];
		const since = { filter: [{ field: 'modified', operator: 'gte', value: modified }] };
		const after = { filter: [{ field: 'modified', operator: 'gt', value: modified }] };
		expect(codesOf(await platform.client.post(`${data}/filter`, since))).toBe('abcde');
		expect(codesOf(await platform.client.post(`${data}/filter`, after))).toBe('');
	});

	test('no write is before an earlier one, even if the clock becomes coarser', async () => {
		await createTable();
		const before = await platform.admin.records('shop', 'items');
		await platform.admin.settings({ timePrecisionMs: 500 });
		await update('changed');
		const after = await platform.admin.records('shop', 'items');
		for (const { modified } of after) {
			expect(Date.parse(modified) % 500).toBe(0);
			expect(Date.parse(modified)).toBeGreaterThanOrEqual(Date.parse(before[4]!.modified));
		}
	});
});

test.each([
	['replace', ['third']],
	['append', ['first', 'second', 'third']],
] as const)('with chatWrites %s, a new message leaves %j', async (chatWrites, expected) => {
	const talk = { name: 'talk', type: 'chat' };
	await platform.admin.settings({ chatWrites });
	await platform.admin.createTable({
		app: 'shop',
		table: { internalName: 'items', fields: [...fields, talk] },
		records: [{ fields: { code: 'a', talk: { messages: [{ text: 'first' }, { text: 'second' }] } } }],
	});
	const [{ id }] = (await platform.client.get(data)).data.data;
	const write = (messages: object[]) => platform.client.patch(`${data}/${id}`, { fields: { talk: { messages } } });
	const { messages } = (await write([{ text: 'third' }])).data.data.fields.talk;
	expect(messages.map(({ text }: { text: string }) => text)).toEqual(expected);
	const changed = { ...messages.at(-1), text: 'changed' };
	const after = (await write([changed])).data.data.fields.talk.messages;
	expect(after.map(({ text }: { text: string }) => text)).toEqual([...expected.slice(0, -1), 'changed']);
});
