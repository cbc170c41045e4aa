/**
 * The limit: the fastest client that we can write. It keeps its connections open during a task and
 * does nothing but build the JSON, send it and parse the response.
 */
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { IDataObject } from 'n8n-workflow';
import {
	BULK_PATH,
	bulkBody,
	createItems,
	DATA_PATH,
	KEY_FIELD,
	splitIntoBatches,
} from '../benchTable.mts';
import { forEachConcurrently } from '../concurrency.mts';
import { FILE_LOCATION, recordPath, type AttachmentTask } from '../fileTable.mts';
import type { Target } from './engine.mts';
import { serveTasks } from './workerProcess.mts';

export interface Batching {
	size: number;
	batchSize: number;
	/** How many requests are under way at once. */
	concurrency: number;
}

export interface BareClientTasks {
	/** Writes items. */
	upsert: Target & Batching;
	/** Reads the records of items by their keys. */
	lookUp: Target & Batching;
	/** Reads page after page until one is not full. */
	getMany: Target & { pageSize: number };
	upload: AttachmentTask;
	download: AttachmentTask;
}

/** A client without open connections, like a program that has just started. */
function createClient({ baseUrl, token }: Target) {
	const isHttps = baseUrl.startsWith('https:');
	const agent = new (isHttps ? HttpsAgent : HttpAgent)({ keepAlive: true });
	const start = isHttps ? requestHttps : requestHttp;

	/**
	 * Sends a request with a body, or with what a function writes. Does not read the response yet.
	 */
	const request = async (
		method: string,
		url: string,
		headers: object = {},
		body?: string | ((outgoing: NodeJS.WritableStream) => Promise<void>),
	) => {
		const all = { authorization: `Bearer ${token}`, accept: 'application/json', ...headers };
		const outgoing = start(url, { method, agent, headers: all });
		const responded = once(outgoing, 'response') as Promise<[IncomingMessage]>;
		if (typeof body === 'function') await body(outgoing);
		outgoing.end(typeof body === 'string' ? body : undefined);
		const [response] = await responded;
		if (response.statusCode === 200) return response;
		const text = (await buffer(response)).toString().slice(0, 300);
		throw new Error(`${method} ${url}: ${response.statusCode} ${text}`);
	};

	const send = async (method: string, path: string, body?: string): Promise<unknown> => {
		const length = body === undefined ? 0 : Buffer.byteLength(body);
		const headers = length ? { 'content-type': 'application/json', 'content-length': length } : {};
		const response = await request(method, `${baseUrl}${path}`, headers, body);
		return JSON.parse((await buffer(response)).toString());
	};

	return { request, send };
}

interface DataResponse {
	data: Array<{ id: string; fields: IDataObject }>;
}

serveTasks<BareClientTasks>({
	async upsert({ size, batchSize, concurrency, ...target }) {
		const batches = splitIntoBatches(createItems(size), batchSize);
		const { send } = createClient(target);
		return async () => {
			await forEachConcurrently(batches, concurrency, async (batch) => {
				const { data } = (await send('POST', BULK_PATH, bulkBody(batch))) as DataResponse;
				if (data.length !== batch.length) throw new Error('A batch was not written completely.');
			});
		};
	},

	async lookUp({ size, batchSize, concurrency, ...target }) {
		const batches = splitIntoBatches(createItems(size), batchSize);
		const { send } = createClient(target);
		return async () => {
			await forEachConcurrently(batches, concurrency, async (batch) => {
				const value = batch.map((item) => item[KEY_FIELD]).join(',');
				const body = { filter: [{ field: KEY_FIELD, operator: 'in', value }] };
				const path = `${DATA_PATH}/filter?limit=${batchSize}`;
				const { data } = (await send('POST', path, JSON.stringify(body))) as DataResponse;
				if (data.length !== batch.length) throw new Error('Not every record was found.');
			});
		};
	},

	async getMany({ pageSize, ...target }) {
		const { send } = createClient(target);
		return async () => {
			const records: unknown[] = [];
			for (let page = pageSize, skip = 0; page === pageSize; ) {
				// The same pages as the node's: each repeats the last record of the one before.
				const path = `${DATA_PATH}?limit=${pageSize}&skip=${skip}&sort=created,id`;
				const { data } = (await send('GET', path)) as DataResponse;
				records.push(...(skip === 0 ? data : data.slice(1)));
				page = data.length;
				skip += page - 1;
			}
			return { records: records.length };
		};
	},

	async upload({ baseUrl, token, record, path, bytes }) {
		const { request } = createClient({ baseUrl, token });
		const type = 'application/octet-stream';
		const before = `{"fields":{"${FILE_LOCATION.field}":[{"filename":"file","mimetype":"${type}","filedata":"data:${type};base64,`;
		const after = '"}]}}';
		const length = before.length + 4 * Math.ceil(bytes / 3) + after.length;
		const headers = { 'content-type': 'application/json', 'content-length': length };
		return async () => {
			const url = `${baseUrl}${recordPath(record)}`;
			const response = await request('PATCH', url, headers, async (body) => {
				body.write(before);
				// A multiple of three bytes has no padding in base64, so that chunks can be joined.
				const chunks = createReadStream(path, { highWaterMark: 3 * 64 * 1024 });
				for await (const chunk of chunks as AsyncIterable<Buffer>) {
					const text = Buffer.from(chunk.toString('base64'), 'latin1');
					if (!body.write(text)) await once(body, 'drain');
				}
				body.write(after);
			});
			await buffer(response);
		};
	},

	async download({ baseUrl, token, record, path, bytes }) {
		const { request, send } = createClient({ baseUrl, token });
		return async () => {
			const { data } = (await send('GET', recordPath(record))) as {
				data: { fields: Record<string, Array<{ fileUrl: string }>> };
			};
			const response = await request('GET', data.fields[FILE_LOCATION.field]![0]!.fileUrl);
			await pipeline(response, createWriteStream(`${path}.downloaded`));
			const { size } = await stat(`${path}.downloaded`);
			if (size !== bytes) throw new Error('The file is incomplete.');
		};
	},
});
