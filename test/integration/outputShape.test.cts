/** A record has the same shape after every operation, and nothing in it is lost on its way back. */
import type { IDataObject } from 'n8n-workflow';
import { picked } from '../support/engine/engine.cts';
import { watch } from '../support/engine/polls.cts';
import { APP, order, outcomes, useHarness } from './fixtures.cts';

const harness = useHarness();

/** One output item of each operation that returns records, from a table with the given record. */
async function outputs(table: string, values: IDataObject, simple: boolean) {
	const [stored] = await harness.records(table);
	const run = async (operation: string, item: IDataObject, parameters: IDataObject = {}) => {
		const isWrite = ['upsert', 'update'].includes(operation);
		const result = await harness.run(operation, { table, items: [item], parameters: { ...parameters, ...(!isWrite && { simple }) } });
		return result.json()[0]!;
	};
	const recordId = stored!.id;
	const watching = await watch(harness.credential, { application: picked(APP), table: picked(table), startFrom: 'beginning', simple });
	return {
		get: await run('get', {}, { recordId }),
		getAll: await run('getAll', {}),
		getChanges: ((await run('getChanges', {})).changes as IDataObject[])[0]!,
		trigger: (await watching.poll())![0]!.json,
		// Writes always have the fields at the top level.
		...(simple && { upsert: await run('upsert', values), update: await run('update', values, { recordId }) }),
	};
}

test('with Simplify the fields are at the top level after every operation', async () => {
	const [{ id }] = await harness.fill('orders', order(1));
	const results = await outputs('orders', order(1), true);
	const text = expect.any(String) as string;
	for (const [operation, json] of Object.entries(results)) {
		const expected = { ...order(1), id, created: text, modified: text, ver: 0 };
		expect([operation, json]).toEqual([operation, expect.objectContaining(expected)]);
		expect(json).not.toHaveProperty('fields');
	}
	expect(results.upsert!.outcome).toBe('unchanged');
	expect(results.trigger.event).toBe('created');
});

test('without Simplify the fields are nested after every operation that reads', async () => {
	await harness.fill('orders', order(1));
	const results = await outputs('orders', order(1), false);
	for (const [operation, json] of Object.entries(results)) {
		expect([operation, json.fields]).toEqual([operation, expect.objectContaining(order(1))]);
		expect(json).not.toHaveProperty('number');
	}
});

describe("a field with the name of one of the node's own keys", () => {
	const names = [
		...['error', 'event', 'outcome', 'mergedInto', 'kept', 'sendBack', 'conflicts', 'previous', 'before', 'after', 'notRead'],
		...['changed', 'isNew', 'isStateLost', 'uploaded', 'field_event'],
	];
	const values = Object.fromEntries(names.map((name) => [name, `my ${name}`]));
	const prefixed = Object.fromEntries(names.map((name) => [`field_${name}`, `my ${name}`]));

	beforeEach(async () => {
		const fields = names.map((name) => ({ name, type: 'text' }));
		const key = { name: 'key', type: 'text', metadata: { importKey: true } };
		await harness.createTable({ internalName: 'odd', fields: [key, ...fields] }, [{ key: 'k', ...values }]);
	});

	test("a field with the name of the node's own key has the same prefix after every operation, and both values are there", async () => {
		const id = (await harness.records('odd'))[0]!.id;
		const results = await outputs('odd', { key: 'k', ...values }, true);
		for (const [operation, json] of Object.entries(results)) {
			expect([operation, json]).toEqual([operation, expect.objectContaining({ ...prefixed, id })]);
		}
	});

	test.each([true, false])('a prefixed field comes back to its field, with Simplify %s', async (simple) => {
		const given = await outputs('odd', { key: 'k', ...values }, simple);
		for (const [operation, json] of Object.entries(given)) {
			const item = JSON.parse(JSON.stringify(json).replaceAll('my ', `${operation} `));
			const result = await harness.run('upsert', { table: 'odd', items: [item] });
			expect([operation, outcomes(result)]).toEqual([operation, ['updated']]);
			expect((await harness.records('odd'))[0]!.fields).toEqual({
				key: 'k',
				...Object.fromEntries(names.map((name) => [name, `${operation} ${name}`])),
			});
		}
	});

	test('a prefixed field is not filled with a property of a record that was read without it', async () => {
		const read = await harness.run('getAll', { table: 'odd', options: { fieldsToLoad: ['key', 'outcome'] } });
		const items = read.json().map((json) => ({ ...json, field_outcome: 'changed' }));
		expect(outcomes(await harness.run('upsert', { table: 'odd', items }))).toEqual(['updated']);
		expect((await harness.records('odd'))[0]!.fields).toEqual({ key: 'k', ...values, outcome: 'changed' });
	});

	test('a field has its own name in an item that does not come from the node', async () => {
		const items = [{ key: 'k', event: 'a', field_event: 'b', outcome: 'updated', error: 'none' }];
		await harness.run('upsert', { table: 'odd', items });
		expect((await harness.records('odd'))[0]!.fields).toEqual({ ...values, ...items[0] });
	});
});

test('an item of the error output has the fields of its input item, and can be corrected and sent again', async () => {
	const result = await harness.run('create', { items: [order(1, { state: 'lost' })], onError: 'continueErrorOutput' });
	const failed = result.json('Data Platform', 1);
	expect(failed).toMatchObject([{ ...order(1), error: expect.any(String), details: { outcome: 'failed' } }]);
	expect(outcomes(await harness.run('create', { items: [{ ...failed[0], state: 'open' }] }))).toEqual(['inserted']);
});

test('a dry run shows what would change next to the fields', async () => {
	await harness.fill('orders', order(1, { buyer: 'Fox' }));
	const items = [order(1, { buyer: 'Hare' }), order(2)];
	const dryRun = await harness.run('upsert', { items, options: { dryRun: true } });
	expect(dryRun.json()).toMatchObject([
		{ outcome: 'updated', buyer: 'Hare', before: { buyer: 'Fox' }, after: { buyer: 'Hare' } },
		{ outcome: 'inserted', number: '2' },
	]);
	// Its items can be written unchanged.
	const written = await harness.run('upsert', { items: dryRun.json() });
	expect(outcomes(written)).toEqual(['updated', 'inserted']);
});
