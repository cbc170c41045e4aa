/** What a measurement says: one row for each work that was measured. */

/** What issue and design ask of a work, and whether it was reached. */
export interface Goal {
	/** Such as `≤ 1.15 × limit`. */
	text: string;
	isMet: boolean;
}

export type Spread = [fastest: number, slowest: number];

export interface Row {
	name: string;
	/** Seconds: the median of several runs. */
	ours: number;
	/** The same work done with n8n's own nodes; null where it was not measured. */
	peer: number | null;
	/** The same work done by a bare client, with nothing around it; null where there is none. */
	limit: number | null;
	/** n8n's own HTTP function with finished bodies, in the same engine: what no node can be below. */
	floor: number | null;
	/** How many times as long the peer takes as ours. */
	ratioToPeer: number | null;
	/** How many times as long ours takes as the limit. */
	ratioToLimit: number | null;
	ratioToFloor: number | null;
	/** The most memory that was held above what the process had before, in MB. */
	memoryMB: number | null;
	/** From the fastest run to the slowest, in seconds. */
	spread: { ours: Spread; limit: Spread | null; peer: Spread | null; floor: Spread | null };
	runs: { ours: number; limit: number; peer: number };
	/** As the sandbox counted them. */
	requests?: { ours?: number; limit?: number; peer?: number };
	goals: Goal[];
	/** What else there is to say. */
	note?: string;
	/** Shown in a table of its own: it explores a setting and has no goal. */
	isSweep?: boolean;
	/** Where it stands in the chart, and under which name. */
	chart?: { times?: string; ratio?: { label: string; goal: number } };
}

/** What a process that was measured says. */
export interface Measurement {
	seconds: number;
	memoryMB: number;
}

export interface BenchOptions {
	/** Tiny sizes and single runs: whether it works, not how fast it is. */
	isSmoke: boolean;
	/** Whether n8n is there, and with it the peer. */
	hasPeer: boolean;
}

export interface Benchmark {
	name: string;
	/** Only where it is asked for by name. */
	isExtra?: boolean;
	run(scale: BenchOptions): Promise<Row[]>;
}

export function median(values: number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const round = (value: number, digits: number) => Number(value.toFixed(digits));

const spreadOf = (values: number[]): Spread => [
	round(Math.min(...values), 4),
	round(Math.max(...values), 4),
];

export interface Runs {
	ours: Measurement[];
	limit?: Measurement[];
	peer?: Measurement[];
	floor?: Measurement[];
}

const secondsOf = (measures: Measurement[] = []) => measures.map(({ seconds }) => seconds);

/** Makes a row of what each run took; `more` adds to it, or says why a number is not there. */
export function createRow(name: string, runs: Runs, more: Partial<Row> = {}): Row {
	const ours = secondsOf(runs.ours);
	const limit = secondsOf(runs.limit);
	const peer = secondsOf(runs.peer);
	const floor = secondsOf(runs.floor);
	const mid = (values: number[]) => (values.length > 0 ? round(median(values), 4) : null);
	const ratio = (above: number[], below: number[]) =>
		above.length > 0 && below.length > 0 ? round(median(above) / median(below), 3) : null;
	const spread = (values: number[]) => (values.length > 0 ? spreadOf(values) : null);
	return {
		name,
		ours: mid(ours)!,
		peer: mid(peer),
		limit: mid(limit),
		floor: mid(floor),
		ratioToPeer: ratio(peer, ours),
		ratioToLimit: ratio(ours, limit),
		ratioToFloor: ratio(ours, floor),
		// Of several runs in one process only the first has to ask the system for memory.
		memoryMB: round(Math.max(...runs.ours.map(({ memoryMB }) => memoryMB)), 0),
		spread: {
			ours: spreadOf(ours),
			limit: spread(limit),
			peer: spread(peer),
			floor: spread(floor),
		},
		runs: { ours: ours.length, limit: limit.length, peer: peer.length },
		goals: [],
		...more,
	};
}

/** Sets a goal on the ratio to the limit; with a label the row is drawn beside it. */
export function addLimitGoal(row: Row, most: number, label?: string): void {
	const isMet = row.ratioToLimit !== null && row.ratioToLimit <= most;
	row.goals.push({ text: `≤ ${most} × limit`, isMet });
	if (label !== undefined) row.chart = { ...row.chart, ratio: { label, goal: most } };
}
