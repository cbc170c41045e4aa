/** The webhook trigger: who may call it, in which order it works, and what it remembers. */
import crypto = require('node:crypto');
import type { IDataObject } from 'n8n-workflow';
import { receive } from '../../../nodes/DataPlatform/trigger/receive.ts';
import { locator } from '../fakeNode.cts';
import { tokenQueues } from '../../../nodes/DataPlatform/transport/tokenQueue.ts';
import { fakeWebhook, type Delivered } from '../fakeTrigger.cts';
import { httpResponse, notFound, type Serve } from '../stubPlatform.cts';

// As in a new process.
beforeEach(() => tokenQueues.clear());

const SECRET = 'a long random text';

const TIME = '2026-11-21T09:30:00+01:00';
const LATER = '2026-11-21T09:30:01+01:00';
const LAST = '2026-11-21T09:30:02+01:00';

const recordOf = (id: string, more: IDataObject = {}) => ({ ...{ id, created: TIME, modified: TIME, ver: 0, fields: {} }, ...more });

const serveRecord =
	(more: IDataObject = {}): Serve =>
	({ url }) =>
		httpResponse(200, { data: recordOf(new URL(url).pathname.split('/').at(-1)!, more) });

/** The record is gone, the table still exists. */
const serveGone: Serve = ({ url }) => (/\/data\/[^/]+$/.test(new URL(url).pathname) ? notFound() : httpResponse(200, { data: [] }));

interface Result {
	status: number;
	/** What an execution starts with; undefined if none starts. */
	items?: IDataObject[];
}

/** A request. Each test has its own workflow, so that none knows what another one emitted. */
async function deliver(given: Partial<Delivered> & { secret?: string } = {}): Promise<Result> {
	const { secret = SECRET, credential, ...rest } = given;
	let status = 0;
	const context = fakeWebhook({
		workflowId: expect.getState().currentTestName,
		headers: { authorization: `Bearer ${SECRET}` },
		body: { recordId: '1' },
		serve: serveRecord(),
		onResponse: (code) => (status = code),
		...rest,
		credential: { webhookSecret: secret, ...credential },
	});
	const { workflowData } = await receive(context);
	return { status, items: workflowData?.[0]?.map(({ json }) => json) };
}

const events = ({ items }: Result) => items?.map(({ event }) => event);

afterEach(() => {
	jest.restoreAllMocks();
});

test('a body that n8n does not read as JSON: the response says what is needed', async () => {
	const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'text/json' };
	const sent: unknown[] = [];
	await deliver({ headers, body: undefined, onResponse: (...response) => void sent.push(response) });
	const message = 'The body must be a JSON object such as {"recordId": "…"}, and its Content-Type application/json';
	expect(sent).toEqual([[400, { message }]]);
});

describe('the secret', () => {
	const LENGTHS = [1, 2, 8, 31, 32, 33, 63, 64, 65, 1000];
	const secrets = LENGTHS.map((length) => ({
		secret: 's'.repeat(length),
		tokens: ['', 's', 't'.repeat(length), `${'s'.repeat(length - 1)}t`, 's'.repeat(length + 1)].filter(
			(token) => token !== 's'.repeat(length),
		),
	}));

	const statusFor = async (secret: string, token: string) =>
		(await deliver({ secret, headers: token === '' ? {} : { authorization: `Bearer ${token}` } })).status;

	test.each(secrets)('is compared by what takes the same time everywhere: $secret.length', async ({ secret, tokens }) => {
		const compare = jest.spyOn(crypto, 'timingSafeEqual');
		for (const token of [...tokens, secret]) {
			compare.mockClear();
			expect(await statusFor(secret, token)).toBe(token === secret ? 200 : 401);
			expect(compare).toHaveBeenCalledTimes(1);
			const [given, expected] = compare.mock.calls[0] as [Buffer, Buffer];
			expect([given.length, expected.length]).toEqual([32, 32]);
		}
	});

	test('is taken without the spaces around it', async () => {
		expect(await statusFor(`  ${SECRET}\n`, `  ${SECRET} `)).toBe(200);
		expect(await statusFor('  ', '')).toBe(401);
	});

	test.each(secrets)('is compared by nothing else: $secret.length', async ({ secret, tokens }) => {
		const compare = jest.spyOn(crypto, 'timingSafeEqual');
		compare.mockReturnValue(true);
		for (const token of tokens) expect(await statusFor(secret, token)).toBe(200);
		compare.mockReturnValue(false);
		expect(await statusFor(secret, secret)).toBe(401);
	});
});

