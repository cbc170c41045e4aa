/**
 * One upload or download in a process of its own, which prints its measurement as a line of JSON:
 * `node attachments.mts TASK`, with the task as JSON.
 */
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { IBinaryData } from 'n8n-workflow';
import { measure } from '../measure.mts';

export interface AttachmentTask {
	client: 'node' | 'bareClient';
	work: 'upload' | 'download';
	baseUrl: string;
	token: string;
	app: string;
	table: string;
	/** The field that holds the file. */
	field: string;
	/** The id of the record. */
	record: string;
	/** The file to upload. */
	path: string;
	bytes: number;
}

async function createBareClient(task: AttachmentTask, folder: string) {
	const { app, table, field, record } = task;
	const recordUrl = `${task.baseUrl}/api/v2/apps/${app}/tables/${table}/data/${record}`;
	const startRequest = task.baseUrl.startsWith('https:') ? requestHttps : requestHttp;

	const request = async (
		url: string,
		options: RequestOptions = {},
		write?: (body: NodeJS.WritableStream) => Promise<void>,
	) => {
		const headers = { authorization: `Bearer ${task.token}`, ...options.headers };
		const outgoing = startRequest(url, { ...options, headers });
		const responded = once(outgoing, 'response') as Promise<[IncomingMessage]>;
		if (write) await write(outgoing);
		outgoing.end();
		const [response] = await responded;
		if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`);
		return response;
	};

	return {
		async upload() {
			const before = `{"fields":{"${field}":[{"filename":"file.bin","mimetype":"application/octet-stream","filedata":"data:application/octet-stream;base64,`;
			const after = '"}]}}';
			const length = before.length + 4 * Math.ceil(task.bytes / 3) + after.length;
			const headers = { 'content-type': 'application/json', 'content-length': length };
			const response = await request(recordUrl, { method: 'PATCH', headers }, async (body) => {
				body.write(before);
				// A multiple of three bytes has no padding in base64, so that chunks can be joined.
				const chunks = createReadStream(task.path, { highWaterMark: 3 * 64 * 1024 });
				for await (const chunk of chunks as AsyncIterable<Buffer>) {
					const text = Buffer.from(chunk.toString('base64'), 'latin1');
					if (!body.write(text)) await once(body, 'drain');
				}
				body.write(after);
			});
			response.resume();
			await once(response, 'end');
		},

		async download() {
			const stored = (await json(await request(recordUrl))) as {
				data: { fields: Record<string, Array<{ fileUrl: string }>> };
			};
			const path = join(folder, 'file.bin');
			const url = stored.data.fields[field]![0]!.fileUrl;
			await pipeline(await request(url), createWriteStream(path));
			if ((await stat(path)).size !== task.bytes) throw new Error('The file is incomplete.');
		},
	};
}

/** The node in n8n's engine, with binary data in files. */
async function createNodeClient(task: AttachmentTask, folder: string) {
	process.env.N8N_USER_FOLDER = folder;
	const { runOperation, picked } = await import('../../test/support/engine/outsideJest.mts');
	const require = createRequire(import.meta.url);
	const { Container } = require('@n8n/di') as typeof import('@n8n/di');
	const { BinaryDataConfig, BinaryDataService } = require('n8n-core') as typeof import('n8n-core');
	Container.get(BinaryDataConfig).mode = 'filesystem';
	const service = Container.get(BinaryDataService);
	await service.init();
	const location = { type: 'execution' as const, workflowId: 'workflow', executionId: 'earlier' };

	/** Puts a file into n8n's binary store. */
	const store = async (path: string) =>
		await service.copyBinaryFile(
			location,
			{ fileName: 'file.bin', mimeType: 'application/octet-stream', data: '' },
			path,
		);

	const runAttachmentOperation = async (operation: string, file?: IBinaryData) => {
		const result = await runOperation(
			{ baseUrl: task.baseUrl, token: task.token },
			{
				input: [{ json: {}, ...(file && { binary: { data: file } }) }],
				parameters: {
					resource: 'attachment',
					operation,
					application: picked(task.app),
					table: picked(task.table),
					recordId: picked(task.record),
					fileField: task.field,
					...(operation === 'upload' && {
						existingFiles: 'replace',
						inputDataFieldName: 'data',
					}),
					options: {},
				},
			},
		);
		if (result.error) throw new Error(result.error.message);
		return result.output('Data Platform')[0]!;
	};

	const file = task.work === 'upload' ? await store(task.path) : undefined;
	// Code that is loaded at the first use belongs to the base: a small file (this one) goes first.
	if (file) await runAttachmentOperation('upload', await store(import.meta.filename));
	else await runAttachmentOperation('downloadThumbnail').catch(() => undefined);

	return {
		upload: async () => void (await runAttachmentOperation('upload', file)),
		async download() {
			const item = await runAttachmentOperation('download');
			if (item.binary?.data?.bytes !== task.bytes) throw new Error('The file is incomplete.');
		},
	};
}

const task = JSON.parse(process.argv[2] ?? '') as AttachmentTask;
const folder = await mkdtemp(join(tmpdir(), 'bench-attachments-'));
const createClient = task.client === 'node' ? createNodeClient : createBareClient;
const client = await createClient(task, folder);
const measurement = await measure(client[task.work]);
await rm(folder, { recursive: true, force: true });
console.log(JSON.stringify(measurement));
process.exit(0);
