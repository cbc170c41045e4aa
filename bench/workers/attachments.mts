/** One measurement in a process of its own; prints it as a line of JSON. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { request, type IncomingMessage, type RequestOptions } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import type { IBinaryData } from 'n8n-workflow';
import { PLACE, type Task } from '../benchmarks/attachments.mts';
import { measure } from '../memory.mts';

const task = JSON.parse(process.argv[2] ?? '') as Task;
const { app, table, field } = PLACE;
const folder = await mkdtemp(join(tmpdir(), 'bench-process-'));

/** What the bare client does: as little as can be done. */
const headers = { authorization: `Bearer ${task.token}` };
const recordUrl = `${task.baseUrl}/api/v2/apps/${app}/tables/${table}/data/${task.record}`;

async function call(
	url: string,
	options: RequestOptions,
	send?: (into: NodeJS.WritableStream) => Promise<void>,
) {
	const outgoing = request(url, { ...options, headers: { ...headers, ...options.headers } });
	const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
	if (send) await send(outgoing);
	outgoing.end();
	const [incoming] = await answered;
	if (incoming.statusCode !== 200) throw new Error(`${url}: ${incoming.statusCode}`);
	return incoming;
}

async function bareUpload(): Promise<void> {
	const before = `{"fields":{"${field}":[{"filename":"file.bin","mimetype":"application/octet-stream","filedata":"data:application/octet-stream;base64,`;
	const after = '"}]}}';
	const length = before.length + 4 * Math.ceil(task.bytes / 3) + after.length;
	const incoming = await call(
		recordUrl,
		{ method: 'PATCH', headers: { 'content-type': 'application/json', 'content-length': length } },
		async (into) => {
			into.write(before);
			const chunks = createReadStream(task.path, { highWaterMark: 3 * 64 * 1024 });
			for await (const chunk of chunks as AsyncIterable<Buffer>) {
				// Chunks but the last are whole groups of three: no rest to hold back.
				if (!into.write(Buffer.from(chunk.toString('base64'), 'latin1'))) await once(into, 'drain');
			}
			into.write(after);
		},
	);
	incoming.resume();
	await once(incoming, 'end');
}

async function bareDownload(): Promise<void> {
	const chunks: Buffer[] = [];
	for await (const chunk of await call(recordUrl, {})) chunks.push(chunk as Buffer);
	const record = JSON.parse(Buffer.concat(chunks).toString()) as {
		data: { fields: Record<string, Array<{ fileUrl: string }>> };
	};
	const path = join(folder, 'file.bin');
	await pipeline(await call(record.data.fields[field]![0]!.fileUrl, {}), createWriteStream(path));
	if ((await stat(path)).size !== task.bytes) throw new Error('The file is not whole');
}

/** The node in n8n's engine, with binary data in files. */
async function engine() {
	process.env.N8N_USER_FOLDER = folder;
	const { runOperation, picked } = await import('../../test/property/faults/engine.mts');
	const load = createRequire(import.meta.url);
	const { Container } = load('@n8n/di') as typeof import('@n8n/di');
	const { BinaryDataConfig, BinaryDataService } = load('n8n-core') as typeof import('n8n-core');
	Container.get(BinaryDataConfig).mode = 'filesystem';
	const store = Container.get(BinaryDataService);
	await store.init();
	const location = { type: 'execution' as const, workflowId: 'workflow', executionId: 'earlier' };
	const stored = async (path: string) =>
		await store.copyBinaryFile(
			location,
			{ fileName: 'file.bin', mimeType: 'application/octet-stream', data: '' },
			path,
		);
	const operate = async (operation: string, file?: IBinaryData) => {
		const result = await runOperation(
			{ baseUrl: task.baseUrl, token: task.token },
			{
				input: [{ json: {}, ...(file && { binary: { data: file } }) }],
				parameters: {
					resource: 'attachment',
					operation,
					application: picked(app),
					table: picked(table),
					recordId: picked(task.record),
					fileField: field,
					existingFiles: 'replace',
					inputDataFieldName: 'data',
					options: {},
				},
			},
		);
		if (result.error) throw new Error(result.error.message);
		return result.output('Data Platform')[0]!;
	};
	return { stored, operate };
}

async function measureOurs() {
	const { stored, operate } = await engine();
	if (task.work === 'upload') {
		const file = await stored(task.path);
		// What is loaded at the first use belongs to the base: this file's own source, a few KB.
		await operate('upload', await stored(import.meta.filename));
		return await measure(async () => void (await operate('upload', file)));
	}
	// A download needs no warming by a file: the record's other operations load the same code.
	await operate('downloadThumbnail').catch(() => undefined);
	return await measure(async () => {
		const item = await operate('download');
		if (item.binary?.data?.bytes !== task.bytes) throw new Error('The file is not whole');
	});
}

const measurement =
	task.who === 'ours'
		? await measureOurs()
		: await measure(task.work === 'upload' ? bareUpload : bareDownload);
await rm(folder, { recursive: true, force: true });
console.log(JSON.stringify(measurement));
process.exit(0);
