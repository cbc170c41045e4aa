/**
 * The parameters of Sync Many about records that are missing from the input; `execution/syncInput`
 * reads them.
 */
import { filterParameters } from './filter';
import { TABLE_DEPENDENCIES, loadOptionsFrom } from './locators';
import type { FilterParameter } from '../execution/filterInput';
import type { Parameter } from '../execution/operation';
import { DEFAULT_MAXIMUM, DEFAULT_MAXIMUM_SHARE, type SyncParameter } from '../execution/syncInput';

const missingRecords: Parameter<'missingRecords'> = {
	displayName: 'Records Missing From Input',
	name: 'missingRecords',
	type: 'options',
	options: [
		{ name: 'Leave', value: 'leave', description: 'Only create and update' },
		{
			name: 'Set Fields',
			value: 'setFields',
			description: 'Mark them, such as archived = true',
		},
		{ name: 'Delete', value: 'delete', description: 'Permanently delete them' },
	],
	default: 'leave',
	description: 'What to do with records of the table that are missing from the input',
};

const removes = (more: Record<string, string[]> = {}) => ({
	show: { missingRecords: ['setFields', 'delete'], ...more },
});

/** Which records are compared with the input: there is nothing to compare where they are left. */
const scope: Array<Parameter<FilterParameter>> = filterParameters.map((field) => {
	const { filterMode } = (field.displayOptions?.show ?? {}) as Record<string, string[]>;
	return {
		...field,
		displayOptions: removes(filterMode && { filterMode }),
		...(field.name === 'filterMode' && {
			description:
				'The part of the table that the input stands for: only records that match can be missing from it. With None, all of the table.',
		}),
	};
});

const fieldsToSet: Parameter<'fieldsToSet'> = {
	displayName: 'Fields to Set',
	name: 'fieldsToSet',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Field',
	default: {},
	displayOptions: { show: { missingRecords: ['setFields'] } },
	description: 'What is written to each record that is missing from the input',
	options: [
		{
			displayName: 'Field',
			name: 'entry',
			values: [
				{
					displayName: 'Field Name or ID',
					name: 'field',
					type: 'options',
					typeOptions: loadOptionsFrom('getWritableFields', ...TABLE_DEPENDENCIES),
					default: '',
					description:
						'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
				},
				{
					displayName: 'Value',
					name: 'value',
					type: 'string',
					default: '',
					description:
						'Such as true, archived or an expression, which is evaluated once, with the first item',
				},
			],
		},
	],
};

const maximum: Parameter<'maxRecordsToRemove'> = {
	displayName: 'Max Records to Remove',
	name: 'maxRecordsToRemove',
	type: 'number',
	typeOptions: { minValue: 0 },
	required: true,
	default: DEFAULT_MAXIMUM,
	displayOptions: removes(),
	description:
		'Max number of records to delete or to set fields of. If more are missing, nothing is written or removed.',
};

const maximumShare: Parameter<'maxShareToRemove'> = {
	displayName: 'Max Share to Remove (%)',
	name: 'maxShareToRemove',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 100 },
	required: true,
	default: DEFAULT_MAXIMUM_SHARE,
	displayOptions: removes(),
	description:
		'The same as a share of the records that match the filter. It protects against an incomplete input.',
};

const allowEmptyInput: Parameter<'allowEmptyInput'> = {
	displayName: 'Allow Empty Input',
	name: 'allowEmptyInput',
	type: 'boolean',
	default: false,
	displayOptions: removes(),
	description:
		'Whether an input without any data may remove records, up to the maximum and the maximum share',
};

const removeDespiteFailures: Parameter<'removeDespiteFailures'> = {
	displayName: 'Remove Despite Failed Items',
	name: 'removeDespiteFailures',
	type: 'boolean',
	default: false,
	displayOptions: removes(),
	description:
		'Whether to remove records even if the platform rejected some items. An item without a key still prevents it.',
};

/** What to do with records that are missing from the input, and how many at most. */
export const syncParameters: Array<Parameter<SyncParameter>> = [
	missingRecords,
	fieldsToSet,
	...scope,
	maximum,
	maximumShare,
	allowEmptyInput,
	removeDespiteFailures,
];
