/**
 * The part of Node.js streams that files need, without importing a stream module.
 */
import { createHash } from 'node:crypto';
import { sleep } from 'n8n-workflow';

import { ServiceError } from './errors';

/** Bytes of a mebibyte. */
export const MIB = 1024 * 1024;

export interface ByteStream extends AsyncIterable<Uint8Array> {
	destroy(error?: Error): void;
	on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface BodyStream {
	body: ByteStream | Uint8Array;
	/** Exact: the service gets it as `Content-Length`. */
	bytes: number;
	/** Whether its last byte may have gone out; before that the service can't have worked on it. */
	isFullySent(): boolean;
	/** Lets go of everything that is open for it. */
	close(): void;
}

/** How many pieces are made before they are asked for. */
const CHUNKS_AHEAD = 4;

interface StreamClass {
	from(
		pieces: AsyncIterable<Uint8Array | string>,
		options: { objectMode: boolean; highWaterMark: number },
	): ByteStream;
}

/**
 * A stream of what a generator yields, of the same kind as another. (A stream's own `compose`
 * would do, but what fails in it after the other has ended ends the whole process.)
 */
export function streamOf(pieces: AsyncIterable<Uint8Array | string>, like: ByteStream): ByteStream {
	// Object mode leaves the pieces as they are.
	const stream = (like.constructor as unknown as StreamClass).from(pieces, {
		objectMode: true,
		highWaterMark: CHUNKS_AHEAD,
	});
	// Where nobody reads it, its failure is nobody's.
	stream.on('error', () => undefined);
	return stream;
}

/** A stream of what a generator yields, where no other stream is at hand: a hash is one too. */
export const newStream = (pieces: AsyncIterable<Uint8Array>): ByteStream =>
	streamOf(pieces, createHash('sha256') as unknown as ByteStream);

/** How often it is looked whether bytes still come. */
const STALL_CHECK_MS = 500;

/** What to know about bytes on their way in. */
export interface StreamExpectation {
	/** How many there must be, where that is known. */
	bytes?: number;
	/** Whether there must be at least one. */
	mustNotBeEmpty?: boolean;
	/** How long none may come. */
	timeoutMs: number;
	/** Aborted when they are no longer needed. */
	finished: AbortSignal;
	/** Called when none came for too long, to let go of the connection. */
	onStall(): void;
}

/** Passes bytes on; fails when none came for too long, or not as many as expected. */
export function withStallTimeout(bytes: ByteStream, expected: StreamExpectation): ByteStream {
	const { timeoutMs, finished, onStall } = expected;
	const chunks = bytes[Symbol.asyncIterator]();
	// A slow store is no silence of the platform's: the clock runs while a chunk is waited for.
	let waitingSince: number | undefined;
	let rejectPending: (error: Error) => void = () => undefined;
	// Not a race of two promises, which would hold on to every chunk's until the end.
	const next = async () =>
		await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
			waitingSince = Date.now();
			rejectPending = reject;
			chunks.next().then(resolve, reject);
		});
	const listen = async () => {
		while (!finished.aborted) {
			await sleep(STALL_CHECK_MS, finished).catch(() => undefined);
			if (waitingSince === undefined || Date.now() - waitingSince <= timeoutMs) continue;
			rejectPending(new ServiceError('The platform stopped sending', { delivery: 'ambiguous' }));
			onStall();
			return;
		}
	};
	void listen();
	async function* pass() {
		let size = 0;
		for (let chunk = await next(); !chunk.done; chunk = await next()) {
			waitingSince = undefined;
			size += chunk.value.length;
			yield chunk.value;
		}
		waitingSince = undefined;
		if (size === 0 && expected.mustNotBeEmpty) {
			throw new ServiceError('The response was empty', { delivery: 'ambiguous' });
		}
		if (expected.bytes === undefined || size === expected.bytes) return;
		throw new ServiceError(`${size} bytes came instead of ${expected.bytes}`, {
			delivery: 'ambiguous',
			hint: 'The download was cut off, or the platform reported a wrong size. Run it again.',
		});
	}
	return streamOf(pass(), bytes);
}

/** How much of a response that is no file is read to find out why. */
const MAX_ERROR_BYTES = 64 * 1024;

/** The beginning of a response, as text; as much as arrived where it breaks off. */
export async function readText(bytes: ByteStream): Promise<string> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	try {
		for await (const chunk of bytes) {
			chunks.push(chunk);
			size += chunk.length;
			if (size > MAX_ERROR_BYTES) break;
		}
	} catch {
		// The status says enough.
	}
	return Buffer.concat(chunks).toString('utf8');
}
