/**
 * What a row of a file may have. A small packed file may unpack to a row without an end, which must
 * not take all memory.
 */
import { detached } from '../transport/text';

export const MAX_CELL_CHARACTERS = 4 * 1024 * 1024;

/** Of a row of CSV, and of a line of NDJSON. */
export const MAX_ROW_CHARACTERS = 16 * 1024 * 1024;

/** The cells of a row; in a line of NDJSON every value, list and object counts. */
export const MAX_ROW_VALUES = 100_000;

/** How much is kept of what is longer, to recognize it by. */
const SHOWN = 100;

/** The beginning of a text that is longer. */
export const beginningOf = (text: string): string => `${detached(text.slice(0, SHOWN))}…`;

/** The first cells of a row, those that are long cut. */
export const firstCells = (cells: string[]): string[] =>
	cells.slice(0, SHOWN).map((cell) => (cell.length > SHOWN ? beginningOf : detached)(cell));
