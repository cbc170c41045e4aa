/** The sandbox as the measurements use it: a process of its own, its data in memory. */
import axios from 'axios';
import { startSandbox } from '../harness/sandboxProcess.mts';
import { APP, splitIntoBatches, createItems, benchTable, TABLE } from './benchTable.mts';

/** A request may carry as many. */
const MAX_BATCH_SIZE = 1000;

export interface Settings {
	latencyMs?: number;
	rateLimitPerMinute?: number | null;
}

export interface BenchEnv {
	baseUrl: string;
	token: string;
	changeSettings(settings: Settings): Promise<void>;
	/** An empty table in place of the old one; or one with so many records. */
	resetTable(records?: number): Promise<void>;
	/** How many records the table has. */
	countRecords(): Promise<number>;
	/** What `work` gives, and how many requests it sent to the platform. */
	countRequests<Result>(work: () => Promise<Result>): Promise<{ result: Result; requests: number }>;
	stop(): Promise<void>;
}

interface Logged {
	number: number;
}

/** @param db a file with the data, in place of memory */
export async function startBenchEnv(db?: string): Promise<BenchEnv> {
	const sandbox = await startSandbox({ db });
	const { baseUrl, tokens } = sandbox;
	const admin = axios.create({ baseURL: `${baseUrl}/sandbox`, maxBodyLength: Infinity });
	const api = axios.create({
		baseURL: `${baseUrl}/api/v2`,
		headers: { authorization: `Bearer ${tokens.jwt}` },
	});
	/** The number of a request that is sent for it. */
	const mark = async () => {
		await admin.delete('/requests');
		await api.get('/ping');
		const { data } = await admin.get<{ data: Logged[] }>('/requests');
		return data.data.at(-1)!.number;
	};
	// Versions of records are kept for tests alone.
	await admin.put('/settings', { history: false });
	return {
		baseUrl,
		token: tokens.role,
		changeSettings: async (settings) => void (await admin.put('/settings', settings)),
		async resetTable(records = 0) {
			await admin.post('/tables', { app: APP, table: benchTable });
			for (const batch of splitIntoBatches(createItems(records), MAX_BATCH_SIZE)) {
				await api.post(`/apps/${APP}/tables/${TABLE}/data/bulk`, {
					bulk: batch.map((fields) => ({ fields })),
				});
			}
		},
		async countRecords() {
			const { data } = await admin.get<{ data: Array<{ table: string; records: number }> }>(
				'/tables',
			);
			return data.data.find(({ table }) => table === TABLE)?.records ?? 0;
		},
		async countRequests(work) {
			const first = await mark();
			const result = await work();
			return { result, requests: (await mark()) - first - 1 };
		},
		stop: sandbox.stop,
	};
}
