/**
 * Create or Update Many with Skip Unchanged, when nothing has changed, beside a bare client that reads
 * the same records by their keys.
 */
import { startBenchEnv } from '../benchEnv.mts';
import { compete } from '../compete.mts';
import { addGoal, addLimitGoal, createRow, type Benchmark, type Row } from '../report/row.mts';
import { HTTPS_1, WIRES } from '../wires.mts';
import type { UpsertDetails } from '../workers/node.mts';

export const skipUnchanged: Benchmark = {
	name: 'skipUnchanged',
	async run({ isSmoke }) {
		const size = isSmoke ? 250 : 10_000;
		const runs = isSmoke ? 1 : 7;
		const rows: Row[] = [];
		for (const wire of isSmoke ? [HTTPS_1] : WIRES) {
			const env = await startBenchEnv({ wire });
			try {
				const node = await env.spawnWorker('node');
				const bareClient = await env.spawnWorker('bareClient');
				const { baseUrl, token } = env;
				const task = { baseUrl, token, size };
				await env.resetTable(size);
				const { ours, limit } = await compete<'ours' | 'limit', Partial<UpsertDetails>>(
					env,
					{
						ours: {
							runs,
							run: async () =>
								await node.run<'upsert', UpsertDetails>('upsert', {
									...task,
									options: { skipUnchanged: true },
								}),
						},
						limit: {
							runs,
							run: async () =>
								await bareClient.run('lookUp', { ...task, batchSize: 1000, concurrency: 4 }),
						},
					},
					// Nothing changes, so every run finds the same table.
					async () => undefined,
				);
				const title = `${size.toLocaleString('en')} unchanged, ${wire.name}`;
				const row = createRow(title, { ours: ours!, limit });
				const unchanged = ours!.details.outcomes?.unchanged ?? 0;
				addGoal(row, 'all unchanged', unchanged === size);
				addLimitGoal(row, 1.5, title);
				rows.push(row);
			} finally {
				await env.stop();
			}
		}
		return rows;
	},
};
