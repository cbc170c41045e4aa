import { invalid } from '../api/errors.mts';
import type { FileStore } from '../store/fileStore.mts';
import type { FileWriter } from '../store/fileWriter.mts';

const quote = 0x22;
const backslash = 0x5c;
/** Data URLs from this size on are written to disk instead of memory. */
const fileThreshold = 256 * 1024;
/** JSON may escape a slash. */
const dataUrl = /^data:(?:[^,"\\]|\\\/){0,200};base64,/;

/**
 * Scans JSON text chunk by chunk. Writes every large base64 data URL to a file and replaces it with
 * a reference that the file store understands; does not change anything else.
 */
export class StreamingJsonParser {
	readonly #files: FileStore;
	readonly #output: Buffer[] = [];
	/** Index in `output` of the current string, after its opening quote. */
	#stringStart: number | undefined;
	#stringBytes = 0;
	#escaped = false;
	/** The file that the current string is written to. */
	#file: FileWriter | undefined;

	constructor(files: FileStore) {
		this.#files = files;
	}

	push(chunk: Buffer): void {
		let at = 0;
		while (at < chunk.length) {
			at =
				this.#stringStart === undefined
					? this.#readOutside(chunk, at)
					: this.#readString(chunk, at);
		}
	}

	/** The JSON text without the files. */
	finish(): Buffer {
		this.discard();
		return Buffer.concat(this.#output);
	}

	/** Deletes an incomplete file. */
	discard(): void {
		this.#file?.discard();
		this.#file = undefined;
	}

	#readOutside(chunk: Buffer, from: number): number {
		const found = chunk.indexOf(quote, from);
		const end = found === -1 ? chunk.length : found + 1;
		this.#output.push(chunk.subarray(from, end));
		if (found !== -1) {
			this.#stringStart = this.#output.length;
			this.#stringBytes = 0;
		}
		return end;
	}

	#readString(chunk: Buffer, from: number): number {
		const found = this.#endOfString(chunk, from);
		const end = found === -1 ? chunk.length : found;
		const part = chunk.subarray(from, end);
		if (this.#file) this.#file.writeBase64(base64Of(part));
		else this.#buffer(part);
		if (found === -1) return end;
		if (this.#file) this.#output.push(Buffer.from(this.#files.closeWriter(this.#file)));
		this.#output.push(chunk.subarray(end, end + 1));
		this.#file = undefined;
		this.#stringStart = undefined;
		return end + 1;
	}

	/** Buffers a part of a string until it turns out to be a large file. */
	#buffer(part: Buffer): void {
		this.#output.push(part);
		this.#stringBytes += part.length;
		if (this.#stringBytes < fileThreshold) return;
		const text = Buffer.concat(this.#output.slice(this.#stringStart));
		const start = dataUrl.exec(text.subarray(0, 300).toString('latin1'));
		if (!start) {
			// A long text that is not a file: not checked again.
			this.#stringBytes = -Infinity;
			return;
		}
		this.#output.length = this.#stringStart ?? 0;
		this.#file = this.#files.openWriter();
		this.#file.writeBase64(base64Of(text.subarray(start[0].length)));
	}

	/** Index of the closing quote, or -1 if the string continues in the next chunk. */
	#endOfString(chunk: Buffer, from: number): number {
		let at = from;
		if (this.#escaped) {
			this.#escaped = false;
			at += 1;
		}
		for (;;) {
			const end = chunk.indexOf(quote, at);
			const escape = chunk.indexOf(backslash, at);
			if (escape === -1 || (end !== -1 && end < escape)) return end;
			if (this.#file && escape + 1 < chunk.length && chunk[escape + 1] !== 0x2f) {
				throw invalid('The request body contains a file that is not base64.');
			}
			at = escape + 2;
			if (at > chunk.length) {
				this.#escaped = true;
				return -1;
			}
		}
	}
}

/** Removes the backslashes of escaped slashes; the two characters may be in different chunks. */
function base64Of(part: Buffer): string {
	return part.toString('latin1').replaceAll('\\', '');
}
