/**
 * From a response's JSON to types: what is read, what is dropped, and what makes the whole invalid.
 */
import {
	toApplication,
	toAttachments,
	toList,
	toMetadata,
	toRecord,
	toTable,
	toWholeRecord,
} from '../../../nodes/DataPlatform/api/decoders.ts';
import type { FieldDefinition } from '../../../nodes/DataPlatform/api/types.ts';

const TIME = '2026-01-01T00:00:00Z';

describe('a record', () => {
	test.each(['\ud800', 'r\udc00', 'r\ufffd1'])('has no ID that was damaged on its way: %j', (id) => {
		expect(toMetadata({ id, ver: 1 })).toBeUndefined();
	});

	test.each<[string, unknown, object | undefined]>([
		[
			'whole',
			{ id: 'x', created: TIME, modified: TIME, ver: 0, fields: { a: 1 } },
			{ id: 'x', created: TIME, modified: TIME, ver: 0, fields: { a: 1 } },
		],
		['without anything but its id', { id: 'x' }, { id: 'x', fields: {} }],
		['with times of other types', { id: 'x', created: 5, modified: '', ver: '1.x', fields: {} }, { id: 'x', fields: {} }],
		['with its version as text', { id: 'x', ver: '1' }, { id: 'x', ver: 1, fields: {} }],
		['with fields that are a list', { id: 'x', fields: [] }, undefined],
		['with fields that are null', { id: 'x', fields: null }, undefined],
		['with an empty id', { id: '', fields: {} }, undefined],
		['with a number for an id', { id: 5, fields: {} }, undefined],
		['without an id', { fields: {} }, undefined],
		['a list', [{ id: 'x' }], undefined],
		['null', null, undefined],
		['text', 'x', undefined],
	])('%s', (_, value, expected) => {
		expect(toRecord(value)).toEqual(expected);
	});

	test.each<[string, unknown, object | undefined]>([
		['with its fields', { id: 'x', fields: {} }, { id: 'x', fields: {} }],
		['without fields', { id: 'x' }, undefined],
		['null', null, undefined],
	])('that was read must have fields: %s', (_, value, expected) => {
		expect(toWholeRecord(value)).toEqual(expected);
	});

	test.each<[string, unknown, object | undefined]>([
		['whole', { id: 'x', created: TIME, modified: TIME, ver: 2, fields: { a: 1 } }, { id: 'x', created: TIME, modified: TIME, ver: 2 }],
		['with an id only', { id: 'x', ver: '' }, { id: 'x' }],
		['with a blank version', { id: 'x', ver: ' ' }, { id: 'x' }],
		['with its version as text', { id: 'x', ver: '0' }, { id: 'x', ver: 0 }],
		['without an id', { ver: 2 }, undefined],
		['with an empty id', { id: '' }, undefined],
		['null', null, undefined],
		['a list', [], undefined],
	])('its metadata: %s', (_, value, expected) => {
		expect(toMetadata(value)).toEqual(expected);
	});

	test('a list with one unreadable entry is not a list', () => {
		expect(toList([{ id: 'a' }, { id: 'b' }], toMetadata)).toHaveLength(2);
		expect(toList([{ id: 'a' }, {}], toMetadata)).toBeUndefined();
		expect(toList([], toMetadata)).toEqual([]);
		expect(toList({ id: 'a' }, toMetadata)).toBeUndefined();
		expect(toList(undefined, toMetadata)).toBeUndefined();
	});
});

