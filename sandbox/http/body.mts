import type { Readable } from 'node:stream';
import { invalid, tooLarge } from '../api/errors.mts';
import type { FileStore } from '../store/fileStore.mts';
import { SpoolingScanner } from './streamingJsonParser.mts';

/** Bodies up to this size are simply held in memory. */
const smallBytes = 4 * 1024 * 1024;

export interface ReadOptions {
	/** As Content-Length says; 0 when it says nothing. */
	declaredBytes: number;
	/** More is refused with 413. */
	maxBytes: number;
	/** Where long files inside the body go while it is read. */
	files: FileStore;
	/** Told after every chunk: bytes so far. */
	onProgress(bytes: number): void;
}

/**
 * Reads a JSON body. Files in a large one are decoded to disk on their way in, so memory does not
 * grow with them; contract.md, "Attachments". Nothing at all is undefined. Throws a Problem.
 */
export async function readJson(stream: Readable, options: ReadOptions): Promise<unknown> {
	const { declaredBytes, maxBytes, files, onProgress } = options;
	const refusal = () => tooLarge(`At most ${maxBytes} bytes are taken in one request.`);
	if (declaredBytes > maxBytes) throw refusal();
	const scanner =
		declaredBytes > 0 && declaredBytes <= smallBytes ? undefined : new SpoolingScanner(files);
	const held: Buffer[] = [];
	let size = 0;
	try {
		for await (const chunk of stream as AsyncIterable<Buffer>) {
			size += chunk.length;
			if (size > maxBytes) throw refusal();
			onProgress(size);
			if (scanner) scanner.push(chunk);
			else held.push(chunk);
		}
		return parse(scanner ? scanner.finish() : Buffer.concat(held));
	} catch (error) {
		scanner?.abandon();
		throw error;
	}
}

function parse(bytes: Buffer): unknown {
	if (bytes.length === 0) return undefined;
	try {
		return JSON.parse(bytes.toString('utf8')) as unknown;
	} catch {
		throw invalid('The body is not JSON.');
	}
}
