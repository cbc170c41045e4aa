import { keyField } from '../../bulk/plan';
import { createRecord } from '../../api/records';
import { itemOperation } from '../../parameters/operation';
import { plannedRecord, singleWriteOptions, writeOptions } from '../../parameters/plannedRecord';
import { outputOf, simple } from '../../parameters/reading';
import { tableOf, tableParameters } from '../../parameters/table';
import { columnsToCreate } from '../../parameters/values';

export const create = itemOperation({
	value: 'create',
	name: 'Create',
	action: 'Create record',
	description: 'Create a new record in a table',
	fields: [...tableParameters, columnsToCreate, simple],
	options: singleWriteOptions,
	notIdempotent: true,
	execute: async (run, index) => {
		const at = tableOf(run, index);
		const { fields, key } = await plannedRecord(run, index, 'create');
		const field = keyField(await run.definition(at))?.name;
		const recordKey = field && key ? { field, value: key } : undefined;
		const options = writeOptions(run, index);
		return outputOf(run, index)(await createRecord(run.client, at, fields, options, recordKey));
	},
});
