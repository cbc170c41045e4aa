/** Get Many of 100,000 records, beside a bare client that reads the same pages one after the other. */
import { startBenchEnv } from '../benchEnv.mts';
import { compete } from '../compete.mts';
import { addLimitGoal, createRow, type Benchmark, type Row } from '../report/row.mts';
import { HTTPS_1, WIRES } from '../wires.mts';

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
		const rows: Row[] = [];
		for (const wire of isSmoke ? [HTTPS_1] : WIRES) {
			const env = await startBenchEnv({ wire });
			try {
				const node = await env.spawnWorker('node');
				const bareClient = await env.spawnWorker('bareClient');
				const { baseUrl, token } = env;
				const target = { baseUrl, token };
				await env.resetTable(size);
				const { ours, limit } = await compete<'ours' | 'limit', Details>(
					env,
					{
						ours: {
							runs,
							run: async () => await node.run<'getMany', Details>('getMany', target),
						},
						limit: {
							runs,
							run: async () =>
								await bareClient.run<'getMany', Details>('getMany', {
									...target,
									pageSize: PAGE_SIZE,
								}),
						},
					},
					async () => undefined,
				);
				for (const { details } of [ours!, limit!]) {
					if (details.records === size) continue;
					throw new Error(`${details.records} records were read instead of ${size}.`);
				}
				const title = `Get Many ${size.toLocaleString('en')}, ${wire.name}`;
				const row = createRow(title, { ours: ours!, limit });
				addLimitGoal(row, 1, title);
				rows.push(row);
			} finally {
				await env.stop();
			}
		}
		return rows;
	},
};
