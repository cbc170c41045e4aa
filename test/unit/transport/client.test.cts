/** One request and its response: URLs, bodies, bytes, tokens, waits. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IDataObject, IHttpRequestOptions, IN8nHttpFullResponse, Logger } from 'n8n-workflow';
import { ApiClient, type ClientSettings } from '../../../nodes/DataPlatform/transport/client.ts';
import type { ApiRequest } from '../../../nodes/DataPlatform/transport/exchange.ts';
import { InputError, ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { MIB, newStream, type ByteStream } from '../../../nodes/DataPlatform/transport/streams.ts';
import { fakePlatform, httpResponse, networkError, SETTINGS, streamed, type Serve } from '../stubPlatform.cts';

const good = () => httpResponse(200, { data: 1 });
const get: ApiRequest = { method: 'GET', path: '/x', retryMode: 'read' };
const post: ApiRequest = { method: 'POST', path: '/x', retryMode: 'notIdempotent' };
const once = { retryBudgetMs: 0 };

const asFailure = (result: unknown): ServiceError => {
	expect(result).toBeInstanceOf(ServiceError);
	return result as ServiceError;
};

/** Sends one request. Returns the result, and what was sent. */
async function send(request: ApiRequest, serve: Serve = good, settings: Partial<ClientSettings> = once) {
	const { connection, sent, log } = fakePlatform(serve, settings);
	return { result: await connection.tryRequest(request), sent, log, stats: connection.stats };
}

describe('what goes out', () => {
	test.each<[string, ApiRequest['query'], string]>([
		['no query', undefined, ''],
		['an empty query', {}, ''],
		['nothing but what is left out', { a: undefined, b: '' }, ''],
		['zero and false', { skip: 0, all: false }, '?skip=0&all=false'],
		['names and values with signs of an address', { 'a&b': 'c=d e#' }, '?a%26b=c%3Dd%20e%23'],
	])('%s', async (_, query, search) => {
		const { sent } = await send({ ...get, query });
		expect(sent[0]!.url).toBe(`https://platform.example.com/x${search}`);
	});

	test('half of a character is rejected before anything is sent', async () => {
		const { connection, sent } = fakePlatform(good);
		await expect(connection.tryRequest({ ...get, query: { a: '\ud800' } })).rejects.toThrow(InputError);
		expect(sent).toEqual([]);
	});

	test('without a path, the address of the platform itself', async () => {
		expect((await send({ ...get, path: undefined })).sent[0]!.url).toBe('https://platform.example.com');
	});

	test('a read has no body and no type of one', async () => {
		const [options] = (await send(get)).sent;
		expect(options!.body).toBeUndefined();
		expect(options!.headers).toEqual({ Accept: 'application/json' });
	});

	test.each<[string, ApiRequest['body'], string]>([
		['a value', { a: 'ä' }, '{"a":"ä"}'],
		['JSON text, as it is', '{"a": 1}', '{"a": 1}'],
	])('%s becomes bytes', async (_, body, text) => {
		const [options] = (await send({ ...post, body })).sent;
		expect(options!.body).toBeInstanceOf(Buffer);
		expect(String(options!.body)).toBe(text);
	});
});

