import { matchingParameters, upsertRules } from '../../parameters/matching';
import { bulkOperation } from '../../parameters/operation';
import { simple } from '../../parameters/reading';
import { tableParameters } from '../../parameters/table';
import { columnsToUpsert } from '../../parameters/values';
import { upsertManyOptions, writesMatched } from '../../parameters/writing';
import { executeWriteMany, recordIds } from './writeMany';

export const upsertMany = bulkOperation({
	value: 'upsertMany',
	name: 'Create or Update Many',
	action: 'Create or update many records',
	description:
		'Create a new record for each item, or update or return the one that matches (upsert, get or create); many in one request, with a report on each item',
	fields: [...tableParameters, ...matchingParameters('importKey'), columnsToUpsert, simple],
	options: upsertManyOptions,
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, report) =>
		await executeWriteMany(run, report, (source) => ({
			...writesMatched(run, source, 'upsert', upsertRules(run, source)),
			...recordIds(run),
		})),
});
