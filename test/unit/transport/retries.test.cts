/** One request that is sent again: what counts as a retry, how long it waits, what it remembers. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import type { ApiRequest } from '../../../nodes/DataPlatform/transport/exchange.ts';
import { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { httpResponse, fakePlatform, networkError, type Serve } from '../stubPlatform.cts';

type Response = ReturnType<typeof httpResponse> | Error;

const wait = () => httpResponse(429, {}, { 'retry-after': '1' });
const lost = () => networkError('ECONNRESET');
const unreached = () => networkError('ECONNREFUSED', 'connect');
const ok = () => httpResponse(200, { data: 1 });
const times = (count: number, response: () => Response) => Array.from({ length: count }, response);

beforeEach(() => {
	jest.useFakeTimers();
	jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
	jest.restoreAllMocks();
	jest.useRealTimers();
});

async function send(responses: Response[], request: Partial<ApiRequest> = {}) {
	const retried: string[] = [];
	const { connection, sent, log } = fakePlatform((_, count) => responses[count - 1] ?? lost(), {
		retryBudgetMs: 600_000,
	});
	const sending = connection.tryRequest({
		method: 'PATCH',
		path: '/x',
		retryMode: 'idempotent',
		onRetry: ({ message }) => retried.push(message),
		...request,
	});
	await jest.runAllTimersAsync();
	const result = await sending;
	const waits = log.map((line) => Number(/again in (\d+) ms/.exec(line)?.[1]));
	return { result, sent: sent.length, waits, retried: retried.length, stats: connection.stats };
}

test('a request to wait uses up none of the five retries', async () => {
	const { result, sent } = await send([...times(7, wait), ...times(5, lost), ok()]);
	expect(result).toMatchObject({ status: 200, repeated: true });
	expect(sent).toBe(13);
});

test.each([500, 502, 504])(
	'a failure with status %i that asks to wait is one of the five',
	async (status) => {
		const failed = () => httpResponse(status, {}, { 'retry-after': '7' });
		const { sent, waits } = await send(times(20, failed));
		expect(sent).toBe(6);
		expect(waits).toEqual([250, 500, 1000, 2000, 4000]);
	},
);

test('the back-off grows with each retry, and not with requests to wait', async () => {
	const { waits, stats, retried } = await send([lost(), wait(), lost(), lost(), unreached(), ok()]);
	expect(waits).toEqual([250, 1000, 500, 1000, 2000]);
	expect(stats).toEqual({ requests: 6, retries: 5, waitedMs: 4750 });
	expect(retried).toBe(5);
});

test('a service that asks for no time again and again is given some', async () => {
	const now = () => httpResponse(429, {}, { 'retry-after': '0' });
	const { waits } = await send([...times(6, now), ok()]);
	expect(waits).toEqual([0, 0, 0, 500, 1000, 2000]);
});

describe('an earlier attempt that may have been done', () => {
	test.each<[string, Response[], object]>([
		[
			'is remembered by a success',
			[lost(), ok()],
			{ repeated: true, previousAttempt: { delivery: 'ambiguous' } },
		],
		[
			'is remembered by a rejection',
			[lost(), httpResponse(400, {})],
			{ status: 400, previousAttempt: { delivery: 'ambiguous' } },
		],
		[
			'takes precedence if it may still be applied',
			[httpResponse(504, {}), lost(), httpResponse(400, {})],
			{ previousAttempt: { status: 504, stillPending: true } },
		],
		[
			'is the result if later ones did not arrive',
			[lost(), ...times(5, unreached)],
			{ delivery: 'ambiguous' },
		],
		[
			'is none if nothing arrived',
			times(6, unreached),
			{ delivery: 'notApplied', previousAttempt: undefined },
		],
		[
			'is none if the service did not work on it',
			[wait(), ok()],
			{ repeated: false, previousAttempt: undefined },
		],
	])('%s', async (_, responses, expected) => {
		expect((await send(responses)).result).toMatchObject(expected);
	});
});

describe('a request that is repeated only if nothing of it was applied', () => {
	const late = () => httpResponse(504, {});
	const once = { retryMode: 'notIdempotent' } as const;

	/** @param answers of the look-ups, one after the other */
	async function ask(responses: Response[], ...answers: boolean[]) {
		let asked = 0;
		const isUnapplied = async () => answers[asked++] ?? false;
		const { result, sent, waits } = await send(responses, { ...once, isUnapplied });
		return { result, sent, waits, asked };
	}

	test.each<[string, Response[], boolean[], object, number, number]>([
		['is asked about after the wait', [lost(), ok()], [true], { status: 200 }, 2, 1],
		['ends if it may have been', [lost(), ok()], [false], { delivery: 'ambiguous' }, 1, 1],
		['ends at the second', [lost(), lost(), ok()], [true, false], { delivery: 'ambiguous' }, 2, 2],
		['is not asked about if it arrived', [ok()], [], { status: 200 }, 1, 0],
		['is not asked about if nothing was sent', [unreached(), ok()], [], { status: 200 }, 2, 0],
		['is not asked about if it was to wait', [wait(), ok()], [], { status: 200 }, 2, 0],
		['ends if it may still be applied', [late(), ok()], [true], { status: 504 }, 1, 0],
	])('%s', async (_, responses, answers, expected, count, questions) => {
		const { result, sent, asked } = await ask(responses, ...answers);
		expect(result).toMatchObject(expected);
		expect([sent, asked]).toEqual([count, questions]);
	});

	test('leaves nothing open once it was not applied', async () => {
		const { result } = await ask([lost(), httpResponse(400, {})], true);
		expect(result).toMatchObject({ delivery: 'rejected' });
		expect((result as ServiceError).previousAttempt).toBeUndefined();
		const { result: confirmed } = await ask([lost(), ok()], true);
		expect(confirmed).toMatchObject({ repeated: false, previousAttempt: undefined });
	});

	test('waits as any other', async () => {
		const { waits } = await ask([...times(5, lost), ok()], true, true, true, true, true);
		expect(waits).toEqual([250, 500, 1000, 2000, 4000]);
	});
});

