/**
 * The trigger's parameters.
 */
import type { INodeProperties } from 'n8n-workflow';

import { applicationLocator, tableLocator } from '../descriptions/locators';
import { filterParameters } from '../descriptions/filter';
import { fieldsToLoad, savedView } from '../descriptions/readOptions';
import { options, timeout } from '../descriptions/common';

export const DEFAULT_OVERLAP_S = 60;
export const DEFAULT_MAXIMUM = 1000;

export const triggerProperties: INodeProperties[] = [
	{
		displayName: 'Trigger On',
		name: 'triggerOn',
		type: 'options',
		options: [
			{ name: 'Record Created', value: 'created' },
			{ name: 'Record Created or Updated', value: 'createdOrUpdated' },
			{ name: 'Record Updated', value: 'updated' },
		],
		default: 'createdOrUpdated',
	},
	applicationLocator,
	tableLocator,
	...filterParameters,
	{
		displayName: 'Start From',
		name: 'startFrom',
		type: 'options',
		options: [
			{
				name: 'A Date',
				value: 'date',
				description: 'Tell what changed since then',
			},
			{
				name: 'Now',
				value: 'now',
				description: 'Tell what changes after the workflow was activated',
			},
			{
				name: 'The Beginning',
				value: 'beginning',
				description: 'Tell every record that is in the table, then every change',
			},
		],
		default: 'now',
		description: 'Where to begin when the workflow watches this table for the first time',
	},
	{
		displayName: 'Date',
		name: 'startDate',
		type: 'dateTime',
		required: true,
		default: '',
		displayOptions: { show: { startFrom: ['date'] } },
		description: "In the platform's time; a time without a zone is taken in this workflow's zone",
	},
	options(
		fieldsToLoad,
		savedView,
		{
			displayName: 'Maximum Records per Poll',
			name: 'maximum',
			type: 'number',
			typeOptions: { minValue: 1, maxValue: 10000 },
			default: DEFAULT_MAXIMUM,
			description: 'More changes than this are told by the next polls',
		},
		{
			displayName: 'Only When These Fields Changed Names or IDs',
			name: 'watchedFields',
			type: 'multiOptions',
			typeOptions: {
				loadOptionsMethod: 'getFields',
				loadOptionsDependsOn: ['application.value', 'table.value'],
			},
			default: [],
			description:
				'An update is told only if one of these fields differs from what was told last. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
		},
		{
			displayName: 'Overlap (Seconds)',
			name: 'overlap',
			type: 'number',
			typeOptions: { minValue: 0, maxValue: 86400 },
			default: DEFAULT_OVERLAP_S,
			description:
				'How far each poll looks back behind the last change, for changes that become visible late. Nothing is told twice.',
		},
		timeout,
	),
];
