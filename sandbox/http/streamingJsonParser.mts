import { invalid } from '../api/errors.mts';
import type { FileStore } from '../store/fileStore.mts';
import type { FileIntake } from '../store/fileWriter.mts';

const quote = 0x22;
const backslash = 0x5c;
/** Longer strings that are data URLs go to disk instead of memory. */
const longString = 256 * 1024;
/** In JSON a slash may be escaped. */
const dataUrl = /^data:(?:[^,"\\]|\\\/){0,200};base64,/;

/**
 * Walks over JSON text and replaces the bytes of every long base64 data URL by a mark that the file
 * store knows; all else stays as it is.
 */
export class SpoolingScanner {
	readonly #files: FileStore;
	readonly #kept: Buffer[] = [];
	/** Where in `kept` the string begins that we are in, from behind its opening quote. */
	#stringStart: number | undefined;
	#stringBytes = 0;
	#escaped = false;
	/** The file that we are in. */
	#intake: FileIntake | undefined;

	constructor(files: FileStore) {
		this.#files = files;
	}

	push(chunk: Buffer): void {
		let at = 0;
		while (at < chunk.length) {
			at = this.#stringStart === undefined ? this.#outside(chunk, at) : this.#inside(chunk, at);
		}
	}

	/** The JSON text without the files. */
	finish(): Buffer {
		this.abandon();
		return Buffer.concat(this.#kept);
	}

	/** Drops a file that was cut off. */
	abandon(): void {
		this.#intake?.abandon();
		this.#intake = undefined;
	}

	#outside(chunk: Buffer, from: number): number {
		const found = chunk.indexOf(quote, from);
		const end = found === -1 ? chunk.length : found + 1;
		this.#kept.push(chunk.subarray(from, end));
		if (found !== -1) {
			this.#stringStart = this.#kept.length;
			this.#stringBytes = 0;
		}
		return end;
	}

	#inside(chunk: Buffer, from: number): number {
		const found = this.#endOfString(chunk, from);
		const end = found === -1 ? chunk.length : found;
		const part = chunk.subarray(from, end);
		if (this.#intake) this.#intake.push(base64Of(part));
		else this.#hold(part);
		if (found === -1) return end;
		if (this.#intake) this.#kept.push(Buffer.from(this.#files.end(this.#intake)));
		this.#kept.push(chunk.subarray(end, end + 1));
		this.#intake = undefined;
		this.#stringStart = undefined;
		return end + 1;
	}

	/** Keeps a part of a string, until it turns out to be a long file. */
	#hold(part: Buffer): void {
		this.#kept.push(part);
		this.#stringBytes += part.length;
		if (this.#stringBytes < longString) return;
		const text = Buffer.concat(this.#kept.slice(this.#stringStart));
		const start = dataUrl.exec(text.subarray(0, 300).toString('latin1'));
		if (!start) {
			// A long text and no file: never look again.
			this.#stringBytes = -Infinity;
			return;
		}
		this.#kept.length = this.#stringStart ?? 0;
		this.#intake = this.#files.begin();
		this.#intake.push(base64Of(text.subarray(start[0].length)));
	}

	/** Where the closing quote is, or -1 when the string goes on in the next chunk. */
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
			if (this.#intake && escape + 1 < chunk.length && chunk[escape + 1] !== 0x2f) {
				throw invalid('The body has a file that is not base64.');
			}
			at = escape + 2;
			if (at > chunk.length) {
				this.#escaped = true;
				return -1;
			}
		}
	}
}

/** Some writers of JSON escape the slash; the two may lie in different chunks. */
function base64Of(part: Buffer): string {
	return part.toString('latin1').replaceAll('\\', '');
}
