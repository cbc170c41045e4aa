import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { requireOnly, quote, ValueError } from '../fields/codec.mts';
import type { Field, JsonObject, Table } from '../state/model.mts';
import { tooLarge } from '../api/errors.mts';
import type { Collection } from './collection.mts';
import { FileWriter } from './fileWriter.mts';

/** A file's metadata; its bytes are stored by their hash. */
export interface StoredFile {
	id: string;
	tableId: string;
	hash: string;
	name: string;
	size: number;
	mimetype: string;
	/** Whether it belongs to a picture field, so that it has a thumbnail. */
	picture: boolean;
}

const dataUrl = /^data:[^,]{0,200};base64,/;
/** Prefix of a file's name while it is being written. */
const incomingPrefix = 'incoming-';
/** 50 MB. */
const documentedMaxBytes = 50_000_000;
const pictureExtensions = ['avif', 'jpg', 'png', 'jfif', 'bmp', 'ico', 'svg', 'webp', 'heic'];

/** Attachments: metadata in the database, bytes on disk, once for each content. */
export class FileStore {
	readonly #folder: string;
	readonly #temporary: boolean;
	readonly #files: Collection<StoredFile>;
	/** Files that are written, but not yet part of a record; by reference. */
	readonly #unclaimed = new Map<string, { hash: string; size: number }>();
	/** Set by the settings; null for no limit. */
	maxBytes: number | null = null;
	/** Set by the settings: whether size and format are as documented. */
	isLimited: () => boolean = () => true;

	/** Next to the database's file, or in a temporary folder if the database is in memory. */
	constructor(databaseFile: string, files: Collection<StoredFile>) {
		this.#temporary = databaseFile === ':memory:';
		this.#folder = this.#temporary
			? join(tmpdir(), `sandbox-files-${randomUUID()}`)
			: `${databaseFile}-files`;
		this.#files = files;
		this.#removeIncomplete();
	}

	/** Deletes files that a killed sandbox was writing. */
	#removeIncomplete(): void {
		if (!existsSync(this.#folder)) return;
		for (const name of readdirSync(this.#folder)) {
			if (name.startsWith(incomingPrefix)) rmSync(join(this.#folder, name), { force: true });
		}
	}

	/** Stores one `{filename, mimetype, filedata}`. Throws a ValueError or an ApiError (413). */
	add(table: Table, field: Field, input: JsonObject): JsonObject {
		requireOnly(input, ['filename', 'mimetype', 'filedata']);
		const { filename, mimetype, filedata } = input;
		if (typeof filename !== 'string' || filename === '') {
			throw new ValueError('needs a filename with every file');
		}
		if (typeof mimetype !== 'string' || mimetype === '') {
			throw new ValueError('needs a mimetype with every file');
		}
		if (field.type === 'picture' && !isPicture(filename) && this.isLimited()) {
			throw new ValueError(
				`accepts pictures (${pictureExtensions.join(', ')}), not ${quote(filename)}`,
			);
		}
		const { hash, size } = this.#claim(filedata);
		if (this.maxBytes !== null && size > this.maxBytes) {
			throw tooLarge(`The file '${filename}' is larger than ${this.maxBytes} bytes.`);
		}
		if (size > documentedMaxBytes && this.isLimited()) {
			throw new ValueError(`accepts files up to 50 MB, not ${quote(filename)}`);
		}
		const id = randomUUID();
		const picture = field.type === 'picture';
		this.#files.put({ id, tableId: table.id, hash, name: filename, size, mimetype, picture });
		return { fileId: id, fileName: filename, fileSize: size, mimetype };
	}

	/** Begins to write a file chunk by chunk. */
	openWriter(): FileWriter {
		// Created for the first file only: most sandboxes never store one.
		mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
		return new FileWriter(join(this.#folder, `${incomingPrefix}${randomUUID()}`));
	}

	/** Finishes a file. Returns the reference that replaces its data in `filedata`. */
	closeWriter(writer: FileWriter): string {
		const reference = `stored:${randomUUID()}`;
		const written = writer.finish();
		if (written) {
			renameSync(writer.path, this.path(written.hash));
			this.#unclaimed.set(reference, written);
		} else rmSync(writer.path);
		return reference;
	}

	get(id: string): StoredFile | undefined {
		return this.#files.get(id);
	}

	/** All files ever stored for a table; records may not refer to all of them any more. */
	ofTable(tableId: string): StoredFile[] {
		return this.#files.all().filter((file) => file.tableId === tableId);
	}

	path(hash: string): string {
		return join(this.#folder, hash);
	}

	#claim(filedata: unknown): { hash: string; size: number } {
		let reference = typeof filedata === 'string' ? filedata : '';
		const start = dataUrl.exec(reference);
		if (start) {
			const writer = this.openWriter();
			writer.writeBase64(reference.slice(start[0].length));
			reference = this.closeWriter(writer);
		}
		const taken = this.#unclaimed.get(reference);
		if (!taken) throw new ValueError('needs filedata as a data URL in base64');
		this.#unclaimed.delete(reference);
		return taken;
	}

	clear(): void {
		this.#files.clear();
		this.#unclaimed.clear();
		rmSync(this.#folder, { recursive: true, force: true });
	}

	close(): void {
		if (this.#temporary) rmSync(this.#folder, { recursive: true, force: true });
	}
}

function isPicture(filename: string): boolean {
	const extension = extname(filename).slice(1).toLowerCase();
	return pictureExtensions.includes(extension) || extension === 'jpeg';
}
