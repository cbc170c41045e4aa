import type { FieldMetadata, JsonValue } from '../../../nodes/DataPlatform/api/types.ts';
import { showValue } from '../../../nodes/DataPlatform/fields/convert.ts';
import { appendedFields, holdsValue, keyProblem, recordKey, toFieldValue, visibleText } from '../../../nodes/DataPlatform/fields/values.ts';
import { fieldOf } from '../fixtures.cts';

const convert = (type: string, value: unknown, metadata?: FieldMetadata) => toFieldValue(fieldOf('f', type, metadata), value, 'leave');

const [ID, OTHER] = ['44d70c2e-7a1b-4c55-9d3e-2f8b6a1c0e97', '55d70c2e-7a1b-4c55-9d3e-2f8b6a1c0e97'];
const MIDNIGHT = '2026-11-21T00:00:00Z';
const BERLIN = { timeZone: 'Europe/Berlin' };
const NO_ZONE = { timeZone: '' };

const luxonTime = { toISO: () => '2026-11-21T09:30:00.000+01:00' };

const accepted: Array<[type: string, value: unknown, sent: unknown, metadata?: FieldMetadata]> = [
	['text', 'Fox', 'Fox'],
	['text', ' Fox ', ' Fox '],
	['text', 0, '0'],
	['text', false, 'false'],
	['text', 'abc', 'abc', { maxLength: 3 }],
	// The platform does not say how it counts: it decides about what might fit.
	['text', '😀'.repeat(6), '😀'.repeat(6), { maxLength: 10 }],
	['text', '👨‍👩‍👧‍👦👍🏽', '👨‍👩‍👧‍👦👍🏽', { maxLength: 2 }],
	['text', 'e\u0301e\u0301', 'e\u0301e\u0301', { maxLength: 2 }],
	['text', 'a\r\n', 'a\r\n', { maxLength: 2 }],
	['text', 'ab  ', 'ab  ', { maxLength: 2 }],
	['long_text', 'a\nb', 'a\nb'],
	['markdown', '# a', '# a'],
	['radio', 'low', 'low'],
	['dropdown', 7, '7'],
	['a type of tomorrow', 'x', 'x'],
	['number', 7, 7],
	['number', '7', 7],
	['number', ' -7 ', -7],
	['number', '+7', 7],
	['number', '1e3', 1000],
	['number', 0, 0, { min: 0 }],
	['number', 150, 150, { max: 150 }],
	['number', 9007199254740991, 9007199254740991],
	['decimal', '.5', 0.5],
	['decimal', '5.', 5],
	['decimal', 1.5e-7, 1.5e-7],
	['money', -0.01, -0.01],
	['money', 3 * 19.99, 59.97],
	['money', '1234567890123.45', 1234567890123.45],
	['percentage', '0.1', 0.1],
	['checkbox', true, true],
	['checkbox', false, false],
	['checkbox', ' TRUE ', true],
	['checkbox', 'false', false],
	['date', '2026-11-21', MIDNIGHT],
	['date', '2024-02-29', '2024-02-29T00:00:00Z'],
	['date', '2026-11-21T00:00:00', MIDNIGHT],
	['date', '2026-11-21 00:00', MIDNIGHT],
	['date', '2026-11-21T00:00:00Z', MIDNIGHT],
	['date', '2026-11-21T00:00:00.000Z', MIDNIGHT],
	['date', '2026-11-21T23:30:00', MIDNIGHT],
	['date', '2026-11-21T23:30:00-05:00', '2026-11-22T04:30:00Z'],
	['date', '2026-11-21T23:30:00-05:00', '2026-11-22T00:00:00Z', BERLIN],
	['date', '2026-11-21T23:30:00-05:00', '2026-11-22T04:30:00Z', NO_ZONE],
	['date', '2026-11-20T23:00:00.000Z', MIDNIGHT, BERLIN],
	['date', luxonTime, '2026-11-21T08:30:00Z'],
	['date', luxonTime, MIDNIGHT, BERLIN],
	['date', '2026-11-21T00:00:00.000+09:00', MIDNIGHT, BERLIN],
	['date', '2026-11-21T00:00-0500', MIDNIGHT, BERLIN],
	['date', '2026-11-21T00:00:01+09:00', '2026-11-20T15:00:01Z'],
	['date', new Date('2026-11-21T00:00:00Z'), MIDNIGHT],
	['datetime', '2026-11-21', '2026-11-21T00:00:00'],
	['datetime', '2026-11-21', '2026-11-20T23:00:00Z', BERLIN],
	['datetime', '2026-11-21Z', MIDNIGHT, BERLIN],
	['datetime', '2026-11-21 09:30', '2026-11-21T09:30:00'],
	['datetime', '2026-11-21 09:30', '2026-11-21T09:30:00', NO_ZONE],
	['datetime', '2026-11-21 09:30', '2026-11-21T08:30:00Z', BERLIN],
	['datetime', '2026-07-21T09:30:00.1234567', '2026-07-21T07:30:00.123Z', BERLIN],
	['datetime', '2026-11-21T09:30:00.123+0100', '2026-11-21T08:30:00.123Z'],
	['datetime', '2026-11-21T09:30:00.1234567+01:00', '2026-11-21T08:30:00.123Z'],
	['datetime', luxonTime, '2026-11-21T08:30:00Z'],
	['datetime', new Date('2026-11-21T09:30:00Z'), '2026-11-21T09:30:00Z'],
	['dropdownmulti', ['a', 1, true], ['a', '1', 'true']],
	['dropdownmulti', '["a","b"]', ['a', 'b']],
	['chips', 'a, b', ['a, b']],
	['chips', '[broken', ['[broken']],
	['money_with_currency', { amount: 1, currency: 'EUR' }, { amount: 1, currency: 'EUR' }],
	['money_with_currency', '{"amount":1,"currency":"EUR"}', { amount: 1, currency: 'EUR' }],
	['url_link', 'https://example.com', { href: 'https://example.com' }],
	['url_link', 'ann@example.com', { href: 'ann@example.com', isMailto: true }],
	['url_link', 'mailto:ann@example.com', { href: 'ann@example.com', isMailto: true }],
	['url_link', 'https://ann@example.com/x', { href: 'https://ann@example.com/x' }],
	['url_link', { href: 'x', description: 'd' }, { href: 'x', description: 'd' }],
	['checklist', { lists: [] }, { lists: [] }],
	['chat', '{"messages":[]}', { messages: [] }],
	['schema_link', ID, { id: ID }],
	['schema_link', ` ${ID.toUpperCase()} `, { id: ID }],
	['schema_link', { id: 'no UUID' }, { id: 'no UUID' }],
	['schema_link', { add: [{ id: 'no UUID' }, ID] }, { add: ['no UUID', ID] }, { multiple: true }],
	['schema_link', { id: ID, name: 'Acorn', url: '/x' }, { id: ID }],
	['schema_link', ID, { add: [ID] }, { multiple: true }],
	['schema_link', [ID, OTHER], { add: [ID, OTHER] }, { multiple: undefined }],
	['schema_link', { id: ID, ver: 1, fields: {} }, { id: ID }, { multiple: undefined }],
	['schema_link', { remove: [ID] }, { remove: [ID] }, { multiple: undefined }],
	['schema_link', [ID, OTHER], { add: [ID, OTHER] }, { multiple: true }],
	['schema_link', { remove: [ID] }, { remove: [ID] }, { multiple: true }],
	['schema_link', `{"add":["${ID}"],"remove":[]}`, { add: [ID], remove: [] }, { multiple: true }],
	['picture', 'https://example.com/a.png', 'https://example.com/a.png'],
	['file', [{ filename: 'a' }], [{ filename: 'a' }]],
	['text', 9007199254740991, '9007199254740991'],
	['text', 1e-7, '1e-7'],
	['text', 5n, '5'],
	['number', '7.0', 7],
	['number', '-0', 0],
	['number', -0, 0],
	['number', 12n, 12],
	['decimal', 0.1 + 0.2, 0.30000000000000004],
	['decimal', '0.30000000000000004', 0.30000000000000004],
	['decimal', '000123.4500', 123.45],
	['decimal', '1000000000000000000000', 1e21],
	['decimal', '5e-324', 5e-324],
	['date', '2026-11-21Z', MIDNIGHT],
	['date', '2026-11-21 23:30:00Z', '2026-11-21T23:30:00Z'],
	['datetime', '2025-12-31Z', '2025-12-31T00:00:00Z'],
	['dropdownmulti', [5n], ['5']],
	['dropdownmulti', '[12345678901234567890,0.5]', ['12345678901234567890', '0.5']],
	['money_with_currency', '{"amount":-1234567890.12345,"currency":"EUR"}', { amount: -1234567890.12345, currency: 'EUR' }],
	['money_with_currency', { amount: 1, currency: 'EUR', date: '2021-05-06T00:00:00' }, { amount: 1, currency: 'EUR', date: '2021-05-06' }],
	['file', { remove: ['id-1'] }, { remove: ['id-1'] }],
];

