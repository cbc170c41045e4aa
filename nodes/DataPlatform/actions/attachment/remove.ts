import { filesOf, removeFiles } from '../../files/transfer';
import type { NameOf } from '../../parameterKinds/parameter';
import { choice } from '../../parameterKinds/kinds';
import { undefinedIf403 } from '../../transport/errors';
import type { RunContext } from '../../run/run';
import { fileField, fileId } from '../../parameters/files/uploads';
import { itemOperation } from '../../parameters/defineOperation';
import { requestSettings } from '../../parameters/requests';
import { recordIdOf, recordKeyOf } from '../../parameters/select/records';
import {
	recordId,
	tableOf,
	tableParameters,
	type TableParameter,
} from '../../parameters/select/table';
import { chosenFiles, recordWithFiles } from './input';

const removeMode = choice('removeMode', {
	label: 'Files to Remove',
	choices: { all: 'All of the Field', id: 'By ID' },
	preset: 'id',
});

const fileToRemove = fileId.with({
	required: true,
	show: { removeMode: ['id'] },
	description: 'The ID of the file',
});

/** The files to remove, with their names if the token may read them. */
async function filesToRemove(
	run: RunContext<TableParameter | NameOf<typeof removeMode | typeof fileId>>,
	index: number,
	id: string,
	field: string,
): Promise<Array<{ fileId: string; fileName?: string }>> {
	const isAll = removeMode.of(run, index) === 'all';
	const chosen = isAll ? '' : fileToRemove.of(run, index);
	const reading = recordWithFiles(run, index, id, field);
	const record = await (isAll ? reading : undefinedIf403(reading));
	if (!record) return [{ fileId: chosen }];
	return chosenFiles(record, field, chosen).map((file) => {
		return { fileId: file.fileId, fileName: file.fileName };
	});
}

export const remove = itemOperation({
	value: 'remove',
	name: 'Remove',
	action: 'Remove attachments',
	description: 'Permanently remove files from a record: one by its ID, or all of a field',
	fields: [...tableParameters, recordId, fileField, removeMode, fileToRemove],
	options: requestSettings,
	// Another attempt would not find the files that the first one removed.
	notIdempotent: true,
	concurrency: 4,
	concurrencyKey: recordKeyOf,
	execute: async (run, index) => {
		const field = fileField.of(run, index);
		const id = await recordIdOf(run, index);
		const removed = await filesToRemove(run, index, id, field);
		if (removed.length === 0) return { json: { id, removed, remaining: 0 } };
		const ids = removed.map((file) => file.fileId);
		const after = await removeFiles(tableOf(run, index), id, field, ids);
		return { json: { id, removed, remaining: filesOf(after, field).length } };
	},
});
