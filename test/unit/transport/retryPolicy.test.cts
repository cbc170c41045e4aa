import { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import {
	isWaitRequest,
	parseRetryAfter,
	RetryBudget,
	retryDelay,
	type RetryMode,
} from '../../../nodes/DataPlatform/transport/retryPolicy.ts';

const MAX_RETRIES = 5;

type Details = ConstructorParameters<typeof ServiceError>[1];

const harmless: RetryMode = 'idempotent';
const once: RetryMode = 'notIdempotent';

const failure = (details: Details) => new ServiceError('It failed', details);

const wait = (details: Details, repeat: RetryMode, repeats = 0, random = 0) =>
	retryDelay(failure(details), repeat, { retries: repeats }, random);

/** Failures, and whether an idempotent request and another one are retried. */
const rows: Array<[row: string, failure: Details, harmless: boolean, once: boolean]> = [
	['never reached the service', { delivery: 'notApplied' }, true, true],
	['429 without Retry-After', { delivery: 'notApplied', status: 429 }, true, true],
	['429 with Retry-After', { delivery: 'notApplied', status: 429, retryAfterMs: 1000 }, true, true],
	['503 with Retry-After', { delivery: 'notApplied', status: 503, retryAfterMs: 1000 }, true, true],
	['timeout or reset', { delivery: 'ambiguous' }, true, false],
	['500', { delivery: 'ambiguous', status: 500 }, true, false],
	['502', { delivery: 'ambiguous', status: 502 }, true, false],
	['503 without Retry-After', { delivery: 'ambiguous', status: 503 }, true, false],
	['504', { delivery: 'ambiguous', status: 504 }, true, false],
	['other 4xx', { delivery: 'rejected', status: 409 }, false, false],
	['413', { delivery: 'rejected', status: 413 }, false, false],
	['canceled', { delivery: 'canceled' }, false, false],
];

test.each(rows)('%s', (_, details, whenHarmless, whenOnce) => {
	expect(wait(details, harmless) !== undefined).toBe(whenHarmless);
	expect(wait(details, once) !== undefined).toBe(whenOnce);
});

const asked = (retryAfterMs: number | undefined, status = 429) => failure({ delivery: 'notApplied', status, retryAfterMs });

// As long as asked, 60 s if not said, and slightly longer at random; half a second and more from the fourth time.
test.each([
	[2000, 0.5, 0, 2100],
	[60_000, 0.5, 0, 60_500],
	[undefined, 0.5, 0, 60_500],
	[10_000, 0.5, 0, 10_300],
	[18_000, 1, 0, 19_000],
	[0, 0.5, 0, 50],
	[0, 0, 2, 0],
	[500, 0, 3, 500],
	[700, 0, 3, 700],
	[500, 0, 5, 2000],
	[0, 0, 9, 30_000],
	[0, 0, 20, 30_000],
])('asked to wait for %s ms, at random %d, after %i such requests: %d ms', (ms, random, count, expected) => {
	expect(retryDelay(asked(ms), once, { retries: 0, rateLimitCount: count }, random)).toBe(expected);
});

test.each([
	[429, undefined, true],
	[429, 1000, true],
	[503, 1000, true],
	[503, 0, true],
	[503, undefined, false],
	[500, 1000, false],
])('status %i with Retry-After %s is a request to wait: %s', (status, ms, expected) => {
	expect(isWaitRequest(asked(ms, status))).toBe(expected);
});

test('a 429 is not counted against the repeats: only the retry budget ends it', () => {
	expect(wait({ delivery: 'notApplied', status: 429 }, once, MAX_RETRIES + 1)).toBe(60_000);
});

test('other failures back off, doubled each time, shortened at random by half at most', () => {
	const waits = (random: number) =>
		Array.from({ length: MAX_RETRIES }, (_, repeats) => wait({ delivery: 'ambiguous' }, harmless, repeats, random));
	expect(waits(0)).toEqual([250, 500, 1000, 2000, 4000]);
	expect(waits(1)).toEqual([500, 1000, 2000, 4000, 8000]);
	expect(wait({ delivery: 'ambiguous' }, harmless, MAX_RETRIES)).toBeUndefined();
	expect(wait({ delivery: 'notApplied' }, once, MAX_RETRIES)).toBeUndefined();
});

describe('Retry-After', () => {
	const now = Date.parse('2026-11-21T09:30:00Z');

	test.each([
		['5', 5000],
		[' 5 ', 5000],
		[5, 5000],
		['0', 0],
		['15', 15_000],
		['1.25', 1250],
		[1.5, 1500],
		['Sat, 21 Nov 2026 09:30:07 GMT', 7000],
		['Sat, 21 Nov 2026 09:29:00 GMT', 0],
		['Saturday, 21-Nov-26 09:30:07 GMT', 7000],
		['2026-11-21T09:30:07Z', 7000],
	])('%j means %d ms', (header, ms) => {
		expect(parseRetryAfter(header, now)).toBe(ms);
	});

	test.each([
		...[undefined, null, '', 'soon', [], [5], {}, true],
		// `Date.parse` takes these for dates in the past.
		...[-5, '-5', '-0.5', '+5', '5.', '5 s', '5a', 'a5', '1e3', '5, 10', 'soon 5', '1/2'],
		...['Sat', '2026-99-99T00:00:00Z', 'NaN', 'Infinity'],
	])('%j means nothing', (header) => {
		expect(parseRetryAfter(header, now)).toBeUndefined();
	});
});

test('waits at the same time use the retry budget once', () => {
	const budget = new RetryBudget(100);
	expect(budget.reserve(0, 60)).toBe(true);
	expect(budget.reserve(10, 60)).toBe(true);
	// 30 are left.
	expect(budget.reserve(70, 31)).toBe(false);
	expect(budget.reserve(70, 30)).toBe(true);
	expect(budget.reserve(80, 20)).toBe(true);
	expect(budget.reserve(200, 1)).toBe(false);
});
