/**
 * Files of records, streamed into n8n's store.
 */
import type { IBinaryKeyData } from 'n8n-workflow';

import type { Attachment, TableAddress } from '../api/types';
import { fetchFile } from '../files/transfer';
import { pictureName, safeFileName, safeMimetype } from '../files/uploadValidation';
import type { Stored } from './binaryStore';
import type { RunContext } from '../run/run';

/** How many records' files to download at a time. */
export const PARALLEL_DOWNLOADS = 4;

export type FileKind = 'file' | 'thumbnail';

/** A thumbnail may have another type than its picture. */
const nameOf = (file: Attachment, kind: FileKind, mimetype?: string) => {
	const name = safeFileName(file.fileName);
	return kind === 'thumbnail' && mimetype ? pictureName(name, mimetype) : name;
};

/**
 * The chosen name, then `name_1`, `name_2` and so on. Names that the item already uses are skipped.
 */
function outputNames(first: string, existing: IBinaryKeyData): () => string {
	const names = (function* () {
		yield first;
		for (let number = 1; ; number += 1) {
			const name = `${first}_${number}`;
			if (!Object.hasOwn(existing, name)) yield name;
		}
	})();
	return () => names.next().value;
}

interface DownloadLook {
	kind?: FileKind;
	/** The files that the item already has. */
	existing?: IBinaryKeyData;
}

/**
 * Downloads files, one after the other.
 *
 * @param outputName the field of the first file
 * @returns all files of the item
 * @throws {ServiceError} that names the file
 */
export async function downloadInto(
	run: RunContext<never>,
	address: TableAddress,
	files: Attachment[],
	outputName: string,
	{ kind = 'file', existing }: DownloadLook = {},
): Promise<IBinaryKeyData> {
	const binary: IBinaryKeyData = { ...existing };
	const nextName = outputNames(outputName, binary);
	for (const file of files) {
		const name = nextName();
		await fetchFile(run.client, address, file, kind, async (bytes, type) => {
			const mimetype = type && safeMimetype(type);
			binary[name] = await run.context.helpers.prepareBinaryData(
				bytes as unknown as Stored,
				nameOf(file, kind, mimetype),
				mimetype,
			);
		});
	}
	return binary;
}
