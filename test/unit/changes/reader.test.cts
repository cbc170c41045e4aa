/** How the order of changes is read: the requests, and what their pages mean. */
import { createHash } from 'node:crypto';
import { ChangePages, readChanges, startFromNow } from '../../../nodes/DataPlatform/changes/reader.ts';
import { LIMITS, type ChangeKind, type ChangeOptions, type ChangeState, type Limits } from '../../../nodes/DataPlatform/changes/tracker.ts';
import type { PlatformRecord } from '../../../nodes/DataPlatform/api/types.ts';
import { fakePlatform, httpResponse } from '../stubPlatform.cts';

const iso = (time: number) => new Date(time).toISOString();

/** A record that changed at a time. */
const changed = (id: string, time: number, created = time): PlatformRecord => ({
	id,
	ver: 1,
	created: iso(created),
	modified: iso(time),
	fields: { name: id },
});

const list = (...times: number[]) => times.map((time, at) => changed(`r${at + 1}`, time));

/** This many records; the first one changed at 1. */
const count = (size: number) => list(...Array.from({ length: size }, (_, at) => at + 1));

/** Pages of records in the order of their changes, and `skip limit` of each request, `-` backwards. */
function pagesOf(
	given: PlatformRecord[] | ((requests: number) => PlatformRecord[]),
	{ largest = Infinity, ...limits }: Partial<Limits> & { largest?: number } = {},
) {
	const requests: string[] = [];
	const { connection } = fakePlatform(({ url }) => {
		const query = new URL(url).searchParams;
		const isBackwards = query.get('sort') === 'modified(desc),id(desc)';
		const [skip, limit] = [Number(query.get('skip') ?? 0), Number(query.get('limit'))];
		requests.push(`${isBackwards ? '-' : ''}${skip} ${limit}`);
		const records = typeof given === 'function' ? given(requests.length) : given;
		const rows = isBackwards ? [...records].reverse() : records;
		return httpResponse(200, { data: rows.slice(skip, skip + Math.min(limit, largest)) });
	});
	const all = { ...LIMITS, ...limits };
	return { pages: new ChangePages({ client: connection, at: { table: 't' } }, {}, all), requests, limits: all };
}

const idsOf = (records: PlatformRecord[]) => records.map(({ id }) => id);

describe('the offset before a time', () => {
	test.each<[size: number, time: number, offset: number, requests: number[]]>([
		// Nothing changed before that time.
		[0, 5, 0, [3, 1]],
		[3, 1, 0, [3, 1]],
		// First by steps that double, then by bisection, up to half a page.
		[40, 3, 2, [3, 1]],
		[40, 20, 18, [3, 11, 27, 19, 15, 17]],
		[40, 41, 40, [3, 11, 27, 59, 43, 35, 39, 41]],
	])('%d records, the time %d: %d', async (size, time, offset, requests) => {
		const { pages, requests: sent } = pagesOf(count(size), { page: 4 });
		expect(await pages.offsetBefore(time)).toBe(offset);
		expect(sent).toEqual(requests.map((index) => `${index} 1`));
	});

	test('of no time is the beginning, without a request', async () => {
		const { pages, requests } = pagesOf(count(9));
		expect(await pages.offsetBefore(-Infinity)).toBe(0);
		expect(requests).toEqual([]);
	});

	test.each([4, 5, 6, 10])('is at most half a page of %d too early, never too late', async (page) => {
		for (let time = 1; time <= 31; time += 1) {
			const { pages } = pagesOf(count(30), { page });
			const offset = await pages.offsetBefore(time);
			expect(offset).toBeLessThanOrEqual(time - 1);
			expect(time - 1 - offset).toBeLessThanOrEqual(page / 2);
		}
	});

	test('records of that time are not before it', async () => {
		const { pages, requests } = pagesOf(list(1, 2, 3, 3, 3, 3, 3, 3, 3, 3), { page: 2 });
		expect(await pages.offsetBefore(3)).toBe(2);
		expect(requests).toEqual(['1 1', '5 1', '3 1']);
	});
});

