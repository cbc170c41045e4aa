/**
 * Dates and times in files: in a format that the user sets, and in a time zone of the file. Formats
 * are those of Luxon, as in n8n's expressions.
 */
import { tryToParseDateTime } from 'n8n-workflow';

import { InputError } from '../transport/errors';
import { shortened } from '../transport/messageText';
import { problem, showValue } from './convert';
import type { Converted } from './fieldType';

type Time = ReturnType<typeof tryToParseDateTime>;

/** What is used of Luxon's class `DateTime`, which n8n-workflow does not export. */
interface TimeClass {
	fromFormat(text: string, form: string, options: object): Time;
	/** Reads many texts fast. Since Luxon 3.6. */
	buildFormatParser?(form: string, options: object): object;
	fromFormatParser(text: string, parser: object, options: object): Time;
}

const SAMPLE = tryToParseDateTime('1999-11-21T21:30:15Z', 'utc').setLocale('en');
const DateTime = SAMPLE.constructor as unknown as TimeClass;

/** Names of months are English, and a time without a zone is not moved. */
const READING = { zone: 'utc', setZone: true, locale: 'en' };

const EPOCH_MS: Record<string, (value: number) => number> = {
	X: (seconds) => seconds * 1000,
	x: (ms) => ms,
	// The day of a spreadsheet, from the end of 1899, to the second.
	serial: (days) => Math.round((days - 25_569) * 86_400) * 1000,
};

const wrongFormat = (form: string) =>
	new InputError(`${showValue(form)} does not say which day a text means`, {
		hint: "Use Luxon's tokens: yyyy or yy, MM, M, MMM or MMMM, dd or d, HH, mm, ss and SSS (hh and a for AM and PM), ZZZ for a zone such as +0200, ZZ for +02:00, z for UTC, EEE for Mon, such as dd.MM.yyyy HH:mm. Or use only X or x for seconds or milliseconds since 1970, or serial for the number of a spreadsheet.",
	});

const TOKENS =
	/^(?:yyyy|yy|M{1,4}|d{1,2}|E{3,4}|HH?|hh?|mm?|ss?|u|a|Z{1,3}|z|'[^']*'|[^A-Za-z'])+$/;

/** Spaces of any kind are one, `p.m.` is PM. */
const simplified = (text: string) =>
	text
		.trim()
		.replace(/\s+/g, ' ')
		.replace(/\b([ap])\.m\.?/i, '$1m');

type Read = (text: string) => Time;

/** @throws {InputError} if a text in this format does not say all of a time */
function readerOf(form: string): Read {
	const hasBothHours = /H/.test(form) && /a/.test(form.replace(/'[^']*'/g, ''));
	if (!TOKENS.test(form) || hasBothHours) throw wrongFormat(form);
	const parser = DateTime.buildFormatParser?.(form, READING);
	const read: Read = (text) => {
		if (!parser) return DateTime.fromFormat(text, form, READING);
		return DateTime.fromFormatParser(text, parser, READING);
	};
	const { isValid, year, month, day, hour } = read(SAMPLE.toFormat(form));
	const isSameDay = isValid && year === 1999 && month === 11 && day === 21;
	if (isSameDay && (hour === 21 || !hasHours(form))) return read;
	throw wrongFormat(form);
}

const hasHours = (form: string) => /h/i.test(form);

/** Seconds, milliseconds or days, as a time. The days of a spreadsheet have no zone. */
function readNumber(form: string, text: string): string | undefined {
	if (!/^\d+(?:\.\d+)?$/.test(text)) return undefined;
	const date = new Date(EPOCH_MS[form]!(Number(text)));
	if (Number.isNaN(date.getTime())) return undefined;
	const iso = date.toISOString().replace('.000', '');
	if (form !== 'serial') return iso;
	return text.includes('.') ? iso.slice(0, -1) : iso.slice(0, 10);
}

/**
 * Returns a function that reads dates and times of one format, and returns them as ISO 8601.
 *
 * @param given such as `dd.MM.yyyy HH:mm`; dates without a time are read as well
 * @throws {InputError} if the format is invalid
 */
export function timeReader(given: string): (text: string) => string | undefined {
	if (Object.hasOwn(EPOCH_MS, given.trim())) return (text) => readNumber(given.trim(), text.trim());
	// Luxon's T is a time, and its SSS are exactly three digits.
	const form = simplified(given)
		.replace(/T(?=H)/, "'T'")
		.replace('SSS', 'u');
	const read = readerOf(form);
	let end = Math.max(0, form.search(/[Hh]/));
	while (end > 0 && "' T,".includes(form[end - 1]!)) end -= 1;
	const days = form.slice(0, end);
	const readDay = days === '' ? undefined : readerOf(days);
	const format = { includeOffset: /z/i.test(form), suppressMilliseconds: true };
	return (text) => {
		const clean = simplified(text);
		const time = read(clean);
		if (time.isValid && hasHours(form)) return time.toISO(format)!;
		const day = time.isValid ? time : readDay?.(clean);
		return day?.isValid ? day.toISODate()! : undefined;
	};
}

interface Zone {
	/** Converts a time without a zone. One that the clocks skip or repeat is a problem. */
	toUtc: (time: string) => Converted;
	/** The day at an instant, `YYYY-MM-DD`. */
	dayAt: (ms: number) => string;
}

/** The offsets of all zones change on a quarter of an hour. */
const STEP_MS = 15 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_CACHED = 20_000;

/** The offset of a zone at an instant, in milliseconds. Asking Luxon each time would be slow. */
function offsetsOf({ zone }: Time): (ms: number) => number {
	const cached = new Map<number, number>();
	return (ms) => {
		const step = Math.floor(ms / STEP_MS);
		const offset = cached.get(step) ?? zone.offset(step * STEP_MS) * 60_000;
		if (cached.size >= MAX_CACHED) cached.clear();
		cached.set(step, offset);
		return offset;
	};
}

const zones = new Map<string, Zone>();

/**
 * A time zone.
 *
 * @param name such as `Europe/Berlin`
 * @throws {InputError} if there is no such zone
 */
export function zoneOf(name: string): Zone {
	let zone = zones.get(name);
	if (!zone) zones.set(name, (zone = makeZone(name)));
	return zone;
}

function makeZone(zone: string): Zone {
	const sample = SAMPLE.setZone(zone);
	if (!sample.isValid) {
		throw new InputError(`${showValue(zone)} is not a time zone`, {
			hint: 'Use a name such as Europe/Berlin or UTC.',
		});
	}
	const offsetAt = offsetsOf(sample);
	const dayAt = (ms: number) => new Date(ms + offsetAt(ms)).toISOString().slice(0, 10);
	const toUtc = (time: string) => {
		const shown = shortened(time, 60);
		const local = Date.parse(`${time}Z`);
		const instants = new Set(
			[local - DAY_MS, local + DAY_MS]
				.map((near) => local - offsetAt(near))
				.filter((instant) => instant + offsetAt(instant) === local),
		);
		const [instant] = instants;
		if (instant === undefined)
			return problem(`is a time that the clocks skip in ${zone}: ${shown}`);
		if (instants.size > 1) return problem(`is a time that occurs twice in ${zone}: ${shown}`);
		const fraction = /\.(\d+)$/.exec(time)?.[0] ?? '';
		return { value: `${new Date(instant).toISOString().slice(0, 19)}${fraction}Z` };
	};
	return { toUtc, dayAt };
}
