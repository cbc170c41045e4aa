/**
 * Dates and times in files: in a format that the user sets, and in a time zone of the file.
 */
import { InputError } from '../transport/errors';
import { shortened } from '../transport/messageText';
import { problem, showValue } from './convert';
import type { Converted } from './fieldType';

/** The parts of a format, longest first. */
const TOKENS: Array<[token: string, pattern: string]> = [
	['yyyy', '(?<year>\\d{4})'],
	['SSS', '(?<fraction>\\d{1,9})'],
	['MM', '(?<month>\\d{2})'],
	['dd', '(?<day>\\d{2})'],
	['HH', '(?<hour>\\d{2})'],
	['hh', '(?<hour>\\d{2})'],
	['mm', '(?<minute>\\d{2})'],
	['ss', '(?<second>\\d{2})'],
	['M', '(?<month>\\d{1,2})'],
	['d', '(?<day>\\d{1,2})'],
	['H', '(?<hour>\\d{1,2})'],
	['h', '(?<hour>\\d{1,2})'],
	['a', '(?<half>[AaPp]\\.?[Mm]\\.?)'],
];

const wrongFormat = (form: string, why: string) =>
	new InputError(`${showValue(form)} ${why}`, {
		hint: 'Use yyyy, MM, dd, HH, mm, ss, SSS (M, d, H without leading zeros; hh and a for AM and PM), such as dd.MM.yyyy HH:mm.',
	});

function pattern(form: string): RegExp {
	let source = '';
	const parts = new Set<string>();
	for (let at = 0; at < form.length; ) {
		const token = TOKENS.find(([name]) => form.startsWith(name, at));
		if (!token) {
			if (/[A-Za-z]/.test(form[at]!) && form[at] !== 'T') {
				throw wrongFormat(form, `has '${form[at]}', which has no meaning`);
			}
			source += form[at]!.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
			at += 1;
			continue;
		}
		const [name, expression] = token;
		const part = /<(\w+)>/.exec(expression)![1]!;
		if (parts.has(part)) throw wrongFormat(form, `names the ${part} twice`);
		parts.add(part);
		source += expression;
		at += name.length;
	}
	const missing = ['year', 'month', 'day'].find((part) => !parts.has(part));
	if (missing) throw wrongFormat(form, `has no ${missing}`);
	if (form.includes('h') !== parts.has('half')) {
		throw wrongFormat(
			form,
			"has hours from 1 to 12 without AM and PM ('a'), or the other way round",
		);
	}
	return new RegExp(`^${source}$`);
}

const two = (digits: string | undefined) => (digits ?? '0').padStart(2, '0');

function hourOf({ hour, half }: Record<string, string | undefined>): string {
	if (half === undefined) return two(hour);
	const inHalf = Number(hour) % 12;
	if (Number(hour) > 12 || Number(hour) === 0) return '99';
	return two(String(/^p/i.test(half) ? inHalf + 12 : inHalf));
}

/** The part of a format before its hours. */
function dateFormatOf(form: string): string {
	let end = form.search(/[Hh]/);
	if (end < 0) return form;
	while (/[\sT,]/.test(form[end - 1] ?? '')) end -= 1;
	return form.slice(0, end);
}

/**
 * Returns a function that reads dates and times of one format, and returns them as ISO 8601.
 *
 * @param form such as `dd.MM.yyyy HH:mm`; dates without a time are read as well
 * @throws {InputError} if the format is invalid
 */
export function timeReader(form: string): (text: string) => string | undefined {
	const wholeForm = form.trim();
	const whole = pattern(wholeForm);
	const dayForm = dateFormatOf(wholeForm);
	let day: RegExp | undefined;
	try {
		if (dayForm !== wholeForm) day = pattern(dayForm);
	} catch {
		// The format does not start with the date.
	}
	return (given) => {
		const text = given.trim();
		const parts = (whole.exec(text) ?? day?.exec(text))?.groups;
		if (!parts) return undefined;
		const date = `${parts.year}-${two(parts.month)}-${two(parts.day)}`;
		if (parts.hour === undefined) return date;
		const fraction = parts.fraction === undefined ? '' : `.${parts.fraction}`;
		return `${date}T${hourOf(parts)}:${two(parts.minute)}:${two(parts.second)}${fraction}`;
	};
}

/** The offsets of all zones change on a quarter of an hour. */
const STEP_MS = 15 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_CACHED = 20_000;

/** The offset of a zone at an instant, in milliseconds. @throws {RangeError} for an unknown zone */
function offsets(zone: string): (ms: number) => number {
	const formatter = new Intl.DateTimeFormat('en-US', {
		timeZone: zone,
		hourCycle: 'h23',
		era: 'short',
		...{ year: 'numeric', month: 'numeric', day: 'numeric' },
		...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
	});
	const known = new Map<number, number>();
	return (ms) => {
		const step = Math.floor(ms / STEP_MS);
		let offset = known.get(step);
		if (offset === undefined) {
			const parts = Object.fromEntries(
				formatter.formatToParts(step * STEP_MS).map(({ type, value }) => [type, Number(value)]),
			);
			const local = new Date(0);
			local.setUTCFullYear(parts.year!, parts.month! - 1, parts.day);
			local.setUTCHours(parts.hour!, parts.minute, parts.second);
			offset = local.getTime() - step * STEP_MS;
			if (known.size >= MAX_CACHED) known.clear();
			known.set(step, offset);
		}
		return offset;
	};
}

interface Zone {
	/** Converts a time without a zone. One that the clocks skip or repeat is a problem. */
	toUtc: (time: string) => Converted;
	/** The day at an instant, `YYYY-MM-DD`. */
	dayAt: (ms: number) => string;
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
	let offsetAt: (ms: number) => number;
	try {
		offsetAt = offsets(zone);
	} catch {
		throw noSuchZone(zone);
	}
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

const noSuchZone = (zone: string) =>
	new InputError(`${showValue(zone)} is not a time zone`, {
		hint: 'Use a name such as Europe/Berlin or UTC.',
	});
