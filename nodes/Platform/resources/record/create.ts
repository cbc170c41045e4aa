import { keyField } from '../../service/bulk/plan';
import { createRecord } from '../../service/records';
import type { ItemOperation } from '../operation';
import { plannedRecord } from './input';
import { recordOutput, writeOptions } from './output';
import { columns, singleWriteOptions, tableParameters } from './parameters';

export const create: ItemOperation = {
	kind: 'item',
	value: 'create',
	name: 'Create',
	action: 'Create record',
	description: 'Create a new record in a table',
	fields: [...tableParameters, columns('getColumnsToCreate'), singleWriteOptions],
	isOnce: true,
	execute: async (run, index) => {
		const at = run.table(index);
		const { fields, key } = await plannedRecord(run, index, 'create');
		const field = keyField(await run.definition(at))?.name;
		const recordKey = field && key ? { field, value: key } : undefined;
		return recordOutput(
			await createRecord(run.connection, at, fields, writeOptions(run, index), recordKey),
		);
	},
};
