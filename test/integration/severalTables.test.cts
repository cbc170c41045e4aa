/** Items for several tables in one run: a task for each table, in the order of the items. */
import type { IDataObject } from 'n8n-workflow';
import { expectFailed, goingOn, located, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const table = located('={{ $json.table }}');

/** Orders and notes in turn. What the other table lacks is left out. */
const items: IDataObject[] = [
	{ table: 'notes', text: 'a' },
	{ table: 'orders', number: '1', buyer: 'x' },
	{ table: 'notes', text: 'b' },
	{ table: 'orders', number: '2', buyer: 'y' },
];

const run = async (operation: string, { parameters, options, ...more }: Run = {}) =>
	await harness.run(operation, { items, parameters: { table, ...parameters }, options: { unknownFields: 'ignore', ...options }, ...more });

const bIsRejected = { match: { path: 'notes/data/bulk$' }, fault: { kind: 'failRecords', field: 'text', values: ['b'] } };

test('each table gets its items, in as few requests as if it were the only one', async () => {
	const result = await run('create');
	expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted', 'inserted']);
	expect(result.json().map(({ text, number }) => text ?? number)).toEqual(['a', '1', 'b', '2']);
	expect(await harness.values('text', 'notes')).toEqual(['a', 'b']);
	expect(await harness.values('number')).toEqual(['1', '2']);
	expect(await harness.writes()).toMatchObject([
		{ path: '/api/v2/apps/shop/tables/notes/data/bulk' },
		{ path: '/api/v2/apps/shop/tables/orders/data/bulk' },
	]);
});

test('items are matched in their own table, and updated', async () => {
	const [stored] = await harness.fill('orders', { number: '1', buyer: 'old' });
	const [storedNote] = await harness.fill('notes', { text: 'a', rank: 1 });
	const changes = [
		{ id: storedNote.id, table: 'notes', text: 'b' },
		{ id: stored.id, table: 'orders', buyer: 'new' },
	];
	expect(outcomes(await run('update', { items: changes }))).toEqual(['updated', 'updated']);
	expect(await harness.values('buyer')).toEqual(['new']);
	expect(await harness.values('text', 'notes')).toEqual(['b']);
});

test('the summary and the hint count the items of all tables', async () => {
	const summary = await run('create', { options: { output: 'summary' } });
	expect(summary.json()).toMatchObject([{ inserted: 4, failed: 0 }]);
	const sent = (await harness.requests()).length;
	expect(summary.json()[0]!.requests).toBe(sent);
	expect(summary.hints).toEqual([`4 inserted (${sent} requests).`]);
});

test('stored records are read from each table', async () => {
	const { json } = await run('create', { options: { output: 'stored' } });
	expect(json().map(({ rank, label }) => [rank, label])).toEqual([
		[null, undefined],
		[undefined, '1: x'],
		[null, undefined],
		[undefined, '2: y'],
	]);
});

const bad = items.map((item, at) => (at === 3 ? { ...item, price: 'x' } : item));

test('a problem in the last table stops the node before the first one is written', async () => {
	const result = await run('create', { items: bad });
	expect(result.error?.message).toMatch(/^Nothing was sent: item 3 \(2\): 'price'/);
	expect(result.error?.context?.itemIndex).toBe(3);
	expect(await harness.writes()).toEqual([]);
});

test('a problem affects its item only, if the node continues', async () => {
	const result = await run('create', { ...goingOn, items: bad });
	expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted', 'failed']);
});

describe('an item that the platform rejects', () => {
	test('a rejected item keeps the next table from being written, if the node stops', async () => {
		await harness.faults(bIsRejected);
		const result = await run('create');
		expect(result.error?.context?.itemIndex).toBe(2);
		expect(result.error?.description).toContain('1 of 4 items are done');
		expect(await harness.values('text', 'notes')).toEqual(['a']);
		expect(await harness.records()).toEqual([]);
	});

	test('after a rejected item, a second attempt writes the rest', async () => {
		await harness.faults({ ...bIsRejected, when: { first: 1 } });
		const result = await run('create', { retry: { maxTries: 2 } });
		expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted', 'inserted']);
		expect(await harness.values('text', 'notes')).toEqual(['a', 'b']);
		expect(await harness.values('number')).toEqual(['1', '2']);
	});

	test('a rejected item affects no other table, if the node continues', async () => {
		await harness.faults(bIsRejected);
		expect(outcomes(await run('create', goingOn))).toEqual(['inserted', 'inserted', 'failed', 'inserted']);
	});
});

describe('a table that does not exist', () => {
	const lost = [{ table: 'nowhere', text: 'x' }, ...items];

	test('a table that does not exist fails its items only, if the node continues', async () => {
		const result = await run('create', { ...goingOn, items: lost });
		expect(outcomes(result)).toEqual(['failed', 'inserted', 'inserted', 'inserted', 'inserted']);
		expectFailed(result, 0, 'nowhere');
	});

	test('a table that does not exist stops the node before anything is written', async () => {
		const result = await run('create', { items: [...items, lost[0]!] });
		expect(result.error?.message).toContain('nowhere');
		expect(result.error?.context?.itemIndex).toBe(4);
		expect(await harness.writes()).toEqual([]);
	});
});

test('an expression that fails is a problem of its item', async () => {
	const failing = located(`={{ $json.text === 'a' ? $('Missing').first() : $json.table }}`);
	const result = await run('create', { ...goingOn, parameters: { table: failing } });
	expect(outcomes(result)).toEqual(['failed', 'inserted', 'inserted', 'inserted']);
});

test('an option that differs is an error that names both items', async () => {
	const result = await run('upsert', { options: { emptyValues: `={{ $json.number === '2' ? 'clear' : 'leave' }}` } });
	expect(result.error?.message).toBe(`Nothing was sent: 'Empty Values' is "clear" for item 3, but "leave" for item 0`);
	expect(await harness.writes()).toEqual([]);
});

test('Sync takes one table only: what is missing from the input is missing from that', async () => {
	const result = await run('sync', { parameters: { missingRecords: 'leave' } });
	expect(result.error?.message).toBe(`Nothing was sent: 'Table' is "orders" for item 1, but "notes" for item 0`);
});
