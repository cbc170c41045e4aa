/** Files of rows in any format, and their rows in portions. */
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { openRows, portionsOf, withRows, type FileRow, type FileFormat } from '../../../nodes/DataPlatform/rows/readRows.ts';
import { decodeText } from '../../../nodes/DataPlatform/rows/decodeText.ts';
import { asPieces, collect, thenFails } from '../rowStreams.cts';

const open = async (pieces: string[], form: Partial<FileFormat> = {}) =>
	await openRows(asPieces(...pieces), { formulaGuard: false, ...form });

/** What a row holds. */
const contentOf = (row: FileRow) => ('cells' in row ? row.cells : row.values);

test.each<[string, Buffer, Awaited<ReturnType<typeof openRows>>['format'], unknown[]]>([
	['CSV', Buffer.from('name;city\nAda;London\n'), 'csv', [['Ada', 'London']]],
	['packed CSV', gzipSync('name;city\r\nAda;London'), 'csv', [['Ada', 'London']]],
	['NDJSON', Buffer.from('{"name":"Ada"}\n'), 'ndjson', [{ name: 'Ada' }]],
])('a file on disk is read in small parts: %s', async (_, bytes, format, rows) => {
	const at = mkdtempSync(join(tmpdir(), 'rows-'));
	try {
		writeFileSync(join(at, 'rows'), bytes);
		const text = decodeText(() => createReadStream(join(at, 'rows'), { highWaterMark: 7 }), 'auto');
		const file = await openRows(text, { formulaGuard: false });
		expect(file.format).toBe(format);
		expect((await collect(file.rows)).rows.map(contentOf)).toEqual(rows);
	} finally {
		rmSync(at, { recursive: true });
	}
});

