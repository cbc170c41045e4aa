/**
 * Limits of a row in a file. A small compressed file may unpack into an endless row, which must not
 * use up all memory.
 */
import { InputError } from '../transport/errors';

/** For a row of CSV and a line of NDJSON. */
export const MAX_ROW_CHARACTERS = 16 * 1024 * 1024;

/** The cells of a row of CSV. */
export const MAX_ROW_CELLS = 100_000;

/** @param excess such as `100000 cells` */
export const tooLong = (row: number, excess: string) =>
	new InputError(`Row ${row} has more than ${excess}`, {
		hint: 'A quote in it may be open, or an end of a line missing: correct the row.',
	});
