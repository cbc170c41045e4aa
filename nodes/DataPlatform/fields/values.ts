/**
 * Values on their way into a field: what a user's item holds becomes what the platform takes, or
 * a problem in words. Only lossless conversions; anything doubtful is a problem, not a guess.
 * Follows contract.md "Field types" and "Attachments (adopted)".
 */
import type { FieldDefinition, JsonValue } from '../api/types';
import { isMultipleChoice } from './kinds';
import { getOwn, parseJson } from '../transport/json';

/** What to do with a value that is empty: `''`, `null`, `[]`. `undefined` is always left out. */
export type EmptyPolicy = 'leave' | 'clear' | 'error';

export type Converted = { value: JsonValue } | { problem: string } | 'leave';

type Conversion = (value: unknown, field: FieldDefinition) => Converted;

const problem = (text: string): Converted => ({ problem: text });

/** How a value looks in a message: short, and with its type told by its form. */
export function show(value: unknown): string {
	const text = JSON.stringify(value) ?? String(value);
	return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

interface DateLike {
	toISO(): string | null;
}

const isDateTimeObject = (value: unknown): value is DateLike =>
	typeof value === 'object' && value !== null && typeof (value as DateLike).toISO === 'function';

const isPlainObject = (value: unknown): value is Record<string, JsonValue> =>
	typeof value === 'object' &&
	value !== null &&
	!Array.isArray(value) &&
	!(value instanceof Date) &&
	!isDateTimeObject(value);

/** An object or list given as JSON text is read. */
function fromJsonText(value: unknown): unknown {
	if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
	return parseJson(value) ?? value;
}

const text: Conversion = (value, { metadata }) => {
	if (typeof value === 'object') return problem('takes text, not a list or an object');
	const result = String(value);
	return metadata.maxLength !== undefined && result.length > metadata.maxLength
		? problem(`takes at most ${metadata.maxLength} characters, this has ${result.length}`)
		: { value: result };
};

const numeric =
	(whole: boolean): Conversion =>
	(value, { metadata: { min, max } }) => {
		const isNumber = typeof value === 'number';
		const isNumberText =
			typeof value === 'string' && /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(value);
		if (!isNumber && !isNumberText) return problem(`takes a number, not ${show(value)}`);
		const result = Number(value);
		if (!Number.isFinite(result)) return problem(`takes a number, not ${String(value)}`);
		if (whole && !Number.isSafeInteger(result)) {
			return problem(`takes a whole number, not ${show(value)}`);
		}
		if (min !== undefined && result < min) return problem(`must be at least ${min}, not ${result}`);
		if (max !== undefined && result > max) return problem(`must be at most ${max}, not ${result}`);
		return { value: result };
	};

const BOOLEAN_WORDS: Record<string, boolean> = { true: true, false: false };

const checkbox: Conversion = (value) => {
	const result = typeof value === 'string' ? BOOLEAN_WORDS[value.trim().toLowerCase()] : value;
	return typeof result === 'boolean'
		? { value: result }
		: problem(`takes true or false, not ${show(value)}`);
};

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
/**
 * Midnight where it was written: how date pickers and n8n's dates write a day. Read as an instant,
 * it could be the day before in the application's time zone. The platform knows UTC's by itself.
 */
const MIDNIGHT = /^(\d{4}-\d{2}-\d{2})[T ]00:00(:00(\.0+)?)?([+-]\d{2}:?\d{2})?$/;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/;

const isCalendarDate = (iso: string) => {
	const match = DATE.exec(iso.slice(0, 10));
	if (!match) return false;
	// Not `match.map`, which is felt where there are many.
	const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
	const date = new Date(Date.UTC(year, month - 1, day));
	return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};

/** A point in time as text, whatever object holds it; empty where it holds none. */
function timeText(value: unknown): string {
	if (isDateTimeObject(value)) return value.toISO() ?? '';
	if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString();
	return typeof value === 'string' ? value.trim() : '';
}

const date: Conversion = (value) => {
	const input = timeText(value);
	const day = MIDNIGHT.exec(input)?.[1] ?? input;
	return (DATE.test(day) || DATE_TIME.test(day)) && isCalendarDate(day)
		? { value: day }
		: problem(`takes a date such as 2026-11-21, not ${show(value)}`);
};

const datetime: Conversion = (value) => {
	const input = timeText(value);
	const readable = DATE.test(input) ? `${input}T00:00:00` : input.replace(' ', 'T');
	return DATE_TIME.test(readable) && isCalendarDate(readable) && !Number.isNaN(Date.parse(readable))
		? { value: readable }
		: problem(`takes a date and time such as 2026-11-21T09:30:00Z, not ${show(value)}`);
};

const choices: Conversion = (raw) => {
	const value = fromJsonText(raw);
	const list = Array.isArray(value) ? (value as unknown[]) : [value];
	return list.every((entry) => ['string', 'number', 'boolean'].includes(typeof entry))
		? { value: list.map(String) }
		: problem(`takes a list of texts, not ${show(raw)}`);
};

const objectWith =
	(example: string, required: string[]): Conversion =>
	(raw) => {
		const value = fromJsonText(raw);
		return isPlainObject(value) && required.every((key) => value[key] !== undefined)
			? { value }
			: problem(`takes an object such as ${example}, not ${show(raw)}`);
	};

const moneyWithCurrency: Conversion = (raw, field) => {
	const shape = objectWith('{"amount":9.5,"currency":"EUR"}', ['amount', 'currency'])(raw, field);
	if (shape === 'leave' || !('value' in shape)) return shape;
	const { amount } = shape.value as Record<string, unknown>;
	return typeof amount === 'number'
		? shape
		: problem(`takes a number as 'amount', not ${show(amount)}`);
};

const link: Conversion = (raw) => {
	const value = fromJsonText(raw);
	return typeof value === 'string'
		? { value: { href: value } }
		: objectWith('{"href":"https://example.com"}', ['href'])(value, undefined as never);
};

const isIds = (value: unknown): value is string[] =>
	Array.isArray(value) && value.every((entry) => typeof entry === 'string');

const recordLink: Conversion = (raw, { metadata }) => {
	const value = fromJsonText(raw);
	if (metadata.multiple) {
		if (typeof value === 'string') return { value: { add: [value] } };
		if (isIds(value)) return { value: { add: value } };
		const { add, remove } = isPlainObject(value) ? value : {};
		return (add ?? remove) !== undefined && [add ?? [], remove ?? []].every(isIds)
			? { value: { ...(add && { add }), ...(remove && { remove }) } }
			: problem(`takes record ids, or {"add":[ids],"remove":[ids]}, not ${show(raw)}`);
	}
	const id = isPlainObject(value) ? value.id : value;
	return typeof id === 'string' && id !== ''
		? { value: { id } }
		: problem(`takes the id of one record, not ${show(raw)}`);
};

const files: Conversion = (raw) => {
	const value = fromJsonText(raw);
	const isChange = isPlainObject(value) && (value.add !== undefined || value.remove !== undefined);
	return typeof value === 'string' || Array.isArray(value) || isChange
		? { value: value as JsonValue }
		: problem(
				`takes a web address, a list of files, or {"add":[…],"remove":[…]}, not ${show(raw)}`,
			);
};

const CONVERSIONS: Record<string, Conversion> = {
	number: numeric(true),
	decimal: numeric(false),
	money: numeric(false),
	percentage: numeric(false),
	money_with_currency: moneyWithCurrency,
	checkbox,
	date,
	datetime,
	dropdownmulti: choices,
	chips: choices,
	url_link: link,
	checklist: objectWith('{"lists":[…]}', ['lists']),
	chat: objectWith('{"messages":[…]}', ['messages']),
	schema_link: recordLink,
	picture: files,
	file: files,
};

const isEmpty = (value: unknown) =>
	value === null || value === '' || (Array.isArray(value) && value.length === 0);

/**
 * Converts one value for one field.
 *
 * @returns the value to send, what is wrong with it, or `leave` where the field is not to be sent
 */
export function toFieldValue(
	field: FieldDefinition,
	value: unknown,
	empty: EmptyPolicy,
): Converted {
	if (value === undefined) return 'leave';
	if (isEmpty(value)) {
		if (empty === 'leave') return 'leave';
		return empty === 'clear' ? { value: null } : problem('is empty');
	}
	return (getOwn(CONVERSIONS, field.type) ?? text)(value, field);
}

const asInstant = (value: string) => Date.parse(value);
const MIDNIGHT_UTC = /T00:00:00(\.0+)?Z$/;
const hasZone = (value: string) => /(Z|[+-]\d{2}:?\d{2})$/.test(value);

/** Deep equality in which every key of `sent` must be in `stored`; the service may add its own. */
function isSubset(stored: unknown, sent: unknown): boolean {
	if (Array.isArray(sent)) {
		return (
			Array.isArray(stored) &&
			stored.length === sent.length &&
			sent.every((entry, index) => isSubset(stored[index], entry))
		);
	}
	if (isPlainObject(sent)) {
		return (
			isPlainObject(stored) &&
			Object.keys(sent).every((key) => isSubset(getOwn(stored, key), sent[key]))
		);
	}
	return stored === sent;
}

const isCleared = (value: unknown) => value === undefined || isEmpty(value);

/** A change that takes links or files away leaves an empty field empty. */
const onlyRemoves = (sent: unknown) =>
	isPlainObject(sent) && sent.remove !== undefined && isCleared(sent.add);

/** An empty link to many is read as a count of 0 (contract.md "Field types"). */
const isStoredEmpty = (field: FieldDefinition | undefined, value: unknown) =>
	isCleared(value) || (field?.type === 'schema_link' && isPlainObject(value) && value.count === 0);

/**
 * Whether a field already holds what was sent.
 *
 * @returns undefined where that can't be told (a time without a zone, files, changes of links)
 */
export function holdsValue(
	field: FieldDefinition | undefined,
	stored: JsonValue | undefined,
	sent: JsonValue | undefined,
): boolean | undefined {
	if (isCleared(sent)) return isStoredEmpty(field, stored);
	if (isCleared(stored)) return onlyRemoves(sent) ? undefined : false;
	switch (field?.type) {
		case 'date':
			// Midnight UTC is the day itself, any other time depends on the application's time zone.
			if (typeof sent !== 'string' || (sent.length > 10 && !MIDNIGHT_UTC.test(sent)))
				return undefined;
			return typeof stored === 'string' && stored.slice(0, 10) === sent.slice(0, 10);
		case 'datetime': {
			if (typeof stored !== 'string' || typeof sent !== 'string') return undefined;
			if (!hasZone(stored) || !hasZone(sent)) return stored === sent ? true : undefined;
			return asInstant(stored) === asInstant(sent);
		}
		case 'schema_link':
			return field.metadata.multiple ? undefined : isSubset(stored, sent);
		case 'picture':
		case 'file':
		case 'chat':
			return undefined;
		default:
			if (field && isMultipleChoice(field) && Array.isArray(stored) && Array.isArray(sent)) {
				return isSubset([...stored].sort(), [...sent].sort());
			}
			return isSubset(stored, sent);
	}
}
