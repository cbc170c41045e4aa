import { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { OriginError } from '../../../nodes/DataPlatform/transport/allowedOrigins.ts';
import { toServiceError } from '../../../nodes/DataPlatform/transport/response.ts';
import type { ApiResponse } from '../../../nodes/DataPlatform/transport/client.ts';
import type { ApiRequest } from '../../../nodes/DataPlatform/transport/exchange.ts';
import { httpResponse, fakePlatform, networkError, type Serve } from '../stubPlatform.cts';

const read: ApiRequest = { method: 'GET', path: '/api/v2/apps', retryMode: 'idempotent' };
const create: ApiRequest = { method: 'POST', path: '/api/v2/t/data', body: {}, retryMode: 'notIdempotent' };

const script =
	(...steps: Array<ReturnType<Serve>>): Serve =>
	(_, count) =>
		steps[Math.min(count, steps.length) - 1]!;

const isFailure = (result: ApiResponse | ServiceError): ServiceError => {
	expect(result).toBeInstanceOf(ServiceError);
	return result as ServiceError;
};

const good = httpResponse(200, { data: [] });

beforeEach(() => jest.useFakeTimers({ now: Date.parse('2026-11-21T09:30:00Z') }));
afterEach(() => jest.useRealTimers());

/** Runs a call to its end, however long it waits. */
async function attempt(serve: Serve, call: ApiRequest = read, settings = {}) {
	const { connection, sent } = fakePlatform(serve, settings);
	const start = Date.now();
	const running = connection.tryRequest(call);
	await jest.runAllTimersAsync();
	const result = await running;
	return { result, sent, effort: connection.stats, waited: Date.now() - start };
}

describe('what is sent', () => {
	test('a path below the origin, encoded queries, JSON, no redirects', async () => {
		const query = { filter: 'a(eq)x&y', limit: 5, skip: 0, sort: undefined, userFilter: '' };
		const { sent } = await attempt(script(good), { ...create, query });
		expect(sent[0]).toMatchObject({
			method: 'POST',
			url: 'https://platform.example.com/api/v2/t/data?filter=a(eq)x%26y&limit=5&skip=0',
			headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
			body: Buffer.from('{}'),
			disableFollowRedirect: true,
			ignoreHttpStatusErrors: true,
			timeout: 60_000,
			encoding: 'stream',
		});
	});

	test('nothing if the base URL is not safe', () => {
		expect(() => fakePlatform(script(good), { baseUrl: 'http://platform.example.com' })).toThrow(OriginError);
	});
});

test.each([
	['a file of 30 GB', 30e9, 1000],
	['a timeout of 100 days', 10, 100 * 24 * 3600_000],
])('%s does not overflow the timer that ends a request', async (_, bytes, timeoutMs) => {
	const timeout = jest.spyOn(AbortSignal, 'timeout');
	const stream = { body: Buffer.from('{}'), bytes, isFullySent: () => true, close: () => undefined };
	const request = { ...create, body: undefined, stream: async () => stream };
	const { sent } = await attempt(script(good), request, { timeoutMs });
	expect(timeout.mock.calls[0]![0]).toBeGreaterThan(20 * 24 * 3600_000);
	for (const ms of [timeout.mock.calls[0]![0], sent[0]!.timeout!]) {
		expect(ms).toBeLessThan(2 ** 31);
	}
	timeout.mockRestore();
});

describe('responses', () => {
	test.each([
		[400, 'rejected', 'The platform rejected the request (400)'],
		[401, 'rejected', 'The platform did not accept the token'],
		[403, 'rejected', 'The token has no right to do this'],
		[404, 'rejected', 'The response is a 404 without an error from the platform'],
		[413, 'rejected', 'The request is too large for the platform'],
		[429, 'notApplied', 'The platform asked to wait: too many requests'],
		[500, 'ambiguous', 'The platform failed (500)'],
		[503, 'ambiguous', 'The platform failed (503)'],
		[307, 'rejected', 'responded with a redirect (307), which is not followed'],
	])('%d is %s', async (status, delivery, message) => {
		const { result } = await attempt(script(httpResponse(status, '')), create, { retryBudgetMs: 0 });
		expect(isFailure(result)).toMatchObject({ status, delivery });
		expect(isFailure(result).message).toContain(message);
	});

	test("the service's own message and code are in the error", async () => {
		const body = { errors: [{ id: 'code1', message: 'Too young' }] };
		const { result } = await attempt(script(httpResponse(400, body)));
		expect(isFailure(result)).toMatchObject({ code: 'code1', message: 'Too young', body });
		const forbidden = await attempt(script(httpResponse(403, body)));
		expect(isFailure(forbidden.result).message).toBe('The token has no right to do this: Too young');
	});

	test.each(['<html>…</html>', '', '[]', '"text"', 'null', '{"data":'])(
		'a success with %j leaves open whether it was done',
		async (body) => {
			const { result, sent } = await attempt(script(httpResponse(200, body, { 'content-type': 'text/html' })), create);
			expect(isFailure(result)).toMatchObject({ delivery: 'ambiguous', status: 200 });
			expect(isFailure(result).message).toContain(`(text/html, ${body.length} characters)`);
			expect(sent).toHaveLength(1);
		},
	);

	test('an empty success is enough if nothing is expected', async () => {
		const call: ApiRequest = { ...create, method: 'DELETE', bodyRequirement: 'anything' };
		expect((await attempt(script(httpResponse(204, '')), call)).result).toMatchObject({
			status: 204,
			body: {},
		});
	});
});

describe('failures without a response', () => {
	test.each([
		['ECONNREFUSED', undefined],
		['ENOTFOUND', undefined],
		['EAI_AGAIN', undefined],
		['EHOSTUNREACH', 'connect'],
		['ENETUNREACH', 'connect'],
	])('%s never reached the service', (code, syscall) => {
		expect(toServiceError(networkError(code, syscall))).toMatchObject({
			delivery: 'notApplied',
			message: `The platform could not be reached (${code})`,
		});
	});

	test('of a host with several addresses, the failure of each says so', () => {
		const each = Object.assign(new Error('x'), { code: 'ENETUNREACH', syscall: 'connect' });
		const all = Object.assign(new AggregateError([each, each]), { code: 'ENETUNREACH' });
		const wrapped = Object.assign(new Error('x'), { cause: all });
		expect(toServiceError(wrapped).delivery).toBe('notApplied');
	});

	test.each(['EHOSTUNREACH', 'ENETUNREACH'])('%s while the response was read: it may have been done', (code) => {
		expect(toServiceError(networkError(code, 'read')).delivery).toBe('ambiguous');
		expect(toServiceError(networkError(code)).delivery).toBe('ambiguous');
	});

	test('a timeout of the connection was not sent, one of the response may have been done', () => {
		expect(toServiceError(networkError('ETIMEDOUT', 'connect')).delivery).toBe('notApplied');
		for (const code of ['ETIMEDOUT', 'ECONNABORTED']) {
			expect(toServiceError(networkError(code))).toMatchObject({
				delivery: 'ambiguous',
				message: 'The platform did not respond in time',
			});
		}
	});

	test.each(['ECONNRESET', 'EPIPE', 'ERR_BAD_RESPONSE'])('%s may have been done', (code) => {
		const failure = toServiceError(networkError(code));
		expect(failure.delivery).toBe('ambiguous');
		expect(failure.message).toContain(code);
	});

	test.each([
		'DEPTH_ZERO_SELF_SIGNED_CERT',
		'CERT_HAS_EXPIRED',
		'CERT_UNTRUSTED',
		'ERR_TLS_CERT_ALTNAME_INVALID',
		'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
	])('%s is a refusal that says what to do', (code) => {
		expect(toServiceError(networkError(code))).toMatchObject({
			delivery: 'rejected',
			hint: expect.stringContaining("turn on 'Ignore SSL Issues' in the credential"),
		});
	});

	test('a refusal to send the token keeps its words', () => {
		const wrapped = Object.assign(new Error('x'), { cause: new OriginError('not sent', 'do') });
		expect(toServiceError(wrapped)).toMatchObject({ delivery: 'rejected', message: 'not sent', hint: 'do' });
	});

	test.each(['SsrfBlockedHostnameError', 'SsrfBlockedIpError'])("n8n's own refusal (%s) is final: nothing was sent", (name) => {
		const blocked = Object.assign(new Error('blocked'), { name });
		const wrapped = Object.assign(new Error('outer'), { cause: blocked });
		expect(toServiceError(wrapped)).toMatchObject({
			delivery: 'rejected',
			message: "n8n's SSRF protection blocks the platform's address. Nothing was sent",
			hint: expect.stringContaining('N8N_SSRF_ALLOWED_HOSTNAMES'),
		});
	});

	test('anything else is ambiguous, circular causes too', () => {
		const circular: { message: string; cause?: unknown } = { message: 'odd' };
		circular.cause = circular;
		expect(toServiceError(circular).delivery).toBe('ambiguous');
		expect(toServiceError(undefined).message).toContain('no reason given');
	});
});

describe('trying again', () => {
	const reset = networkError('ECONNRESET');
	const busy = (retryAfter?: string, date?: string) =>
		httpResponse(429, '', { ...(retryAfter && { 'retry-after': retryAfter }), ...(date && { date }) });

	test('after a 429, as late as the service says', async () => {
		const { result, effort, waited } = await attempt(script(busy('7'), good), create);
		expect(result).toMatchObject({ status: 200 });
		expect(effort).toMatchObject({ requests: 2, retries: 1 });
		expect(waited).toBeGreaterThanOrEqual(7000);
		expect(waited).toBeLessThan(8000);
		expect(effort.waitedMs).toBe(waited);
	});

	test("after a 429 with a date, by the service's own clock", async () => {
		const wrongClock = 'Sat, 21 Nov 2020 00:00:00 GMT';
		const { waited } = await attempt(script(busy('Sat, 21 Nov 2020 00:00:09 GMT', wrongClock), good));
		expect(waited).toBeGreaterThanOrEqual(9000);
		expect(waited).toBeLessThan(10_000);
	});

	test('after a 429 that says nothing, a minute later', async () => {
		const { waited, result } = await attempt(script(busy(), good), create);
		expect(result).not.toBeInstanceOf(ServiceError);
		expect(waited).toBeGreaterThanOrEqual(60_000);
		expect(waited).toBeLessThan(61_500);
	});

	test('a read after a reset', async () => {
		const { result, effort } = await attempt(script(reset, reset, good));
		expect(result).toMatchObject({ status: 200 });
		expect(effort).toMatchObject({ requests: 3, retries: 2 });
	});

	test('never a create after a reset', async () => {
		const { result, sent } = await attempt(script(reset, good), create);
		expect(isFailure(result).delivery).toBe('ambiguous');
		expect(sent).toHaveLength(1);
	});

	test('a create that never reached the service', async () => {
		const { result, sent } = await attempt(script(networkError('ECONNREFUSED'), good), create);
		expect(result).toMatchObject({ status: 200 });
		expect(sent).toHaveLength(2);
	});

	test('stays ambiguous when the repeats do not reach the service any more', async () => {
		const { result } = await attempt(script(reset, networkError('ECONNREFUSED')));
		expect(isFailure(result).delivery).toBe('ambiguous');
	});

	test('gives up after five repeats', async () => {
		const { result, sent } = await attempt(script(httpResponse(502, '')));
		expect(isFailure(result).status).toBe(502);
		expect(sent).toHaveLength(6);
	});

	test('gives up if the wait is longer than the rest of the budget, and says so', async () => {
		const serve = script(busy('5'), busy('5'), busy('5'), good);
		const { result, sent } = await attempt(serve, read, { retryBudgetMs: 12_000 });
		expect(sent).toHaveLength(3);
		expect(isFailure(result)).toMatchObject({
			delivery: 'notApplied',
			status: 429,
			message: expect.stringContaining('would pass the limit of 12 s for this execution'),
			hint: "Raise 'Max Wait (Seconds)' in the options, or send fewer records in one execution.",
		});
	});

	test('one budget serves all calls of an execution', async () => {
		const serve: Serve = (_, count) => (count % 2 === 1 ? busy('5') : good);
		const { connection } = fakePlatform(serve, { retryBudgetMs: 9000 });
		const both = Promise.all([connection.tryRequest(read).then(() => connection.tryRequest(read))]);
		await jest.runAllTimersAsync();
		expect(isFailure((await both)[0]).status).toBe(429);
	});

	test('waiting for the rate limit costs nothing of the budget', async () => {
		const { connection, sent } = fakePlatform(script(good), { requestsPerMinute: 2, retryBudgetMs: 0 });
		const start = Date.now();
		const all = Promise.all([1, 2, 3, 4, 5].map(async () => await connection.tryRequest(read)));
		await jest.runAllTimersAsync();
		for (const result of await all) expect(result).toMatchObject({ status: 200 });
		expect(sent).toHaveLength(5);
		expect(Date.now() - start).toBe(120_000);
	});
});

describe('cancelling', () => {
	test('ends a wait at once', async () => {
		const { connection, sent, cancel } = fakePlatform(script(httpResponse(429, '')));
		const running = connection.tryRequest(read);
		await jest.advanceTimersByTimeAsync(1000);
		cancel();
		await jest.advanceTimersByTimeAsync(1);
		expect(isFailure(await running).delivery).toBe('canceled');
		expect(sent).toHaveLength(1);
		expect(connection.stats.waitedMs).toBeLessThan(1100);
	});

	test('sends nothing any more', async () => {
		const { connection, sent, cancel } = fakePlatform(script(good));
		cancel();
		expect(isFailure(await connection.tryRequest(create)).delivery).toBe('canceled');
		expect(sent).toHaveLength(0);
	});

	test('a write that was under way may have been done', async () => {
		const fake = fakePlatform(() => {
			fake.cancel();
			return networkError('ERR_CANCELED');
		});
		const result = isFailure(await fake.connection.tryRequest(create));
		expect(result.delivery).toBe('ambiguous');
		expect(result.message).toContain('canceled');
	});

	test('a response that still came counts', async () => {
		const fake = fakePlatform(() => {
			fake.cancel();
			return good;
		});
		expect(await fake.connection.tryRequest(create)).toMatchObject({ status: 200 });
	});
});

test('no error contains the token', async () => {
	const leaky = Object.assign(networkError('ECONNRESET'), {
		config: { headers: { Authorization: 'Bearer s3cret' } },
	});
	const { result } = await attempt(script(leaky), create);
	expect(JSON.stringify([String(result), result])).not.toContain('s3cret');
});
