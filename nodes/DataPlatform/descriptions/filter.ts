/**
 * The filter builder's parameters; `execution/filterInput` reads them.
 */
import type { INodeProperties } from 'n8n-workflow';

import { OPERATORS_WITHOUT_VALUE } from '../api/filters';
import { TABLE_DEPENDENCIES, loadOptionsFrom } from './locators';
import { CHOICE_OPERATORS, type FilterParameter } from '../execution/filterInput';
import type { Parameter } from '../execution/operation';

const USUAL_OPERATOR = 'eq';

/** The operators whose value is chosen under this name. */
const operatorsWith = (name: 'choice' | 'choices') =>
	Object.entries(CHOICE_OPERATORS)
		.filter(([, { from }]) => from === name)
		.map(([operator]) => operator);

const matchType: Parameter<'matchType'> = {
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

const conditions: Parameter<'conditions'> = {
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
					typeOptions: loadOptionsFrom('getFilterFields', ...TABLE_DEPENDENCIES),
					default: '',
					description:
						'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>. A field of a linked record is written as link.field, such as company.name.',
				},
				{
					displayName: 'Operator',
					name: 'operator',
					type: 'options',
					typeOptions: loadOptionsFrom('getOperators', ...TABLE_DEPENDENCIES, '&field'),
					default: USUAL_OPERATOR,
					description: 'How to compare; the list fits the type of the field',
				},
				{
					displayName: 'Value',
					name: 'value',
					type: 'string',
					default: '',
					displayOptions: {
						hide: { operator: [...OPERATORS_WITHOUT_VALUE, ...Object.keys(CHOICE_OPERATORS)] },
					},
					description:
						"What to compare with; it must not be empty. For 'One Of' and 'Not One Of', separate values with commas (write a comma inside a value as \\,) or give a list with an expression.",
				},
				{
					displayName: 'Value Name or ID',
					name: 'choice',
					type: 'options',
					typeOptions: loadOptionsFrom('getChoices', ...TABLE_DEPENDENCIES, '&field'),
					default: '',
					displayOptions: { show: { operator: operatorsWith('choice') } },
					description:
						'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
				},
				{
					displayName: 'Value Names or IDs',
					name: 'choices',
					type: 'multiOptions',
					typeOptions: loadOptionsFrom('getChoices', ...TABLE_DEPENDENCIES, '&field'),
					default: [],
					displayOptions: { show: { operator: operatorsWith('choices') } },
					description:
						'Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
				},
			],
		},
	],
};

const groups: Parameter<'groups'> = {
	displayName: 'Groups',
	name: 'groups',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Group',
	default: {},
	description:
		'Conditions in brackets: a group counts as one condition, such as (Age over 18 or Surname is Fox)',
	options: [
		{ displayName: 'Group', name: 'group', values: [{ ...matchType, default: 'or' }, conditions] },
	],
};

const shownFor = <P extends INodeProperties>(filterMode: string, field: P): P => ({
	...field,
	displayOptions: { show: { filterMode: [filterMode] } },
});

/** The parameters of the filter builder. */
export const filterParameters: Array<Parameter<FilterParameter>> = [
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
		description: 'Which records to include',
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
			'Conditions are {"field","operator","value"}, groups {"filter":[…],"filterOperator":"or"}; they may be nested. For in and notin, the value is a list, or values separated by commas.',
	}),
];
