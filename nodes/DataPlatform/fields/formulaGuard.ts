/**
 * Text that a spreadsheet would take for a formula, such as `=1+1`, as a cell: `'=1+1`. One that
 * splits cells at semicolons or tabs would take the end of `a;=1+1` for one, too.
 */

/** How a formula starts, with or without apostrophes before it. */
const FORMULA = /(^|[;\t])('*)(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])/g;

/**
 * Adds an apostrophe to text that a spreadsheet would take for a formula, even if it already has
 * some. `unguarded` undoes this.
 */
export const guarded = (text: string): string => text.replace(FORMULA, "$1'$2");

/** Removes the apostrophes that `guarded` added. */
export const unguarded = (text: string): string =>
	text.includes("'")
		? text.replace(FORMULA, (_, before: string, marks: string) => before + marks.slice(1))
		: text;
