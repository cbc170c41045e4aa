import type { IDataObject } from 'n8n-workflow';
import { expectErrorItem, numbered, outcomes, useHarness, type Run } from './fixtures.cts';

/** How items find their records: Match On, If Found, If Missing, Multiple Matches. */
const harness = useHarness();

const goingOn: Run = { onError: 'continueRegularOutput' };
const byText = { matchOn: 'fields', matchFields: ['text'] };
const byBoth = { matchOn: 'fields', matchFields: ['text', 'rank'] };
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** Runs an operation on the notes, which have no import key. */
const onNotes = async (operation: string, run: Run) => await harness.run(operation, { ...goingOn, table: 'notes', ...run });

const notes = async (): Promise<IDataObject[]> => (await harness.records('notes')).map(({ fields, ver }) => ({ ...fields, ver }));

describe('create or update, matched on fields', () => {
	test('updates existing records, creates missing ones, and reports which', async () => {
		const [a] = await harness.fill('notes', { text: 'a', rank: 1 }, { text: 'b', rank: 1 });
		const result = await onNotes('upsert', {
			items: [
				{ text: 'a', rank: 2 },
				{ text: 'b', rank: 1 },
				{ text: 'c', rank: 3 },
			],
			parameters: byText,
		});
		expect(outcomes(result)).toEqual(['updated', 'unchanged', 'inserted']);
		expect(result.json()[0]).toMatchObject({ id: a!.id, ver: 1 });
		expect(await notes()).toEqual([
			{ text: 'a', rank: 2, ver: 1 },
			{ text: 'b', rank: 1, ver: 0 },
			{ text: 'c', rank: 3, ver: 0 },
		]);
		const stored = await harness.records('notes');
		expect(result.json()[2]!.id).toBe(stored[2]!.id);
	});

	test.each([
		['commas and backslashes', ['a,b', 'a\\', 'a\\,b', '"', 'a', "b'", '(a)']],
		['letters of another case, and spaces', ['A', 'a', ' a', 'a ', 'ä', 'Ä']],
	])('%s are values like any other', async (_, values) => {
		await harness.fill('notes', ...values.map((text, rank) => ({ text, rank })));
		for (const parameters of [byText, byBoth]) {
			const items = values.map((text, rank) => ({ text, rank }));
			const result = await onNotes('upsert', { items, parameters });
			expect(outcomes(result)).toEqual(values.map(() => 'unchanged'));
		}
		const missing = await onNotes('upsert', { items: values.map((text) => ({ text: `${text}${text}` })), parameters: byText });
		expect(outcomes(missing)).toEqual(values.map(() => 'inserted'));
		expect((await notes()).map(({ ver }) => ver)).toEqual(Array(2 * values.length).fill(0));
	});
});

describe('several matches', () => {
	beforeEach(() => harness.fill('notes', ...[1, 2, 3].map((rank) => ({ text: 'a', rank }))));
	/** Sorted like on the platform, by time of creation. */
	const inOrder = async () => (await harness.records('notes')).sort((a, b) => (`${a.created} ${a.id}` < `${b.created} ${b.id}` ? -1 : 1));
	const run = async (multipleMatches: string, options: IDataObject = {}) =>
		await onNotes('upsert', { items: [{ text: 'a', rank: 9 }], parameters: byText, options: { multipleMatches, ...options } });

	test('the first is the oldest', async () => {
		const result = await run('first');
		expect(outcomes(result)).toEqual(['updated']);
		const [oldest, ...others] = await inOrder();
		expect(oldest).toMatchObject({ id: result.json()[0]!.id, fields: { rank: 9 } });
		expect(others.map(({ ver }) => ver)).toEqual([0, 0]);
	});

	test('all are updated, with an output for each', async () => {
		const result = await run('all');
		const stored = await harness.records('notes');
		expect(outcomes(result)).toEqual(['updated', 'updated', 'updated']);
		const ids = (await inOrder()).map(({ id }) => id);
		expect(result.json().map(({ id }) => id)).toEqual(ids);
		expect(result.output('Data Platform').map(({ pairedItem }) => pairedItem)).toEqual(Array(3).fill({ item: 0 }));
		expect(stored.map(({ fields }) => fields.rank)).toEqual([9, 9, 9]);
	});
});

describe('if found, if missing', () => {
	const items = [
		{ text: 'a', rank: 9 },
		{ text: 'new', rank: 1 },
	];
	const run = async (options: IDataObject, more: Run = {}) => {
		await harness.fill('notes', { text: 'a', rank: 1 });
		return await onNotes('upsert', { items, parameters: byText, options, ...more });
	};

	test('get or create: an existing record is returned as stored', async () => {
		const result = await run({ ifFound: 'skip' });
		expect(outcomes(result)).toEqual(['found', 'inserted']);
		const [stored] = await harness.records('notes');
		expect(result.json()[0]).toMatchObject({ id: stored!.id, ver: 0, text: 'a', rank: 1 });
		expect(await notes()).toEqual([
			{ text: 'a', rank: 1, ver: 0 },
			{ text: 'new', rank: 1, ver: 0 },
		]);
		expect(result.hints).toEqual([expect.stringMatching(/^1 inserted, 1 found \(\d requests\)\.$/)]);
	});

	test('missing ones are skipped, or an error', async () => {
		const skipped = await run({ ifMissing: 'skip' });
		expect(outcomes(skipped)).toEqual(['updated', 'skipped']);
		const refused = await onNotes('upsert', { items, parameters: byText, options: { ifMissing: 'error' } });
		expect(outcomes(refused)).toEqual(['unchanged', 'notFound']);
		expectErrorItem(refused.output('Data Platform')[1]!, 1, "No record matches 'new'");
		expect(await notes()).toHaveLength(1);
	});

	test('on the import key too', async () => {
		await harness.fill('orders', ...numbered(1));
		const result = await harness.run('upsert', {
			...goingOn,
			items: [...numbered(2), { number: '3', buyer: 'x' }].map((item) => ({ ...item, price: 1 })),
			options: { ifFound: 'skip' },
		});
		expect(outcomes(result)).toEqual(['found', 'inserted', 'inserted']);
		expect(await harness.values('price')).toEqual([undefined, 1, 1]);
	});
});