describe('the token', () => {
	const settings: ClientSettings = {
		account: 'test',
		baseUrl: 'https://platform.example.com',
		webhookOrigins: 'https://hooks.example.com',
		requestsPerMinute: 0,
		tokenType: 'short',
		redactToken: (text) => text.replaceAll('s3cret-token', '[token]'),
		timeoutMs: 1000,
		retryBudgetMs: 0,
	};

	/** A client that notes for each request whether the token was sent. */
	function tokenClient(response: IN8nHttpFullResponse) {
		const sent: Array<[withToken: boolean, url: string]> = [];
		const send = async (options: IHttpRequestOptions, withToken: boolean) => {
			sent.push([withToken, options.url]);
			return streamed(response);
		};
		const client = new ApiClient({ send, logger: { debug: () => undefined } as unknown as Logger }, settings);
		return { client, sent };
	}

	const elsewhere = 'https://files.example.com/a?b=c';
	test.each<[string, Partial<ApiRequest>, boolean, string]>([
		['to the platform', {}, true, 'https://platform.example.com/x'],
		['to a webhook', { to: { url: elsewhere, withToken: true } }, true, elsewhere],
		['not to a file elsewhere', { to: { url: elsewhere, withToken: false } }, false, elsewhere],
	])('goes along %s', async (_, more, withToken, url) => {
		const { client, sent } = tokenClient(good());
		await client.request({ ...get, ...more });
		expect(sent).toEqual([[withToken, url]]);
	});

	test('origins that it may go to are those of the credential', () => {
		const { client } = tokenClient(good());
		expect(client.origin).toBe('https://platform.example.com');
		expect([...client.origins]).toEqual(['https://platform.example.com', 'https://hooks.example.com']);
	});

	test.each<[string, Partial<ApiRequest>, unknown]>([
		[
			'data, which its type may not read',
			{},
			"Reading and writing data requires a token of type 'API Token With Role' or 'Standard JWT Token'; the credential has a 'Short API Token'.",
		],
		['files, which its type may read', { purpose: 'attachments' }, expect.stringContaining('Ask for a token that has this right.')],
		[
			'a host that it was not sent to',
			{ to: { url: elsewhere, withToken: false } },
			expect.stringContaining('Correct what the message names'),
		],
	])('what to do after a 403 for %s', async (_, more, hint) => {
		const { client } = tokenClient(httpResponse(403, { errors: [{ id: 'c', message: 'no' }] }));
		const failure = asFailure(await client.tryRequest({ ...get, ...more }));
		expect(failure).toMatchObject({ status: 403, delivery: 'rejected', code: 'c' });
		expect(failure.message).toBe('no (403)');
		expect(failure.hint).toEqual(hint);
	});

	test.each([
		['/people/data/bulk', "Lower 'Batch Size' or send less in one record."],
		['/people/data/filter', 'Send less in one request: shorten its filter, its values or its body.'],
	])('what to do after a 413 for %s', async (path, hint) => {
		const { client } = tokenClient(httpResponse(413, ''));
		expect(asFailure(await client.tryRequest({ ...get, path })).hint).toEqual(hint);
	});

	test('is in no part of the result', async () => {
		const body = { data: 's3cret-token' };
		const { client } = tokenClient(httpResponse(200, body, { 'x-echo': 'Bearer s3cret-token' }));
		const { text, body: read, headers } = await client.request(get);
		expect([text, read, headers]).toEqual(['{"data":"[token]"}', { data: '[token]' }, { 'x-echo': 'Bearer [token]' }]);
		const refusal = { errors: [{ message: 'no s3cret-token' }] };
		for (const more of [{}, { receive: async () => undefined }]) {
			const text400 = JSON.stringify(refusal);
			const response = more.receive
				? { ...httpResponse(400, ''), body: Readable.from([Buffer.from(text400)]) }
				: httpResponse(400, refusal);
			const failure = asFailure(await tokenClient(response).client.tryRequest({ ...get, ...more }));
			expect(failure.message).toBe('no [token]');
			expect(JSON.stringify(failure)).not.toContain('s3cret');
		}
	});

	test('is not in the headers of a file either', async () => {
		const response = httpResponse(200, '', { 'content-type': 'text/s3cret-token' });
		const { client } = tokenClient({ ...response, body: bytesOf('a') });
		const seen: IDataObject[] = [];
		await client.request({
			...get,
			receive: async (bytes, headers) => {
				seen.push(headers);
				await buffer(bytes as unknown as Readable);
			},
		});
		expect(seen).toEqual([{ 'content-type': 'text/[token]' }]);
	});
});

