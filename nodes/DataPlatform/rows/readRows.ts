/**
 * `rows/` reads and writes files of rows, CSV or NDJSON. This reads one: its columns, and its rows in
 * portions.
 *
 *     bytes ─▶ decodeText ─▶ csv or ndjson ─▶ portions
 *
 *     await withRows(file, { encoding: 'auto', formulaGuard: true }, async ({ header, rows }) => {
 *       for await (const portion of portionsOf(rows, 1)) …
 *     });
 */
import { InputError } from '../transport/errors';
import { unguarded } from './exportRows';
import { openCsv, type CsvRow, type Delimiter } from './csv';
import { readNdjson, type NdjsonRow } from './ndjson';
import { decodeText, peek, type Encoding } from './decodeText';
import { LABELS } from '../labels';

export { ENCODINGS } from './decodeText';

/** A row of a CSV file, or a line of an NDJSON file. */
export type FileRow = CsvRow | NdjsonRow;

export const isCsvRow = (row: FileRow): row is CsvRow => 'cells' in row;

type RowFormat = 'csv' | 'ndjson';

export const MEDIA_TYPES: Record<RowFormat, string> = {
	csv: 'text/csv',
	ndjson: 'application/x-ndjson',
};

export interface FileFormat {
	encoding: Encoding;
	/** If not set, detected by the first character. */
	format?: RowFormat;
	/** If not set, detected in the first row. */
	delimiter?: Delimiter;
	/** The row with the names of the columns, from 1. */
	headerRow?: number;
	/** Remove the apostrophe that keeps spreadsheets from running text as a formula. */
	formulaGuard: boolean;
}

export interface RowFile {
	format: RowFormat;
	/** The names of a CSV file's columns. */
	header: string[];
	delimiter: Delimiter;
	/** The rows after the header. @throws {InputError} after the rows of the pieces before the failure */
	rows: AsyncGenerator<FileRow[]>;
}

/**
 * How many rows to write at a time, while the next ones are read: four batches or look-ups of up to
 * 1,000.
 */
const PORTION_ROWS = 4000;

/** Fewer rows if they are long. */
const PORTION_CHARACTERS = 8 * 1024 * 1024;

/** The memory of a cell besides its characters, measured in characters. */
const CELL_OVERHEAD = 16;

/** Text that starts with a brace is JSON. So is a list, which is rejected later. */
const JSON_START = /^\s*(?:\{|\[\s*(?:\{|$))/;

const EMPTY_HINTS: Record<RowFormat, string> = {
	csv: 'Its first row must name the columns.',
	ndjson: 'It must have one JSON object per line.',
};

const wrongHeader = (problem: string) =>
	new InputError(`The file's first row ${problem}`, {
		hint: `Use a CSV file whose first row names the columns, or set '${LABELS.headerRow}' in the options. If it is UTF-16 without a byte order mark, choose that under '${LABELS.encoding}' in the options.`,
	});

/** The names in the header. @throws {InputError} if it names no column */
function headerOf({ cells, problem }: CsvRow, hasGuard: boolean): string[] {
	if (problem) throw wrongHeader(problem);
	const names = cells.map((cell) => (hasGuard ? unguarded(cell) : cell).normalize().trim());
	if (names.some((name) => name !== '')) return names;
	throw wrongHeader('names no column');
}

/**
 * Opens a file of rows.
 *
 * @throws {InputError} if it is empty, or its header can't be read
 */
export async function openRows(
	text: AsyncGenerator<string>,
	form: Omit<FileFormat, 'encoding'>,
): Promise<RowFile> {
	const { head = '', all } = await peek(text);
	const format = form.format ?? (JSON_START.test(head) ? 'ndjson' : 'csv');
	const csv = format === 'csv' ? await openCsv(all, form.delimiter, form.headerRow) : undefined;
	const rows: AsyncGenerator<FileRow[]> = csv?.rows ?? readNdjson(all);
	const next = await rows.next();
	if (next.done) throw new InputError('The file is empty', { hint: EMPTY_HINTS[format] });
	async function* rowsFrom(first: FileRow[]): AsyncGenerator<FileRow[]> {
		if (first.length > 0) yield first;
		yield* rows;
	}
	const [first, ...others] = next.value;
	if (!isCsvRow(first!)) {
		return { format, header: [], delimiter: ',', rows: rowsFrom(next.value) };
	}
	const header = headerOf(first, form.formulaGuard);
	return { format, header, delimiter: csv!.delimiter, rows: rowsFrom(others) };
}

/**
 * Opens a file of bytes, and closes it afterwards.
 *
 * @throws {InputError} if it is empty, not in the encoding, or its header can't be read
 */
export async function withRows<T>(
	file: { read: Parameters<typeof decodeText>[0]; close(): void },
	form: FileFormat,
	use: (rows: RowFile) => Promise<T>,
): Promise<T> {
	const text = decodeText(file.read, form.encoding);
	try {
		return await use(await openRows(text, form));
	} finally {
		file.close();
		await text.return(undefined);
	}
}

function charactersOf(row: FileRow): number {
	if (!isCsvRow(row)) return row.line.length;
	return row.cells.reduce((sum, cell) => sum + cell.length + CELL_OVERHEAD, 0);
}

/** The rows from one to another. Nothing after the last one is read: the file may be damaged there. */
async function* rowsBetween(rows: AsyncIterable<FileRow[]>, startAt: number, endAt: number) {
	for await (const some of rows) {
		const chosen = some.filter(({ row }) => row >= startAt && row <= endAt);
		if (chosen.length > 0) yield chosen;
		if (some.at(-1)!.row >= endAt) return;
	}
}

/**
 * Splits rows into portions that fit into memory.
 *
 * @param startAt the first row to return
 * @param endAt the last one; 0 for all
 * @throws errors of reading, after the portions before the failure
 */
export async function* portionsOf(
	rows: AsyncIterable<FileRow[]>,
	startAt: number,
	endAt = 0,
): AsyncGenerator<FileRow[]> {
	let portion: FileRow[] = [];
	let characters = 0;
	for await (const some of rowsBetween(rows, startAt, endAt || Infinity)) {
		for (const row of some) {
			portion.push(row);
			characters += charactersOf(row);
			if (portion.length < PORTION_ROWS && characters < PORTION_CHARACTERS) continue;
			yield portion;
			portion = [];
			characters = 0;
		}
	}
	if (portion.length > 0) yield portion;
}
