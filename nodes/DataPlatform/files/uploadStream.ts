/**
 * A JSON body that contains files as base64, produced while it is sent. Its length is known in
 * advance, and memory does not grow with the files.
 */
import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

import type { JsonValue } from '../api/types';
import { ServiceError } from '../transport/errors';
import { streamOf, withErrors, type BodyStream, type ByteStream } from '../transport/streams';
import type { Upload } from './uploadValidation';

/** The bytes of one base64 string: a multiple of three, and small enough to collect cheaply. */
const PIECE = 3 * 16 * 1024;

const base64Length = (bytes: number) => 4 * Math.ceil(bytes / 3);

const wrongSize = ({ name, bytes }: Upload, size: string) =>
	new ServiceError(`'${name}' was read as ${size} bytes, but should have ${bytes}`, {
		delivery: 'rejected',
		hint: 'Nothing was written. Check the node that created the file, and run it again.',
	});

const unreadable = ({ name }: Upload, { message }: Error) =>
	new ServiceError(`'${name}' can't be read from n8n's store: ${message}`, {
		delivery: 'rejected',
		hint: 'Nothing was written. Run the node that created the file again.',
	});

/** A buffer that shares the memory. */
const asBuffer = (bytes: Uint8Array) =>
	Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

type Opened = Promise<AsyncIterable<Uint8Array>>;

/** The base64 of a stream. Holds back bytes that don't fill a group of three. */
async function* toBase64(source: AsyncIterable<Uint8Array>, upload: Upload) {
	let held = Buffer.alloc(0);
	let size = 0;
	const chunks = withErrors(
		async () => source,
		(error) => unreadable(upload, error),
	);
	for await (const chunk of chunks) {
		size += chunk.length;
		// More would exceed the Content-Length already sent.
		if (size > upload.bytes) throw wrongSize(upload, `more than ${upload.bytes}`);
		const missing = (3 - held.length) % 3;
		const bytes = asBuffer(chunk);
		const head = Buffer.concat([held, bytes.subarray(0, missing)]);
		if (head.length < missing + held.length) {
			held = head;
			continue;
		}
		const end = bytes.length - ((bytes.length - missing) % 3);
		if (head.length > 0) yield head.toString('base64');
		for (let at = missing; at < end; at += PIECE) {
			yield bytes.toString('base64', at, Math.min(at + PIECE, end));
		}
		// Copied, because the chunk's memory may be reused.
		held = Buffer.from(bytes.subarray(end));
	}
	if (size !== upload.bytes) throw wrongSize(upload, String(size));
	if (held.length > 0) yield held.toString('base64');
}

async function* asChunks(bytes: Uint8Array) {
	yield bytes;
}

/** The request's JSON, split at the data of each file. */
function frame(body: (files: JsonValue[]) => IDataObject, uploads: Upload[]): string[] {
	const hole = randomUUID();
	const files = uploads.map(({ name, mimetype }) => ({
		filename: name,
		mimetype,
		filedata: `data:${mimetype};base64,${hole}`,
	}));
	return JSON.stringify(body(files)).split(hole);
}

/**
 * The pieces of the body. As text, which takes less copying than bytes on its way into a socket.
 */
async function* filled(
	parts: string[],
	uploads: Upload[],
	open: (upload: Upload) => Opened,
	onLast: () => void = () => undefined,
) {
	for (const [index, upload] of uploads.entries()) {
		yield parts[index]!;
		yield* toBase64(await open(upload), upload);
	}
	onLast();
	yield parts.at(-1)!;
}

/**
 * A JSON body that contains files. Each file is opened when it is its turn; if all content is in
 * memory, the body is sent as a whole.
 *
 * @param body makes the request from the files, each of which it contains once and in order
 */
export async function streamBody(
	body: (files: JsonValue[]) => IDataObject,
	uploads: Upload[],
): Promise<BodyStream> {
	const parts = frame(body, uploads);
	const bytes =
		parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0) +
		uploads.reduce((sum, upload) => sum + base64Length(upload.bytes), 0);
	const firstStored = uploads.find((upload) => typeof upload.content === 'function');
	if (!firstStored) {
		const open = async ({ content }: Upload) => asChunks(content as Uint8Array);
		const chunks: Uint8Array[] = [];
		for await (const piece of filled(parts, uploads, open)) chunks.push(Buffer.from(piece));
		return { body: Buffer.concat(chunks), bytes, isFullySent: () => true, close: () => undefined };
	}

	const opened = new Map<Upload, ByteStream>();
	const openStored = async (upload: Upload, content: () => Promise<ByteStream>) => {
		const stream = await content().catch((error: Error) => {
			throw unreadable(upload, error);
		});
		opened.set(upload, stream);
		return stream;
	};
	const open = async (upload: Upload) => {
		if (typeof upload.content !== 'function') return asChunks(upload.content);
		return opened.get(upload) ?? (await openStored(upload, upload.content));
	};
	// Opens one file in advance, because it determines the type of the stream.
	const like = (await open(firstStored)) as ByteStream;
	let isWhole = false;
	const stream = streamOf(
		filled(parts, uploads, open, () => (isWhole = true)),
		like,
	);
	const close = () => {
		stream.destroy();
		for (const entry of opened.values()) entry.destroy();
	};
	return { body: stream, bytes, isFullySent: () => isWhole, close };
}
