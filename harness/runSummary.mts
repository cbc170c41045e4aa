/** What a run of the main example did, as the node reported it item by item. */

import type { NodeRun } from './n8nApi.mts';

export interface RunSummary {
	items: number;
	inserted: number;
	updated: number;
	unchanged: number;
	failed: number;
	seconds: number;
}

/** Counts the outcomes that a node returned. */
export function summarizeNodeRun(run: NodeRun | undefined): RunSummary {
	const outcomes = (run?.data?.main[0] ?? []).map(({ json }) => String(json.outcome));
	const count = (outcome: string) => outcomes.filter((one) => one === outcome).length;
	const [inserted, updated, unchanged] = [count('inserted'), count('updated'), count('unchanged')];
	return {
		items: outcomes.length,
		inserted,
		updated,
		unchanged,
		failed: outcomes.length - inserted - updated - unchanged,
		seconds: (run?.executionTime ?? 0) / 1000,
	};
}

/** A row of the table: which run it was, and how many requests it took. */
export interface TableRow extends RunSummary {
	title: string;
	requests: number;
}

/** The table that `npm start` prints. */
export function formatTable(rows: readonly TableRow[]): string {
	const number = (value: number) => value.toLocaleString('en-US');
	const cells = [
		['run', 'items', 'inserted', 'updated', 'unchanged', 'failed', 'requests', 'time'],
		...rows.map((row) => [
			row.title,
			number(row.items),
			number(row.inserted),
			number(row.updated),
			number(row.unchanged),
			number(row.failed),
			number(row.requests),
			`${row.seconds.toFixed(1)} s`,
		]),
	];
	const first = Math.max(...cells.map(([title = '']) => title.length));
	return cells
		.map(
			(row) =>
				`  ${row.map((cell, column) => (column === 0 ? cell.padEnd(first) : cell.padStart(11))).join('')}`,
		)
		.join('\n');
}
