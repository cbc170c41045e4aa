import { deleteRecord } from '../../service/records';
import { recordId } from '../locators';
import type { ItemOperation } from '../operation';
import { callSettings, options, tableParameters } from './parameters';

export const deleteOne: ItemOperation = {
	kind: 'item',
	value: 'delete',
	name: 'Delete',
	action: 'Delete record',
	description: 'Delete one record permanently, by its ID',
	fields: [...tableParameters, recordId, options(...callSettings)],
	// A second try would not find what the first has deleted.
	isOnce: true,
	parallel: 4,
	execute: async (run, index) => {
		const id = run.text('recordId', 'Record', index);
		await deleteRecord(run.connection, run.table(index), id);
		return { deleted: true, id };
	},
};
