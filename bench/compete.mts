/** Runs several contestants in turns, so that whatever else the machine does affects all of them. */
import type { BenchEnv } from './benchEnv.mts';
import type { Measurement } from './measure.mts';
import type { Series } from './report/row.mts';

/** A contestant could not do the work. That is a result: the benchmark continues without it. */
export class ContestantFailed extends Error {}

export interface Contestant<Details = object> {
	run(): Promise<Measurement & Details>;
	/** The maximum number of runs. */
	runs: number;
	/** Counts the records after a run; by default, those of the table. */
	count?: (details: Measurement & Details) => Promise<number> | number;
	/** How many records there must be; any number by default. */
	records?: number;
	/** How its work differs from that of the others. */
	differs?: string;
}

export interface CompletedSeries<Details = object> extends Series {
	requests: number;
	records: number;
	sandboxSeconds: number[];
	/** What the last run returned. */
	details: Measurement & Details;
}

/** A contestant is not run again once its runs have taken this long in total. */
const BUDGET_SECONDS = 60;

/**
 * Runs every contestant until it has done all its runs, used up its time, or failed.
 *
 * @param prepare is called before each run; by default it empties the table
 */
export async function compete<Name extends string, Details = object>(
	env: BenchEnv,
	contestants: Partial<Record<Name, Contestant<Details>>>,
	prepare: () => Promise<void> = async () => await env.resetTable(),
): Promise<Partial<Record<Name, CompletedSeries<Details>>>> {
	const results: Partial<Record<Name, CompletedSeries<Details>>> = {};
	let queue = Object.entries(contestants) as Array<[Name, Contestant<Details>]>;
	const runOnce = async (
		{ run, count = async () => await env.countRecords(), records: expected }: Contestant<Details>,
		series: CompletedSeries<Details>,
	) => {
		await prepare();
		const { result, requests, sandboxSeconds } = await env.observe(run);
		series.measurements.push(result);
		series.sandboxSeconds.push(sandboxSeconds);
		const records = await count(result);
		Object.assign(series, { requests, records, details: result });
		if (expected === undefined || records === expected) return;
		throw new ContestantFailed(`${records} records instead of ${expected}`);
	};
	while (queue.length > 0) {
		for (const [name, contestant] of queue) {
			const series = (results[name] ??= {
				measurements: [],
				sandboxSeconds: [],
				...(contestant.differs && { differs: contestant.differs }),
			} as unknown as CompletedSeries<Details>);
			try {
				await runOnce(contestant, series);
			} catch (error) {
				if (!(error instanceof ContestantFailed)) throw error;
				series.failure = error.message;
			}
		}
		queue = queue.filter(([name, { runs }]) => {
			const { measurements, failure } = results[name]!;
			const spent = measurements.reduce((sum, { seconds }) => sum + seconds, 0);
			return failure === undefined && measurements.length < runs && spent < BUDGET_SECONDS;
		});
	}
	return results;
}

/** Like `compete`, for contestants that must not fail. @throws Error if one does */
export async function competeAll<Name extends string, Details = object>(
	...[env, contestants, prepare]: Parameters<typeof compete<Name, Details>>
): Promise<Record<Name, CompletedSeries<Details>>> {
	const results = await compete(env, contestants, prepare);
	for (const [name, { failure }] of Object.entries<Series>(results as Record<Name, Series>)) {
		if (failure !== undefined) throw new Error(`${name}: ${failure}`);
	}
	return results as Record<Name, CompletedSeries<Details>>;
}