describe('a failure', () => {
	test('is thrown, or returned as a value', async () => {
		const { connection } = fakePlatform(() => httpResponse(400, ''), once);
		await expect(connection.request(post)).rejects.toBeInstanceOf(ServiceError);
		expect(await connection.tryRequest(post)).toBeInstanceOf(ServiceError);
	});

	test.each<[ApiRequest['retryMode'], number, string]>([
		['read', 500, 'notApplied'],
		['read', 400, 'rejected'],
		['idempotent', 500, 'ambiguous'],
		['notIdempotent', 500, 'ambiguous'],
	])('of a request that is %s, status %i, is %s', async (retryMode, status, delivery) => {
		const { result } = await send({ ...get, retryMode }, () => httpResponse(status, ''));
		expect(asFailure(result)).toMatchObject({ delivery, status });
	});

	test.each(['read', 'idempotent'] as const)('is not retried if nothing may be waited for: %s', async (retryMode) => {
		const retried = jest.fn();
		const { sent, log, stats } = await send({ ...get, retryMode, onRetry: retried }, () => httpResponse(500, ''));
		expect(sent).toHaveLength(1);
		expect(log).toEqual([]);
		expect(retried).not.toHaveBeenCalled();
		expect(stats).toEqual({ requests: 1, retries: 0, waitedMs: 0 });
	});
});

describe('requests at once', () => {
	const flood = async (limit?: number) => {
		let underWay = 0;
		const most: number[] = [];
		const { connection, sent } = fakePlatform(async (_, count) => {
			underWay += 1;
			most.push(underWay);
			await new Promise((resolve) => setImmediate(resolve));
			underWay -= 1;
			return count % 3 === 0 ? networkError('ECONNRESET') : httpResponse(200, { data: [] });
		});
		if (limit !== undefined) connection.limitParallel(limit);
		const request = { method: 'GET', path: '/x', retryMode: 'notIdempotent' } as const;
		await Promise.all(Array.from({ length: 40 }, async () => await connection.tryRequest(request)));
		return { most: Math.max(...most), requests: sent.length };
	};

	test.each([
		[undefined, 12],
		[1, 1],
		[5, 5],
		[50, 12],
	])('limited to %p: %d at most; what fails makes room too', async (limit, most) => {
		expect(await flood(limit)).toEqual({ most, requests: 40 });
	});
});

