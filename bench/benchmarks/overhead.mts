/**
 * What the node takes for an item where the network takes nothing: plan, cut, settle, report, and
 * n8n's engine and HTTP function around it. A stand-in answers in the same process.
 */
import { createRow, type Benchmark, type Measurement, type Row } from '../report/row.mts';
import { spawnWorker } from '../workers/spawnWorker.mts';

const MOST_MICROSECONDS = 50;

/** How much more an item may take among many than among few, before it is no line any more. */
const LINEAR = 1.5;

const ROUNDS: Array<[size: number, runs: number]> = [
	[1_000, 15],
	[10_000, 7],
	[100_000, 5],
	[1_000_000, 3],
];

export const overhead: Benchmark = {
	name: 'overhead',
	async run({ isSmoke }) {
		const node = await spawnWorker('node');
		try {
			const rows: Row[] = [];
			for (let count = 0; count < 5; count += 1) await node.run('overhead', { size: 1_000 });
			for (const [size, runs] of isSmoke ? ([[500, 1]] as typeof ROUNDS) : ROUNDS) {
				const ours: Measurement[] = [];
				for (let count = 0; count < runs; count += 1) {
					ours.push(await node.run('overhead', { size }));
				}
				const row = createRow(`overhead of ${size.toLocaleString('en')} items, no network`, {
					ours,
				});
				const each = (row.ours / size) * 1e6;
				row.note = `${each.toFixed(1)} µs an item; a stand-in answers in the process`;
				row.goals.push({
					text: `≤ ${MOST_MICROSECONDS} µs an item`,
					isMet: each <= MOST_MICROSECONDS,
				});
				rows.push(row);
			}
			const last = rows.at(-1)!;
			const [first] = rows;
			const share = (row: Row, at: number) => row.ours / (isSmoke ? 500 : ROUNDS[at]![0]);
			const growth = share(last, rows.length - 1) / share(first!, 0);
			last.goals.push({
				text: `linear: ≤ ${LINEAR} × the time of one of 1,000`,
				isMet: growth <= LINEAR,
			});
			return rows;
		} finally {
			node.stop();
		}
	},
};
