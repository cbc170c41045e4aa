import type { INodeProperties } from 'n8n-workflow';

import { updateRecord } from '../../service/records';
import { recordId } from '../locators';
import type { ItemOperation } from '../operation';
import { plannedRecord } from './input';
import { recordOutput, writeOptions } from './output';
import { columns, singleWriteOptions, tableParameters } from './parameters';

export const extent: INodeProperties = {
	displayName: 'Other Fields',
	name: 'extent',
	type: 'options',
	options: [
		{
			name: 'Leave as They Are',
			value: 'partial',
			description: 'Only the fields that are given change',
		},
		{
			name: 'Clear',
			value: 'full',
			description: 'Fields that are not given are emptied in the platform',
		},
	],
	default: 'partial',
	description: 'What happens to the fields that are not given',
};

export const update: ItemOperation = {
	kind: 'item',
	value: 'update',
	name: 'Update',
	action: 'Update record',
	description: 'Update one record by its ID',
	fields: [...tableParameters, recordId, columns('getColumnsToUpdate'), extent, singleWriteOptions],
	execute: async (run, index) => {
		const extentOf = run.parameter('extent', index) === 'full' ? 'full' : 'partial';
		const id = run.text('recordId', 'Record', index);
		const mode = extentOf === 'full' ? 'replace' : 'update';
		const { fields } = await plannedRecord(run, index, mode, id);
		return recordOutput(
			await updateRecord(
				run.connection,
				run.table(index),
				id,
				fields,
				extentOf,
				writeOptions(run, index),
			),
		);
	},
};
