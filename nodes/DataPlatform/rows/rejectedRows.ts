/**
 * Rows that were not written, as a file of the form that they came in, with their reasons.
 */
import { csvLine, guarded, type Delimiter } from './csv';
import { ndjsonLine } from './ndjson';
import { isCsvRow, type FileRow } from './readRows';

/** Why a row was not written. */
export interface Rejection {
	error: string;
	/** The field it is about, where it is about one. */
	field?: string;
}

const ADDED = ['error', 'field', 'row'];

/** The names of the added columns: with an underscore where the file has them already. */
function addedNames(header: string[]): string[] {
	const taken = new Set(header.map((name) => name.toLowerCase()));
	return ADDED.map((name) => {
		let free = name;
		while (taken.has(free)) free += '_';
		return free;
	});
}

/** How many columns at the end of a header are those that a file of rejected rows adds. */
export function addedColumns(header: string[], isField: (name: string) => boolean): number {
	const last = header.slice(-ADDED.length);
	const isAdded =
		last.length === ADDED.length &&
		last.every((name, at) => name.replace(/_+$/, '') === ADDED[at] && !isField(name)) &&
		addedNames(header.slice(0, -ADDED.length)).every((name, at) => name === last[at]);
	return isAdded ? ADDED.length : 0;
}

/** An NDJSON object without what a file of rejected rows adds. */
export function withoutAdded(
	values: Record<string, unknown>,
	isField: (name: string) => boolean,
): Record<string, unknown> {
	const names = Object.keys(values);
	const count = addedColumns(names, isField);
	if (count === 0 || !Number.isInteger(values[names.at(-1)!])) return values;
	return Object.fromEntries(Object.entries(values).slice(0, -count));
}

/** Makes the lines of a file of rejected rows. */
export class RejectedLines {
	private readonly added: string[];

	/** @param header of the file that the rows come from, as it stands there; empty for NDJSON */
	constructor(
		private readonly header: string[],
		private readonly delimiter: Delimiter,
		private readonly hasGuard: boolean,
	) {
		this.added = addedNames(header);
	}

	/** The first line of a CSV file, with the mark by which every program knows that it is UTF-8. */
	first(): string {
		return `\ufeff${csvLine([...this.header, ...this.added], this.delimiter)}`;
	}

	line(row: FileRow, { error, field = '' }: Rejection): string {
		const added = [this.hasGuard ? guarded(error) : error, field, String(row.row)];
		if (isCsvRow(row)) {
			const width = this.header.length;
			const cells = Array.from({ length: width }, (_, at) => row.cells[at] ?? '');
			const surplus = row.cells.slice(width);
			// No cell gets lost: those that no column is for stand in the reason.
			if (surplus.length > 0) {
				added[0] += `; the cells behind the last column: ${csvLine(surplus, this.delimiter).trimEnd()}`;
			}
			return csvLine([...cells, ...added], this.delimiter);
		}
		// The line's own text, in which no number loses a digit.
		const own = row.values ? row.line : ndjsonLine({ line: row.line }).trimEnd();
		const isEmpty = row.values !== undefined && Object.keys(row.values).length === 0;
		const [errorName, fieldName, rowName] = addedNames(Object.keys(row.values ?? { line: '' }));
		const more = ndjsonLine({ [errorName!]: error, [fieldName!]: field, [rowName!]: row.row });
		return `${own.slice(0, -1)}${isEmpty ? '' : ','}${more.slice(1)}`;
	}
}
