import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { requireRight } from '../access/rights.mts';
import { addressedTable, type ApiRequest, type Handler } from '../api/request.mts';
import { notFound } from '../api/errors.mts';
import { thumbnailOf } from '../store/thumbnails.mts';
import type { StoredFile } from '../store/fileStore.mts';

/** GET T/files/{file}. */
export const getFile: Handler = (request) => {
	const file = requireFile(request);
	return {
		status: 200,
		headers: {
			'content-type': file.mimetype,
			// Untrusted content on the origin of the live page.
			'content-security-policy': 'sandbox',
			'x-content-type-options': 'nosniff',
			'content-length': String(file.size),
			'content-disposition': `inline; filename*=UTF-8''${encodeURIComponent(file.name)}`,
		},
		content: Readable.from(readBytes(request.state.files.path(file.hash)), { objectMode: false }),
	};
};

/** Opens the file on the first read: a response that a fault drops must not keep it open. */
async function* readBytes(path: string): AsyncGenerator<Buffer> {
	yield* createReadStream(path) as AsyncIterable<Buffer>;
}

/** GET T/files/{file}/thumbnail. */
export const getThumbnail: Handler = async (request) => {
	const file = requireFile(request);
	const thumbnail = file.picture ? await thumbnailOf(request.state.files, file) : undefined;
	if (!thumbnail) throw notFound(`The file '${file.id}' has no thumbnail.`);
	return { status: 200, headers: { 'content-type': 'image/webp' }, content: thumbnail };
};

/** A file that a record of the table refers to. Throws an ApiError (403, 404). */
function requireFile(request: ApiRequest): StoredFile {
	const { state, token, params } = request;
	const { app, table } = addressedTable(request);
	if (token.type !== 'short') requireRight(state, token, 'read', app, table);
	const id = params.file ?? '';
	const file = state.files.get(id);
	if (file?.tableId === table.id && state.records.mentions(table, id)) return file;
	throw notFound(`There is no file '${id}' in '${table.internalName}'.`);
}
