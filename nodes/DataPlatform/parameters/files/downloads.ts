/**
 * Files to download together with the records that are read.
 */
import type { IDataObject } from 'n8n-workflow';

import type { RecordQuery } from '../../api/pages';
import type { Attachment, PlatformRecord, TableAddress } from '../../api/types';
import { downloadInto, PARALLEL_DOWNLOADS } from '../../input/downloadInto';
import { FailedOutput, withFiles, type ItemOutput } from '../../run/operation';
import type { Entry, NameOf } from '../../parameterKinds/parameter';
import { list, text, wholeNumber } from '../../parameterKinds/kinds';
import type { RunContext } from '../../run/run';
import { filesIn, filesOf } from '../../files/transfer';
import { fileField } from '../../files/uploadValidation';
import { forEachConcurrent } from '../../transport/concurrency';
import { ServiceError } from '../../transport/errors';
import { getOwn } from '../../transport/json';
import { MIB, streamOf, type ByteStream } from '../../transport/streams';
import { tableChoices, tableOf, type TableParameter } from '../select/table';

const fileFields = tableChoices('fileFields', {
	label: 'File Field Names or IDs',
	list: 'getFileFields',
	required: true,
	about: 'The picture and file fields',
});

const maxFiles = wholeNumber('maxFiles', {
	label: 'Max Files',
	min: 1,
	preset: 100,
	description:
		'Max number of files that one run of the node downloads. If there are more, the item fails, and nothing is downloaded for it.',
});

const maxTotalSizeMiB = wholeNumber('maxTotalSizeMiB', {
	label: 'Max Total Size (MiB)',
	min: 1,
	preset: 250,
	description:
		'Max size of all files that one run of the node downloads. If they are larger, the item fails, and nothing is downloaded for it.',
});

// Labels are cut here earlier than outside of options.
const outputName = text('outputField', {
	label: 'Output Field',
	required: true,
	preset: 'data',
	description:
		'The name of the output field for the first file of a record. More files get the same name with _1, _2 and so on.',
});

const parts = [fileFields, maxFiles, maxTotalSizeMiB, outputName];

type Part = NameOf<typeof parts>;

export const downloadFiles = list('downloadFiles', {
	label: 'Download Files',
	add: 'Add Files',
	entry: ['files', 'Files'],
	isSingle: true,
	isOpen: true,
	hide: { '@tool': [true] },
	description: 'Put the files of picture and file fields beside each record',
	parts,
});

const RAISE_MAXIMUM = `Read fewer records, or raise the maximum under ${downloadFiles} in the options.`;

