import type { IDataObject } from 'n8n-workflow';
import { picked } from '../support/engine/engine.cts';
import { watch } from '../support/engine/polls.cts';
import { APP, numbered, outcomes, useHarness } from './fixtures.cts';

/** A record has the same shape after every operation, and nothing in it is lost on its way back. */
const harness = useHarness();

const PROPERTIES = ['id', 'created', 'modified', 'ver'];
const keysOf = (json: IDataObject | undefined) => Object.keys(json ?? {}).sort();

/** One output item of each operation that returns records, from a table with the given record. */
async function outputs(table: string, values: IDataObject, simple: boolean) {
	const [stored] = await harness.records(table);
	const run = async (operation: string, item: IDataObject, parameters: IDataObject = {}) => {
		const result = await harness.run(operation, { table, items: [item], parameters: { ...parameters, simple } });
		return result.json()[0]!;
	};
	const recordId = stored!.id;
	const watching = await watch(harness.credential, { application: picked(APP), table: picked(table), startFrom: 'beginning', simple });
	return {
		get: await run('get', {}, { recordId }),
		getAll: await run('getAll', {}),
		getChanges: ((await run('getChanges', {})).changes as IDataObject[])[0]!,
		upsert: await run('upsert', values),
		update: await run('update', values, { recordId }),
		trigger: (await watching.poll())![0]!.json,
	};
}

describe('simplified', () => {
	test('the fields are at the top level after every operation', async () => {
		await harness.fill('orders', { number: '1', buyer: 'Fox' });
		const results = await outputs('orders', { number: '1', buyer: 'Fox' }, true);
		for (const [operation, json] of Object.entries(results)) {
			expect([operation, json]).toEqual([operation, expect.objectContaining({ number: '1', buyer: 'Fox' })]);
			expect([operation, keysOf(json)]).toEqual([operation, expect.arrayContaining(PROPERTIES)]);
			expect(json).not.toHaveProperty('fields');
		}
		expect(results.upsert.outcome).toBe('unchanged');
		expect(results.trigger.event).toBe('created');
	});

	test('an item of the error output also has the fields of the input item', async () => {
		const result = await harness.run('create', { items: [{ number: '1', buyer: 'x', state: 'lost' }], onError: 'continueErrorOutput' });
		const [item] = result.output('Data Platform', 1);
		expect(item?.json).toMatchObject({ number: '1', details: { outcome: 'failed' } });
	});
});

test('without Simplify the fields are nested after every operation', async () => {
	await harness.fill('orders', { number: '1', buyer: 'Fox' });
	const results = await outputs('orders', { number: '1', buyer: 'Fox' }, false);
	for (const [operation, json] of Object.entries(results)) {
		expect([operation, json.fields]).toEqual([operation, expect.objectContaining({ number: '1', buyer: 'Fox' })]);
		expect(json).not.toHaveProperty('number');
	}
});

describe("a field with the name of one of the node's own keys", () => {
	const names = ['error', 'event', 'outcome', 'before', 'uploaded', 'field_event'];
	const values = Object.fromEntries(names.map((name) => [name, `my ${name}`]));
	const prefixed = Object.fromEntries(names.map((name) => [`field_${name}`, `my ${name}`]));

	beforeEach(async () => {
		const fields = names.map((name) => ({ name, type: 'text' }));
		await harness.sandbox.admin.createTable({
			app: APP,
			table: { internalName: 'odd', fields: [{ name: 'key', type: 'text', metadata: { importKey: true } }, ...fields] },
			records: [{ fields: { key: 'k', ...values } }],
		});
	});

	test('has the same prefix after every operation, and both values are there', async () => {
		const id = (await harness.records('odd'))[0]!.id;
		const results = await outputs('odd', { key: 'k', ...values }, true);
		for (const [operation, json] of Object.entries(results)) {
			expect([operation, json]).toEqual([operation, expect.objectContaining({ ...prefixed, id })]);
		}
	});

	test.each([true, false])('comes back to its field, with Simplify %s', async (simple) => {
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

	test('is not filled with a property of a record that was read without it', async () => {
		const read = await harness.run('getAll', { table: 'odd', options: { fieldsToLoad: ['key', 'outcome'] } });
		const items = read.json().map((json) => ({ ...json, field_outcome: 'changed' }));
		expect(outcomes(await harness.run('upsert', { table: 'odd', items }))).toEqual(['updated']);
		expect((await harness.records('odd'))[0]!.fields).toEqual({ key: 'k', ...values, outcome: 'changed' });
	});

	test('has its own name in an item that does not come from the node', async () => {
		const items = [{ key: 'k', event: 'a', field_event: 'b', outcome: 'updated', error: 'none' }];
		await harness.run('upsert', { table: 'odd', items });
		expect((await harness.records('odd'))[0]!.fields).toEqual({ ...values, ...items[0] });
	});
});

test('an item of the error output can be corrected and sent again', async () => {
	const result = await harness.run('create', { items: [{ number: '1', buyer: 'x', state: 'lost' }], onError: 'continueErrorOutput' });
	const items = result.output('Data Platform', 1).map(({ json }) => ({ ...json, state: 'open' }));
	expect(items[0]).toMatchObject({ error: expect.any(String), number: '1' });
	expect(outcomes(await harness.run('create', { items }))).toEqual(['inserted']);
});

test('a dry run shows what would change next to the fields', async () => {
	await harness.fill('orders', { number: '1', buyer: 'Fox' });
	const items = [{ number: '1', buyer: 'Hare' }, ...numbered(2).slice(1)];
	const dryRun = await harness.run('upsert', { items, options: { dryRun: true } });
	expect(dryRun.json()).toMatchObject([
		{ outcome: 'updated', buyer: 'Hare', before: { buyer: 'Fox' }, after: { buyer: 'Hare' } },
		{ outcome: 'inserted', number: '2' },
	]);
	// Its items can be written unchanged.
	const written = await harness.run('upsert', { items: dryRun.json() });
	expect(outcomes(written)).toEqual(['updated', 'inserted']);
});
