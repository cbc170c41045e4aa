/** Field types beyond the tables of whole values (values.test): parts, limits, shapes. */
import type { FieldMetadata, JsonValue } from '../../../nodes/DataPlatform/api/types.ts';
import { fromJsonText, isDateTimeObject, isJson, showValue } from '../../../nodes/DataPlatform/fields/convert.ts';
import { holdsData, isOnlyRead, isWritable, fieldType } from '../../../nodes/DataPlatform/fields/index.ts';
import { sameParts, sameText } from '../../../nodes/DataPlatform/fields/equality.ts';
import { canBeKey, holdsValue, keyText, toFieldValue } from '../../../nodes/DataPlatform/fields/values.ts';
import { fieldOf } from '../fixtures.cts';

const ID = '44d70c2e-7a1b-4c55-9d3e-2f8b6a1c0e97';
const MANY = { multiple: true };

describe('what is sent', () => {
	test.each<[type: string, value: unknown, sent: unknown, metadata?: FieldMetadata]>([
		['date', ' 2026-11-21 ', '2026-11-21T00:00:00Z'],
		['datetime', '\t2026-11-21T09:30:00Z\n', '2026-11-21T09:30:00Z'],
		['chips', ' ["a"]', ['a']],
		['text', 'abc', 'abc', { maxLength: 3 }],
		['text', 'x'.repeat(300), 'x'.repeat(300)],
		['number', -5, -5, { max: 0 }],
		['number', 5_000_000, 5_000_000, { min: 0 }],
		['decimal', '-0.50', -0.5],
		['decimal', '1.5e+3', 1500],
		['decimal', '0.00', 0],
		['checklist', { lists: [{ header: 'a', items: [{ checked: true }] }] }, expect.anything()],
		['file', { add: [{ filename: 'a' }] }, { add: [{ filename: 'a' }] }],
		['schema_link', { add: [ID] }, { add: [ID] }, MANY],
	])('of %s, given %j', (...[type, value, sent, metadata]) => {
		expect(toFieldValue(fieldOf('f', type, metadata), value, 'error')).toEqual({ value: sent });
	});

	test.each<[type: string, value: unknown, problem: string, metadata?: FieldMetadata]>([
		['number', [5], 'accepts a number, not [5]'],
		['number', 3, 'must be at least 5, not 3', { min: 5 }],
		['number', 3, 'must be at most 2, not 3', { max: 2 }],
		['unknown', 'x', "can't be written: the platform does not report its type"],
		['buttonform', 'x', 'holds no data'],
		['url_link', { href: '' }, `accepts text as 'href', not ""`],
		['url_link', {}, 'accepts an object such as {"href":"https://example.com"}, not {}'],
		['checklist', {}, 'accepts an object such as {"lists":[…]}, not {}'],
		['file', { remove: [5] }, expect.stringContaining('accepts a web address')],
		['file', { add: [], remove: ['a', 5] }, expect.stringContaining('"remove"')],
		['schema_link', { add: [ID], remove: [5] }, expect.stringContaining('accepts'), MANY],
		['schema_link', { add: [5], remove: [ID] }, expect.stringContaining('accepts'), MANY],
		['schema_link', { add: [ID], removed: [ID] }, expect.stringContaining('accepts'), MANY],
		['schema_link', { remove: [5] }, expect.stringContaining('accepts record ids'), MANY],
		['date', '2026-02-29', 'accepts a date, but there is no 2026-02-29'],
		['date', '2026-04-31', 'accepts a date, but there is no 2026-04-31'],
		['date', '2026-11-00', 'accepts a date such as 2026-11-21, not "2026-11-00"'],
		['date', '2026-00-10', 'accepts a date such as 2026-11-21, not "2026-00-10"'],
		['date', '2026-11-99', 'accepts a date such as 2026-11-21, not "2026-11-99"'],
	])('nothing of %s, given %j', (...[type, value, problem, metadata]) => {
		expect(toFieldValue(fieldOf('f', type, metadata), value, 'error')).toEqual({ problem });
	});
});

