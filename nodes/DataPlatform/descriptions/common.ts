/**
 * Parameters that several record operations share.
 */
import type { INodeProperties, ResourceMapperTypeOptionsBase } from 'n8n-workflow';

import { DEFAULT_MAX_WAIT_S, DEFAULT_TIMEOUT_S } from '../execution/createClient';
import { linkValues } from './linkOptions';
import {
	applicationLocator,
	TABLE_DEPENDENCIES,
	tableLocator,
	UNTIL_TABLE_CHOSEN,
} from './locators';
import type { Parameter } from '../execution/operation';
import { GROUP_KEY } from '../execution/optionGroups';

export const tableParameters: Array<Parameter<'application' | 'table'>> = [
	applicationLocator,
	tableLocator,
];

type ColumnsMethod = 'getColumnsToCreate' | 'getColumnsToUpsert' | 'getColumnsToUpdate';

/** The mapper from the item's data to the table's fields. */
export const columns = (resourceMapperMethod: ColumnsMethod): Parameter<'columns'> => ({
	displayName: 'Fields',
	name: 'columns',
	type: 'resourceMapper',
	noDataExpression: true,
	required: true,
	default: { mappingMode: 'defineBelow', value: null },
	displayOptions: { hide: UNTIL_TABLE_CHOSEN },
	typeOptions: {
		loadOptionsDependsOn: TABLE_DEPENDENCIES,
		resourceMapper: {
			resourceMapperMethod,
			mode: 'add',
			fieldWords: { singular: 'field', plural: 'fields' },
			addAllFields: resourceMapperMethod !== 'getColumnsToUpdate',
			supportAutoMap: true,
			allowEmptyValues: true,
			// Fields that the table got or lost since the workflow was saved; older n8n offers a button.
			refreshIncompleteSchemaOnOpen: true,
			refreshStaleSchemaOnOpen: true,
			noFieldsError: 'There is no field to map.',
		} as ResourceMapperTypeOptionsBase & { resourceMapperMethod: string; mode: 'add' },
	},
});

export const simple: Parameter<'simple'> = {
	displayName: 'Simplify',
	name: 'simple',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

export const emptyValues: Parameter<'emptyValues'> = {
	displayName: 'Empty Values',
	name: 'emptyValues',
	type: 'options',
	options: [
		{
			name: 'Clear the Field',
			value: 'clear',
			description: 'Clear the field in the platform',
		},
		{
			name: 'Leave the Field as It Is',
			value: 'leave',
			description: 'Do not send the value',
		},
		{ name: 'Treat as an Error', value: 'error', description: 'Write nothing' },
	],
	default: 'leave',
	description: 'What to do with an empty text, an empty list or null',
};

export const unknownFields: Parameter<'unknownFields'> = {
	displayName: 'Unknown Fields',
	name: 'unknownFields',
	type: 'options',
	options: [
		{
			name: 'Ignore',
			value: 'ignore',
			description: 'Write the fields that the table has',
		},
		{
			name: 'Treat as an Error',
			value: 'error',
			description: 'Write nothing and name them',
		},
	],
	default: 'error',
	description:
		'What to do with input fields that the table does not have, when fields are mapped automatically. Read-only fields are always left out.',
};

export const skipAudit: Parameter<'skipAudit'> = {
	displayName: 'Skip Audit',
	name: 'skipAudit',
	type: 'boolean',
	default: false,
	description: "Whether to leave the change out of the platform's audit log",
};

export const timeout: Parameter<'timeout'> = {
	displayName: 'Request Timeout',
	name: 'timeout',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: DEFAULT_TIMEOUT_S,
	description: 'How many seconds a single request may take',
};

export const maxRetryWait: Parameter<'maxRetryWait'> = {
	displayName: 'Max Retry Wait',
	name: 'maxRetryWait',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: DEFAULT_MAX_WAIT_S,
	description:
		'How many seconds the whole execution may wait for retries when the platform is busy or unreachable',
};

const byName = <P extends INodeProperties>(entries: P[]): P[] =>
	[...entries].sort((a, b) => a.displayName.localeCompare(b.displayName));

/** A collection of optional settings, in alphabetical order as the editor shows them. */
export const options = (...entries: INodeProperties[]): Parameter<'options'> => ({
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add Option',
	default: {},
	options: byName(entries),
});

/** Options that stand in a sub-collection, where an operation has many. */
export interface OptionGroup<Option extends string> {
	displayName: string;
	name: string;
	description: string;
	options: Array<Parameter<Option>>;
}

/** The sub-collection; `execution/optionGroups` finds what is in it. */
export const subCollection = ({
	displayName,
	name,
	description,
	options: entries,
}: OptionGroup<string>): INodeProperties => ({
	displayName,
	name,
	type: 'fixedCollection',
	placeholder: `Add ${displayName}`,
	default: { [GROUP_KEY]: {} },
	description,
	options: [{ displayName, name: GROUP_KEY, values: byName(entries) }],
});

/** Settings of every operation that sends requests. */
export const requestSettings = [maxRetryWait, timeout];

/** How requests are made, as a group of options. */
export const requestOptions = <Option extends string>(
	...settings: Array<Parameter<Option>>
): OptionGroup<Option | 'skipAudit'> => ({
	displayName: 'Requests',
	name: 'requests',
	description: 'How much is sent at a time, and how long requests and retries may take',
	options: [...settings, skipAudit],
});

/** Options of the operations that write one record for each item. */
export const singleWriteOptions = [
	emptyValues,
	linkValues,
	skipAudit,
	unknownFields,
	...requestSettings,
];
