/** Waiting for a platform that limits requests, in real time; what a run that gives up says. */
import { cancelWhen, expectFailed, goingOn, numbered, order, outcomes, useHarness } from './fixtures.cts';

const harness = useHarness({ keepsTime: true });

const bulk = { path: '/data/bulk$' };
const tooMany = (retryAfter: object) => ({ kind: 'status', status: 429, ...retryAfter });
const refused = { kind: 'status', status: 401 };

/** Runs an operation for 30 items, with a summary. */
const summarized = async (operation: string, options = {}) =>
	await harness.run(operation, { items: numbered(30), options: { output: 'summary', ...options } });

describe('429 on every third request', () => {
	test('with Retry-After in seconds: all written, every wait honoured and in the summary', async () => {
		await harness.faults({ when: { every: 3 }, fault: tooMany({ retryAfterSeconds: 1 }) });
		const result = await summarized('upsert', { batchSize: 6, parallelRequests: 1 });
		const [summary, ...others] = result.json();
		expect(others).toEqual([]);
		expect(summary).toMatchObject({ inserted: 30, failed: 0, unknown: 0, retries: 2 });
		expect(summary!.waitedMs).toBeGreaterThanOrEqual(2000);
		expect(summary!.waitedMs).toBeLessThan(10_000);
		const log = await harness.requests();
		expect(summary!.requests).toBe(log.length);
		expect(result.hints[1]).toMatch(/^[2-9] s waited: The platform asked to wait: too many requests/);
		const startOf = (at: number) => Date.parse(log[at]!.startedAt);
		const pauses = log.flatMap(({ status }, at) => (status === 429 ? startOf(at + 1) - startOf(at) : []));
		expect(pauses).toHaveLength(2);
		expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1000);
		expect(await harness.records()).toHaveLength(30);
	});

	test('with Retry-After as a date', async () => {
		await harness.faults({ when: { nth: [2] }, fault: tooMany({ retryAfterDate: 1 }) });
		expect((await summarized('create')).json()).toMatchObject([{ inserted: 30, retries: 1 }]);
		expect(await harness.records()).toHaveLength(30);
	});

	test('without Retry-After a minute is waited, so a shorter Max Wait stops it clearly', async () => {
		await harness.faults({ match: bulk, when: { nth: [2] }, fault: tooMany({}) });
		const result = await harness.run('create', { items: numbered(30), options: { batchSize: 10, maxRetryWait: 1 } });
		expect(result.error?.message).toContain('The platform asked to wait: too many requests');
		expect(result.error?.message).toContain('would pass the limit of 1 s');
		expect(result.error?.description).toContain("'Batches, Timeouts and Retries → Max Wait (Seconds)'");
		expect(result.error?.description).toContain('10 of 30 items are done, all confirmed through item 9.');
		expect(result.error?.context?.itemIndex).toBe(10);
		expect(await harness.values('number')).toEqual(numbered(10).map(({ number }) => number));
	});
});

test.each(['long', 'date'])(
	'the day is used up (%s): the run ends at once, with what is written and when to go on',
	async (quotaRetryAfter) => {
		await harness.settings({ dailyQuota: 3, quotaRetryAfter });
		const start = Date.now();
		const result = await harness.run('create', { ...goingOn, items: numbered(30), options: { batchSize: 10, parallelRequests: 1 } });
		expect(Date.now() - start).toBeLessThan(30_000);
		const failed = result.json().filter(({ error }) => error);
		expect(failed.length).toBeGreaterThan(0);
		expect(await harness.records()).toHaveLength(30 - failed.length);
		expect(failed[0]).toMatchObject({
			error: expect.stringContaining('seem to be used up'),
			message: expect.stringMatching(/Run it again after \d{4}-.*does not help/),
			details: { code: 'quotaUsedUp', retryable: true, retryAfter: expect.any(Number) },
		});
	},
);

