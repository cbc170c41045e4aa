import type { IDataObject } from 'n8n-workflow';

import { InputError } from '../../transport/errors';
import { downloadInto, PARALLEL_DOWNLOADS, type FileKind } from '../../input/downloadInto';
import { withFiles, type ItemOutput } from '../../run/operation';
import { isErrorItem } from '../../run/itemResults';
import type { NameOf } from '../../parameterKinds/parameter';
import { flag } from '../../parameterKinds/kinds';
import type { RunContext } from '../../run/run';
import { fileField, fileId, outputField } from '../../parameters/files/uploads';
import { itemOperation } from '../../parameters/defineOperation';
import { requestSettings } from '../../parameters/requests';
import { recordId, tableOf, tableParameters } from '../../parameters/select/table';
import { chosenFiles, recordWithFiles } from './input';

/** An item's own data, renamed if n8n would take it for an error item because of its fields. */
function keptJson(json: IDataObject = {}): IDataObject {
	if (!isErrorItem(json)) return json;
	const { error, ...rest } = json;
	return { field_error: error, ...rest };
}

const fields = [
	...tableParameters,
	recordId,
	fileField,
	fileId,
	outputField.with({
		description:
			'The name of the output field for the file. More files get the same name with _1, _2 and so on, skipping names that the item already has.',
	}),
];

const thumbnails = flag('thumbnails', {
	label: 'Thumbnails',
	preset: false,
	description: 'Whether to download small versions of the pictures instead of the files',
});

const options = [...requestSettings, thumbnails];

async function downloadFrom(
	run: RunContext<NameOf<typeof fields> | NameOf<typeof options>>,
	index: number,
): Promise<ItemOutput> {
	const kind: FileKind = thumbnails.of(run, index) ? 'thumbnail' : 'file';
	const address = tableOf(run, index);
	const field = fileField.of(run, index);
	const id = recordId.of(run, index);
	const outputName = outputField.of(run, index);
	const record = await recordWithFiles(run, index, id, field);
	const files = chosenFiles(record, field, fileId.of(run, index));
	if (files.length === 0) {
		throw new InputError(`Record '${id}' has no files in the field '${field}'`, {
			field,
			hint: 'Check the record and the field, or leave out records without files before this node.',
		});
	}
	// n8n silently drops files that a tool returns to an agent.
	if (run.isTool) {
		return {
			files: files.map(({ fileId, fileName, fileSize, mimetype }) => {
				return { fileId, fileName, fileSize, mimetype };
			}),
			note: 'These files are on the record. Agents get no file contents.',
		};
	}
	const bare = kind === 'thumbnail' && files.find((file) => file.thumbnailUrl === undefined);
	if (bare) {
		throw new InputError(`'${bare.fileName}' of record '${id}' has no thumbnail`, {
			field,
			hint: 'Only files in picture fields have thumbnails.',
		});
	}
	const existing = run.items[index]?.binary;
	const binary = await downloadInto(run, address, files, outputName, { kind, existing });
	return withFiles(keptJson(run.json(index)), binary);
}

export const download = itemOperation({
	value: 'download',
	name: 'Download',
	action: 'Download attachments',
	description: 'Download the files of a record; the item keeps its data and gets the files',
	fields,
	options,
	concurrency: PARALLEL_DOWNLOADS,
	execute: downloadFrom,
});
