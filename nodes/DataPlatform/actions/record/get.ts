import { readRecord } from '../../api/records';
import { recordId } from '../../descriptions/locators';
import { outputOf, simple } from '../../execution/recordOutput';
import { callSettings, tableParameters } from '../../descriptions/common';
import { itemOperation } from '../../descriptions/operation';

export const get = itemOperation({
	value: 'get',
	name: 'Get',
	action: 'Get record',
	description: 'Retrieve one record by its ID',
	fields: [...tableParameters, recordId, simple],
	options: [...callSettings],
	concurrency: 4,
	execute: async (run, index) => {
		const id = run.text('recordId', 'Record', index);
		return outputOf(run, index)(await readRecord(run.client, run.table(index), id));
	},
});
