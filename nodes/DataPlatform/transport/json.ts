/** Deeper than any real data; what handles an item later can't go on without end. */
const MAX_DEPTH = 500;

const QUOTE = 34;
const BACKSLASH = 92;

/** The place of the quote that ends the text that begins at another. */
export function endOfText(json: string, quote: number): number {
	let at = quote + 1;
	for (; at < json.length && json.charCodeAt(at) !== QUOTE; at += 1) {
		if (json.charCodeAt(at) === BACKSLASH) at += 1;
	}
	return at;
}

/** Whether lists and objects lie in each other deeper than anybody can handle. */
function isTooDeep(text: string): boolean {
	let depth = 0;
	for (let at = 0; at < text.length; at += 1) {
		const code = text.charCodeAt(at);
		if (code === QUOTE) at = endOfText(text, at);
		else if (code === 0x5b || code === 0x7b) {
			depth += 1;
			if (depth > MAX_DEPTH) return true;
		} else if (code === 0x5d || code === 0x7d) depth -= 1;
	}
	return false;
}

/** The value that a text holds as JSON; undefined where it is no JSON, or nested without end. */
export function parseJson(text: string): unknown {
	if (isTooDeep(text)) return undefined;
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}

/** A number as text: more than JSON allows, such as a sign, a point at an end and spaces around it. */
export const NUMBER = /^\s*[+-]?(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:e([+-]?\d+))?\s*$/i;

/** Not by a pattern, which would start anew at each of many zeros. */
export function withoutTrailingZeros(digits: string): string {
	let end = digits.length;
	while (digits[end - 1] === '0') end -= 1;
	return digits.slice(0, end);
}

/** The digits of a number's text and where they stand, in one form for each value but its sign. */
function exactForm(text: string): string | undefined {
	const match = NUMBER.exec(text);
	if (!match) return undefined;
	const [, whole = '', decimals, onlyDecimals, exponent = '0'] = match;
	const fraction = decimals ?? onlyDecimals ?? '';
	const digits = `${whole}${fraction}`.replace(/^0+/, '');
	const significant = withoutTrailingZeros(digits);
	if (significant === '') return '0';
	const power = Number(exponent) - fraction.length + (digits.length - significant.length);
	return `${significant}e${power}`;
}

/** Whether a number has all the digits of the text that it was read from. */
export const isExactNumber = (text: string, value: number): boolean =>
	exactForm(text) === exactForm(String(value));

/** What any number has that loses digits: many of them, or a large exponent. */
const MAY_LOSE_DIGITS = /\d[\d.]{15}|\de[+-]?\d{3}/i;

const NUMBER_AT = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/iy;

/** The numbers of a JSON text of which a JavaScript number can't hold all digits, with their places. */
export function* inexactNumbers(json: string): Generator<{ at: number; text: string }> {
	if (!MAY_LOSE_DIGITS.test(json)) return;
	for (let at = 0; at < json.length; at += 1) {
		if (json.charCodeAt(at) === QUOTE) {
			at = endOfText(json, at);
			continue;
		}
		NUMBER_AT.lastIndex = at;
		const text = NUMBER_AT.exec(json)?.[0];
		if (text === undefined) continue;
		if (!isExactNumber(text, Number(text))) yield { at, text };
		at += text.length - 1;
	}
}

/**
 * JSON text with such numbers in quotes: read as text, they keep their digits. What takes a number
 * rejects them then, and what takes text gets them as they were written.
 *
 * @param json valid JSON
 */
export function withExactNumbers(json: string): string {
	let exact = '';
	let end = 0;
	for (const { at, text } of inexactNumbers(json)) {
		exact += `${json.slice(end, at)}"${text}"`;
		end = at + text.length;
	}
	return exact + json.slice(end);
}

/** As `parseJson`, but numbers that would lose digits are text. */
export function parseExactJson(text: string): unknown {
	const value = parseJson(text);
	const exact = value === undefined ? text : withExactNumbers(text);
	return exact === text ? value : parseJson(exact);
}

/**
 * What an object itself holds under a name that somebody else chose: every object inherits a
 * `constructor`, a `toString` and more.
 */
export const getOwn = <T>(object: Readonly<Record<string, T>>, name: string): T | undefined =>
	Object.hasOwn(object, name) ? object[name] : undefined;

/** Whether a value is a JSON object: neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value's kind in words, with its article: `a list`, `null`, `a boolean`. */
export function describeKind(value: unknown): string {
	if (Array.isArray(value)) return 'a list';
	if (value === null || value === undefined || Number.isNaN(value)) return String(value);
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
