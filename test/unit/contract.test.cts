import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toApplication, toList, toMetadata, toRecord, toTable, toWholeRecord } from '../../nodes/DataPlatform/api/decoders.ts';
import { paths } from '../../nodes/DataPlatform/api/endpoints.ts';
import { FIELD_TYPES, holdsData, importKeyOf, isWritable } from '../../nodes/DataPlatform/fields/index.ts';
import { canBeKey, toFieldValue } from '../../nodes/DataPlatform/fields/values.ts';
import { toErrorEntries } from '../../nodes/DataPlatform/transport/errorEntries.ts';
import { fieldOf } from './fixtures.cts';

test('a table is found directly, or below its application', () => {
	expect(paths.records({ table: 'contacts' })).toBe('/api/v2/contacts/data');
	const at = { application: 'crm', table: 'contacts' };
	expect(paths.record(at, 'r1')).toBe('/api/v2/apps/crm/tables/contacts/data/r1');
	expect(paths.bulk(at)).toBe('/api/v2/apps/crm/tables/contacts/data/bulk');
	expect(paths.filter(at)).toBe('/api/v2/apps/crm/tables/contacts/data/filter');
	expect(paths.count(at)).toBe('/api/v2/apps/crm/tables/contacts/data/count');
	expect(paths.countFilter(at)).toBe('/api/v2/apps/crm/tables/contacts/data/count/filter');
});

