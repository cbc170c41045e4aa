/**
 * A stub in place of the network: n8n's HTTP library gets its responses at once, without a socket.
 * Every batch is inserted, and every key or ID that is looked up is found, with the values of its item.
 */
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AxiosStatic, InternalAxiosRequestConfig } from 'axios';
import { APP, benchTable, createItem, TABLE } from '../benchTable.mts';
import type { Target } from './engine.mts';

const ORIGIN = 'http://127.0.0.1:9';

const { fields, ...names } = benchTable;
const table = { id: TABLE, internalNameApi: TABLE, header: names.header, items: fields };

/** IDs have the index of their record, so that what is listed can be read. */
const idOf = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

/** One response for each size, because building it must not be measured. */
const bulkResponses = new Map<number, string>();

function bulkResponse(size: number): string {
	let response = bulkResponses.get(size);
	if (response === undefined) {
		const time = '2026-01-01T00:00:00.000+00:00';
		const data = Array.from({ length: size }, (_, index) => ({
			id: idOf(index),
			created: time,
			modified: time,
			ver: 1,
		}));
		const bulk = { successCount: size, insertedCount: size, updatedCount: 0 };
		response = JSON.stringify({ bulk, data });
		bulkResponses.set(size, response);
	}
	return response;
}

/** One record for each index, because building it must not be measured. */
const records: string[] = [];

function recordAt(index: number): string {
	const time = '2026-01-01T00:00:00.000+00:00';
	return (records[index] ??= JSON.stringify({
		...{ id: idOf(index), created: time, modified: time, ver: 1 },
		fields: createItem(index),
	}));
}

function foundRecords(body: string): string {
	const indexes = new Set(
		Array.from(body.matchAll(/person-(\d+)@|-8000-(\d+)/g), ([, ofKey, ofId]) =>
			Number(ofKey ?? ofId),
		),
	);
	return `{"data":[${Array.from(indexes, recordAt).join(',')}]}`;
}

/** The start of every record in a bulk body. No value contains it. */
const RECORD_START = '{"fields":';

function respondTo({ method, url, data }: InternalAxiosRequestConfig): string {
	const path = new URL(String(url)).pathname;
	if (path.endsWith('/filter')) return foundRecords(String(data));
	if (method === 'post') return bulkResponse(String(data).split(RECORD_START).length - 1);
	if (path.includes('/data')) return '{"data":[]}';
	return JSON.stringify({ data: table });
}

/** Replaces the network for this process. */
export function installStubNetwork(): Target {
	const core = createRequire(import.meta.url).resolve('n8n-core');
	const network = createRequire(core).resolve('@n8n/backend-network');
	const axios = createRequire(network)('axios') as AxiosStatic;
	axios.defaults.adapter = async (config) => {
		// On any network, the event loop continues before a response arrives.
		await nextTurn();
		const text = Buffer.from(respondTo(config));
		return {
			data: config.responseType === 'stream' ? Readable.from([text]) : text,
			status: 200,
			statusText: 'OK',
			headers: { 'content-type': 'application/json' },
			config,
		};
	};
	return { baseUrl: ORIGIN, token: APP };
}
