/** The expression that an error offers for a value in another format. Evaluated as n8n does. */
import { DateTime } from 'luxon';
import { fieldOf, people, planRecords, tableOf } from '../fixtures.cts';
import { timeReader } from '../../../nodes/DataPlatform/fields/dateFormat.ts';
import { remedyOf, toFieldValue } from '../../../nodes/DataPlatform/fields/values.ts';

const remedy = (type: string, value: unknown, source: string | undefined = '$json.x') => remedyOf(fieldOf('x', type), value, source);

/** What the expressions in a text return. Where n8n meets a TypeError, an expression returns nothing. */
const evaluate = (text: string, x: unknown): unknown[] =>
	[...text.matchAll(/\{\{ (.*?) \}\}(?! \})/g)].map(([, code]) => {
		try {
			return (new Function('$json', 'DateTime', `return ${code}`) as (...given: unknown[]) => unknown)({ x }, DateTime);
		} catch (error) {
			if (error instanceof TypeError) return undefined;
			throw error;
		}
	});

describe('the expression turns', () => {
	test.each<[type: string, value: unknown, result: unknown]>([
		['date', '31.12.1990', '1990-12-31'],
		['date', ' 31.12.1990 ', '1990-12-31'],
		['date', '12/31/1990', '1990-12-31'],
		['date', '31/12/1990', '1990-12-31'],
		['date', '31-1-1990', '1990-01-31'],
		['date', '1990/12/31', '1990-12-31'],
		['date', '1990-1-2', '1990-01-02'],
		['date', '31.12.1990 9:05', '1990-12-31'],
		['date', '12/31/1990, 09:05:30 pm', '1990-12-31'],
		['datetime', '31.12.1990', '1990-12-31T00:00:00.000+01:00'],
		['datetime', '12/31/1990 9:05 PM', '1990-12-31T21:05:00.000+01:00'],
		['number', '1,5', '1.5'],
		['number', '-0,125', '-0.125'],
		['number', ' 1234,567', '1234.567'],
		['money', '1.234,50', '1234.50'],
		['money', '1 234 567,5', '1234567.5'],
		['money', "1'234,5", '1234.5'],
		['money', '1,234.50', '1234.50'],
		['money', 1.234, '1.23'],
		['checkbox', 'yes', true],
		['checkbox', 'NO', false],
		['checkbox', 'ja', true],
		['checkbox', 1, true],
		['checkbox', '0', false],
		['checkbox', 'X', true],
		['checkbox', 'WAHR', true],
		['checkbox', 'falsch', false],
		['checkbox', 'ano', true],
		['checkbox', 'T', true],
		['checkbox', 'нет', false],
		['date', 1795253415000, '2026-11-21T09:30:15.000Z'],
		['date', '1795253415', '2026-11-21T09:30:15.000Z'],
		['date', '31.01.2026 23:30 +01:00', '2026-01-31T23:30:00.000+01:00'],
		['date', '2026-01-02 00:00:00 UTC', '2026-01-02T00:00:00.000+00:00'],
		['date', 46347, '2026-11-21'],
		['date', '46347.5', '2026-11-21'],
		['datetime', 46347.5, '2026-11-21T12:00:00.000'],
		['datetime', '1795253415', DateTime.fromMillis(1_795_253_415_000).toISO()],
		['datetime', 1_795_253_415_000, DateTime.fromMillis(1_795_253_415_000).toISO()],
		['date', '31.12.90', '1990-12-31'],
		['date', '31-DEC-90', '1990-12-31'],
		['date', '1 Dec 2026', '2026-12-01'],
		['datetime', '31.12.1990 09:05 +0200', '1990-12-31T09:05:00.000+02:00'],
		['datetime', '1990-12-31 09:05:30 UTC', '1990-12-31T09:05:30.000+00:00'],
	])('%s %j', (type, value, result) => {
		expect(evaluate(remedy(type, value), value)).toEqual([result]);
	});

	/** A value that an error is about, for each expression. */
	const REFUSED: Array<[type: string, value: unknown]> = [
		...['31.12.1990', '12/31/1990, 09:05:30 pm', '1-Dec-26', 1795253415, 1795253415000, 46347, ' 31.12.1990'].flatMap(
			(value): Array<[string, unknown]> => [
				['date', value],
				['datetime', value],
			],
		),
		...['1,5', ' 1.234,5', "1'234,5", '1,234.5', '1,234'].map((value): [string, unknown] => ['number', value]),
		['money', 1.234],
		...['yes', ' no', 'X'].map((value): [string, unknown] => ['checkbox', value]),
	];
	const BAD = ['31.02.1990', 'soon', '31.12.1990 noon', '1,2,3', '12 €', 'maybe', { a: 1 }, [1, 2], Symbol.iterator.toString()];

	test.each([' ', [], true, null, undefined, '0x10', '9.9 €', { a: 1 }])('no amount into one: %j', (value) => {
		expect(evaluate(remedy('money', 9.989), value)).toEqual([value]);
	});

	test.each([1795253415, 1795253415000, 46347])('true into no date, beside %j', (number) => {
		for (const type of ['date', 'datetime']) expect(evaluate(remedy(type, number), true)).toEqual([true]);
	});

	test.each(REFUSED)('any other value than such a %s as %j into one that is refused again', (type, value) => {
		const field = fieldOf('x', type);
		for (const bad of BAD) {
			for (const result of evaluate(remedy(type, value), bad)) {
				expect([bad, result, toFieldValue(field, result, 'clear')]).toEqual([bad, result, { problem: expect.any(String) }]);
			}
		}
	});

	test.each(REFUSED.filter(([, value]) => value !== 'X'))('an empty value beside %s %j into an empty one', (type, value) => {
		const field = fieldOf('x', type);
		for (const empty of ['', null, undefined]) {
			for (const result of evaluate(remedy(type, value), empty)) {
				expect(toFieldValue(field, result ?? null, 'leave')).toBe('leave');
			}
		}
	});

	test.each<[type: string, value: unknown, good: unknown]>([
		['date', '31.12.1990', '2026-11-21'],
		['datetime', '31.12.1990', '2026-11-21T09:30:00Z'],
		['datetime', 1795253415, '2026-11-21T09:30:00Z'],
		['date', 46347, '2026-11-21'],
		['number', '1,5', 2.5],
		['number', '1,5', 0],
		['number', '1.234,5', 2.125],
		['money', 1.234, 0],
		['checkbox', 'yes', true],
	])('a value that needs none, beside %s %j, into itself', (type, value, good) => {
		const field = fieldOf('x', type);
		for (const result of evaluate(remedy(type, value), good)) {
			expect(toFieldValue(field, result, 'leave')).toEqual(toFieldValue(field, good, 'leave'));
		}
	});
});