describe('the newest changes', () => {
	const fifty = count(50);

	test.each<[string, Parameters<typeof pagesOf>, Parameters<ChangePages['newest']>, boolean, string[]]>([
		['none', [[]], [5], true, ['-0 1000']],
		['fewer than asked for', [list(1, 2)], [0], true, ['-0 1000', '-1 2']],
		['one, and no more', [list(1)], [0], true, ['-0 1000', '-1 1', '-0 1']],
		['one of two, the other of that time', [list(1, 2), { largest: 1 }], [1], false, ['-0 1000', '-1 1']],
		['one of two, the other older', [list(1, 2), { largest: 1 }], [2], true, ['-0 1000', '-1 1', '-0 1']],
		[
			'one of two, gone then',
			[(requests) => list(1, 2).slice(0, requests === 1 ? 2 : 1), { largest: 1 }],
			[0],
			false,
			['-0 1000', '-1 1', '-0 1'],
		],
		['a whole page', [count(9), { page: 4 }], [0], false, ['-0 4']],
		['a page, the last of it older', [count(9), { page: 4 }], [7], true, ['-0 4']],
		['a page, the last of it of that time', [count(9), { page: 4 }], [6], false, ['-0 4']],
		['no more than a page', [count(9), { page: 4 }], [0, 6], false, ['-0 4']],
		['a few', [count(9), { page: 4 }], [0, 3], false, ['-0 3']],
		// The pages may have been cut: is the last record really the last?
		['50, and no more', [fifty], [0], true, ['-0 1000', '-49 2']],
		['50 of 51', [count(51), { largest: 50 }], [0], false, ['-0 1000', '-49 2']],
		['50, what follows is older', [count(51), { largest: 50 }], [2], true, ['-0 1000', '-49 2']],
		['50, what follows is of that time', [count(51), { largest: 50 }], [1], false, ['-0 1000', '-49 2']],
		['50 asked for', [count(51)], [0, 50], false, ['-0 50']],
		[
			'50, another one in its place',
			[(requests) => (requests === 1 ? fifty : count(51).slice(1)), { largest: 50 }],
			[0],
			false,
			['-0 1000', '-49 2'],
		],
		['50, all gone then', [(requests) => (requests === 1 ? fifty : [])], [0], false, ['-0 1000', '-49 2']],
	])('%s', async (_, [given, limits], [since, ...more], isCovered, requests) => {
		const { pages, requests: sent } = pagesOf(given, limits);
		expect((await pages.newest(since, ...more)).isCovered).toBe(isCovered);
		expect(sent).toEqual(requests);
	});

	test('are given the newest first', async () => {
		const { pages } = pagesOf(list(1, 2, 3));
		expect(idsOf((await pages.newest(0, 2)).records)).toEqual(['r3', 'r2']);
	});

	test('without times are an error', async () => {
		const { pages } = pagesOf([changed('a', 1), { id: 'b', fields: {} }]);
		await expect(pages.newest(0)).rejects.toMatchObject({
			name: 'ServiceError',
			message: 'The response does not say when records changed',
			delivery: 'rejected',
			hint: 'Changes are found by the time at which each record was modified.',
		});
	});
});

describe('pages from a time on', () => {
	async function read(pages: ChangePages, since: number, offset: number) {
		const found: Array<[ids: string[], reached: number]> = [];
		for await (const { page, reached } of pages.from(since, offset)) {
			found.push([idsOf(page), reached]);
		}
		return found;
	}

	test('each repeats a part of the one before', async () => {
		const { pages, requests } = pagesOf(count(9), { page: 4, pageOverlap: 1 });
		expect(await read(pages, 3, 2)).toEqual([
			[['r2', 'r3', 'r4', 'r5'], 5],
			[['r5', 'r6', 'r7', 'r8'], 8],
			[['r8', 'r9'], Infinity],
		]);
		expect(requests).toEqual(['1 4', '4 4', '7 4']);
	});

	test('an empty table is one page', async () => {
		const { pages } = pagesOf([]);
		expect(await read(pages, 5, 0)).toEqual([[[], Infinity]]);
	});

	test('what is older does not count as reached', async () => {
		const { pages } = pagesOf(count(9), { page: 4, pageOverlap: 1 });
		expect((await read(pages, 6, 0)).map(([, reached]) => reached)).toEqual([6, 7, Infinity]);
	});

	test('if records moved up, it goes back until the pages overlap', async () => {
		const all = list(1, 2, 3, 3, 3, 3, 4);
		const given = (requests: number) => (requests === 1 ? all : all.slice(2));
		const { pages, requests } = pagesOf(given, { page: 4, pageOverlap: 1 });
		// The sixth has the time that was reached, but was not read: others may come before it.
		expect(await read(pages, 0, 0)).toEqual([
			[['r1', 'r2', 'r3', 'r4'], 3],
			[['r3', 'r4', 'r5', 'r6'], 3],
			[['r6', 'r7'], Infinity],
		]);
		expect(requests).toEqual(['0 4', '3 4', '0 4', '3 4']);
	});

	test('if many have the same time, each one that was read shows that the pages overlap', async () => {
		const all = list(3, 3, 3, 3, 3, 3, 3, 3, 3);
		const orders = [all, all, [...all.slice(3), ...all.slice(0, 3)]];
		const given = (requests: number) => orders[requests - 1] ?? orders.at(-1)!;
		const { pages, requests } = pagesOf(given, { page: 4, pageOverlap: 1 });
		await read(pages, 0, 0);
		expect(requests).toEqual(['0 4', '3 4', '6 4']);
	});
});

