/**
 * Files in n8n's store, read and written as streams.
 */
import { sleep, type IBinaryData } from 'n8n-workflow';

import { safeFileName } from '../files/uploadValidation';
import { InputError } from '../transport/errors';
import { newStream, withErrors, type ByteStream } from '../transport/streams';
import type { ParameterLabel } from '../parameterKinds/requireValue';
import type { RunContext } from '../run/run';

export type Stored = Parameters<RunContext<never>['context']['helpers']['prepareBinaryData']>[0];

/** How long the store may wait for bytes before it gets an empty chunk that keeps it waiting. */
const IDLE_MS = 30_000;

/** How many bytes may wait for the store before the producer has to wait. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** A file that is stored while it is written. If nothing is written, nothing is stored. */
export class GrowingFile {
	private waiting: Uint8Array[] = [];
	private waitingBytes = 0;
	private isEnded = false;
	/** Wakes the writer that waits for room, or the store that waits for bytes: never both wait. */
	private wake: () => void = () => undefined;
	private storing?: Promise<IBinaryData>;
	/** Why the store rejected it. */
	failure?: InputError;

	constructor(
		private readonly run: RunContext<never>,
		private readonly name: string,
		private readonly mimetype: string,
	) {}

	/** Does nothing if the store has rejected the file. */
	async write(text: string): Promise<void> {
		if (this.failure) return;
		this.storing ??= this.store();
		const bytes = Buffer.from(text);
		this.waiting.push(bytes);
		this.waitingBytes += bytes.length;
		this.wake();
		while (this.waitingBytes > MAX_WAITING_BYTES && !this.failure) {
			await new Promise<void>((resolve) => (this.wake = resolve));
		}
	}

	/**
	 * Ends the file.
	 *
	 * @returns undefined if nothing was written
	 * @throws {InputError} if the store rejects the data
	 */
	async end(): Promise<IBinaryData | undefined> {
		this.isEnded = true;
		this.wake();
		return await this.storing;
	}

	private store(): Promise<IBinaryData> {
		const { run, name, mimetype } = this;
		const stream = newStream(this.pieces()) as unknown as Stored;
		const stored = run.context.helpers
			.prepareBinaryData(stream, name, mimetype)
			.catch(({ message }: Error) => {
				throw new InputError(`'${name}' can't be written to n8n's store: ${message}`, {
					hint: 'Make room on the disk, or raise the size limit of the store, and run it again.',
				});
			});
		// Catch it even if nobody writes any more: an unhandled rejection would end n8n's process.
		stored.catch((error: InputError) => {
			this.failure = error;
			this.wake();
		});
		return stored;
	}

	private async *pieces(): AsyncGenerator<Uint8Array> {
		while (true) {
			const piece = this.waiting.shift();
			if (piece) {
				this.waitingBytes -= piece.length;
				this.wake();
				yield piece;
			} else if (this.isEnded) return;
			else {
				const idle = new AbortController();
				const more = new Promise<void>((resolve) => (this.wake = resolve));
				await Promise.race([more, sleep(IDLE_MS, idle.signal).catch(() => undefined)]);
				idle.abort();
				// n8n's own stores abandon a stream that is silent for minutes.
				if (this.waiting.length === 0 && !this.isEnded) yield new Uint8Array(0);
			}
		}
	}
}

/**
 * Large, so that reads are few; a multiple of three, so that base64 needs no padding in between.
 */
const CHUNK_BYTES = 3 * 64 * 1024;

/** The bytes of an item's file if n8n keeps them in memory, else what opens them in its store. */
export async function contentOf(
	{ context: { helpers } }: RunContext<never>,
	index: number,
	field: string,
): Promise<Uint8Array | (() => Promise<ByteStream>)> {
	const { id } = helpers.assertBinaryData(index, field);
	if (id === undefined) return await helpers.getBinaryDataBuffer(index, field);
	return async () => (await helpers.getBinaryStream(id, CHUNK_BYTES)) as unknown as ByteStream;
}

/** The error for a file that n8n has lost. @param parameter the parameter that names the file */
export const unreadable = (name: string, { message }: Error, parameter: ParameterLabel) =>
	new InputError(`'${name}' can't be read from n8n's store: ${message}`, {
		field: parameter.label,
		hint: 'Run the node that created the file again.',
	});

/** The name of a file. @throws if the item has no such file */
export function fileNameOf(run: RunContext<never>, index: number, field: string): string {
	const { fileName, fileExtension } = run.context.helpers.assertBinaryData(index, field);
	return safeFileName(fileName ?? [field, fileExtension].filter(Boolean).join('.'));
}

/**
 * A file of an item, streamed from n8n's store, or from memory if n8n keeps it there.
 *
 * @param parameter the parameter that names the file
 * @returns functions that read its bytes, from the start each time, and that close its streams
 * @throws if the item has no such file
 */
export function openFile(
	run: RunContext<never>,
	index: number,
	field: string,
	parameter: ParameterLabel,
) {
	const name = fileNameOf(run, index, field);
	const streams: ByteStream[] = [];
	async function open() {
		const content = await contentOf(run, index, field);
		if (typeof content !== 'function') return [content];
		const stream = await content();
		// Ignore errors after the reader has left.
		stream.on('error', () => undefined);
		streams.push(stream);
		return stream;
	}
	async function* read() {
		const bytes = withErrors(open, (error) => unreadable(name, error, parameter));
		for await (const chunk of bytes) {
			// A small packed file may take long, and no request would notice the cancellation.
			const canceled = run.client.cancellation;
			if (canceled) throw canceled;
			yield chunk;
		}
	}
	return { read, close: () => streams.forEach((stream) => stream.destroy()) };
}
