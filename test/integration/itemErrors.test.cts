/** One item's problem affects only that item: an expression that fails, a value that can't be used. */
import { defined } from '../support/engine/engine.cts';
import { byId, expectFailed, goingOn, located, numbered, order, outcomes, pairedIndexes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const items = numbered(3);

/** An expression that fails for the second of three items. */
const failing = (otherwise: string) => `={{ $json.number === "2" ? $('Missing').first() : ${otherwise} }}`;
const mapped = defined({ number: '={{ $json.number }}', buyer: '={{ $json.buyer }}' });
const failingColumns = defined({ number: failing('$json.number'), buyer: '={{ $json.buyer }}' });

/** Orders 1 to 3 in the table, and an item for each that changes it by its ID. */
const existing = async () =>
	(await harness.fill('orders', ...items)).map(({ id, fields }) => ({ id, number: fields.number as string, buyer: 'New' }));

test.each(['create', 'upsert'])('%s: an error of 1 MB from the platform is not copied into each item', async (operation) => {
	await harness.faults({
		match: { method: 'POST', path: '/data' },
		fault: { kind: 'status', status: 403, body: { errors: [{ id: 'y'.repeat(1_000_000), message: 'x'.repeat(1_000_000) }] } },
	});
	const output = (await harness.run(operation, { ...goingOn, items: numbered(300) })).json();
	expect(output).toHaveLength(300);
	expect(output[0]!.error).toContain(`${'x'.repeat(1000)}… (cut)`);
	expect(JSON.stringify(output).length).toBeLessThan(300 * 4000);
});

describe.each(['create', 'upsert'])('%s', (operation) => {
	test.each([
		['mapping', { columns: failingColumns }],
		['table', { columns: mapped, table: located(failing('"orders"')) }],
		['application', { columns: mapped, application: located(failing('"shop"')) }],
	])('an expression in the %s that fails for one item fails that item only', async (_, parameters) => {
		const result = await harness.run(operation, { ...goingOn, items, parameters });
		expectFailed(result, 1, /Missing|node/);
		expect(await harness.values('number')).toEqual(['1', '3']);
		expect(pairedIndexes(result.output('Data Platform'))).toEqual([0, 1, 2]);
	});

	test('an expression in the mapping that fails stops the run if the node stops on errors, and the error names the item', async () => {
		const result = await harness.run(operation, { items, parameters: { columns: failingColumns } });
		expect(result.error?.message).toMatch(/Missing|node/);
		expect(result.error?.context?.itemIndex).toBe(1);
		expect(await harness.writes()).toEqual([]);
	});

	test('an option whose expression fails for the first item fails no other item', async () => {
		const timeout = `={{ $json.number === "1" ? $('Missing').first() : 60 }}`;
		const result = await harness.run(operation, { ...goingOn, items, parameters: { columns: mapped }, options: { timeout } });
		expect(await harness.values('number')).toEqual(expect.arrayContaining(['2', '3']));
		expect(result.output('Data Platform')).toHaveLength(3);
	});
});

describe('update', () => {
	test.each([
		['the record ID', { columns: mapped, recordId: failing('$json.id') }],
		['the mapping', { columns: failingColumns, ...byId }],
	])('an expression in %s that fails for one item', async (_, parameters) => {
		const result = await harness.run('update', { ...goingOn, items: await existing(), parameters });
		expectFailed(result, 1, /Missing|node/);
		expect(await harness.values('buyer')).toEqual(['New', 'Buyer 2', 'New']);
	});

	test.each([
		['a locator', located('={{ $json.id }}')],
		['a pasted address', located('=https://h/apps/shop/tables/orders/data/{{ $json.id }}', 'url')],
		['text', '={{ $json.id }}'],
	])('accepts a record ID that is %s, left over from another operation', async (_, recordId) => {
		const result = await harness.run('update', { items: await existing(), parameters: { columns: mapped, recordId } });
		expect(result.error).toBeUndefined();
		expect(await harness.values('buyer')).toEqual(['New', 'New', 'New']);
	});
});

describe('parameters that all items share', () => {
	test('field rules may not differ between items', async () => {
		const rule = '={{ $json.number === "2" ? "ifEmpty" : "always" }}';
		const options = { fieldRules: { field: [{ field: 'buyer', rule }] } };
		const result = await harness.run('upsert', { items, options });
		expect(result.error?.message).toContain("Nothing was sent: 'Field Rules' is ");
		expect(await harness.writes()).toEqual([]);
	});

	test('the update mode may not differ between items', async () => {
		const updateMode = '={{ $json.number === "2" ? "replace" : "partial" }}';
		const result = await harness.run('update', { items: await existing(), parameters: { columns: mapped, updateMode } });
		expect(result.error?.message).toContain('\'Fields Not Sent\' is "replace" for item 1');
		expect(await harness.writes()).toEqual([]);
	});

	test('an expression with the same value for every item is allowed', async () => {
		const options = { batchSize: '={{ 1 + 1 }}', emptyValues: "={{ 'leave' }}" };
		const result = await harness.run('upsert', { items, options });
		expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted']);
	});
});

describe('automatic mapping', () => {
	test('what a write returned can be written again', async () => {
		const first = await harness.run('create', { items: numbered(1) });
		const again = await harness.run('upsert', { items: first.json() });
		expect(outcomes(again)).toEqual(['unchanged']);
		expect(await harness.records()).toHaveLength(1);
	});

	test('a simplified record with a field called error comes back to them', async () => {
		const fields = ['error', 'field_error'].map((name) => ({ name, type: 'text' }));
		const values = { error: 'none', field_error: 'other' };
		await harness.createTable({ internalName: 'odd', header: 'Odd', fields }, [values]);
		const read = await harness.run('getAll', { table: 'odd', parameters: { simple: true } });
		expect(read.json()[0]).toMatchObject({ field_error: 'none', field_field_error: 'other' });
		const written = await harness.run('create', { table: 'odd', items: read.json() });
		expect(outcomes(written)).toEqual(['inserted']);
		expect((await harness.records('odd')).map((record) => record.fields)).toEqual([values, values]);
	});
});

describe('a summary', () => {
	const run: Run = { items: [order(1), order(2), { buyer: 'x', state: 'lost' }], options: { output: 'summary' } };

	test('a summary goes to the first output, failed items go to the error output', async () => {
		const result = await harness.run('create', { ...run, onError: 'continueErrorOutput' });
		expect(result.json()).toEqual([expect.objectContaining({ inserted: 2, failed: 1 })]);
		expect(result.json('Data Platform', 1)).toMatchObject([{ error: expect.stringContaining("'state'"), buyer: 'x' }]);
		expect(pairedIndexes(result.output('Data Platform', 1))).toEqual([2]);
	});

	test('a summary is the only item if the node has one output', async () => {
		const result = await harness.run('create', { ...run, ...goingOn });
		expect(result.json()).toEqual([expect.objectContaining({ inserted: 2, failed: 1 })]);
	});
});
