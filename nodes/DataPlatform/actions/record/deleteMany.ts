import { deleteMany as deleteRecords } from '../../bulk/remove/deleteMatching';
import { importKeyOf } from '../../fields';
import { canBeKey } from '../../fields/values';
import { MAX_AGENT_RECORDS } from '../../input/recordOutput';
import { flag, wholeNumber } from '../../parameterKinds/kinds';
import { filterWith, readRemovalFilter } from '../../parameters/select/filter';
import { itemOperation } from '../../parameters/defineOperation';
import { withQueryHint } from '../../parameters/select/reading';
import { requestSettings } from '../../parameters/requests';
import { tableOf, tableParameters } from '../../parameters/select/table';
import { GUARD, ON_REQUEST } from '../../parameters/write/syncParameters';
import { dryRun } from '../../parameters/write/writing';
import { counted } from '../../transport/messageText';
import { LABELS } from '../../labels';

/** Conditions by default, so that nothing is deleted without a choice. */
const deletionFilter = filterWith({ preset: 'conditions', required: true });

const allowAll = flag('allowAll', {
	label: LABELS.allowAll,
	preset: false,
	show: { filterMode: ['none'] },
	description: 'Whether to delete every record of the table',
	aiHint: ON_REQUEST,
});

const maxRecordsToDelete = wholeNumber('maxRecordsToDelete', {
	label: LABELS.maxRecordsToDelete,
	min: 1,
	required: true,
	preset: 100,
	description: 'Max number of records to delete. If more match, nothing is deleted.',
	aiHint: GUARD,
});

const dryRunNotice = (matched: number, maximum: number) =>
	`Dry run, nothing was deleted: ${counted(matched, 'record')} match.${matched > maximum ? ` Without it nothing would be deleted either: they are more than the maximum of ${maximum}. If this is intended, raise ${maxRecordsToDelete}.` : ''}`;

export const deleteMany = itemOperation({
	value: 'deleteMany',
	name: 'Delete Many',
	action: 'Delete many records',
	description:
		'Permanently delete all records that match a filter, or none if there are more than the maximum',
	fields: [...tableParameters, ...deletionFilter, allowAll, maxRecordsToDelete],
	options: [
		dryRun.with({
			description: 'Whether to only list the records that match, without deleting any',
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
		const table = tableOf(run, index);
		// Read for the filter. Unless it was changed, the first field is the import key.
		const kept = await table.recentDefinition();
		const key = kept && (importKeyOf(kept) ?? kept.fields.find(canBeKey));
		const { matched, remaining, records } = await withQueryHint(
			{ filter },
			async () => await deleteRecords(table, filter, { ...limits, keys: key && [key] }),
		);
		if (limits.dryRun) run.hintOnce(dryRunNotice(matched, limits.maximum));
		const deletedCount = limits.dryRun ? 0 : records.length;
		const listed = records.slice(0, MAX_AGENT_RECORDS);
		const notListed = (limits.dryRun ? matched : deletedCount) - listed.length;
		return {
			json: {
				deleted: deletedCount > 0,
				...(limits.dryRun && { dryRun: true }),
				matched,
				deletedCount,
				remaining,
				records: listed,
				...(notListed > 0 && { notListed }),
				...(attempt > 1 && { attempt }),
			},
		};
	},
});
