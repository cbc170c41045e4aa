/**
 * The limit: the fastest client that we can write. It keeps its connections open during a task and
 * does nothing but build the JSON, send it and parse the response.
 */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { createInterface } from 'node:readline';
import { buffer } from 'node:stream/consumers';
import type { IDataObject } from 'n8n-workflow';
import {
	BULK_PATH,
	bulkBody,
	COLUMNS,
	createItems,
	DATA_PATH,
	KEY_FIELD,
	splitIntoBatches,
} from '../benchTable.mts';
import { forEachConcurrently } from '../concurrency.mts';
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
	/** Writes the lines of a CSV file, which it reads as a stream and takes for well-formed. */
	importFile: Target & { path: string; batchSize: number; concurrency: number };
	/** Reads page after page into a file. */
	exportFile: Target & { path: string; pageSize: number };
}

type Send = (method: string, path: string, body?: string) => Promise<unknown>;

/** A client without connections, as a program that has just started. */
function createClient({ baseUrl, token }: Target): Send {
	const isHttps = baseUrl.startsWith('https:');
	const agent = new (isHttps ? HttpsAgent : HttpAgent)({ keepAlive: true });
	const request = isHttps ? requestHttps : requestHttp;
	return async (method, path, body) => {
		const headers = {
			authorization: `Bearer ${token}`,
			accept: 'application/json',
			...(body !== undefined && {
				'content-type': 'application/json',
				'content-length': Buffer.byteLength(body),
			}),
		};
		const response = await new Promise<IncomingMessage>((resolve, reject) => {
			request(`${baseUrl}${path}`, { method, agent, headers }, resolve)
				.on('error', reject)
				.end(body);
		});
		const text = (await buffer(response)).toString();
		if (response.statusCode !== 200) {
			throw new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`);
		}
		return JSON.parse(text);
	};
}

/** The quoted note is the last cell. */
function parseLine(line: string): IDataObject {
	const quote = line.indexOf('"');
	const cells = (quote < 0 ? line : line.slice(0, quote - 1)).split(',');
	if (quote >= 0) cells.push(line.slice(quote + 1, -1));
	const item: IDataObject = {};
	for (const [at, name] of COLUMNS.entries()) item[name] = cells[at];
	return {
		...item,
		age: Number(item.age),
		score: Number(item.score),
		active: item.active === 'true',
	};
}

interface DataResponse {
	data: Array<{ id: string; fields: IDataObject }>;
}

serveTasks<BareClientTasks>({
	async upsert({ size, batchSize, concurrency, ...target }) {
		const batches = splitIntoBatches(createItems(size), batchSize);
		const send = createClient(target);
		return async () => {
			await forEachConcurrently(batches, concurrency, async (batch) => {
				const { data } = (await send('POST', BULK_PATH, bulkBody(batch))) as DataResponse;
				if (data.length !== batch.length) throw new Error('A batch was not written completely.');
			});
		};
	},

	async lookUp({ size, batchSize, concurrency, ...target }) {
		const batches = splitIntoBatches(createItems(size), batchSize);
		const send = createClient(target);
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

	async importFile({ path, batchSize, concurrency, ...target }) {
		const send = createClient(target);
		return async () => {
			let batch: IDataObject[] = [];
			const underWay = new Set<Promise<unknown>>();
			const flush = async () => {
				if (batch.length === 0) return;
				const sent = send('POST', BULK_PATH, bulkBody(batch)).finally(() => underWay.delete(sent));
				underWay.add(sent);
				batch = [];
				if (underWay.size >= concurrency) await Promise.race(underWay);
			};
			let isHeader = true;
			for await (const line of createInterface({ input: createReadStream(path) })) {
				if (!isHeader) batch.push(parseLine(line));
				isHeader = false;
				if (batch.length === batchSize) await flush();
			}
			await flush();
			await Promise.all(underWay);
		};
	},

	async exportFile({ path, pageSize, ...target }) {
		const send = createClient(target);
		return async () => {
			const file = await open(path, 'w');
			let records = 0;
			for (let page = pageSize, skip = 0; page === pageSize; ) {
				const query = `${DATA_PATH}?limit=${pageSize}&skip=${skip}&sort=created,id`;
				const { data } = (await send('GET', query)) as DataResponse;
				const fresh = skip === 0 ? data : data.slice(1);
				await file.write(
					fresh.map(({ id, fields }) => `${id},${Object.values(fields).join(',')}\n`).join(''),
				);
				records += fresh.length;
				page = data.length;
				skip += page - 1;
			}
			await file.close();
			return { records };
		};
	},

	async getMany({ pageSize, ...target }) {
		const send = createClient(target);
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
});
