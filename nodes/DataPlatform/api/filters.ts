/**
 * Filters in the service's two forms (contract.md "Filters"): a tree in a body, and, for calls
 * that take none, conditions joined by AND in the query string.
 */
import { InputError } from '../transport/errors';
import { isObject } from '../transport/json';

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

/** A comma inside a value of a list, or of the query string, has two backslashes before it. */
const escapeValue = (value: string) => value.replaceAll(',', '\\\\,');

/** A comma behind such a value would be read as a part of it. */
const swallowsComma = (value: string) => value.endsWith('\\');

const valuesOf = ({ value = [] }: Condition) => (Array.isArray(value) ? value : [value]);

/** A list without the values that can't stand in one; each of them is a condition of its own. */
function divided(condition: Condition): Filter {
	const { field, operator, value } = condition;
	if (!Array.isArray(value) || value.length < 2 || !value.some(swallowsComma)) return condition;
	const isIn = operator === 'in';
	const single = (entry: string) => ({ field, operator: isIn ? 'eq' : 'neq', value: entry });
	const listed = value.filter((entry) => !swallowsComma(entry));
	return {
		filter: [
			...(listed.length > 0 ? [{ field, operator, value: listed }] : []),
			...value.filter(swallowsComma).map(single),
		],
		filterOperator: isIn ? 'or' : 'and',
	};
}

const isGroup = (filter: Filter): filter is Group => 'filter' in filter;

const takesNoValue = (operator: string) =>
	(OPERATORS_WITHOUT_VALUE as readonly string[]).includes(operator);

const listText = (values: string[]) => values.map(escapeValue).join(',');

interface BodyCondition {
	field: string;
	operator: string;
	value?: string;
}

interface BodyGroup {
	filter: Array<BodyCondition | BodyGroup>;
	filterOperator: string;
}

/** The filter as a body takes it. */
export function toBody(filter: Group): BodyGroup {
	return {
		filter: filter.filter.map((given) => {
			const entry = isGroup(given) ? given : divided(given);
			if (isGroup(entry)) return toBody(entry);
			const { field, operator, value = '' } = entry;
			if (takesNoValue(operator)) return { field, operator };
			return { field, operator, value: Array.isArray(value) ? listText(value) : value };
		}),
		filterOperator: filter.filterOperator,
	};
}

/** Whether the filter names no condition at all. */
export const isEmptyFilter = (filter: Group): boolean =>
	filter.filter.every((entry) => isGroup(entry) && isEmptyFilter(entry));

/**
 * The conditions of a filter that only joins by AND; undefined where it does more, or has a value
 * that can't be written between commas.
 */
export function asAndConditions(filter: Group): Condition[] | undefined {
	if (filter.filterOperator === 'or' && filter.filter.length > 1) return undefined;
	const parts = filter.filter.map((entry) => {
		if (isGroup(entry)) return asAndConditions(entry);
		return valuesOf(entry).some(swallowsComma) ? undefined : [entry];
	});
	return parts.includes(undefined) ? undefined : parts.flatMap((part) => part!);
}

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
				throw new InputError(`No field is called '${field}'; nothing was sent`, { field });
			}
			if (takesNoValue(operator)) return `${field}(${operator})`;
			const text = Array.isArray(value) ? `(${listText(value)})` : escapeValue(value);
			return `${field}(${operator})${text}`;
		})
		.join(',');
}

/**
 * Reads a filter tree that a user wrote as JSON.
 *
 * @throws {InputError} that names the place in the tree
 */
export function parseTree(value: unknown, place = 'filter'): Group {
	const entries = Array.isArray(value) ? value : isObject(value) ? value.filter : undefined;
	const filterOperator = isObject(value) ? (value.filterOperator ?? 'and') : 'and';
	if (!Array.isArray(entries) || (filterOperator !== 'and' && filterOperator !== 'or')) {
		throw new InputError(`The filter tree is not readable at '${place}'`, {
			hint: 'A group is {"filter":[…],"filterOperator":"and"} or "or".',
		});
	}
	return {
		filterOperator,
		filter: entries.map((entry: unknown, index) => {
			const at = `${place}[${index}]`;
			if (!isObject(entry)) {
				throw new InputError(`The filter tree is not readable at '${at}'`, {
					hint: 'A condition is {"field":"age","operator":"gte","value":"18"}.',
				});
			}
			return 'filter' in entry ? parseTree(entry, at) : parseCondition(entry, at);
		}),
	};
}

function parseCondition(
	{ field, operator, value }: Record<string, unknown>,
	at: string,
): Condition {
	if (typeof field !== 'string' || field === '') {
		throw new InputError(`The condition at '${at}' names no field`);
	}
	if (typeof operator !== 'string' || !OPERATORS.includes(operator)) {
		throw new InputError(`The condition at '${at}' has no known operator`, {
			hint: `Operators are: ${OPERATORS.join(', ')}.`,
		});
	}
	if (takesNoValue(operator)) return { field, operator };
	const values = (Array.isArray(value) ? value : [value]).map((entry) => String(entry ?? ''));
	return { field, operator, value: Array.isArray(value) ? values : values[0] };
}
