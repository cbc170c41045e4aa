/** Text that a spreadsheet would take for a formula, such as `=1+1`, as a cell: `'=1+1`. */

/** How a formula starts, with or without apostrophes before it. */
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * Adds an apostrophe to text that a spreadsheet would take for a formula, even if it already has
 * some. `unguarded` undoes this.
 */
export const guarded = (text: string): string => (FORMULA.test(text) ? `'${text}` : text);

/** Removes the apostrophe that `guarded` added. */
export const unguarded = (text: string): string =>
	text.charCodeAt(0) === 0x27 && FORMULA.test(text) ? text.slice(1) : text;
