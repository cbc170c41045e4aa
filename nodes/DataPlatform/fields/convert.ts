/** What conversions of several field types need. */
import type { JsonValue } from '../api/types';
import { isObject, parseExactJson } from '../transport/json';
import { detached } from '../transport/text';
import type { Converted } from './fieldType';

export const problem = (text: string): Converted => ({ problem: text });

/** How many characters of a value a message shows. */
const SHOWN = 60;

/** How a value looks in a message: short, and as JSON where it can be, so that its type shows. */
export function show(given: unknown): string {
	const value = typeof given === 'string' ? given.slice(0, SHOWN) : given;
	const text = isJson(value) || value instanceof Date ? JSON.stringify(value) : describe(value);
	return text.length > SHOWN ? detached(`${text.slice(0, SHOWN - 3)}…`) : text;
}

const describe = (value: unknown) =>
	Array.isArray(value) ? 'a list' : isObject(value) ? 'an object' : String(value);

interface DateLike {
	toISO(): string | null;
}

export const isDateTimeObject = (value: unknown): value is DateLike =>
	typeof value === 'object' && value !== null && typeof (value as DateLike).toISO === 'function';

/** A JSON object, and not a date in an object's form. */
export const isPlainObject = (value: unknown): value is Record<string, JsonValue | undefined> =>
	isObject(value) && !(value instanceof Date) && !isDateTimeObject(value);

/** Deeper than any real value; a value that holds itself has no end. */
const MAX_DEPTH = 100;

/** Whether a value goes into JSON as it is: `NaN`, a function or a date would not. */
export function isJson(value: unknown, depth = 0): value is JsonValue {
	if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
	if (typeof value === 'number') return Number.isFinite(value);
	if (depth > MAX_DEPTH) return false;
	if (Array.isArray(value)) return value.every((entry) => isJson(entry, depth + 1));
	return (
		isPlainObject(value) &&
		Object.values(value).every((entry) => entry === undefined || isJson(entry, depth + 1))
	);
}

/** A cell with an object or a list. */
export const parseJson = (text: string) => ({ value: fromJsonText(text) });

/** An object or list given as JSON text is read; no number in it loses digits. */
export function fromJsonText(value: unknown): unknown {
	if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
	return parseExactJson(value) ?? value;
}
