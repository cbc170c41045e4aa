/** `date`, `datetime`. */
import type { JsonValue } from '../../api/types';
import { LABELS } from '../../labels';
import { isDateTimeObject, problem, showValue } from '../convert';
import { zoneOf } from '../dateFormat';
import { sameBy } from '../equality';
import { dateRemedy, datetimeRemedy, missingDay } from '../remedies';
import { USUAL, type Conversion, type Converted, type FieldType } from '../fieldType';

const DATE = /^(\d{4}-\d{2}-\d{2})Z?$/;
/**
 * Midnight in its own offset, which is how date pickers and n8n's dates write a day. As an instant
 * it could be the day before in the application's time zone. Midnight in UTC counts as the day,
 * too.
 */
const MIDNIGHT = /^(\d{4}-\d{2}-\d{2})[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/;
const DATE_TIME =
	/^(\d{4}-\d{2}-\d{2})[T ]((?!24)\d{2}:\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|[+-]\d{2}:?\d{2})?$/;

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

const isTime = (text: string) => parseTime(text) !== undefined;

/** The day that a date or a midnight means in every time zone. */
export function toDay(value: unknown): string | undefined {
	const input = timeText(value);
	const day = DATE.exec(input)?.[1];
	if (day !== undefined) return isCalendarDate(day) ? day : undefined;
	return isTime(input) ? MIDNIGHT.exec(input)?.[1] : undefined;
}

/** The text that the platform takes in both of its modes; undefined outside of the years 0 to 9999. */
function inUtc({ ms, hasZone }: Time): string | undefined {
	const text = new Date(ms).toISOString().replace('.000', '');
	return /^\d/.test(text) ? text.slice(0, hasZone ? undefined : -1) : undefined;
}

/** The day of any time: its own without a zone, else that in the application's time zone. */
function dayOf(input: string, timeZone: string | undefined): string | undefined {
	const time = parseTime(input);
	if (!time?.hasZone) return time && input.slice(0, 10);
	const day = timeZone && zoneOf(timeZone).dayAt(time.ms);
	return day && DATE.test(day) ? day : undefined;
}

/** @param accepted such as `a date such as 2026-11-21` */
export function wrongTime(accepted: string, value: unknown): Converted {
	const day = missingDay(timeText(value));
	if (day !== undefined) return problem(`accepts a date, but there is no ${day}`);
	return problem(`accepts ${accepted}, not ${showValue(value)}`);
}

/** A day is sent as its midnight in UTC. */
const toDate: Conversion = (value, { metadata: { timeZone } }) => {
	const input = timeText(value);
	const day = toDay(input) ?? dayOf(input, timeZone);
	if (day !== undefined) return { value: `${day}T00:00:00Z` };
	const time = parseTime(input);
	const text = time && inUtc(time);
	if (text !== undefined) return { value: text };
	return wrongTime('a date such as 2026-11-21', value);
};

/** A time is sent in UTC, without what is finer than milliseconds. */
const toDateTime: Conversion = (value, { metadata: { timeZone } }) => {
	const input = timeText(value);
	const day = DATE.exec(input)?.[1];
	const time = parseTime(day ? `${day}T00:00:00${input.slice(day.length)}` : input);
	const text = time && inUtc(time);
	if (text === undefined) {
		return wrongTime('a date and time such as 2026-11-21T09:30:00Z', value);
	}
	return !time!.hasZone && timeZone ? zoneOf(timeZone).toUtc(text) : { value: text };
};

interface Time {
	/** Milliseconds since 1970. A time without a zone counts as UTC. */
	ms: number;
	hasZone: boolean;
}

/** Parses a time, without what is finer than milliseconds; undefined for any other value. */
function parseTime(value: JsonValue): Time | undefined {
	if (typeof value !== 'string') return undefined;
	const match = DATE_TIME.exec(value);
	if (!match || !isCalendarDate(value)) return undefined;
	const [, day, minutes, seconds = '00', fraction = '', zone = 'Z'] = match;
	const ms = Date.parse(
		`${day}T${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${zone}`,
	);
	return Number.isNaN(ms) ? undefined : { ms, hasZone: match[5] !== undefined };
}

function sameTime(stored: JsonValue, sent: JsonValue): boolean | undefined {
	const [held, given] = [parseTime(stored), parseTime(sent)];
	if (!held || !given) return undefined;
	if (held.hasZone !== given.hasZone) return undefined;
	if (held.ms === given.ms) return true;
	// The platform may store whole seconds.
	const mayBeCut = held.ms % 1000 === 0 && Math.abs(held.ms - given.ms) < 1000;
	return held.hasZone && !mayBeCut ? false : undefined;
}

/** The platform may append a midnight. The day of another time is unknown here. */
export const sameDay = sameBy(toDay);

/** What databases write for no date. */
const NO_DATE = /^\s*0000-00-00(?:[T ][0:.]*Z?)?\s*$/;

/** A day or a time in ISO 8601, or in the file's format. */
const parseDay: FieldType['parse'] = (text, { readTime }) => ({
	value: NO_DATE.test(text) ? '' : (readTime?.(text) ?? text),
});

/** A time. Without a zone, it gets the zone of the file. */
const parseTimeText: FieldType['parse'] = (text, { readTime, withZone }) => {
	if (NO_DATE.test(text)) return { value: '' };
	const value = (readTime?.(text) ?? text).trim();
	const isWithoutZone = DATE_TIME.exec(value)?.[5] === undefined && isTime(isoTime(value));
	if (!withZone || !isWithoutZone) return { value };
	return withZone(isoTime(value));
};

/** Turns a day without a time into its midnight. */
const isoTime = (text: string) =>
	/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00` : text.replace(' ', 'T');

/** For what the application's time zone would make exact, if it were known. */
const keyProblem =
	(accepted: string, conversion: string, inFile = ''): FieldType['keyProblem'] =>
	(value, source) => {
		const use = `: use {{ DateTime.fromISO(String(${source}), {zone: 'Europe/Berlin'}).${conversion}() ?? ${source} }} with your time zone`;
		return `accepts ${accepted}, not ${showValue(value)}${source === undefined ? inFile : source && use}`;
	};

export const date: FieldType = {
	...USUAL,
	parse: parseDay,
	convert: toDate,
	remedy: dateRemedy,
	equals: sameDay,
	key: toDay,
	keyProblem: keyProblem('a date such as 2026-11-21', 'toISODate'),
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
		return time?.hasZone ? new Date(time.ms).toISOString() : undefined;
	},
	keyProblem: keyProblem(
		'a time with a zone such as 2026-11-21T09:30:00Z',
		'toISO',
		`: for a CSV file, set '${LABELS.textFormats} → ${LABELS.timeZone}' in the options`,
	),
};
