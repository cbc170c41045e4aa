/**
 * A JSON body that contains files as base64, produced while it is sent. Its length is known in
 * advance, and memory does not grow with the files.
 */
import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

import type { JsonValue } from '../api/types';
import { ServiceError } from '../transport/errors';
import { newStream, withErrors, type BodyStream, type ByteStream } from '../transport/streams';
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

/** The base64 of a file, which is opened now. @param opened gets the stream to close */
async function* toBase64(upload: Upload, opened: ByteStream[]) {
	const open = async () => {
		const { content } = upload;
		if (typeof content !== 'function') return [content];
		const stream = await content();
		opened.push(stream);
		return stream;
	};
	/** Bytes that don't fill a group of three. */
	let held = Buffer.alloc(0);
	let size = 0;
	for await (const chunk of withErrors(open, (error) => unreadable(upload, error))) {
		size += chunk.length;
		// More would exceed the Content-Length already sent.
		if (size > upload.bytes) throw wrongSize(upload, `more than ${upload.bytes}`);
		const bytes = held.length > 0 ? Buffer.concat([held, chunk]) : asBuffer(chunk);
		const end = bytes.length - (bytes.length % 3);
		for (let at = 0; at < end; at += PIECE) {
			yield bytes.toString('base64', at, Math.min(at + PIECE, end));
		}
		// Copied, because the chunk's memory may be reused.
		held = Buffer.from(bytes.subarray(end));
	}
	if (size !== upload.bytes) throw wrongSize(upload, String(size));
	if (held.length > 0) yield held.toString('base64');
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
 * A JSON body that contains files. Each file is opened when it is its turn.
 *
 * @param body makes the request from the files, each of which it contains once and in order
 */
export function streamBody(
	body: (files: JsonValue[]) => IDataObject,
	uploads: Upload[],
): BodyStream {
	const parts = frame(body, uploads);
	const bytes =
		parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0) +
		uploads.reduce((sum, upload) => sum + base64Length(upload.bytes), 0);
	const opened: ByteStream[] = [];
	let isWhole = false;
	/** As text, which takes less copying than bytes on its way into a socket. */
	async function* pieces() {
		for (const [index, upload] of uploads.entries()) {
			yield parts[index]!;
			yield* toBase64(upload, opened);
		}
		isWhole = true;
		yield parts.at(-1)!;
	}
	const stream = newStream(pieces());
	const close = () => {
		for (const each of [stream, ...opened]) each.destroy();
	};
	return { body: stream, bytes, isFullySent: () => isWhole, close };
}