describe('opening', () => {
	test.each<[string, string[], Partial<FileFormat>, string[], string, unknown[]]>([
		['the delimiter is found', ['a;b\n1;2\n'], {}, ['a', 'b'], ';', [['1', '2']]],
		['the delimiter is given', ['a;b\n1,2'], { delimiter: ',' }, ['a;b'], ',', [['1', '2']]],
		['only a header', ['a,b'], {}, ['a', 'b'], ',', []],
		['names lose the spaces around them', [' a , b \n 1 '], {}, ['a', 'b'], ',', [[' 1 ']]],
		['apostrophes stay', ["'=a,b\n'=1"], {}, ["'=a", 'b'], ',', [["'=1"]]],
		['the guard comes off the header', ["'=a,b\n'=1"], { formulaGuard: true }, ['=a', 'b'], ',', [["'=1"]]],
		['pieces of empty lines first', ['', '\n', '\r\n', 'a,b\n', '1,2'], {}, ['a', 'b'], ',', [['1', '2']]],
		['a column without a name', ['a,\n1,2'], {}, ['a', ''], ',', [['1', '2']]],
		[
			'a piece at a time',
			['a', ',b\n1', ',2\n', '3,4'],
			{},
			['a', 'b'],
			',',
			[
				['1', '2'],
				['3', '4'],
			],
		],
		['one column', ['a\n1\n'], {}, ['a'], ',', [['1']]],
		['one column with marks in its rows', ['a\nx;y\nz;x\n'], {}, ['a'], ',', [['x;y'], ['z;x']]],
		['empty lines before it', ['\n\na;b\n1;2\n'], {}, ['a', 'b'], ';', [['1', '2']]],
		['titles before it', ['Sales, 2026\n\na;b\n1;2\n'], { headerRow: 3 }, ['a', 'b'], ';', [['1', '2']]],
		['titles before it, in pieces', ['Sal', 'es\r', '\na;', 'b\r\n1;2', '\n'], { headerRow: 2 }, ['a', 'b'], ';', [['1', '2']]],
		['titles with sep=', ['sep=;\nSales\na;b\n1;2\n'], { headerRow: 2 }, ['a', 'b'], ';', [['1', '2']]],
		[
			'quotes behind spaces',
			['a, "b"\n"1", "x, y"\n2,  "z ""q"""\n'],
			{},
			['a', 'b'],
			',',
			[
				['1', 'x, y'],
				['2', 'z "q"'],
			],
		],
		[
			'spaces without quotes',
			['a,b\n1,  x\n2,   \n'],
			{},
			['a', 'b'],
			',',
			[
				['1', '  x'],
				['2', '   '],
			],
		],
		['decomposed letters in names', ['Gro\u0308\u00dfe,b\n1,2\n'], {}, ['Gr\u00f6\u00dfe', 'b'], ',', [['1', '2']]],
	])('CSV: %s', async (_, pieces, form, header, delimiter, rows) => {
		const file = await open(pieces, form);
		expect(file).toMatchObject({ format: 'csv', header, delimiter });
		const { error, ...read } = await collect(file.rows);
		expect(error).toBeUndefined();
		expect(read.rows.map(contentOf)).toEqual(rows);
	});

	test.each<[string, string[], Partial<FileFormat>, unknown[]]>([
		['objects', ['{"a":1}\n{"a":2}'], {}, [{ a: 1 }, { a: 2 }]],
		['a piece at a time', [' \n{"a"', ':1}\n{"a":', '2}'], {}, [{ a: 1 }, { a: 2 }]],
		['what is no object, if the format is given', ['5\n{"a":1}'], { format: 'ndjson' }, [undefined, { a: 1 }]],
	])('NDJSON: %s', async (_, pieces, form, rows) => {
		const { rows: read, ...file } = await open(pieces, form);
		expect(file).toEqual({ format: 'ndjson', header: [], delimiter: ',' });
		expect((await collect(read)).rows.map(contentOf)).toEqual(rows);
	});

	test('a JSON list is refused as NDJSON', async () => {
		await expect(open(['[{"a":1}]'])).rejects.toThrow('is a JSON list');
	});

	test.each<[string, string, FileRow['row']]>([
		['CSV', 'a\n1\n', 30 * 65_536 + 2],
		['NDJSON', '{"a":1}\n', 30 * 65_536 + 1],
	])('at scale: millions of empty lines first, then %s', async (_, text, row) => {
		const blanks = Array<string>(30).fill('\n'.repeat(65_536));
		const format = text.startsWith('{') ? 'ndjson' : undefined;
		const { rows } = await open([...blanks, text], { format });
		expect((await collect(rows)).rows.map((entry) => entry.row)).toEqual([row]);
	});

	test('at scale: millions of blanks', async () => {
		const pieces = Array.from({ length: 257 }, () => ' '.repeat(65_536));
		await expect(open([...pieces, '\na\n'])).rejects.toThrow('Row 1 has more than 16777216 characters');
	});

	test.each<[string, string]>([
		['is read', 'a\n1\n'],
		['can not be opened', ''],
	])('a file that %s is closed', async (_, text) => {
		const close = jest.fn();
		const read = () => asPieces(Buffer.from(text));
		await withRows({ read, close }, { encoding: 'auto', formulaGuard: false }, async () => undefined).catch(() => undefined);
		expect(close).toHaveBeenCalledTimes(1);
	});

	test('rows behind titles keep their numbers', async () => {
		const { rows } = await open(['Sales\n\na,b\n1,2\n'], { headerRow: 3 });
		expect((await collect(rows)).rows.map(({ row }) => row)).toEqual([4]);
	});

	test('a header row behind the end of the file is none', async () => {
		for (const headerRow of [3, 4, 9]) {
			await expect(open(['a\n1\n'], { headerRow })).rejects.toThrow(`The file has no row ${headerRow} in its first MiB`);
		}
		const lines = Array.from({ length: 40 }, () => 'a\n'.repeat(32_768));
		await expect(open(lines, { headerRow: 4_000_000 })).rejects.toThrow('The file has no row 4000000 in its first MiB');
		expect((await open(lines, { headerRow: 100_000 })).header).toEqual(['a']);
	});

	test('the chosen format counts, whatever the file begins with', async () => {
		expect(await open(['{"a":1}\n'], { format: 'csv' })).toMatchObject({ format: 'csv', header: ['{"a":1}'] });
	});

	const NO_HEADER = 'Its first row must name the columns.';
	const NO_OBJECT = 'It must have one JSON object per line.';

	test.each<[string, string[], Partial<FileFormat>, string, unknown]>([
		['no text', [], {}, 'The file is empty', NO_HEADER],
		['blank lines', ['\n', '\r\n'], {}, 'The file is empty', NO_HEADER],
		['no text as NDJSON', [], { format: 'ndjson' }, 'The file is empty', NO_OBJECT],
		['blanks as NDJSON', [' \n', '\n'], { format: 'ndjson' }, 'The file is empty', NO_OBJECT],
		[
			'a first row of blanks',
			[' , \n1,2\n'],
			{},
			"The file's first row names no column",
			expect.stringContaining("choose that under 'Encoding' in the options"),
		],
		[
			'a header that can not be read',
			['"a"b,c\n1,2\n'],
			{},
			"The file's first row has text after a closing quote in column 1",
			expect.stringContaining("choose that under 'Encoding' in the options"),
		],
	])('nothing to read: %s', async (_, pieces, form, message, hint) => {
		await expect(open(pieces, form)).rejects.toMatchObject({ name: 'InputError', message, hint });
	});
});

