/** When too many items fail: what counts, and from when on. */
import { FailureLimit, MIN_OUTCOMES } from '../../../../nodes/DataPlatform/bulk/send/failureLimit.ts';

/** Outcomes, one after the other, until the limit stops the run. */
function run(limit: FailureLimit, outcomes: boolean[]): number {
	for (const [index, isFailed] of outcomes.entries()) {
		limit.resolved(isFailed);
		if (limit.reason) return index + 1;
	}
	return Infinity;
}

const outcomes = (failed: number, of: number) => Array.from({ length: of }, (_, index) => index < failed);

test.each<[share: number | undefined, rows: number, problems: number, message: string]>([
	[10, 100, 10, ''],
	[10, 100, 11, 'more than 10 % of the items fail (11 of 100 items have problems)'],
	[0, 1, 0, ''],
	[0, 1, 1, 'more than 0 % of the items fail (1 of 1 items have problems)'],
	[100, 5, 5, ''],
	[undefined, 5, 5, ''],
	[10, 0, 0, ''],
])('a limit of %j %%, of %i rows %i with problems', (share, rows, problems, message) => {
	const limit = new FailureLimit(share);
	limit.planned(rows, problems);
	expect(limit.reason?.message ?? '').toBe(message);
	if (message) expect(limit.reason).toMatchObject({ delivery: 'notApplied', code: 'tooManyFailed' });
});

test.each<[share: number, failed: number, of: number, stopsAfter: number]>([
	// Of fewer, nothing is concluded.
	[10, MIN_OUTCOMES - 1, MIN_OUTCOMES - 1, Infinity],
	[10, 50, 1000, MIN_OUTCOMES],
	[10, 10, 1000, Infinity],
	[10, 11, 1000, MIN_OUTCOMES],
	[0, 1, 1000, MIN_OUTCOMES],
	[0, 0, 1000, Infinity],
	[100, 1000, 1000, Infinity],
])('a limit of %i %%, the first %i of %i failed', (share, failed, of, stopsAfter) => {
	const limit = new FailureLimit(share);
	limit.planned(1000, 0);
	expect(run(limit, outcomes(failed, of))).toBe(stopsAfter);
	const why = `more than ${share} % of the items fail (${failed} of the first ${MIN_OUTCOMES} that were written failed)`;
	expect(limit.reason?.message).toBe(stopsAfter === Infinity ? undefined : why);
});

test.each([100, 101, 9999])('exactly the share is allowed, whatever its decimals: of %i rows', (rows) => {
	const limit = new FailureLimit(10);
	limit.planned(rows, 0);
	expect(run(limit, outcomes(10, MIN_OUTCOMES))).toBe(Infinity);
});

test('rows with problems count beside the share of those that were written', () => {
	const limit = new FailureLimit(20);
	limit.planned(1000, 100);
	// 10 % have problems; of the other 90 %, 11 in 100 fail: 19.9 %.
	expect(run(limit, outcomes(11, MIN_OUTCOMES))).toBe(Infinity);
	const other = new FailureLimit(20);
	other.planned(1000, 100);
	// 12 in 100: 20.8 %.
	expect(run(other, outcomes(12, MIN_OUTCOMES))).toBe(MIN_OUTCOMES);
	expect(other.reason?.message).toBe(
		`more than 20 % of the items fail (100 of 1000 items have problems, 12 of the first ${MIN_OUTCOMES} that were written failed)`,
	);
});

test('portions count together, and the first reason stays', () => {
	const limit = new FailureLimit(10);
	limit.planned(500, 0);
	limit.planned(500, 100);
	expect(limit.reason).toBeUndefined();
	limit.planned(0, 0);
	limit.planned(100, 100);
	const { reason } = limit;
	expect(reason?.message).toContain('200 of 1100 items have problems');
	run(limit, outcomes(200, 200));
	limit.planned(10, 10);
	expect(limit.reason).toBe(reason);
});
