/**
 * The filter builder: its parameters, and from them the service's filter.
 */
import type { INodeProperties } from 'n8n-workflow';

import {
	OPERATORS,
	OPERATORS_WITHOUT_VALUE,
	OPERATORS_WITH_LIST,
	parseTree,
	type Condition,
	type Group,
} from '../api/filters';
import { InputError } from '../transport/errors';
import { readJson } from '../transport/json';
import { TABLE, listedBy } from './locators';

const USUAL_OPERATOR = 'eq';

/** The platform's `===`: n8n takes a value that begins with = for an expression. */
export const EXACTLY = 'exactly';

const matchType: INodeProperties = {
	displayName: 'Match',
	name: 'matchType',
	type: 'options',
	options: [
		{ name: 'All Conditions', value: 'and' },
		{ name: 'Any Condition', value: 'or' },
	],
	default: 'and',
	description: 'Whether a record must meet every condition and group, or one of them',
};

const conditions: INodeProperties = {
	displayName: 'Conditions',
	name: 'conditions',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Condition',
	default: {},
	options: [
		{
			displayName: 'Condition',
			name: 'condition',
			values: [
				{
					displayName: 'Field Name or ID',
					name: 'field',
					type: 'options',
					typeOptions: listedBy('getFilterFields', ...TABLE),
					default: '',
					description:
						'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>. A field of a linked record is written as link.field, such as company.name.',
				},
				{
					displayName: 'Operator',
					name: 'operator',
					type: 'options',
					typeOptions: listedBy('getOperators', ...TABLE, '&field'),
					default: USUAL_OPERATOR,
					description: 'How to compare; the list fits the type of the field',
				},
				{
					displayName: 'Value',
					name: 'value',
					type: 'string',
					default: '',
					displayOptions: { hide: { operator: [...OPERATORS_WITHOUT_VALUE] } },
					description:
						"What to compare with. For 'One Of' and 'Not One Of', separate values with commas or give a list with an expression.",
				},
			],
		},
	],
};

const groups: INodeProperties = {
	displayName: 'Groups',
	name: 'groups',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Group',
	default: {},
	description:
		'Conditions in brackets: a group counts as one condition, such as (Age over 18 or Surname is Fox)',
	options: [{ displayName: 'Group', name: 'group', values: [matchType, conditions] }],
};

const shownFor = (filterMode: string, field: INodeProperties): INodeProperties => ({
	...field,
	displayOptions: { show: { filterMode: [filterMode] } },
});

/** The parameters of the filter builder. */
export const filterParameters: INodeProperties[] = [
	{
		displayName: 'Filter',
		name: 'filterMode',
		type: 'options',
		options: [
			{ name: 'None', value: 'none' },
			{ name: 'Conditions', value: 'conditions' },
			{ name: 'JSON', value: 'json' },
		],
		default: 'none',
		description: 'Which records are meant',
	},
	shownFor('conditions', matchType),
	shownFor('conditions', conditions),
	shownFor('conditions', groups),
	shownFor('json', {
		displayName: 'Filter Tree',
		name: 'filterTree',
		type: 'json',
		default: '{\n  "filterOperator": "and",\n  "filter": []\n}',
		description:
			'Conditions are {"field","operator","value"}, groups {"filter":[…],"filterOperator":"or"}; they may be nested',
	}),
];

const takesList = (operator: string) =>
	(OPERATORS_WITH_LIST as readonly string[]).includes(operator);

type RawCondition = Record<string, unknown>;

interface RawGroup {
	matchType?: unknown;
	conditions?: { condition?: RawCondition[] };
}

const group = ({ matchType: how, conditions: given }: RawGroup): Group => ({
	filter: (given?.condition ?? []).map(condition),
	filterOperator: how === 'or' ? 'or' : 'and',
});

function condition({ field, operator, value }: RawCondition): Condition {
	if (typeof field !== 'string' || field === '') {
		throw new InputError('A condition of the filter names no field', {
			field: 'Conditions',
			hint: 'Choose a field, or remove the condition.',
		});
	}
	const name = operator === EXACTLY ? '===' : String(operator);
	if (!OPERATORS.includes(name)) {
		throw new InputError(`A condition of the filter has an unknown operator, '${name}'`, {
			field: 'Conditions',
			hint: `Operators are: ${OPERATORS.join(', ')}.`,
		});
	}
	if (!takesList(name)) return { field, operator: name, value: String(value ?? '') };
	const list = Array.isArray(value)
		? value.map(String)
		: String(value ?? '')
				.split(',')
				.map((entry) => entry.trim());
	return { field, operator: name, value: list };
}

function parseJson(text: string): unknown {
	const value = readJson(text);
	if (value !== undefined) return value;
	throw new InputError("'Filter Tree' is not valid JSON", {
		field: 'Filter Tree',
		hint: 'A filter is {"filter":[…],"filterOperator":"and"} or a list of conditions.',
	});
}

/**
 * The filter that is set; without conditions it matches every record.
 *
 * @param read gives a parameter's value, undefined where it has none
 * @throws {InputError} where it can't be read
 */
export function filterOf(read: (name: string) => unknown): Group {
	const filterMode = read('filterMode');
	if (filterMode === 'json') {
		const tree = read('filterTree');
		return parseTree(typeof tree === 'string' ? parseJson(tree) : tree);
	}
	if (filterMode !== 'conditions') return { filter: [], filterOperator: 'and' };
	const grouped = (read('groups.group') ?? []) as RawGroup[];
	const { filter, filterOperator } = group({
		matchType: read('matchType'),
		conditions: { condition: (read('conditions.condition') ?? []) as RawCondition[] },
	});
	const inner = grouped.map(group).filter((entry) => entry.filter.length > 0);
	return { filter: [...filter, ...inner], filterOperator };
}
