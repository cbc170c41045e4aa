import { DateTime, FixedOffsetZone, IANAZone } from 'luxon';

/** Minutes by zone and quarter of an hour: no zone changes its offset more often. */
const offsets = new Map<string, number>();
const quarterMs = 15 * 60_000;
const maxOffsets = 50_000;

/** ISO 8601 in extended form; a date may carry a `Z` without a time. Group 1 is the date. */
const isoPattern =
	/^(\d{4}-\d{2}-\d{2})(?:Z|T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;
const midnightUtc = /^(\d{4}-\d{2}-\d{2})(?:T00:00:00(?:\.0+)?)?Z$/;

/** Whether the runtime knows the IANA time zone. */
export function isTimeZone(zone: string): boolean {
	return IANAZone.isValidZone(zone);
}

/** ISO 8601 with milliseconds and the zone's offset, the form of `created` and `modified`. */
export function withOffset(instant: number, zone: string): string {
	const offset = FixedOffsetZone.instance(offsetAt(instant, zone));
	const local = DateTime.fromMillis(instant, { zone: offset }).toISO({ includeOffset: false });
	return `${local}${offset.formatOffset(instant, 'short')}`;
}

/**
 * Reads ISO 8601. With an offset it is taken as it is, without one as the zone's local time; a
 * date is its midnight. Returns milliseconds since 1970, or undefined for anything else.
 */
export function parseInstant(text: string, zone: string): number | undefined {
	const date = isoPattern.exec(text)?.[1];
	if (date === undefined) return undefined;
	const parsed = DateTime.fromISO(text === `${date}Z` ? `${date}T00:00Z` : text, { zone });
	return parsed.isValid ? parsed.toMillis() : undefined;
}

/**
 * Reads a day: `YYYY-MM-DD` or ISO 8601. A time is turned into the zone first, except midnight
 * UTC, which clients write when they mean the day. Undefined for anything else.
 */
export function parseDay(text: string, zone: string): string | undefined {
	const day = midnightUtc.exec(text)?.[1] ?? text;
	if (isCalendarDay(day)) return day;
	const instant = parseInstant(text, zone);
	if (instant === undefined) return undefined;
	return DateTime.fromMillis(instant, { zone }).toISODate() ?? undefined;
}

/** Whether the text is `YYYY-MM-DD` and such a day exists. */
export function isCalendarDay(text: string): boolean {
	return /^\d{4}-\d{2}-\d{2}$/.test(text) && DateTime.fromISO(text, { zone: 'utc' }).isValid;
}

/** The zone's distance from UTC in minutes at an instant. */
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
