import type { Attachment, PlatformRecord } from '../../api/types';
import { filesIn, filesOf, removeFiles } from '../../files/transfer';
import type { NameOf } from '../../parameterKinds/parameter';
import { choice, text } from '../../parameterKinds/kinds';
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
	choices: { all: 'All of the Field', id: 'By ID', name: 'By Name' },
	preset: 'id',
});

const fileToRemove = fileId.with({
	required: true,
	show: { removeMode: ['id'] },
	description: 'The ID of the file',
});

const fileName = text('fileName', {
	label: 'File Name',
	required: true,
	placeholder: 'e.g. invoice.pdf',
	show: { removeMode: ['name'] },
	description: 'The name of the file. All files with this name are removed.',
});

function filesByName(record: PlatformRecord, field: string, name: string): Attachment[] {
	const files = filesIn(record, field).filter(({ fileName: given }) => given.trim() === name);
	if (files.length > 0) return files;
	throw fileName.error(
		`Record '${record.id}' has no file '${name}' in the field '${field}'`,
		'Enter the name as the record has it, with its upper and lower case. Spaces around it do not matter.',
	);
}

const summaryOf = (files: Attachment[]) =>
	files.map(({ fileId: id, fileName }) => ({ fileId: id, fileName }));

/** The files to remove, with their names if the token may read them. */
async function filesToRemove(
	run: RunContext<TableParameter | NameOf<typeof removeMode | typeof fileName | typeof fileId>>,
	index: number,
	id: string,
	field: string,
): Promise<Array<{ fileId: string; fileName?: string }>> {
	const read = async () => await recordWithFiles(run, index, id, field);
	const by = removeMode.of(run, index);
	if (by === 'all') return summaryOf(filesIn(await read(), field));
	if (by === 'name') {
		const name = fileName.of(run, index);
		return summaryOf(filesByName(await read(), field, name));
	}
	const file = fileToRemove.of(run, index);
	const record = await undefinedIf403(read());
	return record ? summaryOf(chosenFiles(record, field, file)) : [{ fileId: file }];
}

export const remove = itemOperation({
	value: 'remove',
	name: 'Remove',
	action: 'Remove attachments',
	description: 'Permanently remove files from a record: one by its ID, by name, or all of a field',
	fields: [...tableParameters, recordId, fileField, removeMode, fileToRemove, fileName],
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
