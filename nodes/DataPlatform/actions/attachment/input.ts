/**
 * The files that an item brings along, and those that a record has.
 */
import { readRecord } from '../../api/records';
import type { Attachment, PlatformRecord } from '../../api/types';
import { undefinedIf403 } from '../../transport/errors';
import { filesIn } from '../../files/transfer';
import { getOwn } from '../../transport/json';
import { nameList } from '../../transport/messageText';
import { fileField, safeMimetype, type Upload } from '../../files/uploadValidation';
import { contentOf, fileNameOf, unreadable } from '../../input/binaryStore';
import type { NameOf } from '../../parameterKinds/parameter';
import type { RunContext } from '../../run/run';
import {
	binaryFields,
	fileId as fileIdParameter,
	inputDataFieldName,
} from '../../parameters/files/uploads';
import { tableOf, type TableParameter } from '../../parameters/select/table';

/** n8n knows the size of stored data; data kept in memory is read to count it. */
async function toUpload(run: RunContext<never>, index: number, name: string): Promise<Upload> {
	const { helpers } = run.context;
	const { id, mimeType } = helpers.assertBinaryData(index, name);
	const content = await contentOf(run, index, name);
	const upload = {
		name: fileNameOf(run, index, name),
		mimetype: safeMimetype(mimeType),
		content,
	};
	if (typeof content !== 'function') return { ...upload, bytes: content.length };
	const { fileSize } = await helpers.getBinaryMetadata(id!).catch((error: Error) => {
		throw unreadable(upload.name, error, inputDataFieldName);
	});
	return { ...upload, bytes: fileSize };
}

/**
 * The files in the given binary fields of the item, or in all of them.
 *
 * @throws {InputError} if the item has no such file
 */
export async function uploadsOf(
	run: RunContext<NameOf<typeof inputDataFieldName>>,
	index: number,
): Promise<Upload[]> {
	const names = binaryFields(run, index);
	return await Promise.all(names.map(async (name) => await toUpload(run, index, name)));
}

/**
 * A record with its files. The platform may leave out a field without a value: the definition then
 * tells it from a name that is no field.
 *
 * @throws {InputError} if it is no field for files
 */
export async function recordWithFiles(
	run: RunContext<TableParameter>,
	index: number,
	id: string,
	field: string,
): Promise<PlatformRecord> {
	const handle = tableOf(run, index);
	const record = await readRecord(handle, id, { keepsFileTokens: true });
	if (getOwn(record.fields, field) !== undefined) return record;
	const check = handle.checkWithKept((table) => fileField(table, field));
	const isField = await undefinedIf403(check);
	return isField ? { ...record, fields: { ...record.fields, [field]: null } } : record;
}

/**
 * All files of a record's field, or the one with the given ID.
 *
 * @throws {InputError} that names record and file if the file is not there
 */
export function chosenFiles(record: PlatformRecord, field: string, fileId: string): Attachment[] {
	const files = filesIn(record, field);
	if (fileId === '') return files;
	const file = files.find((entry) => entry.fileId === fileId);
	if (file) return [file];
	const names = nameList(files.map((entry) => `${entry.fileName} (${entry.fileId})`));
	throw fileIdParameter.error(
		`Record '${record.id}' has no file '${fileId}' in the field '${field}'`,
		names ? `Give the ID of one of its files: ${names}.` : 'The field has no files.',
	);
}
