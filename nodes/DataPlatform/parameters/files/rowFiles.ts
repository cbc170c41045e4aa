/**
 * Parameters for files of rows: how to read and write them.
 */
import type { TableDefinition } from '../../api/types';
import type { NameOf } from '../../parameterKinds/parameter';
import {
	anyValue,
	choice,
	flag,
	list,
	text,
	wholeNumber,
	type Choices,
} from '../../parameterKinds/kinds';
import { notText, withLabel } from '../../parameterKinds/requireValue';
import type { ColumnEntry } from '../../import/rowValues';
import type { RunContext } from '../../run/run';
import type { CellFormat } from '../../fields/fieldType';
import { timeReader, zoneOf } from '../../fields/dateFormat';
import { safeFileName } from '../../files/uploadValidation';
import type { CsvFormat } from '../../rows/exportRows';
import { ENCODINGS, type FileFormat } from '../../rows/readRows';
import { inputDataFieldName } from './uploads';
import { rowMatchingParameters } from '../write/matchRules';
import { OptionGroup } from '../defineOperation';
import { fieldPart } from '../select/table';
import { LABELS } from '../../labels';

const FORMATS = {
	csv: ['CSV', 'A table as text, for spreadsheets and most other programs'],
	ndjson: ['NDJSON', 'One JSON object per line, which keeps every value as it is'],
} as const;

export const exportFormat = choice('format', { label: 'Format', choices: FORMATS, preset: 'csv' });

const importFormat = choice('format', {
	label: 'Format',
	choices: { auto: ['Automatic', 'NDJSON if the file begins with {, else CSV'], ...FORMATS },
	preset: 'auto',
});

const DELIMITERS: Choices<CsvFormat['delimiter']> = {
	',': 'Comma',
	'|': 'Pipe',
	';': 'Semicolon',
	'\t': 'Tab',
};

const delimiterOf = <T extends string>(choices: Choices<T>, preset: NoInfer<T>) =>
	choice('delimiter', {
		label: LABELS.delimiter,
		choices,
		preset,
		description: 'The character between the values of a CSV file',
	});

const exportDelimiter = delimiterOf(DELIMITERS, ',');

const importDelimiter = delimiterOf(
	{ auto: ['Automatic', 'The most frequent one in the first row'], ...DELIMITERS },
	'auto',
);

const byteOrderMark = flag('byteOrderMark', {
	label: 'Byte Order Mark',
	preset: false,
	description:
		'Whether to begin a CSV file with a byte order mark, by which Excel knows that it is UTF-8',
});

const columnNames = choice('columnNames', {
	label: 'Column Names',
	choices: {
		names: ['Field Names', 'The internal names, such as unit_price'],
		headers: ['Headers', 'What users of the platform see, such as Unit Price'],
	},
	preset: 'names',
	description: 'What the columns of a CSV file are called',
});

const fileName = text('fileName', {
	label: 'File Name',
	placeholder: 'e.g. orders.csv',
	description: 'The name of the file. By default, the name of the table.',
});

const formulaGuard = flag('formulaGuard', {
	label: 'Formula Guard',
	preset: true,
	description:
		'Whether to write an apostrophe before text in a CSV file that a spreadsheet would run as a formula',
});

const csvOptions = [byteOrderMark, columnNames, exportDelimiter, formulaGuard];

export const exportFile = new OptionGroup(
	'file',
	'File',
	'The name of the file, and how CSV is written',
	[...csvOptions, fileName],
);

/** How to write CSV. @throws {InputError} */
export const readCsvFormat = (
	run: RunContext<NameOf<typeof csvOptions>>,
	index: number,
): CsvFormat & { hasHeaders: boolean } => ({
	delimiter: exportDelimiter.of(run, index),
	byteOrderMark: byteOrderMark.of(run, index),
	formulaGuard: formulaGuard.of(run, index),
	hasHeaders: columnNames.of(run, index) === 'headers',
});

const ENDING = /\.(csv|tsv|txt|ndjson|jsonl|json)$/i;

