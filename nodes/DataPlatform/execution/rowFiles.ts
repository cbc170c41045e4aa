/**
 * Which form a file of rows has, from the parameters of `descriptions/rowFiles`.
 */
import type { TableDefinition } from '../api/types';
import { safeFileName } from '../files/uploadValidation';
import { DELIMITERS, type Delimiter } from '../rows/csv';
import type { TextForm } from '../fields/fieldType';
import { timeReader, zoneReader } from '../fields/textForm';
import type { CsvForm } from '../rows/exportRows';
import type { RowFileForm } from '../rows/readRows';
import { ENCODINGS, type Encoding } from '../rows/text';
import { InputError } from '../transport/errors';
import { requireChoice, requireNumber, withLabel, type RunContext } from './run';

/** @throws {InputError} */
export const formatOf = <F extends string>(
	run: RunContext<'format'>,
	index: number,
	formats: readonly F[],
): F => requireChoice(run.parameter('format', index), 'Format', formats);

type CsvFormParameter =
	| 'options.byteOrderMark'
	| 'options.columnNames'
	| 'options.delimiter'
	| 'options.formulaGuard';

/** How CSV is written. @throws {InputError} */
export function csvFormOf(
	run: RunContext<CsvFormParameter>,
	index: number,
): CsvForm & { hasHeaders: boolean } {
	const delimiter = run.option<unknown>('options.delimiter', index, ',');
	const names = run.option<unknown>('options.columnNames', index, 'names');
	return {
		delimiter: requireChoice<Delimiter>(delimiter, 'Delimiter', DELIMITERS),
		byteOrderMark: run.flag('options.byteOrderMark', 'Byte Order Mark', index),
		formulaGuard: guardOf(run, index),
		hasHeaders: requireChoice(names, 'Column Names', ['names', 'headers']) === 'headers',
	};
}

/** On where it is not set. @throws {InputError} */
const guardOf = (run: RunContext<'options.formulaGuard'>, index: number): boolean =>
	run.parameter('options.formulaGuard', index) === undefined &&
	!run.isExpression('options.formulaGuard')
		? true
		: run.flag('options.formulaGuard', 'Formula Guard', index);

const ENDING = /\.(csv|tsv|txt|ndjson|jsonl|json)$/i;

/** The name that is set, with an ending; the table's where none is. */
export function exportFileName(
	run: RunContext<'options.fileName'>,
	index: number,
	table: TableDefinition,
	format: string,
): string {
	const given = run.optionalText('options.fileName', 'File Name', index);
	const name = safeFileName(given === '' ? table.header : given);
	return ENDING.test(name) ? name : `${name}.${format}`;
}

export type ImportFormParameter =
	| 'format'
	| 'options.dateFormat'
	| 'options.delimiter'
	| 'options.duplicates'
	| 'options.emptyValues'
	| 'options.encoding'
	| 'options.endAtRow'
	| 'options.formulaGuard'
	| 'options.listSeparator'
	| 'options.numberFormat'
	| 'options.startAtRow'
	| 'options.stopAfterRejected'
	| 'options.timeZone'
	| 'options.unknownFields';

type ImportFormRun = RunContext<ImportFormParameter>;

/** How a file is read. @throws {InputError} */
export function readFormOf(
	run: ImportFormRun,
	index: number,
): RowFileForm & { encoding: Encoding } {
	const format = formatOf(run, index, ['auto', 'csv', 'ndjson'] as const);
	const delimiter = requireChoice<Delimiter | 'auto'>(
		run.option<unknown>('options.delimiter', index, 'auto'),
		'Delimiter',
		['auto', ...DELIMITERS],
	);
	return {
		format: format === 'auto' ? undefined : format,
		delimiter: delimiter === 'auto' ? undefined : delimiter,
		encoding: requireChoice<Encoding>(
			run.option<unknown>('options.encoding', index, 'auto'),
			'Encoding',
			ENCODINGS,
		),
		formulaGuard: guardOf(run, index),
	};
}

/** How values stand in it. @throws {InputError} */
export function textFormOf(run: ImportFormRun, index: number): TextForm {
	const date = run.optionalText('options.dateFormat', 'Date Format', index);
	const zone = run.optionalText('options.timeZone', 'Time Zone', index);
	const separator = run.option<unknown>('options.listSeparator', index, '');
	if (typeof separator !== 'string') {
		throw new InputError("'List Separator' is no text", {
			field: 'List Separator',
			hint: 'Choose it from the list, or correct the expression in it.',
		});
	}
	return {
		numbers: requireChoice<TextForm['numbers']>(
			run.option<unknown>('options.numberFormat', index, 'plain'),
			'Number Format',
			['plain', 'point', 'comma'],
		),
		readTime: date === '' ? undefined : withLabel('Date Format', () => timeReader(date)),
		withZone: zone === '' ? undefined : withLabel('Time Zone', () => zoneReader(zone)),
		listSeparator: separator,
	};
}

/** Which rows are read, and how many may be rejected; 0 for no end. @throws {InputError} */
export function rowRangeOf(run: ImportFormRun, index: number) {
	const number = (
		name: 'startAtRow' | 'endAtRow' | 'stopAfterRejected',
		label: string,
		min: number,
	) => {
		const path = `options.${name}` as const;
		const value = run.parameter(path, index);
		// An expression that returned nothing must not mean the whole file.
		if (value === undefined && !run.isExpression(path)) return min;
		return requireNumber(value, label, { min, max: 0xffff_ffff, isWhole: true });
	};
	const startAt = number('startAtRow', 'Start at Row', 1);
	const endAt = number('endAtRow', 'End at Row', 0);
	if (endAt > 0 && endAt < startAt) {
		throw new InputError(`'End at Row' (${endAt}) is before 'Start at Row' (${startAt})`, {
			field: 'End at Row',
			hint: "Correct one of the two, or set 'End at Row' to 0 for the end of the file.",
		});
	}
	return {
		startAt,
		endAt,
		stopAfterRejected: number('stopAfterRejected', 'Rejected Rows Limit', 0),
	};
}
