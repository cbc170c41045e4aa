/**
 * Handles text of any length from outside.
 */

/** A copy of a text. A substring would keep the whole original in memory. */
export const detached = (text: string): string => ` ${text}`.slice(1);

/** A text for a message, shortened if it is longer than allowed. */
export const shortened = (text: string, maxCharacters: number): string =>
	text.length <= maxCharacters ? text : `${detached(text.slice(0, maxCharacters))}… (cut)`;

const NAMES_SHOWN = 10;

const NAME_CHARACTERS = 100;

/** Names for a message, in quotes. */
export function nameList(names: string[]): string {
	const shown = names.slice(0, NAMES_SHOWN).map((name) => `'${shortened(name, NAME_CHARACTERS)}'`);
	const rest = names.length - NAMES_SHOWN;
	return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