/** The file's name with an extension: the given one, or the table's. */
export function exportFileName(
	run: RunContext<NameOf<typeof fileName>>,
	index: number,
	table: TableDefinition,
	format: string,
): string {
	const name = safeFileName(fileName.of(run, index) || table.header);
	return ENDING.test(name) ? name : `${name}.${format}`;
}

const importMode = choice('importMode', {
	label: 'Import Mode',
	choices: {
		create: ['Create', 'Create a new record for each row'],
		upsert: [
			'Create or Update',
			'Create a new record, or update the current one if it already exists (upsert)',
		],
		update: ['Update', 'Update the record that a row matches'],
	},
	preset: 'upsert',
});

export const mappingMode = choice('mappingMode', {
	label: LABELS.mappingMode,
	choices: {
		autoMapInputData: [
			'Map Automatically',
			'Each column goes into the field of the same name, or of the same header',
		],
		defineBelow: ['Map Each Column Manually', 'Only the columns that you name are imported'],
	},
	preset: 'autoMapInputData',
});

const column = text('column', {
	label: 'Column in the File',
	placeholder: 'e.g. Unit Price',
	description: 'Its name in the first row; in NDJSON, the name of a value',
});

const targetField = fieldPart('getField');

export const columnMapping = list('columnMapping', {
	label: LABELS.columnMapping,
	add: 'Add Column',
	entry: ['column', 'Column'],
	show: { mappingMode: ['defineBelow'] },
	parts: [column, targetField],
});

/**
 * The field of each column; undefined if the mapping is automatic.
 *
 * @throws {InputError} if an entry has no column or no field, or two have the same field
 */
export function mappingOf(
	run: RunContext<NameOf<typeof mappingMode | typeof columnMapping>>,
	index: number,
): ColumnEntry[] | undefined {
	if (mappingMode.of(run, index) === 'autoMapInputData') return undefined;
	const wrong = (message: string) =>
		columnMapping.error(message, 'Correct it, or remove the entry.');
	const entries = columnMapping.of(run, index).map((entry) => {
		const from = column.in(entry, columnMapping);
		const field = targetField.in(entry, columnMapping);
		if (from === '') throw wrong(`An entry of ${columnMapping} names no column of the file`);
		if (field === '') throw wrong(`${columnMapping} names no field for the column '${from}'`);
		return { column: from, field };
	});
	if (entries.length === 0) throw wrong(`${columnMapping} is empty`);
	const fields = entries.map(({ field }) => field);
	const twice = fields.find((field, at) => fields.indexOf(field) !== at);
	if (twice !== undefined) throw wrong(`${columnMapping} has two columns for '${twice}'`);
	return entries;
}

const rejectedRowsField = text('rejectedRowsField', {
	label: 'Put Rejected Rows in Field',
	required: true,
	preset: 'rejected',
	description:
		'The name of the output field for a file with the rows that were not written, and why',
});

export const encoding = choice<'encoding', FileFormat['encoding']>('encoding', {
	label: LABELS.encoding,
	choices: {
		auto: ['Automatic', 'UTF-8, or what the byte order mark at the beginning of the file says'],
		...ENCODINGS,
	},
	preset: 'auto',
});

/** Row numbers are stored in 32 bits. */
const MAX_ROW = 0xffff_ffff;

export const startAtRow = wholeNumber('startAtRow', {
	label: 'Start at Row',
	min: 1,
	max: MAX_ROW,
	preset: 1,
	description:
		'The first row to import, counted as in a spreadsheet: the one with the column names is row 1. If an import stops early, its error says where to continue.',
});

const headerRow = wholeNumber('headerRow', {
	label: LABELS.headerRow,
	min: 1,
	max: 1000,
	preset: 1,
	description: 'The row of a CSV file that has the column names, if titles come before it',
});

export const endAtRow = wholeNumber('endAtRow', {
	label: 'End at Row',
	min: 0,
	max: MAX_ROW,
	preset: 0,
	description: 'The last row to import; 0 for all. Several executions can share a file this way.',
});

