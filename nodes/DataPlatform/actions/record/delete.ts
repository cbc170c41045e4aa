import { deleteRecord } from '../../api/records';
import { recordId } from '../../descriptions/locators';
import { requestSettings, tableParameters } from '../../descriptions/common';
import { itemOperation } from '../../descriptions/operation';

export const deleteOne = itemOperation({
	value: 'delete',
	name: 'Delete',
	action: 'Delete record',
	description: 'Delete one record permanently, by its ID',
	fields: [...tableParameters, recordId],
	options: [...requestSettings],
	// Another attempt would not find what the first one has deleted.
	notIdempotent: true,
	// Where it is not known whether a record was deleted, deleting it again does no harm.
	retriesUnknown: true,
	concurrency: 4,
	execute: async (run, index) => {
		const id = run.text('recordId', 'Record', index);
		await deleteRecord(run.client, run.table(index), id);
		return { deleted: true, id };
	},
});
