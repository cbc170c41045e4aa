/** Parameters that are the same for all items of a run, and items whose own expressions fail. */
import type { IDataObject } from 'n8n-workflow';
import { goingOn, located, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

/** Two orders, and a note between them. */
const items: IDataObject[] = [
	{ table: 'orders', number: '1', buyer: 'x' },
	{ table: 'notes', text: 'a' },
	{ table: 'orders', number: '2', buyer: 'y' },
];

const run = async (operation: string, { options, ...more }: Run = {}) =>
	await harness.run(operation, { items, options: { unknownFields: 'ignore', ...options }, ...more });

test.each(['create', 'upsert', 'update', 'sync'])('%s: a table that differs is an error that names both items', async (operation) => {
	const parameters = { table: located('={{ $json.table }}') };
	const result = await run(operation, { parameters });
	expect(result.error?.message).toBe(`Nothing was sent: 'Table' is "notes" for item 1, but "orders" for item 0`);
	expect(result.error?.context?.itemIndex).toBe(1);
	expect(await harness.writes()).toEqual([]);
});

test('a table by an expression is fine if it is the same', async () => {
	const orders = items.filter(({ table }) => table === 'orders');
	const result = await run('create', { items: orders, parameters: { table: located('={{ $json.table }}') } });
	expect(outcomes(result)).toEqual(['inserted', 'inserted']);
	expect(await harness.values('number')).toEqual(['1', '2']);
});

test('an expression that fails is a problem of its item', async () => {
	const failing = located(`={{ $json.text === 'a' ? $('Missing').first() : $json.table }}`);
	const result = await run('create', { ...goingOn, parameters: { table: failing } });
	expect(outcomes(result)).toEqual(['inserted', 'failed', 'inserted']);
});

test('an option that differs is an error that names both items', async () => {
	const result = await run('upsert', { options: { emptyValues: `={{ $json.number === '2' ? 'clear' : 'leave' }}` } });
	expect(result.error?.message).toBe(`Nothing was sent: 'Empty Values' is "clear" for item 2, but "leave" for item 0`);
	expect(await harness.writes()).toEqual([]);
});
