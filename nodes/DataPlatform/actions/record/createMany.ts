import type { BulkOperation } from '../../execution/operation';
import { createManyOptions } from '../../descriptions/bulkOptions';
import { columns, tableParameters } from '../../descriptions/common';
import { executeWriteMany } from './writeMany';

export const createMany: BulkOperation = {
	kind: 'bulk',
	value: 'createMany',
	name: 'Create Many',
	action: 'Create many records',
	description: 'Create a new record for each item, many in one request, and report on each',
	fields: [...tableParameters, columns('getColumnsToCreate'), createManyOptions],
	notIdempotent: true,
	execute: async (run, report) => await executeWriteMany(run, report, () => 'create'),
};
