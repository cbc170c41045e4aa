import { createHash } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';

/** Writes a file chunk by chunk: decodes base64, computes the hash and the size. */
export class FileWriter {
	readonly path: string;
	readonly #file: number;
	readonly #hash = createHash('sha256');
	#isOpen = true;
	#remainder = '';
	#size = 0;
	/** The size, if all of the text was base64. */
	#expectedSize = 0;

	constructor(path: string) {
		this.path = path;
		this.#file = openSync(path, 'wx');
	}

	/** Appends base64 text. */
	writeBase64(text: string): void {
		const joined = this.#remainder + text;
		const usable = joined.length - (joined.length % 4);
		this.#remainder = joined.slice(usable);
		this.#decode(joined.slice(0, usable));
	}

	/** Closes the file. Undefined if the text was not base64. */
	finish(): { hash: string; size: number } | undefined {
		this.#decode(this.#remainder);
		this.#close();
		const isSound = this.#size === Math.floor(this.#expectedSize);
		return isSound ? { hash: this.#hash.digest('hex'), size: this.#size } : undefined;
	}

	discard(): void {
		this.#close();
		rmSync(this.path, { force: true });
	}

	/** Appends bytes. */
	write(bytes: Buffer): void {
		this.#write(bytes);
		this.#expectedSize += bytes.length;
	}

	/** Only once: another file may get the descriptor of a closed file. */
	#close(): void {
		if (this.#isOpen) closeSync(this.#file);
		this.#isOpen = false;
	}

	#decode(text: string): void {
		const bytes = Buffer.from(text, 'base64');
		this.#expectedSize += (text.replace(/=+$/, '').length * 3) / 4;
		this.#write(bytes);
	}

	#write(bytes: Buffer): void {
		this.#size += bytes.length;
		this.#hash.update(bytes);
		writeSync(this.#file, bytes);
	}
}
