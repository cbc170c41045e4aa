import { tryDeleteRecord } from '../../api/records';
import { itemOperation } from '../../parameters/defineOperation';
import { requestSettings } from '../../parameters/requests';
import { recordIdOf } from '../../parameters/select/records';
import { recordId, tableOf, tableParameters } from '../../parameters/select/table';

export const deleteOne = itemOperation({
	value: 'delete',
	name: 'Delete',
	action: 'Delete record',
	description: 'Delete one record permanently, by its ID or import key',
	fields: [...tableParameters, recordId],
	options: requestSettings,
	// Another attempt would not find the record that the first one deleted.
	notIdempotent: true,
	// If it is unknown whether a record was deleted, deleting it again does no harm.
	retriesUnknown: true,
	concurrency: 4,
	execute: async (run, index) => {
		const id = await recordIdOf(run, index);
		const failure = await tryDeleteRecord(tableOf(run, index), id);
		if (failure) throw failure;
		return { json: { deleted: true, id } };
	},
});