test.each(accepted)('%s takes %j', (...[type, value, sent, metadata]) => {
	expect(convert(type, value, metadata)).toEqual({ value: sent });
});

const refused: Array<[type: string, value: unknown, problem: string, metadata?: FieldMetadata]> = [
	['text', { a: 1 }, 'accepts text, not a list or an object'],
	['text', ['a'], 'accepts text, not a list or an object'],
	['text', 'abcd', 'accepts at most 3 characters, this has more', { maxLength: 3 }],
	['text', '😀👍🏽e\u0301\r\n', 'accepts at most 2 characters, this has more', { maxLength: 2 }],
	['text', ' a b', 'accepts at most 2 characters, this has more', { maxLength: 2 }],
	['text', 'a', 'accepts at most 0 characters, this has more', { maxLength: 0 }],
	['text', 'x'.repeat(4e6), 'accepts at most 9 characters, this has more', { maxLength: 9 }],
	['number', 'seven', 'accepts a number, not "seven"'],
	['number', '7,5', 'accepts a number, not "7,5"'],
	['number', '0x10', 'accepts a number, not "0x10"'],
	['number', '.', 'accepts a number, not "."'],
	['number', true, 'accepts a number, not true'],
	['number', 7.5, 'accepts a whole number, not 7.5'],
	['number', '1e400', 'accepts a number, not "1e400"'],
	['number', '9'.repeat(400), `accepts a number, not "${'9'.repeat(56)}…`],
	['number', Number.NaN, 'accepts a number, not NaN'],
	['number', Infinity, 'accepts a number, not Infinity'],
	['number', '9007199254740993', 'accepts a whole number, not "9007199254740993"'],
	['number', -1, 'must be at least 0, not -1', { min: 0 }],
	['number', 151, 'must be at most 150, not 151', { max: 150 }],
	['decimal', { amount: 1 }, 'accepts a number, not {"amount":1}'],
	['checkbox', 1, 'accepts true or false, not 1'],
	['checkbox', 'yes', 'accepts true or false, not "yes"'],
	['checkbox', 'constructor', 'accepts true or false, not "constructor"'],
	...['2026-02-30', '31.02.1990', '30/02/26', '31-Feb-1990', '29 feb 2027', '1990/4/31', '19900231'].flatMap(
		(day): Array<[string, unknown, string]> => [
			['date', day, `accepts a date, but there is no ${day}`],
			['datetime', ` ${day}`, `accepts a date, but there is no ${day}`],
		],
	),
	['datetime', '31.02.1990 09:30', 'accepts a date, but there is no 31.02.1990'],
	['datetime', '2026-02-30T09:30:00Z', 'accepts a date, but there is no 2026-02-30'],
	...['31.13.1990', '32.12.1990', '00.12.1990', '29.02.00', '31-Xyz-1990', '20261399', '2026-11-3111', '1990-31-02'].map(
		(text): [string, unknown, string] => ['date', text, `accepts a date such as 2026-11-21, not "${text}"`],
	),
	['date', '2026-13-01', 'accepts a date such as 2026-11-21, not "2026-13-01"'],
	['date', '21.11.2026', 'accepts a date such as 2026-11-21, not "21.11.2026"'],
	['date', { toISO: () => null }, 'accepts a date such as 2026-11-21, not an object'],
	['date', new Date(NaN), 'accepts a date such as 2026-11-21, not null'],
	['datetime', new Date(NaN), 'accepts a date and time such as 2026-11-21T09:30:00Z, not null'],
	['date', 20261121, 'accepts a date such as 2026-11-21, not 20261121'],
	['datetime', '09:30', 'accepts a date and time such as 2026-11-21T09:30:00Z, not "09:30"'],
	['datetime', '2026-11-21T25:00', expect.stringContaining('accepts a date and time')],
	['dropdownmulti', [{ a: 1 }], 'accepts a list of texts, not [{"a":1}]'],
	['dropdownmulti', [null], 'accepts a list of texts, not [null]'],
	['money_with_currency', 5, expect.stringContaining('accepts an object such as')],
	['money_with_currency', { amount: 5 }, expect.stringContaining('"currency":"EUR"')],
	['money_with_currency', { amount: '5', currency: 'EUR' }, `accepts a number as 'amount', not "5"`],
	['url_link', { url: 'x' }, expect.stringContaining('accepts an object such as')],
	['url_link', 5, expect.stringContaining('accepts an object such as')],
	['chat', 'hello', expect.stringContaining('{"messages":[…]}')],
	['schema_link', 5, 'accepts the id of one record, not 5'],
	['schema_link', { name: 'Acorn' }, 'accepts the id of one record, not {"name":"Acorn"}'],
	['schema_link', ['a', 'b'], 'accepts the id of one record, not ["a","b"]'],
	['schema_link', 'Acorn Ltd', 'accepts the id of one record, not "Acorn Ltd"'],
	['schema_link', `{${ID}}`, `accepts the id of one record, not "{${ID}}"`],
	['schema_link', [ID, 'Acorn'], expect.stringContaining('accepts record ids'), { multiple: true }],
	['schema_link', { add: [ID], remove: ['Acorn'] }, expect.stringContaining('accepts record ids'), { multiple: true }],
	['schema_link', 'Acorn', expect.stringContaining('accepts {"id":"…"}'), { multiple: undefined }],
	['schema_link', [1], expect.stringContaining('accepts record ids'), { multiple: true }],
	['schema_link', { a: 1 }, expect.stringContaining('accepts record ids'), { multiple: true }],
	['schema_link', ID, expect.stringContaining('may link to one record or to many'), { multiple: undefined }],
	['schema_link', { count: 1 }, expect.stringContaining('accepts {"id":"…"}, a list'), { multiple: undefined }],
	['picture', 5, expect.stringContaining('accepts a web address')],
	['text', Number.NaN, 'accepts text, not NaN'],
	['text', -Infinity, 'accepts text, not -Infinity'],
	['text', () => 1, expect.stringContaining('accepts text, not ()')],
	['text', 12345678901234567890, expect.stringContaining('may have lost digits')],
	['decimal', '12345678901234567890.12', expect.stringContaining('would become')],
	['decimal', '0.1000000000000000000001', expect.stringContaining('would become 0.1')],
	[
		'money_with_currency',
		'{"amount":9007199254740993,"currency":"EUR"}',
		'accepts a number of about 15 digits at most as \'amount\', not "9007199254740993"',
	],
	['money_with_currency', '{"amount":0.1234567890123456789,"currency":"EUR"}', expect.stringContaining('about 15 digits at most')],
	['decimal', '1e-400', expect.stringContaining('would become 0')],
	['number', '1.0000000000000000000001', expect.stringContaining('would become 1')],
	['percentage', 'NaN', 'accepts a number, not "NaN"'],
	['money', '1.5 EUR', 'accepts a number, not "1.5 EUR"'],
	['money', 9.989, 'accepts two decimals at most, not 9.989'],
	['datetime', '9999-12-31T23:30:00-05:00', expect.stringContaining('accepts a date and time')],
	['datetime', '2026-10-25T02:30:00', 'is a time that occurs twice in Europe/Berlin: 2026-10-25T02:30:00', BERLIN],
	['datetime', '2026-03-29T02:30:00', 'is a time that the clocks skip in Europe/Berlin: 2026-03-29T02:30:00', BERLIN],
	['date', '2026-11-21xyz', 'accepts a date such as 2026-11-21, not "2026-11-21xyz"'],
	['date', '2026-11-21T24:00:00Z', expect.stringContaining('accepts a date')],
	['date', '2026-11-21T24:00', expect.stringContaining('accepts a date')],
	['datetime', '2026-11-21T24:00:00+01:00', expect.stringContaining('accepts a date and time')],
	['date', '2026-11-21T99:99Z', 'accepts a date such as 2026-11-21, not "2026-11-21T99:99Z"'],
	['date', '2026-11-21T00:00+99:00', expect.stringContaining('accepts a date')],
	['date', '2026-02-30T10:00:00Z', expect.stringContaining('accepts a date')],
	['datetime', '2026-11-21T09:30:00Zx', expect.stringContaining('accepts a date and time')],
	['datetime', '2026-02-30Z', 'accepts a date, but there is no 2026-02-30'],
	['chips', ['a', { b: 1 }], 'accepts a list of texts, not ["a",{"b":1}]'],
	['chips', { a: 1 }, 'accepts a list of texts, not {"a":1}'],
	['chips', [Number.NaN], 'accepts a list of texts, not a list'],
	['chips', [['a']], 'accepts a list of texts, not [["a"]]'],
	['money_with_currency', { amount: NaN, currency: 'EUR' }, expect.stringContaining('accepts an object')],
	['money_with_currency', { amount: 1, currency: 5 }, "accepts text as 'currency', not 5"],
	['money_with_currency', { amount: 1, currency: 'EUR', date: 'soon' }, expect.stringContaining("as 'date'")],
	['url_link', { href: 5 }, "accepts text as 'href', not 5"],
	['url_link', { href: 'x', description: {} }, "accepts text as 'description', not {}"],
	['checklist', { lists: 'a' }, `accepts a list of objects as 'lists', not "a"`],
	['checklist', { lists: [5] }, `accepts a list of objects as 'lists', not [5]`],
	['chat', { messages: { text: 'a' } }, expect.stringContaining("as 'messages'")],
	['schema_link', { id: '' }, 'accepts the id of one record, not {"id":""}'],
	['schema_link', ['a', ''], expect.stringContaining('accepts record ids'), { multiple: true }],
	['file', [5], expect.stringContaining('accepts a web address')],
	['file', { add: 'x' }, expect.stringContaining('accepts a web address')],
	['calculated', 'x', 'is read-only'],
	['file', { fileId: 'x' }, expect.stringContaining('accepts a web address')],
];

