/**
 * The service's filter from the parameters of the filter builder (`descriptions/filter`).
 */
import { parseCondition, parseTree, type Condition, type Group } from '../api/filters';
import { InputError } from '../transport/errors';
import { isObject, parseJson } from '../transport/json';
import type { ParameterPath } from './run';

/** The parameters of the filter builder. */
export type FilterParameter = 'filterMode' | 'matchType' | 'conditions' | 'groups' | 'filterTree';

/** The platform's `===`: n8n takes a value that begins with = for an expression. */
export const EXACTLY = 'exactly';

type RawCondition = Record<string, unknown>;

const listOf = (value: unknown): RawCondition[] =>
	Array.isArray(value) ? value.map((entry) => (isObject(entry) ? entry : {})) : [];

function matchTypeOf(value: unknown, place: string): 'and' | 'or' {
	if (value === 'and' || value === 'or') return value;
	throw new InputError(`'Match' of ${place} is neither 'and' nor 'or'`, {
		field: 'Match',
		hint: 'Choose it from the list, or correct the expression in it.',
	});
}

const conditions = (given: unknown, place: string): Condition[] =>
	listOf(given).map(({ field, operator, value }, index) =>
		parseCondition(
			{ field, operator: operator === EXACTLY ? '===' : operator, value },
			`Condition ${index + 1} of ${place}`,
			'Conditions',
		),
	);

function group({ matchType, conditions: given }: RawCondition, index: number): Group {
	const place = `group ${index + 1} of the filter`;
	const filter = conditions(isObject(given) ? given.condition : undefined, place);
	if (filter.length > 0) return { filter, filterOperator: matchTypeOf(matchType, place) };
	throw new InputError(`Group ${index + 1} of the filter has no condition`, {
		field: 'Groups',
		hint: 'Add a condition to it, or remove the group.',
	});
}

function treeOf(value: unknown): unknown {
	if (value === undefined || (typeof value === 'string' && value.trim() === '')) {
		throw new InputError("'Filter Tree' is empty", {
			field: 'Filter Tree',
			hint: "If it is an expression, it returned nothing for this item. For no filter, choose 'None' under 'Filter'.",
		});
	}
	const tree = typeof value === 'string' ? parseJson(value) : value;
	if (tree !== undefined) return tree;
	throw new InputError("'Filter Tree' is not valid JSON", {
		field: 'Filter Tree',
		hint: 'A filter is {"filter":[…],"filterOperator":"and"} or a list of conditions.',
	});
}

/**
 * The filter that is set; without conditions it matches every record.
 *
 * @param read gives a parameter's value, undefined where it has none
 * @throws {InputError} where it can't be read, or an expression left a part of it empty
 */
export function filterOf(read: (name: ParameterPath<FilterParameter>) => unknown): Group {
	const filterMode = read('filterMode');
	switch (filterMode) {
		case 'none':
			return { filter: [], filterOperator: 'and' };
		case 'json':
			return parseTree(treeOf(read('filterTree')), 'Filter Tree');
		case 'conditions':
			return {
				filter: [
					...conditions(read('conditions.condition'), 'the filter'),
					...listOf(read('groups.group')).map(group),
				],
				filterOperator: matchTypeOf(read('matchType'), 'the filter'),
			};
		default:
			throw new InputError("'Filter' is none of 'none', 'conditions' and 'json'", {
				field: 'Filter',
				hint: 'Choose it from the list, or correct the expression in it.',
			});
	}
}
