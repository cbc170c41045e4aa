/**
 * The values that an item has for a record's fields: which keys belong to them, and what is sent.
 */
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { jsonReader } from '../../../nodes/DataPlatform/input/recordInput.ts';
import { InputError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { asItems, columns, runNode, TABLE, type Given } from '../fakeNode.cts';
import { fieldOf, tableOf } from '../fixtures.cts';
import { StubTables } from '../stubTables.cts';

const withHeader = (name: string, header: string) => ({ ...fieldOf(name), header });

const PLAIN = tableOf(fieldOf('name'), fieldOf('age', 'number'));
const READ = { id: 'r1', created: '2026-01-01T00:00:00Z', modified: '2026-01-01T00:00:00Z', ver: 0 };

/** A table with these fields in addition to `name`. */
const having = (...names: string[]) => tableOf(fieldOf('name'), ...names.map((name) => fieldOf(name)));

describe('which keys of an item are values', () => {
	const failed = { error: 'no', details: { outcome: 'failed' } };
	test.each<[why: string, table: typeof PLAIN, json: unknown, values: unknown]>([
		['all', PLAIN, { name: 'Fox', age: 5 }, { name: 'Fox', age: 5 }],
		['those that no field has, too', PLAIN, { name: 'Fox', nam: 5 }, { name: 'Fox', nam: 5 }],
		['none if there is no JSON', PLAIN, undefined, undefined],
		['none of a text', PLAIN, 'Fox', undefined],
		['not those of a record', PLAIN, { ...READ, name: 'Fox' }, { name: 'Fox' }],
		['not those of a record, one by one', PLAIN, { id: 1, created: 2, modified: 3, ver: 'x', name: 'Fox' }, { name: 'Fox' }],
		[
			'those that only outputs have, if it is no record',
			PLAIN,
			{ event: 'fair', before: 'x', name: 'Fox' },
			{ event: 'fair', before: 'x', name: 'Fox' },
		],
		[
			'not those of outputs, if it is a record',
			PLAIN,
			{ ...READ, event: 'created', before: {}, uploaded: [], name: 'Fox' },
			{ name: 'Fox' },
		],
		['not those of outputs, if it has an outcome', PLAIN, { outcome: 'updated', mergedInto: 5, after: {}, name: 'Fox' }, { name: 'Fox' }],
		['an outcome that is none', PLAIN, { outcome: 'won', event: 'fair', name: 'Fox' }, { outcome: 'won', event: 'fair', name: 'Fox' }],
		['an outcome that is a field', having('outcome'), { outcome: 'failed', event: 'fair' }, { outcome: 'failed', event: 'fair' }],
		['not an error and what it says', PLAIN, { ...failed, message: 'do', name: 'Fox' }, { name: 'Fox' }],
		[
			'not an error and what it says, even if fields are called so',
			having('error', 'message', 'details'),
			{ ...failed, message: 'do', name: 'Fox' },
			{ name: 'Fox' },
		],
		['an error without details', PLAIN, { error: 'no', message: 'do', name: 'Fox' }, { error: 'no', message: 'do', name: 'Fox' }],
		['an error with details of another kind', PLAIN, { error: 'no', details: { reason: 5 } }, { error: 'no', details: { reason: 5 } }],
		['an error that is no text', PLAIN, { error: 5, details: { outcome: 'failed' } }, { error: 5, details: { outcome: 'failed' } }],
		['details that are no object', PLAIN, { error: 'no', details: 'more' }, { error: 'no', details: 'more' }],
		['a field that is called as a property', having('id'), { id: '7', ver: 1 }, { id: '7' }],
		['not the property, if the field has its prefix', having('id'), { id: 'r1', field_id: '7' }, { id: '7' }],
		['both, if the prefixed name is a field as well', having('id', 'field_id'), { id: '7', field_id: '8' }, { id: '7', field_id: '8' }],
		[
			'in a record, the prefixed names of such fields',
			having('id', 'field_id'),
			{ ...READ, field_id: '7', field_field_id: '8' },
			{ id: '7', field_id: '8' },
		],
		['a prefix of a field without need', having('field_name'), { field_name: 'x' }, { field_name: 'x' }],
		['a prefix of no field', PLAIN, { field_id: '7' }, { field_id: '7' }],
		['what only looks like a record: no ID', having('event'), { ...READ, id: 5, event: 'fair' }, { event: 'fair' }],
		['what only looks like a record: a version with a fraction', having('event'), { ...READ, ver: 1.5, event: 'fair' }, { event: 'fair' }],
		['of a record, not its event', having('event'), { ...READ, event: 'updated' }, {}],
	])('%s', (_, table, json, values) => {
		expect(jsonReader(table)(json)).toEqual(values);
	});

	test('an item of plain values is not copied', () => {
		const json = { name: 'Fox', age: 5 };
		expect(jsonReader(PLAIN)(json)).toBe(json);
	});
});

describe('a field is found by its header', () => {
	const headers = tableOf(
		withHeader('name', 'Last Name'),
		withHeader('mail', 'E-Mail'),
		withHeader('one', 'Phone'),
		withHeader('two', 'phone '),
		withHeader('three', 'PHONE'),
		withHeader('city', 'name'),
		withHeader('stage', 'State'),
		withHeader('STATE', 'Code'),
		withHeader('x1', 'Stage'),
		withHeader('same', 'A'),
		withHeader('Same', 'B'),
		withHeader('price', 'Price'),
		withHeader('net', 'Price (net)'),
		withHeader('net2', 'Price (net)'),
		{ ...fieldOf('share', 'percentage'), header: 'Share' },
		{ ...fieldOf('boss', 'schema_link'), header: 'Boss' },
	);
	test.each<[json: IDataObject, values: IDataObject]>([
		[{ ' last NAME ': 'Fox' }, { name: 'Fox' }],
		[{ 'Last\u00a0Na\u00adme\u200b': 'Fox' }, { name: 'Fox' }],
		[{ 'E-Mail (a) (b)': 'a@b.c' }, { 'E-Mail (a) (b)': 'a@b.c' }],
		[{ 'E-Mail (work)': 'a@b.c' }, { 'E-Mail (work)': 'a@b.c' }],
		[{ 'Price (net)': 5 }, { 'Price (net)': 5 }],
		[{ 'Boss (linked)': 'Ada' }, { 'Boss (linked)': 'Ada' }],
		[{ 'E- (x)Mail': 'a@b.c' }, { 'E- (x)Mail': 'a@b.c' }],
		// An exact header wins over one in another case, which must fit one field only.
		[
			{ Phone: '1', PHONE: '3' },
			{ one: '1', three: '3' },
		],
		[{ phone: '1' }, { phone: '1' }],
		[
			{ A: '1', B: '2', 'A ': '1' },
			{ same: '1', Same: '2' },
		],
		[{ name: 'Fox' }, { name: 'Fox' }],
		// So must names and headers together.
		[{ NAME: 'Vienna' }, { NAME: 'Vienna' }],
		[
			{ State: 'x', STATE: 'y', state: 'z' },
			{ stage: 'x', STATE: 'y', state: 'z' },
		],
		[
			{ STAGE: 'x', Stage: 'y' },
			{ STAGE: 'x', x1: 'y' },
		],
		// A name in another case, if only one field has it.
		[{ Mail: 'a@b.c' }, { mail: 'a@b.c' }],
		[
			{ ONE: '1', Two: '2' },
			{ one: '1', two: '2' },
		],
		[
			{ Same: '1', same: '2' },
			{ Same: '1', same: '2' },
		],
		[{ sAmE: '1' }, { sAmE: '1' }],
		[{ 'Last Name': 'Fox', name: 'Fox' }, { name: 'Fox' }],
	])('%j: %j', (json, values) => {
		expect(jsonReader(headers)(json)).toEqual(values);
	});

	test.each<[IDataObject, string, string]>([
		[{ 'Last Name': 'Fox', name: 'Wolf' }, "'Last Name' and 'name' are the same field", 'name'],
		[{ mail: ['a'], 'e-mail': 'a' }, "'mail' and 'e-mail' are the same field", 'mail'],
	])('%j is two values for one field', (json, message, field) => {
		expect(() => jsonReader(headers)(json)).toThrow(
			expect.objectContaining({ message: `${message}, but have different values`, field, hint: 'Remove one of them from the item.' }),
		);
		expect(() => jsonReader(headers)(json)).toThrow(InputError);
	});
});

describe('a record that is not simplified', () => {
	test.each<[why: string, table: typeof PLAIN, json: IDataObject, values: IDataObject]>([
		['its fields', PLAIN, { ...READ, fields: { name: 'Fox' } }, { name: 'Fox' }],
		['without its properties', PLAIN, { fields: { name: 'Fox' } }, { name: 'Fox' }],
		['fields that are none', PLAIN, { fields: { nam: 'Fox' } }, { nam: 'Fox' }],
		['and what was added beside them', PLAIN, { ...READ, fields: { name: 'Fox' }, age: 5 }, { name: 'Fox', age: 5 }],
		['and what was added in another case', PLAIN, { ...READ, fields: { name: 'Fox' }, AGE: 5 }, { name: 'Fox', age: 5 }],
		['and the same value once more', PLAIN, { ...READ, fields: { name: 'Fox' }, name: 'Fox' }, { name: 'Fox' }],
		['not what the output says of it', PLAIN, { ...READ, outcome: 'updated', before: { age: 4 }, fields: { age: 5 } }, { age: 5 }],
		['not what the output says of one that has only an ID', PLAIN, { id: 'r1', event: 'deleted', fields: { age: 5 } }, { age: 5 }],
		['an event of an item without an ID', having('event'), { event: 'fair', fields: { name: 'Fox' } }, { event: 'fair', name: 'Fox' }],
		['a text called fields', PLAIN, { name: 'Fox', fields: 'x' }, { name: 'Fox', fields: 'x' }],
		['a list called fields', PLAIN, { name: 'Fox', fields: ['x'] }, { name: 'Fox', fields: ['x'] }],
		[
			'not if a field is called fields',
			having('fields'),
			{ name: 'Fox', fields: { name: 'Wolf' } },
			{ name: 'Fox', fields: { name: 'Wolf' } },
		],
		[
			'if a field is called fields, and nothing else can be meant',
			having('fields'),
			{ ...READ, fields: { name: 'Wolf', fields: 'x' } },
			{ name: 'Wolf', fields: 'x' },
		],
		[
			'if a field is called fields, beside what the output says',
			having('fields'),
			{ ...READ, outcome: 'updated', before: {}, fields: { fields: 'x' } },
			{ fields: 'x' },
		],
		[
			'not if it has another key',
			having('fields'),
			{ ...READ, city: 'Vienna', fields: { name: 'Wolf' } },
			{ city: 'Vienna', fields: { name: 'Wolf' } },
		],
		[
			'not if it holds what is no field',
			having('fields'),
			{ ...READ, fields: { name: 'Wolf', city: 'Vienna' } },
			{ fields: { name: 'Wolf', city: 'Vienna' } },
		],
	])('%s', (_, table, json, values) => {
		expect(jsonReader(table)(json)).toEqual(values);
	});

	test('with two values for a field is an error', () => {
		expect(() => jsonReader(PLAIN)({ fields: { age: 5, name: 'Fox' }, age: 6 })).toThrow(
			expect.objectContaining({
				message: "'fields.age' and 'age' are the same field, but have different values",
				field: 'age',
				hint: 'Remove one of them from the item.',
			}),
		);
	});
});

const people = {
	...tableOf(
		fieldOf('name', 'text', { importKey: true }),
		fieldOf('surname', 'text', { required: true }),
		fieldOf('age', 'number'),
		...Array.from({ length: 12 }, (_, at) => fieldOf(`sum${at}`, 'calculated')),
	),
	id: 'people',
};

/** One item written by an operation, on a table that has Ada. */
async function write(operation: string, { parameters, ...given }: Given) {
	const tables = new StubTables({ people: { r1: { name: 'Ada', surname: 'L' } } }, { people });
	const run = await runNode(operation, {
		serve: (options) => tables.serve(options),
		...given,
		parameters: { ...TABLE, columns: columns(), ...parameters },
	});
	const bodies = run.sent.map(({ body }) => body).filter(Boolean);
	return { ...run, bodies, stored: tables.tables.people! };
}

describe('one record', () => {
	test.each<[what: string, Given, fields: object, more?: object]>([
		['from the item', { items: asItems({ name: 'Bob', surname: 'K', age: '5' }) }, { name: 'Bob', surname: 'K', age: 5 }],
		[
			'as it is mapped, expressions of the item in it',
			{ parameters: { columns: columns({ name: 'Bob', surname: '={{ $json.last }}' }) }, items: asItems({ last: 'K' }) },
			{ name: 'Bob', surname: 'K' },
		],
		['without what is empty', { items: asItems({ name: 'Bob', surname: 'K', age: '' }) }, { name: 'Bob', surname: 'K' }],
		[
			'with what is empty, to clear it',
			{ parameters: { options: { emptyValues: 'clear' } }, items: asItems({ name: 'Bob', surname: 'K', age: '' }) },
			{ name: 'Bob', surname: 'K', age: null },
		],
		[
			'without what the table lacks',
			{ parameters: { options: { unknownFields: 'ignore' } }, items: asItems({ name: 'Bob', surname: 'K', x: 1 }) },
			{ name: 'Bob', surname: 'K' },
		],
		[
			'left out of the audit log',
			{ parameters: { options: { skipAudit: true } }, items: asItems({ name: 'Bob', surname: 'K' }) },
			{ name: 'Bob', surname: 'K' },
			{ skipAudit: true },
		],
	])('is created %s', async (_, given, fields, more = {}) => {
		const { bodies, error } = await write('record: create', given);
		expect(error).toBeUndefined();
		expect(bodies).toEqual([{ ...more, bulk: [{ fields }] }]);
	});

	const HINT = "Correct the item: under 'Values to Send', or in the input if fields are mapped automatically.";
	test.each<[string, Given, string, string | undefined]>([
		[
			'a field that the table lacks',
			{ items: asItems({ name: 'Bob', surname: 'K', surnaem: 'K' }) },
			"Nothing was sent: table 'People' has no field 'surnaem', did you mean 'surname'?",
			'surnaem',
		],
		[
			'several problems',
			{ items: asItems({ name: 'Bob', age: 'x' }) },
			"Nothing was sent: 'age' accepts a number, not \"x\"; 'surname' is required",
			'age',
		],
		[
			'an empty value if it may not be',
			{ parameters: { options: { emptyValues: 'error' } }, items: asItems({ name: '', surname: 'K' }) },
			"Nothing was sent: 'name' is empty",
			'name',
		],
		[
			'a mapped field that is read-only',
			{ parameters: { columns: columns({ name: 'Bob', surname: 'K', sum0: 5 }) } },
			"Nothing was sent: 'sum0' is read-only",
			'sum0',
		],
	])('is not created from %s', async (_, given, message, field) => {
		const { error, bodies } = await write('record: create', given);
		expect(error?.message).toBe(message);
		expect(error?.description).toBe(HINT);
		expect(error?.context.details).toMatchObject({ item: 0, outcome: 'failed', field });
		expect(bodies).toEqual([]);
	});

	const NO_KEY = "Nothing was sent: 'name', by which records are found, has no value under 'Values to Send'";
	test.each<[string, operation: string, value: IDataObject | null, string | undefined]>([
		['nothing mapped', 'upsert', null, NO_KEY],
		['an empty box for the key', 'upsert', { name: '', surname: 'K' }, NO_KEY],
		['an expression for the key', 'upsert', { name: '={{ $json.name }}', surname: 'K' }, undefined],
	])('%s: one error about the node that runs %s', async (_, operation, value, message) => {
		const columns = { mappingMode: 'defineBelow', value } as unknown as INodeParameters;
		const items = asItems({ name: 'A', surname: 'K' }, { name: 'B', surname: 'K' });
		const { error, bodies } = await write(`record: ${operation}`, { items, parameters: { columns } });
		expect(error?.message).toBe(message);
		if (message === undefined) return;
		expect(error?.description).toBe(
			"Enter it there, or set 'Mapping Column Mode' to 'Map Automatically' if the items have the names of the fields.",
		);
		expect(bodies).toEqual([]);
	});

	test.each<[string, unknown, string]>([
		['emptyValues', 'drop', "'Empty Values' must be one of 'clear', 'leave', 'error', not \"drop\""],
		['unknownFields', 'drop', "'Unknown Fields' must be one of 'ignore', 'error', not \"drop\""],
		['emptyValues', '={{ undefined }}', "'Empty Values' must be one of 'clear', 'leave', 'error', it is empty"],
		['skipAudit', 'yes', '\'Skip Audit\' must be true or false, not "yes"'],
	])('is not created with %s %j', async (option, value, message) => {
		const { error } = await write('record: create', {
			parameters: { options: { [option]: value as string } },
			items: asItems({ name: 'Bob', surname: 'K' }),
		});
		expect(error?.message).toBe(message);
	});

	test('of two items with the same key is written twice', async () => {
		const item = { name: 'Bob', surname: 'K' };
		const { bodies } = await write('record: create', { items: asItems(item, item) });
		expect(bodies).toEqual([{ bulk: [{ fields: item }, { fields: item }] }]);
	});
});

test('a record that is created with files does not get their field from the item', async () => {
	const withFile = { ...tableOf(fieldOf('name'), fieldOf('file', 'file', { required: true })), id: 'people' };
	const tables = new StubTables({ people: {} }, { people: withFile });
	const binary = { data: { data: 'YQ==', mimeType: 'text/plain', fileName: 'a.txt' } };
	const { json, sent, hints } = await runNode('attachment: upload', {
		parameters: { ...TABLE, target: 'new', fileField: 'file', columns: columns() },
		items: [
			{ json: { name: 'Bob', file: 'x', ids: 5 }, binary },
			{ json: { name: 'Bob', file: 'x' }, binary },
		],
		node: { onError: 'continueRegularOutput' },
		serve: (options) => tables.serve(options),
	});
	expect(json).toMatchObject([
		{ error: "Nothing was sent: table 'People' has no field 'ids'" },
		{ id: 'new1', name: 'Bob', uploaded: ['a.txt'] },
	]);
	const bodies = sent.map(({ body }) => body).filter(Boolean);
	expect(bodies).toEqual([{ fields: { name: 'Bob', file: expect.anything() } }]);
	expect(JSON.stringify(bodies)).toContain('a.txt');
	expect(hints).toEqual([]);
});

describe('fields that are only read', () => {
	const sums = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`sum${at}`, at]));
	const hint = (names: string) => ({
		message: `Not written, because these fields are read-only, have an unknown type, or hold files or links as they were read: ${names}.`,
		type: 'info',
		location: 'outputPane',
	});
	const TEN = Array.from({ length: 10 }, (_, at) => `'sum${at}'`).join(', ');
	test.each<[number, object[]]>([
		[0, []],
		[2, [hint("'sum0', 'sum1'")]],
		[10, [hint(TEN)]],
		[11, [hint(`${TEN} and 1 more`)]],
		[12, [hint(`${TEN} and 2 more`)]],
	])('%d of them are named once', async (count, expected) => {
		const fields = ['Bob', 'Cy'].map((name) => ({ name, surname: 'K' }));
		const items = asItems(...fields.map((item) => ({ ...item, ...sums(count) })));
		const { hints, bodies } = await write('record: create', { items });
		expect(hints.slice(0, -1)).toEqual(expected);
		expect(bodies[0]).toEqual({ bulk: fields.map((each) => ({ fields: each })) });
	});
});