test('a run that gives up has an outcome for each item, and sends nothing more', async () => {
	await harness.faults({ match: bulk, when: { nth: [2] }, fault: refused });
	const result = await harness.run('create', { ...goingOn, items: numbered(6), options: { batchSize: 2 } });
	expect(outcomes(result)).toEqual(['inserted', 'inserted', 'failed', 'failed', 'failed', 'failed']);
	expectFailed(result, 2, 'did not accept the token', { status: 401 });
	expectFailed(result, 5, 'Not sent, the run stopped before');
	expect(await harness.writes()).toHaveLength(2);
});

test.each([
	['second', { nth: [2] }, { inserted: 2, failed: 4, confirmedThroughItem: 1 }],
	['first', {}, { inserted: 0, failed: 6, confirmedThroughItem: null }],
])('the summary of a run that gives up at its %s batch says up to which item everything is confirmed', async (_, when, summary) => {
	await harness.faults({ match: bulk, when, fault: refused });
	const result = await harness.run('create', { ...goingOn, items: numbered(6), options: { batchSize: 2, output: 'summary' } });
	expect(result.json()).toMatchObject([{ ...summary, stopped: expect.stringContaining('did not accept the token') }]);
});

test("the service's own rate limit lets everything through in time", async () => {
	await harness.settings({ rateLimitPerMinute: 3, rateLimitWindowMs: 1000, retryAfter: 'seconds' });
	expect((await summarized('create', { batchSize: 10 })).json()).toMatchObject([{ inserted: 30 }]);
	expect(await harness.records()).toHaveLength(30);
});

test.each<[what: string, spreadMs: number, most: number]>([
	['one after the other', 15, 100],
	['at once', 0, 100],
])('sixty executions of one item with one token that start %s, twenty requests at a time: all are written', async (_, spreadMs, most) => {
	await harness.settings({ rateLimitPerMinute: 20, rateLimitWindowMs: 2000, retryAfter: 'seconds' });
	const run = async (at: number) => await harness.run('create', { items: [order(at)], isWarm: at > 0 });
	const runs = Array.from({ length: 60 }, async (__, at) => {
		await new Promise((resolve) => setTimeout(resolve, at * spreadMs));
		return await run(at);
	});
	expect((await Promise.all(runs)).filter(({ error }) => error)).toEqual([]);
	expect(await harness.records()).toHaveLength(60);
	const requests = await harness.requests();
	expect(requests.filter(({ method, status }) => method === 'GET' && status === 200)).toHaveLength(1);
	// One is refused after each wait, and those that were under way with the first.
	expect(requests.length).toBeLessThanOrEqual(most);
});

/** Cancels after this many requests, and `ms` later. */
const cancelAfter = (requests: number, ms: number) => cancelWhen(async () => (await harness.requests()).length >= requests, ms);

test("the credential's requests per minute are kept", async () => {
	const start = Date.now();
	const result = await harness.run('create', {
		items: numbered(2),
		credential: { requestsPerMinute: 2 },
		options: { batchSize: 1 },
		onStart: cancelAfter(2, 700),
	});
	// The third request would have to wait for a minute.
	expect(Date.now() - start).toBeGreaterThanOrEqual(700);
	expect(result.run.status).toBe('canceled');
	expect(await harness.requests()).toHaveLength(2);
	expect(await harness.records()).toHaveLength(1);
});

test.each([1.5, -1])('%d requests per minute are refused by name', async (requests) => {
	const result = await harness.run('create', { items: numbered(2), credential: { requestsPerMinute: requests } });
	expect(result.error?.message).toContain("'Requests per Minute' must be a whole number at least 0");
	expect(await harness.requests()).toEqual([]);
});

test('cancelling ends the waiting at once, and nothing more is sent', async () => {
	await harness.faults({ match: bulk, when: { nth: [2] }, fault: tooMany({ retryAfterSeconds: 30 }) });
	const start = Date.now();
	const result = await harness.run('create', { items: numbered(6), options: { batchSize: 2 }, onStart: cancelAfter(3, 0) });
	expect(Date.now() - start).toBeLessThan(25_000);
	expect(result.run.status).toBe('canceled');
	const before = (await harness.requests()).length;
	await new Promise((resolve) => setTimeout(resolve, 700));
	expect((await harness.requests()).length).toBe(before);
	expect(await harness.values('number')).toEqual(['1', '2']);
});