test.each(refused)('%s does not take %j', (...[type, value, problem, metadata]) => {
	expect(convert(type, value, metadata)).toEqual({ problem });
});

test('a long text of digits with one letter at its end is refused at once', () => {
	expect(convert('number', `${'1'.repeat(1_000_000)}x`)).toEqual({ problem: expect.stringContaining('accepts a number, not "111') });
});

test.each(['', null, []])('%j is empty: left, cleared or an error as asked', (value) => {
	const field = fieldOf('f', 'number');
	expect(toFieldValue(field, value, 'leave')).toBe('leave');
	expect(toFieldValue(field, value, 'clear')).toEqual({ value: null });
	expect(toFieldValue(field, value, 'error')).toEqual({ problem: 'is empty' });
});

test.each([0, false, ' '])('%j is not empty', (value) => {
	expect(toFieldValue(fieldOf('f'), value, 'error')).toEqual({ value: String(value) });
});

test('undefined is never sent, whatever empty values mean', () => {
	expect(toFieldValue(fieldOf('f'), undefined, 'clear')).toBe('leave');
	expect(toFieldValue(fieldOf('f'), undefined, 'error')).toBe('leave');
});

test('a value in a message is cut to 60 characters', () => {
	expect(showValue('a'.repeat(100))).toBe(`"${'a'.repeat(56)}…`);
	expect(showValue(undefined)).toBe('undefined');
});