describe('what counts as emitted', () => {
	test('each version once', async () => {
		expect(events(await deliver())).toEqual(['created']);
		expect(events(await deliver())).toBeUndefined();
		const serve = serveRecord({ ver: 1, modified: LATER });
		expect(events(await deliver({ serve }))).toEqual(['updated']);
		expect(events(await deliver({ serve }))).toBeUndefined();
		expect(events(await deliver())).toBeUndefined();
	});

	const OTHERS: Array<[string, Partial<Delivered>]> = [
		['table', { parameters: { table: locator('orders') } }],
		['application', { parameters: { application: locator('crm') } }],
		['base URL', { credential: { baseUrl: 'https://other.example.com' } }],
	];

	test.each([...OTHERS, ['node', { nodeId: 'another' }] as const])('not what was emitted of another %s', async (_, other) => {
		expect(events(await deliver())).toEqual(['created']);
		expect(events(await deliver(other))).toEqual(['created']);
		expect(events(await deliver({ ...other, serve: serveGone }))).toEqual(['deleted']);
		expect(events(await deliver())).toBeUndefined();
	});

	test.each(OTHERS)('not what is stored of another %s', async (_, other) => {
		const staticData = { node: {} };
		await deliver({ staticData });
		const restarted = { ...other, staticData, workflowId: `${_} after a restart` };
		expect(events(await deliver(restarted))).toEqual(['created']);
		expect(events(await deliver({ ...restarted, workflowId: `${_} again` }))).toBeUndefined();
	});

	test('what another process has stored: a version, a deletion, a record that is back', async () => {
		const staticData = { node: {} };
		const other = { staticData, workflowId: 'another process' };
		await deliver({ staticData });
		for (const serve of [
			serveRecord({ ver: 1 }),
			serveRecord({ ver: 2, modified: LATER }),
			serveGone,
			serveRecord({ created: LAST, modified: LAST }),
			serveGone,
		]) {
			expect(events(await deliver({ ...other, serve }))).toHaveLength(1);
			expect(events(await deliver({ staticData, serve }))).toBeUndefined();
		}
	});

	test('with whole seconds: what changes, goes and is back in the second of its creation', async () => {
		const emitted = [];
		for (const serve of [serveRecord(), serveRecord({ ver: 1 }), serveGone, serveRecord(), serveRecord({ ver: 1 })]) {
			emitted.push(events(await deliver({ serve })));
		}
		expect(emitted).toEqual([['created'], ['updated'], ['deleted'], ['created'], ['updated']]);
	});

	test('not a record that was deleted and made again without a word', async () => {
		expect(events(await deliver({ serve: serveRecord({ ver: 5 }) }))).toEqual(['updated']);
		const serve = serveRecord({ created: LATER, modified: LATER });
		expect(events(await deliver({ serve }))).toEqual(['created']);
		expect(events(await deliver({ serve }))).toBeUndefined();
	});

	test.each([
		['modified a second after it was created', { modified: LATER }, ['created']],
		['completed by the platform before it was read', { ver: 1, modified: LATER }, ['created']],
		['changed long after it was created', { ver: 1, modified: '2026-11-21T10:30:00+01:00' }, ['updated']],
		['changed twice at once', { ver: 2 }, ['updated']],
	])('a record that was %s, once, and what follows as an update', async (_, record, expected) => {
		expect(events(await deliver({ serve: serveRecord(record) }))).toEqual(expected);
		expect(events(await deliver({ serve: serveRecord(record) }))).toBeUndefined();
		const next = { ver: 3, modified: '2026-11-21T11:30:00+01:00' };
		expect(events(await deliver({ serve: serveRecord(next) }))).toEqual(['updated']);
	});

	test('what the platform completes after it was emitted, as an update', async () => {
		expect(events(await deliver({ serve: serveRecord({ modified: LATER }) }))).toEqual(['created']);
		expect(events(await deliver({ serve: serveRecord({ ver: 1, modified: LAST }) }))).toEqual(['updated']);
	});

	test('nothing that the editor was sent for a test', async () => {
		const staticData = { node: {} };
		const test = { staticData, mode: 'manual' } as const;
		expect(events(await deliver(test))).toEqual(['created']);
		expect(staticData).toEqual({ node: {} });
		expect(events(await deliver({ staticData }))).toEqual(['created']);
		expect(events(await deliver(test))).toEqual(['created']);
		expect(events(await deliver({ ...test, serve: serveGone }))).toEqual(['deleted']);
		expect(events(await deliver({ staticData }))).toBeUndefined();
	});

	test('nothing of a platform that gives neither versions nor times', async () => {
		const serve = serveRecord({ ver: undefined, created: undefined, modified: undefined });
		for (let request = 0; request < 3; request += 1) {
			expect(events(await deliver({ serve }))).toHaveLength(1);
		}
	});

	test('nothing that could not be emitted', async () => {
		const parameters = { simple: 'perhaps' };
		await expect(deliver({ parameters })).rejects.toThrow("'Simplify' must be true or false");
		expect(events(await deliver())).toEqual(['created']);
	});
});