const stopAfterRejected = wholeNumber('stopAfterRejected', {
	label: LABELS.rejectedRowsLimit,
	min: 0,
	max: MAX_ROW,
	preset: 0,
	description: 'Stop with an error once this many rows were rejected; 0 for never',
});

const rowOptions = [endAtRow, startAtRow, stopAfterRejected];

const readOptions = [
	importDelimiter,
	encoding,
	headerRow,
	formulaGuard.with({
		description:
			"Whether to remove the apostrophe that 'Export to File' writes before text that looks like a formula",
	}),
];

export const importFile = new OptionGroup(
	'file',
	'File',
	'How to read the file, and which of its rows',
	[...rowOptions, ...readOptions],
);

const dateFormat = text('dateFormat', {
	label: LABELS.dateFormat,
	placeholder: 'e.g. dd.MM.yyyy HH:mm',
	description: 'How dates and times are written in a CSV file, if not like 2026-11-21T09:30:00Z',
});

const listSeparator = anyValue('listSeparator', {
	label: 'List Separator',
	placeholder: 'e.g. ;',
	description: 'The character between the entries of a list in one cell, if the cell is not JSON',
});

const numberFormat = choice('numberFormat', {
	label: LABELS.numberFormat,
	choices: { point: '1,234.5', comma: '1.234,5', plain: '1234.5' },
	preset: 'plain',
	description: 'How numbers are written in a CSV file',
});

const timeZone = text('timeZone', {
	label: LABELS.timeZone,
	placeholder: 'e.g. Europe/Berlin',
	description:
		'The time zone of times in a CSV file that have none. By default, the time zone of the application.',
});

/** How to convert text in a CSV file into values. */
export const textOptions = [dateFormat, listSeparator, numberFormat, timeZone];

/** @throws {InputError} */
function readCellFormat(run: RunContext<NameOf<typeof textOptions>>, index: number): CellFormat {
	const date = dateFormat.of(run, index);
	const zone = timeZone.of(run, index);
	// Not trimmed, because it may be a space.
	const separator = listSeparator.of(run, index);
	if (typeof separator !== 'string') throw notText(separator, listSeparator);
	return {
		numbers: numberFormat.of(run, index),
		readTime: date === '' ? undefined : withLabel(dateFormat, () => timeReader(date)),
		withZone: zone === '' ? undefined : withLabel(timeZone, () => zoneOf(zone).toUtc),
		listSeparator: separator,
	};
}

/** The parameters of an import, without its table and options. */
export const importParameters = [
	inputDataFieldName.with({
		description:
			'The name of the input field with the file. Leave it empty if the item has only one.',
	}),
	importFormat,
	importMode,
	...rowMatchingParameters,
	mappingMode,
	columnMapping,
	rejectedRowsField,
];

type ImportParameter = NameOf<
	typeof importParameters | typeof textOptions | typeof readOptions | typeof rowOptions
>;

/** The settings for one file. @throws {InputError} */
export function fileSettingsOf(run: RunContext<ImportParameter>, index: number) {
	const format = importFormat.of(run, index);
	const delimiter = importDelimiter.of(run, index);
	const startAt = startAtRow.of(run, index);
	const endAt = endAtRow.of(run, index);
	if (endAt > 0 && endAt < startAt) {
		throw endAtRow.error(
			`${endAtRow} (${endAt}) is before ${startAtRow} (${startAt})`,
			`Correct one of the two, or set ${endAtRow} to 0 for the end of the file.`,
		);
	}
	const form: FileFormat = {
		format: format === 'auto' ? undefined : format,
		delimiter: delimiter === 'auto' ? undefined : delimiter,
		encoding: encoding.of(run, index),
		headerRow: headerRow.of(run, index),
		formulaGuard: formulaGuard.of(run, index),
	};
	return {
		mode: importMode.of(run, index),
		outputName: rejectedRowsField.of(run, index),
		mapping: mappingOf(run, index),
		form,
		texts: readCellFormat(run, index),
		range: { startAt, endAt, stopAfterRejected: stopAfterRejected.of(run, index) },
	};
}
