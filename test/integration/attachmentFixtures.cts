/**
 * A sandbox with tables that hold files, items with files in n8n's store, and the node in between.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { runOperation, picked, type OperationRun, type RunResult } from '../support/engine/engine.cts';
import { Container } from '@n8n/di';
import { BinaryDataConfig, BinaryDataService } from 'n8n-core';
import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { RunningSandbox } from '../../harness/sandboxProcess.mts';
import { onVirtualClock } from '../property/matrix/virtualClock.mts';
import { sharedSandbox } from '../support/sharedSandbox.mts';

const APP = 'shop';

/** The node's timeout, if the user sets none. */
const TIMEOUT_S = 30;

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

export interface Run extends Omit<OperationRun, 'parameters' | 'items'> {
	table?: string;
	parameters?: object;
	options?: IDataObject;
	token?: string;
	accessType?: string;
}

/** n8n's store of files, in its folder. */
async function openFileStore() {
	Container.get(BinaryDataConfig).mode = 'filesystem';
	await Container.get(BinaryDataService).init();
}

/** For items with files. */
export const useFileStore = () => beforeAll(openFileStore);

export class AttachmentHarness {
	private started?: RunningSandbox;
	/** A document that has only a title. */
	id = '';

	get sandbox(): RunningSandbox {
		if (!this.started) throw new Error('The sandbox has not been started yet');
		return this.started;
	}

	async start() {
		await openFileStore();
		this.started = await sharedSandbox();
	}

	async reset() {
		const { admin } = this.sandbox;
		await admin.reset();
		const records = [{ fields: { number: '1', title: 'First' } }];
		await admin.createTable({ app: APP, table: docs, records });
		await admin.createTable({ app: APP, table: receipts });
		this.id = (await this.records())[0]!.id;
		await admin.clearRequests();
	}

	/** Runs an attachment operation on the document, or as the parameters say. */
	async run(operation: string, given: Run = {}): Promise<RunResult> {
		const { table = 'docs', parameters = {}, options = {}, token, accessType, ...rest } = given;
		const credential = { baseUrl: this.sandbox.baseUrl, token: token ?? this.sandbox.tokens.role, accessType };
		const place = { application: picked(APP), table: picked(table), recordId: picked(this.id), fileField: 'papers' };
		const run = { ...rest, parameters: { resource: 'attachment', operation, ...place, options, ...parameters } };
		return await onVirtualClock(TIMEOUT_S, async () => await runOperation(credential, run));
	}

	/**
	 * Uploads files into a field of the document with the node. Returns the files in it afterwards.
	 */
	async upload(files: IBinaryData[], run: Run = {}): Promise<RunResult> {
		const binary = Object.fromEntries(files.map((file, index) => [`file${index}`, file]));
		const parameters = { inputDataFieldName: '', ...run.parameters };
		return await this.run('upload', { input: [{ json: {}, binary }], ...run, parameters });
	}

	records(table = 'docs') {
		return this.sandbox.admin.records(APP, table);
	}

	/** A field of the document in the sandbox's database. */
	async files(field = 'papers', id = this.id): Promise<StoredFile[]> {
		const record = (await this.records()).find((entry) => entry.id === id);
		return (record?.fields[field] ?? []) as StoredFile[];
	}

	async names(field = 'papers'): Promise<string[]> {
		return (await this.files(field)).map(({ fileName }) => fileName);
	}

	/** A stored file's bytes, fetched by an independent client. */
	async bytes({ fileId }: StoredFile): Promise<Buffer> {
		const path = `/apps/${APP}/tables/docs/files/${fileId}`;
		const response = await this.sandbox.client().get(path, { responseType: 'arraybuffer' });
		if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
		return Buffer.from(response.data as ArrayBuffer);
	}

	/** The requests that write, in order. */
	async writes() {
		return (await this.sandbox.admin.requests()).filter(({ method }) => method !== 'GET');
	}

	/** The requests for bytes. */
	async downloads() {
		return (await this.sandbox.admin.requests()).filter(({ path }) => path.includes('/files/'));
	}
}

/** One harness per test file, reset before each test. */
export function useAttachmentHarness(): AttachmentHarness {
	const harness = new AttachmentHarness();
	beforeAll(async () => await harness.start());
	beforeEach(async () => await harness.reset());
	return harness;
}

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
