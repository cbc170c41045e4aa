/**
 * Upsert of 1,000, 10,000 and 100,000 items into an empty table, on every wire: Create or Update,
 * n8n's own HTTP function with finished bodies, and a bare client.
 */
import { onWires } from '../benchEnv.mts';
import { competeAll } from '../compete.mts';
import { addGoal, addRatioGoal, createRow, type Benchmark, type Row } from '../report/row.mts';
import { HTTPS_25, WIRES } from '../wires.mts';

/** The limit: the fastest way that we know. */
const LIMIT = { batchSize: 1000, concurrency: 4 };

const ROUNDS = [
	{ size: 1_000, runs: 11 },
	{ size: 10_000, runs: 5, maxRatioToFloor: 1.3 },
	{ size: 100_000, runs: 3, maxRatioToFloor: 1.3 },
];
const SMOKE_ROUNDS: typeof ROUNDS = [{ size: 250, runs: 1 }];
const WARM_UP = { size: 2_000, runs: 1 };

const FEWER_REQUESTS = 50;

export const upsert: Benchmark = {
	name: 'upsert',
	async run({ isSmoke }) {
		return await onWires(isSmoke ? [HTTPS_25] : WIRES, async (env, wire) => {
			const node = await env.spawnWorker('node');
			const bareClient = await env.spawnWorker('bareClient');
			const { baseUrl, token } = env;
			const runRound = async ({ size, runs }: typeof WARM_UP) => {
				const task = { baseUrl, token, size };
				const batched = { ...task, ...LIMIT };
				const all = { runs, records: size };
				return await competeAll<'ours' | 'limit' | 'floor'>(env, {
					ours: { ...all, run: async () => await node.run('upsert', task) },
					limit: { ...all, run: async () => await bareClient.run('upsert', batched) },
					floor: { ...all, run: async () => await node.run('floor', batched) },
				});
			};
			// The first run of a process is slower, because its code is compiled while it runs.
			if (!isSmoke) await runRound(WARM_UP);
			const rows: Row[] = [];
			for (const round of isSmoke ? SMOKE_ROUNDS : ROUNDS) {
				const { size, maxRatioToFloor } = round;
				const results = await runRound(round);
				const row = createRow(`upsert ${size.toLocaleString('en')}, ${wire.name}`, results);
				const isFewer = size >= FEWER_REQUESTS * results.ours.requests;
				addGoal(row, `≥ ${FEWER_REQUESTS} × fewer requests than items`, isFewer);
				if (maxRatioToFloor) addRatioGoal(row, 'floor', maxRatioToFloor);
				rows.push(row);
			}
			return rows;
		});
	},
};
