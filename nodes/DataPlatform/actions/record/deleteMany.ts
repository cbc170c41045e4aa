import { deleteMany as deleteRecords } from '../../bulk/remove/deleteMatching';
import { allowAll, deletionFilter, maxRecordsToDelete } from '../../parameters/select/deleting';
import { readRemovalFilter } from '../../parameters/select/filter';
import { itemOperation } from '../../parameters/defineOperation';
import { withQueryHint } from '../../parameters/select/reading';
import { requestSettings } from '../../parameters/requests';
import { tableOf, tableParameters } from '../../parameters/select/table';
import { dryRun } from '../../parameters/write/writing';

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
	// Another attempt keeps the counts of items that are done.
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, index, attempt) => {
		const limits = {
			maximum: maxRecordsToDelete.of(run, index),
			allowAll: allowAll.of(run, index),
			dryRun: dryRun.of(run, index),
			attempt,
		};
		const filter = await readRemovalFilter(run, index);
		const { matched, deleted, remaining } = await withQueryHint(
			{ filter },
			async () => await deleteRecords(tableOf(run, index), filter, limits),
		);
		return {
			deleted: deleted > 0,
			matched,
			deletedCount: deleted,
			remaining,
			...(attempt > 1 && { attempt }),
		};
	},
});
