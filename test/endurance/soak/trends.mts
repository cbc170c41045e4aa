/** Whether what was measured stays where it is. */

/** One moment of a soak: the node's process and the sandbox's. */
export interface Sample {
	/** Seconds since the start. */
	at: number;
	/** MB after a garbage collection. */
	heap: number;
	/** MB outside of the heap that it holds: buffers. */
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
 * warming up. Far above what the same load scatters, far below what a leak of one response in a
 * hundred comes to.
 */
const MAX_GROWTH: Record<Measure, number> = {
	heap: 6,
	external: 6,
	resident: 60,
	sockets: 6,
	files: 6,
	resources: 10,
	// No collection can be asked for there, and it remembers every file that it ever took.
	sandboxResident: 60,
	sandboxSockets: 6,
	sandboxFiles: 6,
};

/** The slope of the line of best fit. */
export function slopeOf(points: ReadonlyArray<readonly [x: number, y: number]>): number {
	const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
	const [middle, level] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
	const rise = points.reduce((sum, [x, y]) => sum + (x - middle) * (y - level), 0);
	const run = points.reduce((sum, [x]) => sum + (x - middle) ** 2, 0);
	return run === 0 ? 0 : rise / run;
}

export interface Trend {
	measure: Measure;
	/** At the middle and at the end, by the line of best fit. */
	from: number;
	to: number;
	isFlat: boolean;
}

/** One line for each measure, of the second half of the samples. */
export function assessTrends(samples: Sample[]): Trend[] {
	const half = samples.slice(Math.floor(samples.length / 2));
	const [first, last] = [half[0]!.at, half.at(-1)!.at];
	return (Object.keys(MAX_GROWTH) as Measure[]).map((measure) => {
		const level = half.reduce((sum, sample) => sum + sample[measure], 0) / half.length;
		const slope = slopeOf(half.map((sample) => [sample.at, sample[measure]] as const));
		const growth = slope * (last - first);
		return {
			measure,
			from: level - growth / 2,
			to: level + growth / 2,
			isFlat: growth <= MAX_GROWTH[measure],
		};
	});
}
