/** What the operations that write return: the same shape for one item or many. */
import { readFileSync } from 'node:fs';
import type { IDataObject } from 'n8n-workflow';
import { byFields, numbered, order, outcomes, useHarness, type Run } from './fixtures.cts';
import { useOtherWriter } from './otherWriter.cts';

const harness = useHarness();
const otherWriter = useOtherWriter(harness);

const lookUps = async () => (await harness.requests()).filter(({ path }) => path.endsWith('/data/filter'));
const reads = async () => (await harness.requests()).filter(({ path }) => /\/data\/[^/]{20,}$/.test(path));

/** With how many look-ups each finds its records before it writes. */
const OPERATIONS: Array<[operation: string, run: Run, before: number]> = [
	['create', {}, 0],
	['upsert', {}, 0],
	['sync', {}, 1],
	['upsert', { parameters: byFields('buyer') }, 1],
];

describe.each(OPERATIONS)('%s %j', (operation, run, before) => {
	test.each([1, 30])("as sent: %i items have what was sent and the record's own properties", async (count) => {
		const items = numbered(count);
		const { json } = await harness.run(operation, { ...run, items });
		const text = expect.any(String) as string;
		expect(json()).toEqual(items.map((item) => ({ ...item, outcome: 'inserted', id: text, created: text, modified: text, ver: 0 })));
	});

	test.each([1, 30])('Stored Record: %i items have all fields, for one more request', async (count) => {
		const options = { output: 'stored' };
		const { json } = await harness.run(operation, { ...run, items: numbered(count), options });
		const stored = await harness.records();
		expect(json().map(({ id }) => id)).toEqual(stored.map(({ id }) => id));
		const expected = numbered(count).map(({ number, buyer }) => ({
			outcome: 'inserted',
			number,
			price: null,
			label: `${number}: ${buyer}`,
		}));
		expect(json()).toMatchObject(expected);
		// A single record is read by its ID.
		expect(await reads()).toHaveLength(count === 1 ? 1 : 0);
		expect(await lookUps()).toHaveLength(count === 1 ? before : before + 1);
	});
});

test('Stored Record: what was unchanged, found or merged has all fields, too', async () => {
	await harness.fill('orders', ...numbered(2, { price: 5 }));
	const options = { output: 'stored' };
	const items = [order(1), order(2), order(3, { buyer: 'a' }), order(3, { buyer: 'b' })];
	const { json } = await harness.run('upsert', { items, options });
	expect(json()).toMatchObject([
		{ outcome: 'unchanged', price: 5, label: '1: Buyer 1' },
		{ outcome: 'unchanged', price: 5, label: '2: Buyer 2' },
		{ outcome: 'inserted', label: '3: b', mergedInto: 3 },
		{ outcome: 'inserted', label: '3: b' },
	]);
	const found = await harness.run('upsert', { items: numbered(1), options: { ...options, ifFound: 'skip' } });
	expect(found.json()).toMatchObject([{ outcome: 'found', price: 5, label: '1: Buyer 1' }]);
});

test('Stored Record: records whose items give no key are read by ID, one by one', async () => {
	const stored = await harness.fill('orders', ...numbered(3));
	const items = stored.map(({ id }) => ({ id, price: 7 }));
	const { json } = await harness.run('update', { items, options: { output: 'stored' } });
	expect(json().map(({ label, price }) => [label, price])).toEqual([
		['1: Buyer 1', 7],
		['2: Buyer 2', 7],
		['3: Buyer 3', 7],
	]);
	expect(await reads()).toHaveLength(3);
});

test('Stored Record: 1,200 records take two look-ups', async () => {
	const options = { output: 'stored', batchSize: 1000 };
	const result = await harness.run('create', { items: numbered(1200), options });
	expect(result.json().every(({ label }) => typeof label === 'string')).toBe(true);
	expect(await lookUps()).toHaveLength(2);
});

