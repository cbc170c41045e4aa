/**
 * Imports or exports one file in n8n's engine, in its own process, which may be killed at any
 * moment. n8n's log goes to its standard output, as in n8n.
 */
process.env.N8N_LOG_LEVEL = 'info';

import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { IBinaryData, IDataObject, INodeParameters } from 'n8n-workflow';
import type * as Core from 'n8n-core';

export interface ImporterTask {
	credential: { baseUrl: string; token: string };
	/** The node's. */
	parameters: INodeParameters;
	/** The file to import; none to export. */
	path?: string;
}

export interface ImporterReply {
	json?: IDataObject;
	/** The names of the item's files. */
	files: string[];
	/** The file of rejected rows. */
	rejected?: string;
	error?: { message: string; details?: IDataObject };
}

const require = createRequire(import.meta.url);

const { prepare, runOperation } = await import('../../support/engine/outsideJest.mts');

/** Logs a line after each portion; users get one every five seconds. */
function logEachPortion() {
	interface Log {
		note(text: () => string): void;
		lastAt: number;
	}
	const { ProgressLog } = require('../../../dist/nodes/DataPlatform/run/progressLog.js') as { ProgressLog: { prototype: Log } };
	const { note } = ProgressLog.prototype;
	ProgressLog.prototype.note = function (this: Log, text) {
		this.lastAt = 0;
		note.call(this, text);
	};
}

async function run({ credential, parameters, path }: ImporterTask): Promise<ImporterReply> {
	await prepare();
	const { Container } = require('@n8n/di') as { Container: { get<T>(type: unknown): T } };
	const { BinaryDataService } = require('n8n-core') as typeof Core;
	const store = Container.get<InstanceType<typeof BinaryDataService>>(BinaryDataService);
	const place = { type: 'execution' as const, workflowId: 'import', executionId: '1' };
	const named: IBinaryData = { fileName: 'goods.csv', mimeType: 'text/csv', data: '' };
	const data = path && (await store.store(place, createReadStream(path), named));
	const result = await runOperation(credential, { parameters, input: [data ? { json: {}, binary: { data } } : { json: {} }] });
	const [item] = result.error ? [] : result.output('Data Platform');
	const { rejected } = item?.binary ?? {};
	return {
		json: item?.json,
		files: Object.keys(item?.binary ?? {}),
		...(rejected && { rejected: await readFile(store.getPath(rejected.id!), 'utf8') }),
		...(result.error && { error: { message: result.error.message, details: result.error.context?.details as IDataObject | undefined } }),
	};
}

logEachPortion();
process.on('message', async (task: ImporterTask) => {
	const reply = await run(task).catch((error: Error): ImporterReply => {
		return { files: [], error: { message: error.stack ?? error.message } };
	});
	process.send!(reply);
});
process.on('disconnect', () => process.exit());
process.send!('ready');
