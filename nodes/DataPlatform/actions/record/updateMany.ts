import { updateManyOptions } from '../../descriptions/bulkOptions';
import { columns, tableParameters } from '../../descriptions/common';
import { simple } from '../../execution/recordOutput';
import { executeWriteMany } from './writeMany';
import { updateMode } from './update';
import { bulkOperation } from '../../descriptions/operation';

export const updateMany = bulkOperation({
	value: 'updateMany',
	name: 'Update Many',
	action: 'Update many records',
	description: 'Update a record by its ID for each item, many in one request, and report on each',
	fields: [
		...tableParameters,
		{
			displayName: 'Record ID',
			name: 'recordId',
			type: 'string',
			required: true,
			default: '={{ $json.id }}',
			description: "The ID of each item's record; each item's own ID unless it is changed here",
		},
		columns('getColumnsToUpdate'),
		updateMode,
		simple,
	],
	options: updateManyOptions,
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, report) =>
		await executeWriteMany(run, report, (source) =>
			run.parameter('updateMode', source) === 'replace' ? 'replace' : 'update',
		),
});
