/** Ours: files of rows and attachments, through n8n's binary store in the file system. */
import { createRequire } from 'node:module';
import type { IBinaryData, IDataObject, INodeParameters } from 'n8n-workflow';
import type * as Core from 'n8n-core';
import { picked } from '../../test/support/engine/outsideJest.mts';
import { FILE_LOCATION, type AttachmentTask } from '../fileTable.mts';
import { recordOperation, runNode, type Target } from './engine.mts';
import { serveTasks } from './workerProcess.mts';

export interface FileTasks {
	/** Imports a CSV file. */
	importFile: Target & { path: string; options?: INodeParameters };
	/** Exports the table as CSV. */
	exportFile: Target;
	upload: AttachmentTask;
	download: AttachmentTask;
}

const require = createRequire(import.meta.url);

/** Puts files into n8n's binary store. */
async function openStore() {
	const { Container } = require('@n8n/di') as { Container: { get<T>(type: unknown): T } };
	const { BinaryDataConfig, BinaryDataService } = require('n8n-core') as typeof Core;
	Container.get<{ mode: string }>(BinaryDataConfig).mode = 'filesystem';
	const store = Container.get<InstanceType<typeof BinaryDataService>>(BinaryDataService);
	await store.init();
	const location = { type: 'execution' as const, workflowId: 'bench', executionId: '1' };
	return async (path: string, mimeType: string) => {
		const file: IBinaryData = { fileName: 'file', mimeType, data: '' };
		return await store.copyBinaryFile(location, file, path);
	};
}

/** Runs an operation on one item, with a file if it takes one. */
async function run(target: Target, parameters: INodeParameters, data?: IBinaryData) {
	const input = [{ json: {}, ...(data && { binary: { data } }) }];
	const { json, binary } = (await runNode(target, parameters, input)).items[0]!;
	if (json.error !== undefined) throw new Error(`${String(json.error)} ${String(json.message)}`);
	return { json: json as IDataObject, bytes: binary?.data?.bytes };
}

const onAttachment = (
	operation: string,
	{ record }: AttachmentTask,
	options: INodeParameters = {},
): INodeParameters => ({
	resource: 'attachment',
	operation,
	application: picked(FILE_LOCATION.app),
	table: picked(FILE_LOCATION.table),
	recordId: picked(record),
	fileField: FILE_LOCATION.field,
	...(operation === 'upload' && { existingFiles: 'replace', inputDataFieldName: 'data' }),
	options,
});

serveTasks<FileTasks>({
	async importFile({ path, options = {}, ...target }) {
		const data = await (await openStore())(path, 'text/csv');
		return async () =>
			(await run(target, recordOperation('importFromFile', { options }), data)).json;
	},

	async exportFile(target) {
		await openStore();
		return async () => {
			const { json, bytes } = await run(target, recordOperation('exportToFile'));
			return { ...json, bytes };
		};
	},

	async upload(task) {
		const store = await openStore();
		const parameters = onAttachment('upload', task);
		// Code loaded at the first use must not count, so a small file (this one) goes first.
		await run(task, parameters, await store(import.meta.filename, 'text/plain'));
		const data = await store(task.path, 'application/octet-stream');
		return async () => void (await run(task, parameters, data));
	},

	async download(task) {
		await openStore();
		await run(task, onAttachment('download', task, { thumbnails: true })).catch(() => undefined);
		return async () => {
			const { bytes } = await run(task, onAttachment('download', task));
			if (bytes !== task.bytes) throw new Error('The file is incomplete.');
		};
	},
});
