import { writeOne } from '../../bulk/single';
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
		const record = await plannedRecord(run, index, 'create');
		const options = writeOptions(run, index);
		const table = await run.definition(at);
		const target = { client: run.client, at, table };
		return outputOf(run, index)(await writeOne(target, record, 'create', options));
	},
});
