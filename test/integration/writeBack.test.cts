/** Output is written back, and items may have the names that the mapper shows. */
import type { IDataObject } from 'n8n-workflow';
import { defined } from '../support/engine/engine.cts';
import { goingOn, numbered, order, outcomes, useHarness } from './fixtures.cts';

const harness = useHarness();

const fieldsOf = async (table?: string) => (await harness.records(table)).map(({ fields }) => fields);

const getAll = async (simple: boolean, table?: string) =>
	(await harness.run('getAll', { ...(table && { table }), parameters: { returnAll: true, simple } })).json();

/** An item as it was read, with changes in its fields. */
const changed = (item: IDataObject, simple: boolean, fields: IDataObject): IDataObject =>
	simple ? { ...item, ...fields } : { ...item, fields: { ...(item.fields as IDataObject), ...fields } };

const NOT_WRITTEN =
	"Not written, because these fields are read-only, have an unknown type, or hold files or links as they were read: 'related', 'label'.";

test.each([true, false])('Get Many, then Update, with Simplify %s writes what can be written, and names the rest', async (simple) => {
	await harness.fill('orders', ...numbered(2, { tags: ['a'], price: 1 }));
	const before = await fieldsOf();
	const items = await getAll(simple);
	const same = await harness.run('update', { items });
	expect(outcomes(same)).toEqual(['unchanged', 'unchanged']);
	expect(await fieldsOf()).toEqual(before);
	expect(same.hints).toContain(NOT_WRITTEN);
	const { error } = await harness.run('update', { items: [changed(items[0]!, simple, { buyer: 'Hare' })] });
	expect(error).toBeUndefined();
	expect(await harness.values('buyer')).toContain('Hare');
});

test('read-only fields that are mapped by hand stay an error', async () => {
	const result = await harness.run('create', { parameters: { columns: defined(order(1, { label: 'y' })) } });
	expect(result.error?.message).toContain("'label' is read-only");
});

test.each([
	['full', 'inserted', { hints: expect.arrayContaining([expect.stringContaining("'score'")]) }],
	['documented', 'failed', {}],
])('a field that nobody may write, with definition %s: %s', async (definition, outcome, more) => {
	const fields = [
		{ name: 'code', type: 'text', metadata: { importKey: true } },
		{ name: 'score', type: 'number', metadata: { readOnly: true } },
	];
	await harness.createTable({ internalName: 'games', fields });
	await harness.settings({ definition });
	const result = await harness.run('create', { ...goingOn, table: 'games', items: [{ code: 'a', score: 1 }] });
	expect(outcomes(result)).toEqual([outcome]);
	expect(result).toMatchObject(more);
	expect(await fieldsOf('games')).toEqual(outcome === 'failed' ? [] : [{ code: 'a' }]);
});

describe('names as the mapper shows them', () => {
	const table = 'people';
	beforeEach(async () => {
		const text = (name: string, header: string, metadata = {}) => ({ name, header, type: 'text', metadata });
		const email = text('email', 'E-mail', { importKey: true });
		const others = [text('firstname', 'First name'), text('city', 'Place'), text('country', 'Place'), text('note', 'email')];
		await harness.createTable({ internalName: table, fields: [email, ...others] });
	});
	const write = async (item: IDataObject) => await harness.run('create', { ...goingOn, table, items: [item] });

	test.each([
		{ 'E-mail': 'a', 'First name': 'Ada' },
		{ ' e-MAIL ': 'a', 'first name': 'Ada' },
		{ 'E-mail': 'a', FIRSTNAME: 'Ada' },
		{ email: 'a', 'E-mail': 'a', 'First name': 'Ada' },
	])('%j: the names are those of fields', async (item) => {
		expect(outcomes(await write(item))).toEqual(['inserted']);
		expect(await fieldsOf(table)).toEqual([{ email: 'a', firstname: 'Ada' }]);
	});

	test.each([
		[{ email: 'a', Place: 'Oslo' }, "has no field 'Place'"],
		[{ email: 'a', 'E-mail': 'b' }, "'email' and 'E-mail' are the same field"],
		[{ email: 'a', 'Last name': 'x' }, "has no field 'Last name'"],
	])('%j is an error', async (item, message) => {
		const [json] = (await write(item)).json();
		expect(json!.error).toContain(message);
		expect(await fieldsOf(table)).toEqual([]);
	});
});

describe('a table with a field called fields', () => {
	const table = 'forms';
	beforeEach(async () => {
		const code = { name: 'code', type: 'text', metadata: { importKey: true } };
		await harness.createTable({ internalName: table, fields: [code, { name: 'fields', type: 'url_link' }] });
	});
	const link = { href: 'https://example.com/a' };

	test.each([true, false])('a field called fields is written back, with Simplify %s', async (simple) => {
		await harness.run('create', { table, items: [{ code: '1', fields: link }] });
		const [read] = await getAll(simple, table);
		const moved = { href: 'https://example.com/b' };
		for (const operation of ['upsert', 'update']) {
			const result = await harness.run(operation, { table, items: [changed(read!, simple, { fields: moved })] });
			expect(result.error).toBeUndefined();
		}
		expect(await fieldsOf(table)).toEqual([{ code: '1', fields: moved }]);
	});

	test('the output of a write is written back, including its error', async () => {
		const items = [{ code: '1', fields: link }];
		const [output] = (await harness.run('upsert', { table, items })).json();
		expect(output).toMatchObject({ outcome: 'inserted', ...items[0] });
		const failed = { ...output, error: 'No response', message: 'No response', details: { outcome: 'failed', item: 0 } };
		for (const item of [output!, failed]) {
			const result = await harness.run('upsert', { table, items: [item] });
			expect(result.error).toBeUndefined();
		}
		expect(await fieldsOf(table)).toEqual(items);
	});

	test('a value of a field called fields is not mistaken for a record', async () => {
		// Neither with the record's own properties next to it, nor with field names in it.
		for (const item of [
			{ code: '1', fields: link },
			{ id: 'x', code: '2', fields: link, created: 'a', modified: 'b', ver: 1 },
		]) {
			const result = await harness.run('upsert', { table, items: [item] });
			expect(outcomes(result)).toEqual(['inserted']);
		}
		expect(await harness.values('fields', table)).toEqual([link, link]);
	});
});

describe('with Link Values set for all fields', () => {
	const options = { linkValues: { link: [{ field: '*', valueType: 'importKey' }] } };
	test.each([true, false])('links to many are left as they were read, with Simplify %s', async (simple) => {
		const [first] = await harness.fill('orders', order(1), order(2));
		await harness.run('update', { items: [{ id: first.id, related: ['2'] }], options });
		const before = await harness.values('related');
		const items = await getAll(simple);
		for (const operation of ['update', 'upsert']) {
			const result = await harness.run(operation, { items, options });
			expect(result.error).toBeUndefined();
			expect(result.hints).toContain(NOT_WRITTEN);
		}
		expect(await harness.values('related')).toEqual(before);
	});
});
