import { invalid } from '../api/errors.mts';

const operators = [
	'contains',
	'notcontains',
	'startswith',
	'endswith',
	'eq',
	'===',
	'neq',
	'empty',
	'notempty',
	'in',
	'notin',
	'gt',
	'lt',
	'gte',
	'lte',
	'duplicity',
	'currentuser',
] as const;
export type Operator = (typeof operators)[number];

const withoutValue: ReadonlySet<Operator> = new Set([
	'empty',
	'notempty',
	'duplicity',
	'currentuser',
]);
const withValues: ReadonlySet<Operator> = new Set(['in', 'notin']);

/** A filter in the form that both ways to write it come to. */
export type Filter = Condition | Group;
export interface Condition {
	/** More than one step goes through links. */
	path: string[];
	operator: Operator;
	/** None, one, or for `in` and `notin` any number. */
	values: string[];
}
export interface Group {
	join: 'and' | 'or';
	members: Filter[];
}

interface ConditionInput {
	field: string;
	operator: Operator;
	value?: string | number | boolean | null;
}
interface GroupInput {
	filter?: Array<ConditionInput | GroupInput>;
	filterOperator?: 'and' | 'or';
}

const clauseStart = /([^,()]+)\(([a-z]+|===)\)/y;

/** Reads `age(gte)10,surname(in)(Fox,Dog)`; contract.md, "Filters". Throws a Problem (400). */
export function filterFromQuery(text: string): Filter {
	const members: Filter[] = [];
	let at = 0;
	while (at < text.length) {
		clauseStart.lastIndex = at;
		const match = clauseStart.exec(text);
		const operator = operators.find((name) => name === match?.[2]);
		if (!match?.[1] || !operator) {
			throw invalid(`The filter cannot be read from '${text.slice(at, at + 40)}' on.`);
		}
		const valueAt = clauseStart.lastIndex;
		const end = withValues.has(operator) ? endOfList(text, valueAt) : endOfValue(text, valueAt);
		members.push(condition(match[1], operator, text.slice(valueAt, end)));
		if (end === text.length - 1) throw invalid('The filter ends with a comma.');
		at = end + 1;
	}
	return { join: 'and', members };
}

/**
 * Reads the tree in a body, whose shape is checked already. Only `in` and `notin` take several
 * values, so only they have commas to escape. Throws a Problem (400).
 */
export function filterFromBody(input: GroupInput): Filter {
	return {
		join: input.filterOperator ?? 'and',
		members: (input.filter ?? []).map((member) => {
			if (!('operator' in member)) return filterFromBody(member as GroupInput);
			const { field, operator, value } = member;
			const text = value === undefined || value === null ? '' : String(value);
			if (text === '' && !withoutValue.has(operator) && value !== '') {
				throw invalid(`The filter on '${field}' needs a value for ${operator}.`);
			}
			if (text !== '' && withoutValue.has(operator)) {
				throw invalid(`The filter on '${field}' takes no value for ${operator}.`);
			}
			return made(field, operator, withValues.has(operator) ? splitList(text) : [text]);
		}),
	};
}

function condition(field: string, operator: Operator, text: string): Filter {
	if (withoutValue.has(operator)) {
		if (text !== '') throw invalid(`The filter on '${field}' takes no value for ${operator}.`);
		return made(field, operator, []);
	}
	if (!withValues.has(operator)) return made(field, operator, [unescape(text)]);
	if (!text.startsWith('(') || !text.endsWith(')')) {
		throw invalid(`The filter on '${field}' needs its values in brackets: ${operator}(…,…).`);
	}
	return made(field, operator, splitList(text.slice(1, -1)));
}

function made(field: string, operator: Operator, values: string[]): Filter {
	return {
		path: field.trim().split('.'),
		operator,
		values: withoutValue.has(operator) ? [] : values,
	};
}

/** The next comma without a backslash before it. */
function endOfValue(text: string, from: number): number {
	for (let at = text.indexOf(',', from); at !== -1; at = text.indexOf(',', at + 1)) {
		if (at === from || text[at - 1] !== '\\') return at;
	}
	return text.length;
}

/** The bracket that closes a list: one with nothing or another condition behind it. */
function endOfList(text: string, from: number): number {
	for (let at = text.indexOf(')', from); at !== -1; at = text.indexOf(')', at + 1)) {
		if (at === text.length - 1) return text.length;
		clauseStart.lastIndex = at + 2;
		if (text[at + 1] === ',' && clauseStart.test(text)) return at + 1;
	}
	return endOfValue(text, from);
}

function splitList(text: string): string[] {
	const values: string[] = [];
	let from = 0;
	while (from <= text.length) {
		const end = endOfValue(text, from);
		values.push(unescape(text.slice(from, end)));
		from = end + 1;
	}
	return values;
}

/** A comma inside a value has two backslashes before it, or what JSON leaves of them: one. */
function unescape(text: string): string {
	return text.replace(/\\{1,2},/g, ',');
}