test('Stored Record: a notice names what the platform may fill in later', async () => {
	const options = { output: 'stored' };
	const notice = expect.stringContaining("New records have no value in 'label' yet");
	expect((await harness.run('create', { items: numbered(1), options })).hints).not.toContainEqual(notice);
	await harness.settings({ lateValuesMs: 60_000 });
	const items = [{ number: '2', buyer: 'Fox' }];
	const result = await harness.run('create', { items, options });
	expect([result.json(), result.hints]).toEqual([
		[expect.objectContaining({ outcome: 'inserted', ver: 0, label: null })],
		expect.arrayContaining([notice]),
	]);
	await harness.sandbox.admin.storeLateValues();
	expect((await harness.run('get', { items: [{}], parameters: { recordId: await harness.idOf('2') } })).json()).toMatchObject([
		{ ver: 1, label: expect.any(String) },
	]);
});

describe('after the write', () => {
	test("a record that can't be read is returned as sent, with the reason", async () => {
		await harness.faults({ match: { path: '/data/filter$' }, fault: { kind: 'status', status: 403 } });
		const result = await harness.run('create', { items: numbered(2), options: { output: 'stored' } });
		expect(result.error).toBeUndefined();
		const notRead = expect.stringContaining('A fault: status 403 (403)');
		expect(result.json()).toMatchObject([
			{ outcome: 'inserted', number: '1', notRead },
			{ outcome: 'inserted', number: '2', notRead },
		]);
		expect(result.hints).toContain(
			"2 records could not be read after the write. The output has what was sent, and the reason in 'notRead'.",
		);
	});

	test.each<[what: string, act: (id: string) => Promise<unknown>, expected: object]>([
		['deleted is returned as sent, with the reason', (id) => harness.remove(id), { price: 1, notRead: 'It was deleted meanwhile' }],
		['changed is returned as it is now', (id) => harness.change(id, { buyer: 'Hare' }), { buyer: 'Hare', price: 1, ver: 2 }],
	])('a record that others %s', async (_, act, expected) => {
		const [stored] = await harness.fill('orders', order(1));
		otherWriter.before((target) => (target.startsWith('GET /data/') && target.includes(stored.id) ? act(stored.id) : undefined));
		const items = [{ id: stored.id, price: 1 }];
		const result = await harness.run('update', { items, credential: otherWriter.credential(), options: { output: 'stored' } });
		expect(result.json()).toMatchObject([{ outcome: 'updated', ...expected }]);
	});
});

test('a dry run looks up nothing afterwards', async () => {
	const result = await harness.run('create', { items: numbered(2), options: { output: 'stored', dryRun: true } });
	expect(outcomes(result)).toEqual(['inserted', 'inserted']);
	expect(result.json()[0]).not.toHaveProperty('notRead');
	// Whether the keys are free.
	expect(await lookUps()).toHaveLength(1);
});

test('a summary reads nothing afterwards', async () => {
	const result = await harness.run('create', { items: numbered(2), options: { output: 'summary' } });
	expect(result.json()).toMatchObject([{ inserted: 2 }]);
	expect(await lookUps()).toEqual([]);
});

test('everything that an item may have is described to the editor', async () => {
	await harness.fill('orders', ...numbered(1, { price: 1 }));
	await harness.faults({ match: { path: '/data/filter$' }, when: { nth: [2] }, fault: { kind: 'status', status: 403 } });
	const items = ['a', 'b'].flatMap((buyer) => ['1', '2'].map((number) => ({ number, buyer, price: 2 })));
	const fieldRules = { field: [{ field: 'price', rule: 'whenCreating' }] };
	const result = await harness.run('upsert', { items, options: { output: 'stored', fieldRules, previousValues: true } });
	const file = 'nodes/DataPlatform/__schema__/v1.0.0/record/upsert.json';
	const { properties } = JSON.parse(readFileSync(file, 'utf8')) as { properties: IDataObject };
	const returned = new Set(result.json().flatMap((json) => Object.keys(json)));
	const names = [...returned].filter((name) => !['number', 'buyer', 'price'].includes(name));
	expect(names.sort()).toEqual(Object.keys(properties).sort());
});
