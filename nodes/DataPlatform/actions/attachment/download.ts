import type { IBinaryKeyData, IDataObject } from 'n8n-workflow';

import type { Attachment, TableAt } from '../../api/types';
import { fetchFile } from '../../files/transfer';
import { pictureName, safeFileName, safeMimetype } from '../../files/uploadValidation';
import type { Stored } from '../../input/binaryStore';
import { InputError } from '../../transport/errors';
import { isErrorItem } from '../../run/ledger';
import { flag } from '../../parameterKinds/kinds';
import type { RunContext } from '../../run/run';
import { fileField, fileId, outputField } from '../../parameters/files/uploads';
import { itemOperation } from '../../parameters/defineOperation';
import { requestSettings } from '../../parameters/requests';
import { recordIdOf } from '../../parameters/select/records';
import { recordId, tableOf, tableParameters } from '../../parameters/select/table';
import { chosenFiles, recordWithFiles } from './input';

/** How many records' files to download at a time. */
const PARALLEL_DOWNLOADS = 4;

type FileKind = 'file' | 'thumbnail';

interface DownloadLook {
	kind: FileKind;
	/** The field of the first file; then `name_1`, `name_2` and so on. */
	outputName: string;
	/** The files that the item already has. */
	existing?: IBinaryKeyData;
}

/**
 * Downloads files, one after the other.
 *
 * @returns all files of the item
 * @throws {ServiceError} that names the file
 */
export async function downloadInto(
	run: RunContext<never>,
	table: TableAt,
	files: Attachment[],
	{ kind, outputName, existing }: DownloadLook,
): Promise<IBinaryKeyData> {
	const binary: IBinaryKeyData = { ...existing };
	let next = outputName;
	let number = 0;
	for (const file of files) {
		const name = next;
		await fetchFile(table, file, kind, async (bytes, type) => {
			const mimetype = type && safeMimetype(type);
			const fileName = safeFileName(file.fileName);
			// A thumbnail may have another type than its picture.
			const isThumbnail = kind === 'thumbnail' && mimetype;
			binary[name] = await run.context.helpers.prepareBinaryData(
				bytes as unknown as Stored,
				isThumbnail ? pictureName(fileName, mimetype) : fileName,
				mimetype,
			);
		});
		// Names that the item already uses are skipped.
		do {
			number += 1;
			next = `${outputName}_${number}`;
		} while (Object.hasOwn(binary, next));
	}
	return binary;
}

/** An item's own data, renamed if n8n would take it for an error item because of its fields. */
function keptJson(json: IDataObject = {}): IDataObject {
	if (!isErrorItem(json)) return json;
	const { error, ...rest } = json;
	return { field_error: error, ...rest };
}

const thumbnails = flag('thumbnails', {
	label: 'Thumbnails',
	preset: false,
	description: 'Whether to download small versions of the pictures instead of the files',
});

export const download = itemOperation({
	value: 'download',
	name: 'Download',
	action: 'Download attachments',
	description: 'Download the files of a record; the item keeps its data and gets the files',
	fields: [
		...tableParameters,
		recordId,
		fileField,
		fileId,
		outputField.with({
			description:
				'The name of the output field for the file. More files get the same name with _1, _2 and so on, skipping names that the item already has.',
		}),
	],
	options: [...requestSettings, thumbnails],
	insteadOfFiles: "Use 'Get': the record has the names of its files.",
	concurrency: PARALLEL_DOWNLOADS,
	execute: async (run, index) => {
		const kind: FileKind = thumbnails.of(run, index) ? 'thumbnail' : 'file';
		const field = fileField.of(run, index);
		const id = await recordIdOf(run, index);
		const record = await recordWithFiles(run, index, id, field);
		const files = chosenFiles(record, field, fileId.of(run, index));
		if (files.length === 0) {
			throw new InputError(`Record '${id}' has no files in the field '${field}'`, {
				field,
				hint: 'Check the record and the field, or leave out records without files before this node.',
			});
		}
		const bare = kind === 'thumbnail' && files.find((file) => file.thumbnailUrl === undefined);
		if (bare) {
			throw new InputError(`'${bare.fileName}' of record '${id}' has no thumbnail`, {
				field,
				hint: 'Only files in picture fields have thumbnails.',
			});
		}
		const look = {
			kind,
			outputName: outputField.of(run, index),
			existing: run.items[index]?.binary,
		};
		const binary = await downloadInto(run, tableOf(run, index), files, look);
		return { json: keptJson(run.json(index)), binary };
	},
});