test.each([
	['../users/me', '..%2Fusers%2Fme'],
	['a/b?c#d', 'a%2Fb%3Fc%23d'],
	['...', '...'],
	['%2e%2e', '%252e%252e'],
	['a\\b', 'a%5Cb'],
	['ü x', '%C3%BC%20x'],
])('%s cannot leave its segment', (id, segment) => {
	expect(paths.record({ table: id }, id)).toBe(`/api/v2/${segment}/data/${segment}`);
	expect(new URL(paths.record({ table: id }, id), 'https://x.example').pathname).toMatch(/^\/api\/v2\//);
});

test('the words that the contract has in place of a record ID are never one', () => {
	const contract = readFileSync(join(__dirname, '../../contract/openapi.yaml'), 'utf8');
	const words = [...contract.matchAll(/^ {2}\/\{table\}\/data\/(\w+)/gm)].map(([, word]) => word!);
	expect(words).toContain('bulk');
	for (const word of words) expect(() => paths.record({ table: 'contacts' }, word)).toThrow("can't be the ID");
});

test.each(['.', '..', ''])('%j is never a valid name, however it is encoded', (id) => {
	expect(() => paths.record({ table: 'contacts' }, id)).toThrow('cannot be the name or ID');
	expect(() => paths.records({ table: id })).toThrow('Nothing was sent');
});

test('a record is read, whatever is next to it', () => {
	const record = { id: 'r1', created: 'c', modified: 'm', ver: 3, fields: { a: 1 }, extra: true };
	expect(toRecord(record)).toEqual({ id: 'r1', created: 'c', modified: 'm', ver: 3, fields: { a: 1 } });
	expect(toRecord({ id: 'r1', ver: '3', created: 5 })).toEqual({
		id: 'r1',
		created: undefined,
		modified: undefined,
		ver: undefined,
		fields: {},
	});
});

test.each([undefined, null, 'r1', [], {}, { id: 5 }, { id: '' }])('%j is not a record', (value) => {
	expect(toRecord(value)).toBeUndefined();
	expect(toMetadata(value)).toBeUndefined();
});

test.each([null, [], 'x', 1])('a record with %j in place of its fields is none', (fields) => {
	expect(toRecord({ id: 'r1', fields })).toBeUndefined();
});

test('a list with an entry that cannot be read is not a list', () => {
	expect(toList([{ id: 'r1', fields: {} }], toWholeRecord)).toHaveLength(1);
	for (const wrong of [[{ id: 'r1' }], [null], [5], {}, null, 'x']) {
		expect(toList(wrong, toWholeRecord)).toBeUndefined();
	}
});

test.each([['x'], [5], [null], 'x', {}])('a table with %j for its fields cannot be read', (items) => {
	expect(toTable({ id: 't1', items })).toBeUndefined();
});

test('errors are read whatever is in them', () => {
	const errors = [
		{ type: 'info', id: 'code', message: 'No', RecordIndex: 2 },
		{ message: 5, recordindex: 0 },
		{ RECORDINDEX: 1.5 },
		'text',
		null,
	];
	expect(toErrorEntries(errors)).toEqual([
		{ type: 'info', id: 'code', message: 'No', recordIndex: 2 },
		{ type: undefined, id: undefined, message: undefined, recordIndex: 0 },
		{ type: undefined, id: undefined, message: undefined, recordIndex: undefined },
	]);
	for (const none of [undefined, null, {}, 'errors']) expect(toErrorEntries(none)).toEqual([]);
});

describe('a table', () => {
	test('is read with its fields and saved views', () => {
		const table = toTable({
			id: 't1',
			internalNameApi: 'people',
			header: 'People',
			items: [
				{ name: 'email', header: 'E-mail', type: 'text', metadata: { required: true, maxLength: 5, items: [{ value: 1, order: 2 }] } },
				{ id: 'age', type: 'number', metadata: { min: 0, max: '9' } },
				{ header: 'nameless' },
			],
			settings: { userFilters: [{ id: 'v1', name: 'Adults' }, { id: 'v2' }, { name: 'none' }] },
		});
		expect(table).toMatchObject({
			id: 't1',
			internalName: 'people',
			header: 'People',
			savedViews: [
				{ id: 'v1', name: 'Adults' },
				{ id: 'v2', name: 'v2' },
			],
		});
		const [email, age, ...others] = table!.fields;
		expect(others).toEqual([]);
		expect(email).toMatchObject({ name: 'email', header: 'E-mail', type: 'text' });
		expect(email?.metadata).toMatchObject({ required: true, maxLength: 5, items: [{ value: '1', order: 2 }] });
		expect(age).toMatchObject({ name: 'age', header: 'age', metadata: { min: 0, max: undefined } });
	});

	test('has names even if the service returns few', () => {
		expect(toTable({ id: 't1' })).toMatchObject({ internalName: 't1', header: 't1', fields: [] });
		expect(toTable({ id: 't1', name: 'N' })).toMatchObject({ internalName: 't1', header: 'N' });
		// Nothing can be addressed by its short ID.
		for (const none of [undefined, null, [], {}, 'x', { shortid: 's1', header: 'N' }]) {
			expect(toTable(none)).toBeUndefined();
		}
	});

	test.each([{}, { type: null }, { type: '' }, { type: 5 }, { type: 'number', metadata: 'x' }, { type: 'number', metadata: [] }])(
		'is readable beside a field that says %j of its type, which can not be written',
		(type) => {
			const a = { name: 'a', type: 'text', metadata: null };
			const table = toTable({ id: 't', items: [a, { name: 'b', header: 'B', ...type }] })!;
			expect(table.fields).toMatchObject([
				{ name: 'a', type: 'text' },
				{ name: 'b', header: 'B', type: 'unknown' },
			]);
			const [text, untyped] = table.fields;
			expect(toFieldValue(text!, 'x', 'error')).toEqual({ value: 'x' });
			expect(toFieldValue(untyped!, 'x', 'error')).toEqual({ problem: "can't be written: the platform does not report its type" });
			expect(toFieldValue(untyped!, null, 'clear')).toEqual({ value: null });
			expect(canBeKey(untyped!)).toBe(false);
			expect(holdsData(untyped!)).toBe(true);
		},
	);

	test.each([[{ metadata: { importKey: true } }], [{ metadata: { isImportKey: true } }], [{ importKey: true }]])(
		'its import key is marked by %j',
		(mark) => {
			const [a, b] = ['a', 'b'].map((name) => ({ name, type: 'text' }));
			const table = toTable({ id: 't', items: [a, { ...b, ...mark }] });
			expect(importKeyOf(table!)?.name).toBe('b');
		},
	);

	test.each([[{ readOnly: true }], [{ isReadOnly: true }], [{ calculated: true }], [{ isCalculated: true }]])(
		'a field with %j is read-only',
		(metadata) => {
			const table = toTable({ id: 't', items: [{ name: 'a', type: 'text', metadata }] });
			expect(isWritable(table!.fields[0]!)).toBe(false);
		},
	);
});

test('an application is read by any of its names', () => {
	expect(toApplication({ id: 'a', name: 'CRM', internalName: 'crm' })).toEqual({ id: 'a', name: 'CRM', internalName: 'crm' });
	expect(toApplication({ id: 'a' })).toEqual({ id: 'a', name: 'a', internalName: 'a' });
	expect(toApplication({ name: 'CRM' })).toBeUndefined();
});

test.each([
	['text', true, true],
	['schema_link', true, true],
	['calculated', true, false],
	['system_type', true, false],
	['buttonform', false, false],
	['freehtmlinput', false, false],
])('%s: holds data %s, writable %s', (type, holds, writable) => {
	expect(holdsData(fieldOf('f', type))).toBe(holds);
	expect(isWritable(fieldOf('f', type))).toBe(writable);
});

test('every field type of the contract has an entry, and no other has one', () => {
	const contract = readFileSync(join(__dirname, '../../contract/openapi.yaml'), 'utf8');
	const names = /\n    FieldType:\n      type: string\n      enum:\n((?: {8}- \w+\n)+)/.exec(contract)![1]!;
	expect(Object.keys(FIELD_TYPES)).toEqual([...names.matchAll(/- (\w+)/g)].map(([, name]) => name));
});

test('docs/values.md says what each field type accepts', () => {
	const page = readFileSync(join(__dirname, '../../docs/values.md'), 'utf8');
	const writable = Object.keys(FIELD_TYPES).filter((type) => isWritable(fieldOf('f', type)));
	expect(writable).toContain('text');
	expect(writable.filter((type) => !page.includes(`\`${type}\``))).toEqual([]);
});
