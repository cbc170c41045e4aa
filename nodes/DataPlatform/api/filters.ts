/**
 * Filters in the service's two formats: a tree in the body, or conditions joined by AND in the
 * query string if a request takes no body.
 */
import { InputError, type Hint } from '../transport/errors';
import { isObject, parseExactJson } from '../transport/json';
import { encodeUrlComponent } from '../transport/urlEncoding';

export const OPERATORS_WITHOUT_VALUE = ['empty', 'notempty', 'duplicity', 'currentuser'] as const;
export const OPERATORS_WITH_LIST = ['in', 'notin'] as const;
const OPERATORS_WITH_VALUE = [
	'contains',
	'notcontains',
	'startswith',
	'endswith',
	'eq',
	'===',
	'neq',
	'gt',
	'lt',
	'gte',
	'lte',
] as const;

export const OPERATORS: readonly string[] = [
	...OPERATORS_WITH_VALUE,
	...OPERATORS_WITH_LIST,
	...OPERATORS_WITHOUT_VALUE,
];

export interface Condition {
	field: string;
	operator: string;
	/** Several values for `in` and `notin`; none if the operator takes no value. */
	value?: string | string[];
}

export interface Group {
	filter: Filter[];
	filterOperator: 'and' | 'or';
}

export type Filter = Condition | Group;

export const isGroup = (filter: Filter): filter is Group => 'filter' in filter;

const takesNoValue = (operator: string) =>
	(OPERATORS_WITHOUT_VALUE as readonly string[]).includes(operator);

const takesList = (operator: string) =>
	(OPERATORS_WITH_LIST as readonly string[]).includes(operator);

export const valuesOf = ({ value = [] }: Condition) => (Array.isArray(value) ? value : [value]);

const and = (...filter: Filter[]): Group => ({ filter, filterOperator: 'and' });
const or = (...filter: Filter[]): Group => ({ filter, filterOperator: 'or' });

/**
 * Whether a value may be part of a comma-separated list: it is unclear how a comma is escaped
 * there.
 */
const isListable = (value: string) => !/[,\\]/.test(value);

/** Matches no record: a field can't be empty and filled at once. */
const nothing = (field: string) =>
	and({ field, operator: 'empty' }, { field, operator: 'notempty' });

/** A list that needs no escaping: values that can't be part of it become separate conditions. */
function withoutEscaping(condition: Condition): Filter {
	const { field, operator } = condition;
	if (!takesList(operator)) return condition;
	const values = [...new Set(valuesOf(condition))];
	const isIn = operator === 'in';
	if (values.length === 0) return isIn ? nothing(field) : and();
	const listed = values.filter(isListable);
	const conditions = [
		...(listed.length > 0 ? [{ field, operator, value: listed }] : []),
		...values
			.filter((value) => !isListable(value))
			.map((value) => ({ field, operator: isIn ? '===' : 'neq', value })),
	];
	if (conditions.length === 1) return conditions[0]!;
	return isIn ? or(...conditions) : and(...conditions);
}

interface BodyCondition {
	field: string;
	operator: string;
	value?: string;
}

interface BodyGroup {
	filter: Array<BodyCondition | BodyGroup>;
	filterOperator: string;
}

function bodyGroup(filter: Group): BodyGroup {
	return {
		filter: filter.filter.map((given) => {
			const entry = isGroup(given) ? given : withoutEscaping(given);
			if (isGroup(entry)) return bodyGroup(entry);
			const { field, operator } = entry;
			if (takesNoValue(operator)) return { field, operator };
			return { field, operator, value: valuesOf(entry).join(',') };
		}),
		filterOperator: filter.filterOperator,
	};
}

/**
 * Filters with up to this many conditions and groups are known to work. The service's limit is
 * open.
 */
const MAX_BODY_CONDITIONS = 400;

const countConditions = (entry: BodyCondition | BodyGroup): number =>
	'filter' in entry ? 1 + entry.filter.reduce((sum, inner) => sum + countConditions(inner), 0) : 1;

interface UnlistableValues {
	condition?: Condition;
	count: number;
}

const countUnlistable = (condition: Condition): UnlistableValues => {
	const values = takesList(condition.operator) ? new Set(valuesOf(condition)) : [];
	return { condition, count: [...values].filter((value) => !isListable(value)).length };
};

/** The list condition with the most values that become separate conditions. */
function longestUnlistable(filter: Group): UnlistableValues {
	let longest: UnlistableValues = { count: 0 };
	for (const entry of filter.filter) {
		const found = isGroup(entry) ? longestUnlistable(entry) : countUnlistable(entry);
		if (found.count > longest.count) longest = found;
	}
	return longest;
}

