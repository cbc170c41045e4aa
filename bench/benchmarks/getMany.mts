/** Get Many of 100,000 records, beside a bare client that reads the same pages. */
import { startBenchEnv } from '../benchEnv.mts';
import { createRow, addLimitGoal, type Benchmark, type Measurement } from '../report/row.mts';
import { spawnWorker } from '../workers/spawnWorker.mts';

/** The nodes' own. */
const PAGE_SIZE = 1000;

interface Details {
	records: number;
}

export const getMany: Benchmark = {
	name: 'getMany',
	async run({ isSmoke }) {
		const size = isSmoke ? 2_500 : 100_000;
		const runs = isSmoke ? 1 : 7;
		const env = await startBenchEnv();
		const node = await spawnWorker('node');
		const bare = await spawnWorker('bareClient');
		try {
			await env.resetTable(size);
			const ours: Measurement[] = [];
			const limit: Measurement[] = [];
			const requests = { ours: 0, limit: 0 };
			const { baseUrl, token } = env;
			const target = { baseUrl, token };
			const read = async (who: 'ours' | 'limit', into: Measurement[]) => {
				const counted = await env.countRequests(async () =>
					who === 'ours'
						? await node.run<'getMany', Details>('getMany', target)
						: await bare.run<'getMany', Details>('getMany', { ...target, pageSize: PAGE_SIZE }),
				);
				const { records } = counted.result;
				if (records !== size) throw new Error(`${who}: ${records} records instead of ${size}`);
				into.push(counted.result);
				requests[who] = counted.requests;
			};
			for (let count = 0; count < runs; count += 1) {
				await read('ours', ours);
				await read('limit', limit);
			}
			const row = createRow(`Get Many ${size.toLocaleString('en')}`, { ours, limit }, { requests });
			addLimitGoal(row, 1.15, row.name);
			return [row];
		} finally {
			node.stop();
			bare.stop();
			await env.stop();
		}
	},
};
