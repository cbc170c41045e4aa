import { readBeforeAdding, writeOne } from '../../bulk/single';
import type { RunContext } from '../../execution/run';
import { itemOperation } from '../../parameters/operation';
import { plannedRecord, singleWriteOptions, writeOptions } from '../../parameters/plannedRecord';
import { outputOf, simple } from '../../parameters/reading';
import { recordId, recordKeyOf, tableOf, tableParameters } from '../../parameters/table';
import { columnsToUpdate, emptyValues } from '../../parameters/values';
import { updateMode } from '../../parameters/writing';

function noticeNothing(run: RunContext<never>) {
	run.hintOnce(
		`No field has a value, so nothing was changed. Add fields with values, or set ${emptyValues} in the options to clear what is empty.`,
		'warning',
	);
}

export const update = itemOperation({
	value: 'update',
	name: 'Update',
	action: 'Update record',
	description: 'Update one record by its ID',
	fields: [...tableParameters, recordId, columnsToUpdate, updateMode, simple],
	options: singleWriteOptions,
	// An update that appends values would append them again in another attempt of the node.
	notIdempotent: true,
	retriesUnknown: true,
	concurrency: 4,
	concurrencyKey: (run, index) => recordKeyOf(run, index),
	execute: async (run, index) => {
		const mode = updateMode.of(run, index) === 'replace' ? 'replace' : 'update';
		const id = recordId.of(run, index);
		const record = await plannedRecord(run, index, mode, { id });
		if (Object.keys(record.fields).length === 0) noticeNothing(run);
		const shape = outputOf(run, index);
		const at = tableOf(run, index);
		const target = { client: run.client, at, table: await run.definition(at) };
		const options = writeOptions(run, index);
		const before = await readBeforeAdding(target, record);
		return shape(await writeOne(target, { ...record, before }, mode, options));
	},
});
