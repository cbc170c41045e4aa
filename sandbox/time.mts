const formatters = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, number>();
/** Zones change their offset at quarters of an hour at the finest. */
const quarter = 15 * 60_000;

/** Whether the runtime knows the IANA time zone. */
export function isTimeZone(zone: string): boolean {
	try {
		formatter(zone);
		return true;
	} catch {
		return false;
	}
}

/** The zone's distance from UTC in milliseconds at an instant. */
function offsetAt(zone: string, instant: number): number {
	if (zone === 'UTC') return 0;
	const slot = `${zone} ${Math.floor(instant / quarter)}`;
	const known = offsets.get(slot);
	if (known !== undefined) return known;
	const whole = Math.floor(instant / 1000) * 1000;
	const offset = localAsUtc(zone, whole) - whole;
	if (offsets.size > 50_000) offsets.clear();
	offsets.set(slot, offset);
	return offset;
}

/** ISO 8601 with milliseconds and the zone's offset, as `created` and `modified` are told. */
export function withOffset(instant: number, zone: string): string {
	const offset = offsetAt(zone, instant);
	const minutes = Math.abs(Math.round(offset / 60_000));
	const sign = offset < 0 ? '-' : '+';
	const hh = String(Math.floor(minutes / 60)).padStart(2, '0');
	const mm = String(minutes % 60).padStart(2, '0');
	return `${new Date(instant + offset).toISOString().slice(0, -1)}${sign}${hh}:${mm}`;
}

/**
 * Reads ISO 8601. With an offset it is taken as it is, without one as the zone's local time.
 * Returns milliseconds since 1970, or undefined for anything else.
 */
export function parseInstant(text: string, zone: string): number | undefined {
	const pattern =
		/^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/;
	const match = pattern.exec(text);
	if (!match || !isCalendarDay(match[1] ?? '')) return undefined;
	const [, day, time = '00:00', suffix] = match;
	const colon = suffix?.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
	const asUtc = Date.parse(`${day}T${time}${colon ?? 'Z'}`);
	if (Number.isNaN(asUtc)) return undefined;
	if (suffix) return asUtc;
	// The offset at the instant that we look for is not known before it is found: go twice.
	const guess = asUtc - offsetAt(zone, asUtc);
	return asUtc - offsetAt(zone, guess);
}

/** Whether the text is `YYYY-MM-DD` and such a day exists. */
export function isCalendarDay(text: string): boolean {
	if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
	const instant = Date.parse(`${text}T00:00:00Z`);
	return !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(text);
}

/** The day that an instant falls on in the zone. */
export function dayAt(instant: number, zone: string): string {
	return new Date(instant + offsetAt(zone, instant)).toISOString().slice(0, 10);
}

function formatter(zone: string): Intl.DateTimeFormat {
	const known = formatters.get(zone);
	if (known) return known;
	const made = new Intl.DateTimeFormat('en-US', {
		timeZone: zone,
		hourCycle: 'h23',
		year: 'numeric',
		month: 'numeric',
		day: 'numeric',
		hour: 'numeric',
		minute: 'numeric',
		second: 'numeric',
	});
	formatters.set(zone, made);
	return made;
}

function localAsUtc(zone: string, instant: number): number {
	const parts = new Map(
		formatter(zone)
			.formatToParts(instant)
			.map((part) => [part.type, Number(part.value)]),
	);
	const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
	return Date.UTC(
		part('year'),
		part('month') - 1,
		part('day'),
		part('hour'),
		part('minute'),
		part('second'),
	);
}
