/** The meaning of a file's text: numbers, dates, local times, lists. */
import type { FieldMetadata } from '../../../nodes/DataPlatform/api/types.ts';
import type { CellFormat } from '../../../nodes/DataPlatform/fields/fieldType.ts';
import { fieldType } from '../../../nodes/DataPlatform/fields/index.ts';
import { timeReader, zoneOf } from '../../../nodes/DataPlatform/fields/dateFormat.ts';
import { fieldOf } from '../fixtures.cts';

const parse = (type: string, text: string, form: Partial<CellFormat> = {}, metadata: FieldMetadata = {}) =>
	fieldType(fieldOf('f', type, metadata)).parse(text, { numbers: 'plain', listSeparator: '', ...form });

describe('a number', () => {
	test.each<[form: CellFormat['numbers'], text: string, value: string]>([
		['plain', ' 1234.5 ', '1234.5'],
		['plain', '1,234', '1,234'],
		['point', '1,234.5', '1234.5'],
		['point', ' -1,234,567 ', '-1234567'],
		['point', '+12,345.', '+12345.'],
		['point', '1234.5', '1234.5'],
		['point', '1,23', '1,23'],
		['point', '1,2345', '1,2345'],
		['point', '1234,567', '1234,567'],
		['point', 'a1,234', 'a1,234'],
		['point', '1,234a', '1,234a'],
		['comma', '1.234,5', '1234.5'],
		['comma', '-1.234.567,89', '-1234567.89'],
		['comma', '1 234 567', '1234567'],
		['comma', '1\u00a0234,5', '1234.5'],
		['comma', '1\u202f234,5', '1234.5'],
		['comma', "1'234,5", '1234.5'],
		['comma', '+1.234,', '+1234.'],
		['comma', '1234,5', '1234.5'],
		['comma', '-,5', '-.5'],
		['comma', '5,', '5.'],
		['comma', ' 7 ', '7'],
		['comma', '1,5e-3', '1.5e-3'],
		['comma', '1E+10', '1E+10'],
	])('%s: %j is %j', (numbers, text, value) => {
		for (const type of ['number', 'decimal', 'money', 'percentage']) {
			expect(parse(type, text, { numbers })).toEqual({ value });
		}
	});

	test.each([
		'1.5',
		'1.23',
		'1.2345',
		'1.234 567',
		'1.234.56',
		'1234.567,8',
		'1,2,3',
		'a1,5',
		'1,5a',
		'a5,',
		'5,a',
		'1.234x',
		'x1.234',
		',',
		'much',
	])('%j has no decimal comma: it is refused, not guessed', (text) => {
		expect(parse('decimal', text, { numbers: 'comma' })).toEqual({ problem: `accepts a number with a decimal comma, not "${text}"` });
	});
});

test.each<[string, unknown]>([
	['true', true],
	[' TRUE ', true],
	['yes', true],
	['Y', true],
	['on', true],
	['1', true],
	['false', false],
	['No', false],
	['n', false],
	['off', false],
	['0', false],
	['WAHR', true],
	['nein', false],
	['X', true],
	['ano', true],
	['f', false],
	[' ', ' '],
	['maybe', 'maybe'],
	['constructor', 'constructor'],
])('the text %j for a checkbox is %j', (text, value) => {
	expect(parse('checkbox', text)).toEqual({ value });
});

describe('a list', () => {
	test.each<[string, string, unknown]>([
		['a; b ;;c', ';', ['a', 'b', 'c']],
		['a', ';', ['a']],
		['a;b', '', 'a;b'],
		['["a;b","c"]', ';', ['a;b', 'c']],
		['[broken;x', ';', ['[broken', 'x']],
		[';', ';', []],
	])('%j, separated by %j: %j', (text, listSeparator, value) => {
		for (const type of ['chips', 'dropdownmulti']) {
			expect(parse(type, text, { listSeparator })).toEqual({ value });
		}
		expect(parse('schema_link', text, { listSeparator }, { multiple: true })).toEqual({ value });
	});

	test.each(['schema_link', 'file', 'url_link', 'checklist', 'chat', 'money_with_currency'])(
		'%s does not hold a list of texts: JSON is read, other text stays',
		(type) => {
			expect(parse(type, 'a;b', { listSeparator: ';' })).toEqual({ value: 'a;b' });
			expect(parse(type, ' {"a":1}', { listSeparator: ';' })).toEqual({ value: { a: 1 } });
		},
	);

	test.each(['text', 'long_text', 'dropdown', 'unknown', 'a type of tomorrow'])('text of %s is as it stands', (type) => {
		expect(parse(type, ' ["a"] ', { listSeparator: ';' })).toEqual({ value: ' ["a"] ' });
	});
});