type Held = [type: string, stored: JsonValue, sent: JsonValue, holds: boolean | undefined];

const held: Held[] = [
	['text', 'a', 'a', true],
	['text', 'a', 'A', false],
	['text', null, '', true],
	['text', 'a', null, false],
	['text', null, 'a', false],
	['number', 0, null, false],
	['number', 0, 0, true],
	['checkbox', false, null, undefined],
	['date', '2026-11-21', '2026-11-21', true],
	['date', '2026-11-21T00:00:00+01:00', '2026-11-21', true],
	['date', '2026-11-21', '2026-11-22', false],
	['date', '2026-11-21', '2026-11-21T23:00:00Z', undefined],
	['datetime', '2026-11-21T09:30:00Z', '2026-11-21T10:30:00+01:00', true],
	['datetime', '2026-11-21T09:30:00Z', '2026-11-21T09:30:01Z', false],
	['datetime', '2026-11-21T09:30:00Z', '2026-11-21T09:30:00', undefined],
	['datetime', '2026-11-21T09:30:00', '2026-11-21T09:30:00', true],
	['dropdownmulti', ['a', 'b'], ['b', 'a'], undefined],
	['chips', ['a'], ['a', 'b'], false],
	['money_with_currency', { amount: 1, currency: 'EUR', date: 'd' }, { amount: 1 }, undefined],
	['money_with_currency', { amount: 1 }, { amount: 1, currency: 'EUR' }, false],
	['url_link', { href: 'x', description: null }, { href: 'x' }, true],
	['schema_link', { id: 'a', url: '/x' }, { id: 'a' }, true],
	['schema_link', { id: 'a' }, { id: 'b' }, false],
	['picture', [{ fileId: 'a' }], 'https://example.com/a.png', undefined],
	['picture', [], null, true],
	['file', null, [{ filename: 'a' }], false],
	['file', [], { remove: ['a'] }, undefined],
	['file', [{ fileId: 'a' }], { remove: ['a'] }, false],
	['file', [{ fileId: 'b' }], { remove: ['a'] }, undefined],
	['text', 'a', 'a ', false],
	['text', 7, '7', undefined],
	['a type of tomorrow', 'x', 'x', true],
	['a type of tomorrow', 'x', 'y', undefined],
	['a type of tomorrow', { a: 1 }, 'x', undefined],
	['number', 1, 2, false],
	['number', '1', 1, true],
	['decimal', '1.50', 1.5, true],
	['decimal', 0.3, 0.30000000000000004, false],
	['decimal', 'much', 1, undefined],
	['checkbox', true, true, true],
	['checkbox', false, true, false],
	['checkbox', 'true', true, undefined],
	['checkbox', null, false, undefined],
	['checkbox', null, true, false],
	['date', '2026-11-21xyz', '2026-11-21', undefined],
	['date', '2026-11-21T00:00:00Z', '2026-11-21', true],
	['date', '2026-11-22', '2026-11-21T23:00:00Z', undefined],
	['datetime', '2026-11-21T09:30:00', '2026-11-21T09:31:00', undefined],
	['datetime', '2026-11-21T09:30', '2026-11-21T09:30:00.000', true],
	['datetime', '2026-11-21T09:30:00.1230Z', '2026-11-21T09:30:00.123Z', true],
	['datetime', 'xyz', '2026-11-21T09:30:00Z', undefined],
	['chips', ['a', 'b'], ['a', 'b'], true],
	['chips', ['a', 'b'], ['a'], false],
	['chips', ['a', 'b'], ['b', 'c'], false],
	['chips', ['a', 'a'], ['a'], undefined],
	['chips', ['a', 'b', 'b'], ['a', 'a', 'b'], undefined],
	['chips', 'a', ['a'], undefined],
	['money_with_currency', { amount: 1, currency: 'EUR' }, { amount: 1, currency: 'EUR' }, true],
	['money_with_currency', { amount: 1, currency: 'EUR' }, { amount: 1, currency: 'USD' }, false],
	['money_with_currency', { amount: 1, currency: 'EUR' }, { amount: 2, currency: 'EUR' }, false],
	[
		'money_with_currency',
		{ amount: 1, currency: 'EUR', date: '2021-05-06T00:00:00' },
		{ amount: 1, currency: 'EUR', date: '2021-05-06' },
		true,
	],
	['money_with_currency', { amount: 1, currency: 'EUR' }, { amount: 1, currency: 'EUR', date: '2021-05-06' }, false],
	['url_link', { href: 'x', description: 'd' }, { href: 'x' }, undefined],
	['url_link', { href: 'x' }, { href: 'x', description: 'd' }, false],
	['url_link', { href: 'x' }, { href: 'y' }, false],
	['url_link', { href: 'x', title: 't' }, { href: 'x' }, undefined],
	['schema_link', { id: 'A' }, { id: 'a' }, undefined],
	['schema_link', 'a', { id: 'a' }, true],
	['schema_link', null, { id: 'a' }, false],
	['chat', { messages: [] }, { messages: [] }, true],
];

