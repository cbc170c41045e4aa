import { ifMissing, matchingParameters } from '../../parameters/write/matchRules';
import { bulkOperation } from '../../parameters/defineOperation';
import { tableParameters } from '../../parameters/select/table';
import { columnsToUpdate } from '../../parameters/write/columns';
import { updateOptions, updateMode } from '../../parameters/write/writing';
import { findsRecords, writeItems } from './writeItems';

export const update = bulkOperation({
	value: 'update',
	name: 'Update',
	action: 'Update records (bulk update)',
	description:
		'Update the record of each item, found by its ID or by other fields, many in one request (bulk, batch)',
	fields: [...tableParameters, ...matchingParameters('recordId'), columnsToUpdate, updateMode],
	options: updateOptions,
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, ledger) =>
		await writeItems(run, ledger, (source) => {
			const mode = updateMode.of(run, source) === 'replace' ? 'replace' : 'update';
			return findsRecords(run, source, mode, { ifMissing: ifMissing.of(run, source) });
		}),
});
