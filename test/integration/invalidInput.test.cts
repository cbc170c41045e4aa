/** Items with problems that are found before anything is sent, and names that don't exist. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { defined } from '../support/engine/engine.cts';
import { expectFailed, goingOn, located, note, order, outcomes, UNKNOWN_ID, useHarness, withoutJson } from './fixtures.cts';

const harness = useHarness();

const hostile = JSON.parse('{"number":"2","buyer":"x","__proto__":"y"}') as IDataObject;

/** The second of three items has a problem that is found before anything is sent. */
const cases: Array<[what: string, operation: string, item: unknown, error: string, field?: string]> = [
	['an unknown field', 'create', { buyer: 'x', prise: 5 }, "table 'Orders' has no field 'prise', did you mean 'price'?", 'prise'],
	['a wrong type', 'upsert', { number: '2', price: 'much' }, `'price' accepts a number`, 'price'],
	['a text that is too long', 'upsert', { number: '2', buyer: 'x'.repeat(31) }, 'at most 30 characters, this has more', 'buyer'],
	['a missing import key', 'upsert', { buyer: 'x' }, "the import key 'number' has no value", 'number'],
	['a missing required field', 'create', { number: '2' }, "'buyer' is required", 'buyer'],
	['a field named __proto__', 'create', hostile, "has no field '__proto__'", '__proto__'],
	['a field named constructor', 'upsert', { number: '2', constructor: 'x' }, "has no field 'constructor'", 'constructor'],
	['no JSON data', 'create', undefined, 'the item has no JSON data'],
	['no JSON data, for an upsert', 'upsert', undefined, 'the item has no JSON data'],
];

const around = (item: unknown): INodeExecutionData[] => {
	const second = item === undefined ? withoutJson : { json: item as IDataObject };
	return [{ json: order(1) }, second, { json: order(3) }];
};

describe.each(cases)('%s (%s)', (_, operation, item, error, field) => {
	test('the node stops before anything is sent, naming item and field', async () => {
		const result = await harness.run(operation, { input: around(item) });
		expect(result.error?.message).toContain('Nothing was sent: item 1');
		expect(result.error?.message).toContain(error);
		expect(result.error?.context?.itemIndex).toBe(1);
		expect(await harness.writes()).toEqual([]);
	});

	test('the item fails alone if the run continues', async () => {
		const result = await harness.run(operation, { ...goingOn, input: around(item) });
		expect(outcomes(result)).toEqual(['inserted', 'failed', 'inserted']);
		const details = { outcome: 'failed', ...(field && { field }) };
		expectFailed(result, 1, error, details);
		expect(await harness.values('number')).toEqual(['1', '3']);
	});
});

test('all problems of all items come in one error, by cause', async () => {
	const items = Array.from({ length: 12 }, () => ({ prise: 1 }));
	const result = await harness.run('create', { items });
	expect(result.error?.message).toBe('Nothing was sent: 12 of 12 items have problems');
	expect(result.error?.description).toContain(
		"<ul><li>12 × table 'Orders' has no field 'prise', did you mean 'price'? (items 0, 1, 2, …)</li><li>12 × 'buyer' is required (items 0, 1, 2, …)</li></ul>",
	);
	expect(result.error?.description).toContain("'On Error'");
	const several = await harness.run('create', { ...goingOn, items: [{ prise: 1, price: 'x' }] });
	expectFailed(several, 0, /'prise'.*'price'.*'buyer' is required/);
});

test('unknown and read-only fields may be ignored', async () => {
	const result = await harness.run('create', { items: [order(1, { prise: 5, label: 'y' })], options: { unknownFields: 'ignore' } });
	expect(outcomes(result)).toEqual(['inserted']);
	expect((await harness.records())[0]?.fields).toEqual(order(1));
});

