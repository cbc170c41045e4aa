/** The sandbox as the measurements use it: a process of its own, its data in memory. */
import axios from 'axios';
import { startSandbox } from '../n8n/sandbox.mts';
import { APP, batchesOf, itemsOf, people, TABLE } from './people.mts';

/** A request may carry as many. */
const MOST = 1000;

export interface Settings {
	latencyMs?: number;
	rateLimitPerMinute?: number | null;
}

export interface Ground {
	baseUrl: string;
	token: string;
	change(settings: Settings): Promise<void>;
	/** An empty table in place of the old one; or one with so many records. */
	freshTable(records?: number): Promise<void>;
	/** How many records the table has. */
	stored(): Promise<number>;
	/** What `work` gives, and how many requests it sent to the platform. */
	counting<Result>(work: () => Promise<Result>): Promise<{ result: Result; requests: number }>;
	stop(): Promise<void>;
}

interface Logged {
	number: number;
}

/** @param db a file with the data, in place of memory */
export async function openGround(db?: string): Promise<Ground> {
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
		change: async (settings) => void (await admin.put('/settings', settings)),
		async freshTable(records = 0) {
			await admin.post('/tables', { app: APP, table: people });
			for (const batch of batchesOf(itemsOf(records), MOST)) {
				await api.post(`/apps/${APP}/tables/${TABLE}/data/bulk`, {
					bulk: batch.map((fields) => ({ fields })),
				});
			}
		},
		async stored() {
			const { data } = await admin.get<{ data: Array<{ table: string; records: number }> }>(
				'/tables',
			);
			return data.data.find(({ table }) => table === TABLE)?.records ?? 0;
		},
		async counting(work) {
			const first = await mark();
			const result = await work();
			return { result, requests: (await mark()) - first - 1 };
		},
		stop: sandbox.stop,
	};
}
