import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { onlyProperties, quote, ValueProblem } from '../fields/codec.mts';
import type { Field, JsonObject, Table } from '../state/model.mts';
import { tooLarge } from '../api/errors.mts';
import type { Collection } from './collection.mts';
import { FileIntake } from './fileWriter.mts';

/** What is known about a file; its bytes lie under their hash. */
export interface StoredFile {
	id: string;
	tableId: string;
	hash: string;
	name: string;
	size: number;
	mimetype: string;
	/** Whether it lies in a picture field and has a thumbnail. */
	picture: boolean;
}

const dataUrl = /^data:[^,]{0,200};base64,/;
/** How a file's name begins while its bytes come in. */
const incoming = 'incoming-';
const pictureExtensions = ['avif', 'jpg', 'png', 'jfif', 'bmp', 'ico', 'svg', 'webp', 'heic'];

/** The bytes of attachments, on disk by content; contract.md, "Attachments". */
export class FileStore {
	readonly #folder: string;
	readonly #temporary: boolean;
	readonly #known: Collection<StoredFile>;
	/** Bytes that are here before the record that will hold them. */
	readonly #spooled = new Map<string, { hash: string; size: number }>();
	/** Set by the settings; null is no limit. */
	maxBytes: number | null = null;

	/** Beside the database's file, or in a temporary folder when it lives in memory. */
	constructor(databaseFile: string, known: Collection<StoredFile>) {
		this.#temporary = databaseFile === ':memory:';
		this.#folder = this.#temporary
			? join(tmpdir(), `sandbox-files-${randomUUID()}`)
			: `${databaseFile}-files`;
		this.#known = known;
		this.#dropHalves();
	}

	/** What a killed sandbox was taking in. */
	#dropHalves(): void {
		if (!existsSync(this.#folder)) return;
		for (const name of readdirSync(this.#folder)) {
			if (name.startsWith(incoming)) rmSync(join(this.#folder, name), { force: true });
		}
	}

	/** Stores one `{filename, mimetype, filedata}`. Throws a ValueProblem or a Problem (413). */
	keep(table: Table, field: Field, input: JsonObject): JsonObject {
		onlyProperties(input, ['filename', 'mimetype', 'filedata']);
		const { filename, mimetype, filedata } = input;
		if (typeof filename !== 'string' || filename === '') {
			throw new ValueProblem('needs a filename with every file');
		}
		if (typeof mimetype !== 'string' || mimetype === '') {
			throw new ValueProblem('needs a mimetype with every file');
		}
		if (field.type === 'picture') demandPicture(filename);
		const { hash, size } = this.#taken(filedata);
		if (this.maxBytes !== null && size > this.maxBytes) {
			throw tooLarge(`The file '${filename}' is larger than ${this.maxBytes} bytes.`);
		}
		const id = randomUUID();
		const picture = field.type === 'picture';
		this.#known.put({ id, tableId: table.id, hash, name: filename, size, mimetype, picture });
		return { fileId: id, fileName: filename, fileSize: size, mimetype };
	}

	/** Begins a file whose bytes come piece by piece. */
	begin(): FileIntake {
		// Not before there is a file: most sandboxes never see one.
		mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
		return new FileIntake(join(this.#folder, `${incoming}${randomUUID()}`));
	}

	/** Ends it. Returns what stands for its bytes in a record's `filedata`. */
	end(intake: FileIntake): string {
		const mark = `spooled:${randomUUID()}`;
		const taken = intake.finish();
		if (taken) {
			renameSync(intake.path, this.path(taken.hash));
			this.#spooled.set(mark, taken);
		} else rmSync(intake.path);
		return mark;
	}

	get(id: string): StoredFile | undefined {
		return this.#known.get(id);
	}

	/** All that was ever put into a table; records may have let go of some. */
	ofTable(tableId: string): StoredFile[] {
		return this.#known.all().filter((file) => file.tableId === tableId);
	}

	path(hash: string): string {
		return join(this.#folder, hash);
	}

	#taken(filedata: unknown): { hash: string; size: number } {
		let mark = typeof filedata === 'string' ? filedata : '';
		const start = dataUrl.exec(mark);
		if (start) {
			const intake = this.begin();
			intake.push(mark.slice(start[0].length));
			mark = this.end(intake);
		}
		const taken = this.#spooled.get(mark);
		if (!taken) throw new ValueProblem('needs filedata as a data URL in base64');
		this.#spooled.delete(mark);
		return taken;
	}

	clear(): void {
		this.#known.clear();
		this.#spooled.clear();
		rmSync(this.#folder, { recursive: true, force: true });
	}

	close(): void {
		if (this.#temporary) rmSync(this.#folder, { recursive: true, force: true });
	}
}

function demandPicture(filename: string): void {
	const extension = extname(filename).slice(1).toLowerCase();
	if (pictureExtensions.includes(extension) || extension === 'jpeg') return;
	throw new ValueProblem(
		`takes pictures (${pictureExtensions.join(', ')}), not ${quote(filename)}`,
	);
}
