/**
 * A stand-in for the network: n8n's HTTP library answers at once, without a socket. It knows the
 * table, that it is empty, and takes every batch as inserted.
 */
import { createRequire } from 'node:module';
import type { AxiosStatic, InternalAxiosRequestConfig } from 'axios';
import { APP, benchTable, TABLE } from '../benchTable.mts';
import type { Target } from './engine.mts';

const ORIGIN = 'http://127.0.0.1:9';

const { fields, ...names } = benchTable;
const table = { id: TABLE, internalNameApi: TABLE, header: names.header, items: fields };

/** Answers are made once for each size: making them is not ours to be measured. */
const answers = new Map<number, string>();

function bulkAnswer(size: number): string {
	let answer = answers.get(size);
	if (answer === undefined) {
		const time = '2026-01-01T00:00:00.000+00:00';
		const data = Array.from({ length: size }, () => ({
			id: crypto.randomUUID(),
			created: time,
			modified: time,
			ver: 1,
		}));
		const bulk = { successCount: size, insertedCount: size, updatedCount: 0 };
		answer = JSON.stringify({ bulk, data });
		answers.set(size, answer);
	}
	return answer;
}

/** Every record in a bulk body begins like this; none of the values holds it. */
const RECORD = '{"fields":';

function answerTo({ method, url, data }: InternalAxiosRequestConfig): string {
	const path = String(url);
	if (method === 'post') return bulkAnswer(String(data).split(RECORD).length - 1);
	if (path.includes('/data')) return '{"data":[]}';
	return JSON.stringify({ data: table });
}

/** Puts it in the network's place, for all of this process. */
export function installStubNetwork(): Target {
	const core = createRequire(import.meta.url).resolve('n8n-core');
	const network = createRequire(core).resolve('@n8n/backend-network');
	const axios = createRequire(network)('axios') as AxiosStatic;
	axios.defaults.adapter = async (config) => ({
		data: answerTo(config),
		status: 200,
		statusText: 'OK',
		headers: { 'content-type': 'application/json' },
		config,
	});
	return { baseUrl: ORIGIN, token: APP };
}
