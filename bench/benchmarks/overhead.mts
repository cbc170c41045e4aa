/**
 * The node's processor time per item, without a network: plan, batches, outcomes and report, plus
 * n8n's engine and HTTP function. A stub in the same process returns the responses.
 */
import type { Measurement } from '../measure.mts';
import { addGoal, createRow, type Benchmark, type Row } from '../report/row.mts';
import { spawnWorker } from '../workers/spawnWorker.mts';

const MAX_MICROSECONDS = 50;

/** How much longer one item among a million may take than one among a thousand. */
const MAX_GROWTH = 1.5;

/** Also of a million items. */
const MAX_MEMORY_MB = 1024;

/** How long n8n may be unresponsive with this many items. */
const MAX_BLOCK_MS = 250;
const MANY_ITEMS = 100_000;

interface Round {
	size: number;
	runs: number;
	isMapped?: boolean;
	isUnchanged?: boolean;
}

const ROUNDS: Round[] = [
	{ size: 1_000, runs: 15 },
	{ size: 10_000, runs: 7 },
	{ size: 100_000, runs: 5, isMapped: true },
	{ size: 100_000, runs: 5, isUnchanged: true },
	{ size: 100_000, runs: 5 },
	{ size: 1_000_000, runs: 2 },
];

const SMOKE_ROUNDS: Round[] = [
	{ size: 500, runs: 1, isMapped: true },
	{ size: 500, runs: 1, isUnchanged: true },
	{ size: 500, runs: 1 },
];
const WARM_UPS = 5;

export const overhead: Benchmark = {
	name: 'overhead',
	async run({ isSmoke }) {
		const node = await spawnWorker('node');
		try {
			const rows: Row[] = [];
			const perItem: number[] = [];
			for (let run = 0; run < WARM_UPS; run += 1) await node.run('overhead', { size: 1_000 });
			for (const { size, runs, isMapped, isUnchanged } of isSmoke ? SMOKE_ROUNDS : ROUNDS) {
				const measurements: Measurement[] = [];
				while (measurements.length < runs) {
					measurements.push(await node.run('overhead', { size, isMapped, isUnchanged }));
				}
				const kind = isMapped ? 'items mapped by hand' : 'items';
				const items = isUnchanged ? 'unchanged items' : kind;
				const title = `overhead of ${size.toLocaleString('en')} ${items}, no network`;
				const row = createRow(title, { ours: { measurements } });
				const microseconds = (row.ours.seconds! / size) * 1e6;
				addGoal(row, `≤ ${MAX_MICROSECONDS} µs an item`, microseconds <= MAX_MICROSECONDS);
				addGoal(row, `≤ ${MAX_MEMORY_MB} MB`, row.ours.memoryMB! <= MAX_MEMORY_MB);
				if (size === MANY_ITEMS) {
					addGoal(row, `block ≤ ${MAX_BLOCK_MS} ms`, row.ours.blockMs! <= MAX_BLOCK_MS);
				}
				rows.push(row);
				perItem.push(microseconds);
			}
			addGoal(
				rows.at(-1)!,
				`linear: ≤ ${MAX_GROWTH} × the time of one of 1,000`,
				perItem.at(-1)! / perItem[0]! <= MAX_GROWTH,
			);
			return rows;
		} finally {
			await node.stop();
		}
	},
};
