/**
 * Options of whatever reads many records.
 */

import { TABLE_DEPENDENCIES, loadOptionsFrom } from './locators';
import type { Parameter } from '../execution/operation';

export const fieldsToLoad: Parameter<'fieldsToLoad'> = {
	displayName: 'Output Field Names or IDs',
	name: 'fieldsToLoad',
	type: 'multiOptions',
	typeOptions: loadOptionsFrom('getFields', ...TABLE_DEPENDENCIES),
	default: [],
	description:
		'The fields to return, all if none is chosen. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
};

export const savedView: Parameter<'savedView'> = {
	displayName: 'Saved View Name or ID',
	name: 'savedView',
	type: 'options',
	typeOptions: loadOptionsFrom('getSavedViews', ...TABLE_DEPENDENCIES),
	default: '',
	description:
		'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
};

export const sort: Parameter<'sort'> = {
	displayName: 'Sort',
	name: 'sort',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Field to Sort By',
	default: {},
	options: [
		{
			displayName: 'Field',
			name: 'by',
			values: [
				{
					displayName: 'Field Name or ID',
					name: 'field',
					type: 'options',
					typeOptions: loadOptionsFrom('getSortFields', ...TABLE_DEPENDENCIES),
					default: '',
					description:
						'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
				},
				{
					displayName: 'Direction',
					name: 'direction',
					type: 'options',
					options: [
						{ name: 'Ascending', value: 'asc' },
						{ name: 'Descending', value: 'desc' },
					],
					default: 'asc',
				},
			],
		},
	],
};
