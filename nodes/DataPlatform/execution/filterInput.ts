/**
 * The service's filter from the parameters of the filter builder (`descriptions/filter`).
 */
import {
	isGroup,
	parseCondition,
	parseTree,
	valuesOf,
	type Condition,
	type Group,
} from '../api/filters';
import type { TableDefinition } from '../api/types';
import { typeOf } from '../fields';
import { InputError } from '../transport/errors';
import { getOwn, isObject, parseExactJson } from '../transport/json';
import type { ParameterPath, RunContext, TableParameter } from './run';

/** The parameters of the filter builder. */
export type FilterParameter = 'filterMode' | 'matchType' | 'conditions' | 'groups' | 'filterTree';

/** The platform's `===`: n8n takes a value that begins with = for an expression. */
export const EXACTLY = 'exactly';

/** Operators whose value is chosen from a list: the platform's operator, and what holds the value. */
export const CHOICE_OPERATORS = {
	is: { operator: 'eq', from: 'choice' },
	isNot: { operator: 'neq', from: 'choice' },
	isOneOf: { operator: 'in', from: 'choices' },
	isNoneOf: { operator: 'notin', from: 'choices' },
} as const;

/** A condition of the editor as the platform has it. */
function toCondition(condition: RawCondition): RawCondition {
	const { field, operator, value } = condition;
	const chosen = getOwn<(typeof CHOICE_OPERATORS)[keyof typeof CHOICE_OPERATORS]>(
		CHOICE_OPERATORS,
		String(operator),
	);
	if (!chosen) return { field, operator: operator === EXACTLY ? '===' : operator, value };
	const given = condition[chosen.from];
	const isNone = Array.isArray(given) && given.length === 0;
	return { field, operator: chosen.operator, value: isNone ? [''] : given };
}

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
	listOf(given).map((condition, index) =>
		parseCondition(toCondition(condition), `Condition ${index + 1} of ${place}`, 'Conditions'),
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
	const tree = typeof value === 'string' ? parseExactJson(value) : value;
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

/** Operators that compare with a whole value. */
const WHOLE_VALUE = new Set(['eq', '===', 'neq', 'in', 'notin']);

const comparesWhole = ({ field, operator }: Condition) =>
	WHOLE_VALUE.has(operator) && !field.includes('.');

/** All conditions, those of groups among them. */
const conditionsOf = ({ filter }: Group): Condition[] =>
	filter.flatMap((entry) => (isGroup(entry) ? conditionsOf(entry) : [entry]));

/** How many choices an error names. */
const CHOICES_SHOWN = 20;

/**
 * That no value of a dropdown is compared with what it can't hold: such a condition matches nothing,
 * or, with a negated operator, everything.
 *
 * @throws {InputError} that names the field and its choices
 */
export function requireChoices(filter: Group, table: TableDefinition): void {
	for (const condition of conditionsOf(filter).filter(comparesWhole)) {
		const field = table.fields.find(({ name }) => name === condition.field);
		const choices =
			field &&
			typeOf(field)
				.editor.choices(field)
				?.map(({ value }) => String(value));
		if (!choices) continue;
		// Whether `eq` and `in` ignore case, only the platform knows; a negated operator would match all.
		const ignoresCase = condition.operator === 'eq' || condition.operator === 'in';
		const form = (text: string) => (ignoresCase ? text.toLowerCase() : text);
		const known = new Set(choices.map(form));
		const other = valuesOf(condition).find((value) => !known.has(form(value)));
		if (other === undefined) continue;
		const shown = choices.slice(0, CHOICES_SHOWN).map((choice) => `'${choice}'`);
		const rest = choices.length - shown.length;
		throw new InputError(
			`The condition on '${field.name}' (${condition.operator}) compares with '${other}', which is none of the field's choices: ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`,
			{
				field: field.name,
				hint: "Correct the value. To find records that still hold a choice which was removed, use the operator 'Contains' (contains).",
			},
		);
	}
}

/**
 * The filter of an item, checked against the table's definition where the token may read it.
 *
 * @throws {InputError}
 */
export async function readFilter(
	run: RunContext<TableParameter | FilterParameter>,
	index: number,
): Promise<Group> {
	const filter = filterOf(run.readerOf(index));
	if (!conditionsOf(filter).some(comparesWhole)) return filter;
	// What keeps the definition from being read will show where the records are.
	const table = await run.definition(run.table(index)).catch(() => undefined);
	if (table) requireChoices(filter, table);
	return filter;
}
