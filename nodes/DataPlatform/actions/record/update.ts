import { updateRecord } from '../../api/records';
import type { RunContext } from '../../execution/run';
import { itemOperation } from '../../parameters/operation';
import { plannedRecord, singleWriteOptions, writeOptions } from '../../parameters/plannedRecord';
import { outputOf, simple } from '../../parameters/reading';
import { recordId, recordKeyOf, tableOf, tableParameters } from '../../parameters/table';
import { columnsToUpdate, emptyValues } from '../../parameters/values';
import { updateMode } from '../../parameters/writing';
import { InputError } from '../../transport/errors';

/** @throws {InputError} if every field would be cleared */
function noticeNothing(run: RunContext<never>, mode: 'update' | 'replace') {
	if (mode === 'replace') {
		throw new InputError('No field has a value, so every field of the record would be cleared', {
			field: updateMode.label,
			hint: `Give the fields values, or set ${updateMode} to 'Leave as They Are'. To clear fields, map them and set ${emptyValues} to 'Clear the Field'.`,
		});
	}
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
	concurrency: 4,
	concurrencyKey: (run, index) => recordKeyOf(run, index),
	execute: async (run, index) => {
		const kind = updateMode.of(run, index);
		const id = recordId.of(run, index);
		const mode = kind === 'replace' ? 'replace' : 'update';
		const { fields } = await plannedRecord(run, index, mode, { id });
		if (Object.keys(fields).length === 0) noticeNothing(run, mode);
		const at = tableOf(run, index);
		const options = writeOptions(run, index);
		return outputOf(run, index)(await updateRecord(run.client, at, id, fields, kind, options));
	},
});
