/** The limit: a client that sends what must be sent, over kept connections, and nothing around it. */
import { Agent, request } from 'node:http';
import { splitIntoBatches, BULK_PATH, bulkBody, DATA_PATH, createItems } from '../benchTable.mts';
import { serveTasks } from './workerProcess.mts';

interface Target {
	baseUrl: string;
	token: string;
}

export interface BareClientTasks {
	/** Sends batches; `parallel` of them at once (1). */
	upsert: Target & { size: number; batchSize: number; parallel?: number };
	/** Reads pages until one is not full. */
	getMany: Target & { pageSize: number };
}

const agent = new Agent({ keepAlive: true });

async function call({ token }: Target, method: string, url: string, body?: string) {
	return await new Promise<string>((resolve, reject) => {
		const headers = {
			authorization: `Bearer ${token}`,
			accept: 'application/json',
			...(body !== undefined && {
				'content-type': 'application/json',
				'content-length': Buffer.byteLength(body),
			}),
		};
		const outgoing = request(url, { method, agent, headers }, (answer) => {
			const chunks: Buffer[] = [];
			answer.on('data', (chunk: Buffer) => chunks.push(chunk));
			answer.on('error', reject);
			answer.on('end', () => {
				const text = Buffer.concat(chunks).toString();
				if (answer.statusCode === 200) resolve(text);
				else reject(new Error(`${answer.statusCode} ${text.slice(0, 300)}`));
			});
		});
		outgoing.on('error', reject);
		outgoing.end(body);
	});
}

interface BulkAnswer {
	data: unknown[];
}

interface PageAnswer {
	data: Array<{ id: string }>;
}

serveTasks<BareClientTasks>({
	async upsert(task) {
		const batches = splitIntoBatches(createItems(task.size), task.batchSize).values();
		const url = `${task.baseUrl}${BULK_PATH}`;
		const send = async () => {
			for (const batch of batches) {
				const answer = await call(task, 'POST', url, bulkBody(batch));
				const { data } = JSON.parse(answer) as BulkAnswer;
				if (data.length !== batch.length) throw new Error('A batch was not written whole');
			}
		};
		return async () => {
			await Promise.all(Array.from({ length: task.parallel ?? 1 }, send));
		};
	},

	async getMany(task) {
		return async () => {
			const records: unknown[] = [];
			for (let page = task.pageSize, skip = 0; page === task.pageSize; ) {
				// The same pages as the node's: each repeats the last record of the one before.
				const url = `${task.baseUrl}${DATA_PATH}?limit=${task.pageSize}&skip=${skip}&sort=created,id`;
				const { data } = JSON.parse(await call(task, 'GET', url)) as PageAnswer;
				records.push(...(skip === 0 ? data : data.slice(1)));
				page = data.length;
				skip += page - 1;
			}
			return { records: records.length };
		};
	},
});