describe('a value as the platform returns it', () => {
	const file = { fileId: 'f', fileName: 'a.txt' };
	test.each<[string, unknown, boolean]>([
		['files that are there', [file], true],
		['one of them beside a new one', [{ filename: 'b' }, file], true],
		['a file with its data', [{ ...file, filedata: 'data:' }], false],
		['a new file', [{ filename: 'b', filedata: 'data:' }], false],
		['no files', [], false],
		['what is no file', ['f', null], false],
		['one file without a list', file, false],
		['a web address', 'https://example.com/a.txt', false],
	])('in a field of files: %s', (_, value, expected) => {
		expect(isOnlyRead(fieldOf('f', 'file'), value)).toBe(expected);
	});

	test.each<[string, unknown, boolean]>([
		['a count and an address', { count: 2, url: '/x' }, true],
		['no count', { url: '/x' }, false],
		['a count that is none', { count: '2', url: '/x' }, false],
		['no address', { count: 2 }, true],
		['a change', { count: 2, add: [] }, false],
		['a list of them', [{ count: 2, url: '/x' }], false],
		['ids', ['a'], false],
		['nothing', null, false],
		['text', 'a', false],
	])('in a link to many records: %s', (_, value, expected) => {
		expect(isOnlyRead(fieldOf('f', 'schema_link', MANY), value)).toBe(expected);
	});

	test('no other field has one', () => {
		expect(isOnlyRead(fieldOf('f', 'text'), [file])).toBe(false);
	});

	test('linked records that were read with their fields are linked by their ids', () => {
		const acorn = { id: 'a', name: 'Acorn' };
		const field = fieldOf('f', 'schema_link', MANY);
		expect(toFieldValue(field, acorn, 'error')).toEqual({ value: { add: ['a'] } });
		expect(toFieldValue(field, [acorn, ID], 'error')).toEqual({ value: { add: ['a', ID] } });
		expect(toFieldValue(field, { id: '' }, 'error')).toHaveProperty('problem');
	});
});

