/** The result of a benchmark: one row for each piece of work that was measured. */
import type { Measurement } from '../measure.mts';

export interface Goal {
	/** For example `≤ 1.15 × limit`. */
	text: string;
	isMet: boolean;
}

export type Spread = [fastest: number, slowest: number];

/** Another way to do the same work with n8n's own nodes. */
export interface PeerResult {
	name: string;
	/** Median, in seconds. */
	seconds: number;
	spread: Spread;
	runs: number;
	requests: number;
	/** How many records it wrote. */
	written: number;
	/** The first error, if it did not write everything. */
	reason?: string;
}

/** Numbers for each contestant. */
export interface PerContestant {
	ours?: number;
	limit?: number;
	peer?: number;
}

export interface Row {
	name: string;
	/** Seconds: the median of all runs. */
	ours: number;
	/** The fastest way to do the same work with n8n's own nodes; null if it was not measured. */
	peer: number | null;
	/** The same work by a bare client; null if there is none. */
	limit: number | null;
	/** n8n's own HTTP function with finished bodies, in the same engine; null if not measured. */
	floor: number | null;
	/** peer ÷ ours */
	ratioToPeer: number | null;
	/** ours ÷ limit */
	ratioToLimit: number | null;
	/** ours ÷ floor */
	ratioToFloor: number | null;
	/** Ours: the peak of all runs, above the memory at the start, in MiB. */
	memoryMB: number | null;
	/** Seconds. */
	spread: { ours: Spread; limit: Spread | null; peer: Spread | null; floor: Spread | null };
	runs: { ours: number; limit: number; peer: number };
	/** How many requests the platform received in a run. */
	requests?: PerContestant;
	/** Median processor seconds: of ours, and of the sandbox while ours and the limit ran. */
	cpu?: { ours: number; sandbox: { ours: number; limit?: number } };
	/** Every peer that was measured. */
	peers?: PeerResult[];
	/** Which of them `peer` is. */
	peerName?: string;
	goals: Goal[];
	note?: string;
	/** Shown in a table of its own: it explores a setting and has no goal. */
	isSweep?: boolean;
	/** Where the chart shows it, and under which label. */
	chart?: { times?: string; ratio?: { label: string; goal: number } };
}

export interface BenchOptions {
	/** Tiny sizes and single runs: checks that it works, not how fast it is. */
	isSmoke: boolean;
	/** Whether n8n, and with it the peers, is installed. */
	hasPeer: boolean;
}

export interface Benchmark {
	name: string;
	/** Whether it runs only by name. */
	isExtra?: boolean;
	run(options: BenchOptions): Promise<Row[]>;
}

/** The runs of one contestant. */
export interface Series {
	measurements: Measurement[];
	/** Of the last run. */
	requests?: number;
	/** The sandbox's processor time in each run. */
	sandboxSeconds?: number[];
}

export interface Contestants {
	ours: Series;
	limit?: Series;
	peer?: Series;
	floor?: Series;
}

export function median(values: number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const round = (value: number, digits: number) => Number(value.toFixed(digits));

export const secondsOf = (series?: Series) =>
	(series?.measurements ?? []).map(({ seconds }) => seconds);

export const spreadOf = (values: number[]): Spread => [
	round(Math.min(...values), 4),
	round(Math.max(...values), 4),
];

/** Makes a row; `more` adds to it. */
export function createRow(name: string, contestants: Contestants, more: Partial<Row> = {}): Row {
	const ours = secondsOf(contestants.ours);
	const limit = secondsOf(contestants.limit);
	const peer = secondsOf(contestants.peer);
	const floor = secondsOf(contestants.floor);
	const mid = (values: number[]) => (values.length > 0 ? round(median(values), 4) : null);
	const ratio = (above: number[], below: number[]) =>
		above.length > 0 && below.length > 0 ? round(median(above) / median(below), 3) : null;
	const spread = (values: number[]) => (values.length > 0 ? spreadOf(values) : null);
	const { measurements, sandboxSeconds = [] } = contestants.ours;
	const sandboxOfLimit = contestants.limit?.sandboxSeconds ?? [];
	const requests = {
		ours: contestants.ours.requests,
		limit: contestants.limit?.requests,
		peer: contestants.peer?.requests,
	};
	return {
		name,
		ours: mid(ours)!,
		peer: mid(peer),
		limit: mid(limit),
		floor: mid(floor),
		ratioToPeer: ratio(peer, ours),
		ratioToLimit: ratio(ours, limit),
		ratioToFloor: ratio(ours, floor),
		// The maximum, because of several runs in one process only the first asks the system for memory.
		memoryMB: round(Math.max(...measurements.map(({ memoryMB }) => memoryMB)), 0),
		spread: {
			ours: spreadOf(ours),
			limit: spread(limit),
			peer: spread(peer),
			floor: spread(floor),
		},
		runs: { ours: ours.length, limit: limit.length, peer: peer.length },
		...(requests.ours !== undefined && { requests }),
		...(sandboxSeconds.length > 0 && {
			cpu: {
				ours: round(median(measurements.map(({ cpuSeconds }) => cpuSeconds)), 3),
				sandbox: {
					ours: round(median(sandboxSeconds), 3),
					...(sandboxOfLimit.length > 0 && { limit: round(median(sandboxOfLimit), 3) }),
				},
			},
		}),
		goals: [],
		...more,
	};
}

export function addGoal(row: Row, text: string, isMet: boolean): void {
	row.goals.push({ text, isMet });
}

/** Adds a goal for the ratio to the limit; with a label the chart shows the row. */
export function addLimitGoal(row: Row, maxRatio: number, label?: string): void {
	addGoal(row, `≤ ${maxRatio} × limit`, row.ratioToLimit !== null && row.ratioToLimit <= maxRatio);
	if (label !== undefined) row.chart = { ...row.chart, ratio: { label, goal: maxRatio } };
}
