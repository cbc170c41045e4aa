/**
 * Turns the rows of a file into input for the plan: which field each column belongs to, and what
 * its text means there.
 *
 *     const reader = new RowReader({ table, … }, ['email', 'Age']);
 *     reader.read({ row: 2, cells: ['a@b.c', '7'] }); // { index: 2, values: { email: 'a@b.c', age: 7 } }
 */
import type { FieldDefinition, TableDefinition } from '../api/types';
import { didYouMean } from '../transport/closestName';
import { keyFields } from '../fields/keyFields';
import { isWritable, fieldType, listFields } from '../fields';
import type { CellFormat } from '../fields/fieldType';
import { unguarded } from '../rows/exportRows';
import { isCsvRow, type FileRow } from '../rows/readRows';
import { addedColumns, withoutAdded } from '../rows/rejectedRows';
import { InputError, type Problem } from '../transport/errors';
import { getOwn } from '../transport/json';
import { isBlank } from '../fields/values';
import { counted, nameList } from '../transport/messageText';
import { columnTargets, jsonReader } from '../input/recordInput';
import { prefixedName } from '../input/recordOutput';
import type { PlanInput, PlanOptions } from '../bulk/terms';
import { LABELS } from '../labels';

/** An entry of the list of column mappings. */
export interface ColumnEntry {
	column: string;
	field: string;
}

interface RowReading {
	table: TableDefinition;
	/** Automatic if not set. */
	mapping?: ColumnEntry[];
	planning: PlanOptions;
	/** A row names its record by ID. */
	hasId: boolean;
	form: CellFormat;
	formulaGuard: boolean;
}

interface Column {
	at: number;
	field: FieldDefinition;
	/** If not, its values are only reported as ignored. */
	isWritten: boolean;
}

const wrongColumns = (message: string, hint: string) =>
	new InputError(`Nothing was sent: ${message}`, { hint });

/** For a file that has records as this node writes them. */
const unclearColumn = (name: string, field: string) =>
	wrongColumns(
		`the column '${name}' may be the field '${field}', or what this node adds to a record`,
		`Rename it to '${prefixedName(field)}' if it is the field; else remove it, or set '${LABELS.unknownFields}' in the options to 'Ignore'.`,
	);

/** @throws {InputError} if two imported columns have the same name */
function requireUnique(names: string[]) {
	const seen = new Set<string>();
	const twice = new Set<string>();
	for (const name of names) (seen.has(name) ? twice : seen).add(name);
	if (twice.size === 0) return;
	throw wrongColumns(
		`the file has several columns called ${nameList([...twice])}`,
		'Rename or remove one of them in the file.',
	);
}

/** The column with the record IDs: `id`, else one called so in another case; -1 if there is none. */
function idColumnOf(names: string[], table: TableDefinition): number {
	const targets = columnTargets(names, table);
	const isId = (name: string, at: number) => targets[at] === 'unknown' && /^id$/i.test(name);
	return names.includes('id') ? names.indexOf('id') : names.findIndex(isId);
}

/**
 * Reads the rows of one file.
 *
 * @throws {InputError} before anything is sent, if its columns don't fit the table
 */
export class RowReader {
	private readonly columns: Column[] = [];
	private readonly unnamed: number[] = [];
	/** -1 if rows name no record by its ID. */
	private readonly idColumn: number;
	private readonly fields: ReadonlyMap<string, FieldDefinition>;
	private readonly jsonValues: (json: unknown) => unknown;
	private readonly width: number;
	/** Without columns at the end that have no name. */
	private readonly namedWidth: number;
	/** Lists the columns, for errors about them. */
	private readonly fileColumns: string;
	/** The fields of each column. */
	private readonly targets = new Map<string, string[]>();
	private readonly ignoredColumns: string[] = [];

