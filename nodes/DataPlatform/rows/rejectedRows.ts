/**
 * Writes a file of the rows that were rejected, in the format of the original, with the reasons.
 *
 *     name,age          name,age,error,field,row
 *     Fox         ─▶    Fox,,"the row has 1 cell, the header has 2",,2
 */
import { csvLine, type Delimiter } from './csv';
import { guarded, ndjsonLine } from './exportRows';
import { isCsvRow, type FileFormat, type FileRow } from './readRows';
import type { Problem } from '../transport/errors';

const ADDED_COLUMNS = ['error', 'field', 'row'];

/** The names of the added columns; with an underscore if the file already has such a column. */
function addedNames(header: string[]): string[] {
	const taken = new Set(header.map((name) => name.toLowerCase()));
	return ADDED_COLUMNS.map((name) => {
		let free = name;
		while (taken.has(free)) free += '_';
		return free;
	});
}

/** How many columns at the end of a header were added by a file of rejected rows. */
export function addedColumns(header: string[], isField: (name: string) => boolean): number {
	const last = header.slice(-ADDED_COLUMNS.length);
	const isAdded = addedNames(header.slice(0, -ADDED_COLUMNS.length)).every(
		(name, at) => name === last[at] && !isField(name),
	);
	return isAdded ? ADDED_COLUMNS.length : 0;
}

/** An NDJSON object without what a file of rejected rows added. */
export function withoutAdded(
	values: Record<string, unknown>,
	isField: (name: string) => boolean,
): Record<string, unknown> {
	const names = Object.keys(values);
	const count = addedColumns(names, isField);
	if (count === 0 || !Number.isInteger(values[names.at(-1)!])) return values;
	return Object.fromEntries(Object.entries(values).slice(0, -count));
}

/**
 * Makes the lines of a file of rejected rows. Replaces what an earlier such file added, so that
 * rows can be rejected any number of times.
 */
export class RejectedLines {
	private readonly added: string[];
	private readonly own: string[];

	private readonly guard: (text: string) => string;

	/** @param header the original file's header, without formula guards; empty for NDJSON */
	constructor(
		private readonly header: string[],
		private readonly delimiter: Delimiter,
		private readonly form: Pick<FileFormat, 'encoding' | 'formulaGuard'>,
		private readonly isField: (name: string) => boolean,
	) {
		this.guard = form.formulaGuard ? guarded : (text) => text;
		this.own = header.slice(0, header.length - addedColumns(header, isField));
		this.added = addedNames(this.own);
	}

	/**
	 * The first line of a CSV file, with a byte order mark for spreadsheets. NDJSON gets a mark only
	 * if the original's encoding would be applied to this file, too.
	 */
	beginning(): string {
		const isUtf8 = ['auto', 'utf-8'].includes(this.form.encoding);
		if (this.header.length === 0) return isUtf8 ? '' : '\ufeff';
		const names = [...this.own.map(this.guard), ...this.added];
		return `\ufeff${csvLine(names, this.delimiter)}`;
	}

	line(row: FileRow, { message: error, field = '' }: Problem): string {
		const added = [this.guard(error), this.guard(field), String(row.row)];
		if (isCsvRow(row)) {
			const cells = this.own.map((_, at) => row.cells[at] ?? '');
			const surplus = row.cells.slice(this.header.length);
			// Don't lose cells that have no column: add them to the reason.
			if (surplus.length > 0) {
				added[0] += `; the cells after the last column: ${csvLine(surplus, this.delimiter).trimEnd()}`;
			}
			return csvLine([...cells, ...added], this.delimiter);
		}
		const own = withoutAdded(row.values ?? { line: row.line }, this.isField);
		const [errorName, fieldName, rowName] = addedNames(Object.keys(own));
		return ndjsonLine({ ...own, [errorName!]: error, [fieldName!]: field, [rowName!]: row.row });
	}
}
