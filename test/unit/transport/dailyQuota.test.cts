/** A limit per minute is waited for, the day's requests are not. */
import { randomUUID } from 'node:crypto';
import type { ClientSettings } from '../../../nodes/DataPlatform/transport/client.ts';
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

test('a limit per minute that other executions use up is waited for, as long as they are served', async () => {
	const account = randomUUID();
	const other = fakePlatform(() => good(), { account });
	const { failure, attempts, seconds } = await send(
		async (_, count) => {
			if (count === 4) return good();
			// Between the attempts.
			setTimeout(() => void other.connection.tryRequest(read), 30_000);
			return limited();
		},
		{ account },
	);
	expect({ failure, attempts, seconds }).toEqual({ failure: undefined, attempts: 4, seconds: 180 });
});

test('requests that wait side by side wait for one minute, and later ones for none', async () => {
	const { connection, sent } = fakePlatform(() => limited(), { account: randomUUID() });
	const start = performance.now();
	const results = Promise.all([1, 2, 3].map(async () => await connection.tryRequest(read)));
	await jest.runAllTimersAsync();
	expect((await results).map((result) => (result as ServiceError).code)).toEqual(['quotaUsedUp', 'quotaUsedUp', 'quotaUsedUp']);
	expect((await connection.tryRequest(read)) as ServiceError).toMatchObject({ code: 'quotaUsedUp' });
	expect(Math.round((performance.now() - start) / 1000)).toBe(60);
	expect(sent).toHaveLength(7);
});

test('a 503 with a long Retry-After is no quota', async () => {
	const { failure } = await send(() => httpResponse(503, '', { 'retry-after': '4000' }));
	expect(failure).toMatchObject({ status: 503, hint: expect.stringContaining('Raise ') });
	expect(failure!.code).toBeUndefined();
});