describe('waiting', () => {
	beforeEach(() => {
		jest.useFakeTimers({ now: 1_000_000 });
		jest.spyOn(Math, 'random').mockReturnValue(0);
	});
	afterEach(() => {
		jest.restoreAllMocks();
		jest.useRealTimers();
	});

	const busy = (seconds: number) => httpResponse(429, '', { 'retry-after': String(seconds) });

	/** Runs until nothing waits any more. */
	async function advanced<T>(running: Promise<T>): Promise<T> {
		await jest.runAllTimersAsync();
		return await running;
	}

	test('that would exceed the limit is not started, and the error says so', async () => {
		const response = httpResponse(429, { errors: [{ id: 'limit', message: 'slow down' }] }, { 'retry-after': '7' });
		const { connection, sent, log } = fakePlatform(() => response, { retryBudgetMs: 6600 });
		const failure = asFailure(await advanced(connection.tryRequest(post)));
		expect(failure).toMatchObject({
			message: 'The platform asked to wait: too many requests. slow down; waiting longer would pass the limit of 7 s for this execution',
			delivery: 'notApplied',
			status: 429,
			code: 'limit',
			retryAfterMs: 7000,
			hint: "Raise 'Max Wait (Seconds)' in the options, or send fewer records in one execution.",
		});
		expect([sent.length, log]).toEqual([1, []]);
	});

	test('what is still pending may be applied at the end of the budget', async () => {
		const { connection } = fakePlatform(() => httpResponse(504, ''), { retryBudgetMs: 100, retryBudgetHint: 'Give it more time.' });
		const failure = asFailure(await advanced(connection.tryRequest({ ...post, retryMode: 'idempotent' })));
		expect(failure).toMatchObject({ delivery: 'ambiguous', stillPending: true, status: 504, hint: 'Give it more time.' });
	});

	test('is written to the log', async () => {
		const { connection, log } = fakePlatform((_, count) => (count === 1 ? busy(2) : good()));
		await advanced(connection.tryRequest(post));
		expect(log).toEqual(['Data Platform: trying again in 2000 ms: The platform asked to wait: too many requests']);
	});

	test('at the same time counts once', async () => {
		const { connection } = fakePlatform((_, count) => (count <= 2 ? busy(10) : good()));
		const both = [connection.tryRequest(post), connection.tryRequest(post)];
		await advanced(Promise.all(both));
		expect(connection.stats).toEqual({ requests: 4, retries: 2, waitedMs: 10_000 });
	});

	const ASKED = 'The platform asked to wait: too many requests';

	test.each([
		['that are long are in the log, once for all that wait', 10, [`Data Platform: waiting 10 s: ${ASKED}`]],
		['that are short are not', 4, []],
	])('%s', async (_, seconds, expected) => {
		const { connection, announced } = fakePlatform((__, count) => (count <= 2 ? busy(seconds) : good()));
		await advanced(Promise.all([connection.tryRequest(post), connection.tryRequest(post)]));
		expect(announced).toEqual(expected);
		expect([...connection.waitReasons]).toEqual([ASKED]);
	});

	test('for the limit of requests per minute have that reason', async () => {
		const { connection } = fakePlatform(() => good(), { requestsPerMinute: 1 });
		await advanced(Promise.all([connection.tryRequest(post), connection.tryRequest(post)]));
		expect([...connection.waitReasons]).toEqual(['the limit of requests per minute']);
	});

	test('that the platform asks for holds requests that begin meanwhile', async () => {
		const { connection, sent } = fakePlatform((_, count) => (count === 1 ? busy(10) : good()));
		const first = connection.tryRequest(post);
		await jest.advanceTimersByTimeAsync(4000);
		const second = connection.tryRequest(get);
		await jest.advanceTimersByTimeAsync(5900);
		expect(sent).toHaveLength(1);
		await advanced(Promise.all([first, second]));
		expect(sent).toHaveLength(3);
		expect(connection.stats.waitedMs).toBe(10_000);
	});

	test.each([-1, 1])('takes as long if the clock is set by %i hours meanwhile', async (hours) => {
		const { connection, sent } = fakePlatform((_, count) => (count === 1 ? busy(10) : good()), { requestsPerMinute: 2 });
		const running = [1, 2].map(async () => await connection.tryRequest(post));
		await jest.advanceTimersByTimeAsync(1000);
		jest.setSystemTime(Date.now() + hours * 3600_000);
		await jest.advanceTimersByTimeAsync(58_500);
		expect(sent).toHaveLength(2);
		await jest.advanceTimersByTimeAsync(1500);
		expect(sent).toHaveLength(3);
		await advanced(Promise.all(running));
		expect(connection.stats.waitedMs).toBe(60_000);
	});

	test('after a failure delays no other request', async () => {
		const { connection, sent } = fakePlatform((_, count) => (count === 1 ? httpResponse(500, '') : good()));
		const first = connection.tryRequest(get);
		await jest.advanceTimersByTimeAsync(1);
		const second = connection.tryRequest(get);
		await jest.advanceTimersByTimeAsync(1);
		expect(sent).toHaveLength(2);
		await advanced(Promise.all([first, second]));
	});

	test.each<[string, ReturnType<Serve>, string]>([
		['that may have been done', httpResponse(502, ''), 'ambiguous'],
		['that was not', networkError('ECONNREFUSED'), 'canceled'],
	])('canceled after an attempt %s', async (_, response, delivery) => {
		const { connection, cancel, sent } = fakePlatform(() => response);
		const running = connection.tryRequest({ ...post, retryMode: 'idempotent' });
		await jest.advanceTimersByTimeAsync(100);
		cancel();
		await jest.advanceTimersByTimeAsync(1);
		expect(asFailure(await running).delivery).toBe(delivery);
		expect(sent).toHaveLength(1);
	});

	test('canceled while it keeps to its rate, after an attempt that may have been done', async () => {
		const { connection, cancel } = fakePlatform(() => httpResponse(502, ''), { requestsPerMinute: 1 });
		const running = connection.tryRequest({ ...post, retryMode: 'idempotent' });
		await jest.advanceTimersByTimeAsync(5000);
		cancel();
		await jest.advanceTimersByTimeAsync(1000);
		expect(asFailure(await running)).toMatchObject({ delivery: 'ambiguous', status: 502 });
	});

	test('ends within half a second if a sleep cannot be interrupted', async () => {
		const aborted = { aborted: false };
		const client = new ApiClient(
			{
				send: async () => streamed(busy(60)),
				logger: { debug: () => undefined, info: () => undefined } as unknown as Logger,
				// As in older versions of n8n, where `sleep` ignores the cancellation.
				get canceled() {
					return aborted.aborted ? AbortSignal.abort() : undefined;
				},
			},
			SETTINGS,
		);
		const running = client.tryRequest(post);
		await jest.advanceTimersByTimeAsync(1200);
		aborted.aborted = true;
		await jest.advanceTimersByTimeAsync(500);
		expect(asFailure(await running)).toMatchObject({ message: 'The execution was canceled', delivery: 'canceled' });
	});
});

