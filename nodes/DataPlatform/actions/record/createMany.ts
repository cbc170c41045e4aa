import { bulkOperation } from '../../parameters/operation';
import { simple } from '../../parameters/reading';
import { tableParameters } from '../../parameters/table';
import { columnsToCreate } from '../../parameters/values';
import { createManyOptions } from '../../parameters/writing';
import { executeWriteMany } from './writeMany';

export const createMany = bulkOperation({
	value: 'createMany',
	name: 'Create Many',
	action: 'Create many records',
	description: 'Create a new record for each item, many in one request, and report on each',
	fields: [...tableParameters, columnsToCreate, simple],
	options: createManyOptions,
	notIdempotent: true,
	execute: async (run, report) =>
		await executeWriteMany(run, report, () => ({
			mode: 'create',
			duplicates: 'merge',
			skipUnchanged: false,
		})),
});