describe('stored values', () => {
	type Row = [type: string, stored: JsonValue, sent: JsonValue, holds: boolean | undefined];
	test.each<Row>([
		['text', 'a', 5, undefined],
		['text', '', null, true],
		['a type of tomorrow', null, null, true],
		['a type of tomorrow', 'x', null, undefined],
		['a type of tomorrow', null, 'x', undefined],
		['decimal', 5, 'much', undefined],
		['decimal', '1e400', 1, undefined],
		['decimal', ['5'], 5, undefined],
		['decimal', '-5', 5, false],
		['decimal', '1e2', 100, true],
		['chips', ['a'], ['a', 'a'], undefined],
		['chips', ['a', 'b'], 'a', undefined],
		['schema_link', { id: 5 }, { id: 'a' }, undefined],
		['schema_link', { id: 'a' }, { id: '' }, undefined],
		['schema_link', { id: 'a' }, 5, undefined],
		['file', [{ fileId: 'a' }], { add: [], remove: [] }, true],
		['file', [{ fileId: 'a' }], { add: [{ filename: 'x' }], remove: ['b'] }, false],
		['file', [{ fileName: 'x' }], { add: [{ filename: 'x' }], remove: ['b'] }, undefined],
		['file', [{ fileName: 'x' }], { add: [{ filename: 'x' }, { filename: 'x' }] }, false],
		['file', [{ fileName: 'x' }, 'y', { fileName: 'x' }], { add: [{ filename: 'x' }] }, undefined],
		['file', [{ fileId: 'a' }, { fileId: 'b' }], { remove: ['a'] }, false],
		['file', null, { add: [] }, undefined],
		['url_link', 'x', { href: 'x' }, undefined],
		['url_link', { href: 'x' }, 'x', undefined],
		['url_link', { href: 'x', description: 'd' }, { href: 'x', description: '' }, undefined],
		['url_link', { href: 'x' }, { href: 'x', title: 't' }, undefined],
		['url_link', { href: 'x' }, { href: 'x', description: '' }, undefined],
		['url_link', { href: 'x', description: '' }, { href: 'x' }, undefined],
		['url_link', { href: 'x', description: null }, { href: 'x', description: '' }, undefined],
		['url_link', { href: 'x', description: '' }, { href: 'x', description: '' }, true],
		['url_link', { href: 'x', description: null }, { href: 'x' }, true],
		['checklist', null, null, true],
		['checklist', { lists: [] }, null, undefined],
		['checklist', { lists: [{ header: 'a' }] }, null, false],
		['checklist', 'a', null, false],
		['checklist', { lists: 'a' }, { lists: [{ header: 'a' }] }, undefined],
	])('%s: stored %j, sent %j: %s', (type, stored, sent, holds) => {
		expect(holdsValue(fieldOf('f', type), stored, sent)).toBe(holds);
	});

	const money = (date: string) => ({ amount: 1, currency: 'EUR', date });
	test.each([
		['2021-05-06', '2021-05-07', false],
		['2021-05-06T00:00:00', '2021-05-06', true],
		['soon', '2021-05-06', undefined],
		['2021-05-06', 'soon', undefined],
		['soon', 'soon', undefined],
	])('money of the day %s, sent with %s: %s', (stored, sent, holds) => {
		const field = fieldOf('f', 'money_with_currency');
		expect(holdsValue(field, money(stored), money(sent))).toBe(holds);
	});

	test.each<[JsonValue, JsonValue, boolean | undefined]>([
		[{ count: 2, url: '/x' }, { add: [], remove: [] }, true],
		[{ count: 2, url: '/x' }, { add: ['a'], remove: ['b'] }, undefined],
		[{ count: 2, url: '/x' }, { remove: ['b'] }, undefined],
		[{ count: 0, url: '/x' }, { add: ['a'] }, false],
		[null, { add: ['a'] }, false],
		[null, null, true],
	])('links to many: stored %j, sent %j: %s', (stored, sent, holds) => {
		expect(holdsValue(fieldOf('f', 'schema_link', MANY), stored, sent)).toBe(holds);
	});

	test.each<[stored: JsonValue, sent: JsonValue, holds: boolean | undefined]>([
		['2026-11-21T09:30:00Z', '2026-11-21T10:30:00', undefined],
		['2026-11-21T09:30:00Z', '2026-11-22T09:30:00', undefined],
		['2026-02-30T09:30:00Z', '2026-02-30T09:30:00Z', undefined],
		[['2026-11-21T09:30:00Z'], '2026-11-21T09:30:00Z', undefined],
		['2026-11-21T09:30:00.123400Z', '2026-11-21T09:30:00.123Z', true],
		['2026-11-21T09:30:00.000Z', '2026-11-21T09:30:00.123Z', undefined],
		['2026-11-21T09:30:00.100Z', '2026-11-21T09:30:00.123Z', false],
		['2026-11-21T09:30:00.5Z', '2026-11-21T09:30:00.500Z', true],
		['2026-11-21T09:30:00.5Z', '2026-11-21T09:30:00.05Z', false],
	])('time: stored %j, sent %j: %s', (stored, sent, holds) => {
		expect(holdsValue(fieldOf('f', 'datetime'), stored, sent)).toBe(holds);
	});

	test.each<[stored: string, sent: string, holds: boolean | undefined]>([
		['2026-11-21', 'soon', undefined],
		['soon', '2026-11-21', undefined],
		['2026-11-22T00:00:00.000Z', '2026-11-22T00:00:00Z', true],
		['2026-11-22T00:00:00.000Z', '2026-11-21T00:00:00Z', false],
		['2026-11-22', '2026-11-21T01:00:00+01:00', undefined],
	])('day: stored %s, sent %s: %s', (stored, sent, holds) => {
		expect(holdsValue(fieldOf('f', 'date'), stored, sent)).toBe(holds);
	});

	test('without a definition, only the same value is certain', () => {
		expect(holdsValue(undefined, 'a', 'a')).toBe(true);
		expect(holdsValue(undefined, 'a', 'b')).toBeUndefined();
		expect(holdsValue(undefined, undefined, undefined)).toBe(true);
	});
});

describe('the stored format of an import key', () => {
	test.each<[type: string, value: JsonValue, text: string | undefined]>([
		['text', 'a', 'a'],
		['text', ' A b ', ' A b '],
		['text', 'e\u0301', 'e\u0301'],
		['text', 5, '5'],
		['text', '', undefined],
		['text', null, undefined],
		['text', { a: 1 }, undefined],
		['decimal', 1.5, '1.5'],
		['decimal', -0, '0'],
		['decimal', 'much', undefined],
		['date', '2026-11-21', '2026-11-21'],
		['date', '2026-11-21T00:00:00+05:00', '2026-11-21'],
		['date', '2026-11-21T09:30:00Z', undefined],
		['date', 5, undefined],
		['datetime', '2026-11-21T10:30+01:00', '2026-11-21T09:30:00.000Z'],
		['datetime', '2026-11-21T09:30:00.120000Z', '2026-11-21T09:30:00.120Z'],
		['datetime', '2026-11-21T09:30', undefined],
		['datetime', '2026-11-21T09:30:00.1234Z', '2026-11-21T09:30:00.123Z'],
		['datetime', 'soon', undefined],
		['datetime', 5, undefined],
		['checkbox', true, undefined],
	])('of %s %j', (type, value, text) => {
		expect(keyText(fieldOf('f', type), value)).toBe(text);
	});

	test('of a field of which it is not one', () => {
		expect(canBeKey(fieldOf('f', 'checkbox'))).toBe(false);
		expect(canBeKey(fieldOf('f', 'date'))).toBe(true);
	});
});

