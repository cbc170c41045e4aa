/** Field Rules: what an existing record keeps, whoever finds it, and whoever writes meanwhile. */
import type { IDataObject } from 'n8n-workflow';
import { itemWithFile } from './attachmentFixtures.cts';
import { byFields, byId, goingOn, numbered, outcomes, UNKNOWN_ID, useHarness, type Run } from './fixtures.cts';
import { useOtherWriter } from './otherWriter.cts';

const harness = useHarness();
const other = useOtherWriter(harness);

const ruled = (rules: Record<string, string>): IDataObject => ({
	fieldRules: { field: Object.entries(rules).map(([field, rule]) => ({ field, rule })) },
});
const rules = ruled({ price: 'whenCreating', comment: 'ifEmpty', buyer: 'always' });

/** One whose comment is empty, and one that has one. */
const stored = [
	{ number: '1', buyer: 'Ann', price: 1 },
	{ number: '2', buyer: 'Bob', price: 2, comment: 'theirs' },
];
const items = ['1', '2', '3'].map((number) => ({ number, buyer: 'New', price: 9, comment: 'ours' }));
const written = [
	{ number: '1', buyer: 'New', price: 1, comment: 'ours' },
	{ number: '2', buyer: 'New', price: 2, comment: 'theirs' },
	{ number: '3', buyer: 'New', price: 9, comment: 'ours' },
];
const all = async () => (await harness.records()).map(({ fields }) => fields);
const keptOf = (json: IDataObject[]) => json.map(({ kept }) => kept);

/** How the operations find the records of the items. */
const WAYS: Array<[string, string, Run]> = [
	['upsert', 'by import key', {}],
	['upsert', 'by other fields', { parameters: byFields('number') }],
	['sync', 'by import key', { parameters: { filterMode: 'none', missingRecords: 'leave' } }],
];

describe.each(WAYS)('%s %s', (operation, _, run) => {
	const write = async (more: Run = {}) => await harness.run(operation, { items, ...run, ...more, options: { ...rules, ...more.options } });

	test('an existing record keeps what the rules say, a new one gets everything', async () => {
		await harness.fill('orders', ...stored);
		const result = await write();
		expect(result.error?.message).toBeUndefined();
		expect(outcomes(result)).toEqual(['updated', 'updated', 'inserted']);
		expect(keptOf(result.json())).toEqual([['price'], ['price', 'comment'], undefined]);
		expect(await all()).toEqual(written);
	});

	test('a second run changes nothing, and still says what is kept', async () => {
		await harness.fill('orders', ...stored);
		await write();
		const before = await harness.records();
		const result = await write();
		expect(outcomes(result)).toEqual(['unchanged', 'unchanged', 'unchanged']);
		expect(keptOf(result.json())).toEqual([['price'], ['price', 'comment'], undefined]);
		expect(await harness.records()).toEqual(before);
	});
});

test('an update by ID follows the rules, and reports a missing record', async () => {
	const [first, second] = await harness.fill('orders', ...stored);
	const changes = [first!.id, UNKNOWN_ID, second!.id].map((id) => ({ id, price: 9, comment: 'ours' }));
	const result = await harness.run('update', { items: changes, parameters: byId, options: rules, ...goingOn });
	expect(outcomes(result)).toEqual(['updated', 'notFound', 'unchanged']);
	expect(keptOf(result.json())).toEqual([['price'], undefined, ['price', 'comment']]);
	expect(await all()).toEqual([{ ...stored[0], comment: 'ours' }, stored[1]]);
});

test('an import from a file follows the rules', async () => {
	await harness.fill('orders', ...stored);
	const csv = ['comment,price,number,buyer', ...[3, 2, 1].map((n) => `ours,9,${n},New`)];
	const result = await harness.run('importFromFile', { input: await itemWithFile('orders.csv', csv.join('\n')), options: rules });
	expect(result.json()[0]).toMatchObject({ inserted: 1, updated: 2 });
	expect(await all()).toEqual(written);
});

test('a dry run says what would be kept', async () => {
	await harness.fill('orders', ...stored);
	const shown = await harness.run('upsert', { items, options: { ...rules, dryRun: true } });
	expect(shown.json()).toMatchObject([
		{ outcome: 'updated', kept: ['price'], after: { buyer: 'New', comment: 'ours' } },
		{ outcome: 'updated', kept: ['price', 'comment'], after: { buyer: 'New' } },
		{ outcome: 'inserted' },
	]);
	expect(shown.json()[0]!.after).not.toHaveProperty('price');
	expect(await all()).toEqual(stored);
});

