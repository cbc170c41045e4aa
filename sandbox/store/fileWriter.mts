import { createHash } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';

/** A file on its way in: decoded piece by piece, hashed, and on disk when it ends. */
export class FileIntake {
	readonly path: string;
	readonly #file: number;
	readonly #hash = createHash('sha256');
	#isOpen = true;
	#rest = '';
	#size = 0;
	/** How large it must be if all of the text was base64. */
	#sound = 0;

	constructor(path: string) {
		this.path = path;
		this.#file = openSync(path, 'wx');
	}

	/** Takes the next characters of the base64 text. */
	push(text: string): void {
		const whole = this.#rest + text;
		const usable = whole.length - (whole.length % 4);
		this.#rest = whole.slice(usable);
		this.#decode(whole.slice(0, usable));
	}

	/** Undefined when the text was no base64. */
	finish(): { hash: string; size: number } | undefined {
		this.#decode(this.#rest);
		this.#close();
		const isSound = this.#size === Math.floor(this.#sound);
		return isSound ? { hash: this.#hash.digest('hex'), size: this.#size } : undefined;
	}

	abandon(): void {
		this.#close();
		rmSync(this.path, { force: true });
	}

	/** Takes the next bytes, where they do not come as base64. */
	pushBytes(bytes: Buffer): void {
		this.#write(bytes);
		this.#sound += bytes.length;
	}

	/** Once: the number of a closed file may be another file's by now. */
	#close(): void {
		if (this.#isOpen) closeSync(this.#file);
		this.#isOpen = false;
	}

	#decode(text: string): void {
		const bytes = Buffer.from(text, 'base64');
		this.#sound += (text.replace(/=+$/, '').length * 3) / 4;
		this.#write(bytes);
	}

	#write(bytes: Buffer): void {
		this.#size += bytes.length;
		this.#hash.update(bytes);
		writeSync(this.#file, bytes);
	}
}