const inMiB = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`;

const sizeOf = ({ fileSize = 0 }: Attachment) => Math.max(0, fileSize);

/** The files of the records that are read for one item. */
class Downloads {
	private readonly fields: string[];
	/** Fields that are read for their files only. */
	private readonly hidden: string[];
	private readonly maxFiles: number;
	private readonly maxBytes: number;
	private readonly outputName: string;
	/** What the run downloads, for all items. */
	private readonly total: { files: number; bytes: number };
	/** How much of a file counts: what its record states, or more if an attempt received more. */
	private readonly counted = new Map<Attachment, number>();
	/** The records with nothing but their files. */
	private readonly records: PlatformRecord[] = [];

	constructor(
		private readonly run: RunContext<never>,
		private readonly address: TableAddress,
		entry: Entry<Part>,
		private readonly chosen: RecordQuery,
	) {
		const { fields = [] } = chosen;
		this.fields = [...new Set(fileFields.in(entry, downloadFiles))];
		this.hidden = fields.length > 0 ? this.fields.filter((name) => !fields.includes(name)) : [];
		this.maxFiles = maxFiles.in(entry, downloadFiles);
		this.maxBytes = maxTotalSizeMiB.in(entry, downloadFiles) * MIB;
		this.outputName = outputName.in(entry, downloadFiles);
		this.total = run.once('downloads', () => ({ files: 0, bytes: 0 }));
	}

	/** @throws {InputError} if a field holds no files */
	async check(): Promise<this> {
		const table = await this.run.definition(this.address);
		for (const name of this.fields) fileField(table, name);
		return this;
	}

	/** The chosen query, with the fields that hold the files. */
	get query(): RecordQuery {
		return { ...this.chosen, fields: [...(this.chosen.fields ?? []), ...this.hidden] };
	}

	/** Keeps the files of a record. Returns the record with the chosen fields. */
	take(record: PlatformRecord): PlatformRecord {
		const files = this.fields.map((name) => [name, getOwn(record.fields, name) ?? null] as const);
		this.records.push({ id: record.id, fields: Object.fromEntries(files) });
		if (this.hidden.length === 0) return record;
		const shown = Object.entries(record.fields).filter(([name]) => !this.hidden.includes(name));
		return { ...record, fields: Object.fromEntries(shown) };
	}

	/**
	 * Downloads the files, each to the output of its record. If that fails for a record and the node
	 * continues on errors, the record fails by itself.
	 *
	 * @throws {InputError} if a maximum is exceeded: then nothing is downloaded
	 */
	async addTo(outputs: IDataObject[]): Promise<ItemOutput> {
		this.reserve();
		const watch = this.limited.bind(this);
		const done: ItemOutput & unknown[] = [...outputs];
		await forEachConcurrent(this.records.entries(), PARALLEL_DOWNLOADS, async ([at, record]) => {
			try {
				const files = this.fields.flatMap((field) => filesIn(record, field));
				if (files.length === 0) return;
				const name = this.outputName;
				const binary = await downloadInto(this.run, this.address, files, name, { watch });
				done[at] = withFiles(outputs[at]!, binary);
			} catch (error) {
				const failure = ofRecord(error, record.id);
				if (!this.run.context.continueOnFail()) throw failure;
				done[at] = new FailedOutput(failure, { id: record.id });
			}
		});
		return done;
	}

	private reserve() {
		const files = this.records.flatMap((record) =>
			this.fields.flatMap((field) => filesOf(record, field)),
		);
		const count = this.total.files + files.length;
		const bytes = files.reduce((sum, file) => sum + sizeOf(file), this.total.bytes);
		const tooMuch = (what: string) =>
			downloadFiles.error(
				`This run would download ${what}. Nothing was downloaded for this item`,
				RAISE_MAXIMUM,
			);
		if (count > this.maxFiles) {
			throw tooMuch(`${count} files, more than the ${this.maxFiles} of ${maxFiles}`);
		}
		if (bytes > this.maxBytes) {
			throw tooMuch(`${inMiB(bytes)} in ${count} files, more than ${this.allowed}`);
		}
		Object.assign(this.total, { files: count, bytes });
	}

	private get allowed(): string {
		return `the ${inMiB(this.maxBytes)} of ${maxTotalSizeMiB}`;
	}

	/** Stops a file whose record states no size, or too small a one, at the maximum. */
	private limited(bytes: ByteStream, file: Attachment): ByteStream {
		const { total, counted, maxBytes, allowed } = this;
		async function* pass() {
			let received = 0;
			for await (const chunk of bytes) {
				received += chunk.length;
				const before = counted.get(file) ?? sizeOf(file);
				total.bytes += Math.max(0, received - before);
				counted.set(file, Math.max(received, before));
				if (total.bytes > maxBytes) {
					throw new ServiceError(`This run would download more than ${allowed}`, {
						delivery: 'rejected',
						hint: RAISE_MAXIMUM,
					});
				}
				yield chunk;
			}
		}
		return streamOf(pass(), bytes);
	}
}

function ofRecord(error: unknown, id: string): unknown {
	if (!(error instanceof ServiceError)) return error;
	return new ServiceError(`Record '${id}': ${error.message}`, { ...error });
}

/**
 * The files to download with the records of a query; undefined if none are. n8n silently drops files
 * that a tool returns to an agent.
 *
 * @throws {InputError} if no field is chosen, or one holds no files
 */
export async function downloadsOf(
	run: RunContext<TableParameter | NameOf<typeof downloadFiles>>,
	index: number,
	query: RecordQuery,
): Promise<Downloads | undefined> {
	// If it is not set, its value is the preset, which has an entry.
	if (run.isTool || run.raw(downloadFiles) === null) return undefined;
	const [entry = {} as Entry<Part>] = downloadFiles.of(run, index);
	return await new Downloads(run, tableOf(run, index), entry, query).check();
}