describe('a date in a format that the user sets', () => {
	test.each<[form: string, text: string, value: string]>([
		['dd.MM.yyyy', '21.11.2026', '2026-11-21'],
		[' dd.MM.yyyy ', ' 21.11.2026 ', '2026-11-21'],
		['d.M.yyyy', '1.2.2026', '2026-02-01'],
		['d.M.yyyy', '21.12.2026', '2026-12-21'],
		['MM/dd/yyyy', '11/21/2026', '2026-11-21'],
		['yyyyMMdd', '20261121', '2026-11-21'],
		['yyyy-MM-ddTHH:mm:ss', '2026-11-21T09:30:15', '2026-11-21T09:30:15'],
		['dd.MM.yyyy HH:mm', '21.11.2026 09:30', '2026-11-21T09:30:00'],
		['dd.MM.yyyy HH:mm', '21.11.2026 21:30', '2026-11-21T21:30:00'],
		['dd.MM.yyyy HH:mm', '21.11.2026 12:30', '2026-11-21T12:30:00'],
		['dd.MM.yyyy HH:mm', '21.11.2026 00:30', '2026-11-21T00:30:00'],
		['dd.MM.yyyy HH:mm', '21.11.2026', '2026-11-21'],
		[' dd.MM.yyyy HH:mm', '21.11.2026', '2026-11-21'],
		['dd.MM.yyyy, HH:mm', '21.11.2026', '2026-11-21'],
		['dd.MM.yyyyTHH:mm', '21.11.2026', '2026-11-21'],
		['dd.MM.yyyy H:mm', '21.11.2026 9:05', '2026-11-21T09:05:00'],
		['dd.MM.yyyy H:mm', '21.11.2026', '2026-11-21'],
		['dd.MM.yyyy HH', '21.11.2026 09', '2026-11-21T09:00:00'],
		['dd.MM.yyyy HH:mm:ss.SSS', '21.11.2026 09:30:15.1', '2026-11-21T09:30:15.100'],
		['dd.MM.yyyy HH:mm:ss.SSS', '21.11.2026 09:30:15.123456789', '2026-11-21T09:30:15.123'],
		['MM/dd/yyyy hh:mm a', '11/21/2026 09:30 PM', '2026-11-21T21:30:00'],
		['MM/dd/yyyy hh:mm a', '11/21/2026 09:30 am', '2026-11-21T09:30:00'],
		['MM/dd/yyyy hh:mm a', '11/21/2026 12:00 AM', '2026-11-21T00:00:00'],
		['MM/dd/yyyy hh:mm a', '11/21/2026 12:00 p.m.', '2026-11-21T12:00:00'],
		['MM/dd/yyyy h:mm a', '11/21/2026 1:00 PM', '2026-11-21T13:00:00'],
		['MM/dd/yyyy h:mm a', '11/21/2026', '2026-11-21'],
		['HH:mm dd.MM.yyyy', '09:30 21.11.2026', '2026-11-21T09:30:00'],
		['(yyyy) [MM] dd*', '(2026) [11] 21*', '2026-11-21'],
		['dd|MM|yyyy', '21|11|2026', '2026-11-21'],
		['dd-MM-yyyy', '21-11-2026', '2026-11-21'],
		['dd/MM/yyyy?', '21/11/2026?', '2026-11-21'],
		['yyyy-MM-dd HH:mm:ss ZZZ', '2026-11-21 09:30:15 +0200', '2026-11-21T09:30:15+02:00'],
		['yyyy-MM-dd HH:mm:ss ZZ', '2026-11-21 09:30:15 -03:30', '2026-11-21T09:30:15-03:30'],
		['yyyy-MM-dd HH:mm:ss Z', '2026-11-21 09:30:15 +01', '2026-11-21T09:30:15+01:00'],
		['yyyy-MM-dd HH:mm:ss z', '2026-11-21 09:30:15 UTC', '2026-11-21T09:30:15+00:00'],
		['yyyy-MM-dd HH:mm z', '2026-07-21 09:30 Europe/Berlin', '2026-07-21T09:30:00+02:00'],
		['dd.MM.yy', '21.11.26', '2026-11-21'],
		['M/d/yy', '1/2/99', '1999-01-02'],
		['d MMM yyyy', '1 Nov 2026', '2026-11-01'],
		['dd-MMM-yy', '21-NOV-26', '2026-11-21'],
		['MMMM d, yyyy', 'November 21, 2026', '2026-11-21'],
		['EEE, dd MMM yyyy HH:mm:ss ZZZ', 'Sat, 21 Nov 2026 09:30:15 +0000', '2026-11-21T09:30:15Z'],
		['EEEE d MMMM yyyy', 'Saturday 21 November 2026', '2026-11-21'],
		['M/d/yyyy h:mm a', '11/21/2026 9:30\u202fPM', '2026-11-21T21:30:00'],
		['M/d/yyyy h:mm a', '11/21/2026\u00a09:30\u00a0a.m.', '2026-11-21T09:30:00'],
		['yyyyMMddHHmmss', '20261121093015', '2026-11-21T09:30:15'],
		['X', '1795253415', '2026-11-21T09:30:15Z'],
		['X', '1795253415.25', '2026-11-21T09:30:15.250Z'],
		['x', '1795253415000', '2026-11-21T09:30:15Z'],
		['serial', '46347', '2026-11-21'],
		['serial', '46347.39600694', '2026-11-21T09:30:15'],
	])('%j: %j is %s', (form, text, value) => {
		expect(timeReader(form)(text)).toBe(value);
		expect(parse('date', text, { readTime: timeReader(form) })).toEqual({ value });
	});

	test.each<[form: string, text: string]>([
		['dd.MM.yyyy', '2026-11-21'],
		['dd.MM.yyyy', '21.11.26'],
		['X', '21.11.2026'],
		['x', '-1'],
		['serial', 'x'],
		['EEE dd.MM.yyyy', 'Sun 21.11.2026'],
		['d MMM yyyy', '1 Foo 2026'],
		['dd.MM.yyyy', '31.02.2026'],
		['yyyy-MM-dd HH:mm z', '2026-11-21 09:30 PST8'],
		['dd.MM.yyyy', '1.11.2026'],
		['dd.MM.yyyy', '21x11x2026'],
		['dd.MM.yyyy', '21.11.2026 09:30'],
		['dd.MM.yyyy', 'x21.11.2026'],
		['dd.MM.yyyy', '21.11.2026x'],
		['HH:mm dd.MM.yyyy', '21.11.2026'],
		['HH:mm dd.MM.yyyy', ''],
		['dd.MM.yyyy HH:mm', '21.11.2026 09:30:15'],
		['MM/dd/yyyy hh:mm a', '11/21/2026 09:30'],
		['dd.MM.yyyy H:mm', '21.11.2026 109:30'],
	])('%j: %j is not such a date, and stays as it is', (form, text) => {
		expect(timeReader(form)(text)).toBeUndefined();
		expect(parse('date', text, { readTime: timeReader(form) })).toEqual({ value: text });
	});

	test.each([
		'dd.MM',
		'dd.yyyy',
		'MM.yyyy',
		'DD.MM.yyyy',
		'dd.MM.YYYY',
		'dd.MM.yyyy hh:mm',
		'dd.MM.yyyy HH:mm a',
		'HH:mm',
		'soon',
		"dd.MM'.yyyy",
	])('%j is not a valid format', (form) => {
		expect(() => timeReader(form)).toThrow(
			expect.objectContaining({
				...{ name: 'InputError', message: `"${form}" does not say which day a text means` },
				hint: expect.stringContaining("Use Luxon's tokens: yyyy or yy, "),
			}),
		);
	});

	test.each(['0000-00-00', '0000-00-00 00:00:00', ' 0000-00-00T00:00:00.000Z '])('%s is empty', (text) => {
		for (const type of ['date', 'datetime']) expect(parse(type, text)).toEqual({ value: '' });
	});
});

