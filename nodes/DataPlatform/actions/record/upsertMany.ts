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
		'Create, update or return a record for each item (upsert, get or create), many in one request',
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
