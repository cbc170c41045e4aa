import { deleteMany as deleteRecords } from '../../bulk/delete';
import { allowAll, deletionFilter, maxRecordsToDelete } from '../../parameters/deleting';
import { readFilter } from '../../parameters/filter';
import { itemOperation } from '../../parameters/operation';
import { withQueryHint } from '../../parameters/reading';
import { requestSettings } from '../../parameters/requests';
import { tableOf, tableParameters } from '../../parameters/table';
import { dryRun } from '../../parameters/writing';
import { deletedBefore } from '../../transport/errors';

export const deleteMany = itemOperation({
	value: 'deleteMany',
	name: 'Delete Many',
	action: 'Delete many records',
	description:
		'Permanently delete all records that match a filter, or none if there are more than the maximum',
	fields: [...tableParameters, ...deletionFilter, allowAll, maxRecordsToDelete],
	options: [
		dryRun.with({
			description: 'Whether to only count the records that match, without deleting any',
		}),
		...requestSettings,
	],
	// Another attempt adds its count to that of the previous ones.
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, index, before = { matched: 0, deleted: 0, atMost: 0 }) => {
		const limits = {
			maximum: maxRecordsToDelete.of(run, index),
			allowAll: allowAll.of(run, index),
			dryRun: dryRun.of(run, index),
			deletedBefore: before.atMost,
		};
		const filter = await readFilter(run, index);
		const at = tableOf(run, index);
		const deletion = await withQueryHint(
			{ filter },
			async () => await deleteRecords(run.client, at, filter, limits),
		);
		const { matched, deleted, remaining } = deletion;
		const gone = deletedBefore(before, matched);
		const deletedCount = deleted + gone;
		return {
			deleted: deletedCount > 0,
			matched: matched + gone,
			deletedCount,
			remaining,
		};
	},
});