test.each([
	['from the beginning', 0],
	['from a time on', 2],
])('a platform that gives the same page again and again is an error: %s', async (_, since) => {
	const { connection, sent } = fakePlatform(({ url }) => {
		const limit = Number(new URL(url).searchParams.get('limit'));
		return httpResponse(200, { data: list(1, 2, 3).slice(0, limit) });
	});
	const state: ChangeState = { emitted: {}, ...(since > 0 && { watermark: { time: since, id: '' } }) };
	const options = { kinds: new Set<ChangeKind>(['created']), overlapMs: 0, maximum: 100 };
	const pages = new ChangePages({ client: connection, at: { table: 't' } }, {});
	await expect(readChanges(pages, state, options, () => true)).rejects.toThrow('no stable list of changes');
	expect(sent.length).toBeLessThan(150);
});

describe('one poll', () => {
	const state = (more: Partial<ChangeState> = {}): ChangeState => ({ emitted: {}, ...more });

	async function poll(given: Parameters<typeof pagesOf>, before: ChangeState, options: Partial<ChangeOptions> = {}, hasTime = () => true) {
		const { pages, requests } = pagesOf(...given);
		const all = { kinds: new Set<ChangeKind>(['created', 'updated']), overlapMs: 0, maximum: 100, ...options };
		const { records, ...read } = await readChanges(pages, before, all, hasTime);
		return { ...read, ids: idsOf(records).sort(), records, requests };
	}

	const small = { page: 4, pageOverlap: 1 };

	test('of an empty table', async () => {
		expect(await poll([[]], state())).toMatchObject({ ids: [], isWhole: true, newest: undefined });
	});

	const watermark = { time: 1, id: '' };

	test.each<[string, ChangeState]>([
		['the first', state()],
		['the first of a table that was empty', state({ cursor: 1 })],
		['one that follows a backlog', state({ watermark, backlog: { earlier: '' } })],
	])('%s reads a page at once', async (_, before) => {
		expect((await poll([list(1, 2)], before)).requests).toEqual(['-0 1000', '-1 2']);
	});

	test('with little to read is one request of that much', async () => {
		const emitted: ChangeState['emitted'] = { r2: [1, 2], r3: [1, 3] };
		const before = state({ watermark: { time: 2, id: '' }, emitted });
		expect(await poll([list(1, 2, 3, 4)], before)).toMatchObject({ ...{ ids: ['r4'], isWhole: true, newest: 4, requests: ['-0 52'] } });
	});

	test('with little to read, and nothing older, asks whether that is all', async () => {
		const emitted: ChangeState['emitted'] = { r1: [1, 1], r2: [1, 2] };
		const { requests } = await poll([list(1, 2, 3)], state({ watermark, emitted }));
		expect(requests).toEqual(['-0 52', '-2 2']);
	});

	test('reads a page if that is not enough, and none if it was a page', async () => {
		const more = await poll([count(9), { expected: 2, page: 20 }], state({ watermark }));
		expect(more.requests).toEqual(['-0 2', '-0 20', '-8 2']);
		const page = await poll([count(9), { expected: 4, ...small }], state({ watermark }));
		expect(page.requests.slice(0, 2)).toEqual(['-0 4', '3 1']);
	});

	test.each<[string, Partial<ChangeOptions>, Partial<Limits>, string[], boolean]>([
		['all that there is', {}, {}, ['r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8', 'r9'], true],
		['as many as there are', { maximum: 9 }, {}, ['r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8', 'r9'], true],
		['as many as are emitted', { maximum: 2 }, {}, ['r1', 'r2'], false],
		['as many as are held', {}, { maxBuffered: 3 }, ['r1', 'r2', 'r3'], false],
		['a page exactly', { maximum: 3 }, {}, ['r1', 'r2', 'r3'], false],
	])('reads %s', async (_, options, limits, ids, isWhole) => {
		expect(await poll([count(9), { ...small, ...limits }], state(), options)).toMatchObject({ ...{ ids, isWhole, newest: 9, offset: 0 } });
	});

	test('ends as soon as there is enough before the time that was reached', async () => {
		const { requests } = await poll([count(30), small], state(), { maximum: 3 });
		expect(requests).toEqual(['-0 4', '0 4']);
		const held = await poll([count(30), { ...small, maxBuffered: 3 }], state());
		expect(held.requests).toEqual(['-0 4', '0 4']);
	});

	test('unwanted changes do not count, and lose their fields', async () => {
		const records = count(6).map((record, at) => changed(record.id, at + 10, at < 4 ? 1 : at + 10));
		const only = { kinds: new Set<ChangeKind>(['created']), maximum: 1 };
		const before = state({ watermark: { time: 5, id: '' } });
		const read = await poll([records, small], before, only);
		expect(read.records.map(({ id, fields }) => [id, fields.name])).toEqual([
			...[1, 2, 3, 4].map((at) => [`r${at}`, undefined]),
			['r5', 'r5'],
			['r6', 'r6'],
		]);
		const digest = (): Array<[string, string]> => [['name', 'x']];
		const digested = await poll([records, small], before, { ...only, digest });
		expect(digested.records.every(({ fields }) => 'name' in fields)).toBe(true);
	});

	test('without time left, the certain changes', async () => {
		const { ids, isWhole, requests } = await poll([count(30), small], state(), {}, () => false);
		expect({ ids, isWhole, requests }).toEqual({ ...{ ids: ['r1', 'r2', 'r3'], isWhole: false, requests: ['-0 4', '0 4'] } });
	});

	test('without time left, at least something', async () => {
		const same = list(3, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8);
		const { ids, isWhole } = await poll([same, small], state(), {}, () => false);
		expect({ ids, isWhole }).toEqual({ ids: ['r1', 'r2', 'r3', 'r4', 'r5', 'r6'], isWhole: false });
	});

	test('a record that changed again after those that fit does not take its place', async () => {
		const before = list(1, 2, 3, 3, 3);
		const after = [...before.slice(1), changed('r1', 20, 1)];
		const given = (requests: number) => (requests <= 2 ? before : after);
		const { ids, isWhole } = await poll([given, { ...small, maxBuffered: 3 }], state());
		expect({ ids, isWhole }).toEqual({ ids: ['r2', 'r3'], isWhole: false });
	});

	test('a record that changed while pages were read is taken once, as it is now', async () => {
		const before = count(9);
		const after = [...before.filter(({ id }) => id !== 'r1'), { ...changed('r1', 20, 1), ver: 2 }];
		const given = (requests: number) => (requests <= 2 ? before : after);
		const { records, ids } = await poll([given, small], state());
		expect(ids).toEqual(idsOf(count(9)));
		expect(records.find(({ id }) => id === 'r1')).toMatchObject({ ver: 2 });
	});
});

