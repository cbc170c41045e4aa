/**
 * Hundreds of megabytes that a few kilobytes of gzip contain, read to the end by a process with a
 * small heap: endless content must not be kept in memory.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const HEAP_MB = 96;

/** What is repeated, and for how many megabytes. */
type Part = string | [unit: string, megabytes: number];

/** The built reader of files of rows. */
const ROWS = join(__dirname, '..', '..', 'dist', 'nodes', 'DataPlatform', 'rows');

const READER = `
	const [ROWS, parts] = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
	const { createGzip } = require('node:zlib');
	const { Readable } = require('node:stream');
	const { buffer } = require('node:stream/consumers');
	const { decodeText } = require(ROWS + '/decodeText.js');
	const { openRows, portionsOf } = require(ROWS + '/readRows.js');
	const MIB = 1024 * 1024;
	function* pieces() {
		for (const part of parts) {
			if (typeof part === 'string') { yield Buffer.from(part); continue; }
			const [unit, megabytes] = part;
			const piece = Buffer.from(unit.repeat(Math.ceil(MIB / unit.length)));
			for (let size = 0; size < megabytes * MIB; size += piece.length) yield piece;
		}
	}
	(async () => {
		const packed = await buffer(Readable.from(pieces()).pipe(createGzip({ level: 1 })));
		const read = () => Readable.from([packed]);
		let rows = 0;
		const problems = new Set();
		try {
			const file = await openRows(decodeText(read, 'auto'), { formulaGuard: true });
			for await (const portion of portionsOf(file.rows, 1)) {
				rows += portion.length;
				for (const { problem } of portion) if (problem) problems.add(problem);
			}
		} catch (error) {
			return { rows, error: error.message };
		}
		return { rows, problems: [...problems] };
	})().then((result) => console.log(JSON.stringify(result)));
`;

async function readIn(parts: Part[]): Promise<unknown> {
	const options = [`--max-old-space-size=${HEAP_MB}`, '--eval', READER];
	const reading = promisify(execFile)(process.execPath, options);
	reading.child.stdin!.end(JSON.stringify([ROWS, parts]));
	return JSON.parse((await reading).stdout) as unknown;
}

const CHARACTERS = 'has more than 16777216 characters';

test.each<[string, Part[], object]>([
	['a row without an end', ['a\n', [',', 40]], { rows: 0, error: 'Row 2 has more than 100000 cells' }],
	['a row of long cells without an end', ['a\n', [`${'x'.repeat(999)},`, 30]], { rows: 0, error: `Row 2 ${CHARACTERS}` }],
	['a cell without an end', ['a\n', ['x', 120], '\n1\n'], { rows: 0, error: `Row 2 ${CHARACTERS}` }],
	['a quote that is never closed', ['a\n1\n"', ['b\n', 60]], { rows: 0, error: `Row 3 ${CHARACTERS}` }],
	['empty lines', [['\n', 40], 'a\n', ['\n', 40], '1\n'], { rows: 1, problems: [] }],
	['a line without an end', ['{"a":"', ['x', 120], '"}\n{"a":1}\n'], { rows: 0, error: `Row 1 ${CHARACTERS}` }],
	['a line of lists in lists', ['{"a":', ['[', 12], '\n'], { rows: 1, problems: ['is nested too deeply, or has too many values'] }],
])('%s takes little memory', async (_, parts, expected) => {
	expect(await readIn(parts)).toEqual(expected);
});