describe('a field of a table', () => {
	const fieldOf = (item: unknown): FieldDefinition | undefined => toTable({ id: 't', items: [item] })?.fields[0];

	test('with only a name and a type', () => {
		expect(fieldOf({ name: 'a', type: 'text' })).toEqual({
			name: 'a',
			header: 'a',
			type: 'text',
			metadata: { required: false, readOnly: false, calculated: false, importKey: false, multiple: false },
		});
	});

	test('that says everything', () => {
		const metadata = {
			description: 'Who',
			required: true,
			readOnly: true,
			calculated: true,
			importKey: true,
			multiple: true,
			linkTableId: 't2',
			filterableFields: ['a', 5, 'b'],
			min: 0,
			max: 9,
			maxLength: 20,
			items: [{ value: 'red', order: 2 }, null, { value: 5, order: 'x' }],
		};
		expect(fieldOf({ id: 'f', name: 'a', header: 'Name', type: 'link', metadata })).toEqual({
			name: 'a',
			header: 'Name',
			type: 'link',
			metadata: { ...metadata, filterableFields: ['a', 'b'], items: [{ value: 'red', order: 2 }, { value: '5' }] },
		});
	});

	test.each<[string, 'readOnly' | 'calculated' | 'importKey' | 'multiple' | 'required']>([
		['required', 'required'],
		['readOnly', 'readOnly'],
		['readonly', 'readOnly'],
		['isReadOnly', 'readOnly'],
		['calculated', 'calculated'],
		['isCalculated', 'calculated'],
		['importKey', 'importKey'],
		['isImportKey', 'importKey'],
		['importkey', 'importKey'],
		['multiple', 'multiple'],
		['isMultiple', 'multiple'],
	])('is marked by %s, wherever that stands', (mark, flag) => {
		const isMarked = (item: object) => fieldOf({ name: 'a', type: 'text', ...item })?.metadata[flag];
		expect(isMarked({ [mark]: true })).toBe(true);
		expect(isMarked({ metadata: { [mark]: true } })).toBe(true);
		expect(isMarked({ [mark]: 'true' })).toBe(false);
		expect(isMarked({ metadata: { [mark]: 1 } })).toBe(false);
	});

	test.each<[string, object, boolean | undefined]>([
		['that is marked as many leads to many', { multiple: true }, true],
		['in the other spelling too', { isMultiple: true }, true],
		['that is marked as not many leads to one', { isMultiple: false }, false],
		['with its table only leads to one', { linkTableId: 't2' }, false],
		['without a mark may lead to one or many', { required: true }, undefined],
	])('a link %s', (_, metadata, expected) => {
		expect(fieldOf({ name: 'a', type: 'schema_link', metadata })?.metadata.multiple).toBe(expected);
		expect(fieldOf({ name: 'a', type: 'schema_link', ...metadata })?.metadata.multiple).toBe(expected);
	});

	test('its metadata wins over what is next to it', () => {
		const item = { name: 'a', type: 'text', required: true, metadata: { required: false } };
		expect(fieldOf(item)?.metadata.required).toBe(false);
	});

	test.each<[string, object, string]>([
		['no type', { name: 'a' }, 'unknown'],
		['a type that is no text', { name: 'a', type: 5 }, 'unknown'],
		['metadata that is no object', { name: 'a', type: 'number', metadata: 'x' }, 'unknown'],
		['metadata that is null', { name: 'a', type: 'number', metadata: null }, 'number'],
	])('that has %s is not treated as text', (_, item, type) => {
		expect(fieldOf(item)?.type).toBe(type);
	});

	test('whose bound is not a number has none', () => {
		const metadata = { min: 'one', max: null, maxLength: true, items: 'a,b', filterableFields: 'a' };
		const read = fieldOf({ name: 'a', type: 'number', metadata })!.metadata;
		expect([read.min, read.max, read.maxLength, read.items, read.filterableFields]).toEqual([
			undefined,
			undefined,
			undefined,
			undefined,
			undefined,
		]);
	});

	test('that has an id only is called by it; one without either is none', () => {
		expect(fieldOf({ id: 'f', type: 'text' })).toMatchObject({ name: 'f', header: 'f' });
		expect(toTable({ id: 't', items: [{ type: 'text' }, { name: 'a' }] })?.fields).toMatchObject([{ name: 'a' }]);
	});
});

describe('a table', () => {
	test.each<[string, object, string, string]>([
		['all names', { id: 't', internalNameApi: 'api', internalName: 'int', header: 'H', name: 'N' }, 'api', 'H'],
		['an older internal name', { id: 't', internalName: 'int', name: 'N' }, 'int', 'N'],
		['an id only', { id: 't' }, 't', 't'],
		['empty names', { id: 't', internalNameApi: '', internalName: '', header: '', name: '' }, 't', 't'],
	])('with %s', (_, value, internalName, header) => {
		expect(toTable(value)).toEqual({ id: 't', internalName, header, fields: [], savedViews: [] });
	});

	test.each([[null], [[]], ['x'], [{}], [{ id: '' }], [{ id: 5 }]])('%j is not one', (value) => {
		expect(toTable(value)).toBeUndefined();
	});

	test.each([[{}], ['x'], [[null]], [['name']]])('whose fields are %j is none', (items) => {
		expect(toTable({ id: 't', items })).toBeUndefined();
	});

	test('its saved views, each with an ID', () => {
		const userFilters = [
			{ id: 'v', name: 'Mine', description: 'd', visibility: 'all' },
			{ id: 'w' },
			{ id: '', name: 'none' },
			{ name: 'none' },
			null,
			'v',
		];
		expect(toTable({ id: 't', settings: { userFilters } })?.savedViews).toEqual([
			{ id: 'v', name: 'Mine', description: 'd', visibility: 'all' },
			{ id: 'w', name: 'w' },
		]);
	});

	test.each([[null], ['x'], [{}], [{ userFilters: { id: 'v' } }]])('without saved views if its settings are %j', (settings) => {
		expect(toTable({ id: 't', settings })?.savedViews).toEqual([]);
	});
});

describe('the files in a field', () => {
	test('each with its metadata', () => {
		const file = {
			fileId: 'f',
			fileName: 'a.txt',
			fileSize: 0,
			mimetype: 'text/plain',
			fileUrl: 'https://files.example.com/f',
			thumbnailUrl: 'https://files.example.com/f/thumbnail',
		};
		const others = ['5', '', '5 kB'].map((fileSize) => ({ fileId: 'g', fileName: '', fileSize }));
		const unsized = { fileId: 'g', fileName: 'g' };
		expect(toAttachments([file, ...others])).toEqual([file, { ...unsized, fileSize: 5 }, unsized, unsized]);
	});

	test.each<[unknown]>([[undefined], [null], ['f'], [{ fileId: 'f' }], [[]], [[null, 'f', {}, { fileId: '' }, { fileId: 5 }]]])(
		'none in %j',
		(value) => {
			expect(toAttachments(value)).toEqual([]);
		},
	);
});

test.each<[string, unknown, object | undefined]>([
	['whole', { id: 'a', name: 'Sales', internalName: 'sales' }, { id: 'a', name: 'Sales', internalName: 'sales' }],
	['with an internal name only', { id: 'a', internalName: 'sales' }, { id: 'a', name: 'sales', internalName: 'sales' }],
	['with an id only', { id: 'a', name: '' }, { id: 'a', name: 'a', internalName: 'a' }],
	['without an id', { name: 'Sales' }, undefined],
	['null', null, undefined],
	['a list', [{ id: 'a' }], undefined],
])('an application is read: %s', (_, value, expected) => {
	expect(toApplication(value)).toEqual(expected);
});
