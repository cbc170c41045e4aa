/** `date`, `datetime`. */
import type { JsonValue } from '../../api/types';
import { withoutTrailingZeros } from '../../transport/json';
import { isDateTimeObject, problem, showValue } from '../convert';
import { dateRemedy, datetimeRemedy } from '../remedies';
import { USUAL, type Conversion, type FieldType } from '../fieldType';

const DATE = /^(\d{4}-\d{2}-\d{2})Z?$/;
/**
 * Midnight in its own offset, which is how date pickers and n8n's dates write a day. As an instant
 * it could be the day before in the application's time zone. Midnight in UTC counts as the day,
 * too.
 */
const MIDNIGHT = /^(\d{4}-\d{2}-\d{2})[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/;
const DATE_TIME =
	/^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|[+-]\d{2}:?\d{2})?$/;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Since 1972, the offsets of all time zones are multiples of a quarter of an hour. */
const OFFSET_STEP_MS = 15 * 60 * 1000;
const WHOLE_OFFSETS_SINCE = Date.UTC(1973, 0);

const isCalendarDate = (iso: string) => {
	// Not split and mapped, which would be slow for many values.
	const [year, month, day] = [+iso.slice(0, 4), +iso.slice(5, 7), +iso.slice(8, 10)];
	const date = new Date(Date.UTC(year, month - 1, day));
	return date.getUTCMonth() === month - 1;
};

/** A point in time as text, whatever object holds it; empty if it is not one. */
function timeText(value: unknown): string {
	if (isDateTimeObject(value)) return value.toISO() ?? '';
	if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString();
	return typeof value === 'string' ? value.trim() : '';
}

const isTime = (text: string) =>
	DATE_TIME.test(text) && isCalendarDate(text) && !Number.isNaN(Date.parse(text.replace(' ', 'T')));

/** The day that a date or a midnight means in every time zone. */
export function toDay(value: unknown): string | undefined {
	const input = timeText(value);
	const day = (DATE.exec(input) ?? (isTime(input) ? MIDNIGHT.exec(input) : null))?.[1];
	return day !== undefined && isCalendarDate(day) ? day : undefined;
}

const toDate: Conversion = (value) => {
	const input = timeText(value);
	const day = toDay(input);
	if (day !== undefined) return { value: day };
	if (isTime(input)) return { value: input.replace(' ', 'T') };
	return problem(`accepts a date such as 2026-11-21, not ${showValue(value)}`);
};

const toDateTime: Conversion = (value) => {
	const input = timeText(value);
	const day = DATE.exec(input)?.[1];
	const readable = day === undefined ? input : `${day}T00:00:00${input.slice(day.length)}`;
	if (isTime(readable)) return { value: readable.replace(' ', 'T') };
	return problem(`accepts a date and time such as 2026-11-21T09:30:00Z, not ${showValue(value)}`);
};

interface Time {
	/** Milliseconds since 1970. A time without a zone counts as UTC. */
	ms: number;
	hasZone: boolean;
	/** The digits after the milliseconds, which few services store. */
	rest: string;
}

/** Parses a time; undefined for any other value. */
function parseTime(value: JsonValue): Time | undefined {
	if (typeof value !== 'string') return undefined;
	const match = DATE_TIME.exec(value);
	if (!match || !isTime(value)) return undefined;
	const [, day, minutes, seconds = '00', fraction = '', zone = 'Z'] = match;
	const ms = Date.parse(
		`${day}T${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${zone}`,
	);
	return { ms, hasZone: match[5] !== undefined, rest: withoutTrailingZeros(fraction.slice(3)) };
}

/** True for 09:30 without a zone and 07:30Z: in some time zone they are the same. */
const mayBeSame = (one: Time, other: Time) => {
	const apart = Math.abs(one.ms - other.ms);
	const isOld = Math.min(one.ms, other.ms) < WHOLE_OFFSETS_SINCE;
	return apart <= DAY_MS && (isOld || apart % OFFSET_STEP_MS === 0);
};

function sameTime(stored: JsonValue, sent: JsonValue): boolean | undefined {
	const [held, given] = [parseTime(stored), parseTime(sent)];
	if (!held || !given) return undefined;
	if (held.hasZone !== given.hasZone) return mayBeSame(held, given) ? undefined : false;
	if (held.ms === given.ms) return held.rest === given.rest || undefined;
	return held.hasZone ? false : undefined;
}

/** @param sent any time: its day depends on the application's time zone */
function sameDay(stored: JsonValue, sent: JsonValue): boolean | undefined {
	const day = toDay(stored);
	if (day === undefined) return undefined;
	const given = toDay(sent);
	if (given !== undefined) return given === day;
	const time = parseTime(sent);
	if (!time) return undefined;
	// In some zone it is still the previous day, or already the next one.
	const apart = time.ms - Date.parse(day);
	return apart >= -DAY_MS && apart <= 2 * DAY_MS ? undefined : false;
}

/** A day or a time in ISO 8601, or in the file's format. */
const parseDay: FieldType['parse'] = (text, { readTime }) => ({ value: readTime?.(text) ?? text });

/** A time. Without a zone, it gets the zone of the file. */
const parseTimeText: FieldType['parse'] = (text, { readTime, withZone }) => {
	const value = (readTime?.(text) ?? text).trim();
	const isWithoutZone = DATE_TIME.exec(value)?.[5] === undefined && isTime(isoTime(value));
	if (!withZone || !isWithoutZone) return { value };
	return withZone(isoTime(value));
};

/** Turns a day without a time into its midnight. */
const isoTime = (text: string) =>
	/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00` : text.replace(' ', 'T');

const useExpression = (expression: string) => `use {{ ${expression} }} with your time zone`;

/** A time is a day in the application's time zone, which only the platform knows. */
const dayKeyProblem: FieldType['keyProblem'] = (value, source) => {
	const accepts = `accepts a date such as 2026-11-21, not ${showValue(value)}`;
	if (source === undefined) return accepts;
	return `${accepts}: ${useExpression(`DateTime.fromISO(${source}, {zone: 'Europe/Berlin'}).toISODate()`)}`;
};

/** The platform may round a time that is finer than milliseconds. */
const timeKeyProblem: FieldType['keyProblem'] = (value, source) => {
	if (parseTime(value)?.hasZone) {
		const accepts = `accepts a time in milliseconds at most, not ${showValue(value)}`;
		if (source === undefined) return accepts;
		return `${accepts}: use {{ DateTime.fromISO(${source}).toISO() }}`;
	}
	const accepts = `accepts a time with a zone such as 2026-11-21T09:30:00Z, not ${showValue(value)}`;
	if (source === undefined)
		return `${accepts}: for a CSV file, choose the time zone in the options`;
	return `${accepts}: ${useExpression(`DateTime.fromISO(${source}, {zone: 'Europe/Berlin'}).toISO()`)}`;
};

export const date: FieldType = {
	...USUAL,
	parse: parseDay,
	convert: toDate,
	remedy: dateRemedy,
	equals: sameDay,
	key: toDay,
	keyProblem: dayKeyProblem,
	editor: { type: 'dateTime' },
	comparison: 'order',
	aggregations: ['max', 'min'],
};

export const datetime: FieldType = {
	...date,
	convert: toDateTime,
	remedy: datetimeRemedy,
	parse: parseTimeText,
	equals: sameTime,
	key: (value) => {
		const time = parseTime(value);
		return time?.hasZone && time.rest === '' ? new Date(time.ms).toISOString() : undefined;
	},
	keyProblem: timeKeyProblem,
};
