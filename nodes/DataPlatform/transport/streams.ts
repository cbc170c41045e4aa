/**
 * What files need of Node.js streams, without importing a stream module.
 */
import { createHash } from 'node:crypto';
import { sleep } from 'n8n-workflow';

import { ServiceError, type Delivery } from './errors';

/** Bytes of a mebibyte. */
export const MIB = 1024 * 1024;

export interface ByteStream extends AsyncIterable<Uint8Array> {
	destroy(error?: Error): void;
	on(event: 'error', listener: (error: Error) => void): unknown;
}

export interface BodyStream {
	body: ByteStream;
	/** Must be exact: it is sent as `Content-Length`. */
	bytes: number;
	/** Its last byte may have been sent. Before that, the service can't have processed it. */
	isFullySent(): boolean;
	/** Closes everything that was opened for it. */
	close(): void;
}

interface StreamClass {
	from(pieces: AsyncIterable<Uint8Array | string>): ByteStream;
}

/**
 * A stream of what a generator yields, made by the class of another stream, such as a hash. (Not
 * `compose`: an error in it after the other stream has ended would end the whole process.)
 */
export function newStream(pieces: AsyncIterable<Uint8Array | string>): ByteStream {
	const { constructor } = createHash('sha256');
	const stream = (constructor as unknown as StreamClass).from(pieces);
	// Ignore errors after the reader has left.
	stream.on('error', () => undefined);
	return stream;
}

/** Opens bytes and passes them on. @throws what `toError` makes of a failure */
export async function* withErrors(
	open: () => Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array>>,
	toError: (failure: Error) => Error,
): AsyncGenerator<Uint8Array> {
	try {
		yield* await open();
	} catch (failure) {
		throw toError(failure as Error);
	}
}

/** How often to check that bytes still arrive. */
const STALL_CHECK_MS = 500;

/**
 * The longest response that is read into memory, after unpacking. A page of 250 records fits with
 * 256 KiB for each.
 */
const MAX_RESPONSE_BYTES = 64 * MIB;

const tooLong = (delivery: Delivery) =>
	new ServiceError(
		`The platform's response is longer than ${MAX_RESPONSE_BYTES / MIB} MiB, and was not read to the end`,
		{
			delivery,
			hint: 'Ask for fewer fields, without long texts. If the response should be short, something other than the platform may have sent it.',
		},
	);

/** How much of the responses to all requests of this process is held before they are parsed. */
const MAX_HELD_BYTES = 2 * MAX_RESPONSE_BYTES;

/** The responses that are being read, in order, and how much of each is held. */
const held = new Map<symbol, number>();

const waiting: Array<() => void> = [];

/** Waits until all responses that are being read fit. The first of them never waits. */
async function hold(response: symbol, bytes: number): Promise<void> {
	held.set(response, bytes);
	const total = () => [...held.values()].reduce((sum, size) => sum + size, 0);
	while (held.keys().next().value !== response && total() > MAX_HELD_BYTES) {
		await new Promise<void>((resolve) => waiting.push(resolve));
	}
}

function release(response: symbol) {
	held.delete(response);
	for (const resume of waiting.splice(0)) resume();
}

/**
 * Passes bytes on. Fails if they stop for too long, or if their number is wrong.
 *
 * @param hangUp closes the connection: it must be called before the end of the bytes is noticed
 * @param expected how many there must be; any but none, if that is not known
 */
export function withStallTimeout(
	bytes: ByteStream,
	hangUp: () => void,
	timeoutMs: number,
	expected?: number,
): ByteStream {
	// A slow store does not count as silence of the platform: the clock only runs while waiting for a
	// chunk.
	let waitingSince: number | undefined;
	const finished = new AbortController();
	const listen = async () => {
		while (!finished.signal.aborted) {
			await sleep(STALL_CHECK_MS, finished.signal).catch(() => undefined);
			if (waitingSince === undefined || performance.now() - waitingSince <= timeoutMs) continue;
			bytes.destroy(new ServiceError('The platform stopped sending', { delivery: 'ambiguous' }));
			hangUp();
			return;
		}
	};
	async function* pass() {
		let size = 0;
		void listen();
		try {
			waitingSince = performance.now();
			for await (const chunk of bytes) {
				waitingSince = undefined;
				size += chunk.length;
				if (size > (expected ?? Infinity)) {
					// Not retried: a wrong size stays wrong.
					throw new ServiceError(`The platform sends more than the expected ${expected} bytes`, {
						delivery: 'rejected',
						hint: 'The platform reported a wrong size, or another file is at this address. Look at the record in the platform.',
					});
				}
				yield chunk;
				waitingSince = performance.now();
			}
		} finally {
			finished.abort();
		}
		if (expected === undefined ? size > 0 : size === expected) return;
		const received = expected === undefined ? 'no bytes' : `${size} of ${expected} bytes`;
		throw new ServiceError(`Received ${received}`, {
			delivery: 'ambiguous',
			hint: 'The download was cut off, or the platform reported a wrong size. Run it again.',
		});
	}
	return newStream(pass());
}

/**
 * Reads a response as text.
 *
 * @param hangUp as for `withStallTimeout`
 * @param deadline aborted when there is no more time for it
 * @param ifTooLong what is certain about its request if it is too long
 */
export async function readText(
	bytes: ByteStream,
	hangUp: () => void,
	deadline: AbortSignal,
	ifTooLong: Delivery,
): Promise<string> {
	const response = Symbol('response');
	const stop = () => {
		bytes.destroy(deadline.reason as Error);
		hangUp();
	};
	deadline.addEventListener('abort', stop);
	if (deadline.aborted) stop();
	// Ignore errors after the reader has left.
	bytes.on('error', () => undefined);
	const chunks: Uint8Array[] = [];
	let size = 0;
	try {
		for await (const chunk of bytes) {
			size += chunk.length;
			if (size > MAX_RESPONSE_BYTES) throw tooLong(ifTooLong);
			chunks.push(chunk);
			await hold(response, size);
		}
	} finally {
		deadline.removeEventListener('abort', stop);
		bytes.destroy();
		release(response);
	}
	return new TextDecoder().decode(Buffer.concat(chunks));
}
