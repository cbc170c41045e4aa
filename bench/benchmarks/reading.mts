/**
 * Operations that only read, on every wire, compared with a bare client that reads the same: Get
 * Many of 100,000 records, and Create or Update with Skip Unchanged when nothing has changed.
 */
import { onWires } from '../benchEnv.mts';
import { competeAll } from '../compete.mts';
import { addRatioGoal, createRow, type Benchmark } from '../report/row.mts';
import { HTTPS_25, WIRES } from '../wires.mts';
import type { UpsertDetails } from '../workers/node.mts';

const RUNS = 5;

/** The nodes' own. */
const PAGE_SIZE = 1000;

const MAX_RATIO = { getMany: 1, unchanged: 1.7 };

/** Nothing changes, so every run finds the same table. */
const keepTable = async () => undefined;

export const reading: Benchmark = {
	name: 'reading',
	async run({ isSmoke }) {
		const runs = isSmoke ? 1 : RUNS;
		return await onWires(isSmoke ? [HTTPS_25] : WIRES, async (env, wire) => {
			const node = await env.spawnWorker('node');
			const bareClient = await env.spawnWorker('bareClient');
			const { baseUrl, token } = env;
			const target = { baseUrl, token };

			const many = isSmoke ? 2_500 : 100_000;
			const paged = { ...target, pageSize: PAGE_SIZE };
			const count = ({ records }: { records: number }) => records;
			await env.resetTable(many);
			const read = await competeAll<'ours' | 'limit', { records: number }>(
				env,
				{
					ours: { runs, records: many, count, run: () => node.run('getMany', target) },
					limit: { runs, records: many, count, run: () => bareClient.run('getMany', paged) },
				},
				keepTable,
			);
			const manyRow = createRow(`Get Many ${many.toLocaleString('en')}, ${wire.name}`, read);
			addRatioGoal(manyRow, 'limit', MAX_RATIO.getMany);

			const size = isSmoke ? 250 : 10_000;
			const skipping = { ...target, size, options: { skipUnchanged: true } };
			const lookUp = { ...target, size, batchSize: PAGE_SIZE, concurrency: 4 };
			await env.resetTable(size);
			const compared = await competeAll<'ours' | 'limit', Partial<UpsertDetails>>(
				env,
				{
					ours: {
						runs,
						records: size,
						count: ({ outcomes }) => outcomes?.unchanged ?? 0,
						run: () => node.run('upsert', skipping),
					},
					limit: { runs, records: size, run: () => bareClient.run('lookUp', lookUp) },
				},
				keepTable,
			);
			const row = createRow(`${size.toLocaleString('en')} unchanged, ${wire.name}`, compared);
			addRatioGoal(row, 'limit', MAX_RATIO.unchanged);
			return [manyRow, row];
		});
	},
};
