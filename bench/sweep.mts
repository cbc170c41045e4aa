/**
 * Where the defaults come from: sizes of batches and pages, and two batches at once. The bare
 * client measures the last, because the nodes send one after the other.
 */
import { openGround, type Ground } from './sandbox.mts';
import { rowOf, type Benchmark, type Measure, type Row } from './row.mts';
import { hire } from './workers/hire.mts';

const SWEEP = { isSweep: true };
const SIZES = [50, 100, 200, 500, 1000];

async function repeated(runs: number, work: () => Promise<Measure>): Promise<Measure[]> {
	const measures: Measure[] = [];
	for (let count = 0; count < runs; count += 1) measures.push(await work());
	return measures;
}

async function fresh(ground: Ground, size: number, work: () => Promise<Measure>): Promise<Measure> {
	await ground.freshTable();
	const measure = await work();
	const stored = await ground.stored();
	if (stored !== size) throw new Error(`The table has ${stored} records instead of ${size}`);
	return measure;
}

export const sweep: Benchmark = {
	name: 'sweep',
	async run({ isSmoke }) {
		const size = isSmoke ? 500 : 10_000;
		const runs = isSmoke ? 1 : 3;
		const ground = await openGround();
		const node = await hire('node');
		const bare = await hire('bare');
		const { baseUrl, token } = ground;
		const target = { baseUrl, token };
		const count = size.toLocaleString('en');
		try {
			const rows: Row[] = [];
			for (const latencyMs of isSmoke ? [0] : [5, 25]) {
				await ground.change({ latencyMs });
				for (const batchSize of SIZES) {
					const ours = await repeated(runs, async () =>
						fresh(ground, size, () => node.run('upsert', { ...target, size, batchSize })),
					);
					rows.push(
						rowOf(`upsert ${count}, ${latencyMs} ms, batches of ${batchSize}`, { ours }, SWEEP),
					);
				}
				const sending = { ...target, size, batchSize: 100 };
				const one = await repeated(runs, async () =>
					fresh(ground, size, () => bare.run('upsert', sending)),
				);
				const two = await repeated(runs, async () =>
					fresh(ground, size, () => bare.run('upsert', { ...sending, parallel: 2 })),
				);
				rows.push(
					rowOf(
						`bare client, ${count}, ${latencyMs} ms, two batches of 100 at once`,
						{ ours: two, limit: one },
						SWEEP,
					),
				);
			}
			await ground.change({ latencyMs: isSmoke ? 0 : 5 });
			await ground.freshTable(size);
			for (const pageSize of SIZES) {
				const ours = await repeated(runs, async () => bare.run('getMany', { ...target, pageSize }));
				rows.push(rowOf(`bare client reads ${count}, 5 ms, pages of ${pageSize}`, { ours }, SWEEP));
			}
			return rows;
		} finally {
			node.stop();
			bare.stop();
			await ground.stop();
		}
	},
};