test.each(held)('%s: stored %j, sent %j: holds it %s', (type, stored, sent, holds) => {
	expect(holdsValue(fieldOf('f', type), stored, sent)).toBe(holds);
});

test('a link to many holds nothing when it counts none, and cannot be compared otherwise', () => {
	const field = fieldOf('f', 'schema_link', { multiple: true });
	expect(holdsValue(field, { count: 0, url: '/x' }, null)).toBe(true);
	expect(holdsValue(field, { count: 2, url: '/x' }, null)).toBe(false);
	expect(holdsValue(field, { count: 2, url: '/x' }, { add: ['a'] })).toBeUndefined();
	expect(holdsValue(field, { count: 0, url: '/x' }, { remove: ['a'] })).toBeUndefined();
});

describe('checklists and chats', () => {
	const stored: JsonValue = { lists: [{ id: 'l', header: 'h', items: [{ id: '1', header: 'a', checked: true }] }], progress: 1 };

	test.each<[JsonValue, boolean | undefined]>([
		[stored, true],
		[{ lists: [{ header: 'h', items: [{ header: 'a', checked: true }] }] }, undefined],
		[{ lists: [{ header: 'h', items: [{ header: 'b', checked: true }] }] }, undefined],
		[{ lists: [] }, undefined],
	])('%j: holds it %s', (sent, holds) => {
		expect(holdsValue(fieldOf('f', 'checklist'), stored, sent)).toBe(holds);
	});

	const message = { id: '1', author: 'x', text: 'Hello' };
	const chat = { lastChange: '2026-11-21T09:30:00Z', messages: [message] };
	test.each<[JsonValue, boolean | undefined]>([
		[chat, true],
		[{ messages: [{ text: 'Hello' }] }, undefined],
		[{ messages: [{ ...message, text: 'Bye' }] }, false],
		[{ messages: [message, message] }, undefined],
	])('%j: holds it %s', (sent, holds) => {
		expect(holdsValue(fieldOf('f', 'chat'), chat, sent)).toBe(holds);
	});
});