test.each([
	['2026-11-21 09:30:15 +0200', '2026-11-21T09:30:15+02:00'],
	['2026-11-21 09:30:15+02:00', '2026-11-21T09:30:15+02:00'],
	['2026-11-21 09:30 +01', '2026-11-21T09:30:00+01:00'],
	['2026-11-21 09:30 UTC', '2026-11-21T09:30:00+00:00'],
	['2026/11/21 9:30 PM', '2026-11-21T21:30:00'],
	['21.11.26', '2026-11-21'],
	['11/21/26 09:30', '2026-11-21T09:30:00'],
	['21-Nov-26', '2026-11-21'],
	['1 Nov 2026 9:05:00', '2026-11-01T09:05:00'],
	['1795253415', '2026-11-21T09:30:15Z'],
	['1795253415000', '2026-11-21T09:30:15Z'],
	['46347', '2026-11-21'],
	['46347.39600694', '2026-11-21T09:30:15'],
])('in a file, the format that is named for %s reads it', (text, iso) => {
	const [, format] = /^: set 'Values and Formats → Date Format' in the options to (.*)$/.exec(
		remedyOf(fieldOf('x', 'datetime'), text, undefined),
	)!;
	expect(timeReader(format!)(text)).toBe(iso);
});

test.each([
	['born', 'date', '31.12.1990', `'born' accepts a date such as 2026-11-21, not "31.12.1990"`],
	['n', 'number', '1,5', `'n' accepts a number, not "1,5"`],
	['b', 'checkbox', 'yes', `'b' accepts true or false, not "yes"`],
	['m', 'money', 1.234, `'m' accepts two decimals at most, not 1.234`],
])('an agent gets a value as an example, no expression: %s', (name, type, value, message) => {
	const { problems } = planRecords(tableOf(fieldOf(name, type)), [{ index: 0, values: { [name]: value } }], {
		...{ mode: 'create', empty: 'leave', unknownFields: 'error', duplicates: 'merge', sourceOf: () => '' },
	});
	expect(problems).toEqual([{ index: 0, field: name, message }]);
});

describe('a link whose kind nobody knows', () => {
	const ID = '44d70c2e-7a1b-4c55-9d3e-2f8b6a1c0e97';
	const field = { ...fieldOf('x', 'schema_link'), metadata: {} };

	test('has an expression for each kind', () => {
		const [one, many] = evaluate(remedyOf(field, ID, '$json.x'), ID);
		expect([one, many]).toEqual([{ id: ID }, [ID]]);
		expect(evaluate(remedyOf(field, ID, '$json.x'), '')).toEqual(['', '']);
		expect(remedyOf(field, ID, '$json.x')).toMatch(/^: use .* if to one, .* if to many$/);
	});

	test('has a text for each kind in a file, which is refused no more', () => {
		const said = remedyOf(field, ID, undefined);
		expect(said).toBe(': write {"id":"…"} if to one, ["…"] if to many');
		for (const text of [`{"id":"${ID}"}`, `["${ID}"]`]) expect(toFieldValue(field, text, 'clear')).toHaveProperty('value');
	});

	test.each([true, false])('a known kind needs none for an ID: %s', (multiple) => {
		expect(remedyOf(fieldOf('x', 'schema_link', { multiple }), ID, '$json.x')).toBe('');
		expect(remedyOf(fieldOf('x', 'schema_link', { multiple }), 'Ann', '$json.x')).toContain("add 'Link Values' in the options");
	});
});

