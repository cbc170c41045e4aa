import { readRecord } from '../../service/records';
import { recordId } from '../locators';
import type { ItemOperation } from '../operation';
import { outputOf, simple } from './output';
import { callSettings, options, tableParameters } from './parameters';

export const get: ItemOperation = {
	kind: 'item',
	value: 'get',
	name: 'Get',
	action: 'Get record',
	description: 'Retrieve one record by its ID',
	fields: [...tableParameters, recordId, simple, options(...callSettings)],
	parallel: 4,
	execute: async (run, index) => {
		const id = run.text('recordId', 'Record', index);
		return outputOf(run, index)(await readRecord(run.connection, run.table(index), id));
	},
};
