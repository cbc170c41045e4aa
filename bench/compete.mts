/** Runs several contestants in turns, so that whatever else the machine does affects all of them. */
import type { BenchEnv } from './benchEnv.mts';
import type { Measurement } from './measure.mts';
import type { Series } from './report/row.mts';

export interface Contestant<Details = object> {
	run(): Promise<Measurement & Details>;
	/** At most so many runs. */
	runs: number;
}

export interface CompletedSeries<Details = object> extends Series {
	requests: number;
	/** How many records the table had after the last run. */
	written: number;
	/** What the last run returned. */
	details: Measurement & Details;
}

/** A contestant is not run again once its runs have taken this long in total. */
const BUDGET_SECONDS = 60;

/**
 * Runs every contestant until it has done all its runs or used up its time.
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
	while (queue.length > 0) {
		for (const [name, { run }] of queue) {
			await prepare();
			const { result, requests, sandboxSeconds } = await env.observe(run);
			const series: CompletedSeries<Details> = (results[name] ??= {
				measurements: [],
				sandboxSeconds: [],
				requests,
				written: 0,
				details: result,
			});
			series.measurements.push(result);
			if (sandboxSeconds !== undefined) series.sandboxSeconds?.push(sandboxSeconds);
			series.requests = requests;
			series.written = await env.countRecords();
			series.details = result;
		}
		queue = queue.filter(([name, { runs }]) => {
			const { measurements } = results[name]!;
			const spent = measurements.reduce((sum, { seconds }) => sum + seconds, 0);
			return measurements.length < runs && spent < BUDGET_SECONDS;
		});
	}
	return results;
}
