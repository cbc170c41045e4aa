import { updateManyOptions } from '../../descriptions/bulkOptions';
import { matchingParameters } from '../../descriptions/matching';
import { columns, simple, tableParameters } from '../../descriptions/common';
import { executeWriteMany } from './writeMany';
import { chosenUpdateMode, updateMode } from './update';
import { bulkOperation } from '../../descriptions/operation';

export const updateMany = bulkOperation({
	value: 'updateMany',
	name: 'Update Many',
	action: 'Update many records',
	description:
		'Update a record for each item, found by its ID or by fields, many in one request, and report on each',
	fields: [
		...tableParameters,
		...matchingParameters('recordId'),
		columns('getColumnsToUpdate'),
		updateMode,
		simple,
	],
	...updateManyOptions,
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, report) =>
		await executeWriteMany(run, report, (source) =>
			chosenUpdateMode(run, source) === 'replace' ? 'replace' : 'update',
		),
});
