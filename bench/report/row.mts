/** The result of a benchmark: one row for each piece of work that was measured. */
import type { Measurement } from '../measure.mts';

/** What one contestant needed for the work. */
export interface Result {
	/** Median, in seconds; null if it failed. */
	seconds: number | null;
	/** The fastest and the slowest run, in seconds. */
	spread: [number, number] | null;
	runs: number;
	/** The peak of all runs above the memory at their start, in MiB. */
	memoryMB: number | null;
	/** The longest block of n8n's event loop in all runs; null if it was not measured. */
	blockMs: number | null;
	/** How many requests the platform received in a run. */
	requests?: number;
	/** Median processor seconds of the sandbox; null if unknown. */
	sandboxSeconds: number | null;
	/** Why it failed, in its own words. */
	failure?: string;
	/** How its work differs, so that its time is shown but not compared. */
	differs?: string;
}

export interface Row {
	name: string;
	/** Whether real n8n was measured, or only its engine. */
	place: 'n8n' | 'engine';
	ours: Result;
	/** A bare client that does the same work. */
	limit?: Result;
	/** n8n's own HTTP function with finished bodies, in the same engine. */
	floor?: Result;
	/** The same work by workflows of n8n's own nodes. */
	peers: Record<string, Result>;
	/** The fastest of them; null if none did the work. */
	fastestPeer: string | null;
	/** fastest peer ÷ ours */
	ratioToPeer: number | null;
	/** ours ÷ limit */
	ratioToLimit: number | null;
	/** ours ÷ floor */
	ratioToFloor: number | null;
	/** For example `≤ 1.3 × floor`. */
	goals: Array<{ text: string; isMet: boolean }>;
	note?: string;
}

/**
 * How much to measure: everything, less to try something out, or next to nothing to see that it
 * runs.
 */
export type Scale = 'full' | 'quick' | 'smoke';

export interface BenchOptions {
	scale: Scale;
	/** What the titles of the work in n8n must contain; all work by default. */
	work?: string;
	/** Whether the bare engine gets only tiny sizes and single runs: at every scale but the full one. */
	isSmoke: boolean;
}

export interface Benchmark {
	name: string;
	run(options: BenchOptions): Promise<Row[]>;
}

/** The runs of one contestant. */
export interface Series {
	measurements: Measurement[];
	/** Of the last run. */
	requests?: number;
	/** The sandbox's processor time in each run. */
	sandboxSeconds?: number[];
	failure?: string;
	differs?: string;
}

interface Contestants {
	ours: Series;
	limit?: Series;
	floor?: Series;
	peers?: Record<string, Series>;
}

function median(values: number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const round = (value: number, digits: number) => Number(value.toFixed(digits));

function toResult(series: Series): Result {
	const { measurements, sandboxSeconds = [], requests, failure, differs } = series;
	const seconds = failure === undefined ? measurements.map((run) => run.seconds) : [];
	// The maximum, because only the first of several runs in a process asks the system for memory.
	const most = (values: Array<number | undefined>) => {
		const measured = values.filter((value) => value !== undefined);
		return measured.length > 0 ? round(Math.max(...measured), 0) : null;
	};
	return {
		seconds: seconds.length > 0 ? round(median(seconds), 4) : null,
		spread: seconds.length > 0 ? [Math.min(...seconds), Math.max(...seconds)] : null,
		runs: measurements.length,
		memoryMB: most(measurements.map(({ memoryMB }) => memoryMB)),
		blockMs: most(measurements.map(({ blockMs }) => blockMs)),
		sandboxSeconds: sandboxSeconds.length > 0 ? round(median(sandboxSeconds), 3) : null,
		requests,
		failure,
		differs,
	};
}

const ratio = (above?: Result, below?: Result) =>
	above?.seconds && below?.seconds ? round(above.seconds / below.seconds, 3) : null;

/** A ratio to a peer as text. */
export const showTimes = (times: number) => times.toFixed(times < 0.1 ? 2 : 1);

/** Makes a row; `more` has its other properties. */
export function createRow(
	name: string,
	{ ours, limit, floor, peers = {} }: Contestants,
	more: Partial<Row> = {},
): Row {
	const results = {
		ours: toResult(ours),
		limit: limit && toResult(limit),
		floor: floor && toResult(floor),
		peers: Object.fromEntries(
			Object.entries(peers).map(([peer, series]) => [peer, toResult(series)]),
		),
	};
	const [fastest] = Object.entries(results.peers)
		.filter(([, { seconds, differs }]) => seconds !== null && differs === undefined)
		.sort(([, a], [, b]) => a.seconds! - b.seconds!);
	return {
		name,
		place: 'engine',
		...results,
		fastestPeer: fastest?.[0] ?? null,
		ratioToPeer: ratio(fastest?.[1], results.ours),
		ratioToLimit: ratio(results.ours, results.limit),
		ratioToFloor: ratio(results.ours, results.floor),
		goals: [],
		...more,
	};
}

export function addGoal(row: Row, text: string, isMet: boolean): void {
	row.goals.push({ text, isMet });
}

/** Adds a goal for the ratio to the limit or the floor. */
export function addRatioGoal(row: Row, to: 'limit' | 'floor', most: number): void {
	const reached = to === 'limit' ? row.ratioToLimit : row.ratioToFloor;
	addGoal(row, `≤ ${most} × ${to}`, reached !== null && reached <= most);
}
