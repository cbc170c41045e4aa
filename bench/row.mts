/** What a measurement says: one row for each work that was measured. */

export interface Row {
	name: string;
	/** Seconds: the median of several runs. */
	ours: number;
	/** The same work done with n8n's own nodes; null where it was not measured. */
	peer: number | null;
	/** The same work done by a bare client, with nothing around it. */
	limit: number;
	/** How many times as long the peer takes as ours. */
	ratioToPeer: number | null;
	/** How many times as long ours takes as the limit. */
	ratioToLimit: number;
	/** The most memory that was held above what the process had before, in MB. */
	memoryMB: number;
	/** From the fastest run to the slowest, in seconds. */
	spread: { ours: [number, number]; limit: [number, number] };
}

export interface Benchmark {
	name: string;
	run(): Promise<Row[]>;
}

export function median(values: number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export const spreadOf = (values: number[]): [number, number] => [
	Math.min(...values),
	Math.max(...values),
];

const round = (value: number, digits: number) => Number(value.toFixed(digits));

/** Makes a row of the seconds that each run took. */
export function rowOf(
	name: string,
	seconds: { ours: number[]; limit: number[]; peer?: number[] },
	memoryMB: number[],
): Row {
	const ours = median(seconds.ours);
	const limit = median(seconds.limit);
	const peer = seconds.peer ? median(seconds.peer) : null;
	return {
		name,
		ours: round(ours, 3),
		peer: peer === null ? null : round(peer, 3),
		limit: round(limit, 3),
		ratioToPeer: peer === null ? null : round(peer / ours, 2),
		ratioToLimit: round(ours / limit, 2),
		memoryMB: round(median(memoryMB), 0),
		spread: {
			ours: spreadOf(seconds.ours).map((value) => round(value, 3)) as [number, number],
			limit: spreadOf(seconds.limit).map((value) => round(value, 3)) as [number, number],
		},
	};
}
