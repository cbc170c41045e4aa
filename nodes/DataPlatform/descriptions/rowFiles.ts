/**
 * Parameters of the operations that read and write files of rows; `execution/rowFiles` reads them.
 */
import type { OptionGroup } from './common';
import { loadOptionsFrom, TABLE_DEPENDENCIES } from './locators';
import type { Parameter } from '../execution/operation';

const CSV = {
	name: 'CSV',
	value: 'csv',
	description: 'A table as text, for spreadsheets and most other programs',
};
const NDJSON = {
	name: 'NDJSON',
	value: 'ndjson',
	description: 'One JSON object per line, which keeps every value as it is',
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
	description: 'The character between the values of a CSV file',
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
	description: 'The name of the file. By default, the name of the table.',
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

export const importFormat: Parameter<'format'> = {
	displayName: 'Format',
	name: 'format',
	type: 'options',
	options: [
		{ name: 'Automatic', value: 'auto', description: 'NDJSON if the file begins with {, else CSV' },
		CSV,
		NDJSON,
	],
	default: 'auto',
};

export const importMode: Parameter<'importMode'> = {
	displayName: 'Import Mode',
	name: 'importMode',
	type: 'options',
	options: [
		{ name: 'Create', value: 'create', description: 'Create a new record for each row' },
		{
			name: 'Create or Update',
			value: 'upsert',
			description: 'Create a new record, or update the current one if it already exists (upsert)',
		},
		{ name: 'Update', value: 'update', description: 'Update the record that a row matches' },
	],
	default: 'upsert',
};

export const mappingMode: Parameter<'mappingMode'> = {
	displayName: 'Mapping Column Mode',
	name: 'mappingMode',
	type: 'options',
	options: [
		{
			name: 'Map Automatically',
			value: 'autoMapInputData',
			description: 'Each column goes into the field of the same name, or of the same header',
		},
		{
			name: 'Map Each Column Manually',
			value: 'defineBelow',
			description: 'Only the columns that you name are imported',
		},
	],
	default: 'autoMapInputData',
};

export const columnMapping: Parameter<'columnMapping'> = {
	displayName: 'Column Mapping',
	name: 'columnMapping',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Column',
	default: {},
	displayOptions: { show: { mappingMode: ['defineBelow'] } },
	options: [
		{
			displayName: 'Column',
			name: 'column',
			values: [
				{
					displayName: 'Column in the File',
					name: 'column',
					type: 'string',
					default: '',
					placeholder: 'e.g. Unit Price',
					description: 'Its name in the first row; in NDJSON, the name of a value',
				},
				{
					displayName: 'Field Name or ID',
					name: 'field',
					type: 'options',
					typeOptions: loadOptionsFrom('getFields', ...TABLE_DEPENDENCIES),
					default: '',
					description:
						'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
				},
			],
		},
	],
};

export const inputDataFieldName: Parameter<'inputDataFieldName'> = {
	displayName: 'Input Data Field Name',
	name: 'inputDataFieldName',
	type: 'string',
	default: 'data',
	description:
		"The name of the input field with the file. Separate several with commas; leave it empty for all of the item's files.",
};

export const rejectedRowsField: Parameter<'rejectedRowsField'> = {
	displayName: 'Put Rejected Rows in Field',
	name: 'rejectedRowsField',
	type: 'string',
	required: true,
	default: 'rejected',
	description:
		'The name of the output field for a file with the rows that were not written, and why',
};

const importDelimiter: Parameter<'delimiter'> = {
	displayName: 'Delimiter',
	name: 'delimiter',
	type: 'options',
	options: [
		{ name: 'Automatic', value: 'auto', description: 'The most frequent one in the first row' },
		...delimiters,
	],
	default: 'auto',
	description: 'The character between the values of a CSV file',
};

const encoding: Parameter<'encoding'> = {
	displayName: 'Encoding',
	name: 'encoding',
	type: 'options',
	options: [
		{
			name: 'Automatic',
			value: 'auto',
			description: 'UTF-8, or what the byte order mark at the beginning of the file says',
		},
		{ name: 'UTF-16 BE', value: 'utf-16be' },
		{ name: 'UTF-16 LE', value: 'utf-16le' },
		{ name: 'UTF-8', value: 'utf-8' },
		{
			name: 'Windows-1252',
			value: 'windows-1252',
			description: 'What spreadsheets on Windows write in Western Europe and America',
		},
	],
	default: 'auto',
};

const importGuard: Parameter<'formulaGuard'> = {
	...formulaGuard,
	description:
		"Whether to remove the apostrophe that 'Export to File' writes before text that looks like a formula",
};

const startAtRow: Parameter<'startAtRow'> = {
	displayName: 'Start at Row',
	name: 'startAtRow',
	type: 'number',
	typeOptions: { minValue: 1, numberPrecision: 0 },
	default: 1,
	description:
		'The first row to import, counted as in a spreadsheet: the one with the column names is row 1. If an import stops early, its error says where to continue.',
};

const endAtRow: Parameter<'endAtRow'> = {
	displayName: 'End at Row',
	name: 'endAtRow',
	type: 'number',
	typeOptions: { minValue: 0, numberPrecision: 0 },
	default: 0,
	description: 'The last row to import; 0 for all. Several executions can share a file this way.',
};

const stopAfterRejected: Parameter<'stopAfterRejected'> = {
	displayName: 'Rejected Rows Limit',
	name: 'stopAfterRejected',
	type: 'number',
	typeOptions: { minValue: 0, numberPrecision: 0 },
	default: 0,
	description: 'Stop with an error once this many rows were rejected; 0 for never',
};

const dateFormat: Parameter<'dateFormat'> = {
	displayName: 'Date Format',
	name: 'dateFormat',
	type: 'string',
	default: '',
	placeholder: 'e.g. dd.MM.yyyy HH:mm',
	description: 'How dates and times are written in a CSV file, if not like 2026-11-21T09:30:00Z',
};

const listSeparator: Parameter<'listSeparator'> = {
	displayName: 'List Separator',
	name: 'listSeparator',
	type: 'string',
	default: '',
	placeholder: 'e.g. ;',
	description: 'The character between the entries of a list in one cell, if the cell is not JSON',
};

const numberFormat: Parameter<'numberFormat'> = {
	displayName: 'Number Format',
	name: 'numberFormat',
	type: 'options',
	options: [
		{ name: '1,234.5', value: 'point' },
		{ name: '1.234,5', value: 'comma' },
		{ name: '1234.5', value: 'plain' },
	],
	default: 'plain',
	description: 'How numbers are written in a CSV file',
};

const timeZone: Parameter<'timeZone'> = {
	displayName: 'Time Zone',
	name: 'timeZone',
	type: 'string',
	default: '',
	placeholder: 'e.g. Europe/Berlin',
	description:
		'The time zone of times in a CSV file that have none. By default, the time zone of the application.',
};

export const importFile: OptionGroup<
	'delimiter' | 'encoding' | 'endAtRow' | 'formulaGuard' | 'startAtRow' | 'stopAfterRejected'
> = {
	displayName: 'File',
	name: 'file',
	description: 'How to read the file, and which of its rows',
	options: [importDelimiter, encoding, endAtRow, importGuard, startAtRow, stopAfterRejected],
};

/** How text in a CSV file becomes values. */
export const textForm = [dateFormat, listSeparator, numberFormat, timeZone];
