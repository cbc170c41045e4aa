/** One request that is sent again: what counts as a retry, how long it waits, what comes of it. */
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
	const { connection, sent, log } = fakePlatform((_, count) => responses[count - 1] ?? lost(), { retryBudgetMs: 600_000 });
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
	return { result, sent: sent.length, waits, retried: retried.length, stats: connection.stats, notices: [...connection.notices] };
}

test('a request to wait uses up none of the five retries', async () => {
	const { result, sent } = await send([...times(7, wait), ...times(5, lost), ok()]);
	expect(result).toMatchObject({ status: 200 });
	expect(sent).toBe(13);
});

test.each<[string, Response[], Partial<ApiRequest>, number]>([
	['a lost response', [lost(), lost(), ok()], {}, 1],
	['a lost response of a read', [lost(), ok()], { method: 'GET', retryMode: 'read' }, 0],
	['a request to wait', [wait(), ok()], {}, 0],
	['a request that never left', [unreached(), ok()], {}, 0],
])('that a request was sent again is said once: %s', async (_, responses, request, count) => {
	const { notices } = await send(responses, request);
	expect(notices).toHaveLength(count);
});

test.each([500, 502, 504])('a failure with status %i that asks to wait is one of the five', async (status) => {
	const failed = () => httpResponse(status, {}, { 'retry-after': '7' });
	const { sent, waits } = await send(times(20, failed));
	expect(sent).toBe(6);
	expect(waits).toEqual([250, 500, 1000, 2000, 4000]);
});

test('the back-off grows with each retry, and not with requests to wait', async () => {
	const { waits, stats, retried } = await send([lost(), wait(), lost(), lost(), unreached(), ok()]);
	expect(waits).toEqual([250, 1000, 500, 1000, 2000]);
	expect(stats).toEqual({ requests: 6, retries: 5, waitedMs: 4750 });
	expect(retried).toBe(5);
});

/** Responses, and what comes of a write: its delivery, and the rejection after an ambiguous attempt. */
describe('an attempt of unknown result', () => {
	const no = () => httpResponse(400, { errors: [{ id: 'c', message: 'bad' }] });
	const late = () => httpResponse(504, '');
	const accepted = () => httpResponse(202, { data: 1 });
	const rejected = { delivery: 'rejected', status: 400, message: 'bad', code: 'c' };
	const open = { delivery: 'ambiguous' };
	const pending = { delivery: 'ambiguous', stillPending: true };
	const text = (message: string) => expect.stringContaining(message) as string;

	test.each<[what: string, responses: Response[], result: object]>([
		['stands beside a success after it', [lost(), ok()], { status: 200, previousAttempt: open }],
		['is none if nothing arrived', [unreached(), ok()], { previousAttempt: undefined }],
		['is none if it was to wait', [wait(), ok()], { previousAttempt: undefined }],
		['is none before a rejection', [no()], { ...rejected, rejection: undefined }],
		['is none if a rejection follows a wait', [wait(), no()], rejected],
		[
			'stays unknown after a rejection, which it names',
			[lost(), no()],
			{ ...open, message: text('; a retry was rejected: bad'), status: 400, rejection: rejected },
		],
		['is the first that may be pending', [late(), lost(), no()], { ...pending, rejection: rejected }],
		['is one that may be pending, also later', [lost(), late(), ok()], { previousAttempt: pending }],
		['is the last of those that are not', [lost(), httpResponse(500, ''), ok()], { previousAttempt: { status: 500 } }],
		['stays unknown if later ones did not arrive', [lost(), ...times(5, unreached)], open],
		['is a 202: it confirms nothing', [accepted(), no()], { ...pending, rejection: rejected }],
		['is a 202, then confirmed', [accepted(), ok()], { status: 200, previousAttempt: pending }],
	])('%s', async (_, responses, expected) => {
		expect((await send(responses)).result).toMatchObject(expected);
	});

	test.each<[string, Partial<ApiRequest>, Response[], object]>([
		['a read', { method: 'GET', retryMode: 'read' }, [lost(), no()], { ...rejected, rejection: undefined }],
		['a read that gets a 202', { method: 'GET', retryMode: 'read' }, [accepted()], { status: 202 }],
		[
			'a workflow that is started, whose status may be any',
			{ method: 'POST', retryMode: 'notIdempotent', bodyRequirement: 'anything' },
			[accepted()],
			{ status: 202 },
		],
	])('is not one of %s', async (_, request, responses, expected) => {
		expect((await send(responses, request)).result).toMatchObject(expected);
	});

	test.each([
		[201, { data: 1 }, 'json'],
		[204, '', 'nothing'],
	] as const)('is not one that a %i confirms', async (status, body, bodyRequirement) => {
		const { result } = await send([httpResponse(status, body)], { bodyRequirement });
		expect(result).toMatchObject({ status, previousAttempt: undefined });
	});
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
		expect(result).toMatchObject({ message: 'The execution was canceled before the platform responded', delivery: 'ambiguous' });
		// n8n sets its own signal here; ours stays.
		Object.assign(seen[0]!, { abortSignal: new AbortController().signal });
		expect(seen[0]!.abortSignal!.aborted).toBe(true);
	});
});

test.each([
	['a lost response', lost, undefined],
	['a 500', () => httpResponse(500, ''), 500],
])('a request to wait after %s: the outcome stays open, and says how long', async (_, first, status) => {
	const { connection } = fakePlatform((_request, count) => (count === 1 ? first() : wait()), { retryBudgetMs: 900 });
	const sending = connection.tryRequest({ method: 'PATCH', path: '/x', retryMode: 'idempotent' });
	await jest.runAllTimersAsync();
	const failure = await sending;
	expect(failure).toMatchObject({ delivery: 'ambiguous', retryAfterMs: 1000 });
	expect(failure).toHaveProperty('status', status);
	expect((failure as ServiceError).message).toContain('a retry failed: The platform asked to wait: too many requests');
});
