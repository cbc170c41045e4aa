import { upsertRecord } from '../../api/records';
import { plannedRecord } from '../../execution/recordInput';
import { outputOf, simple, writeOptions } from '../../execution/recordOutput';
import { columns, singleWriteOptions, tableParameters } from '../../descriptions/common';
import { itemOperation } from '../../descriptions/operation';

export const upsert = itemOperation({
	value: 'upsert',
	name: 'Create or Update',
	action: 'Create or update record',
	description: 'Create a new record, or update the current one if it already exists (upsert)',
	fields: [...tableParameters, columns('getColumnsToUpsert'), simple],
	options: singleWriteOptions,
	execute: async (run, index) => {
		const { fields } = await plannedRecord(run, index, 'upsert');
		return outputOf(
			run,
			index,
		)(await upsertRecord(run.client, run.table(index), fields, writeOptions(run, index)));
	},
});
