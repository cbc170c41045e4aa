/**
 * The parameters that say which record an item means; `execution/matchingInput` reads them.
 */
import type { INodePropertyOptions } from 'n8n-workflow';

import type { OptionGroup } from './common';
import { TABLE_DEPENDENCIES, loadOptionsFrom } from './locators';
import type { Parameter } from '../execution/operation';

const BY_IMPORT_KEY: INodePropertyOptions = {
	name: 'Import Key',
	value: 'importKey',
	description: 'The field that the table marks as its import key',
};
const BY_FIELDS: INodePropertyOptions = {
	name: 'Other Fields',
	value: 'fields',
	description: 'One or more fields that you choose. All of them must be equal.',
};
const BY_RECORD_ID: INodePropertyOptions = {
	name: 'Record ID',
	value: 'recordId',
	description: 'The ID that the platform gave the record',
};

const matchOn = (preset: 'importKey' | 'recordId'): Parameter<'matchOn'> => ({
	displayName: 'Match On',
	name: 'matchOn',
	type: 'options',
	options: [BY_IMPORT_KEY, BY_FIELDS, BY_RECORD_ID],
	default: preset,
	description: "How to find each item's record",
});

const matchFields: Parameter<'matchFields'> = {
	displayName: 'Match Field Names or IDs',
	name: 'matchFields',
	type: 'multiOptions',
	typeOptions: loadOptionsFrom('getMatchFields', ...TABLE_DEPENDENCIES),
	required: true,
	default: [],
	displayOptions: { show: { matchOn: ['fields'] } },
	description:
		'A record matches if it has the same values in all of these fields. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
};

const itemRecordId: Parameter<'recordId'> = {
	displayName: 'Record ID',
	name: 'recordId',
	type: 'string',
	required: true,
	default: '={{ $json.id }}',
	displayOptions: { show: { matchOn: ['recordId'] } },
	description: "The ID of each item's record. By default, the item's own ID.",
};

/** How each item's record is found, and how unless the user says otherwise. */
export const matchingParameters = (
	preset: 'importKey' | 'recordId',
): Array<Parameter<'matchOn' | 'matchFields' | 'recordId'>> => [
	matchOn(preset),
	matchFields,
	itemRecordId,
];

/** How each row's record is found, where rows are not only created; an ID stands in a column `id`. */
export const rowMatchingParameters: Array<Parameter<'matchOn' | 'matchFields'>> = [
	{
		...matchOn('importKey'),
		description: "How to find each row's record; its ID stands in the column 'id'",
		displayOptions: { hide: { importMode: ['create'] } },
	},
	{
		...matchFields,
		displayOptions: { show: { matchOn: ['fields'] }, hide: { importMode: ['create'] } },
	},
];

const ifFound: Parameter<'ifFound'> = {
	displayName: 'If Found',
	name: 'ifFound',
	type: 'options',
	options: [
		{ name: 'Update It', value: 'update', description: 'Write the fields that are sent' },
		{
			name: 'Return It Unchanged',
			value: 'skip',
			description: 'Write nothing and return the record as it is stored (get or create)',
		},
	],
	default: 'update',
	description: 'What to do with an item whose record exists',
};

const CREATE = {
	name: 'Create It',
	value: 'create',
	description: 'Create a new record',
};
const SKIP = {
	name: 'Skip',
	value: 'skip',
	description: "Write nothing; the item's outcome is 'skipped'",
};
const ERROR = {
	name: 'Treat as an Error',
	value: 'error',
	description: "Write nothing; the item's outcome is 'notFound'",
};

const ifMissing = (
	choices: INodePropertyOptions[],
	preset: 'create' | 'error',
): Parameter<'ifMissing'> => ({
	displayName: 'If Missing',
	name: 'ifMissing',
	type: 'options',
	options: choices,
	default: preset,
	description: 'What to do with an item that has no record yet',
});

const multipleMatches: Parameter<'multipleMatches'> = {
	displayName: 'Multiple Matches',
	name: 'multipleMatches',
	type: 'options',
	options: [
		{
			name: 'Treat as an Error',
			value: 'error',
			description: 'Do not write the item and name the records',
		},
		{ name: 'Use the First', value: 'first', description: 'Use the oldest record' },
		{ name: 'Use All', value: 'all', description: 'Use every record that matches' },
	],
	default: 'error',
	displayOptions: { show: { '/matchOn': ['fields', 'importKey'] } },
	description: 'What to do with an item that matches more than one record',
};

/** What to do with what is found and what is not, for operations that create. */
export const upsertMatchOptions = [
	ifFound,
	ifMissing([CREATE, SKIP, ERROR], 'create'),
	multipleMatches,
];

/** The same for operations that only update. */
export const updateMatchOptions = [ifMissing([SKIP, ERROR], 'error'), multipleMatches];

/** The same for a sync, which always creates what is missing and updates what is there. */
export const syncMatchOptions = [multipleMatches];

/** What happens to items that match a record, several, none or each other, as a group of options. */
export const matchingOptions = <Option extends string>(
	...options: Array<Parameter<Option>>
): OptionGroup<Option> => ({
	displayName: 'Matching',
	name: 'matching',
	description: 'What to do with items that match one record, several or none',
	options,
});
