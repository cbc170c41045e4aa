/** Resolving items that no response confirms, on a fake platform. */
import { sentFields, type Entry } from '../../../nodes/DataPlatform/bulk/entry.ts';
import { OutcomeResolver } from '../../../nodes/DataPlatform/bulk/reconcile.ts';
import { serviceErrorOrThrow, ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import type { WriteMode } from '../../../nodes/DataPlatform/bulk/plan.ts';
import type { UnresolvedContext } from '../../../nodes/DataPlatform/bulk/evidence.ts';
import type { FieldValues } from '../../../nodes/DataPlatform/api/types.ts';
import { fieldOf, sendableOf, storedOf } from '../fixtures.cts';
import { BEFORE, SINCE, context, responseOf, timedOut } from '../outcomeFixtures.cts';
import { httpResponse, fakePlatform, networkError } from '../stubPlatform.cts';

type Reply = ReturnType<typeof httpResponse> | Error;

interface Setup {
	mode: WriteMode;
	items: Entry[];
	/** All items of the request, if there are more. */
	batch?: Entry[];
	unresolved?: UnresolvedContext;
	/** Responses by `METHOD path` below the table's records; by default an empty list of records. */
	platform?: Record<string, Reply>;
	hasKey?: boolean;
	/** For a date and time, only the platform knows which stored value it means. */
	keyType?: 'datetime';
}

const no = (status: number) => httpResponse(status, { errors: [{ message: 'no' }] });
const silent: UnresolvedContext = {
	response: responseOf({ bulk: { successCount: 1 }, data: [] }, 3),
};

async function resolve({ mode, items, batch, unresolved = silent, platform = {}, ...more }: Setup) {
	const { connection, sent } = fakePlatform(
		({ method, url }) => {
			const { pathname, searchParams } = new URL(url);
			// Everything that it lists is on the first page.
			if (searchParams.has('skip')) return httpResponse(200, { data: [] });
			return (
				platform[`${method} ${pathname.split('/data')[1]!}`] ?? httpResponse(200, { data: [] })
			);
		},
		{ retryBudgetMs: 0 },
	);
	const keys = (more.hasKey ?? true) ? [fieldOf('code', more.keyType)] : [];
	const resolver = new OutcomeResolver(connection, { table: 'people' }, keys, {
		...context(mode),
		key: keys[0]?.name,
	});
	const { outcomes, work, unsent, stop } = await resolver.resolve(
		items,
		batch ?? items,
		unresolved,
	);
	const again = work.flatMap(({ records: each }) => each);
	return {
		incomplete: again.filter(({ isAlone }) => !isAlone),
		outcomes: outcomes.map(([{ index }, outcome]) => ({ item: index, ...outcome })),
		unapplied: unsent,
		alone: again
			.filter(({ isAlone }) => isAlone)
			.map((entry) => [entry.index, entry.before!.id, sentFields(entry)]),
		stop: stop?.message,
		requests: sent.map(
			({ method, url }) => `${method} ${new URL(url).pathname.split('/data')[1]!}`,
		),
		bodies: sent.map(({ body }) => body && (JSON.parse(String(body)) as unknown)),
	};
}

const record = (id: string, fields: FieldValues, more = {}) =>
	httpResponse(200, { data: storedOf({ id, fields, ...more }) });
const records = (...list: Array<{ id: string; fields: FieldValues; created?: string }>) =>
	httpResponse(200, { data: list.map(storedOf) });

const attempted = (prepared: Entry) => ({ ...prepared, previousAttempt: timedOut });

describe('items with an id or a key', () => {
	const a = sendableOf({ index: 0, id: 'x', fields: { n: 1 } });
	const byKey = sendableOf({ index: 1, key: 'k', fields: { code: 'k', n: 1 } });

	test('are looked up', async () => {
		const { outcomes, requests, stop } = await resolve({
			mode: 'update',
			items: [a],
			platform: { 'GET /x': record('x', { n: 1 }) },
		});
		expect(outcomes).toMatchObject([{ item: 0, outcome: 'unchanged', id: 'x' }]);
		expect(requests).toEqual(['GET /x']);
		expect(stop).toBeUndefined();
	});

	test('by key: many in one request, with the fields that were sent', async () => {
		const { outcomes, requests, bodies } = await resolve({
			mode: 'upsert',
			items: [byKey, sendableOf({ index: 2, key: 'l', fields: { code: 'l' } })],
			platform: { 'POST /filter': records({ id: 'y', fields: { code: 'k', n: 1 } }) },
		});
		expect(outcomes).toMatchObject([
			{ item: 1, outcome: 'unchanged', id: 'y' },
			{ item: 2, outcome: 'failed' },
		]);
		// After records that were not found, a second request shows that there is no further page.
		expect(requests).toEqual(['POST /filter', 'POST /filter']);
		expect(bodies[0]).toMatchObject({ loadFields: ['code', 'n'] });
	});

	test('not found, if the response lists the record of an item without a key', async () => {
		const { outcomes } = await resolve({
			mode: 'upsert',
			items: [byKey, sendableOf({ index: 2, fields: { n: 5 } })],
			unresolved: {
				response: responseOf({ bulk: { successCount: 1 }, data: [{ id: 'z' }] }, 2),
			},
		});
		expect(outcomes[0]).toMatchObject({ item: 1, outcome: 'failed' });
	});

	test('five hundred, found whole, take one request: what else the platform has does not matter', async () => {
		const codes = Array.from({ length: 500 }, (_, at) => `k${at}`);
		const { outcomes, requests } = await resolve({
			mode: 'upsert',
			items: codes.map((code, index) => sendableOf({ index, key: code, fields: { code } })),
			platform: {
				'POST /filter': records(...codes.map((code) => ({ id: `r${code}`, fields: { code } }))),
			},
		});
		expect(outcomes.map(({ outcome }) => outcome)).toEqual(codes.map(() => 'unchanged'));
		expect(requests).toEqual(['POST /filter']);
	});

	test.each([
		['a record of another item', ['y'], 'failed', 'the table has no such record'],
		['a record that is gone', ['y', 'gone'], 'unknown', 'lists a record that is gone'],
		['more than was sent', ['y', 'z', 'gone'], 'failed', 'the table has no such record'],
	])('not found, if the response lists %s', async (_, listed, outcome, message) => {
		const { outcomes } = await resolve({
			mode: 'upsert',
			items: [byKey, sendableOf({ index: 2, key: 'l', fields: { code: 'l' } })],
			unresolved: {
				response: responseOf({ bulk: { successCount: 1 }, data: listed.map((id) => ({ id })) }, 2),
			},
			platform: { 'POST /filter': records({ id: 'y', fields: { code: 'k', n: 1 } }) },
		});
		expect(outcomes[1]).toMatchObject({
			item: 2,
			outcome,
			message: expect.stringContaining(message) as string,
		});
	});

	test('a full update is compared with all fields', async () => {
		const item = sendableOf({ index: 0, key: 'k', fields: { code: 'k' } });
		const { bodies } = await resolve({ mode: 'replace', items: [item] });
		expect(bodies[0]).not.toHaveProperty('loadFields');
	});

	const rejection = { outcome: 'failed' as const, message: 'too young' };
	test.each<[string, Entry, UnresolvedContext, string]>([
		['the response did not mention it', a, silent, 'the response did not mention it'],
		['there was no response', attempted(a), {}, 'No response'],
		['a response came after a lost one', attempted(a), silent, 'the response did not mention it'],
		[
			'it was rejected after a lost attempt',
			a,
			{ rejections: new Map([[a, rejection]]) },
			'too young',
		],
	])(
		'if the look-up fails, it is unknown, with the reason: %s',
		async (_, item, unresolved, why) => {
			const { outcomes, stop } = await resolve({
				mode: 'update',
				items: [item],
				unresolved,
				platform: { 'GET /x': no(403) },
			});
			expect(outcomes).toMatchObject([
				{
					outcome: 'unknown',
					message: `Unknown whether this record was written: ${why}; looking it up failed: The token has no right to do this: no`,
				},
			]);
			// It may have the right to write.
			expect(stop).toBeUndefined();
		},
	);

	test('any other failure of the look-up stops the run', async () => {
		const down = { 'GET /x': networkError('ECONNREFUSED', 'connect') };
		const { outcomes, stop } = await resolve({ mode: 'update', items: [a], platform: down });
		expect(outcomes).toMatchObject([{ outcome: 'unknown' }]);
		expect(stop).toBeDefined();
	});

	test('a key does not help if the table has no import key', async () => {
		const { outcomes, requests } = await resolve({
			mode: 'create',
			items: [byKey],
			hasKey: false,
			unresolved: {},
		});
		expect(outcomes).toMatchObject([{ outcome: 'unknown' }]);
		expect(requests).toEqual([]);
	});
});

test('an item that was only asked to wait before it was rejected is rejected if it can’t be looked up', async () => {
	const item = { ...sendableOf({ index: 0, key: 'k', fields: { code: 'k' } }), wasPostponed: true };
	const rejection = { outcome: 'failed' as const, message: 'too young' };
	const platform = { 'POST /filter': no(403) };
	const run = async (prepared: Entry) =>
		await resolve({
			mode: 'create',
			items: [prepared],
			unresolved: { rejections: new Map([[prepared, rejection]]) },
			platform,
		});
	expect((await run(item)).outcomes).toMatchObject([rejection]);
	expect((await run(attempted(item))).outcomes).toMatchObject([{ outcome: 'unknown' }]);
});

test.each([
	[1, 'unchanged'],
	[2, 'inserted'],
])('a new record, if %i was inserted and one is listed, was %s', async (insertedCount, outcome) => {
	const item = sendableOf({ index: 0, key: 'k', fields: { code: 'k' } });
	const listed = { id: 'y', created: SINCE, modified: SINCE, ver: 0 };
	const { outcomes } = await resolve({
		mode: 'upsert',
		items: [item],
		batch: [item, sendableOf({ index: 1, key: 'l', fields: { code: 'l' } })],
		unresolved: { response: responseOf({ bulk: { insertedCount }, data: [listed] }, 2) },
		platform: {
			'POST /filter': httpResponse(200, {
				data: [
					storedOf({ id: 'x', created: SINCE, modified: SINCE, ver: 0, fields: { code: 'k' } }),
				],
			}),
		},
	});
	expect(outcomes).toMatchObject([{ outcome }]);
});

describe('an item that adds a file, and no response', () => {
	const file = sendableOf({ index: 0, id: 'x', fields: { file: { add: [{ filename: 'a' }] } } });
	const has = (more: object = {}) => record('x', { file: [{ fileId: 'f', fileName: 'a' }] }, more);
	const without = (more: object = {}) => record('x', { file: [{ fileId: 'f' }] }, more);
	const final = { noRetry: true, hint: { code: 'lookBeforeAddingAgain' } };
	const late = new ServiceError('late', { delivery: 'ambiguous', stillPending: true });

	test.each<[string, Entry, Reply, object | undefined]>([
		['the record is older than the run: it is sent again', attempted(file), without(), undefined],
		[
			'it was sent again already',
			{ ...attempted(file), isSentAgain: true },
			without(),
			{ outcome: 'unknown', ...final },
		],
		[
			'the request may still be applied',
			{ ...file, previousAttempt: late },
			without(),
			{ outcome: 'unknown', ...final },
		],
		[
			'the record was changed since, and has none of its name',
			attempted(file),
			without({ modified: SINCE }),
			{ outcome: 'unknown', ...final },
		],
		['it was, and has it', attempted(file), has({ modified: SINCE }), { outcome: 'updated' }],
		['it can’t be read', attempted(file), no(403), { outcome: 'unknown', ...final }],
	])('%s', async (_, item, reply, expected) => {
		const { outcomes, unapplied } = await resolve({
			mode: 'update',
			items: [item],
			unresolved: {},
			platform: { 'GET /x': reply },
		});
		expect(outcomes).toMatchObject(expected ? [expected] : []);
		expect(unapplied).toMatchObject(
			expected ? [] : [{ index: 0, isSentAgain: true, previousAttempt: undefined }],
		);
	});

	test('of which a response says nothing is written alone if it was not before', async () => {
		const { outcomes, alone } = await resolve({
			mode: 'update',
			items: [{ ...file, sent: { file: 'https://example.com/a' } }],
			platform: { 'GET /x': without({ modified: BEFORE, ver: undefined }) },
		});
		expect(outcomes).toEqual([]);
		expect(alone).toEqual([[0, 'x', file.fields]]);
	});
});

test('an item to create that adds a file is not sent again: it may still be created', async () => {
	const fields = { code: 'k', file: { add: [{ filename: 'a' }] } };
	const { outcomes, unapplied } = await resolve({
		mode: 'create',
		items: [attempted(sendableOf({ key: 'k', fields }))],
		unresolved: {},
	});
	expect(unapplied).toEqual([]);
	expect(outcomes).toMatchObject([{ outcome: 'unknown' }]);
});

test('an item that was written alone is sent again alone', async () => {
	const fields = { file: { add: [{ filename: 'a' }] } };
	const item = { ...attempted(sendableOf({ id: 'x', fields })), isAlone: true };
	const { alone, unapplied } = await resolve({
		mode: 'update',
		items: [{ ...item, before: storedOf({ id: 'x' }) }],
		unresolved: {},
		platform: { 'GET /x': record('x', { file: [] }) },
	});
	expect(alone).toEqual([[0, 'x', fields]]);
	expect(unapplied).toEqual([]);
});

describe('an item that a response does not mention, while it rejects another one', () => {
	const item = sendableOf({ index: 4, key: 'k', fields: { code: 'k' } });
	const rejects = (...errors: object[]): UnresolvedContext => ({
		response: responseOf({ data: [], errors }, 10),
	});
	const named = { RecordIndex: 3, message: 'bad' };

	test.each<[string, WriteMode, Entry, UnresolvedContext, Record<string, Reply>, boolean]>([
		['is not there: it is sent again', 'upsert', item, rejects(named), {}, true],
		['is not there: it is created again', 'create', item, rejects(named), {}, true],
		[
			'was not written: it is sent again',
			'update',
			sendableOf({ id: 'y', fields: { n: 1 } }),
			rejects(named),
			{ 'GET /y': record('y', { n: 0 }) },
			true,
		],
		[
			'was sent again, and yet another is bad',
			'upsert',
			{ ...item, isSentAgain: false },
			rejects(named),
			{},
			true,
		],
		[
			'may be the one that an error without a name means',
			'upsert',
			item,
			rejects(named, { message: 'worse' }),
			{},
			false,
		],
		[
			'holds what was sent',
			'update',
			sendableOf({ id: 'y', fields: { n: 1 } }),
			rejects(named),
			{ 'GET /y': record('y', { n: 1 }) },
			false,
		],
	])('%s', async (_, mode, entry, unresolved, platform, isSentAgain) => {
		const result = await resolve({ mode, items: [entry], unresolved, platform });
		expect(result.unapplied).toHaveLength(isSentAgain ? 1 : 0);
		expect(result.outcomes).toHaveLength(isSentAgain ? 0 : 1);
	});
});

describe('an item of which what is stored proves nothing', () => {
	const file = sendableOf({ index: 0, id: 'x', fields: { file: [{ filename: 'a' }] } });
	const stored = { 'GET /x': record('x', { file: [{ fileId: 'f' }] }, { ver: 4 }) };

	test('is written again alone', async () => {
		const { outcomes, alone } = await resolve({ mode: 'update', items: [file], platform: stored });
		expect(outcomes).toEqual([]);
		expect(alone).toEqual([[0, 'x', file.fields]]);
	});

	test.each<[string, Entry, UnresolvedContext]>([
		['an earlier attempt may have written it', attempted(file), silent],
		['no response came', attempted(file), {}],
		['nothing rejected it and no response came', file, {}],
	])('is not written again if %s', async (_, item, unresolved) => {
		const { outcomes, requests } = await resolve({
			mode: 'update',
			items: [item],
			unresolved,
			platform: stored,
		});
		expect(outcomes).toMatchObject([{ outcome: 'unknown' }]);
		expect(requests).toEqual(['GET /x']);
	});

	test.each<[string, UnresolvedContext]>([
		['there is a response', silent],
		['there is none', {}],
		['others were rejected', { rejections: new Map() }],
	])('is not written again if the look-up fails, and %s', async (_, unresolved) => {
		const { outcomes, requests } = await resolve({
			mode: 'update',
			items: [file],
			unresolved,
			platform: { 'GET /x': no(400) },
		});
		expect(outcomes).toMatchObject([
			{
				outcome: 'unknown',
				message: expect.stringContaining(
					'the response did not mention it; looking it up failed: no',
				) as string,
			},
		]);
		expect(requests).toEqual(['GET /x']);
	});

	test('is not written again if its outcome is known', async () => {
		const { requests } = await resolve({
			mode: 'update',
			items: [sendableOf({ index: 0, id: 'x', fields: { n: 2 } })],
			platform: { 'GET /x': record('x', { n: 1 }) },
		});
		expect(requests).toEqual(['GET /x']);
	});
});

describe('created records without a key', () => {
	const [a, b, c] = ['a', 'b', 'a'].map((code, index) =>
		sendableOf({ index, fields: { code } }),
	) as [Entry, Entry, Entry];
	const create = { mode: 'create', hasKey: false } as const;
	const responded = (insertedCount: number | undefined, ids: string, more = {}) => ({
		response: responseOf(
			{ bulk: { insertedCount }, data: [...ids].map((id) => ({ id })), ...more },
			3,
		),
	});
	const unknown = (why: string) => ({
		outcome: 'unknown',
		message: `Unknown whether this record was written: ${why}`,
	});
	const unclear = unknown('the response does not say which of the items its records belong to');
	const otherCounts = unknown('the response counts other records than it lists');
	const x = record('x', { code: 'a' });
	const y = record('y', { code: 'b' });
	const other = record('y', { code: 'other' });

	type Row = [
		what: string,
		items: Entry[],
		unresolved: UnresolvedContext,
		platform: Record<string, Reply>,
		outcomes: object[],
	];
	test.each<Row>([
		['no response, and why', [attempted(a)], {}, {}, [unknown('No response')]],
		['no response', [a], {}, {}, [unknown('there was no response')]],
		[
			'its records are read back and belong to one item each',
			[a, b],
			responded(2, 'xy'),
			{ 'GET /x': x, 'GET /y': y },
			[
				{ item: 0, outcome: 'inserted', id: 'x', created: BEFORE, modified: BEFORE, ver: 1 },
				{ item: 1, outcome: 'inserted', id: 'y' },
			],
		],
		[
			'what none of its records belongs to was not created',
			[a, b],
			responded(1, 'y'),
			{ 'GET /y': y },
			[{ outcome: 'failed' }, { outcome: 'inserted', id: 'y' }],
		],
		[
			'what none of its records belongs to, though it counts more than it lists',
			[a, b],
			responded(undefined, 'y'),
			{ 'GET /y': y },
			[otherCounts, { outcome: 'inserted', id: 'y' }],
		],
		[
			'it counts all as inserted and lists none',
			[a, b],
			responded(2, ''),
			{},
			[
				{ item: 0, outcome: 'inserted' },
				{ item: 1, outcome: 'inserted' },
			],
		],
		[
			'it counts all as inserted, and has an error',
			[a, b],
			responded(2, '', { errors: [{ message: 'one failed' }] }),
			{},
			[otherCounts, otherCounts],
		],
		[
			'two items have the same values, and one was created',
			[a, c],
			responded(1, 'x'),
			{ 'GET /x': x },
			[{ outcome: 'inserted', id: 'x' }, { outcome: 'failed' }],
		],
		[
			'its records hold what nobody sent',
			[a, b],
			responded(1, 'y'),
			{ 'GET /y': other },
			[unclear, unclear],
		],
		[
			'its records are not there',
			[a, b],
			responded(1, 'y'),
			{ 'GET /y': no(404) },
			[unclear, unclear],
		],
		[
			'its records can’t be read',
			[a, b],
			responded(1, 'y'),
			{ 'GET /y': no(403) },
			[unclear, unclear],
		],
		[
			'it lists more records than were sent',
			[a],
			responded(1, 'xy'),
			{ 'GET /x': x, 'GET /y': y },
			[{ outcome: 'inserted' }],
		],
	])('%s', async (_, items, unresolved, platform, outcomes) => {
		const result = await resolve({ ...create, items, unresolved, platform });
		expect(result.outcomes).toMatchObject(outcomes);
		expect(result.stop).toBeUndefined();
	});

	test('of more records than were sent, none is read', async () => {
		const { requests } = await resolve({ ...create, items: [a], unresolved: responded(1, 'xy') });
		expect(requests).toEqual([]);
	});

	test('as many records as were sent are read', async () => {
		const { requests } = await resolve({
			...create,
			items: [a, b],
			unresolved: responded(undefined, 'xy'),
			platform: { 'GET /x': x, 'GET /y': y },
		});
		expect(requests).toEqual(['GET /x', 'GET /y']);
	});

	test('the whole batch is compared, not only what is open', async () => {
		const { outcomes } = await resolve({
			...create,
			items: [b],
			batch: [a, b],
			unresolved: responded(1, 'x'),
			platform: { 'GET /x': x },
		});
		expect(outcomes).toMatchObject([{ item: 1, outcome: 'failed' }]);
	});

	test('if two different items fit, it is not guessed', async () => {
		const bare = sendableOf({ index: 0, fields: { code: 'a' } });
		const more = sendableOf({ index: 1, fields: { code: 'a', n: 1 } });
		const { outcomes } = await resolve({
			...create,
			items: [bare, more],
			unresolved: responded(1, 'x'),
			platform: { 'GET /x': record('x', { code: 'a', n: 1 }) },
		});
		expect(outcomes).toMatchObject([unclear, unclear]);
	});
});

describe('an item of which only the changes were sent', () => {
	const partial = (fields: FieldValues): Entry => ({
		...sendableOf({ index: 0, id: 'x', key: 'k', fields: { code: 'c', ...fields } }),
		sent: fields,
		before: storedOf({ id: 'x', fields: {} }),
	});
	const change = partial({ n: 1 });

	type Row = [string, Entry, UnresolvedContext, Reply, isComplete: boolean];
	const lists = (ver: number): UnresolvedContext => ({
		response: responseOf({ data: [{ id: 'x', created: BEFORE, modified: SINCE, ver }] }),
	});
	test.each<Row>([
		['holds all of it', change, silent, record('x', { code: 'c', n: 1 }), true],
		['holds something else besides', change, silent, record('x', { code: 'd', n: 1 }), false],
		['was not written', change, silent, record('x', { code: 'd', n: 2 }), true],
		['is listed, as it is stored', change, lists(1), record('x', { code: 'c', n: 1 }), true],
		['is listed, and changed since', change, lists(0), record('x', { code: 'c', n: 1 }), false],
		['is not there', change, silent, no(404), true],
	])('the record %s', async (_, item, unresolved, reply, isComplete) => {
		const { outcomes, incomplete } = await resolve({
			mode: 'update',
			hasKey: false,
			items: [item],
			unresolved,
			platform: { 'GET /x': reply },
		});
		expect([outcomes.length, incomplete.length]).toEqual(isComplete ? [1, 0] : [0, 1]);
	});

	test('is written alone without the picture that the record had before', async () => {
		const [file, picture] = ['https://example.com/a', 'https://example.com/b'];
		const { alone } = await resolve({
			mode: 'update',
			hasKey: false,
			items: [{ ...partial({ file }), fields: { code: 'c', file, picture } }],
			platform: { 'GET /x': record('x', { code: 'd', file: [{ fileId: 'f' }] }) },
		});
		expect(alone).toEqual([[0, 'x', { code: 'c', file }]]);
	});

	test('is written whole if it is written alone', async () => {
		const file = partial({ file: 'https://example.com/a' });
		const { outcomes, alone } = await resolve({
			mode: 'update',
			hasKey: false,
			items: [file],
			platform: { 'GET /x': record('x', { code: 'd', file: [{ fileId: 'f' }] }) },
		});
		expect(outcomes).toEqual([]);
		expect(alone).toEqual([[0, 'x', file.fields]]);
	});
});

test('any other error than the service’s is thrown', () => {
	const error = new TypeError('a defect');
	expect(() => serviceErrorOrThrow(error)).toThrow(error);
	expect(serviceErrorOrThrow(timedOut)).toBe(timedOut);
});
