import { numbered, expectErrorItem, outcomes, useHarness } from './fixtures.cts';

const harness = useHarness({ keepsTime: true });

const tooMany = (retryAfter: object) => ({ when: { every: 3 }, fault: { kind: 'status', status: 429, ...retryAfter } });
const runSummary = async (operation: string, options = {}) =>
	await harness.run(operation, { items: numbered(30), options: { output: 'summary', ...options } });
const summaryOf = async (operation: string, options = {}) => (await runSummary(operation, options)).json();

describe('429 on every third request', () => {
	test('with Retry-After in seconds: all written, every wait honoured and in the summary', async () => {
		await harness.faults(tooMany({ retryAfterSeconds: 1 }));
		const options = { batchSize: 6, parallelRequests: 1 };
		const result = await runSummary('upsert', options);
		const [summary, ...others] = result.json();
		expect(others).toEqual([]);
		expect(summary).toMatchObject({ inserted: 30, failed: 0, unknown: 0, retries: 2 });
		expect(summary!.waitedMs).toBeGreaterThanOrEqual(2000);
		expect(summary!.waitedMs).toBeLessThan(10_000);
		const log = await harness.requests();
		expect(summary!.requests).toBe(log.length);
		expect(result.hints[1]).toMatch(/^[2-9] s waited: The platform asked to wait: too many requests/);
		log.forEach(({ status, startedAt }, index) => {
			if (status !== 429) return;
			const pause = Date.parse(log[index + 1]!.startedAt) - Date.parse(startedAt);
			expect(pause).toBeGreaterThanOrEqual(1000);
		});
		expect(await harness.records()).toHaveLength(30);
	});

	test('with Retry-After as a date', async () => {
		await harness.faults({ ...tooMany({ retryAfterDate: 1 }), when: { nth: [2] } });
		const [summary] = await summaryOf('create');
		expect(summary).toMatchObject({ inserted: 30, retries: 1 });
		expect(await harness.records()).toHaveLength(30);
	});

	test('without Retry-After a minute is waited, so a shorter Max Wait stops it clearly', async () => {
		await harness.faults({ ...tooMany({}), match: { path: '/data/bulk$' }, when: { nth: [2] } });
		const result = await harness.run('create', { items: numbered(30), options: { batchSize: 10, maxRetryWait: 1 } });
		expect(result.error?.message).toContain('The platform asked to wait: too many requests');
		expect(result.error?.message).toContain('would pass the limit of 1 s');
		expect(result.error?.description).toContain("'Batches, Timeouts and Retries → Max Wait (Seconds)'");
		expect(result.error?.description).toContain('10 of 30 items are done, all confirmed through item 9.');
		expect(result.error?.context?.itemIndex).toBe(10);
		expect(await harness.values('number')).toEqual(numbered(10).map(({ number }) => number));
	});
});

test('a run that gives up has an outcome for each item, and says up to which item everything is confirmed', async () => {
	const refusal = { match: { path: '/data/bulk$' }, when: { nth: [2] }, ...{ fault: { kind: 'status', status: 403 } } };
	await harness.faults(refusal);
	const run = { items: numbered(6), onError: 'continueRegularOutput' as const };
	const items = await harness.run('create', { ...run, options: { batchSize: 2 } });
	expect(outcomes(items)).toEqual(['inserted', 'inserted', 'failed', 'failed', 'failed', 'failed']);
	expectErrorItem(items.output('Data Platform')[2]!, 2, 'no right', { status: 403 });
	expectErrorItem(items.output('Data Platform')[5]!, 5, 'Not sent, the run stopped before');
	expect(await harness.writes()).toHaveLength(2);

	await harness.reset();
	await harness.faults(refusal);
	const summary = await harness.run('create', { ...run, options: { batchSize: 2, output: 'summary' } });
	expect(summary.json()).toMatchObject([{ inserted: 2, failed: 4, stopped: expect.stringContaining('no right'), confirmedThroughItem: 1 }]);
});

test('a run that gives up at its first batch has confirmed nothing, and says so', async () => {
	await harness.faults({ match: { path: '/data/bulk$' }, fault: { kind: 'status', status: 403 } });
	const result = await harness.run('create', {
		items: numbered(4),
		onError: 'continueRegularOutput',
		options: { batchSize: 2, output: 'summary' },
	});
	expect(result.json()).toMatchObject([{ inserted: 0, failed: 4, confirmedThroughItem: null }]);
});

test("the service's own rate limit lets everything through in time", async () => {
	await harness.settings({ rateLimitPerMinute: 3, rateLimitWindowMs: 1000, retryAfter: 'seconds' });
	const [summary] = await summaryOf('create', { batchSize: 10 });
	expect(summary).toMatchObject({ inserted: 30 });
	expect(await harness.records()).toHaveLength(30);
});

/** Cancels after this many requests, and `ms` later. */
const cancelAfter = (requests: number, ms: number) => (cancel: () => void) => {
	const watch = setInterval(async () => {
		if ((await harness.requests()).length < requests) return;
		clearInterval(watch);
		setTimeout(cancel, ms);
	}, 50);
};

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
	await harness.faults({
		match: { path: '/data/bulk$' },
		when: { nth: [2] },
		fault: { kind: 'status', status: 429, retryAfterSeconds: 30 },
	});
	const start = Date.now();
	const result = await harness.run('create', { items: numbered(6), options: { batchSize: 2 }, onStart: cancelAfter(3, 0) });
	expect(Date.now() - start).toBeLessThan(25_000);
	expect(result.run.status).toBe('canceled');
	const before = (await harness.requests()).length;
	await new Promise((resolve) => setTimeout(resolve, 700));
	expect((await harness.requests()).length).toBe(before);
	expect(await harness.values('number')).toEqual(['1', '2']);
});
