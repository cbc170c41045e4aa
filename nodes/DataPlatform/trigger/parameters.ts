/**
 * The trigger's parameters.
 */
import type { INodeProperties } from 'n8n-workflow';

import { applicationLocator, tableLocator } from '../descriptions/locators';
import {
	DEFAULT_MAXIMUM,
	deletionCheckInterval,
	maxDeletedShare,
	MAX_MAXIMUM,
	overlap,
	startDate,
} from '../descriptions/changeOptions';
import { filterParameters } from '../descriptions/filter';
import { fieldsToLoad, savedView } from '../descriptions/readOptions';
import { options, simple, timeout } from '../descriptions/common';

/** Where only deletions are emitted, which have no fields. */
const hiddenForDeletions = <P extends INodeProperties>(field: P, path = 'triggerOn'): P => ({
	...field,
	displayOptions: { ...field.displayOptions, hide: { [path]: ['deleted'] } },
});

const changesOnly = (option: INodeProperties) => hiddenForDeletions(option, '/triggerOn');

export const triggerProperties: INodeProperties[] = [
	{
		displayName: 'Trigger On',
		name: 'triggerOn',
		type: 'options',
		options: [
			{ name: 'Record Created', value: 'created' },
			{ name: 'Record Created or Updated', value: 'createdOrUpdated' },
			{ name: 'Record Created, Updated or Deleted', value: 'createdUpdatedOrDeleted' },
			{ name: 'Record Deleted', value: 'deleted' },
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
				description: 'Emit every change since then',
			},
			{
				name: 'Now',
				value: 'now',
				description: 'Emit every change from the activation of the workflow on',
			},
			{
				name: 'The Beginning',
				value: 'beginning',
				description: 'Emit all existing records, then every change',
			},
		],
		default: 'now',
		displayOptions: { hide: { triggerOn: ['deleted'] } },
		description: 'Where to start when the workflow watches this table for the first time',
	},
	hiddenForDeletions(startDate),
	hiddenForDeletions(simple),
	options(
		deletionCheckInterval,
		changesOnly(fieldsToLoad),
		maxDeletedShare,
		savedView,
		{
			displayName: 'Max Records per Poll',
			name: 'maxRecordsPerPoll',
			type: 'number',
			typeOptions: { minValue: 1, maxValue: MAX_MAXIMUM },
			default: DEFAULT_MAXIMUM,
			description: 'Max number of items per poll. The rest follow in later polls.',
		},
		changesOnly({
			displayName: 'Watched Field Names or IDs',
			name: 'watchedFields',
			type: 'multiOptions',
			typeOptions: {
				loadOptionsMethod: 'getFields',
				loadOptionsDependsOn: ['application.value', 'table.value'],
			},
			default: [],
			description:
				'Only emit an update if one of these fields changed. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
		}),
		changesOnly(overlap),
		timeout,
	),
];
