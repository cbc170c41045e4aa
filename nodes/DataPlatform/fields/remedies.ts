/**
 * What turns a text that a field refuses into a value that it takes: the expression to paste, made
 * from the text's own format. If a text has two meanings, both are named. What an expression can't
 * read stays as it is: an empty value is empty, any other is refused again, with its reason. Pure.
 */

import { LABELS } from '../labels';

/** A value in an expression, such as `$json.due`; undefined in a file of rows, empty for an agent. */
export type Source = string | undefined;

/** Continues a problem after a colon; undefined if the text has no clear format. */
export type Remedy = (text: string, source: Source) => string | undefined;

const use = (expression: string) => `use {{ ${expression} }}`;

const setFormat = (label: string, format: string) =>
	`set '${LABELS.textFormats} → ${label}' in the options to ${format}`;

const DAY_OR_MONTH_FIRST =
	/^(?<first>\d\d?)(?<mark>[./-])(?<second>\d\d?)\k<mark>(?<year>\d{4}|\d\d)(?!\d)/;
const MONTH_NAME = /^(?<day>\d\d?)(?<mark>[ -])(?<name>[A-Z]{3})\k<mark>(?<year>\d{4}|\d\d)(?!\d)/i;
const COMPACT = /^(?<year>\d{4})(?<first>\d\d)(?<second>\d\d)$/;
const YEAR_FIRST = /^(?<year>\d{4})(?<mark>[./-])(?<first>\d\d?)\k<mark>(?<second>\d\d?)(?!\d)/;
const TIME = /^(,? )(\d\d?):\d\d(:\d\d)?( [AP]M)?( (?:UTC|GMT)| ?[+-]\d\d(?::?\d\d)?)?$/i;

/** Luxon's token for each form of a zone. */
const ZONES: Array<[RegExp, token: string]> = [
	[/UTC|GMT/i, 'z'],
	[/[+-]\d{4}/, 'ZZZ'],
	[/[+-]\d\d:\d\d/, 'ZZ'],
	[/[+-]\d\d/, 'Z'],
];

/** What numbers of a date's size mean, as a format in files and as an expression. */
const NUMBERS: Array<[RegExp, format: string, expression: (source: string) => string]> = [
	[/^\d{10}$/, 'X', (source) => `DateTime.fromSeconds(Number(${source}))`],
	[/^\d{13}$/, 'x', (source) => `DateTime.fromMillis(Number(${source}))`],
	[
		/^[2-6]\d{4}(?:\.\d+)?$/,
		'serial',
		(source) => `DateTime.fromISO('1899-12-30').plus({ days: Number(${source}) })`,
	],
];

