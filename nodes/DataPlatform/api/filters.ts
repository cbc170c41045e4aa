/**
 * Filters in the service's two forms: a tree in a body, and, for requests that take none,
 * conditions joined by AND in the query string.
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
	/** Several values for `in` and `notin`, none for operators that take none. */
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

/** Whether a value can stand between commas: how a comma in it is escaped is not certain. */
const isListable = (value: string) => !/[,\\]/.test(value);

/** No record: a field is not empty and filled at once. */
const nothing = (field: string) =>
	and({ field, operator: 'empty' }, { field, operator: 'notempty' });

/** A list in a form that needs no escaping: values that can't stand in it are conditions of their own. */
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

/** With as many conditions and groups a filter is known to work; how many the service takes is open. */
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

/** The list with the most values that become conditions of their own. */
function longestUnlistable(filter: Group): UnlistableValues {
	let longest: UnlistableValues = { count: 0 };
	for (const entry of filter.filter) {
		const found = isGroup(entry) ? longestUnlistable(entry) : countUnlistable(entry);
		if (found.count > longest.count) longest = found;
	}
	return longest;
}

/**
 * The filter as a body takes it.
 *
 * @throws {InputError} where values that can't stand in a list make more conditions of it than a
 *   filter may have
 */
export function toBody(filter: Group): BodyGroup {
	const body = bodyGroup(filter);
	if (countConditions(body) <= MAX_BODY_CONDITIONS) return body;
	const { condition, count } = longestUnlistable(filter);
	// Otherwise the conditions are the user's own: whether they are too many, the platform says.
	if (!condition || count < 2) return body;
	const { field, operator } = condition;
	throw new InputError(
		`The condition on '${field}' (${operator}) has ${count} values with a comma or a backslash: each is sent as a condition of its own, and a filter has at most ${MAX_BODY_CONDITIONS} conditions`,
		{ field, hint: 'Give fewer such values at a time, for example in several items.' },
	);
}

/** As many values as a request with a list in its body takes without trouble. */
const MAX_LISTED = 1000;

/** As many combinations of values: one less than a page, so that one page holds what they match. */
const MAX_COMBINED = 999;

/** As many conditions as a filter may have; how many the service takes is open. */
const MAX_CONDITIONS = 100;

/**
 * Filters that together match the records whose field holds one of the values, each small enough
 * for one request. `in` may ignore case: compare the values of the records found.
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
 * Filters that together match the records whose fields hold one of the combinations of values, each
 * small enough for one request. They match records that mix the values of two combinations as well:
 * compare the values of the records found.
 *
 * @param rows a value for each of the fields
 */
export function oneOfCombinations(fields: string[], rows: string[][]): Group[] {
	const distinct = fields.map((_, at) => new Set(rows.map((row) => row[at]!)).size);
	// Side by side are the rows that share the values of which there are fewest: little is mixed.
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
		if (count === 0 || count >= MAX_COMBINED || single.size >= MAX_CONDITIONS) {
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

/** Whether the filter names no condition at all. */
export const isEmptyFilter = (filter: Group): boolean =>
	filter.filter.every((entry) => isGroup(entry) && isEmptyFilter(entry));

const EMPTY_VALUE_HINT = { code: 'giveFilterValue' } as const;

const EMPTY_GROUP_HINT = 'Add a condition to it, or remove the group: every record would match it.';

/**
 * For what deletes: no part of the filter may be there without restricting anything. A value of
 * only white space is what an expression such as `{{ $json.first }} {{ $json.last }}` leaves.
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

/** Longer ones do not pass every proxy, percent-encoded. */
const MAX_QUERY_LENGTH = 6000;

/**
 * The conditions of a filter that only joins by AND; undefined where it does more, or has a value
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
		// A backslash at the end would escape what follows, a bracket would end the list.
		const isCut = /\\$/;
		const breaksList = /[()]|\\$/;
		const isUnfit = takesList(entry.operator) ? breaksList : isCut;
		return values.some((value) => isUnfit.test(value)) ? undefined : [entry];
	});
	return parts.includes(undefined) ? undefined : parts.flatMap((part) => part!);
}

/** A comma inside a value of the query string has two backslashes before it. */
const escapeValue = (value: string) => value.replaceAll(',', '\\\\,');

/**
 * Conditions as the query string takes them: `age(gte)10,surname(in)(Fox,Dog)`.
 *
 * @throws {InputError} where a field's name would be read as more than a name
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

/** Whether a filter is short enough for a query string that reaches the service. */
export const fitsQuery = (text: string): boolean =>
	text.length <= MAX_QUERY_LENGTH && encodeUrlComponent(text).length <= MAX_QUERY_LENGTH;

/** A value that everybody reads alike in a query string: nothing to escape, nothing to trim. */
const isPlain = (value: string) => !/[,\\()]|^\s|\s$/.test(value);

/**
 * The filter as a query string that can't be misread; undefined if it has none, because it joins by
 * OR, has a value that would need escaping, or is too long for an address.
 */
export function asPlainQuery(filter: Group): string | undefined {
	const conditions = asAndConditions(filter);
	if (!conditions?.every((condition) => valuesOf(condition).every(isPlain))) return undefined;
	const text = toQuery(conditions);
	return fitsQuery(text) ? text : undefined;
}

/**
 * A member that is not known is never ignored: what it was to narrow would be read, or deleted, whole.
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

/** Deeper than any sensible filter. */
const MAX_DEPTH = 100;

/**
 * Reads a filter tree that a user wrote as JSON. Without conditions it matches every record; a
 * group inside it must have some.
 *
 * @param field what errors name as their field
 * @throws {InputError} that names the place in the tree
 */
export function parseTree(value: unknown, field = 'filter', place = 'filter', depth = 0): Group {
	if (depth > MAX_DEPTH) {
		throw new InputError(`Groups lie in each other more than ${MAX_DEPTH} deep`, {
			field,
			hint: 'Join conditions in fewer groups.',
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
 * Reads one condition. A condition without a field, an operator or a value is an error: left out
 * or sent as it is, it would match other records than the user wants.
 *
 * @param place what a message calls it
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
 * The values of a text: those of a JSON list, which is what a list becomes inside a text, else those
 * between commas; a comma inside a value has a backslash before it, or two.
 */
function splitList(text: string): unknown[] {
	const list = text.trimStart().startsWith('[') ? parseExactJson(text) : undefined;
	if (Array.isArray(list)) return list;
	return text.split(/(?<!\\),/).map((entry) => entry.replace(/\\{1,2},/g, ',').trim());
}

const isDate = (value: unknown): value is Date =>
	Object.prototype.toString.call(value) === '[object Date]';

/** A single value as text; empty if it is missing, undefined if it is not a single value. */
function textOf(value: unknown): string | undefined {
	if (value === undefined || value === null) return '';
	if (typeof value === 'string') return value;
	if (typeof value === 'boolean') return String(value);
	if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
	// n8n makes texts of its own dates before, not of JavaScript's.
	return isDate(value) ? (value.toJSON() ?? undefined) : undefined;
}
