/** Operations × families of faults, counted. */
import type { Verdict } from './runCase.mts';
import { FAMILIES, type Family } from './faultCases.mts';

interface Count {
	runs: number;
	done: number;
	failed: number;
	unknown: number;
	notReached: number;
	repeats: number;
}

const nothing = (): Count => ({ runs: 0, done: 0, failed: 0, unknown: 0, notReached: 0, repeats: 0 });

const KEYS = ['done', 'failed', 'unknown', 'notReached', 'repeats'] as const;

function add(sum: Count, other: Omit<Count, 'runs'>, runs: number) {
	sum.runs += runs;
	for (const key of KEYS) sum[key] += other[key];
}

export class ResultTable {
	readonly #rows: Map<string, Map<Family, Count>>;
	/** Runs in which no request met the fault. */
	#unmet = 0;

	constructor(rows: string[]) {
		this.#rows = new Map(rows.map((row) => [row, new Map()]));
	}

	/** A run in which no request met the fault is not counted. */
	add(row: string, family: Family, verdict: Verdict) {
		if (!verdict.isMet) {
			this.#unmet += 1;
			return;
		}
		const counts = this.#rows.get(row)!;
		if (!counts.has(family)) counts.set(family, nothing());
		add(counts.get(family)!, verdict, 1);
	}

	#total(counts: Iterable<Count>): Count {
		const sum = nothing();
		for (const count of counts) add(sum, count, count.runs);
		return sum;
	}

	sum(): string {
		const all = this.#total([...this.#rows.values()].flatMap((counts) => [...counts.values()]));
		return `${all.runs} runs that met a fault and ${this.#unmet} that did not: ${all.done} items succeeded, ${all.failed} with errors, ${all.unknown} as unknown, ${all.notReached} behind an error that stopped the run; ${all.repeats} requests repeated`;
	}

	#lines(): string[][] {
		return [...this.#rows].map(([row, counts]) => [
			row,
			...FAMILIES.map((family) => {
				const count = counts.get(family);
				return count ? `${count.done} / ${count.failed} / ${count.unknown}` : '–';
			}),
			...(() => {
				const { runs, repeats } = this.#total(counts.values());
				return [String(runs), String(repeats)];
			})(),
		]);
	}

	/** Items that succeeded / failed / are unknown, for each family. */
	toText(): string {
		const titles = [...FAMILIES, 'Runs', 'Repeated requests'].map((title) => title.slice(0, 16));
		const short = [['Operation', ...titles], ...this.#lines()];
		const widths = short[0]!.map((_, column) => Math.max(...short.map((row) => row[column]!.length)));
		return short.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')).join('\n');
	}
}