test.each(['ECONNREFUSED', 'ERR_SSL_WRONG_VERSION_NUMBER'])(
	'a request that was canceled, and was not done by %s, is canceled',
	async (code) => {
		const fake = fakePlatform(() => {
			fake.cancel();
			return networkError(code);
		}, once);
		expect(asFailure(await fake.connection.tryRequest(post))).toMatchObject({
			message: 'The execution was canceled',
			delivery: 'canceled',
		});
	},
);

const bytesOf = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk))) as unknown as ByteStream;

async function* endless(chunk: string, taken = { bytes: 0 }) {
	const bytes = Buffer.from(chunk);
	for (;;) {
		await nextTurn();
		taken.bytes += bytes.length;
		yield bytes;
	}
}

function stalling() {
	const body = new Readable({ read: () => undefined });
	body.push('{');
	return body as unknown as ByteStream;
}

async function* breaking() {
	yield Buffer.from('{');
	throw new Error('reset');
}

describe('bytes that are received', () => {
	const withBytes = (status: number, body: ByteStream, headers: IDataObject = {}): IN8nHttpFullResponse => ({
		statusCode: status,
		headers,
		body: body,
	});

	/** Requests bytes. Returns the result, and what each attempt stored. */
	async function receive(
		responses: Array<() => ReturnType<Serve>>,
		more: Partial<ApiRequest> = {},
		settings: Partial<ClientSettings> = once,
	) {
		const stored: string[] = [];
		const seen: IDataObject[] = [];
		const { connection, sent } = fakePlatform((_, count) => responses[count - 1]!(), settings);
		const result = await connection.tryRequest({
			...get,
			receive: async (bytes, headers) => {
				seen.push(headers);
				stored.push(String(await buffer(bytes as unknown as Readable)));
			},
			...more,
		});
		return { result, stored, seen, sent };
	}

	test('arrive completely, with what the platform says about them', async () => {
		const headers = { 'content-type': 'text/plain', 'content-length': '5' };
		const { result, stored, seen, sent } = await receive([() => withBytes(200, bytesOf('ab', 'cde'), headers)]);
		expect(result).toMatchObject({ status: 200, body: {} });
		expect(result).not.toHaveProperty('text');
		expect([stored, seen]).toEqual([['abcde'], [headers]]);
		expect(sent[0]).toMatchObject({ encoding: 'stream', headers: { Accept: '*/*' } });
		expect((sent[0]!.abortSignal as AbortSignal).aborted).toBe(false);
	});

	type Row = [what: string, bytes: string, headers: IDataObject, expected: ApiRequest['expectedBytes'], problem: string | undefined];
	test.each<Row>([
		['as many as announced', 'abc', { 'content-length': '3' }, undefined, undefined],
		['fewer than announced', 'ab', { 'content-length': '3' }, undefined, 'Received 2 of 3 bytes'],
		['fewer than the record says', 'ab', {}, 3, 'Received 2 of 3 bytes'],
		['as many as the record says', 'ab', { 'content-length': '9' }, 2, undefined],
		['compressed on their way', 'abc', { 'content-length': '2', 'content-encoding': 'gzip' }, undefined, undefined],
		['of a length that is no number', 'abc', { 'content-length': 'x' }, undefined, undefined],
		['of a length that is no whole number', 'abc', { 'content-length': '2.5' }, undefined, undefined],
		['without a word about their number', 'abc', {}, undefined, undefined],
		['none, if none were expected', '', {}, 0, undefined],
		['none, if nothing is known', '', {}, undefined, 'Received no bytes'],
		['none, as announced', '', { 'content-length': '0' }, undefined, 'Received no bytes'],
	])('%s', async (_, bytes, headers, expectedBytes, problem) => {
		const body = bytes === '' ? bytesOf() : bytesOf(bytes);
		const { result, sent } = await receive([() => withBytes(200, body, headers)], { expectedBytes, retryMode: 'idempotent' });
		const { aborted } = sent[0]!.abortSignal as AbortSignal;
		if (problem === undefined) {
			expect(result).not.toBeInstanceOf(ServiceError);
			expect(aborted).toBe(false);
			return;
		}
		expect(asFailure(result)).toMatchObject({ message: problem, delivery: 'ambiguous' });
		// The connection is closed.
		expect(aborted).toBe(true);
	});

	test('that were cut off say what to do', async () => {
		const { result } = await receive([() => withBytes(200, bytesOf('a'))], { expectedBytes: 2 });
		expect(asFailure(result)).toMatchObject({
			delivery: 'notApplied',
			hint: 'The download was cut off, or the platform reported a wrong size. Run it again.',
		});
	});

	test.each([299, 200])('with status %i are bytes', async (status) => {
		const { stored } = await receive([() => withBytes(status, bytesOf('a'))]);
		expect(stored).toEqual(['a']);
	});

	test.each([
		[404, '{"errors":[{"message":"gone"}]}', 'gone'],
		[300, 'elsewhere', 'responded with a redirect (300)'],
		[199, '', 'The platform rejected the request (199)'],
	])('with status %i are none, but the reason', async (status, text, message) => {
		// The size of the file says nothing about this text.
		const { result, stored, sent } = await receive([() => withBytes(status, bytesOf(text))], { expectedBytes: 2 });
		expect(asFailure(result)).toMatchObject({ status, message: expect.stringContaining(message) });
		expect(stored).toEqual([]);
		expect((sent[0]!.abortSignal as AbortSignal).aborted).toBe(false);
	});

	test.each<[string, () => ByteStream]>([
		['that never ends', () => newStream(endless('x'))],
		['that stops', stalling],
		['that breaks off', () => newStream(breaking())],
	])('what comes in place of them, %s, ends in time: the status says enough', async (_, body) => {
		const { result, sent } = await receive([() => withBytes(404, body())], {}, { ...once, timeoutMs: 20 });
		expect(asFailure(result)).toMatchObject({ message: 'The platform found no such record or table', delivery: 'rejected' });
		expect((sent[0]!.abortSignal as AbortSignal).aborted).toBe(true);
	});

	test('more than the record says are not received, and not again', async () => {
		const taken = { bytes: 0 };
		const { result, sent } = await receive(
			[() => withBytes(200, newStream(endless('xxx', taken)))],
			{ expectedBytes: 3 },
			{ retryBudgetMs: 5000 },
		);
		expect(asFailure(result)).toMatchObject({
			message: 'The platform sends more than the expected 3 bytes',
			hint: expect.stringContaining('reported a wrong size'),
		});
		expect(sent).toHaveLength(1);
		expect((sent[0]!.abortSignal as AbortSignal).aborted).toBe(true);
		// What is read ahead is bounded, too.
		expect(taken.bytes).toBeLessThan(63);
	});

	test('the reason may be empty or cut off: the status says enough', async () => {
		const broken = () => withBytes(404, bytesOf(), { 'content-length': '10' });
		const { result } = await receive([broken], { expectedBytes: 5 });
		expect(asFailure(result).message).toBe('The platform found no such record or table');
	});

	test('that broke off are received anew', async () => {
		jest.spyOn(Math, 'random').mockReturnValue(-1);
		const { result, stored } = await receive(
			[() => withBytes(200, bytesOf('ab')), () => withBytes(200, bytesOf('abc'))],
			{ expectedBytes: 3 },
			{ retryBudgetMs: 5000 },
		).finally(() => jest.restoreAllMocks());
		expect(result).toMatchObject({ status: 200 });
		expect(stored).toEqual(['abc']);
	});

	test('that cannot be stored are a failure of the request, which closes the connection', async () => {
		const full = async () => await Promise.reject(new ServiceError('full', { delivery: 'rejected' }));
		const { result, sent } = await receive([() => withBytes(200, bytesOf('ab'))], { receive: full });
		expect(asFailure(result)).toMatchObject({ message: 'full', delivery: 'rejected' });
		expect((sent[0]!.abortSignal as AbortSignal).aborted).toBe(true);
	});

	test.each<[string, string, IDataObject]>([
		['that arrived', 'abc', {}],
		['that were cut off', 'a', { 'content-length': '3' }],
	])('%s leave no timer behind', async (_, bytes, headers) => {
		const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
		const before = timers();
		await receive([() => withBytes(200, bytesOf(bytes), headers)]);
		await new Promise(setImmediate);
		expect(timers()).toBeLessThanOrEqual(before);
	});

	test('are not cut off by the deadline of a request', async () => {
		async function* slow() {
			yield Buffer.from('a');
			await new Promise((resolve) => setTimeout(resolve, 40));
			yield Buffer.from('b');
		}
		const body = Readable.from(slow()) as unknown as ByteStream;
		const { stored } = await receive([() => withBytes(200, body)], {}, { ...once, timeoutMs: 20 });
		expect(stored).toEqual(['ab']);
	});

	test('a request for them that never got an answer is what the network says', async () => {
		const { result } = await receive([() => networkError('ECONNREFUSED')]);
		expect(asFailure(result).message).toBe('The platform could not be reached (ECONNREFUSED)');
	});
});

