/**
 * A file of rows, whatever its format: its columns, and its rows in portions.
 */
import { InputError } from '../transport/errors';
import { readCsv, unguarded, type CsvNotes, type CsvRow, type Delimiter } from './csv';
import { readNdjson, type NdjsonRow } from './ndjson';

/** A row of a CSV file, or a line of an NDJSON file. */
export type FileRow = CsvRow | NdjsonRow;

export const isCsvRow = (row: FileRow): row is CsvRow => 'cells' in row;

export type RowFormat = 'csv' | 'ndjson';

export interface RowFileForm {
	/** Found by the first character where it is not given. */
	format?: RowFormat;
	/** Found in the first row where it is not given. */
	delimiter?: Delimiter;
	/** Whether cells lose the apostrophe that guards text against being run as a formula. */
	formulaGuard: boolean;
}

export interface RowFile {
	format: RowFormat;
	/** The names of a CSV file's columns. */
	header: string[];
	delimiter: Delimiter;
	/** The rows behind the header. @throws {InputError} behind those before the place it is about */
	rows: AsyncGenerator<FileRow[]>;
}

/**
 * How many rows are written at a time, while the next ones are read: four batches of up to 1,000, or
 * four look-ups of 999.
 */
const PORTION_ROWS = 3996;

/** Fewer where they are long. */
const PORTION_CHARACTERS = 8 * 1024 * 1024;

/** What begins with a brace is JSON; a list is as well, and refused. */
const JSON_START = /^\s*(?:\{|\[\s*(?:\{|$))/;

/** The pieces, and the format of what they begin with. */
async function detect(pieces: AsyncGenerator<string>) {
	let head = '';
	while (head.trim() === '') {
		const next = await pieces.next();
		if (next.done) break;
		head += next.value;
	}
	async function* all() {
		yield head;
		yield* pieces;
	}
	const format: RowFormat = JSON_START.test(head) ? 'ndjson' : 'csv';
	return { format, pieces: all(), isEmpty: head.trim() === '' };
}

/** The header's own row. @throws {InputError} where there is none that names columns */
function headerOf(row: CsvRow | undefined, hasGuard: boolean): string[] {
	if (!row) {
		throw new InputError('The file is empty', { hint: 'Its first row must name the columns.' });
	}
	if (row.problem) {
		throw new InputError(`The file's first row ${row.problem}`, {
			hint: { code: 'chooseHeaderFile' },
		});
	}
	return row.cells.map((cell) => (hasGuard ? unguarded(cell) : cell).trim());
}

/**
 * Opens a file of rows.
 *
 * @throws {InputError} where it is empty, or its header can't be read
 */
export async function openRows(text: AsyncGenerator<string>, form: RowFileForm): Promise<RowFile> {
	const { format: found, pieces, isEmpty } = await detect(text);
	const format = form.format ?? found;
	if (format === 'ndjson') {
		if (isEmpty)
			throw new InputError('The file is empty', { hint: 'It must hold one JSON object a line.' });
		return { format, header: [], delimiter: ',', rows: readNdjson(pieces) };
	}
	const notes: CsvNotes = {};
	const rows = readCsv(pieces, form.delimiter, notes);
	const first = await rows.next();
	const [headerRow, ...others] = first.done ? [] : first.value;
	async function* rest(): AsyncGenerator<FileRow[]> {
		if (others.length > 0) yield others;
		yield* rows;
	}
	const header = headerOf(headerRow, form.formulaGuard);
	return { format, header, delimiter: notes.delimiter!, rows: rest() };
}

const sizeOf = (row: FileRow) =>
	isCsvRow(row) ? row.cells.reduce((sum, cell) => sum + cell.length, 0) : row.line.length;

/**
 * Rows in portions that fit into memory.
 *
 * @param startAt the first row that counts
 * @param endAt the last one; 0 for all
 * @throws what reading the rows throws, after the rows before that
 */
export async function* portionsOf(
	rows: AsyncIterable<FileRow[]>,
	startAt: number,
	endAt = 0,
): AsyncGenerator<FileRow[]> {
	let portion: FileRow[] = [];
	let size = 0;
	let failure: { error: unknown } | undefined;
	try {
		for await (const some of rows) {
			for (const row of some) {
				if (row.row < startAt) continue;
				if (endAt > 0 && row.row > endAt) {
					if (portion.length > 0) yield portion;
					return;
				}
				portion.push(row);
				size += sizeOf(row);
				// What follows the last one is not looked at: the file may be damaged there.
				if (row.row === endAt) {
					yield portion;
					return;
				}
				if (portion.length < PORTION_ROWS && size < PORTION_CHARACTERS) continue;
				yield portion;
				portion = [];
				size = 0;
			}
		}
	} catch (error) {
		failure = { error };
	}
	if (portion.length > 0) yield portion;
	if (failure) throw failure.error;
}