test('two requests for one record: what is read later is emitted later', async () => {
	const respond: Array<() => void> = [];
	const emitted: unknown[] = [];
	const note = (result: Result) => emitted.push(events(result));
	const slow = deliver({
		serve: (options, count) => {
			const response = serveRecord({ ver: 2, modified: LATER })(options, count);
			return new Promise((resolve) => respond.push(() => resolve(response)));
		},
	}).then(note);
	const gone = deliver({ serve: serveGone }).then(note);
	// One for another record does not wait.
	expect(events(await deliver({ body: { recordId: '2' } }))).toEqual(['created']);
	while (respond.length === 0) await new Promise(setImmediate);
	respond[0]!();
	await Promise.all([slow, gone]);
	expect(emitted).toEqual([['updated'], ['deleted']]);
});

test.each([
	['503', () => httpResponse(503, {}), /^The event of record '1' is lost: .*503/],
	['429', () => httpResponse(429, {}, { 'retry-after': '600' }), /^The event of record '1' is lost: The platform asked to wait/],
])('an event that is lost after a %s names its record, and no option that the node lacks', async (_, serve, message) => {
	jest.useFakeTimers();
	const failed = deliver({ serve }).then(
		() => undefined,
		(error: Error & { description?: string }) => error,
	);
	await jest.advanceTimersByTimeAsync(200_000);
	const error = await failed;
	jest.useRealTimers();
	expect(error?.message).toMatch(message);
	expect(error?.description).toContain('Get Changes finds this and all other missed changes');
	expect(error?.description).not.toMatch(/Max Wait|items/);
});

test('a read that fails is in nobody else’s way', async () => {
	const failing = deliver({ serve: () => httpResponse(403, { errors: [{}] }) });
	const next = deliver();
	await expect(failing).rejects.toThrow('no right');
	expect(events(await next)).toEqual(['created']);
});

test('a thousand nodes are remembered; the least recently called one is forgotten', async () => {
	const call = async (node: number) => events(await deliver({ nodeId: `${node}` }));
	for (let node = 0; node < 1000; node += 1) expect(await call(node)).toEqual(['created']);
	expect(await call(0)).toBeUndefined();
	await call(1000);
	expect(await call(0)).toBeUndefined();
	expect(await call(1)).toEqual(['created']);
});

test('it responds before it reads', async () => {
	const order: string[] = [];
	const serve: Serve = (...request) => {
		order.push('read');
		return serveRecord()(...request);
	};
	await deliver({ serve, onResponse: (status) => order.push(`respond ${status}`) });
	expect(order).toEqual(['respond 200', 'read']);
});
