/**
 * Where the defaults come from: sizes of batches and pages, and two batches at once. The bare
 * client measures the last, because the nodes send one after the other.
 */
import { startBenchEnv, type BenchEnv } from '../benchEnv.mts';
import { createRow, type Benchmark, type Measurement, type Row } from '../report/row.mts';
import { spawnWorker } from '../workers/spawnWorker.mts';

const SWEEP = { isSweep: true };
const SIZES = [50, 100, 200, 500, 1000];

async function repeated(runs: number, work: () => Promise<Measurement>): Promise<Measurement[]> {
	const measures: Measurement[] = [];
	for (let count = 0; count < runs; count += 1) measures.push(await work());
	return measures;
}

async function fresh(
	env: BenchEnv,
	size: number,
	work: () => Promise<Measurement>,
): Promise<Measurement> {
	await env.resetTable();
	const measure = await work();
	const stored = await env.countRecords();
	if (stored !== size) throw new Error(`The table has ${stored} records instead of ${size}`);
	return measure;
}

export const sweep: Benchmark = {
	name: 'sweep',
	async run({ isSmoke }) {
		const size = isSmoke ? 500 : 10_000;
		const runs = isSmoke ? 1 : 3;
		const env = await startBenchEnv();
		const node = await spawnWorker('node');
		const bare = await spawnWorker('bareClient');
		const { baseUrl, token } = env;
		const target = { baseUrl, token };
		const count = size.toLocaleString('en');
		try {
			const rows: Row[] = [];
			for (const latencyMs of isSmoke ? [0] : [5, 25]) {
				await env.changeSettings({ latencyMs });
				for (const batchSize of SIZES) {
					const ours = await repeated(runs, async () =>
						fresh(env, size, () => node.run('upsert', { ...target, size, batchSize })),
					);
					rows.push(
						createRow(`upsert ${count}, ${latencyMs} ms, batches of ${batchSize}`, { ours }, SWEEP),
					);
				}
				const sending = { ...target, size, batchSize: 100 };
				const one = await repeated(runs, async () =>
					fresh(env, size, () => bare.run('upsert', sending)),
				);
				const two = await repeated(runs, async () =>
					fresh(env, size, () => bare.run('upsert', { ...sending, parallel: 2 })),
				);
				rows.push(
					createRow(
						`bare client, ${count}, ${latencyMs} ms, two batches of 100 at once`,
						{ ours: two, limit: one },
						SWEEP,
					),
				);
			}
			await env.changeSettings({ latencyMs: isSmoke ? 0 : 5 });
			await env.resetTable(size);
			for (const pageSize of SIZES) {
				const ours = await repeated(runs, async () => bare.run('getMany', { ...target, pageSize }));
				rows.push(
					createRow(`bare client reads ${count}, 5 ms, pages of ${pageSize}`, { ours }, SWEEP),
				);
			}
			return rows;
		} finally {
			node.stop();
			bare.stop();
			await env.stop();
		}
	},
};