/**
 * The filter in the format of a request body.
 *
 * @throws {InputError} if values that can't be part of a list add up to more conditions than a
 * filter may have
 */
export function toBody(filter: Group): BodyGroup {
	const body = bodyGroup(filter);
	if (countConditions(body) <= MAX_BODY_CONDITIONS) return body;
	const { condition, count } = longestUnlistable(filter);
	// Otherwise the user wrote the conditions one by one: let the platform decide whether they are
	// too many.
	if (!condition || count < 2) return body;
	const { field, operator } = condition;
	throw new InputError(
		`The condition on '${field}' (${operator}) has ${count} values with a comma or a backslash: each is sent as a condition of its own, and a filter has at most ${MAX_BODY_CONDITIONS} conditions`,
		{ field, hint: 'Give fewer such values at a time, for example in several items.' },
	);
}

/** How many values, or combinations of values, one filter lists: one less than a page, so that the matches fit into one page. */
const MAX_LISTED = 999;

/** How many conditions a filter gets at most. The service's limit is open. */
const MAX_CONDITIONS = 100;

/**
 * Filters that together match the records whose field has one of the values, each small enough for
 * one request. `in` may ignore case: compare the values of the records found.
 */
export function oneOf(field: string, values: Iterable<string>): Group[] {
	const distinct = [...new Set(values)];
	const listed = distinct.filter(isListable);
	const single = distinct.filter((value) => !isListable(value));
	const count = Math.max(
		Math.ceil(listed.length / MAX_LISTED),
		Math.ceil(single.length / MAX_CONDITIONS),
	);
	return Array.from({ length: count }, (_, index) =>
		and({
			field,
			operator: 'in',
			value: [
				...listed.slice(index * MAX_LISTED, (index + 1) * MAX_LISTED),
				...single.slice(index * MAX_CONDITIONS, (index + 1) * MAX_CONDITIONS),
			],
		}),
	);
}

/**
 * Filters that together match the records whose fields have one of the combinations of values, each
 * small enough for one request. They also match records that mix the values of two combinations:
 * compare the values of the records found.
 *
 * @param rows one value for each of the fields
 */
export function oneOfCombinations(fields: string[], rows: string[][]): Group[] {
	const distinct = fields.map((_, at) => new Set(rows.map((row) => row[at]!)).size);
	// Sorted by the field with the fewest distinct values first: neighbors share values, so a filter
	// mixes few combinations.
	const order = fields.map((_, at) => at).sort((a, b) => distinct[a]! - distinct[b]!);
	const sorted = rows
		.map((row) => ({ row, text: order.map((at) => row[at]).join('\0') }))
		.sort((a, b) => (a.text < b.text ? -1 : 1))
		.map(({ row }) => row);
	const groups: Group[] = [];
	let listed: Array<Set<string>> = [];
	let single = new Set<string>();
	let count = 0;
	const close = () => {
		if (count === 0) return;
		groups.push(
			and(...fields.map((field, at) => ({ field, operator: 'in', value: [...listed[at]!] }))),
		);
		count = 0;
	};
	for (const row of sorted) {
		if (count === 0 || count >= MAX_LISTED || single.size >= MAX_CONDITIONS) {
			close();
			listed = fields.map(() => new Set());
			single = new Set();
		}
		row.forEach((value, at) => {
			listed[at]!.add(value);
			if (!isListable(value)) single.add(`${at} ${value}`);
		});
		count += 1;
	}
	close();
	return groups;
}

/** Whether the filter has no conditions at all. */
export const isEmptyFilter = (filter: Group): boolean =>
	filter.filter.every((entry) => isGroup(entry) && isEmptyFilter(entry));

const EMPTY_VALUE_HINT = { code: 'giveFilterValue' } as const;

const EMPTY_GROUP_HINT = 'Add a condition to it, or remove the group: every record would match it.';

/**
 * For deletions: every part of the filter must restrict something. A value of only white space is
 * what an expression such as `{{ $json.first }} {{ $json.last }}` leaves if both fields are empty.
 *
 * @throws {InputError} that names the condition
 */