/** False for 31.02.1990. */
function isDate(year: string, month: string, day: string): boolean {
	const date = new Date(Date.UTC(Number(year.padStart(4, '20')), Number(month) - 1, Number(day)));
	return date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/** The day that a text begins with and no calendar has, such as `31.02.1990`. */
export function missingDay(text: string): string | undefined {
	const yearFirst = YEAR_FIRST.exec(text) ?? COMPACT.exec(text);
	const match = yearFirst ?? MONTH_NAME.exec(text) ?? DAY_OR_MONTH_FIRST.exec(text);
	if (!match) return undefined;
	const { year = '', name = '', first, second = '', day = second } = match.groups!;
	const month = first ?? `${MONTHS.indexOf(name.toLowerCase()) + 1}`;
	const orders = [[month, day] as const];
	if (!yearFirst && first) orders.push([second, first]);
	if (orders.some(([month, day]) => isDate(year, month, day))) return undefined;
	const isDay = orders.some(([month, day]) => isDate('0', month, '1') && isDate('0', '1', day));
	return isDay ? match[0] : undefined;
}

/** The format of a day for each order of its parts that is possible, and the text after it. */
function dayFormats(text: string): { formats: string[]; rest: string } {
	const yearFirst = YEAR_FIRST.exec(text);
	const match = yearFirst ?? MONTH_NAME.exec(text) ?? DAY_OR_MONTH_FIRST.exec(text);
	const { mark, name, first = '', second = '', day = '', year = '' } = match?.groups ?? {};
	const letters = Math.min(first.length, second.length) || day.length;
	const [d, y] = ['d'.repeat(letters), 'y'.repeat(year.length)];
	const m = name ? 'MMM' : 'M'.repeat(letters);
	const isDayFirst = name ? !missingDay(text) : !yearFirst && isDate(year, second, first);
	const isMonthFirst = !name && isDate(year, first, second);
	const formats: string[][] = [];
	if (isDayFirst) formats.push([d, m, y]);
	if (isMonthFirst) formats.push(yearFirst ? [y, m, d] : [m, d, y]);
	return {
		formats: formats.map((parts) => parts.join(mark)),
		rest: text.slice(match?.[0].length),
	};
}

/** The format of the time after a day; undefined if it has none. */
function timeFormat(text: string): string | undefined {
	if (text === '') return '';
	const match = TIME.exec(text);
	if (!match) return undefined;
	const [, separator, hour, seconds, half, zone = ''] = match;
	const hours = (half ? 'h' : 'H').repeat(hour!.length);
	const zoned = ZONES.reduce((text, [pattern, token]) => text.replace(pattern, token), zone);
	return `${separator!}${hours}:mm${seconds ? ':ss' : ''}${half ? ' a' : ''}${zoned}`;
}

const timeRemedy =
	(isDay: boolean): Remedy =>
	(text, source) => {
		const number = NUMBERS.find(([pattern]) => pattern.test(text));
		if (number) {
			const [, format, toTime] = number;
			if (source === undefined) return setFormat(LABELS.dateFormat, format);
			// What has no zone here gets the application's, which the node knows, as does the day of an
			// instant.
			const instant = isDay ? 'toUTC().toISO()' : 'toISO()';
			const local = isDay ? 'toISODate()' : 'toISO({ includeOffset: false })';
			const time = `${toTime(source)}.${format === 'serial' ? local : instant}`;
			return use(`${source} > 1 ? ${time} ?? ${source} : ${source}`);
		}
		const { formats, rest } = dayFormats(text);
		const time = timeFormat(rest);
		if (time === undefined || formats.length === 0) return undefined;
		const hasZone = /z/i.test(time);
		const [one, other] = formats.map((format) => {
			if (source === undefined) return setFormat(LABELS.dateFormat, `${format}${time}`);
			const parts = `String(${source}), '${format}${time}'`;
			if (isDay && !hasZone) return use(`DateTime.fromFormat(${parts}).toISODate() ?? ${source}`);
			const zone = hasZone ? 'setZone: true' : "zone: 'Europe/Berlin'";
			return use(`DateTime.fromFormat(${parts}, {${zone}}).toISO() ?? ${source}`);
		});
		const ending = isDay || hasZone || source === undefined ? '' : ' with your time zone';
		if (other === undefined) return `${one!}${ending}`;
		return `it is ambiguous: ${one!} if the day comes first, ${other} if the month does${ending}`;
	};

export const dateRemedy = timeRemedy(true);
export const datetimeRemedy = timeRemedy(false);

const DECIMAL_COMMA = /^[+-]?\d+,\d+$/;
const GROUPED_WITH_COMMA = /^[+-]?\d{1,3}([.' \u00a0\u202f])\d{3}(?:\1\d{3})*,\d+$/;
const GROUPED_WITH_POINT = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;
const ONE_GROUP = /^[+-]?[1-9]\d{0,2},\d{3}$/;

export const numberRemedy: Remedy = (text, source) => {
	const convert = (format: string, conversion: string) => {
		if (source === undefined) return setFormat(LABELS.numberFormat, format);
		// A number stays one, and an empty value empty.
		return use(`${source}?.replace?.(${conversion}) ?? ${source}`);
	};
	// Only marks that group digits: 31.12.1990 is no number without its points.
	const without = (mark: string) => `/${mark === '.' ? '\\.' : mark}(?=\\d{3}(\\D|$))/g, ''`;
	const comma = (before = '') => convert('1.234,5', `${before}',', '.'`);
	const point = () => convert('1,234.5', without(','));
	if (ONE_GROUP.test(text))
		return `it is ambiguous: ${comma()} if that is a decimal comma, ${point()} if it groups digits`;
	if (DECIMAL_COMMA.test(text)) return comma();
	if (GROUPED_WITH_POINT.test(text)) return point();
	const mark = GROUPED_WITH_COMMA.exec(text)?.[1];
	return mark && comma(`${without(mark)}).replace(`);
};

/** Words for true and false, also in files. */
export const YES_AND_NO = [
	['true', 'false'],
	['t', 'f'],
	['wahr', 'falsch'],
	['vrai', 'faux'],
	['ano', 'ne'],
	['tak', 'nie'],
	['да', 'нет'],
	['yes', 'no'],
	['y', 'n'],
	['on', 'off'],
	['1', '0'],
	['ja', 'nein'],
	['oui', 'non'],
	['sí', 'no'],
	['x', ''],
];

/** Any other word stays as it is, and is refused again. */
export const checkboxRemedy: Remedy = (text, source) => {
	const words = YES_AND_NO.find((pair) => pair.includes(text.toLowerCase()));
	if (!words || source === undefined) return undefined;
	const [yes, no] = words.map((word) => `'${word}': `);
	return use(`({ ${yes!}true, ${no!}false })[String(${source}).toLowerCase()] ?? ${source}`);
};
