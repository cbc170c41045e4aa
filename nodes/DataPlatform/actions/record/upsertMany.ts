import { upsertManyOptions } from '../../descriptions/bulkOptions';
import { matchingParameters } from '../../descriptions/matching';
import { columns, simple, tableParameters } from '../../descriptions/common';
import { executeWriteMany } from './writeMany';
import { bulkOperation } from '../../descriptions/operation';

export const upsertMany = bulkOperation({
	value: 'upsertMany',
	name: 'Create or Update Many',
	action: 'Create or update many records',
	description:
		'Create a new record for each item, or update or return the one that matches (upsert, get or create); many in one request, with a report on each item',
	fields: [
		...tableParameters,
		...matchingParameters('importKey'),
		columns('getColumnsToUpsert'),
		simple,
	],
	...upsertManyOptions,
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, report) => await executeWriteMany(run, report, () => 'upsert'),
});
