import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';

import { CsvParser, csvLine, openCsv, type CsvRow, type Delimiter } from '../../../nodes/DataPlatform/rows/csv';
import { MAX_ROW_CELLS, MAX_ROW_CHARACTERS } from '../../../nodes/DataPlatform/rows/limits';
import { guarded, ndjsonLine, unguarded } from '../../../nodes/DataPlatform/rows/exportRows';
import { readNdjson, type NdjsonRow } from '../../../nodes/DataPlatform/rows/ndjson';
import { decodeText, type Encoding } from '../../../nodes/DataPlatform/rows/decodeText';
import { InputError, ServiceError } from '../../../nodes/DataPlatform/transport/errors';
import { asPieces, collect, thenFails } from '../rowStreams.cts';

const csvRows = async (pieces: AsyncGenerator<string>, delimiter?: Delimiter) => await collect((await openCsv(pieces, delimiter)).rows);

const csv = async (text: string, delimiter?: Delimiter) => await csvRows(asPieces(text), delimiter);

const cellsOf = (rows: CsvRow[]) => rows.map(({ cells }) => cells);

/** A text cut into pieces at random places. */
function cut(text: string, places: number[]): string[] {
	const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
	return [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
}

describe('CSV', () => {
	test.each<[string, string, ...rows: string[]]>([
		['plain', 'a,b\n1,2\n', 'a|b', '1|2'],
		['no line end at the end', 'a,b\n1,2', 'a|b', '1|2'],
		['CRLF, LF and CR mixed', 'a\r\n1\r2\n3\r\r\n4', 'a', '1', '2', '3', '4'],
		['quotes', '"a","b ""c"""\n"1\r\n2",","', 'a|b "c"', '1\r\n2|,'],
		['a quote inside a cell is text', 'size\n5" pipe\n', 'size', '5" pipe'],
		['empty cells', 'a,b,c\n,,\n"",1,', 'a|b|c', '||', '|1|'],
		['empty lines', 'a\n\n\r\n1\n\n', 'a', '1'],
		['an empty cell alone', 'a\n""\n1', 'a', '', '1'],
		['spaces', 'a\n 1 \n', 'a', ' 1 '],
		['a quoted delimiter in the header', '"a,b";c\n1;2', 'a,b|c', '1|2'],
		['a separator line', 'sep=|\na|b,c\n1|2', 'a|b,c', '1|2'],
		['quotes before CRLF', '"a"\r\n"1"\r"2"\n', 'a', '1', '2'],
		['a header that ends with CR', 'a;b\r1,2,3,4', 'a|b', '1,2,3,4'],
		['a line end in a quoted header', '"a\n,,,,";b\n1;2', 'a\n,,,,|b', '1|2'],
		['nothing', ''],
		['only line ends', '\n\r\n'],
	])('%s', async (_, text, ...expected) => {
		const { rows, error } = await csv(text);
		expect(error).toBeUndefined();
		expect(cellsOf(rows).map((cells) => cells.join('|'))).toEqual(expected);
		expect(rows.filter(({ problem }) => problem)).toEqual([]);
	});

	test('rows are counted as in a spreadsheet', async () => {
		const { rows } = await csv('a\n\n"1\n2"\n3\r\n4');
		expect(rows.map(({ row }) => row)).toEqual([1, 3, 4, 5]);
	});

	test('a problem of a row affects only that row', async () => {
		const { rows, error } = await csv('a,b\n"1"x,2\n3,4\n5,\0\n6,7\n"8"x,\0');
		expect(error).toBeUndefined();
		expect(rows.map(({ row, problem }) => [row, problem])).toEqual([
			[1, undefined],
			[2, 'has text after a closing quote in column 1'],
			[3, undefined],
			[4, 'has NUL characters in column 2, which are not text'],
			[5, undefined],
			[6, 'has text after a closing quote in column 1'],
		]);
	});

	test('a quote that is never closed', async () => {
		const { rows, error } = await csv('a\n1\n"2\n3\n4');
		expect(cellsOf(rows)).toEqual([['a'], ['1']]);
		expect(error).toBe('The quote that opens in row 3 is never closed');
		const parser = new CsvParser(',');
		parser.push('"');
		expect(() => parser.end()).toThrow(
			expect.objectContaining({ hint: 'The file is cut off, or a quote in a text is not doubled: correct the row.' }),
		);
	});

	test('the rows of the pieces before an unreadable place are returned', async () => {
		const { rows, error } = await csvRows(thenFails(new Error('broken'), 'a\n1\n', '2'));
		expect(cellsOf(rows)).toEqual([['a'], ['1']]);
		expect(error).toBe('broken');
	});

	test('rows come with the piece in which they end', async () => {
		const { portions } = await csvRows(asPieces('a,', '\n1,', '\n2,\n3', '', '4'));
		expect(portions.map(cellsOf)).toEqual([
			[['a', '']],
			[
				['1', ''],
				['2', ''],
			],
			[['34']],
		]);
	});

	const MIB = 1024 * 1024;

	test.each<[string, string[], Delimiter]>([
		['of its whole first row', ['a,b', ';c;d\n', '1,2,3,4'], ';'],
		['of a MiB at least, at scale', ['a;b'.padEnd(MIB, 'x'), ',,,,\n'], ','],
		['of little more, at scale', ['a;b'.padEnd(MIB + 1, 'x'), ',,,,\n'], ';'],
	])('the delimiter %s', async (_, pieces, delimiter) => {
		expect((await openCsv(asPieces(...pieces))).delimiter).toBe(delimiter);
	});

	const MANY = MAX_ROW_CELLS;
	const EIGHTH = 'x'.repeat(MAX_ROW_CHARACTERS / 8);

	test.each<[string, string, number]>([
		['as many cells as a row may have', `${'x,'.repeat(MANY - 1)}x`, MANY],
		['as many characters as it may have', `"${EIGHTH}",`.repeat(8), 9],
	])('a row of %s', (_, line, cells) => {
		const rows = new CsvParser(',').push(`a\n${line}\n1,2\n`);
		expect(rows.map((row) => [row.row, row.cells.length, row.problem])).toEqual([
			[1, 1, undefined],
			[2, cells, undefined],
			[3, 2, undefined],
		]);
	});

	test.each<[string, string, string]>([
		['one cell more', `${'x,'.repeat(MANY)}x\n`, `${MANY} cells`],
		['one more, empty', `${','.repeat(MANY)}\n`, `${MANY} cells`],
		['millions, at scale', ','.repeat(3_000_000), `${MANY} cells`],
		['more characters', `ab,${`"${EIGHTH}",`.repeat(8)}`, `${MAX_ROW_CHARACTERS} characters`],
		['more characters without quotes, at scale', `${EIGHTH},`.repeat(9), `${MAX_ROW_CHARACTERS} characters`],
		['a quote that stays open', `"${EIGHTH.repeat(9)}`, `${MAX_ROW_CHARACTERS} characters`],
	])('a row without end takes no memory: %s', (_, line, excess) => {
		expect(() => new CsvParser(',').push(`a\n${line}`)).toThrow(
			expect.objectContaining({
				message: `Row 2 has more than ${excess}`,
				hint: 'A quote in it may be open, or an end of a line missing: correct the row.',
			}),
		);
	});

	test('at scale: many doubled quotes, wherever they are cut', () => {
		const text = `"${'a""""b""'.repeat(20_000)}"\n`;
		for (const at of [50_000, 50_001, 50_002, 50_003, 50_004]) {
			const parser = new CsvParser(',');
			const rows = [...parser.push(text.slice(0, at)), ...parser.push(text.slice(at))];
			expect(rows).toEqual([{ row: 1, cells: ['a""b"'.repeat(20_000)], problem: undefined }]);
		}
	});

	test('10,000 columns', async () => {
		const line = Array.from({ length: 10_000 }, (_, index) => `c${index}`);
		const { rows } = await csv(`${line.join(';')}\n${line.join(';')}\n`);
		expect(rows.map(({ cells }) => cells.length)).toEqual([10_000, 10_000]);
	});

	test.each<[string, Delimiter]>([
		['a;b;c', ';'],
		['a\tb', '\t'],
		['a|b', '|'],
		['a', ','],
		['', ','],
		['"x;y;z",b', ','],
		['a,b;c', ','],
		['a;b;"x,y,z', ';'],
	])('the delimiter of %j', async (line, delimiter) => {
		expect((await openCsv(asPieces(line))).delimiter).toBe(delimiter);
	});

	const cell = fc.oneof(fc.string({ unit: fc.constantFrom('"', ',', ';', '\t', '|', '\r', '\n', ' ', 'a', 'ä', '=') }), fc.string());
	const table = fc
		.integer({ min: 1, max: 5 })
		.chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1 }));

	test('written text can be read, wherever it is cut', async () => {
		await fc.assert(
			fc.asyncProperty(table, fc.constantFrom<Delimiter>(',', ';', '\t', '|'), fc.array(fc.nat(1000)), async (cells, delimiter, places) => {
				const readable = cells.map((line) => line.map((text) => text.replaceAll('\0', '')));
				const text = readable.map((line) => csvLine(line, delimiter)).join('');
				const { rows, error } = await csvRows(asPieces(...cut(text, places)), delimiter);
				expect(error).toBeUndefined();
				expect(cellsOf(rows)).toEqual(readable);
			}),
		);
	});

	test('any text is read or refused the same, wherever it is cut', async () => {
		const text = fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', 'a', '\0', ' ') });
		await fc.assert(
			fc.asyncProperty(text, fc.array(fc.nat(100)), async (given, places) => {
				const whole = await csv(given, ',');
				const { rows, error } = await csvRows(asPieces(...cut(given, places)), ',');
				expect({ rows, error }).toEqual({ rows: whole.rows, error: whole.error });
			}),
		);
	});

	test('formulas are guarded, and the guard comes off again', () => {
		for (const text of ['=1+1', '+49', '-1', '@a', '\tx', '\r', "'=1", "''@", '＝1']) {
			expect(guarded(text)).toBe(`'${text}`);
		}
		expect(guarded("x;=1;'+2\t-3;a-4")).toBe("x;'=1;''+2\t'-3;a-4");
		for (const text of ['a=1', 'a,=1', 'a; =1', "'a", "'", '', ' =1', '1-1']) {
			expect([guarded(text), unguarded(text)]).toEqual([text, text]);
		}
		expect(unguarded('=1')).toBe('=1');
		fc.assert(
			fc.property(fc.string({ unit: fc.constantFrom("'", '=', '-', '\t', ';', 'a') }), (text) => {
				expect(unguarded(guarded(text))).toBe(text);
			}),
		);
	});
});

