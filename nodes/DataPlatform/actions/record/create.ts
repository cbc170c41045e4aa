import { keyField } from '../../bulk/plan';
import { createRecord } from '../../api/records';
import { plannedRecord, writeOptions } from '../../execution/recordInput';
import { outputOf } from '../../execution/recordOutput';
import { columns, simple, singleWriteOptions, tableParameters } from '../../descriptions/common';
import { itemOperation } from '../../descriptions/operation';

export const create = itemOperation({
	value: 'create',
	name: 'Create',
	action: 'Create record',
	description: 'Create a new record in a table',
	fields: [...tableParameters, columns('getColumnsToCreate'), simple],
	options: singleWriteOptions,
	notIdempotent: true,
	execute: async (run, index) => {
		const at = run.table(index);
		const { fields, key } = await plannedRecord(run, index, 'create');
		const field = keyField(await run.definition(at))?.name;
		const recordKey = field && key ? { field, value: key } : undefined;
		return outputOf(
			run,
			index,
		)(await createRecord(run.client, at, fields, writeOptions(run, index), recordKey));
	},
});
