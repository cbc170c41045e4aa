/** When records were written, on clocks of any precision. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import {
	isFirstVersion,
	isSameVersion,
	readLastChange,
	wasChangedSince,
	wasCreatedSince,
	type LastChange,
	type NewestVersions,
} from '../../../nodes/DataPlatform/bulk/lastChange.ts';
import { people } from '../fixtures.cts';
import { fakePlatform, httpResponse, pageResponse } from '../stubPlatform.cts';

const COARSE = '2026-03-01T12:00:00Z';
const FINE = '2026-03-01T12:00:00.251Z';
const EARLIER = '2026-03-01T11:59:59Z';
const LATER = '2026-03-01T12:00:01Z';

const record = (id: string, modified = COARSE, ver = 0) => ({
	id,
	created: modified,
	modified,
	ver,
	fields: {},
});
const records = (count: number, modified?: string) =>
	Array.from({ length: count }, (_, index) => record(`r${index}`, modified));

describe('the newest change is read', () => {
	const read = async (
		table: object[],
		headers: Record<string, string | undefined> = {},
		cap?: number,
	) => {
		const { connection, sent } = fakePlatform((options: IHttpRequestOptions) => ({
			...pageResponse(options, table, cap),
			headers,
		}));
		const last = await readLastChange(connection, { table: 'people' }, people);
		const bodies = sent.map(({ body }) => body && (JSON.parse(String(body)) as object));
		return { last: last as NewestVersions, requests: sent.length, bodies };
	};

	test('none in an empty table', async () => {
		expect(await read([])).toMatchObject({ last: 'none', requests: 1 });
	});

	test('unknown, if the newest record does not say when it changed', async () => {
		const { last } = await read([{ id: 'x', fields: {} }, record('y')]);
		expect(last).toBeUndefined();
	});

	test('with the versions of its time, if an older one shows that these are all', async () => {
		const { last, requests } = await read([
			record('a'),
			record('b', COARSE, 3),
			record('c', EARLIER),
		]);
		expect(last).toEqual({
			time: COARSE,
			versions: new Map([
				['a', 0],
				['b', 3],
			]),
			areOthersLater: true,
		});
		expect(requests).toBe(1);
	});

	test('with more of them, if all that were read have the time and the clock may be coarse', async () => {
		const { last, requests, bodies } = await read([...records(30), record('old', EARLIER)]);
		expect([last.versions.size, last.areOthersLater, requests]).toEqual([30, true, 2]);
		// One field of each record: none of their values are needed.
		expect(bodies).toEqual([undefined, { loadFields: ['email'] }]);
	});

	test('the table may have no others', async () => {
		expect((await read(records(3))).requests).toBe(2);
		const { last, requests } = await read(records(30));
		expect([last.versions.size, last.areOthersLater, requests]).toEqual([30, true, 3]);
	});

	test('so many that not all of them are read', async () => {
		const { last, requests } = await read(records(4000));
		expect([last.versions.size, last.areOthersLater, requests]).toEqual([3010, undefined, 4]);
	});

	test('in as many requests as small pages need', async () => {
		const capped = (count: number) => read(records(count), {}, 5);
		expect(await capped(60)).toMatchObject({ last: { areOthersLater: true } });
		expect(await capped(80)).toMatchObject({ last: { areOthersLater: undefined }, requests: 13 });
	});

	test('once, if the clock is finer', async () => {
		const { last, requests } = await read(records(30, FINE));
		expect([last.areOthersLater, requests]).toEqual([false, 1]);
	});

	test.each([
		['Sun, 01 Mar 2026 12:01:00 GMT', false, 1],
		['Sun, 01 Mar 2026 12:00:59 GMT', true, 3],
	])('at %s on its clock', async (date, areOthersLater, count) => {
		const { last, requests } = await read(records(30), { date });
		expect([last.areOthersLater, requests]).toEqual([areOthersLater, count]);
	});

	test.each([
		['2026-03-01T12:00:00.120Z', 'Sun, 01 Mar 2026 12:00:02 GMT', true, 3],
		['2026-03-01T12:00:00.120Z', 'Sun, 01 Mar 2026 12:00:03 GMT', false, 1],
		['2026-03-01T12:00:00.120Z', undefined, true, 3],
		['2026-03-01T12:00:00.123Z', undefined, false, 1],
	])('a clock of hundredths of a second: %s at %s', async (time, date, areOthersLater, count) => {
		const { last, requests } = await read(records(30, time), { date });
		expect([last.areOthersLater, requests]).toEqual([areOthersLater, count]);
	});

	test('is not needed if the token may not read', async () => {
		const { connection } = fakePlatform(() => httpResponse(403, {}));
		expect(await readLastChange(connection, { table: 'people' }, people)).toBeUndefined();
	});
});

describe('a record since then', () => {
	const at = (areOthersLater: boolean | undefined): LastChange => ({
		time: COARSE,
		versions: new Map([
			['known', 2],
			['unversioned', undefined],
		]),
		areOthersLater,
	});

	test.each<[LastChange, string, string | undefined, boolean | undefined]>([
		['none', 'x', EARLIER, true],
		[undefined, 'x', LATER, undefined],
		[at(true), 'x', undefined, undefined],
		[at(true), 'x', LATER, true],
		[at(true), 'x', EARLIER, false],
		[at(true), 'known', COARSE, false],
		[at(true), 'x', COARSE, true],
		[at(false), 'x', COARSE, false],
		[at(undefined), 'x', COARSE, undefined],
		[at(undefined), 'known', COARSE, false],
	])('last change %j: %s, created %s: %s', (last, id, created, expected) => {
		expect(wasCreatedSince({ id, created }, last)).toBe(expected);
	});

	test.each<[LastChange, string, string | undefined, number | undefined, boolean | undefined]>([
		['none', 'x', EARLIER, 0, true],
		[undefined, 'x', LATER, 0, undefined],
		[at(true), 'x', undefined, 0, undefined],
		[at(true), 'x', LATER, 0, true],
		[at(true), 'known', LATER, 2, true],
		[at(true), 'x', EARLIER, 0, false],
		[at(true), 'known', COARSE, 2, false],
		[at(true), 'known', COARSE, 3, true],
		[at(true), 'known', COARSE, undefined, undefined],
		[at(true), 'unversioned', COARSE, 3, undefined],
		[at(true), 'x', COARSE, 0, true],
		[at(false), 'x', COARSE, 0, false],
		[at(undefined), 'x', COARSE, 0, undefined],
	])('last change %j: %s, changed %s, version %s: %s', (last, id, modified, ver, expected) => {
		expect(wasChangedSince({ id, modified, ver }, last)).toBe(expected);
	});
});

test.each<
	[created: string | undefined, modified: string | undefined, ver?: number, first?: boolean]
>([
	[undefined, COARSE, 0, undefined],
	[COARSE, undefined, 0, undefined],
	[COARSE, LATER, 0, false],
	[FINE, FINE, 4, true],
	[COARSE, COARSE, 0, true],
	[COARSE, COARSE, 1, false],
	[COARSE, COARSE, undefined, true],
])(
	'created %s, modified %s, version %s: as it was created: %s',
	(created, modified, ver, first) => {
		expect(isFirstVersion({ id: 'x', created, modified, ver })).toBe(first);
	},
);

test.each<[one: object, other: object, same: boolean | undefined]>([
	[{ ver: 1, modified: FINE }, { ver: 1, modified: LATER }, true],
	[{ ver: 1, modified: FINE }, { ver: 2, modified: FINE }, false],
	[{ modified: FINE }, { ver: 2, modified: FINE }, true],
	[{ modified: COARSE }, { ver: 2, modified: COARSE }, undefined],
	[{ modified: COARSE }, { modified: LATER }, false],
	[{ ver: 1, modified: FINE }, { modified: FINE }, true],
	[{}, {}, false],
])('%j and %j are one version: %s', (one, other, same) => {
	expect(isSameVersion({ id: 'x', ...one }, { id: 'x', ...other })).toBe(same);
});