	/** @param header undefined if each row names its own values */
	constructor(
		private readonly reading: RowReading,
		private readonly header: string[] | undefined,
	) {
		const { table } = reading;
		this.fields = new Map(table.fields.map((field) => [field.name, field]));
		this.jsonValues = jsonReader(table);
		const all = header ?? [];
		this.width = all.length;
		this.namedWidth = all.findLastIndex((name) => name !== '') + 1;
		const names = all.slice(0, all.length - addedColumns(all, (name) => this.isField(name)));
		const named = nameList(all.filter((name) => name !== ''));
		this.fileColumns = named ? `The file's columns are: ${named}.` : 'The file has no columns.';
		this.idColumn = reading.hasId ? idColumnOf(names, table) : -1;
		if (header) {
			if (reading.mapping) this.mapByList(names, reading.mapping);
			else this.mapAutomatically(names);
			this.requireColumns();
		} else {
			for (const { field } of reading.mapping ?? []) this.fieldOf(field);
		}
	}

	/** What became of the columns: each with its field, or several separated by commas. */
	get report() {
		const columns = [...this.targets].map(([column, names]) => [column, names.join(', ')] as const);
		return { columns: Object.fromEntries(columns), ignoredColumns: this.ignoredColumns };
	}

	isField(name: string): boolean {
		return this.fields.has(name);
	}

	private mapAutomatically(names: string[]) {
		const { table, planning } = this.reading;
		requireUnique(names.filter((name) => name !== ''));
		const unknown: string[] = [];
		const columnOf = new Map<string, string>();
		for (const [at, target] of columnTargets(names, table).entries()) {
			const name = names[at]!;
			if (name === '') {
				// A column without a name is not a field either.
				if (planning.unknownFields === 'error') this.unnamed.push(at);
			} else if (typeof target === 'object' && 'unclear' in target) {
				this.ignoredColumns.push(name);
				if (planning.unknownFields === 'error') throw unclearColumn(name, target.unclear);
			} else if (typeof target === 'object') {
				const other = columnOf.get(target.field);
				if (other !== undefined) {
					throw wrongColumns(
						`the columns '${other}' and '${name}' both belong to the field '${target.field}'`,
						'Rename or remove one of them in the file.',
					);
				}
				columnOf.set(target.field, name);
				this.add(at, name, target.field);
			} else if (at !== this.idColumn) {
				this.ignoredColumns.push(name);
				if (target === 'unknown') unknown.push(name);
			}
		}
		if (unknown.length === 0 || planning.unknownFields === 'ignore') return;
		const fit = `Rename the column, choose 'Map Each Column Manually' under '${LABELS.mappingMode}', or set '${LABELS.unknownFields}' in the options to 'Ignore'. ${this.fileColumns}`;
		if (columnOf.size === 0 && this.idColumn < 0) {
			throw wrongColumns(
				`the first row has no name of a field of table '${table.header}': ${nameList(unknown)}. Does the file have a header?`,
				`Add a first row with the names of fields, or set '${LABELS.headerRow}' in the options to the row that has them. Or rename the columns, or choose 'Map Each Column Manually' under '${LABELS.mappingMode}'. ${listFields(table)}`,
			);
		}
		const isOne = unknown.length === 1;
		const suggestion = isOne && didYouMean(unknown[0]!, table.fields.filter(isWritable));
		const message = `table '${table.header}' has no field for the column${isOne ? '' : 's'} ${nameList(unknown)}`;
		if (suggestion) throw wrongColumns(`${message}${suggestion}`, fit);
		throw wrongColumns(message, `${fit} ${listFields(table)}`);
	}

	private mapByList(names: string[], mapping: ColumnEntry[]) {
		const used = new Set(mapping.map(({ column }) => column.normalize()));
		if (this.idColumn >= 0) used.add(names[this.idColumn]!);
		requireUnique(names.filter((name) => used.has(name)));
		for (const { column, field } of mapping) {
			const at = names.indexOf(column.normalize());
			if (at < 0) {
				throw wrongColumns(`the file has no column '${column}'`, this.fileColumns);
			}
			this.add(at, column, field);
		}
		this.ignoredColumns.push(...names.filter((name) => name !== '' && !used.has(name)));
	}

	private add(at: number, column: string, name: string) {
		const field = this.fieldOf(name);
		this.columns.push({ at, field, isWritten: isWritable(field) });
		this.targets.set(column, [...(this.targets.get(column) ?? []), field.name]);
	}

