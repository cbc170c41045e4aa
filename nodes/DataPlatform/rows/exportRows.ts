/**
 * Records as the lines of a file.
 *
 *     const columns = exportColumns(table, [], nameOf, fieldName); // all fields
 *     csvHeader(columns, format); // 'id,name,created,modified,ver\r\n'
 *     csvRecord(record, columns, format);
 */
import type { JsonValue, PlatformRecord, TableDefinition } from '../api/types';
import { holdsData } from '../fields';
import { getOwn } from '../transport/json';
import { csvLine, type Delimiter } from './csv';

/** A column of a file: its title, and how to get its value. */
interface ExportColumn {
	title: string;
	value: (record: PlatformRecord) => JsonValue | undefined;
}

export interface CsvFormat {
	delimiter: Delimiter;
	byteOrderMark: boolean;
	/** Text that a spreadsheet would take for a formula gets an apostrophe. */
	formulaGuard: boolean;
}

/** What every record has besides its fields, in the order of columns. */
const BEHIND_FIELDS = ['created', 'modified', 'ver'] as const;

/**
 * The columns of a table: the record's ID, its fields, and its metadata.
 *
 * @param chosen the fields to write; if empty, all that hold data
 * @param nameOf the title of a field's column. It is replaced by the field's name if two titles are
 * equal, or it would be read as something else
 * @param fieldName how a field's name is written in a title
 */
export function exportColumns(
	table: TableDefinition,
	chosen: string[],
	nameOf: (field: { name: string; header: string }) => string,
	fieldName: (name: string) => string,
): ExportColumn[] {
	const fields = table.fields.filter(
		(field) => holdsData(field) && (chosen.length === 0 || chosen.includes(field.name)),
	);
	const times = new Map<string, number>();
	const plain = (name: string) => name.trim().toLowerCase();
	const count = (names: readonly string[]) => {
		for (const name of new Set(names.map(plain))) times.set(name, (times.get(name) ?? 0) + 1);
	};
	count(['id', ...BEHIND_FIELDS]);
	for (const field of table.fields) count([nameOf(field), fieldName(field.name)]);
	const columnName = (field: { name: string; header: string }) => {
		const name = nameOf(field).trim();
		const isUnique = times.get(plain(name)) === 1 && name !== '';
		return isUnique && fieldName(name) === name ? name : fieldName(field.name);
	};
	const ofField = (name: string) => (record: PlatformRecord) => getOwn(record.fields, name);
	return [
		{ title: 'id', value: ({ id }) => id },
		...fields.map((field) => ({ title: columnName(field), value: ofField(field.name) })),
		...BEHIND_FIELDS.map((name) => ({
			title: name,
			value: (record: PlatformRecord) => record[name],
		})),
	];
}

/**
 * Prefixes that spreadsheets treat as formulas, with or without apostrophes before them. One that
 * splits cells at semicolons or tabs treats the end of `a;=1+1` as a formula, too.
 */
const FORMULA = /(^|[;\t])('*)(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])/g;

/**
 * Adds an apostrophe to text that a spreadsheet would take for a formula, such as `=1+1`, even if it
 * already has some. `unguarded` undoes this.
 */
export const guarded = (text: string): string => text.replace(FORMULA, "$1'$2");

/** Removes the apostrophes that `guarded` added. */
export const unguarded = (text: string): string =>
	text.includes("'")
		? text.replace(FORMULA, (_, before: string, marks: string) => before + marks.slice(1))
		: text;

/** A value as a cell: text as it is, structured values as JSON. */
function cellText(value: JsonValue | undefined, hasGuard: boolean): string {
	if (value === undefined || value === null) return '';
	const text = typeof value === 'string' ? value : JSON.stringify(value);
	return hasGuard && typeof value !== 'number' ? guarded(text) : text;
}

const line = (values: Array<JsonValue | undefined>, { formulaGuard, delimiter }: CsvFormat) =>
	csvLine(
		values.map((value) => cellText(value, formulaGuard)),
		delimiter,
	);

/** The first line of a CSV file. */
export const csvHeader = (columns: ExportColumn[], form: CsvFormat): string => {
	const titles = columns.map(({ title }) => title);
	return (form.byteOrderMark ? '\ufeff' : '') + line(titles, form);
};

/** A record's line in a CSV file. */
export const csvRecord = (record: PlatformRecord, columns: ExportColumn[], form: CsvFormat) => {
	const values = columns.map(({ value }) => value(record));
	return line(values, form);
};

/** A line of NDJSON with its line end. */
export const ndjsonLine = (values: object): string => `${JSON.stringify(values)}\n`;