describe('NDJSON', () => {
	const ndjson = async (...pieces: string[]) => await collect(readNdjson(asPieces(...pieces)));

	test('lines, wherever they are cut', async () => {
		const pieces = ['{"a":1}\r\n\n{"a"', ':2}\n', '{"a":3}', '\n{"a":4}'];
		expect((await ndjson(...pieces)).portions).toEqual([
			[{ row: 1, line: '{"a":1}', values: { a: 1 } }],
			[{ row: 3, line: '{"a":2}', values: { a: 2 } }],
			[{ row: 4, line: '{"a":3}', values: { a: 3 } }],
			[{ row: 5, line: '{"a":4}', values: { a: 4 } }],
		]);
		expect(await ndjson('{"a":1}\n')).toEqual({ ...(await ndjson('{"a":1}')), error: undefined });
	});

	test('a number that would lose digits is text', async () => {
		const line = '{"a":12345678901234567890,"b":5}';
		expect((await ndjson(line)).rows).toEqual([{ row: 1, line, values: { a: '12345678901234567890', b: 5 } }]);
	});

	test('a problem of a line affects only that line', async () => {
		const { rows, error } = await ndjson('{"a":1}\n{"a":\n5\n[1]\nnull\n{"a":2}\n');
		expect(error).toBeUndefined();
		expect(rows.map(({ row, line, values }: NdjsonRow) => [row, line, values])).toEqual([
			[1, '{"a":1}', { a: 1 }],
			[2, '{"a":', undefined],
			[3, '5', undefined],
			[4, '[1]', undefined],
			[5, 'null', undefined],
			[6, '{"a":2}', { a: 2 }],
		]);
		expect(rows[1]!.problem).toContain('is not valid JSON');
		expect(rows[2]!.problem).toBe('is not a JSON object');
	});

	test.each(['\n [\n{"a":1}]', '[{"a":1}]'])('a list is not NDJSON: %j', async (text) => {
		await expect(readNdjson(asPieces(text)).next()).rejects.toMatchObject({
			message: 'The file is a JSON list, not NDJSON with one JSON object per line',
			hint: "Write one object per line, or read it with the node 'Extract From File' and write its items.",
		});
	});

	test('a line without end takes no memory', async () => {
		const half = 'x'.repeat(MAX_ROW_CHARACTERS / 2);
		const { rows, error } = await ndjson('{"a":1}\n{"a":"', half, half, half);
		expect([rows.length, error]).toEqual([1, `Row 2 has more than ${MAX_ROW_CHARACTERS} characters`]);
	});

	test.each([
		['has too many values', '1,'.repeat(2_000_000), '1'],
		['is nested too deeply', '['.repeat(1000), ''],
	])('a line that %s', async (_, many, end) => {
		const { rows } = await ndjson(`{"a":[${many}${end}]}\n{"a":2}`);
		expect(rows.map((row) => [row.row, row.problem])).toEqual([
			[1, 'is nested too deeply, or has too many values'],
			[2, undefined],
		]);
	});

	test('at scale: as many characters as a line may have', async () => {
		const { rows } = await ndjson('x'.repeat(MAX_ROW_CHARACTERS));
		expect(rows[0]!.problem).toContain('is not valid JSON');
	});

	test('what was written is read', async () => {
		const values = fc.dictionary(fc.string(), fc.jsonValue());
		await fc.assert(
			fc.asyncProperty(fc.array(values), fc.array(fc.nat(1000)), async (entries, places) => {
				const json = entries.map((entry) => JSON.parse(JSON.stringify(entry)) as object);
				const text = json.map(ndjsonLine).join('');
				const { rows } = await ndjson(...cut(text, places));
				expect(rows.map((row) => row.values)).toEqual(json);
			}),
		);
	});
});

