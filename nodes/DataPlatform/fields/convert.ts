/** Helpers for the conversions of several field types. */
import type { JsonValue } from '../api/types';
import { isObject, parseExactJson } from '../transport/json';
import { copyOfText } from '../transport/messageText';
import type { Converted } from './fieldType';

export const problem = (text: string): Converted => ({ problem: text });

/** How many characters of a value a message shows. */
const MAX_SHOWN = 60;

/** A value for a message: short, and as JSON if possible, so that its type is visible. */
export function showValue(given: unknown): string {
	const value = typeof given === 'string' ? given.slice(0, MAX_SHOWN) : given;
	const text = describe(value);
	if (text.length <= MAX_SHOWN) return text;
	return copyOfText(`${text.slice(0, MAX_SHOWN - 3)}…`);
}

function describe(value: unknown): string {
	if (isJson(value) || value instanceof Date) return JSON.stringify(value);
	if (Array.isArray(value)) return 'a list';
	if (isObject(value)) return 'an object';
	return String(value);
}

interface DateLike {
	toISO(): string | null;
}

export const isDateTimeObject = (value: unknown): value is DateLike =>
	typeof value === 'object' && value !== null && typeof (value as DateLike).toISO === 'function';

/** A JSON object that is not a date. */
export const isPlainObject = (value: unknown): value is Record<string, JsonValue | undefined> =>
	isObject(value) && !(value instanceof Date) && !isDateTimeObject(value);

/** Deeper than any real value; stops at a value that contains itself. */
const MAX_DEPTH = 100;

/** True for `{ a: [1] }`; false for `NaN`, a function or a date, which JSON would change. */
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

/** Reads a cell that contains an object or a list. */
export const parseJsonCell = (text: string) => ({ value: fromJsonText(text) });

/** Parses an object or a list given as JSON text. No number loses digits. */
export function fromJsonText(value: unknown): unknown {
	if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
	return parseExactJson(value) ?? value;
}
