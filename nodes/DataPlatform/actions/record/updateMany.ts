import { ifMissing, matchingParameters } from '../../parameters/matching';
import { bulkOperation } from '../../parameters/operation';
import { simple } from '../../parameters/reading';
import { tableParameters } from '../../parameters/table';
import { columnsToUpdate } from '../../parameters/values';
import { updateManyOptions, updateMode, writesMatched } from '../../parameters/writing';
import { executeWriteMany, recordIds } from './writeMany';

export const updateMany = bulkOperation({
	value: 'updateMany',
	name: 'Update Many',
	action: 'Update many records',
	description:
		'Update a record for each item, found by its ID or by fields, many in one request, and report on each',
	fields: [
		...tableParameters,
		...matchingParameters('recordId'),
		columnsToUpdate,
		updateMode,
		simple,
	],
	options: updateManyOptions,
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, report) =>
		await executeWriteMany(run, report, (source) => {
			const mode = updateMode.of(run, source) === 'replace' ? 'replace' : 'update';
			const rules = { ifMissing: ifMissing.of(run, source) };
			return { ...writesMatched(run, source, mode, rules), ...recordIds(run) };
		}),
});
