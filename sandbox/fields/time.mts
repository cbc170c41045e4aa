import { DateTime, IANAZone } from 'luxon';
import type { Settings } from '../state/settings.mts';

export type DateSettings = Pick<Settings, 'dates' | 'dateForms'>;

/** What dates and times may look like, and in which zone they are. */
export interface DateRules {
	timeZone: string;
	/** Read only where they matter, so that it is known which runs met them. */
	settings: DateSettings;
}

/** Group 1 is the date. A date may carry a `Z` without a time. */
const forms = {
	four: /^(\d{4}-\d{2}-\d{2})(?:Z|T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?Z?)?$/,
	iso: /^(\d{4}-\d{2}-\d{2})(?:Z|T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/,
};
const midnightUtc = /^(\d{4}-\d{2}-\d{2})(?:T00:00:00(?:\.0+)?)?Z$/;
const timeUtc = /T.*Z$/;

/** Whether this is the name of an IANA time zone. */
export function isTimeZone(zone: string): boolean {
	return IANAZone.isValidZone(zone);
}

/** In UTC, as in `created` and `modified`; with milliseconds, unless the precision is whole seconds. */
export function inUtc(instant: number, precisionMs: number): string {
	const text = new Date(instant).toISOString();
	return precisionMs % 1000 === 0 ? text.replace('.000', '') : text;
}

/** A stored `YYYY-MM-DD` as it is read. */
export const shownDay = (day: string, { dates }: DateSettings) =>
	dates === 'older' ? `${day}T00:00:00.000Z` : day;

/** A stored time as it is read: in older mode, in whole seconds. */
export const shownTime = (time: string, { dates }: DateSettings) =>
	dates === 'older' ? time.replace(/\.\d{3}Z$/, '.000Z') : time;

/**
 * Parses a time that is written; without an offset it is in the time zone, and a date is its
 * midnight. Older mode only accepts times in UTC. Returns milliseconds since 1970, or undefined for
 * any other text.
 */
export function parseInstant(text: string, rules: DateRules): number | undefined {
	const date = forms[rules.settings.dateForms].exec(text)?.[1];
	if (date === undefined || (rules.settings.dates === 'older' && !timeUtc.test(text)))
		return undefined;
	const iso = text === `${date}Z` ? `${date}T00:00Z` : text;
	const parsed = DateTime.fromISO(iso, { zone: rules.timeZone });
	if (!parsed.isValid) return undefined;
	const instant = parsed.toMillis();
	return rules.settings.dates === 'older' ? Math.floor(instant / 1000) * 1000 : instant;
}

/**
 * Parses a day that is written. A time is converted to the time zone first, except midnight UTC,
 * which stands for the day itself, and which older mode requires. Undefined for any other text.
 */
export function parseDay(text: string, rules: DateRules): string | undefined {
	const day = midnightUtc.exec(text)?.[1] ?? text;
	if (rules.settings.dates === 'older' && !(midnightUtc.test(text) && timeUtc.test(text)))
		return undefined;
	if (!forms[rules.settings.dateForms].test(text)) return undefined;
	if (isCalendarDay(day)) return day;
	const instant = parseInstant(text, rules);
	if (instant === undefined) return undefined;
	return DateTime.fromMillis(instant, { zone: rules.timeZone }).toISODate() ?? undefined;
}

/**
 * A filter's value in the form in which the column stores it; undefined if it is no time. Days and
 * times without a zone are accepted in both modes, also with a space. Older mode compares a date as
 * its midnight in UTC.
 */
export function filterTime(
	text: string,
	as: 'date' | 'datetime' | 'instant',
	rules: DateRules,
): string | number | undefined {
	const iso = text.replace(' ', 'T');
	const { dates, dateForms } = rules.settings;
	const current: DateRules = { ...rules, settings: { dates: 'current', dateForms } };
	const instant = parseInstant(iso, current);
	if (as === 'instant' || instant === undefined) return instant;
	const time = new Date(instant).toISOString();
	if (as === 'datetime') return time;
	const isTime = dates === 'older' && timeUtc.test(iso) && !midnightUtc.test(iso);
	return isTime ? time : parseDay(iso, current);
}

/** Whether the text is `YYYY-MM-DD` and a day of the calendar. */
export function isCalendarDay(text: string): boolean {
	return /^\d{4}-\d{2}-\d{2}$/.test(text) && DateTime.fromISO(text, { zone: 'utc' }).isValid;
}