	/** @throws {InputError} */
	private fieldOf(name: string): FieldDefinition {
		const field = this.fields.get(name);
		const hint = `Choose it under '${LABELS.columnMapping}'.`;
		const { table, mapping } = this.reading;
		if (!field) throw wrongColumns(`table '${table.header}' has no field '${name}'`, hint);
		if (mapping === undefined || isWritable(field)) return field;
		throw wrongColumns(`'${name}' is read-only`, hint);
	}

	/** Without these columns, every row would be rejected. @throws {InputError} */
	private requireColumns() {
		const { table, planning, hasId } = this.reading;
		const has = (name: string) => this.columns.some(({ field }) => field.name === name);
		const isByKey = !hasId && planning.mode !== 'create';
		const key = isByKey && keyFields(table, planning).find(({ name }) => !has(name));
		const isRequired = (field: FieldDefinition) => field.metadata.required && isWritable(field);
		const required =
			planning.mode === 'create' &&
			table.fields.find((field) => isRequired(field) && !has(field.name));
		const problems = [
			hasId && this.idColumn < 0 && "the file has no column 'id' with the record IDs",
			key && `the file has no column for '${key.name}', by which records are found`,
			required && `the file has no column for '${required.name}', which is required`,
			this.columns.length === 0 && `no column of the file is a field of table '${table.header}'`,
		];
		for (const problem of problems) if (problem) throw wrongColumns(problem, this.fileColumns);
	}

	/** True for a row that is no record: `;;;`, as spreadsheets write it, `{}`, or the header again. */
	isSkipped(row: FileRow): boolean {
		if (row.problem !== undefined) return false;
		if (!isCsvRow(row)) return Object.values(row.values!).every(isBlank);
		const { header = [] } = this;
		const isHeader = header.every((name, at) => row.cells[at]?.normalize().trim() === name);
		return row.cells.every(isBlank) || (header.length > 1 && isHeader);
	}

	/** The plan's input for a row, or what is wrong with the whole row. */
	read(row: FileRow): PlanInput | Problem {
		try {
			if (isCsvRow(row)) return this.readCells(row.row, row.cells, row.problem);
			return this.readJson(row);
		} catch (error) {
			const { message, field } = error as InputError;
			return { message, field };
		}
	}

	private readCells(
		index: number,
		cells: string[],
		problem: string | undefined,
	): PlanInput | Problem {
		const { width } = this;
		if (problem !== undefined) return { message: `the row ${problem}` };
		const isTooLong = cells.slice(width).some((cell) => cell !== '');
		if (cells.length < this.namedWidth || isTooLong) {
			return { message: `the row has ${counted(cells.length, 'cell')}, the header has ${width}` };
		}
		const stray = this.unnamed.find((at) => (cells[at] ?? '') !== '');
		if (stray !== undefined) {
			return { message: `the row has a value in column ${stray + 1}, which has no name` };
		}
		const { form, formulaGuard } = this.reading;
		const values: Array<[string, unknown]> = [];
		const problems: Problem[] = [];
		for (const { at, field, isWritten } of this.columns) {
			const text = formulaGuard ? unguarded(cells[at]!) : cells[at]!;
			const isText = text === '' || !isWritten;
			const parsed = isText ? { value: text } : fieldType(field).parse(text, form);
			if ('value' in parsed) values.push([field.name, parsed.value]);
			else problems.push({ field: field.name, message: `'${field.name}' ${parsed.problem}` });
		}
		return { index, values: Object.fromEntries(values), id: cells[this.idColumn], problems };
	}

	private readJson(row: Exclude<FileRow, { cells: string[] }>): PlanInput | Problem {
		if (!row.values) return { message: `the line ${row.problem}` };
		const values = withoutAdded(row.values, (name) => this.isField(name));
		const { mapping, hasId } = this.reading;
		const id = hasId ? getOwn<unknown>(values, 'id') : undefined;
		if (!mapping) return { index: row.row, values: this.jsonValues(values), id };
		const entries = mapping.map(({ column, field }) => [field, getOwn(values, column)] as const);
		return { index: row.row, values: Object.fromEntries(entries), id };
	}
}
