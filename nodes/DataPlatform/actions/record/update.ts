import { readBeforeAdding, singleContext, updateOne } from '../../bulk/single';
import { recordId } from '../../descriptions/locators';
import type { Parameter } from '../../execution/operation';
import { requireChoice, type RunContext } from '../../execution/run';
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

function noticeNothing(run: RunContext<never>) {
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
	// What adds something would add it again in another attempt of the node.
	notIdempotent: true,
	retriesUnknown: true,
	concurrency: 4,
	concurrencyKey: (run, index) => run.recordKey(index),
	execute: async (run, index) => {
		const mode = chosenUpdateMode(run, index) === 'replace' ? 'replace' : 'update';
		const id = run.text('recordId', 'Record', index);
		const { fields } = await plannedRecord(run, index, mode, { id });
		if (Object.keys(fields).length === 0) noticeNothing(run);
		const shape = outputOf(run, index);
		const target = { client: run.client, at: run.table(index) };
		const context = singleContext(await run.definition(target.at), mode);
		const options = writeOptions(run, index);
		const before = await readBeforeAdding(target, id, fields, context);
		return shape(await updateOne(target, id, fields, before, context, options));
	},
});
