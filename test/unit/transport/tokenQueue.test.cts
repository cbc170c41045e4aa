/** What executions know of a token together. A limit per minute is waited for, the day's requests are not. */
import { randomUUID } from 'node:crypto';
import type { ClientSettings } from '../../../nodes/DataPlatform/transport/client.ts';
import type { ApiRequest } from '../../../nodes/DataPlatform/transport/exchange.ts';
import { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { fakePlatform, httpResponse, type Serve } from '../stubPlatform.cts';

beforeEach(() => {
	jest.useFakeTimers();
	jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
	jest.restoreAllMocks();
	jest.useRealTimers();
});

const limited = (retryAfter?: string, message?: string) =>
	httpResponse(429, message === undefined ? '' : { errors: [{ id: 'limit', message }] }, retryAfter ? { 'retry-after': retryAfter } : {});
const good = () => httpResponse(200, { data: 1 });
const read = { method: 'GET', path: '/x', retryMode: 'read' } as const;

/** Sends one request. Returns what became of it, how long that took in seconds, and how many attempts were made. */
async function send(serve: Serve, settings: Partial<ClientSettings> = {}) {
	const { connection, sent } = fakePlatform(serve, { account: randomUUID(), ...settings });
	const start = performance.now();
	const running = connection.tryRequest(read).then((result) => ({ result, seconds: Math.round((performance.now() - start) / 1000) }));
	await jest.runAllTimersAsync();
	const { result, seconds } = await running;
	return { failure: result instanceof ServiceError ? result : undefined, seconds, attempts: sent.length };
}

test.each<[what: string, seconds: number, attempts: number, Parameters<typeof limited>, budgetS?: number]>([
	['without Retry-After, after the minute that a limit per minute takes', 60, 2, []],
	['with a Retry-After that is longer than Max Wait', 0, 1, ['40000']],
	['with a date that is later', 0, 1, [new Date(Date.now() + 3_600_000).toUTCString()]],
	['with words that say so', 0, 1, ['60', "The day's API calls are used up."]],
	['with words that name the limit', 0, 1, [undefined, 'Daily limit of 25000 calls exceeded']],
	['with a short Retry-After, once Max Wait is over', 300, 6, ['60']],
	['without Retry-After and any wait, by its words', 0, 1, [undefined, 'No more calls today'], 0],
])('429 %s: takes %d s and %d attempts', async (_, seconds, attempts, response, budgetS = 300) => {
	const sent = await send(() => limited(...response), { retryBudgetMs: budgetS * 1000 });
	expect(sent).toMatchObject({
		seconds,
		attempts,
		failure: { code: 'quotaUsedUp', status: 429, delivery: 'notApplied', isRetryBudgetSpent: true },
	});
	expect(sent.failure!.message).toMatch(/^The platform asked to wait: .*; the requests of this day seem to be used up$/);
	expect(sent.failure!.hint).toMatch(/^Run it again .*Raising 'Max Wait \(Seconds\)' does not help\.$/);
});

test('the error says when to go on, if the platform does', async () => {
	jest.setSystemTime(new Date('2026-11-27T20:00:00Z'));
	const { failure } = await send(() => limited('14400'));
	expect(failure).toMatchObject({ retryAfterMs: 14_400_000, hint: expect.stringContaining('Run it again after 2026-11-28T00:00:00.000Z') });
	expect((await send(() => limited(undefined, 'used up today'))).failure!.hint).toContain('when the platform counts the next day');
});

test.each<[what: string, Parameters<typeof limited>, budgetS: number]>([
	['a wait of a minute that Max Wait does not allow', ['60'], 30],
	['words that name a minute', ['60', 'Quota of 10 calls per minute exceeded; a day has 1440'], 30],
	['a long wait that Max Wait allows', ['400'], 300],
])('%s is none of it if Max Wait is raised', async (_, response, budgetS) => {
	const serve: Serve = (__, count) => (count === 1 ? limited(...response) : good());
	expect((await send(serve, { retryBudgetMs: 1000_000 })).failure).toBeUndefined();
	const { failure } = await send(serve, { retryBudgetMs: budgetS * 1000 });
	if (response[0] === '60') expect(failure).toMatchObject({ hint: expect.stringContaining('Raise ') });
});

test('requests that wait side by side wait for one minute, and later ones for none', async () => {
	const { connection, sent } = fakePlatform(() => limited(), { account: randomUUID() });
	const start = performance.now();
	const results = Promise.all([1, 2, 3].map(async () => await connection.tryRequest(read)));
	await jest.runAllTimersAsync();
	expect((await results).map((result) => (result as ServiceError).code)).toEqual(['quotaUsedUp', 'quotaUsedUp', 'quotaUsedUp']);
	expect((await connection.tryRequest(read)) as ServiceError).toMatchObject({ code: 'quotaUsedUp' });
	expect(Math.round((performance.now() - start) / 1000)).toBe(60);
	// Three at once, one for all after the minute, and the later one.
	expect(sent).toHaveLength(5);
});

test('a 503 with a long Retry-After is no quota', async () => {
	const { failure } = await send(() => httpResponse(503, '', { 'retry-after': '4000' }));
	expect(failure).toMatchObject({ status: 503, hint: expect.stringContaining('Raise ') });
	expect(failure!.code).toBeUndefined();
});

/** Executions with the same token. `serve` gets the requests of all. */
function executions(serve: Serve, ...settings: Array<Partial<ClientSettings>>) {
	const account = randomUUID();
	const sentAt: number[] = [];
	const start = performance.now();
	const clients = settings.map((own) =>
		fakePlatform(
			async (options) => {
				sentAt.push(Math.round((performance.now() - start) / 1000));
				return await serve(options, sentAt.length);
			},
			{ account, ...own },
		),
	);
	return {
		clients,
		sentAt,
		send: clients.map(
			({ connection }) =>
				async () =>
					await connection.tryRequest(read),
		),
	};
}

/** Waits with fake time. */
const later = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

test('sixty executions at twenty a minute: no more than one is refused after each wait', async () => {
	let window: { start: number; count: number } | undefined;
	const serve: Serve = async () => {
		const now = performance.now();
		if (!window || now >= window.start + 60_000) window = { start: now, count: 0 };
		window.count += 1;
		const { count } = window;
		await later(20);
		return count > 20 ? limited() : good();
	};
	const { send, sentAt } = executions(serve, ...Array.from({ length: 60 }, () => ({})));
	const running = send.map(async (one, at) => (await later(at * 30), await one()));
	await jest.runAllTimersAsync();
	expect((await Promise.all(running)).filter((result) => result instanceof ServiceError)).toEqual([]);
	expect(sentAt.length).toBeLessThanOrEqual(64);
	expect(sentAt.at(-1)).toBeLessThan(125);
});

test('executions that start at once send twelve at once; after a wait one asks, then as many as were served before', async () => {
	const serve: Serve = async (_, count) => {
		await later(1000);
		return count > 3 && count <= 12 ? limited('30') : good();
	};
	const { send, sentAt } = executions(serve, ...Array.from({ length: 20 }, () => ({})));
	const running = Promise.all(send.map(async (one) => await one()));
	await jest.runAllTimersAsync();
	expect((await running).filter((result) => result instanceof ServiceError)).toEqual([]);
	expect(sentAt).toEqual([...Array(12).fill(0), 31, 32, 32, 33, 34, 34, 35, 35, 35, 35, ...Array(7).fill(36)]);
});

test('requests per minute are those of all executions', async () => {
	const { send, sentAt } = executions(good, { requestsPerMinute: 3 }, { requestsPerMinute: 3 }, {});
	const running = [send[2]!, send[0]!, send[1]!, send[0]!, send[1]!, send[0]!, send[1]!].map(async (one) => await one());
	await jest.runAllTimersAsync();
	await Promise.all(running);
	expect(sentAt).toEqual([0, 0, 0, 60, 60, 60, 120]);
});

describe('while the platform asked another execution to wait', () => {
	const serve: Serve = (_, count) => (count === 1 ? limited('60') : good());

	test.each<[what: string, Partial<ClientSettings>, at: number[], failure: object | undefined]>([
		['one with time waits', {}, [0, 60, 60], undefined],
		['one with too little fails unsent', { retryBudgetMs: 20_000 }, [0, 60], { status: 429, retryAfterMs: 50_000, delivery: 'notApplied' }],
		['one that must not wait asks', { retryBudgetMs: 0 }, [0, 10, 60], undefined],
	])('%s', async (_, own, at, failure) => {
		const { send, sentAt } = executions(serve, {}, own);
		const first = send[0]!();
		await jest.advanceTimersByTimeAsync(10_000);
		const other = send[1]!();
		await jest.runAllTimersAsync();
		expect(await first).not.toBeInstanceOf(ServiceError);
		expect(sentAt).toEqual(at);
		if (failure) expect(await other).toMatchObject(failure);
		else expect(await other).not.toBeInstanceOf(ServiceError);
	});

	test('one that is canceled ends', async () => {
		const { send, sentAt, clients } = executions(serve, {}, {});
		const first = send[0]!();
		await jest.advanceTimersByTimeAsync(1000);
		const other = send[1]!();
		clients[1]!.cancel();
		await jest.runAllTimersAsync();
		await first;
		expect(await other).toMatchObject({ delivery: 'canceled' });
		expect(sentAt).toEqual([0, 60]);
	});
});

test.each<[what: string, Partial<ApiRequest>, at: number[]]>([
	['five seconds, if it is slow', {}, [0, 1, 6]],
	['no time, if it starts a workflow', { to: { url: 'https://platform.example.com/hook', withToken: true } }, [0, 1, 1]],
	['no time, if it goes elsewhere', { to: { url: 'https://files.example.com/1', withToken: false } }, [0, 0, 1]],
])('a request under way after a wait holds the others up for %s', async (_, more, at) => {
	const serve: Serve = async (__, count) => {
		if (count === 1) return limited('1');
		await later(20_000);
		return good();
	};
	const { clients, sentAt } = executions(serve, { retryBudgetMs: 100 }, {});
	await clients[0]!.connection.tryRequest(read);
	const { connection } = clients[1]!;
	const running = Promise.all([connection.tryRequest({ ...read, ...more }), connection.tryRequest(read)]);
	await jest.runAllTimersAsync();
	await running;
	expect(sentAt).toEqual(at);
});

test("once the day's requests are used up, whoever waits fails at once, and a later execution asks once", async () => {
	const { send, sentAt } = executions(() => limited(), ...Array.from({ length: 8 }, () => ({})));
	const running = Promise.all(send.slice(0, 7).map(async (one, at) => (await later(at * 1000), await one())));
	await jest.runAllTimersAsync();
	expect((await running).map((result) => (result as ServiceError).code)).toEqual(Array(7).fill('quotaUsedUp'));
	expect(sentAt).toEqual([0, 60]);
	jest.advanceTimersByTime(1);
	const late = send[7]!();
	await jest.runAllTimersAsync();
	expect(await late).toMatchObject({ code: 'quotaUsedUp' });
	expect(sentAt).toEqual([0, 60, 60]);
});

test.each([
	['the limit of a minute', 10_000, 'Raise'],
	['that of the day, which the silence shows by then, whoever asked', 70_000, 'does not help'],
])('who may not wait for so long is told %s', async (_, ms, advice) => {
	const { send } = executions(() => limited('50'), {}, { retryBudgetMs: 5_000 });
	const asking = send[0]!();
	const other = later(ms).then(async () => await send[1]!());
	await jest.runAllTimersAsync();
	await asking;
	expect((await other) as ServiceError).toMatchObject({ status: 429, hint: expect.stringContaining(advice) });
});
