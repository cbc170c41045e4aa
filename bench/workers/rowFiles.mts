/** Ours: files of rows, through n8n's binary store in the file system. */
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import type { IBinaryData, IDataObject, INodeParameters } from 'n8n-workflow';
import type * as Core from 'n8n-core';
import { runNode, tableParameters, type Target } from './engine.mts';
import { serveTasks } from './workerProcess.mts';

export interface RowFileTasks {
	/** Imports a CSV file. */
	importFile: Target & { path: string; options?: INodeParameters };
	/** Exports the table as CSV. */
	exportFile: Target;
}

const require = createRequire(import.meta.url);

async function binaryStore() {
	const { Container } = require('@n8n/di') as { Container: { get<T>(type: unknown): T } };
	const { BinaryDataConfig, BinaryDataService } = require('n8n-core') as typeof Core;
	Container.get<{ mode: string }>(BinaryDataConfig).mode = 'filesystem';
	const store = Container.get<InstanceType<typeof BinaryDataService>>(BinaryDataService);
	await store.init();
	return store;
}

const record = (operation: string, parameters: INodeParameters): INodeParameters => ({
	resource: 'record',
	operation,
	...tableParameters,
	...parameters,
});

const requireSuccess = ({ json }: { json: IDataObject }) => {
	if (json.error !== undefined) throw new Error(`${String(json.error)} ${String(json.message)}`);
	return json;
};

serveTasks<RowFileTasks>({
	async importFile({ path, options = {}, ...target }) {
		const store = await binaryStore();
		const location = { type: 'execution' as const, workflowId: 'bench', executionId: '1' };
		const file: IBinaryData = { fileName: 'rows.csv', mimeType: 'text/csv', data: '' };
		const data = await store.store(location, createReadStream(path), file);
		return async () => {
			const { items } = await runNode(target, record('importFromFile', { options }), [
				{ json: {}, binary: { data } },
			]);
			return requireSuccess(items[0]!);
		};
	},

	async exportFile(target) {
		await binaryStore();
		return async () => {
			const { items } = await runNode(target, record('exportToFile', {}));
			const bytes = items[0]!.binary?.data?.bytes;
			return { ...requireSuccess(items[0]!), bytes };
		};
	},
});
