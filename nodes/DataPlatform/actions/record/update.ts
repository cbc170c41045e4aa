import { updateRecord } from '../../api/records';
import { recordId } from '../../descriptions/locators';
import type { Parameter } from '../../execution/operation';
import { plannedRecord } from '../../execution/recordInput';
import { outputOf, simple, writeOptions } from '../../execution/recordOutput';
import { columns, singleWriteOptions, tableParameters } from '../../descriptions/common';
import { itemOperation } from '../../descriptions/operation';

export const updateMode: Parameter<'updateMode'> = {
	displayName: 'Other Fields',
	name: 'updateMode',
	type: 'options',
	options: [
		{
			name: 'Leave as They Are',
			value: 'partial',
			description: 'Change only the fields that are sent',
		},
		{
			name: 'Clear',
			value: 'replace',
			description: 'Clear the fields that are not sent',
		},
	],
	default: 'partial',
	description: 'What to do with the fields that are not sent',
};

export const update = itemOperation({
	value: 'update',
	name: 'Update',
	action: 'Update record',
	description: 'Update one record by its ID',
	fields: [...tableParameters, recordId, columns('getColumnsToUpdate'), updateMode, simple],
	options: singleWriteOptions,
	concurrency: 4,
	concurrencyKey: (run, index) => run.recordKey(index),
	execute: async (run, index) => {
		const updateModeOf = run.parameter('updateMode', index) === 'replace' ? 'replace' : 'partial';
		const id = run.text('recordId', 'Record', index);
		const mode = updateModeOf === 'replace' ? 'replace' : 'update';
		const { fields } = await plannedRecord(run, index, mode, { id });
		return outputOf(
			run,
			index,
		)(
			await updateRecord(
				run.client,
				run.table(index),
				id,
				fields,
				updateModeOf,
				writeOptions(run, index),
			),
		);
	},
});