describe('the state when watching starts now', () => {
	const recentOf = (...ids: string[]) => ids.map((id) => createHash('sha256').update(id).digest('base64url').slice(0, 6)).join('');

	const start = async (given: Parameters<typeof pagesOf>, latest?: number, overlapMs = 5) =>
		await startFromNow(pagesOf(...given).pages, latest === undefined ? undefined : iso(latest), overlapMs);

	test('of an empty table is none', async () => {
		const { pages, requests } = pagesOf([]);
		expect(await startFromNow(pages, undefined, 5)).toEqual({ emitted: {} });
		expect(requests).toEqual([]);
	});

	test.each<[string, Parameters<typeof pagesOf>, number, ChangeState]>([
		[
			'what changed within the overlap counts as emitted',
			[list(5000, 6999, 7000, 7005)],
			7005,
			{ cursor: 7005, watermark: { time: 7000, id: '' }, emitted: { r3: [1, 7000], r4: [1, 7005] }, recent: recentOf('r2') },
		],
		[
			'what changed since is the newest',
			[list(10, 17, 22)],
			20,
			{ cursor: 22, watermark: { time: 17, id: '' }, emitted: { r2: [1, 17], r3: [1, 22] }, recent: recentOf('r1') },
		],
		[
			'what was deleted since was the newest',
			[list(10, 17)],
			20,
			{ cursor: 17, watermark: { time: 12, id: '' }, emitted: { r2: [1, 17] } },
		],
		[
			'more than a page',
			[list(14, 16, 17, 17, 18, 19, 20), { page: 4 }],
			20,
			{
				...{ cursor: 20, watermark: { time: 15, id: '' }, recent: recentOf('r1') },
				emitted: { r2: [1, 16], r3: [1, 17], r4: [1, 17], r5: [1, 18], r6: [1, 19], r7: [1, 20] },
			},
		],
	])('%s', async (_, given, latest, expected) => {
		expect(await start(given, latest)).toEqual({ ...expected, cursorReadAt: expect.any(Number) as number });
	});

	test('all deleted', async () => {
		expect(await start([[]], 20)).toEqual({ watermark: { time: -1985, id: '' }, emitted: {} });
	});

	test('more than one poll can hold: all of them count as emitted', async () => {
		expect(await start([list(16, 17, 18, 19, 20), { page: 4, maxBuffered: 3 }], 20)).toEqual({
			watermark: { time: 21, id: '' },
			emitted: {},
		});
	});
});
