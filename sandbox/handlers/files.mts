import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { demandRight } from '../access/rights.mts';
import { target, type Call, type Handler } from '../api/request.mts';
import { notFound } from '../api/errors.mts';
import { thumbnailOf } from '../store/thumbnails.mts';
import type { StoredFile } from '../store/fileStore.mts';

/** GET T/files/{file}. */
export const getFile: Handler = (call) => {
	const file = demandFile(call);
	return {
		status: 200,
		headers: {
			'content-type': file.mimetype,
			// Somebody else's content on the origin of the live page.
			'content-security-policy': 'sandbox',
			'x-content-type-options': 'nosniff',
			'content-length': String(file.size),
			'content-disposition': `inline; filename*=UTF-8''${encodeURIComponent(file.name)}`,
		},
		content: Readable.from(bytesAt(call.world.files.path(file.hash)), { objectMode: false }),
	};
};

/** Opened when it is read: an answer that a fault drops would keep the file open for ever. */
async function* bytesAt(path: string): AsyncGenerator<Buffer> {
	yield* createReadStream(path) as AsyncIterable<Buffer>;
}

/** GET T/files/{file}/thumbnail. */
export const getThumbnail: Handler = async (call) => {
	const file = demandFile(call);
	const thumbnail = file.picture ? await thumbnailOf(call.world.files, file) : undefined;
	if (!thumbnail) throw notFound(`The file '${file.id}' has no thumbnail.`);
	return { status: 200, headers: { 'content-type': 'image/webp' }, content: thumbnail };
};

/** A file that a record of the table holds now. Throws a Problem (403, 404). */
function demandFile(call: Call): StoredFile {
	const { world, token, params } = call;
	const { app, table } = target(call);
	if (token.type !== 'short') demandRight(world, token, 'read', app, table);
	const id = params.file ?? '';
	const file = world.files.get(id);
	if (file?.tableId === table.id && world.records.holds(table, id)) return file;
	throw notFound(`There is no file '${id}' in '${table.internalName}'.`);
}