test.each<[JsonValue, boolean]>([
	[{ messages: [{ text: 'Hello' }] }, true],
	[{ messages: [] }, false],
	[null, false],
	['Hello', false],
])('a chat with %j: sent twice, it appears twice: %s', (sent, isAppended) => {
	const fields = [fieldOf('log', 'chat'), fieldOf('name')];
	expect(appendedFields(fields, { log: sent, name: 'a' })).toEqual(isAppended ? ['log'] : []);
});

test.each([
	['  Ann \t\n Fox ', 'ann fox'],
	['Ann\u200b Fox', 'ann fox'],
	['ＡＮＮ', 'ann'],
	['e\u0301', '\u00e9'],
])('people read %j as %j', (text, visible) => {
	expect(visibleText(text)).toBe(visible);
});

test("a time without a zone can't be a key; a text always can, a list has no reason of its own", () => {
	const problemOf = (type: string, value: JsonValue) => keyProblem(fieldOf('f', type), value, () => '$json.x');
	expect(problemOf('datetime', '2026-11-21T09:30:00')).toMatch(/^accepts a time with a zone/);
	expect(problemOf('datetime', '2026-11-21T09:30:00Z')).toBeUndefined();
	expect([problemOf('text', 'a'), problemOf('chips', ['a'])]).toEqual([undefined, undefined]);
});

test('keys of several fields are the same only if each of their values is', () => {
	const fields = [fieldOf('one'), fieldOf('two')];
	const keys = [
		['a', 'b, c'],
		['a, b', 'c'],
		['a", "b', 'c'],
		['a', 'b", "c'],
	].map(([one, two]) => recordKey(fields, { one: one!, two: two! })?.text);
	expect(new Set(keys).size).toBe(4);
});

test('a value that holds itself is refused, not followed', () => {
	const endless: Record<string, unknown> = { href: 'x' };
	endless.self = endless;
	expect(convert('url_link', endless)).toEqual({ problem: expect.stringContaining('an object') });
});