test.each<[string, Response[], boolean]>([
	['a success', [wait(), ok()], true],
	['a rejection', [wait(), httpResponse(400, {})], true],
	['a success at once', [ok()], false],
	['a rejection at once', [httpResponse(400, {})], false],
	['a rejection after a loss', [lost(), httpResponse(400, {})], false],
])('%s says whether it was asked to wait before', async (_, responses, wasPostponed) => {
	const { result } = await send(responses);
	expect((result as ServiceError).wasPostponed ?? false).toBe(wasPostponed);
});

describe('while it is under way', () => {
	/** Never responds; ends with the reason of the signal. */
	const hanging =
		(seen: IHttpRequestOptions[]): Serve =>
		async (options) => {
			seen.push(options);
			return await new Promise<Error>((resolve) => {
				(options.abortSignal as AbortSignal).addEventListener('abort', () => {
					resolve(new Error('aborted'));
				});
			});
		};
	const request = { method: 'PATCH', path: '/x', retryMode: 'idempotent' } as const;

	test('a deadline ends it, and the service may still apply it', async () => {
		jest.useRealTimers();
		const { connection } = fakePlatform(hanging([]), { timeoutMs: 20, retryBudgetMs: 0 });
		expect(await connection.tryRequest(request)).toMatchObject({
			message: 'The platform did not respond in time',
			delivery: 'ambiguous',
			stillPending: true,
		});
	});

	test('canceling the execution ends it, and it may have been done', async () => {
		jest.useRealTimers();
		const seen: IHttpRequestOptions[] = [];
		const fake = fakePlatform(hanging(seen), { timeoutMs: 60_000 });
		const sending = fake.connection.tryRequest(request);
		await new Promise((resolve) => setTimeout(resolve, 5));
		fake.cancel();
		const result = await sending;
		expect(result).toBeInstanceOf(ServiceError);
		expect(result).toMatchObject({
			message: 'The execution was canceled before the platform responded',
			delivery: 'ambiguous',
		});
		// n8n sets its own signal here; ours stays.
		Object.assign(seen[0]!, { abortSignal: new AbortController().signal });
		expect(seen[0]!.abortSignal!.aborted).toBe(true);
	});
});

test.each([
	['a lost response', lost, undefined],
	['a 500', () => httpResponse(500, ''), 500],
])(
	'a request to wait after %s: the outcome stays open, and says how long',
	async (_, first, status) => {
		const { connection } = fakePlatform((_request, count) => (count === 1 ? first() : wait()), {
			retryBudgetMs: 900,
		});
		const sending = connection.tryRequest({ method: 'PATCH', path: '/x', retryMode: 'idempotent' });
		await jest.runAllTimersAsync();
		const failure = await sending;
		expect(failure).toMatchObject({ delivery: 'ambiguous', retryAfterMs: 1000 });
		expect(failure).toHaveProperty('status', status);
		expect((failure as ServiceError).message).toContain(
			'a retry failed: The platform asked to wait: too many requests',
		);
	},
);
