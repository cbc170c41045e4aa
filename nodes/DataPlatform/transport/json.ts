/** Deeper than any real data. Code that later processes an item can't recurse without a limit. */
const MAX_DEPTH = 500;

/**
 * The most names and values in a JSON text: some 20 times those of a page of 1,000 wide records. As
 * values they need many times the memory of their text, and names seconds.
 */
export const MAX_VALUES = 2_000_000;

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;

/** The position of the quote that ends a string, given the one that starts it. */
function endOfText(json: string, quote: number): number {
	let at = quote + 1;
	for (; at < json.length && json.charCodeAt(at) !== QUOTE; at += 1) {
		if (json.charCodeAt(at) === BACKSLASH) at += 1;
	}
	return at;
}

/** Whether a JSON text is too much to parse; found without parsing it. */
export function isExcessive(text: string): boolean {
	let depth = 0;
	let values = 0;
	for (let at = 0; at < text.length; at += 1) {
		const code = text.charCodeAt(at);
		if (code === QUOTE) at = endOfText(text, at);
		else if (code === 0x5b || code === 0x7b) {
			depth += 1;
			values += 1;
			if (depth > MAX_DEPTH) return true;
		} else if (code === 0x5d || code === 0x7d) depth -= 1;
		else if (code === COMMA || code === COLON) values += 1;
	}
	return values > MAX_VALUES;
}

/** Parses JSON; undefined if the text is not JSON, is nested too deeply, or has too many values. */
export function parseJson(text: string): unknown {
	if (isExcessive(text)) return undefined;
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return undefined;
	}
}

/**
 * A number as text. Allows more than JSON: a plus sign, a point at either end, spaces around it.
 */
export const NUMBER = /^\s*[+-]?(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:e([+-]?\d+))?\s*$/i;

/** A number's text in a canonical form without its sign: equal values have the same form. */
function exactForm(text: string): string | undefined {
	const match = NUMBER.exec(text);
	if (!match) return undefined;
	const [, whole = '', decimals, onlyDecimals, exponent = '0'] = match;
	const fraction = decimals ?? onlyDecimals ?? '';
	const digits = `${whole}${fraction}`.replace(/^0+/, '');
	const significant = /^(\d*[1-9])?0*$/.exec(digits)?.[1] ?? '';
	if (significant === '') return '0';
	const power = Number(exponent) - fraction.length + (digits.length - significant.length);
	return `${significant}e${power}`;
}

/** No digit was lost: 12.50 is 12.5, but 9007199254740993 became 9007199254740992. */
export const isExactNumber = (text: string, value: number): boolean =>
	exactForm(text) === exactForm(String(value));

/** Matches every number that may lose digits: it has many of them, or a large exponent. */
const MAY_LOSE_DIGITS = /\d[\d.]{15}|\de[+-]?\d{3}/i;

const NUMBER_AT = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/iy;

/** The numbers in a JSON text that lose digits as a JavaScript number, with their positions. */
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
 * JSON text with such numbers in quotes. As text they keep their digits: number fields then reject
 * them, and text fields get them as written.
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

/** Like `parseJson`, but returns numbers that would lose digits as text. */
export function parseExactJson(text: string): unknown {
	const value = parseJson(text);
	if (value === undefined) return undefined;
	const exact = withExactNumbers(text);
	return exact === text ? value : parseJson(exact);
}

/**
 * An object's own value under a name that somebody else chose: every object inherits `constructor`,
 * `toString` and more.
 */
export const getOwn = <T>(object: Readonly<Record<string, T>>, name: string): T | undefined =>
	Object.hasOwn(object, name) ? object[name] : undefined;

/** A JSON object: neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** The members of an object; none if the value is anything else, such as a list. */
export const membersOf = (value: unknown): Record<string, unknown> =>
	isObject(value) ? value : {};

/** The kind of a value in words, with an article: `a list`, `null`, `a boolean`. */
export function describeKind(value: unknown): string {
	if (Array.isArray(value)) return 'a list';
	if (value === null || value === undefined || Number.isNaN(value)) return String(value);
	return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** An object without its undefined members, so that an output shows only what is known. */
export const omitUndefined = <O extends object>(members: O) =>
	Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
		[Key in keyof O]?: Exclude<O[Key], undefined>;
	};
