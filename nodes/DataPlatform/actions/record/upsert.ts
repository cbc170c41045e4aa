import { matchingParameters, maxNewOf, upsertRules } from '../../parameters/write/matchRules';
import { twoWayOf } from '../../parameters/write/twoWay';
import { bulkOperation } from '../../parameters/defineOperation';
import { tableParameters } from '../../parameters/select/table';
import { columnsToUpsert } from '../../parameters/write/columns';
import { upsertOptions } from '../../parameters/write/writing';
import { findsRecords, writeItems } from './writeItems';

export const upsert = bulkOperation({
	value: 'upsert',
	name: 'Create or Update',
	action: 'Create or update records (bulk upsert)',
	description: 'Create a new record, or update the current one if it already exists (upsert)',
	fields: [...tableParameters, ...matchingParameters('importKey'), columnsToUpsert],
	options: upsertOptions,
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, ledger) =>
		await writeItems(run, ledger, (source) =>
			findsRecords(run, source, 'upsert', {
				...upsertRules(run, source),
				maxNew: maxNewOf(run, source, ledger.reached.done > 0),
				twoWay: (table, on) => twoWayOf(run, source, table, on),
			}),
		),
});
