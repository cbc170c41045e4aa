import { DateTime, FixedOffsetZone, IANAZone } from 'luxon';

/** Offsets in minutes by zone and quarter of an hour; no offset changes within one. */
const offsets = new Map<string, number>();
const quarterMs = 15 * 60_000;
const maxOffsets = 50_000;

/** ISO 8601 in extended form; a date may carry a `Z` without a time. Group 1 is the date. */
const isoPattern =
	/^(\d{4}-\d{2}-\d{2})(?:Z|T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;
const midnightUtc = /^(\d{4}-\d{2}-\d{2})(?:T00:00:00(?:\.0+)?)?Z$/;

/** Whether this is the name of an IANA time zone. */
export function isTimeZone(zone: string): boolean {
	return IANAZone.isValidZone(zone);
}

/**
 * ISO 8601 with the time zone's offset, as in `created` and `modified`; with milliseconds, unless the
 * precision is whole seconds.
 */
export function withOffset(instant: number, zone: string, precisionMs: number): string {
	const offset = FixedOffsetZone.instance(offsetAt(instant, zone));
	const suppressMilliseconds = precisionMs % 1000 === 0;
	const local = DateTime.fromMillis(instant, { zone: offset }).toISO({
		includeOffset: false,
		suppressMilliseconds,
	});
	return `${local}${offset.formatOffset(instant, 'short')}`;
}

/**
 * Parses ISO 8601; without an offset it is in the time zone, and a date is its midnight. Returns
 * milliseconds since 1970, or undefined for any other text.
 */
export function parseInstant(text: string, zone: string): number | undefined {
	const date = isoPattern.exec(text)?.[1];
	if (date === undefined) return undefined;
	const parsed = DateTime.fromISO(text === `${date}Z` ? `${date}T00:00Z` : text, { zone });
	return parsed.isValid ? parsed.toMillis() : undefined;
}

/**
 * Parses a day: `YYYY-MM-DD` or ISO 8601. A time is converted to the time zone first, except
 * midnight UTC, which stands for the day itself. Undefined for any other text.
 */
export function parseDay(text: string, zone: string): string | undefined {
	const day = midnightUtc.exec(text)?.[1] ?? text;
	if (isCalendarDay(day)) return day;
	const instant = parseInstant(text, zone);
	if (instant === undefined) return undefined;
	return DateTime.fromMillis(instant, { zone }).toISODate() ?? undefined;
}

/** Whether the text is `YYYY-MM-DD` and a day of the calendar. */
export function isCalendarDay(text: string): boolean {
	return /^\d{4}-\d{2}-\d{2}$/.test(text) && DateTime.fromISO(text, { zone: 'utc' }).isValid;
}

/** The time zone's offset from UTC in minutes. */
function offsetAt(instant: number, zone: string): number {
	const slot = `${zone} ${Math.floor(instant / quarterMs)}`;
	let offset = offsets.get(slot);
	if (offset === undefined) {
		offset = IANAZone.create(zone).offset(instant);
		if (offsets.size >= maxOffsets) offsets.clear();
		offsets.set(slot, offset);
	}
	return offset;
}
