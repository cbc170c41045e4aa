/**
 * The options of the operations that write many records.
 */

import {
	requestSettings,
	emptyValues,
	requestOptions,
	unknownFields,
	type OptionGroup,
} from './common';
import { linkValues } from './linkOptions';
import {
	matchingOptions,
	syncMatchOptions,
	updateMatchOptions,
	upsertMatchOptions,
} from './matching';
import { importFile, textForm } from './rowFiles';
import type { Parameter } from '../execution/operation';

/** The value of Batch Size and Parallel Requests that leaves them to the node. */
export const AUTOMATIC = 0;
export const MAX_BATCH_SIZE = 1000;
export const MAX_PARALLEL_REQUESTS = 12;
export const DEFAULT_MAX_BATCH_SIZE_MIB = 4;
/** The value of Max Failures (%) that sets no limit. */
export const NO_FAILURE_LIMIT = 100;

const batchSize: Parameter<'batchSize'> = {
	displayName: 'Batch Size',
	name: 'batchSize',
	type: 'number',
	typeOptions: { minValue: AUTOMATIC, maxValue: MAX_BATCH_SIZE },
	default: AUTOMATIC,
	description:
		'Max number of records in one request, from 1 to 1000. With 0 (automatic), batches grow as long as the platform is fast, and shrink if it rejects them as too large or does not respond.',
};

const maxBatchSizeMiB: Parameter<'maxBatchSizeMiB'> = {
	displayName: 'Batch Size (MiB)',
	name: 'maxBatchSizeMiB',
	type: 'number',
	typeOptions: { minValue: 0.001 },
	default: DEFAULT_MAX_BATCH_SIZE_MIB,
	description: 'Max size of one request. A larger record is sent on its own.',
};

const parallelRequests: Parameter<'parallelRequests'> = {
	displayName: 'Parallel Requests',
	name: 'parallelRequests',
	type: 'number',
	typeOptions: { minValue: AUTOMATIC, maxValue: MAX_PARALLEL_REQUESTS },
	default: AUTOMATIC,
	description:
		'Max number of requests at the same time, from 1 to 12. With 0 (automatic), up to 12 for updates, fewer while the platform is busy, and 1 for creates, which keeps the order of the items.',
};

const dryRun: Parameter<'dryRun'> = {
	displayName: 'Dry Run',
	name: 'dryRun',
	type: 'boolean',
	default: false,
	description: 'Whether to return what would be written, without writing anything',
};

const output: Parameter<'output'> = {
	displayName: 'Output',
	name: 'output',
	type: 'options',
	options: [
		{ name: 'One Item for Each Input Item', value: 'items' },
		{ name: 'One Item With a Summary', value: 'summary' },
	],
	default: 'items',
};

const skipUnchanged: Parameter<'skipUnchanged'> = {
	displayName: 'Skip Unchanged',
	name: 'skipUnchanged',
	type: 'boolean',
	default: false,
	description:
		'Whether to read the current values first and write only what differs. It takes requests to read, and saves writes and the workflows that they would start in the platform.',
};

/** @param merge what Merge does; @param error what the other choice does */
const duplicatesOption = (merge: string, error: string): Parameter<'duplicates'> => ({
	displayName: 'Duplicates in the Input',
	name: 'duplicates',
	type: 'options',
	options: [
		{ name: 'Merge', value: 'merge', description: merge },
		{ name: 'Treat as an Error', value: 'error', description: error },
	],
	default: 'merge',
});

const duplicates = (more = '') =>
	duplicatesOption(
		`Items that match the same record are written as one; of each field, the last value counts${more}`,
		'Items that match the same record are not written',
	);

const duplicatesOfRows = duplicatesOption(
	'Rows that match the same record are all written; the last one counts',
	'The first row of a record is written, later ones are rejected',
);

const importKey: Parameter<'importKey'> = {
	displayName: 'Import Key Field',
	name: 'importKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. email',
	displayOptions: { hide: { '/matchOn': ['fields', 'recordId'] } },
	description:
		'The field to match records by, if the table does not mark one. The platform only matches by the field that it marks.',
};

const maxFailedShare: Parameter<'maxFailedShare'> = {
	displayName: 'Max Failures (%)',
	name: 'maxFailedShare',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 100 },
	default: NO_FAILURE_LIMIT,
	description:
		'Send nothing more once a larger share of the items failed. Items with problems count before anything is sent, others once 100 were written. With 100, On Error alone decides: the first item that fails stops the rest, or none does.',
};

const requests = requestOptions(
	maxBatchSizeMiB,
	batchSize,
	parallelRequests,
	maxFailedShare,
	...requestSettings,
);

/** What happens to values that are empty, unknown or given twice, as a group of options. */
const inputValues = <Option extends string = never>(
	...more: Array<Parameter<Option>>
): OptionGroup<Option | 'emptyValues' | 'unknownFields'> => ({
	displayName: 'Input Values',
	name: 'inputValues',
	description:
		'What to do with values that are empty, that the table has no field for, or repeated',
	options: [...more, emptyValues, unknownFields],
});

/** The options of each kind of writing: at most seven entries, the rare ones in sub-collections. */
export const createManyOptions = {
	options: [dryRun, importKey, linkValues, output],
	optionGroups: [requests, inputValues()],
};
export const upsertManyOptions = {
	options: [dryRun, linkValues, output, skipUnchanged],
	optionGroups: [
		requests,
		inputValues(duplicates()),
		matchingOptions(...upsertMatchOptions, importKey),
	],
};
export const updateManyOptions = {
	options: [dryRun, linkValues, output, skipUnchanged],
	optionGroups: [
		requests,
		inputValues(duplicates('. With Fields Not Sent set to Clear, only the last item counts.')),
		matchingOptions(...updateMatchOptions, importKey),
	],
};
export const syncManyOptions = {
	options: [dryRun, linkValues, output, { ...skipUnchanged, default: true }],
	optionGroups: [
		requests,
		inputValues(duplicates()),
		matchingOptions(...syncMatchOptions, importKey),
	],
};

/** Of a file: its rows have one report, and give their values as text. */
export const importOptions = {
	options: [dryRun, linkValues, skipUnchanged],
	optionGroups: [
		requestOptions(maxBatchSizeMiB, batchSize, parallelRequests, ...requestSettings),
		inputValues(duplicatesOfRows, ...textForm),
		matchingOptions(...upsertMatchOptions, importKey),
		importFile,
	],
};

interface BulkOptions<Option extends string> {
	options: Array<Parameter<Option>>;
	optionGroups: Array<OptionGroup<Option>>;
}

const allOf = <Option extends string>({ options, optionGroups }: BulkOptions<Option>) => [
	...options,
	...optionGroups.flatMap((group) => group.options),
];

const create = allOf(createManyOptions);
const upsert = allOf(upsertManyOptions);
const update = allOf(updateManyOptions);

/** What each option is called in the editor. */
export const bulkOptionLabels: Record<string, string> = Object.fromEntries(
	[...create, ...upsert, ...update].map(({ name, displayName }) => [name, displayName]),
);

/** An option that every kind of writing has. */
export type SharedOption = (typeof create)[number]['name'];

/** An option that some kind of writing has. */
export type BulkOption = (typeof upsert | typeof update)[number]['name'];