test.each(['constructor', 'toString'])('a part called %s is one like any other', (name) => {
	const equals = sameParts({ a: sameText });
	expect(equals({ a: 'x' }, { a: 'x', [name]: 'y' })).toBeUndefined();
});

describe('what a field is', () => {
	test.each<[type: string, metadata: FieldMetadata, holdsData: boolean, isWritable: boolean]>([
		['text', {}, true, true],
		['text', { readOnly: true }, true, false],
		['text', { calculated: true }, true, false],
		['text', { readOnly: false, calculated: false }, true, true],
		['calculated', {}, true, false],
		['system_type', {}, true, false],
		['buttonform', {}, false, false],
		['freehtmlinput', {}, false, false],
		['constructor', {}, true, true],
	])('%s %j', (type, metadata, data, writable) => {
		const field = fieldOf('f', type, metadata);
		expect([holdsData(field), isWritable(field)]).toEqual([data, writable]);
	});

	test('only a link can lead to many', () => {
		const convert = (type: string) => toFieldValue(fieldOf('f', type, MANY), ID, 'error');
		expect(convert('text')).toEqual({ value: ID });
		expect(convert('schema_link')).toEqual({ value: { add: [ID] } });
	});

	const choices = (type: string, metadata: FieldMetadata) => {
		const field = fieldOf('f', type, metadata);
		return fieldType(field).editor.choices?.(field);
	};
	test.each(['radio', 'dropdown'])('%s: its choices in their order', (type) => {
		const items = [{ value: 'c', order: 3 }, { value: 'a' }, { value: 'b', order: 1 }];
		expect(choices(type, { items })).toEqual(['a', 'b', 'c'].map((value) => ({ name: value, value })));
		expect(choices(type, { items: [...items].reverse() })).toEqual(choices(type, { items }));
		expect(items.map(({ value }) => value)).toEqual(['c', 'a', 'b']);
	});

	test('no list to choose from if there are no choices', () => {
		expect(choices('dropdown', {})).toBeUndefined();
		expect(choices('dropdown', { items: [] })).toBeUndefined();
		expect(choices('text', { items: [{ value: 'a' }] })).toBeUndefined();
		expect(choices('checkbox', {})).toEqual([
			{ name: 'True', value: true },
			{ name: 'False', value: false },
		]);
	});
});

describe('values in JSON', () => {
	const nested = (depth: number, wrap: (value: unknown) => unknown) => {
		let value: unknown = 1;
		for (let count = 0; count < depth; count += 1) value = wrap(value);
		return value;
	};
	test.each<[string, unknown, boolean]>([
		['text', 'a', true],
		['true', true, true],
		['null', null, true],
		['a number', 1.5, true],
		['no number', NaN, false],
		['undefined', undefined, false],
		['a part that is undefined', { a: undefined, b: true }, true],
		['a list with undefined in it', [undefined], false],
		['a date', new Date(), false],
		['a date in a list', [new Date()], false],
		['a function', () => 1, false],
		['a hundred lists in each other', nested(101, (value) => [value]), true],
		['more lists in each other', nested(102, (value) => [value]), false],
		['a hundred objects in each other', nested(101, (value) => ({ value })), true],
		['more objects in each other', nested(102, (value) => ({ value })), false],
	])('%s: %#', (_, value, expected) => {
		expect(isJson(value)).toBe(expected);
	});

	test.each<[unknown, boolean]>([
		[{ toISO: () => '' }, true],
		[{ toISO: 'x' }, false],
		[{}, false],
		[null, false],
		[undefined, false],
		['2026-11-21', false],
		[Object.assign(() => 1, { toISO: () => '' }), false],
	])('%j as a date of n8n: %s', (value, expected) => {
		expect(isDateTimeObject(value)).toBe(expected);
	});

	test.each<[unknown, unknown]>([
		['{"a":1}', { a: 1 }],
		[' \n[1]', [1]],
		['"[a]"', '"[a]"'],
		['5', '5'],
		['[1', '[1'],
		[5, 5],
	])('%j read as JSON text is %j', (text, value) => {
		expect(fromJsonText(text)).toEqual(value);
	});

	test('a value of 60 characters is shown completely', () => {
		expect(showValue('a'.repeat(58))).toBe(`"${'a'.repeat(58)}"`);
		expect(showValue('a'.repeat(59))).toBe(`"${'a'.repeat(56)}…`);
	});
});
