import { createManyOptions } from '../../descriptions/bulkOptions';
import { columns, simple, tableParameters } from '../../descriptions/common';
import { executeWriteMany } from './writeMany';
import { bulkOperation } from '../../descriptions/operation';

export const createMany = bulkOperation({
	value: 'createMany',
	name: 'Create Many',
	action: 'Create many records',
	description: 'Create a new record for each item, many in one request, and report on each',
	fields: [...tableParameters, columns('getColumnsToCreate'), simple],
	...createManyOptions,
	notIdempotent: true,
	execute: async (run, report) => await executeWriteMany(run, report, () => 'create'),
});
