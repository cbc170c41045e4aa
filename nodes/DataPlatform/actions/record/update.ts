import { updateRecord } from '../../api/records';
import { recordId } from '../../descriptions/locators';
import type { Parameter } from '../../execution/operation';
import { requireChoice, type RunContext } from '../../execution/run';
import { InputError } from '../../transport/errors';
import { plannedRecord, writeOptions } from '../../execution/recordInput';
import { outputOf } from '../../execution/recordOutput';
import { columns, simple, singleWriteOptions, tableParameters } from '../../descriptions/common';
import { itemOperation } from '../../descriptions/operation';

export const updateMode: Parameter<'updateMode'> = {
	displayName: 'Fields Not Sent',
	name: 'updateMode',
	type: 'options',
	options: [
		{
			name: 'Leave as They Are',
			value: 'partial',
			description: 'Change only the fields that are sent',
		},
		{
			name: 'Clear',
			value: 'replace',
			description: 'Clear the fields that are not sent',
		},
	],
	default: 'partial',
	description: 'What to do with the fields that are not sent',
};

/** What becomes of fields that are not sent. @throws {InputError} where an expression gives none of the choices */
export const chosenUpdateMode = (run: RunContext<'updateMode'>, index: number) =>
	requireChoice(run.parameter('updateMode', index), 'Fields Not Sent', ['partial', 'replace']);

/** @throws {InputError} where every field would be cleared */
function noticeNothing(run: RunContext<never>, mode: 'update' | 'replace') {
	if (mode === 'replace') {
		throw new InputError('No field has a value, so every field of the record would be cleared', {
			field: 'Fields Not Sent',
			hint: "Give the fields values, or set 'Fields Not Sent' to 'Leave as They Are'. To clear fields, map them and set 'Empty Values' to 'Clear the Field'.",
		});
	}
	run.hintOnce(
		"No field has a value, so nothing was changed. Add fields with values, or set 'Empty Values' in the options to clear what is empty.",
		'warning',
	);
}

export const update = itemOperation({
	value: 'update',
	name: 'Update',
	action: 'Update record',
	description: 'Update one record by its ID',
	fields: [...tableParameters, recordId, columns('getColumnsToUpdate'), updateMode, simple],
	options: singleWriteOptions,
	concurrency: 4,
	concurrencyKey: (run, index) => run.recordKey(index),
	execute: async (run, index) => {
		const updateModeOf = chosenUpdateMode(run, index);
		const id = run.text('recordId', 'Record', index);
		const mode = updateModeOf === 'replace' ? 'replace' : 'update';
		const { fields } = await plannedRecord(run, index, mode, { id });
		if (Object.keys(fields).length === 0) noticeNothing(run, mode);
		return outputOf(
			run,
			index,
		)(
			await updateRecord(
				run.client,
				run.table(index),
				id,
				fields,
				updateModeOf,
				writeOptions(run, index),
			),
		);
	},
});
