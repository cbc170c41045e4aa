/**
 * Parameters of the operations that read and write files of rows; `execution/rowFiles` reads them.
 */
import type { OptionGroup } from './common';
import type { Parameter } from '../execution/operation';

const CSV = {
	name: 'CSV',
	value: 'csv',
	description: 'A table as text, for spreadsheets and most other programs',
};
const NDJSON = {
	name: 'NDJSON',
	value: 'ndjson',
	description: 'One JSON object a line, which keeps every value as it is',
};

export const exportFormat: Parameter<'format'> = {
	displayName: 'Format',
	name: 'format',
	type: 'options',
	options: [CSV, NDJSON],
	default: 'csv',
};

const delimiters = [
	{ name: 'Comma', value: ',' },
	{ name: 'Pipe', value: '|' },
	{ name: 'Semicolon', value: ';' },
	{ name: 'Tab', value: '\t' },
];

const exportDelimiter: Parameter<'delimiter'> = {
	displayName: 'Delimiter',
	name: 'delimiter',
	type: 'options',
	options: delimiters,
	default: ',',
	description: 'What stands between the cells of a CSV file',
};

const byteOrderMark: Parameter<'byteOrderMark'> = {
	displayName: 'Byte Order Mark',
	name: 'byteOrderMark',
	type: 'boolean',
	default: false,
	description:
		'Whether to begin a CSV file with a byte order mark, by which Excel knows that it is UTF-8',
};

const columnNames: Parameter<'columnNames'> = {
	displayName: 'Column Names',
	name: 'columnNames',
	type: 'options',
	options: [
		{ name: 'Field Names', value: 'names', description: 'The internal names, such as unit_price' },
		{
			name: 'Headers',
			value: 'headers',
			description: 'What users of the platform see, such as Unit Price',
		},
	],
	default: 'names',
	description: 'What the columns of a CSV file are called',
};

const fileName: Parameter<'fileName'> = {
	displayName: 'File Name',
	name: 'fileName',
	type: 'string',
	default: '',
	placeholder: 'e.g. orders.csv',
	description: 'The name of the file; the name of the table unless it is set here',
};

export const formulaGuard: Parameter<'formulaGuard'> = {
	displayName: 'Formula Guard',
	name: 'formulaGuard',
	type: 'boolean',
	default: true,
	description:
		'Whether to write an apostrophe before text in a CSV file that a spreadsheet would run as a formula',
};

export const exportFile: OptionGroup<
	'byteOrderMark' | 'columnNames' | 'delimiter' | 'fileName' | 'formulaGuard'
> = {
	displayName: 'File',
	name: 'file',
	description: 'The name of the file, and how CSV is written',
	options: [byteOrderMark, columnNames, exportDelimiter, fileName, formulaGuard],
};