describe('on the import key, as the platform itself does it', () => {
	test('items with only the key are distinguished by whether a record exists, without a write', async () => {
		await harness.fill('orders', ...numbered(2));
		const items = numbered(4).map(({ number }) => ({ number }));
		const options = { ifFound: 'skip', ifMissing: 'skip' };
		const result = await harness.run('upsert', { items, options });
		expect(outcomes(result)).toEqual(['found', 'found', 'skipped', 'skipped']);
		expect(result.json()[1]).toMatchObject({ buyer: 'Buyer 2' });
		expect(result.json()[3]).toMatchObject(items[3]!);
		expect(await harness.writes()).toEqual([]);
		expect(await harness.records()).toHaveLength(2);
	});
});

describe('on the record ID', () => {
	const parameters = { matchOn: 'recordId' };

	test('an unknown ID is created, with an ID of its own', async () => {
		const [stored] = await harness.fill('orders', ...numbered(1));
		const items = [
			{ id: stored!.id, buyer: 'changed' },
			{ id: UNKNOWN_ID, number: '2', buyer: 'new' },
			{ id: '', buyer: 'x' },
			{ buyer: 'x' },
		];
		const result = await harness.run('upsert', { ...goingOn, items, parameters });
		expect(outcomes(result)).toEqual(['updated', 'inserted', 'failed', 'failed']);
		const [, created] = await harness.records();
		expect(result.json()[1]).toMatchObject({ id: created!.id });
		expect(await harness.values('buyer')).toEqual(['changed', 'new']);
		expectErrorItem(result.output('Data Platform')[2]!, 2, 'the record id is missing');
	});

	test('update skips missing ones', async () => {
		const [stored] = await harness.fill('orders', ...numbered(1));
		const items = [
			{ id: UNKNOWN_ID, buyer: 'x' },
			{ id: stored!.id, buyer: 'y' },
		];
		const options = { ifMissing: 'skip' };
		const result = await harness.run('update', { items, options });
		expect(outcomes(result)).toEqual(['skipped', 'updated']);
	});
});

describe('update, matched on fields', () => {
	test('updates by them; a missing one is not found', async () => {
		await harness.fill('orders', ...numbered(2));
		const result = await harness.run('update', {
			...goingOn,
			items: [
				{ buyer: 'Buyer 2', price: 2 },
				{ buyer: 'Nobody', price: 3 },
			],
			parameters: { matchOn: 'fields', matchFields: ['buyer'] },
		});
		expect(outcomes(result)).toEqual(['updated', 'notFound']);
		expect(await harness.values('price')).toEqual([undefined, 2]);
	});

	test('by the import key; other fields are cleared if the option is set', async () => {
		await harness.fill('orders', { number: '1', buyer: 'Fox', price: 5 });
		const result = await harness.run('update', {
			items: [{ number: '1', buyer: 'Owl' }],
			parameters: { matchOn: 'importKey', updateMode: 'replace' },
		});
		expect(outcomes(result)).toEqual(['updated']);
		expect((await harness.records())[0]!.fields).toEqual({ number: '1', buyer: 'Owl' });
	});
});

describe.each([['html'], ['empty']])('a gateway’s 404 (%s) does not come from the platform', (kind) => {
	test.each<[string, IDataObject, IDataObject]>([
		['upsert', { ifFound: 'skip' }, {}],
		['update', { ifMissing: 'skip' }, { skipUnchanged: true }],
	])('%s %j creates nothing and skips nothing', async (operation, rules, more) => {
		const [stored] = await harness.fill('notes', { text: 'a', rank: 1 });
		await harness.faults({ match: { method: 'GET', path: '/data/[^/]+$' }, fault: { kind, status: 404 } });
		const result = await onNotes(operation, {
			items: [{ id: stored!.id, text: 'b' }],
			parameters: { matchOn: 'recordId' },
			options: { ...rules, ...more },
		});
		expect(outcomes(result)).toEqual(['failed']);
		expect(await notes()).toEqual([{ text: 'a', rank: 1, ver: 0 }]);
	});
});

test('keys that differ only in case or spaces are two records, and a notice names them', async () => {
	const items = [{ text: 'Ann' }, { text: 'bob' }, { text: ' ann ' }].map((item) => ({ ...item, rank: 1 }));
	const result = await onNotes('upsert', { items, parameters: byText });
	expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted']);
	expect(result.hints[0]).toContain("'Ann', ' ann ' (items 0 and 2)");
});
