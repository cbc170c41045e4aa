/**
 * Filters, and how they are sent: in a request's body, or in a query string, which only joins
 * conditions by AND.
 */
import type { IDataObject } from 'n8n-workflow';

import { MAX_PAGE_SIZE } from './endpoints';
import { InputError } from '../transport/errors';
import { encodeUrlComponent } from '../transport/urlEncoding';

export const OPERATORS_WITHOUT_VALUE = ['empty', 'notempty', 'duplicity', 'currentuser'] as const;
const OPERATORS_WITH_LIST = ['in', 'notin'] as const;

export const OPERATORS: readonly string[] = [
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

type Filter = Condition | Group;

export const isGroup = (filter: Filter): filter is Group => 'filter' in filter;

export const takesNoValue = (operator: string) =>
	(OPERATORS_WITHOUT_VALUE as readonly string[]).includes(operator);

export const takesList = (operator: string) =>
	(OPERATORS_WITH_LIST as readonly string[]).includes(operator);

export const valuesOf = ({ value = [] }: Condition) => (Array.isArray(value) ? value : [value]);

export const and = (...filter: Filter[]): Group => ({ filter, filterOperator: 'and' });
export const or = (...filter: Filter[]): Group => ({ filter, filterOperator: 'or' });

/**
 * False for `a,b` and ` a`: it is unclear how a comma is escaped in a comma-separated list, and whether
 * its entries are trimmed.
 */
const isListable = (value: string) => !/[,\\]|^\s|\s$/.test(value);

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

/** The filter in the format of a request body. */
export function toBody(filter: Group): IDataObject {
	return {
		filter: filter.filter.map((given): IDataObject => {
			const entry = isGroup(given) ? given : withoutEscaping(given);
			if (isGroup(entry)) return toBody(entry);
			const { field, operator } = entry;
			if (takesNoValue(operator)) return { field, operator };
			return { field, operator, value: valuesOf(entry).join(',') };
		}),
		filterOperator: filter.filterOperator,
	};
}

/** Some proxies reject longer query strings; the limit counts percent-encoded characters. */
const MAX_QUERY_LENGTH = 6000;

/** The conditions of a filter that only joins by AND. Undefined if it has other groups. */
function asAndConditions(filter: Group): Condition[] | undefined {
	if (filter.filterOperator === 'or' && filter.filter.length > 1) return undefined;
	const parts = filter.filter.map((entry) => {
		if (isGroup(entry)) return asAndConditions(entry);
		const isEmptyList = takesList(entry.operator) && valuesOf(entry).length === 0;
		if (isEmptyList) return asAndConditions(and(withoutEscaping(entry)));
		return [entry];
	});
	if (parts.includes(undefined)) return undefined;
	return parts.flatMap((part) => part!);
}

/**
 * A value that no parser can misread in a query string: nothing to escape, nothing to trim. How many of
 * the backslashes that escape a comma arrive is unknown.
 */
const isPlain = (value: string) => !/[,\\()]|^\s|\s$/.test(value);

function queryCondition({ field, operator, value = '' }: Condition): string {
	if (/[(),]/.test(field)) {
		throw new InputError(`No field is called '${field}'. Nothing was sent`, {
			field,
			hint: 'Correct the name in the filter.',
		});
	}
	if (takesNoValue(operator)) return `${field}(${operator})`;
	const text = Array.isArray(value) ? `(${value.join(',')})` : value;
	return `${field}(${operator})${text}`;
}

/** Why a filter can't be part of a query string, and what can. */
interface QueryProblem {
	problem: string;
	instead: string;
	field?: string;
}

/**
 * The filter in the format of a query string, such as `age(gte)10,surname(in)(Fox,Dog)`; or why it has
 * none.
 *
 * @throws {InputError} if part of a field's name would be read as an operator or a value
 */
export function toQuery(filter: Group): string | QueryProblem {
	const conditions = asAndConditions(filter);
	if (!conditions) {
		return { problem: "it joins by 'any'", instead: 'use conditions that must all hold' };
	}
	const odd = conditions.find((condition) => !valuesOf(condition).every(isPlain));
	if (odd) {
		const { field, operator } = odd;
		return {
			field,
			problem: `the condition on '${field}' (${operator}) has a value with a comma, a bracket, a backslash, or a space at an end`,
			instead: "compare with a part of the value, such as with 'Starts With' (startswith)",
		};
	}
	const text = conditions.map(queryCondition).join(',');
	if (encodeUrlComponent(text).length <= MAX_QUERY_LENGTH) return text;
	return { problem: 'it is too long', instead: 'use fewer or shorter values' };
}

/** How many values, or combinations of values, one filter lists: their matches fit into one page. */
const MAX_LISTED = MAX_PAGE_SIZE;

/** How many conditions a filter gets at most. The service's limit is open. */
const MAX_CONDITIONS = 100;

/**
 * Filters that together match the records whose fields have one of the combinations of values, each
 * small enough for one request. They also match records that mix the values of two combinations, and
 * `in` may ignore case: compare the values of the records found.
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
	const parts: string[][][] = [];
	let part: string[][] = [];
	let single = new Set<string>();
	for (const row of sorted) {
		if (parts.length === 0 || part.length >= MAX_LISTED || single.size >= MAX_CONDITIONS) {
			part = [];
			single = new Set();
			parts.push(part);
		}
		part.push(row);
		row.forEach((value, at) => {
			if (!isListable(value)) single.add(`${at} ${value}`);
		});
	}
	return parts.map((combinations) => {
		const valuesAt = (at: number) => [...new Set(combinations.map((row) => row[at]!))];
		return and(...fields.map((field, at) => ({ field, operator: 'in', value: valuesAt(at) })));
	});
}

/** No conditions at all, also `{ filter: [{ filter: [] }] }`: every record matches. */
export const isEmptyFilter = (filter: Group): boolean =>
	filter.filter.every((entry) => isGroup(entry) && isEmptyFilter(entry));
