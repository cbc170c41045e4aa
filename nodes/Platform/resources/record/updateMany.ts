import type { BulkOperation } from '../operation';
import { updateManyOptions } from './batchParameters';
import { columns, tableParameters } from './parameters';
import { executeWriteMany } from './writeMany';
import { extent } from './update';

export const updateMany: BulkOperation = {
	kind: 'bulk',
	value: 'updateMany',
	name: 'Update Many',
	action: 'Update many records',
	description: 'Update a record by its ID for each item, many in one request, and report on each',
	fields: [
		...tableParameters,
		{
			displayName: 'Record ID',
			name: 'itemRecordId',
			type: 'string',
			required: true,
			default: '={{ $json.id }}',
			description: "The ID of each item's record; each item's own ID unless it is changed here",
		},
		columns('getColumnsToUpdate'),
		extent,
		updateManyOptions,
	],
	isOnce: true,
	repeatsUnknown: true,
	execute: async (run, report) => {
		const isFull = run.parameter('extent', 0) === 'full';
		await executeWriteMany(run, report, isFull ? 'replace' : 'update');
	},
};
