/** Whether the measurements grow. */

/** One moment of a soak: the node's process and the sandbox's. */
export interface Sample {
	/** Seconds since the start. */
	at: number;
	/** MB after a garbage collection. */
	heap: number;
	/** MB outside of the heap: buffers. */
	external: number;
	/** MB. */
	resident: number;
	sockets: number;
	files: number;
	/** What keeps the event loop alive: timers, sockets, requests. */
	resources: number;
	sandboxResident: number;
	sandboxSockets: number;
	sandboxFiles: number;
}

type Measure = Exclude<keyof Sample, 'at'>;

/**
 * How much each may grow over the second half, by its line of best fit. The first half is for
 * warming up. Far above the scatter of an equal load, far below a leak of one response in a
 * hundred.
 */
const MAX_GROWTH: Record<Measure, number> = {
	heap: 6,
	external: 6,
	// In steps: an allocator takes about 50 MB at a time, and seldom returns them.
	resident: 90,
	sockets: 6,
	files: 6,
	resources: 10,
	// The sandbox remembers every file that it has received.
	sandboxResident: 60,
	sandboxSockets: 6,
	sandboxFiles: 6,
};

/**
 * The median of the slopes between any two points (Theil and Sen): a steady growth shows, while a
 * single step, as an allocator makes it, counts little.
 */
export function slopeOf(points: ReadonlyArray<readonly [x: number, y: number]>): number {
	const slopes = points.flatMap(([x, y], index) => points.slice(index + 1).map(([x2, y2]) => (y2 - y) / (x2 - x))).sort((a, b) => a - b);
	const middle = slopes.length / 2;
	return ((slopes[Math.ceil(middle) - 1] ?? 0) + (slopes[Math.floor(middle)] ?? 0)) / 2;
}

export interface Trend {
	measure: Measure;
	/** At the middle and at the end, on the line of best fit. */
	from: number;
	to: number;
	isFlat: boolean;
}

/** One line for each measure, for the second half of the samples. */
export function assessTrends(samples: Sample[]): Trend[] {
	const half = samples.slice(Math.floor(samples.length / 2));
	const [first, last] = [half[0]!.at, half.at(-1)!.at];
	return (Object.keys(MAX_GROWTH) as Measure[]).map((measure) => {
		const level = half.reduce((sum, sample) => sum + sample[measure], 0) / half.length;
		const slope = slopeOf(half.map((sample) => [sample.at, sample[measure]] as const));
		const growth = slope * (last - first);
		return { measure, from: level - growth / 2, to: level + growth / 2, isFlat: growth <= MAX_GROWTH[measure] };
	});
}