describe('text of a file', () => {
	async function read(open: () => AsyncIterable<Uint8Array>, encoding: Encoding = 'auto') {
		const pieces: string[] = [];
		let error: unknown;
		try {
			for await (const piece of decodeText(open, encoding)) pieces.push(piece);
		} catch (failure) {
			error = failure;
		}
		return { pieces, text: pieces.join(''), error: error as InputError | undefined };
	}

	async function decoded(bytes: Uint8Array[], encoding?: Encoding) {
		const { text, error } = await read(() => asPieces(...bytes), encoding);
		return { text, error: error?.message };
	}

	/** Each byte on its own. */
	const bytewise = (bytes: Buffer) => [...bytes].map((byte) => Uint8Array.of(byte));

	const TEXT = 'name;price\r\nÄpfel;€ 5 – “😀” กก\r\n';
	const utf16be = Buffer.from(TEXT, 'utf16le').swap16();

	test.each<[string, Encoding, Buffer]>([
		['UTF-8', 'auto', Buffer.from(TEXT)],
		['UTF-8 with a byte order mark', 'auto', Buffer.from(`\ufeff${TEXT}`)],
		['UTF-8 with a byte order mark', 'utf-8', Buffer.from(`\ufeff${TEXT}`)],
		['UTF-8 with a byte order mark', 'windows-1252', Buffer.from(`\ufeff${TEXT}`)],
		['UTF-16 LE with a byte order mark', 'auto', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
		['UTF-16 LE', 'utf-16le', Buffer.from(TEXT, 'utf16le')],
		['UTF-16 BE with a byte order mark', 'auto', Buffer.from([0xfe, 0xff, ...utf16be])],
		['UTF-16 BE', 'utf-16be', utf16be],
	])('%s (%s)', async (_, encoding, bytes) => {
		expect(await decoded([bytes], encoding)).toEqual({ text: TEXT, error: undefined });
		expect(await decoded(bytewise(bytes), encoding)).toEqual({ text: TEXT, error: undefined });
		expect(await decoded(bytewise(gzipSync(bytes)), encoding)).toEqual({ text: TEXT, error: undefined });
	});

	test('Windows-1252 has its own signs, and no byte is lost', async () => {
		const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
		const { text, error } = await decoded([all], 'windows-1252');
		expect(error).toBeUndefined();
		expect(text.slice(0x80, 0x85)).toBe('€\u0081‚ƒ„');
		expect(text.slice(0x91, 0x94)).toBe('‘’“');
		expect(text.slice(0xe4, 0xe5)).toBe('ä');
		expect(new Set(text).size).toBe(256);
		const odd = await decoded([Buffer.from('abcdefgh\xe4', 'latin1')], 'windows-1252');
		expect(odd).toEqual({ text: 'abcdefghä', error: undefined });
	});

	test.each(['ä', '€', '😀', 'ก'])('%s at the end', async (last) => {
		const text = `the last one is ${last}`;
		const encodings: Array<[Encoding, Buffer]> = [
			['utf-8', Buffer.from(text)],
			['utf-16le', Buffer.from(text, 'utf16le')],
			['utf-16be', Buffer.from(text, 'utf16le').swap16()],
		];
		for (const [encoding, bytes] of encodings) {
			expect(await decoded([bytes], encoding)).toEqual({ text, error: undefined });
			expect(await decoded(bytewise(bytes), encoding)).toEqual({ text, error: undefined });
		}
	});

	test('a character may be cut between two pieces', async () => {
		const text = `${'x'.repeat(65_535)}ä`;
		expect(await decoded([Buffer.from(text)])).toEqual({ text, error: undefined });
	});

	test('a byte order mark is one at the beginning only', async () => {
		const bytes = ['\ufeffabcdefgh', '\ufeffi', '\ufeffj'].map((text) => Buffer.from(text));
		expect((await decoded(bytes)).text).toBe('abcdefgh\ufeffi\ufeffj');
	});

	test('another encoding is an error behind the pieces before it', async () => {
		const valid = 'ok: üü€€😀\n'.repeat(4096);
		const bytes = Buffer.concat([Buffer.from(valid), Buffer.from([0xe4, 0x62, 0x0a])]);
		const { text, error } = await read(() => asPieces(bytes));
		expect(text).toBe(valid.slice(0, text.length));
		expect(error).toMatchObject({ name: 'InputError', message: 'The file is not UTF-8' });
		expect((await decoded([Buffer.from('a\nä').subarray(0, 3)])).error).toBe('The file is not UTF-8');
		expect((await decoded([Buffer.from('abc')], 'utf-16le')).error).toBe('The file is not UTF-16 LE');
	});

	const WORKBOOK = "Save it as CSV, or read it with the node 'Extract From File' and write its items.";

	test.each<[string, Buffer, string]>([
		['ZIP', Buffer.from('PK\x03\x04 and more'), 'a ZIP file or a workbook (.xlsx)'],
		['XLS', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'an old workbook (.xls)'],
		['PDF', Buffer.from('%PDF-1.7 and more'), 'a PDF file'],
	])('%s is not text', async (_, bytes, what) => {
		const { text, error } = await read(() => asPieces(bytes));
		expect(text).toBe('');
		expect(error).toMatchObject({ message: `The file is ${what}, not a text file`, hint: WORKBOOK });
	});

	test.each(['PK', 'Price;Year', '%PD', '%,Price', '\x1f,b'])('%j is text', async (text) => {
		expect(await decoded([Buffer.from(text)])).toEqual({ text, error: undefined });
	});

	test('chunks of any size come in pieces of one size', async () => {
		const large = await read(() => asPieces(Buffer.from('x'.repeat(131_072)), Buffer.from('y')));
		expect(large.pieces.map(({ length }) => length)).toEqual([65_536, 65_536, 1]);
		const small = await read(() => asPieces(...Array<Buffer>(70).fill(Buffer.alloc(1000, 'x'))));
		expect(small.pieces.map(({ length }) => length)).toEqual([65_536, 4464]);
		const broken = await read(() => thenFails(new Error('broken'), Buffer.from('x'.repeat(65_540))));
		expect(broken).toMatchObject({ text: 'x'.repeat(65_536), error: { message: 'broken' } });
	});

	const packed = gzipSync(Array.from({ length: 50_000 }, (_, index) => `${index},${index ** 2}\n`).join(''));
	const changed = (change: (bytes: Buffer) => unknown) => {
		const bytes = Buffer.from(packed);
		change(bytes);
		return bytes;
	};
	const wrongChecksum = changed((bytes) => (bytes[bytes.length - 8]! ^= 1));
	test.each<[string, Buffer, string?]>([
		['cut off', packed.subarray(0, packed.length / 2), 'unexpected end of file'],
		['cut off in its trailer', packed.subarray(0, -3), 'unexpected end of file'],
		['cut off in its header', packed.subarray(0, 5), 'unexpected end of file'],
		['damaged', changed((bytes) => bytes.fill(0xff, 2000, 2100)), 'invalid distance too far back'],
		['damaged near its end', changed((bytes) => bytes.subarray(-900).fill(0xff, 0, 100))],
		['of another checksum', wrongChecksum, 'incorrect data check'],
		['of another length', changed((bytes) => (bytes[bytes.length - 1]! ^= 1)), 'incorrect length check'],
		['several', Buffer.concat([packed, packed])],
		['several, the second damaged', Buffer.concat([packed, wrongChecksum])],
		['with more behind it', Buffer.concat([packed, Buffer.from('more')])],
	])('a gzip file that is %s gives no text at all', async (...[, bytes, reason = '']) => {
		const { text, error } = await read(() => asPieces(bytes));
		expect(text).toBe('');
		expect(error).toMatchObject({ name: 'InputError', hint: 'Get the file again, or unpack it.' });
		expect(error!.message).toContain(`The gzip file is damaged, cut off, or several joined files: ${reason}`);
		expect(error!.message).not.toMatch(/: ?$/);
	});

	test('only a gzip file is read twice', async () => {
		for (const [bytes, times] of [
			[packed, 2],
			[Buffer.from('a\n1\n'), 1],
		] as const) {
			let opened = 0;
			await read(() => {
				opened += 1;
				return asPieces(bytes);
			});
			expect(opened).toBe(times);
		}
	});

	test('a gzip file in a gzip file is not text', async () => {
		expect((await decoded([gzipSync(gzipSync('a\n1\n'))])).error).toBe('The file is not UTF-8');
	});

	test('a gzip file that can not be read further fails with the reason', async () => {
		for (const cause of [
			new InputError('The file is gone', { hint: 'Get it again.' }),
			new ServiceError('The execution was canceled', { delivery: 'canceled' }),
		]) {
			expect((await read(() => thenFails(cause, packed.subarray(0, 12)))).error).toBe(cause);
		}
	});

	test.each([1, 2])('a gzip file of which %i pieces are read is closed', async (count) => {
		const bytes = gzipSync(randomBytes(200_000));
		let open = 0;
		async function* source() {
			open += 1;
			try {
				for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
			} finally {
				await new Promise((done) => setImmediate(done));
				open -= 1;
			}
		}
		const text = decodeText(source, 'windows-1252');
		for (let piece = 0; piece < count; piece += 1) await text.next();
		expect(open).toBe(1);
		await text.return(undefined);
		expect(open).toBe(0);
	});

	test('nothing', async () => {
		expect(await read(() => asPieces())).toEqual({ pieces: [], text: '', error: undefined });
		expect((await read(() => asPieces(new Uint8Array(0)))).pieces).toEqual([]);
		expect(await decoded([Buffer.from('a')])).toEqual({ text: 'a', error: undefined });
	});
});
