import { Readable } from 'node:stream';
import { InputError, ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { toServiceError } from '../../../nodes/DataPlatform/transport/response.ts';
import type { ApiResponse } from '../../../nodes/DataPlatform/transport/client.ts';
import type { ApiRequest } from '../../../nodes/DataPlatform/transport/exchange.ts';
import type { ByteStream } from '../../../nodes/DataPlatform/transport/streams.ts';
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
		expect(() => fakePlatform(script(good), { baseUrl: 'http://platform.example.com' })).toThrow(InputError);
	});
});

test.each([
	['a file of 30 GB', 30e9, 1000],
	['a timeout of 100 days', 10, 100 * 24 * 3600_000],
])('%s does not overflow the timer that ends a request', async (_, bytes, timeoutMs) => {
	const timeout = jest.spyOn(AbortSignal, 'timeout');
	const body = Readable.from(['{}']) as unknown as ByteStream;
	const stream = { body, bytes, isFullySent: () => true, close: () => undefined };
	const request = { ...create, body: undefined, stream: async () => stream };
	const { sent } = await attempt(script(good), request, { timeoutMs });
	expect(timeout.mock.calls[0]![0]).toBeGreaterThan(20 * 24 * 3600_000);
	for (const ms of [timeout.mock.calls[0]![0], sent[0]!.timeout!]) {
		expect(ms).toBeLessThan(2 ** 31);
	}
	timeout.mockRestore();
});

describe('failures without a response', () => {
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
	test('one budget serves all calls of an execution', async () => {
		const serve: Serve = (_, count) => (count % 2 === 1 ? httpResponse(429, '', { 'retry-after': '5' }) : good);
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
	test('sends nothing any more', async () => {
		const { connection, sent, cancel } = fakePlatform(script(good));
		cancel();
		expect(isFailure(await connection.tryRequest(create)).delivery).toBe('canceled');
		expect(sent).toHaveLength(0);
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
	const leaky = Object.assign(networkError('ECONNRESET'), { config: { headers: { Authorization: 'Bearer s3cret' } } });
	const { result } = await attempt(script(leaky), create);
	expect(JSON.stringify([String(result), result])).not.toContain('s3cret');
});
