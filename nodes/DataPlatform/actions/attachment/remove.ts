import type { Attachment, PlatformRecord } from '../../api/types';
import { InputError } from '../../transport/errors';
import { filesOf, removeFiles } from '../../files/transfer';
import { readRecord } from '../../api/records';
import type { Parameter } from '../../execution/operation';
import { requestSettings } from '../../descriptions/common';
import type { RunContext, TableParameter } from '../../execution/run';
import { chosenFiles, filesIn, undefinedIf403 } from './input';
import { fileField, fileId, recordParameters } from './parameters';
import { itemOperation } from '../../descriptions/operation';

const removeMode: Parameter<'removeMode'> = {
	displayName: 'Files to Remove',
	name: 'removeMode',
	type: 'options',
	options: [
		{ name: 'All of the Field', value: 'all' },
		{ name: 'By ID', value: 'id' },
		{ name: 'By Name', value: 'name' },
	],
	default: 'id',
};

function filesByName(record: PlatformRecord, field: string, name: string): Attachment[] {
	const files = filesIn(record, field).filter(({ fileName }) => fileName === name);
	if (files.length > 0) return files;
	throw new InputError(`Record '${record.id}' has no file '${name}' in the field '${field}'`, {
		field: 'File Name',
		hint: 'The name must match exactly, including upper and lower case.',
	});
}

const summaryOf = (files: Attachment[]) =>
	files.map(({ fileId: id, fileName }) => ({ fileId: id, fileName }));

/** The files that are meant, with their names where the token may read them. */
async function filesToRemove(
	run: RunContext<TableParameter | 'removeMode' | 'fileName' | 'fileId'>,
	index: number,
	id: string,
	field: string,
): Promise<Array<{ fileId: string; fileName?: string }>> {
	const read = async () => await readRecord(run.client, run.table(index), id);
	const by = run.parameter('removeMode', index);
	if (by === 'all') return summaryOf(filesIn(await read(), field));
	if (by === 'name') {
		const name = run.text('fileName', 'File Name', index);
		return summaryOf(filesByName(await read(), field, name));
	}
	const file = run.text('fileId', 'File ID', index);
	const record = await undefinedIf403(read());
	return record ? summaryOf(chosenFiles(record, field, file)) : [{ fileId: file }];
}

export const remove = itemOperation({
	value: 'remove',
	name: 'Remove',
	action: 'Remove attachments',
	description: 'Permanently remove files from a record: one by its ID, by name, or all of a field',
	fields: [
		...recordParameters,
		fileField,
		removeMode,
		{
			...fileId,
			required: true,
			displayOptions: { show: { removeMode: ['id'] } },
			description: 'The ID of the file',
		},
		{
			displayName: 'File Name',
			name: 'fileName',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. invoice.pdf',
			displayOptions: { show: { removeMode: ['name'] } },
			description: 'The name of the file. All files with this name are removed.',
		},
	],
	options: [...requestSettings],
	// Another attempt would not find what the first one has removed.
	notIdempotent: true,
	concurrency: 4,
	concurrencyKey: (run, index) => run.recordKey(index),
	execute: async (run, index) => {
		const at = run.table(index);
		const field = run.text('fileField', 'Field', index);
		const id = run.text('recordId', 'Record', index);
		const removed = await filesToRemove(run, index, id, field);
		if (removed.length === 0) return { id, removed, remaining: 0 };
		const ids = removed.map((file) => file.fileId);
		const after = await removeFiles(run.client, at, id, field, ids);
		return { id, removed, remaining: filesOf(after, field).length };
	},
});
