import { readRecord } from '../../api/records';
import { recordId } from '../../descriptions/locators';
import type { ItemOperation } from '../../execution/operation';
import { outputOf, simple } from '../../execution/recordOutput';
import { callSettings, options, tableParameters } from '../../descriptions/common';

export const get: ItemOperation = {
	kind: 'item',
	value: 'get',
	name: 'Get',
	action: 'Get record',
	description: 'Retrieve one record by its ID',
	fields: [...tableParameters, recordId, simple, options(...callSettings)],
	concurrency: 4,
	execute: async (run, index) => {
		const id = run.text('recordId', 'Record', index);
		return outputOf(run, index)(await readRecord(run.client, run.table(index), id));
	},
};
