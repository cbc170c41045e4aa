import { deleteMany as deleteRecords } from '../../bulk/delete';
import { filterParameters } from '../../descriptions/filter';
import { readFilter } from '../../execution/filterInput';
import { requireNumber } from '../../execution/run';
import { requestSettings, tableParameters } from '../../descriptions/common';
import { itemOperation } from '../../descriptions/operation';

/** Conditions come first: what is not narrowed down is not deleted. */
const deletionFilter = filterParameters.map((field) => {
	if (field.name === 'filterMode') return { ...field, default: 'conditions' };
	return field.name === 'conditions' || field.name === 'filterTree'
		? { ...field, required: true }
		: field;
});

export const deleteMany = itemOperation({
	value: 'deleteMany',
	name: 'Delete Many',
	action: 'Delete many records',
	description:
		'Permanently delete all records that match a filter. They are counted first: if there are more than the maximum, nothing is deleted.',
	fields: [
		...tableParameters,
		...deletionFilter,
		{
			displayName: 'Delete All Records',
			name: 'allowAll',
			type: 'boolean',
			default: false,
			displayOptions: { show: { filterMode: ['none'] } },
			description: 'Whether to delete every record of the table',
		},
		{
			displayName: 'Max Records to Delete',
			name: 'maxRecordsToDelete',
			type: 'number',
			typeOptions: { minValue: 1 },
			required: true,
			default: 100,
			description: 'Max number of records to delete. If more match, nothing is deleted.',
		},
	],
	options: [
		{
			displayName: 'Dry Run',
			name: 'dryRun',
			type: 'boolean',
			default: false,
			description: 'Whether to only count the records that match, without deleting any',
		},
		...requestSettings,
	],
	// Another attempt counts what the ones before have deleted.
	notIdempotent: true,
	retriesUnknown: true,
	execute: async (run, index, before = { deleted: 0, atMost: 0 }) => {
		const dryRun = run.flag('options.dryRun', 'Dry Run', index);
		const limits = {
			maximum: requireNumber(run.parameter('maxRecordsToDelete', index), 'Max Records to Delete', {
				min: 1,
				isWhole: true,
			}),
			allowAll: run.flag('allowAll', 'Delete All Records', index),
			dryRun,
			deletedBefore: before.atMost,
		};
		const filter = await readFilter(run, index);
		const deletion = await deleteRecords(run.client, run.table(index), filter, limits);
		const { matched, deleted, remaining } = deletion;
		return {
			deleted: !dryRun,
			matched: matched + before.deleted,
			deletedCount: deleted + before.deleted,
			remaining,
		};
	},
});
