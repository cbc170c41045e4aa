/** How items find their records: Match On, If Found, If Missing, Multiple Matches. */
import type { IDataObject } from 'n8n-workflow';
import { byFields, expectFailed, goingOn, note, numbered, order, outcomes, UNKNOWN_ID, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const byText = byFields('text');

/** Runs an operation on the notes, which have no import key. */
const onNotes = async (operation: string, run: Run) => await harness.run(operation, { ...goingOn, table: 'notes', ...run });

const stored = async () => (await harness.records('notes')).map(({ fields, ver }) => ({ ...fields, ver }));

describe('create or update, matched on fields', () => {
	test('upsert by fields updates existing records, creates missing ones, and reports which', async () => {
		const [a] = await harness.fill('notes', note('a', 1), note('b', 1));
		const result = await onNotes('upsert', { items: [note('a', 2), note('b', 1), note('c', 3)], parameters: byText });
		expect(outcomes(result)).toEqual(['updated', 'unchanged', 'inserted']);
		expect(result.json()[0]).toMatchObject({ id: a!.id, ver: 1 });
		expect(await stored()).toEqual([
			{ text: 'a', rank: 2, ver: 1 },
			{ text: 'b', rank: 1, ver: 0 },
			{ text: 'c', rank: 3, ver: 0 },
		]);
		const [, , created] = await harness.records('notes');
		expect(result.json()[2]!.id).toBe(created!.id);
	});

	test.each([
		['commas and backslashes', ['a,b', 'a\\', 'a\\,b', '"', 'a', "b'", '(a)']],
		['letters of another case, and spaces', ['A', 'a', ' a', 'a ', 'ä', 'Ä']],
	])('%s are values like any other', async (_, values) => {
		const items = values.map(note);
		await harness.fill('notes', ...items);
		for (const parameters of [byText, byFields('text', 'rank')]) {
			expect(outcomes(await onNotes('upsert', { items, parameters }))).toEqual(values.map(() => 'unchanged'));
		}
		const missing = await onNotes('upsert', { items: values.map((text) => note(`${text}${text}`)), parameters: byText });
		expect(outcomes(missing)).toEqual(values.map(() => 'inserted'));
		expect((await stored()).map(({ ver }) => ver)).toEqual(Array(2 * values.length).fill(0));
	});
});

describe('several matches', () => {
	beforeEach(() => harness.fill('notes', note('a', 1), note('a', 2), note('a', 3)));
	/** Sorted like on the platform, by time of creation. */
	const inOrder = async () => (await harness.records('notes')).sort((a, b) => (`${a.created} ${a.id}` < `${b.created} ${b.id}` ? -1 : 1));
	const run = async (multipleMatches: string) =>
		await onNotes('upsert', { items: [note('a', 9)], parameters: byText, options: { multipleMatches } });

	test('of several matches, the first is the oldest', async () => {
		const result = await run('first');
		expect(outcomes(result)).toEqual(['updated']);
		const [oldest, ...others] = await inOrder();
		expect(oldest).toMatchObject({ id: result.json()[0]!.id, fields: { rank: 9 } });
		expect(others.map(({ ver }) => ver)).toEqual([0, 0]);
	});

	test('all of several matches are updated, with an output for each', async () => {
		const result = await run('all');
		expect(outcomes(result)).toEqual(['updated', 'updated', 'updated']);
		const ids = (await inOrder()).map(({ id }) => id);
		expect(result.json().map(({ id }) => id)).toEqual(ids);
		expect(result.output('Data Platform').map(({ pairedItem }) => pairedItem)).toEqual(Array(3).fill({ item: 0 }));
		expect(await harness.values('rank', 'notes')).toEqual([9, 9, 9]);
	});
});

describe('if found, if missing', () => {
	const run = async (options: IDataObject) =>
		await onNotes('upsert', { items: [note('a', 9), note('new', 1)], parameters: byText, options });

	test('If Found: Skip returns an existing record as stored', async () => {
		const [a] = await harness.fill('notes', note('a', 1));
		const result = await run({ ifFound: 'skip' });
		expect(outcomes(result)).toEqual(['found', 'inserted']);
		expect(result.json()[0]).toMatchObject({ id: a!.id, ver: 0, text: 'a', rank: 1 });
		expect(await stored()).toEqual([
			{ text: 'a', rank: 1, ver: 0 },
			{ text: 'new', rank: 1, ver: 0 },
		]);
		expect(result.hints).toEqual([expect.stringMatching(/^1 inserted, 1 found \(\d requests\)\.$/)]);
	});

	test('If Missing skips items without a record, or fails them', async () => {
		await harness.fill('notes', note('a', 1));
		expect(outcomes(await run({ ifMissing: 'skip' }))).toEqual(['updated', 'skipped']);
		const refused = await run({ ifMissing: 'error' });
		expect(outcomes(refused)).toEqual(['unchanged', 'notFound']);
		expectFailed(refused, 1, "No record matches 'new'");
		expect(await stored()).toHaveLength(1);
	});

	test('If Found: Skip works on the import key too', async () => {
		await harness.fill('orders', order(1));
		const result = await harness.run('upsert', { ...goingOn, items: numbered(3, { price: 1 }), options: { ifFound: 'skip' } });
		expect(outcomes(result)).toEqual(['found', 'inserted', 'inserted']);
		expect(await harness.values('price')).toEqual([undefined, 1, 1]);
	});
});

test('items with only the import key are distinguished by whether a record exists, without a write', async () => {
	await harness.fill('orders', ...numbered(2));
	const items = ['1', '2', '3', '4'].map((number) => ({ number }));
	const result = await harness.run('upsert', { items, options: { ifFound: 'skip', ifMissing: 'skip' } });
	expect(outcomes(result)).toEqual(['found', 'found', 'skipped', 'skipped']);
	expect(result.json()[1]).toMatchObject({ buyer: 'Buyer 2' });
	expect(result.json()[3]).toMatchObject({ number: '4' });
	expect(await harness.writes()).toEqual([]);
	expect(await harness.records()).toHaveLength(2);
});

describe('on the record ID', () => {
	test('upsert by record ID creates an unknown ID, with an ID of its own', async () => {
		const [{ id }] = await harness.fill('orders', order(1));
		const items = [{ id, buyer: 'changed' }, { id: UNKNOWN_ID, number: '2', buyer: 'new' }, { id: '', buyer: 'x' }, { buyer: 'x' }];
		const result = await harness.run('upsert', { ...goingOn, items, parameters: { matchOn: 'recordId' } });
		expect(outcomes(result)).toEqual(['updated', 'inserted', 'failed', 'failed']);
		const [, created] = await harness.records();
		expect(result.json()[1]).toMatchObject({ id: created!.id });
		expect(await harness.values('buyer')).toEqual(['changed', 'new']);
		expectFailed(result, 2, 'the record id is missing');
	});

	test('update by record ID skips missing records', async () => {
		const [{ id }] = await harness.fill('orders', order(1));
		const items = [UNKNOWN_ID, id].map((each) => ({ id: each, buyer: 'x' }));
		expect(outcomes(await harness.run('update', { items, options: { ifMissing: 'skip' } }))).toEqual(['skipped', 'updated']);
	});
});

describe('update, matched on fields', () => {
	test('update by fields: a missing record is not found', async () => {
		await harness.fill('orders', ...numbered(2));
		const items = ['Buyer 2', 'Nobody'].map((buyer) => ({ buyer, price: 2 }));
		const result = await harness.run('update', { ...goingOn, items, parameters: byFields('buyer') });
		expect(outcomes(result)).toEqual(['updated', 'notFound']);
		expect(await harness.values('price')).toEqual([undefined, 2]);
	});

	test('update by the import key clears other fields if the option is set', async () => {
		await harness.fill('orders', order(1, { price: 5 }));
		const parameters = { matchOn: 'importKey', updateMode: 'replace' };
		const result = await harness.run('update', { items: [{ number: '1', buyer: 'Owl' }], parameters });
		expect(outcomes(result)).toEqual(['updated']);
		expect((await harness.records())[0]!.fields).toEqual({ number: '1', buyer: 'Owl' });
	});
});

describe.each(['html', 'empty'])('a gateway’s 404 (%s) does not come from the platform', (kind) => {
	test.each<[string, IDataObject]>([
		['upsert', { ifFound: 'skip' }],
		['update', { ifMissing: 'skip', skipUnchanged: true }],
	])('%s %j creates nothing and skips nothing', async (operation, options) => {
		const [{ id }] = await harness.fill('notes', note('a', 1));
		await harness.faults({ match: { method: 'GET', path: '/data/[^/]+$' }, fault: { kind, status: 404 } });
		const result = await onNotes(operation, { items: [{ id, text: 'b' }], parameters: { matchOn: 'recordId' }, options });
		expect(outcomes(result)).toEqual(['failed']);
		expect(await stored()).toEqual([{ text: 'a', rank: 1, ver: 0 }]);
	});
});

test('keys that differ only in case or spaces are two records, and a notice names them', async () => {
	const result = await onNotes('upsert', { items: [note('Ann'), note('bob'), note(' ann ')], parameters: byText });
	expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted']);
	expect(result.hints[0]).toContain("'Ann', ' ann ' (items 0 and 2)");
});