describe('portions', () => {
	const rowOf = (row: number, cell = 'x'): FileRow => ({ row, cells: [cell] });
	const rowsOf = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => rowOf(from + at));

	/** The rows of each portion. */
	async function portionRows(rows: AsyncIterable<FileRow[]>, startAt: number, endAt?: number) {
		const { portions, error } = await collect(portionsOf(rows, startAt, endAt));
		return { portions: portions.map((some) => some.map(({ row }) => row)), error };
	}

	test.each<[string, FileRow[][], number, number | undefined, number[][]]>([
		['several times rows', [rowsOf(2, 3), rowsOf(4, 4)], 2, undefined, [[2, 3, 4]]],
		['from a row on', [rowsOf(2, 5)], 4, 0, [[4, 5]]],
		['up to a row', [rowsOf(2, 5)], 2, 3, [[2, 3]]],
		['one row', [rowsOf(2, 5)], 3, 3, [[3]]],
		['up to an empty one', [[rowOf(2), rowOf(5)]], 2, 4, [[2]]],
		['none up to there', [[rowOf(5)]], 2, 4, []],
		['none behind it', [rowsOf(2, 5)], 6, 0, []],
		['beyond the end', [rowsOf(2, 3)], 2, 9, [[2, 3]]],
	])('%s', async (_, rows, startAt, endAt, expected) => {
		expect(await portionRows(asPieces(...rows), startAt, endAt)).toEqual({ portions: expected, error: undefined });
	});

	test('of 4,000 rows', async () => {
		const { portions } = await portionRows(asPieces(rowsOf(2, 8000)), 2);
		expect(portions.map(({ length }) => length)).toEqual([4000, 3999]);
		expect(portions.flat()).toEqual(rowsOf(2, 8000).map(({ row }) => row));
	});

	const long = 'x'.repeat(4 * 1024 * 1024);

	test.each<[string, FileRow[], number[][]]>([
		[
			'cells',
			[{ row: 2, cells: [long, ''] }, { row: 3, cells: ['', long] }, rowOf(4), rowOf(5, long)],
			[
				[2, 3],
				[4, 5],
			],
		],
		[
			'several in a row',
			[{ row: 2, cells: [long, long] }, rowOf(3), { row: 4, cells: [long, long.slice(1)] }, rowOf(5)],
			[[2], [3, 4], [5]],
		],
		['a little less', [rowOf(2, long), rowOf(3, long.slice(64)), rowOf(4)], [[2, 3, 4]]],
		[
			'empty cells, which take memory too, at scale',
			Array.from({ length: 15 }, (_, at) => ({ row: at + 2, cells: Array(100_000).fill('') })),
			[
				[2, 3, 4, 5, 6, 7],
				[8, 9, 10, 11, 12, 13],
				[14, 15, 16],
			],
		],
		[
			'lines',
			[
				{ row: 1, line: long },
				{ row: 2, line: long },
				{ row: 3, line: '' },
			],
			[[1, 2], [3]],
		],
	])('of 8 Mi characters: %s', async (_, rows, expected) => {
		expect((await portionRows(asPieces(rows), 1)).portions).toEqual(expected);
	});

	test('the portions before an error are returned', async () => {
		const rows = thenFails(new Error('broken'), rowsOf(2, 4001), rowsOf(4002, 4003));
		const { portions, error } = await portionRows(rows, 2);
		expect([portions.length, error]).toEqual([1, 'broken']);
	});

	test('what follows the last row is not read', async () => {
		const rows = thenFails(new Error('broken'), rowsOf(2, 3));
		expect(await portionRows(rows, 2, 3)).toEqual({ portions: [[2, 3]], error: undefined });
	});
});