export function requireRestrictive(filter: Group): void {
	for (const entry of filter.filter) {
		if (isGroup(entry)) {
			if (entry.filter.length === 0) {
				throw new InputError('A group of the filter has no condition. Nothing was sent', {
					hint: EMPTY_GROUP_HINT,
				});
			}
			requireRestrictive(entry);
			continue;
		}
		const { field, operator } = entry;
		if (takesNoValue(operator)) continue;
		const values = valuesOf(entry);
		const isNoValue = values.length === 0 && operator !== 'in';
		if (field.trim() !== '' && !isNoValue && values.every((value) => value.trim() !== '')) continue;
		throw new InputError(
			`The condition on '${field}' (${operator}) has an empty value. Nothing was sent`,
			{ field, hint: EMPTY_VALUE_HINT },
		);
	}
}

/** Some proxies reject longer query strings; the limit counts percent-encoded characters. */
const MAX_QUERY_LENGTH = 6000;

/**
 * The conditions of a filter that only joins by AND. Undefined if it has other groups, or a value
 * that a query string can't hold.
 */
export function asAndConditions(filter: Group): Condition[] | undefined {
	if (filter.filterOperator === 'or' && filter.filter.length > 1) return undefined;
	const parts = filter.filter.map((entry) => {
		if (isGroup(entry)) return asAndConditions(entry);
		const values = valuesOf(entry);
		if (takesList(entry.operator) && values.length === 0) {
			return asAndConditions(and(withoutEscaping(entry)));
		}
		// A backslash at the end would escape the next character, a bracket would end the list.
		const isCut = /\\$/;
		const breaksList = /[()]|\\$/;
		const isUnfit = takesList(entry.operator) ? breaksList : isCut;
		return values.some((value) => isUnfit.test(value)) ? undefined : [entry];
	});
	return parts.includes(undefined) ? undefined : parts.flatMap((part) => part!);
}

/** In a query string, two backslashes escape a comma inside a value. */
const escapeValue = (value: string) => value.replaceAll(',', '\\\\,');

/**
 * Conditions in the format of a query string: `age(gte)10,surname(in)(Fox,Dog)`.
 *
 * @throws {InputError} if part of a field's name would be read as an operator or a value
 */
export function toQuery(conditions: Condition[]): string {
	return conditions
		.map((condition) => {
			const { field, operator, value = '' } = condition;
			if (/[(),]/.test(field)) {
				throw new InputError(`No field is called '${field}'. Nothing was sent`, {
					field,
					hint: 'Correct the name in the filter.',
				});
			}
			if (takesNoValue(operator)) return `${field}(${operator})`;
			const text = Array.isArray(value)
				? `(${value.map(escapeValue).join(',')})`
				: escapeValue(value);
			return `${field}(${operator})${text}`;
		})
		.join(',');
}

/** Whether a filter is short enough for a query string. */
export const fitsQuery = (text: string): boolean =>
	text.length <= MAX_QUERY_LENGTH && encodeUrlComponent(text).length <= MAX_QUERY_LENGTH;

/** A value that no parser can misread in a query string: nothing to escape, nothing to trim. */
const isPlain = (value: string) => !/[,\\()]|^\s|\s$/.test(value);

/**
 * The filter as a query string that can't be misread. Undefined if it joins by OR, has a value that
 * needs escaping, or is too long for a URL.
 */
export function asPlainQuery(filter: Group): string | undefined {
	const conditions = asAndConditions(filter);
	if (!conditions?.every((condition) => valuesOf(condition).every(isPlain))) return undefined;
	const text = toQuery(conditions);
	return fitsQuery(text) ? text : undefined;
}

/**
 * Rejects unknown members: ignoring one could widen the filter, and read or delete too much.
 *
 * @throws {InputError}
 */
function requireKnownMembers(entry: object, known: string[], at: string, field: string): void {
	const other = Object.keys(entry).find((name) => !known.includes(name));
	if (other === undefined) return;
	throw new InputError(`The filter tree has an unknown member '${other}' at '${at}'`, {
		field,
		hint: 'A condition is {"field","operator","value"}, a group {"filter":[…],"filterOperator":"and"} or "or"; neither takes anything else.',
	});
}

/** More than any sensible filter needs. */
const MAX_DEPTH = 100;

/**
 * Reads a filter tree that a user wrote as JSON. A tree without conditions matches every record; a
 * group inside it must have some.
 *
 * @param field the field that errors name
 * @throws {InputError} that names the place in the tree
 */
