/**
 * Limits of a row in a file. A small compressed file may unpack into an endless row, which must not
 * use up all memory.
 */
import { copyOfText } from '../transport/messageText';

export const MAX_CELL_CHARACTERS = 4 * 1024 * 1024;

/** For a row of CSV and a line of NDJSON. */
export const MAX_ROW_CHARACTERS = 16 * 1024 * 1024;

/** The cells of a row. In a line of NDJSON, every value, list and object counts. */
export const MAX_ROW_VALUES = 100_000;

/** How much to keep of a longer text, so that users recognize it. */
const MAX_SHOWN = 100;

/** The beginning of a longer text. */
export const beginningOf = (text: string): string => `${copyOfText(text.slice(0, MAX_SHOWN))}…`;

/** The first cells of a row, shortened. */
export const firstCells = (cells: string[]): string[] =>
	cells
		.slice(0, MAX_SHOWN)
		.map((cell) => (cell.length > MAX_SHOWN ? beginningOf : copyOfText)(cell));