test('a linked record is created only for a link that is written', async () => {
	const key = { name: 'name', type: 'text', metadata: { importKey: true } };
	const home = { name: 'home', type: 'schema_link', metadata: { linkTableId: 'towns' } };
	await harness.createTable({ internalName: 'towns', fields: [key] });
	await harness.createTable({ internalName: 'people', fields: [key, home] }, [{ name: 'Ann' }]);
	const result = await harness.run('upsert', {
		table: 'people',
		items: [
			{ name: 'Ann', home: 'Oslo' },
			{ name: 'Bob', home: 'Rome' },
		],
		options: {
			...ruled({ home: 'whenCreating' }),
			linkValues: { link: [{ field: 'home', valueType: 'importKey', ifNotFound: 'create' }] },
		},
	});
	expect(outcomes(result)).toEqual(['unchanged', 'inserted']);
	expect(keptOf(result.json())).toEqual([['home'], undefined]);
	expect(await harness.values('name', 'towns')).toEqual(['Rome']);
});

test('items for one record are merged before the rules apply', async () => {
	await harness.fill('orders', stored[1]!);
	const twice = ['A', 'B'].map((buyer) => ({ ...items[1]!, buyer }));
	const result = await harness.run('upsert', { items: twice, options: rules });
	expect(outcomes(result)).toEqual(['updated', 'updated']);
	expect(keptOf(result.json())).toEqual([
		['price', 'comment'],
		['price', 'comment'],
	]);
	expect(await all()).toEqual([{ ...stored[1], buyer: 'B' }]);
});

test('a record that another client creates between look-up and write is left as it is: its item fails', async () => {
	// Otherwise it would be created a second time.
	await harness.settings({ importKey: 'unique' });
	let isCreated = false;
	other.before((target) => {
		if (isCreated || !target.endsWith('/data/bulk')) return undefined;
		isCreated = true;
		return harness.fill('orders', stored[1]!);
	});
	const result = await harness.run('upsert', { ...goingOn, items: [items[1]!], credential: other.credential(), options: rules });
	expect(outcomes(result)).toEqual(['failed']);
	expect(await all()).toEqual([stored[1]]);
});

describe('the rules are rejected, and nothing is written, if they are', () => {
	test.each<[string, Record<string, string>, RegExp]>([
		['for a field that the table does not have', { phone: 'ifEmpty' }, /no field 'phone'/],
		['for a field that is read-only', { label: 'ifEmpty' }, /'label' is read-only/],
		['for the import key', { number: 'ifEmpty' }, /records are found by 'number'/],
		['for no field', { '': 'ifEmpty' }, /no field is chosen/],
		['of no known kind', { price: 'never' }, /'Write It'/],
	])('%s', async (_, given, message) => {
		const result = await harness.run('upsert', { items, options: ruled(given) });
		expect(result.error?.message).toMatch(message);
		expect(await harness.writes()).toEqual([]);
	});

	test('two for one field', async () => {
		const entry = { field: 'price', rule: 'ifEmpty' };
		const options = { fieldRules: { field: [entry, { ...entry, rule: 'always' }] } };
		const result = await harness.run('upsert', { items, options });
		expect(result.error?.message).toMatch(/two entries for 'price'/);
	});

	test('for an update that clears the fields not sent', async () => {
		const items = [{ id: UNKNOWN_ID, buyer: 'x' }];
		const options = ruled({ price: 'whenCreating' });
		const result = await harness.run('update', { items, parameters: { ...byId, updateMode: 'replace' }, options });
		expect(result.error?.message).toMatch(/can't keep a field if those not sent are cleared/);
	});
});

test("nothing is read for rules that are all 'Always'", async () => {
	await harness.run('upsert', { items: numbered(2), options: ruled({ buyer: 'always' }) });
	expect((await harness.requests()).filter(({ path }) => path.endsWith('/data/filter'))).toEqual([]);
});

test('1,200 items take one request more than with Skip Unchanged: a full page may lack records that share a key', async () => {
	const many = Array.from({ length: 1200 }, (_, index) => ({ number: `N${index}`, buyer: 'Ann', price: 1 }));
	const count = async (options: IDataObject, next: typeof many) => {
		await harness.clearRequests();
		const result = await harness.run('upsert', { items: next, options: { ...options, output: 'summary' } });
		expect(result.error).toBeUndefined();
		return [(await harness.requests()).length, result.json()[0]!.requests];
	};
	await count({}, many);
	const changed = many.map((item) => ({ ...item, buyer: 'Bob' }));
	const [skipping] = await count({ skipUnchanged: true }, changed);
	const [withRules] = await count(ruled({ price: 'whenCreating' }), many);
	expect(withRules).toBeLessThanOrEqual((skipping as number) + 1);
});
