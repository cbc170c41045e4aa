/**
 * The options of the operations that write many records.
 */
import type { INodeProperties } from 'n8n-workflow';

import { callSettings, emptyFields, options, skipAudit, unknownFields } from './common';

export const DEFAULT_BATCH_SIZE = 100;
export const DEFAULT_MAX_BATCH_SIZE_MIB = 4;

const batchSize: INodeProperties = {
	displayName: 'Batch Size',
	name: 'batchSize',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 1000 },
	default: DEFAULT_BATCH_SIZE,
	description: 'How many records go into one request at most, from 1 to 1000',
};

const maxBatchSizeMiB: INodeProperties = {
	displayName: 'Batch Size (MiB)',
	name: 'maxBatchSizeMiB',
	type: 'number',
	typeOptions: { minValue: 0.001, numberPrecision: 3 },
	default: DEFAULT_MAX_BATCH_SIZE_MIB,
	description: 'How large one request may be; a larger record is sent alone',
};

const dryRun: INodeProperties = {
	displayName: 'Dry Run',
	name: 'dryRun',
	type: 'boolean',
	default: false,
	description: 'Whether to write nothing and tell for each item what would be written',
};

const output: INodeProperties = {
	displayName: 'Output',
	name: 'output',
	type: 'options',
	options: [
		{ name: 'One Item for Each Input Item', value: 'items' },
		{ name: 'One Item With a Summary', value: 'summary' },
	],
	default: 'items',
};

const skipUnchanged: INodeProperties = {
	displayName: 'Skip Unchanged',
	name: 'skipUnchanged',
	type: 'boolean',
	default: false,
	description:
		'Whether to read the current values first and write only what differs. Costs requests for reading; saves writes and whatever they set off in the platform.',
};

const duplicates = (what: string): INodeProperties => ({
	displayName: 'Duplicates in the Input',
	name: 'duplicates',
	type: 'options',
	options: [
		{
			name: 'Last One Wins',
			value: 'lastWins',
			description: `Of several items with the same ${what}, the last is written`,
		},
		{
			name: 'Treat as an Error',
			value: 'error',
			description: `Items with the same ${what} are not written`,
		},
	],
	default: 'lastWins',
});

const importKey: INodeProperties = {
	displayName: 'Import Key Field',
	name: 'importKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. email',
	description:
		'The field by which records are found again. Only needed where the table does not mark one itself.',
};

const shared = [
	maxBatchSizeMiB,
	batchSize,
	dryRun,
	emptyFields,
	importKey,
	output,
	skipAudit,
	unknownFields,
	...callSettings,
];

/** The options of each kind of writing. */
export const createManyOptions = options(...shared);
export const upsertManyOptions = options(...shared, duplicates('import key'), skipUnchanged);
export const updateManyOptions = options(...shared, duplicates('record ID'), skipUnchanged);
