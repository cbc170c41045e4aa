/**
 * Handles text of any length from outside.
 */

/** A copy of a text. A substring would keep the whole original in memory. */
export const copyOfText = (text: string): string => ` ${text}`.slice(1);

/** Line breaks, and what a terminal takes for a command. */
const CONTROL = /(?:\p{Cc}(?:\[[\d;]*m)?|[\u2028\u2029])+/gu;

/** A text for a message: on one line, and shortened if it is longer than allowed. */
export function shortened(text: string, maxCharacters: number): string {
	if (text.length <= maxCharacters) return text.replace(CONTROL, ' ');
	return `${copyOfText(text.slice(0, maxCharacters)).replace(CONTROL, ' ')}… (cut)`;
}

/** A text for a place that n8n's editor shows as HTML: names in it must not become tags. */
export const escapedHtml = (text: string): string =>
	text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Such as `12,000`. */
export const shownCount = (count: number): string => count.toLocaleString('en');

/** Such as `1 record` or `2,000 records`. */
export const counted = (count: number, noun: string): string =>
	`${shownCount(count)} ${noun}${count === 1 ? '' : 's'}`;

const MAX_SHOWN = 10;

const NAME_CHARACTERS = 100;

const PROBLEM_CHARACTERS = 1000;

/** The first few problems, for a message. */
export function listed(problems: string[]): string {
	const shown = problems.slice(0, MAX_SHOWN).map((text) => shortened(text, PROBLEM_CHARACTERS));
	const rest = problems.length - MAX_SHOWN;
	return `${shown.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}

/** Names for a message, in quotes. @param most how many to show @param count of all, also others */
export function nameList(names: string[], most = MAX_SHOWN, count = names.length): string {
	const shown = names.slice(0, most).map((name) => `'${shortened(name, NAME_CHARACTERS)}'`);
	const rest = count - shown.length;
	return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