describe('a body that is produced while it is sent', () => {
	const bodyOf = (isWhole: boolean, bytes = 2) => {
		const made = { count: 0, closed: 0 };
		const stream = async () => {
			made.count += 1;
			return {
				body: bytesOf('{}'),
				bytes,
				isFullySent: () => isWhole,
				close: () => {
					made.closed += 1;
				},
			};
		};
		return { made, stream };
	};

	test('goes out with its length, as JSON, and is closed', async () => {
		const { made, stream } = bodyOf(true);
		const { sent } = await send({ ...post, stream });
		expect(sent[0]!.headers).toEqual({ 'Content-Type': 'application/json', 'Content-Length': 2, Accept: 'application/json' });
		expect(String(sent[0]!.body)).toBe('{}');
		expect(made).toEqual({ count: 1, closed: 1 });
	});

	test.each<[string, boolean, string]>([
		['was not all sent cannot have been done', false, 'notApplied'],
		['was all sent may have been done', true, 'ambiguous'],
	])('whose request broke off and that %s', async (_, isWhole, delivery) => {
		const { made, stream } = bodyOf(isWhole);
		const { result } = await send({ ...post, stream }, () => networkError('ECONNRESET'));
		expect(asFailure(result).delivery).toBe(delivery);
		expect(made.closed).toBe(1);
	});

	test('is made anew for each attempt', async () => {
		jest.spyOn(Math, 'random').mockReturnValue(-1);
		const { made, stream } = bodyOf(false);
		const serve: Serve = (_, count) => (count < 3 ? networkError('ECONNRESET') : good());
		const { result } = await send({ ...post, stream }, serve, { retryBudgetMs: 5000 }).finally(() => jest.restoreAllMocks());
		expect(result).toMatchObject({ status: 200 });
		expect(made).toEqual({ count: 3, closed: 3 });
	});

	test('has time by its size', async () => {
		const timeout = jest.spyOn(AbortSignal, 'timeout');
		const { stream } = bodyOf(true, 100_001);
		await send({ ...post, stream }, good, { ...once, timeoutMs: 5000 });
		await send(post, good, { ...once, timeoutMs: 5000 });
		const times = timeout.mock.calls.map(([ms]) => ms);
		timeout.mockRestore();
		expect(times).toEqual([15_001, 5000]);
	});
});