describe('a time without a zone', () => {
	const berlin = { withZone: zoneOf('Europe/Berlin').toUtc };

	test.each<[zone: string, time: string, value: string]>([
		['Europe/Berlin', '2026-11-21T09:30:00', '2026-11-21T08:30:00Z'],
		['Europe/Berlin', '2026-07-21T09:30:00', '2026-07-21T07:30:00Z'],
		['Europe/Berlin', '2026-07-21T00:30:15', '2026-07-20T22:30:15Z'],
		['Europe/Berlin', '2026-11-21T09:30:00.123456', '2026-11-21T08:30:00.123456Z'],
		['Europe/Berlin', '2026-03-29T01:59:59', '2026-03-29T00:59:59Z'],
		['Europe/Berlin', '2026-03-29T03:00:00', '2026-03-29T01:00:00Z'],
		['Europe/Berlin', '2026-10-25T01:59:59', '2026-10-24T23:59:59Z'],
		['Europe/Berlin', '2026-10-25T03:00:00', '2026-10-25T02:00:00Z'],
		['America/New_York', '2026-11-21T23:30:00', '2026-11-22T04:30:00Z'],
		['Asia/Kathmandu', '2026-01-01T05:45:00', '2026-01-01T00:00:00Z'],
		['Pacific/Kiritimati', '2026-01-01T13:00:00', '2025-12-31T23:00:00Z'],
		['Australia/Lord_Howe', '2026-01-01T11:00:00', '2026-01-01T00:00:00Z'],
		['UTC', '1969-12-31T23:59:59', '1969-12-31T23:59:59Z'],
	])('in %s: %s is %s', (zone, time, value) => {
		const read = zoneOf(zone).toUtc;
		expect(read(time)).toEqual({ value });
		// The second time the value comes from the cache.
		expect(read(time)).toEqual({ value });
	});

	test.each<[string, string]>([
		['2026-03-29T02:00:00', 'skip'],
		['2026-03-29T02:59:59', 'skip'],
		['2026-10-25T02:00:00', 'twice'],
		['2026-10-25T02:59:59', 'twice'],
	])('%s does not stand for one moment in Berlin: %s', (time, kind) => {
		expect(zoneOf('Europe/Berlin').toUtc(time)).toEqual({
			problem:
				kind === 'skip'
					? `is a time that the clocks skip in Europe/Berlin: ${time}`
					: `is a time that occurs twice in Europe/Berlin: ${time}`,
		});
	});

	test('there must be such a zone', () => {
		expect(() => zoneOf('Berlin')).toThrow(
			expect.objectContaining({
				name: 'InputError',
				message: '"Berlin" is not a time zone',
				hint: 'Use a name such as Europe/Berlin or UTC.',
			}),
		);
	});

	test.each<[text: string, value: string]>([
		['2026-11-21 09:30', '2026-11-21T08:30:00Z'],
		['2026-11-21T09:30:15.5', '2026-11-21T08:30:15.5Z'],
		['2026-11-21', '2026-11-20T23:00:00Z'],
		['2026-11-21T09:30:00Z', '2026-11-21T09:30:00Z'],
		['2026-11-21T09:30:00-05:00', '2026-11-21T09:30:00-05:00'],
		['2026-02-30 09:30', '2026-02-30 09:30'],
		['soon', 'soon'],
		[' soon ', 'soon'],
	])('a field of times: %j is %j', (text, value) => {
		expect(parse('datetime', text, berlin)).toEqual({ value });
	});

	test('a format and a zone together, and neither', () => {
		const both = { ...berlin, readTime: timeReader('dd.MM.yyyy HH:mm') };
		expect(parse('datetime', '21.11.2026 09:30', both)).toEqual({ value: '2026-11-21T08:30:00Z' });
		expect(parse('datetime', '21.11.2026', both)).toEqual({ value: '2026-11-20T23:00:00Z' });
		expect(parse('datetime', '2026-11-21 09:30')).toEqual({ value: '2026-11-21 09:30' });
	});

	test('a day has none', () => {
		expect(parse('date', '2026-11-21', berlin)).toEqual({ value: '2026-11-21' });
	});
});