test.each<[operation: string, option: string, label: string]>([
	...['create', 'update', 'upsert', 'sync'].flatMap(
		(operation): Array<[string, string, string]> => [
			[operation, 'unknownFields', 'Unknown Fields'],
			[operation, 'emptyValues', 'Empty Values'],
		],
	),
	['upsert', 'duplicates', 'Duplicates in the Input'],
])('%s: an expression in %s that returns none of the choices is an error', async (operation, option, label) => {
	for (const value of ['={{ undefined }}', '={{ null }}', 'other']) {
		const result = await harness.run(operation, { items: [order(1, { nope: 'lost' })], options: { [option]: value } });
		expect(result.error?.message).toContain(`'${label}' must be one of `);
	}
	expect(await harness.writes()).toEqual([]);
});

test('no items at all: nothing happens', async () => {
	for (const operation of ['create', 'upsert', 'update', 'deleteMany']) {
		const result = await harness.run(operation, { items: [] });
		expect(result.error).toBeUndefined();
		expect(result.output('Data Platform')).toEqual([]);
	}
	expect(await harness.requests()).toEqual([]);
});

test('a table without an import key cannot be upserted into', async () => {
	const run = { table: 'notes', items: [note('a'), note('b')] };
	const stopped = await harness.run('upsert', run);
	expect(stopped.error?.message).toBe("The definition of table 'Notes' does not say which field is its import key");
	expect(stopped.error?.description).toContain("set 'Match On' to 'Other Fields'");
	const result = await harness.run('upsert', { ...goingOn, ...run });
	expect(outcomes(result)).toEqual(['failed', 'failed']);
	expect(await harness.writes()).toEqual([]);
});

test('a text of 10 MB is written in a request of its own', async () => {
	const comment = 'x'.repeat(10 * 1024 * 1024);
	const result = await harness.run('create', { items: [order(1), order(2, { comment }), order(3)] });
	expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted']);
	expect((await harness.writes()).map(({ records }) => records)).toEqual([1, 1, 1]);
	expect((await harness.records())[1]?.fields.comment).toBe(comment);
});

test('values set by hand are taken from each item, by its own expression', async () => {
	const columns = defined({ number: '={{ $json.n }}', buyer: '={{ "Buyer " + $json.n }}' });
	const result = await harness.run('upsert', { items: [{ n: 1 }, { n: 2 }], parameters: { columns } });
	expect(outcomes(result)).toEqual(['inserted', 'inserted']);
	expect(await harness.values('buyer')).toEqual(['Buyer 1', 'Buyer 2']);
});

describe('what does not exist is named', () => {
	test.each<[application: string, table: string, error: string, hint: string]>([
		['shop', 'ordres', "There is no table 'ordres'", 'Choose them from their lists'],
		['shopp', 'orders', "There is no application 'shopp'", 'Choose them from their lists'],
		['', 'ordres', "has a table 'ordres'", 'Choose the application'],
	])('application %j, table %j', async (application, table, error, hint) => {
		const parameters = { application: located(application), table: located(table) };
		const result = await harness.run('create', { items: [order(1)], parameters });
		expect(result.error?.message).toContain(error);
		expect(result.error?.description).toContain(hint);
	});

	const byRecord = { recordId: UNKNOWN_ID };

	test.each(['get', 'delete'])('%s: a record that is missing is named without another request', async (operation) => {
		const result = await harness.run(operation, { parameters: byRecord });
		expect(result.error?.message).toContain(`There is no record '${UNKNOWN_ID}'`);
		expect(result.error?.description).toContain("Check the record's ID");
		expect(await harness.requests()).toHaveLength(1);
	});

	test('if the platform does not say what is missing, and the table exists, it is the record', async () => {
		const body = { errors: [{ message: 'Not found' }] };
		await harness.faults({ match: { path: '/data/' }, fault: { kind: 'status', status: 404, body } });
		const result = await harness.run('get', { parameters: byRecord });
		expect(result.error?.message).toBe('Not found');
		expect(result.error?.description).toContain("Check the record's ID");
	});
});
