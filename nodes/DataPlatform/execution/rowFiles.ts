/**
 * Which form a file of rows has, from the parameters of `descriptions/rowFiles`.
 */
import type { TableDefinition } from '../api/types';
import { safeFileName } from '../files/uploadValidation';
import { DELIMITERS, type Delimiter } from '../rows/csv';
import type { CsvForm } from '../rows/exportRows';
import { InputError } from '../transport/errors';
import type { RunContext } from './run';

const CHOOSE = 'Choose it from the list, or correct the expression in it.';

/** @throws {InputError} where an expression gives something else */
export function oneOf<T>(value: unknown, choices: readonly T[], label: string): T {
	if ((choices as readonly unknown[]).includes(value)) return value as T;
	const names = choices.map((choice) => JSON.stringify(choice)).join(', ');
	throw new InputError(`'${label}' must be one of ${names}, not ${JSON.stringify(value)}`, {
		field: label,
		hint: CHOOSE,
	});
}

/** @throws {InputError} */
export const formatOf = <F extends string>(
	run: RunContext<'format'>,
	index: number,
	formats: readonly F[],
): F => oneOf(run.parameter('format', index), formats, 'Format');

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
		delimiter: oneOf<Delimiter>(delimiter, DELIMITERS, 'Delimiter'),
		byteOrderMark: run.flag('options.byteOrderMark', 'Byte Order Mark', index),
		formulaGuard: guardOf(run, index),
		hasHeaders: oneOf(names, ['names', 'headers'] as const, 'Column Names') === 'headers',
	};
}

/** On where it is not set. @throws {InputError} */
export const guardOf = (run: RunContext<'options.formulaGuard'>, index: number): boolean =>
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
