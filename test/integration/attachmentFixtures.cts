/**
 * A sandbox with tables that hold files, items with files in n8n's store, and the node in between.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { runOperation, picked, type RunResult } from '../support/engine/engine.cts';
import { Container } from '@n8n/di';
import { BinaryDataConfig, BinaryDataService } from 'n8n-core';
import type { IBinaryData, INodeExecutionData } from 'n8n-workflow';
import { APP, TestHarness, useReset, withoutWaits, type Run } from './fixtures.cts';

const docs = {
	internalName: 'docs',
	header: 'Documents',
	fields: [
		{ name: 'number', type: 'text', metadata: { importKey: true } },
		{ name: 'title', type: 'text', metadata: { required: true } },
		{ name: 'papers', type: 'file' },
		{ name: 'scans', type: 'file' },
		{ name: 'photo', type: 'picture' },
	],
};

const receipts = {
	internalName: 'receipts',
	header: 'Receipts',
	fields: [
		{ name: 'shop', type: 'text', metadata: { required: true } },
		{ name: 'image', type: 'file', metadata: { required: true } },
	],
};

export interface StoredFile {
	fileId: string;
	fileName: string;
	fileSize: number;
	mimetype: string;
	fileUrl: string;
}

/** n8n's store of files, in its folder. */
async function openFileStore() {
	Container.get(BinaryDataConfig).mode = 'filesystem';
	await Container.get(BinaryDataService).init();
}

/** For items with files. */
export const useFileStore = () => beforeAll(openFileStore);

/** Documents and receipts, which have files. */
class AttachmentHarness extends TestHarness {
	/** A document that has only a title. */
	id = '';

	override async start() {
		await openFileStore();
		await super.start();
	}

	override async reset() {
		await super.reset();
		await this.store(receipts);
		const [document] = await this.createTable(docs, [{ number: '1', title: 'First' }]);
		this.id = document!.id;
	}

	/** Runs an attachment operation on the document, or as the parameters say. */
	override async run(operation: string, run: Run = {}): Promise<RunResult> {
		const { table = 'docs', parameters, options = {}, credential } = run;
		const place = { application: picked(APP), table: picked(table), recordId: picked(this.id), fileField: 'papers' };
		const all = { resource: 'attachment', operation, ...place, options, ...parameters };
		return await withoutWaits(async () => await runOperation({ ...this.credential, ...credential }, { ...run, parameters: all }));
	}

	/** Uploads files into a field of the document with the node. */
	async upload(files: IBinaryData[], run: Run = {}): Promise<RunResult> {
		const binary = Object.fromEntries(files.map((file, index) => [`file${index}`, file]));
		const parameters = { inputDataFieldName: '', ...run.parameters };
		return await this.run('upload', { input: [{ json: {}, binary }], ...run, parameters });
	}

	/** A field of a document in the sandbox's database. */
	async files(field = 'papers', id = this.id): Promise<StoredFile[]> {
		const record = (await this.records()).find((entry) => entry.id === id);
		return (record?.fields[field] ?? []) as StoredFile[];
	}

	/** The names of the files in a field of a document. */
	async names(field?: string, id?: string): Promise<string[]> {
		return (await this.files(field, id)).map(({ fileName }) => fileName);
	}

	/** A stored file's bytes, fetched by an independent client. */
	async bytes({ fileId }: StoredFile): Promise<Buffer> {
		const path = `/apps/${APP}/tables/docs/files/${fileId}`;
		const response = await this.sandbox.client().get(path, { responseType: 'arraybuffer' });
		if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
		return Buffer.from(response.data as ArrayBuffer);
	}

	/** The requests for bytes. */
	async downloads() {
		return (await this.requests()).filter(({ path }) => path.includes('/files/'));
	}
}

/** One harness per test file, reset before each test. */
export const useAttachmentHarness = () => useReset(new AttachmentHarness({ application: APP, table: 'docs' }));

/** A file in n8n's store, as a previous node leaves it. */
export async function stored(
	name: string | undefined,
	bytes: Buffer | string,
	mimeType = 'application/octet-stream',
): Promise<IBinaryData> {
	const location = { type: 'execution' as const, workflowId: 'workflow', executionId: 'earlier' };
	const data = { fileName: name, mimeType, data: '' };
	return await Container.get(BinaryDataService).store(location, Buffer.from(bytes), data);
}

/** A file as items carry it if n8n keeps files in memory. */
export const inMemory = (name: string, bytes: Buffer | string, mimeType = 'text/plain') => ({
	fileName: name,
	mimeType,
	data: Buffer.from(bytes).toString('base64'),
});

/** The input of one item with a file in n8n's store. */
export const itemWithFile = async (name: string, bytes: Buffer | string, mimeType = 'text/csv'): Promise<INodeExecutionData[]> => [
	{ json: {}, binary: { data: await stored(name, bytes, mimeType) } },
];

/** The bytes of an item's file. */
export async function read(item: INodeExecutionData | undefined, name = 'data'): Promise<Buffer> {
	return await Container.get(BinaryDataService).getAsBuffer(item!.binary![name]!);
}

export const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** How many files of n8n's store this process has open. */
export const openFiles = () =>
	readdirSync('/proc/self/fd').filter((descriptor) => {
		try {
			return readlinkSync(`/proc/self/fd/${descriptor}`).includes('/binary_data/');
		} catch {
			return false;
		}
	}).length;
