import { matchingParameters, upsertRules } from '../../parameters/matching';
import { bulkOperation } from '../../parameters/operation';
import { simple } from '../../parameters/reading';
import { tableParameters } from '../../parameters/table';
import { columnsToUpsert } from '../../parameters/values';
import { upsertOptions, writesMatched } from '../../parameters/writing';
import { writeItems, recordIds } from './writeItems';

export const upsert = bulkOperation({
	value: 'upsert',
	name: 'Create or Update',
	action: 'Create or update records (bulk upsert)',
	description: 'Create a new record, or update the current one if it already exists (upsert)',
	fields: [...tableParameters, ...matchingParameters('importKey'), columnsToUpsert, simple],
	options: upsertOptions,
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, report) =>
		await writeItems(run, report, (source) => ({
			...writesMatched(run, source, 'upsert', upsertRules(run, source)),
			...recordIds(run),
		})),
});
