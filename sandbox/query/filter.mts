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

const operatorsWithoutValue: ReadonlySet<Operator> = new Set([
	'empty',
	'notempty',
	'duplicity',
	'currentuser',
]);
const operatorsWithList: ReadonlySet<Operator> = new Set(['in', 'notin']);

/** A parsed filter, from a query string or a body. */
export type Filter = Condition | Group | FullText;
export interface Condition {
	/** Names of link fields, then of the field. */
	path: string[];
	operator: Operator;
	/** One or none, or any number for `in` and `notin`. */
	values: string[];
}
export interface Group {
	join: 'and' | 'or';
	members: Filter[];
}

/** A text in any field of a record. */
export interface FullText {
	fullText: string;
}

type Value = string | number | boolean;
interface ConditionInput {
	field: string;
	operator: Operator;
	value?: Value | null;
	values?: Value[];
}
interface GroupInput {
	fullText?: string;
	filter?: Array<ConditionInput | GroupInput>;
	filterOperator?: 'and' | 'or';
}

const clauseStart = /([^,()]+)\(([a-z]+|===)\)/y;

/** Parses `age(gte)10,surname(in)(Fox,Dog)`. Throws an ApiError (400). */
export function filterFromQuery(text: string): Filter {
	const members: Filter[] = [];
	let at = 0;
	while (at < text.length) {
		clauseStart.lastIndex = at;
		const match = clauseStart.exec(text);
		const operator = operators.find((name) => name === match?.[2]);
		if (!match?.[1] || !operator) {
			throw invalid(`Cannot parse the filter at '${text.slice(at, at + 40)}'.`);
		}
		const valueAt = clauseStart.lastIndex;
		const end = operatorsWithList.has(operator)
			? endOfList(text, valueAt)
			: endOfValue(text, valueAt);
		members.push(parseCondition(match[1], operator, text.slice(valueAt, end)));
		if (end === text.length - 1) throw invalid('The filter ends with a comma.');
		at = end + 1;
	}
	return { join: 'and', members };
}

/**
 * Parses the validated filter tree of a body. Only `in` and `notin` have several values, so only
 * they have commas to escape. Throws an ApiError (400).
 */
export function filterFromBody(input: GroupInput): Filter {
	const { fullText } = input;
	if (fullText !== undefined) {
		const rest = filterFromBody({ ...input, fullText: undefined });
		return { join: 'and', members: [{ fullText }, rest] };
	}
	return {
		join: input.filterOperator ?? 'and',
		members: (input.filter ?? []).map((member) => {
			if (!('operator' in member)) return filterFromBody(member as GroupInput);
			const { field, operator, value, values } = member;
			if (values) {
				const isOne = values.length === 1 && !operatorsWithoutValue.has(operator);
				if (isOne || operatorsWithList.has(operator)) {
					return toCondition(field, operator, values.map(String));
				}
				throw invalid(`The filter on '${field}' does not take these values for ${operator}.`);
			}
			const text = value === undefined || value === null ? '' : String(value);
			if (text === '' && !operatorsWithoutValue.has(operator) && value !== '') {
				throw invalid(`The filter on '${field}' needs a value for ${operator}.`);
			}
			if (text !== '' && operatorsWithoutValue.has(operator)) {
				throw invalid(`The filter on '${field}' must not have a value for ${operator}.`);
			}
			return toCondition(
				field,
				operator,
				operatorsWithList.has(operator) ? splitList(text) : [text],
			);
		}),
	};
}

function parseCondition(field: string, operator: Operator, text: string): Filter {
	if (operatorsWithoutValue.has(operator)) {
		if (text !== '')
			throw invalid(`The filter on '${field}' must not have a value for ${operator}.`);
		return toCondition(field, operator, []);
	}
	if (!operatorsWithList.has(operator)) return toCondition(field, operator, [unescapeCommas(text)]);
	if (!text.startsWith('(') || !text.endsWith(')')) {
		throw invalid(`The filter on '${field}' needs its values in parentheses: ${operator}(…,…).`);
	}
	return toCondition(field, operator, splitList(text.slice(1, -1)));
}

function toCondition(field: string, operator: Operator, values: string[]): Filter {
	return {
		path: field.trim().split('.'),
		operator,
		values: operatorsWithoutValue.has(operator) ? [] : values,
	};
}

/** Index of the next comma without a backslash before it. */
function endOfValue(text: string, from: number): number {
	for (let at = text.indexOf(',', from); at !== -1; at = text.indexOf(',', at + 1)) {
		if (at === from || text[at - 1] !== '\\') return at;
	}
	return text.length;
}

/** Index of the parenthesis that closes a list: the end or another condition follows it. */
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
		values.push(unescapeCommas(text.slice(from, end)));
		from = end + 1;
	}
	return values;
}

/** One or two backslashes escape a comma inside a value: the contract leaves open which. */
function unescapeCommas(text: string): string {
	return text.replace(/\\{1,2},/g, ',');
}
