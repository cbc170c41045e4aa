/**
 * Where the defaults come from: how batch size, requests under way at once and page size change the
 * time of a bare client.
 */
import { startBenchEnv } from '../benchEnv.mts';
import { compete } from '../compete.mts';
import { createRow, type Benchmark, type Row } from '../report/row.mts';
import { HTTP, HTTPS_1, HTTPS_25 } from '../wires.mts';

const SIZES = [100, 200, 500, 1000];
const CONCURRENCIES = [1, 2, 4, 8];

export const sweep: Benchmark = {
	name: 'sweep',
	async run({ isSmoke }) {
		const size = isSmoke ? 500 : 10_000;
		const runs = isSmoke ? 1 : 3;
		const count = size.toLocaleString('en');
		const rows: Row[] = [];
		for (const wire of isSmoke ? [HTTP] : [HTTPS_1, HTTPS_25]) {
			const env = await startBenchEnv({ wire });
			try {
				const bareClient = await env.spawnWorker('bareClient');
				const { baseUrl, token } = env;
				const target = { baseUrl, token };
				for (const batchSize of SIZES) {
					for (const concurrency of CONCURRENCIES) {
						const { ours } = await compete(env, {
							ours: {
								runs,
								run: async () =>
									await bareClient.run('upsert', { ...target, size, batchSize, concurrency }),
							},
						});
						if (ours!.written !== size) throw new Error(`${ours!.written} written, not ${size}.`);
						const title = `upsert ${count}, ${wire.name}, batches of ${batchSize}, ${concurrency} at once`;
						rows.push(createRow(title, { ours: ours! }, { isSweep: true }));
					}
				}
				for (const pageSize of SIZES) {
					const { ours } = await compete(
						env,
						{
							ours: {
								runs,
								run: async () => await bareClient.run('getMany', { ...target, pageSize }),
							},
						},
						async () => undefined,
					);
					const title = `read ${count}, ${wire.name}, pages of ${pageSize}`;
					rows.push(createRow(title, { ours: ours! }, { isSweep: true }));
				}
			} finally {
				await env.stop();
			}
		}
		return rows;
	},
};
