import type { IDataObject } from 'n8n-workflow';
import { defined } from '../support/engine/engine.cts';
import { expectErrorItem, numbered, outcomes, pairedIndexes, useHarness, type Run } from './fixtures.cts';

/**
 * One item's problem affects only that item: an expression that fails, a value that can't be used.
 */
const harness = useHarness();

const continuing: Run = { onError: 'continueRegularOutput' };

/** Fails for the second of three items. */
const failing = `={{ $json.number === "2" ? $('Missing').first() : $json.number }}`;
const items = ['1', '2', '3'].map((number) => ({ number, buyer: `Buyer ${number}` }));
const mapped = defined({ number: '={{ $json.number }}', buyer: '={{ $json.buyer }}' });
const failingColumns = defined({ number: failing, buyer: '={{ $json.buyer }}' });
const byRecord = (value: string) => ({ __rl: true, mode: 'id', value });

/** Orders 1 to 3 in the table, and an item for each with its record's ID. */
async function existing(): Promise<IDataObject[]> {
	const records = await harness.fill('orders', ...numbered(3));
	return items.map((item, index) => ({ ...item, id: records[index]!.id }));
}

const brokenId = `={{ $json.number === "2" ? $('Missing').first() : $json.id }}`;

test.each(['create', 'upsert'])('%s: an error of 1 MB from the platform is not copied into each item', async (operation) => {
	await harness.faults({
		match: { method: 'POST', path: '/data' },
		fault: { kind: 'status', status: 403, body: { errors: [{ id: 'y'.repeat(1_000_000), message: 'x'.repeat(1_000_000) }] } },
	});
	const run = { items: numbered(300) };
	const result = await harness.run(operation, { ...continuing, ...run });
	const output = result.output('Data Platform');
	expect(output).toHaveLength(run.items.length);
	expect(output[0]!.json.error).toContain(`: ${'x'.repeat(1000)}… (cut)`);
	expect(JSON.stringify(output).length).toBeLessThan(run.items.length * 4000);
});

describe.each(['create', 'upsert'])('%s', (operation) => {
	test('an expression in the mapping that fails for one item fails that item only', async () => {
		const run = { items, parameters: { columns: failingColumns } };
		const result = await harness.run(operation, { ...continuing, ...run });
		expectErrorItem(result.output('Data Platform')[1]!, 1, /Missing|node/);
		expect(await harness.values('number')).toEqual(['1', '3']);
		expect(pairedIndexes(result.output('Data Platform'))).toEqual([0, 1, 2]);
	});

	test('it stops the run if the node stops on errors, and the error names the item', async () => {
		const run = { items, parameters: { columns: failingColumns } };
		const result = await harness.run(operation, run);
		expect(result.error?.message).toMatch(/Missing|node/);
		expect(result.error?.context?.itemIndex).toBe(1);
		expect(await harness.writes()).toEqual([]);
	});

	test.each(['table', 'application'])('an expression in the %s', async (name) => {
		const value = name === 'table' ? 'orders' : 'shop';
		const locator = `={{ $json.number === "2" ? $('Missing').first() : "${value}" }}`;
		const run = { items, parameters: { columns: mapped, [name]: byRecord(locator) } };
		const result = await harness.run(operation, { ...continuing, ...run });
		expectErrorItem(result.output('Data Platform')[1]!, 1, /Missing|node/);
		expect(await harness.values('number')).toEqual(['1', '3']);
	});

	test('an option whose expression fails for the first item', async () => {
		const timeout = `={{ $json.number === "1" ? $('Missing').first() : 60 }}`;
		const run = { items, parameters: { columns: mapped }, options: { timeout } };
		const result = await harness.run(operation, { ...continuing, ...run });
		expect(await harness.values('number')).toEqual(expect.arrayContaining(['2', '3']));
		expect(result.output('Data Platform')).toHaveLength(3);
	});
});

describe('update', () => {
	test.each([
		['the record ID', { columns: mapped, recordId: brokenId }],
		['the mapping', { columns: failingColumns, recordId: '={{ $json.id }}' }],
	])('an expression in %s that fails for one item', async (_, parameters) => {
		const updates = (await existing()).map((item) => ({ ...item, buyer: 'New' }));
		const result = await harness.run('update', { ...continuing, items: updates, parameters });
		expectErrorItem(result.output('Data Platform')[1]!, 1, /Missing|node/);
		expect(await harness.values('buyer')).toEqual(['New', 'Buyer 2', 'New']);
	});

	test.each([
		['a locator', byRecord('={{ $json.id }}')],
		['a pasted address', { ...byRecord('=https://h/apps/shop/tables/orders/data/{{ $json.id }}'), mode: 'url' }],
		['text', '={{ $json.id }}'],
	])('accepts a record ID that is %s, left over from another operation', async (_, recordId) => {
		const updates = (await existing()).map((item) => ({ ...item, buyer: 'New' }));
		const run = { items: updates, parameters: { columns: mapped, recordId } };
		const result = await harness.run('update', run);
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
		const run = { items: await existing(), parameters: { columns: mapped, updateMode } };
		const result = await harness.run('update', run);
		expect(result.error?.message).toContain('\'Fields Not Sent\' is "replace" for item 1');
		expect(await harness.writes()).toEqual([]);
	});

	test('an expression with the same value for every item is allowed', async () => {
		const options = { batchSize: '={{ 1 + 1 }}', emptyValues: "={{ 'leave' }}" };
		const result = await harness.run('upsert', { items: numbered(3), options });
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
		const table = { internalName: 'odd', header: 'Odd', fields };
		const values = { error: 'none', field_error: 'other' };
		await harness.sandbox.admin.createTable({ app: 'shop', table, records: [{ fields: values }] });
		const read = await harness.run('getAll', { table: 'odd', parameters: { simple: true } });
		expect(read.json()[0]).toMatchObject({ field_error: 'none', field_field_error: 'other' });
		const written = await harness.run('create', { table: 'odd', items: read.json() });
		expect(outcomes(written)).toEqual(['inserted']);
		expect((await harness.records('odd')).map((record) => record.fields)).toEqual([values, values]);
	});
});

describe('a summary', () => {
	const run: Run = { items: [...numbered(2), { buyer: 'x', state: 'lost' }], options: { output: 'summary' } };

	test('goes to the first output, failed items go to the error output', async () => {
		const result = await harness.run('create', { ...run, onError: 'continueErrorOutput' });
		expect(result.json()).toEqual([expect.objectContaining({ inserted: 2, failed: 1 })]);
		const errors = result.output('Data Platform', 1);
		expect(errors).toHaveLength(1);
		expect(errors[0]!.json).toMatchObject({ error: expect.stringContaining("'state'"), buyer: 'x' });
		expect(pairedIndexes(errors)).toEqual([2]);
	});

	test('is the only item if the node has one output', async () => {
		const result = await harness.run('create', { ...run, ...continuing });
		expect(result.json()).toEqual([expect.objectContaining({ inserted: 2, failed: 1 })]);
	});
});