export function parseTree(value: unknown, field = 'filter', place = 'filter', depth = 0): Group {
	if (depth > MAX_DEPTH) {
		throw new InputError(`Groups are nested more than ${MAX_DEPTH} levels deep`, {
			field,
			hint: 'Use fewer nested groups.',
		});
	}
	const entries = Array.isArray(value) ? value : isObject(value) ? value.filter : undefined;
	const { filterOperator = 'and' } = isObject(value) ? value : {};
	if (!Array.isArray(entries) || (filterOperator !== 'and' && filterOperator !== 'or')) {
		throw new InputError(`The filter tree is not readable at '${place}'`, {
			field,
			hint: 'A group is {"filter":[…],"filterOperator":"and"} or "or".',
		});
	}
	if (isObject(value)) {
		requireKnownMembers(value, ['filter', 'filterOperator'], place, field);
	}
	return {
		filterOperator,
		filter: entries.map((entry: unknown, index) => {
			const at = `${place}[${index}]`;
			if (!isObject(entry)) {
				throw new InputError(`The filter tree is not readable at '${at}'`, {
					field,
					hint: 'A condition is {"field":"age","operator":"gte","value":"18"}.',
				});
			}
			if (!('filter' in entry)) {
				requireKnownMembers(entry, ['field', 'operator', 'value'], at, field);
				return parseCondition(entry, `The condition at '${at}'`, field);
			}
			const group = parseTree(entry, field, at, depth + 1);
			if (group.filter.length > 0) return group;
			throw new InputError(`The group at '${at}' has no condition`, {
				field,
				hint: EMPTY_GROUP_HINT,
			});
		}),
	};
}

/**
 * Reads one condition. Without a field, an operator or a value it is an error: leaving the
 * condition out, or sending it incomplete, would match other records than the user wants.
 *
 * @param place what messages call it
 * @param parameter the parameter that holds it
 * @throws {InputError}
 */
export function parseCondition(
	{ field, operator, value }: Record<string, unknown>,
	place: string,
	parameter: string,
): Condition {
	const wrong = (message: string, hint: Hint) =>
		new InputError(`${place} ${message}`, { field: parameter, hint });
	if (typeof field !== 'string' || field.trim() === '') {
		throw wrong('names no field', 'Choose a field, or remove the condition.');
	}
	if (typeof operator !== 'string' || !OPERATORS.includes(operator)) {
		const isNamed = typeof operator === 'string' && operator !== '';
		throw wrong(
			isNamed ? `has an unknown operator, '${operator}'` : `on '${field}' has no operator`,
			`Operators are: ${OPERATORS.join(', ')}.`,
		);
	}
	if (takesNoValue(operator)) return { field, operator };
	const what = `on '${field}' (${operator})`;
	const given =
		takesList(operator) && typeof value === 'string' && value.trim() !== ''
			? splitList(value)
			: value;
	const texts = (Array.isArray(given) ? given : [given]).map((entry: unknown) => {
		const text = textOf(entry);
		if (text === undefined) {
			throw wrong(
				`${what} has a value that is neither text, number, date, true nor false`,
				'Correct the expression in it.',
			);
		}
		if (text === '') throw wrong(`${what} has an empty value`, EMPTY_VALUE_HINT);
		return text;
	});
	if (takesList(operator)) {
		if (texts.length > 0 || operator === 'in') return { field, operator, value: texts };
		throw wrong(
			`${what} has an empty list, so every record would match`,
			'Give the list a value, or remove the condition.',
		);
	}
	if (texts.length === 1) return { field, operator, value: texts[0] };
	throw texts.length === 0
		? wrong(`${what} has an empty value`, EMPTY_VALUE_HINT)
		: wrong(`${what} takes one value, not ${texts.length}`, "For several values use 'in'.");
}

/**
 * The values in a text: those of a JSON list, because n8n writes a list into a text as JSON;
 * otherwise those between commas. One or two backslashes escape a comma inside a value.
 */
function splitList(text: string): unknown[] {
	const list = text.trimStart().startsWith('[') ? parseExactJson(text) : undefined;
	if (Array.isArray(list)) return list;
	return text.split(/(?<!\\),/).map((entry) => entry.replace(/\\{1,2},/g, ',').trim());
}

const isDate = (value: unknown): value is Date =>
	Object.prototype.toString.call(value) === '[object Date]';

/** A single value as text: empty if it is missing, undefined if it is not a single value. */
function textOf(value: unknown): string | undefined {
	if (value === undefined || value === null) return '';
	if (typeof value === 'string') return value;
	if (typeof value === 'boolean') return String(value);
	if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
	// n8n has already turned its own dates into text, but not JavaScript's.
	return isDate(value) ? (value.toJSON() ?? undefined) : undefined;
}