describe('a response as text', () => {
	const sendAll = async (request: ApiRequest, pieces: AsyncIterable<Uint8Array>, settings: Partial<ClientSettings> = once) =>
		await send(request, () => ({ ...httpResponse(200, ''), body: newStream(pieces) }), settings);

	test('comes in pieces, which may cut a letter, and after a mark', async () => {
		const bytes = Buffer.from('\ufeff{"data":"ä"}');
		const pieces = newStream(Readable.from([bytes.subarray(0, 12), bytes.subarray(12)]));
		const { result } = await sendAll(get, pieces);
		expect(result).toMatchObject({ body: { data: 'ä' }, text: '{"data":"ä"}' });
	});

	test.each<[ApiRequest['retryMode'], string]>([
		['read', 'rejected'],
		['notIdempotent', 'ambiguous'],
	])('has a longest length: %s', async (retryMode, delivery) => {
		const taken = { bytes: 0 };
		const pieces = endless('x'.repeat(1024 * 1024), taken);
		const { result, sent } = await sendAll({ ...get, retryMode }, pieces, { retryBudgetMs: 5000 });
		expect(asFailure(result)).toMatchObject({
			message: "The platform's response is longer than 64 MiB, and was not read to the end",
			hint: expect.stringContaining('fewer fields'),
			delivery,
		});
		expect(sent).toHaveLength(1);
		expect((sent[0]!.abortSignal as AbortSignal).aborted).toBe(true);
		expect(taken.bytes).toBeLessThan(84 * MIB);
	});

	test.each([
		['stops', stalling, 'The platform did not respond in time'],
		['breaks off', () => newStream(breaking()), 'The connection broke before the response was complete (reset)'],
	])('that %s is none', async (_, body, message) => {
		const { result, sent } = await send(post, () => ({ ...httpResponse(200, ''), body: body() }), { ...once, timeoutMs: 20 });
		expect(asFailure(result)).toMatchObject({ message, delivery: 'ambiguous' });
		expect((sent[0]!.abortSignal as AbortSignal).aborted).toBe(true);
	});

	test('that comes when the execution is canceled is not awaited', async () => {
		const fake = fakePlatform(({ abortSignal }) => {
			const body = new Readable({ read: () => undefined });
			const stop = () => body.destroy(new Error('aborted'));
			(abortSignal as AbortSignal).addEventListener('abort', stop);
			return { ...httpResponse(200, ''), body: body };
		}, once);
		const sending = fake.connection.tryRequest(post);
		setTimeout(() => fake.cancel(), 20);
		expect(asFailure(await sending)).toMatchObject({
			message: 'The execution was canceled before the platform responded',
			delivery: 'ambiguous',
		});
	});
});
