import type { Readable } from 'node:stream';
import { invalid, tooLarge } from '../api/errors.mts';
import type { FileStore } from '../store/fileStore.mts';
import { StreamingJsonParser } from './streamingJsonParser.mts';

/** Bodies up to this size are read into memory. */
const maxBufferedBytes = 4 * 1024 * 1024;

export interface ReadOptions {
	/** Content-Length, or 0 without one. */
	declaredBytes: number;
	/** Larger bodies get 413. */
	maxBytes: number;
	/** Where large files in the body are stored while it is read. */
	files: FileStore;
	/** Called after every chunk with the bytes so far. */
	onProgress(bytes: number): void;
}

/**
 * Reads a JSON body. Files in a large body are decoded to disk while it is read, so memory stays
 * flat. Returns undefined for an empty body. Throws an ApiError (400, 413).
 */
export async function readJson(stream: Readable, options: ReadOptions): Promise<unknown> {
	const { declaredBytes, maxBytes, files, onProgress } = options;
	const tooManyBytes = () => tooLarge(`At most ${maxBytes} bytes are accepted in one request.`);
	if (declaredBytes > maxBytes) throw tooManyBytes();
	const parser =
		declaredBytes > 0 && declaredBytes <= maxBufferedBytes
			? undefined
			: new StreamingJsonParser(files);
	const chunks: Buffer[] = [];
	let size = 0;
	try {
		for await (const chunk of stream as AsyncIterable<Buffer>) {
			size += chunk.length;
			if (size > maxBytes) throw tooManyBytes();
			onProgress(size);
			if (parser) parser.push(chunk);
			else chunks.push(chunk);
		}
		return parse(parser ? parser.finish() : Buffer.concat(chunks));
	} catch (error) {
		parser?.discard();
		throw error;
	}
}

function parse(bytes: Buffer): unknown {
	if (bytes.length === 0) return undefined;
	try {
		return JSON.parse(bytes.toString('utf8')) as unknown;
	} catch {
		throw invalid('The request body is not JSON.');
	}
}