test.each<[type: string, value: unknown, source: string | undefined, text: string]>([
	['date', '31.12.1990', '$json.birth', ": use {{ DateTime.fromFormat(String($json.birth), 'dd.MM.yyyy').toISODate() ?? $json.birth }}"],
	['date', '31.12.1990', undefined, ": set 'Values and Formats → Date Format' in the options to dd.MM.yyyy"],
	[
		'datetime',
		'31.12.1990 9:05',
		'$json.at',
		": use {{ DateTime.fromFormat(String($json.at), 'dd.MM.yyyy H:mm', {zone: 'Europe/Berlin'}).toISO() ?? $json.at }} with your time zone",
	],
	['number', '1,5', '$json.price', ": use {{ $json.price?.replace?.(',', '.') ?? $json.price }}"],
	['number', '1,5', undefined, ": set 'Values and Formats → Number Format' in the options to 1.234,5"],
	['number', '1,234.5', undefined, ": set 'Values and Formats → Number Format' in the options to 1,234.5"],
	['checkbox', 'No', '$json.news', ": use {{ ({ 'yes': true, 'no': false })[String($json.news).toLowerCase()] ?? $json.news }}"],
	// Ambiguous: both meanings, no guess.
	[
		'date',
		'01/02/2020',
		'$json.d',
		": it is ambiguous: use {{ DateTime.fromFormat(String($json.d), 'dd/MM/yyyy').toISODate() ?? $json.d }} if the day comes first, use {{ DateTime.fromFormat(String($json.d), 'MM/dd/yyyy').toISODate() ?? $json.d }} if the month does",
	],
	[
		'money',
		'1,234',
		'$json.p',
		": it is ambiguous: use {{ $json.p?.replace?.(',', '.') ?? $json.p }} if that is a decimal comma, use {{ $json.p?.replace?.(/,(?=\\d{3}(\\D|$))/g, '') ?? $json.p }} if it groups digits",
	],
	[
		'date',
		'01.02.2020',
		undefined,
		": it is ambiguous: set 'Values and Formats → Date Format' in the options to dd.MM.yyyy if the day comes first, set 'Values and Formats → Date Format' in the options to MM.dd.yyyy if the month does",
	],
	// No clear format: none.
	...['soon', '31.13.1990', '31.02.1990', '29.02.1991', '32.12.1990', '00.12.1990', '31.00.1990', '31.12.1990 noon', '1990/13/31'].map(
		(value): [string, string, string, string] => ['date', value, '$json.d', ''],
	),
	['number', 'abc', '$json.p', ''],
	['number', '1,2,3', '$json.p', ''],
	['number', '12 €', '$json.p', ''],
	['checkbox', 'maybe', '$json.p', ''],
	['checkbox', 'yes', undefined, ''],
	...(['Acorn Ltd', 4711, ['Acorn'], { name: 'Acorn' }] as const).flatMap((value) =>
		['$json.c', undefined].map((source): [string, unknown, string | undefined, string] => [
			...(['schema_link', value, source, ": for names or keys, add 'Link Values' in the options"] as const),
		]),
	),
	['schema_link', ['Acorn'], '', ''],
	['date', { a: 1 }, '$json.d', ''],
	['text', { a: 1 }, '$json.d', ''],
])('for %s %j in %s the error ends with %s', (type, value, source, text) => {
	expect(remedyOf(fieldOf('x', type), value, source)).toBe(text);
});

test.each([
	['age', '12,5', 'item', "$json.Age?.replace?.(',', '.')"],
	['age', '12,5', 'row', "set 'Values and Formats → Number Format' in the options to 1.234,5"],
] as const)('%s %j of an %s', (name, value, unit, text) => {
	const { problems } = planRecords(people, [{ index: 0, values: { surname: 'F', [name]: value } }], {
		...{ mode: 'create', empty: 'leave', unknownFields: 'error', duplicates: 'merge', unit },
		...(unit === 'item' && { sourceOf: () => '$json.Age' }),
	});
	expect(problems[0]!.message).toMatch(/^'age' accepts a number, not "12,5": /);
	expect(problems[0]!.message).toContain(text);
});
