/** The file of rejected rows: its lines, and how they are recognized when they come back. */
import { addedColumns, RejectedLines, withoutAdded } from '../../../nodes/DataPlatform/rows/rejectedRows.ts';
import type { FileRow } from '../../../nodes/DataPlatform/rows/readRows.ts';
import type { Encoding } from '../../../nodes/DataPlatform/rows/decodeText.ts';

const formOf = (formulaGuard: boolean, encoding: Encoding = 'auto') => ({ formulaGuard, encoding });

const ADDED = ['error', 'field', 'row'];
const noField = () => false;

describe('the header', () => {
	test.each<[string[], string]>([
		[['a', 'b'], 'a,b,error,field,row'],
		[['a', 'error'], 'a,error,error_,field,row'],
		[['Row', 'FIELD', 'error', 'error_'], 'Row,FIELD,error,error_,error__,field_,row_'],
		[['a,b', 'c"d'], '"a,b","c""d",error,field,row'],
		[[''], ',error,field,row'],
		// Rejected again: what was added before is replaced.
		[['a', ...ADDED], 'a,error,field,row'],
	])('%j', (header, line) => {
		const lines = new RejectedLines(header, ',', formOf(true), noField);
		expect(lines.beginning()).toBe(`\ufeff${line}\r\n`);
	});

	test.each<[boolean, string]>([
		[true, "'=a,''@b,error"],
		[false, "=a,'@b,error"],
	])('with names that look like formulas, guard %s', (hasGuard, beginning) => {
		const lines = new RejectedLines(['=a', "'@b"], ',', formOf(hasGuard), noField);
		expect(lines.beginning()).toContain(`\ufeff${beginning}`);
	});

	test.each<[Encoding, string]>([
		['auto', ''],
		['utf-8', ''],
		['windows-1252', '\ufeff'],
		['utf-16le', '\ufeff'],
	])('of NDJSON, if the encoding is %s', (encoding, beginning) => {
		expect(new RejectedLines([], ',', formOf(true, encoding), noField).beginning()).toBe(beginning);
	});

	test.each<[header: string[], fields: string[], count: number]>([
		[['a', ...ADDED], [], 3],
		[ADDED, [], 3],
		[['a', 'error', 'error_', 'field', 'row'], ['error'], 3],
		[['a', 'error', 'field', 'row', 'error_', 'field_', 'row_'], [], 3],
		// The file's own columns.
		[['a', ...ADDED], ['row'], 0],
		[['a', ...ADDED], ADDED, 0],
		[['a', 'row', 'field', 'error'], [], 0],
		[['error', 'field', 'row', 'a'], [], 0],
		[['a', 'error', 'field'], [], 0],
		[['error', 'field'], [], 0],
		[['error', 'error__', 'field', 'row'], [], 0],
		[['a', 'error_', 'field', 'row'], [], 0],
		[['a', 'Error', 'Field', 'Row'], [], 0],
		[[], [], 0],
	])('%j, where %j are fields, has %d that were added', (header, fields, count) => {
		expect(addedColumns(header, (name) => fields.includes(name))).toBe(count);
	});
});

test.each<[values: Record<string, unknown>, fields: string[], rest: Record<string, unknown>]>([
	[{ a: 1, error: 'x', field: 'a', row: 5 }, [], { a: 1 }],
	[{ error: 'x', field: '', row: 5 }, [], {}],
	[{ error: 'own', error_: 'x', field: '', row: 5 }, ['error'], { error: 'own' }],
	// Its own keys.
	[{ a: 1, error: 'x', field: 'a', row: 'five' }, [], { a: 1, error: 'x', field: 'a', row: 'five' }],
	[{ a: 1, error: 'x', field: 'a', row: 1.5 }, [], { a: 1, error: 'x', field: 'a', row: 1.5 }],
	[{ a: 1, error: 'x', field: 'a', row: 5 }, ['row'], { a: 1, error: 'x', field: 'a', row: 5 }],
	[{ row: 5, error: 'x', field: 'a' }, [], { row: 5, error: 'x', field: 'a' }],
	[{}, [], {}],
])('an NDJSON object loses what was added to it, unless it is a field: %j, where %j are fields', (values, fields, rest) => {
	expect(withoutAdded(values, (name) => fields.includes(name))).toEqual(rest);
});

describe('a line', () => {
	const csv = (cells: string[], problem?: string): FileRow => ({ row: 7, cells, problem });
	const json = (line: string): FileRow => ({ row: 7, line, values: JSON.parse(line) as Record<string, unknown> });

	test.each<[string, FileRow, string]>([
		['as it came', csv(['1', 'x']), '1,x,wrong,b,7\r\n'],
		['too short', csv(['1']), '1,,wrong,b,7\r\n'],
		['too long', csv(['1', 'x', 'y', 'z,z']), '1,x,"wrong; the cells after the last column: y,""z,z""",b,7\r\n'],
		['with quotes and line ends', csv(['1', 'a"b\nc']), '1,"a""b\nc",wrong,b,7\r\n'],
		['what looks like a formula stays', csv(['=1', "'=1"]), "=1,'=1,wrong,b,7\r\n"],
		['of NDJSON', json('{"a":1}'), '{"a":1,"error":"wrong","field":"b","row":7}\n'],
		[
			'of NDJSON, with all digits',
			json('{"a":"12345678901234567890.10"}'),
			'{"a":"12345678901234567890.10","error":"wrong","field":"b","row":7}\n',
		],
		['of NDJSON, empty', json('{}'), '{"error":"wrong","field":"b","row":7}\n'],
		['of NDJSON, with such names', json('{"error":1,"row":2}'), '{"error":1,"row":2,"error_":"wrong","field":"b","row_":7}\n'],
		[
			'of NDJSON, rejected once more',
			json('{"a":{"b":[1,","],"c":"}"},"d":"\\",","error":"old","field":"d","row":3}'),
			'{"a":{"b":[1,","],"c":"}"},"d":"\\",","error":"wrong","field":"b","row":7}\n',
		],
		[
			'of NDJSON, rejected once more, with one value',
			json('{"a":1,"error":"old","field":"d","row":3}'),
			'{"a":1,"error":"wrong","field":"b","row":7}\n',
		],
		[
			'of NDJSON, with nothing but what was added',
			json('{"error":{"code":1,"text":"old"},"field":"d","row":3}'),
			'{"error":"wrong","field":"b","row":7}\n',
		],
		['that is no JSON', { row: 7, line: 'a "b"', problem: 'is no JSON' }, '{"line":"a \\"b\\"","error":"wrong","field":"b","row":7}\n'],
	])('%s', (_, row, line) => {
		const lines = new RejectedLines(['a', 'b'], ',', formOf(true), noField);
		expect(lines.line(row, { message: 'wrong', field: 'b' })).toBe(line);
	});

	test.each<[boolean, string]>([
		[true, "1,x,'=wrong,'=b,7\r\n"],
		[false, '1,x,=wrong,=b,7\r\n'],
	])('a reason that looks like a formula, guard %s', (hasGuard, line) => {
		const lines = new RejectedLines(['a', 'b'], ',', formOf(hasGuard), noField);
		expect(lines.line(csv(['1', 'x']), { message: '=wrong', field: '=b' })).toBe(line);
	});

	test('with another delimiter', () => {
		const lines = new RejectedLines(['a', 'b'], ';', formOf(true), noField);
		expect(lines.line(csv(['1,5', 'x;y', 'z']), { message: 'wrong' })).toBe('1,5;"x;y";"wrong; the cells after the last column: z";;7\r\n');
	});
});
