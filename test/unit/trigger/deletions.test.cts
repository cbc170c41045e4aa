/** Which records count as deleted, on a fake platform that lists what it likes. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Table as PlatformTable, tableAt } from '../../../nodes/DataPlatform/api/table.ts';
import { packIds, unpackIds } from '../../../nodes/DataPlatform/api/packing.ts';
import { LIMITS } from '../../../nodes/DataPlatform/changes/tracker.ts';
import {
	DeletionWatcher,
	findDeletions,
	MAX_WATCHED,
	readWatchedIds,
	type DeletionCheck,
} from '../../../nodes/DataPlatform/trigger/deletions.ts';
import type { Watch } from '../../../nodes/DataPlatform/trigger/watch.ts';
import type { ApiClient } from '../../../nodes/DataPlatform/transport/client.ts';
import { anyText } from '../../support/anyText.cts';
import { fakePlatform, httpResponse, networkError, type Serve } from '../stubPlatform.cts';

const notFound = httpResponse(404, { errors: [{ type: 'info', id: 'recordNotFound', message: 'There is no such record' }] });

class Table {
	/** The existing records. */
	readonly ids: Set<string>;
	/** What lists show; the existing records by default. */
	listed?: () => string[];
	/** What the count is; that of the existing records by default. */
	count?: () => number;
	/** The response to a request for one record, if it is not the truth. */
	single?: (id: string) => ReturnType<Serve> | undefined;
	/** The response to a request for a list, if it is not a list. */
	list?: () => ReturnType<Serve> | undefined;
	/** Called before each response. */
	before: (path: string, count: number) => void = () => undefined;
	readonly requests: string[] = [];
	hasTime = () => true;
	private readonly connection: ApiClient;

	constructor(size: number) {
		this.ids = new Set(Array.from({ length: size }, (_, index) => `id-${index}`));
		const { connection } = fakePlatform((options) => this.serve(options));
		this.connection = connection;
	}

	private serve(options: Parameters<Serve>[0]): ReturnType<Serve> {
		const { pathname, searchParams } = new URL(String(options.url));
		const path = pathname.replace('/api/v2/things', '') || '/';
		this.requests.push(path);
		this.before(path, this.requests.length);
		if (path === '/data/count') {
			return httpResponse(200, { data: { count: this.count?.() ?? this.ids.size } });
		}
		if (path === '/data' || path === '/data/filter') {
			const skip = Number(searchParams.get('skip') ?? 0);
			const limit = Number(searchParams.get('limit'));
			const other = this.list?.();
			if (other) return other;
			const data = (this.listed?.() ?? [...this.ids])
				.slice(skip, skip + limit)
				.map((id) => ({ id, modified: '2026-01-01T00:00:00Z', fields: {} }));
			return httpResponse(200, { data });
		}
		const id = decodeURIComponent(path.replace('/data/', ''));
		if (!path.startsWith('/data/')) return httpResponse(403, { errors: [{ message: 'no' }] });
		const other = this.single?.(id);
		if (other) return other;
		return this.ids.has(id) ? httpResponse(200, { data: { id, fields: {} } }) : notFound;
	}

	get check(): DeletionCheck {
		return { table: tableAt(this.connection, { table: 'things' }), query: {}, hasTime: () => this.hasTime() };
	}

	async find(watched: Iterable<string>, options: Partial<Parameters<typeof findDeletions>[2]> = {}): Promise<string[]> {
		const all = { room: 1000, maxShare: 100, maximum: 5000, addsMatching: false, ...options };
		return (await findDeletions(this.check, new Set(watched), all)).deleted.sort();
	}
}

const remove = (table: Table, ...ids: string[]) => ids.forEach((id) => table.ids.delete(id));

describe('what counts as deleted', () => {
	test('records that the list lacks and the platform does not have', async () => {
		const table = new Table(5);
		const watched = [...table.ids];
		expect(await table.find(watched)).toEqual([]);
		remove(table, 'id-1', 'id-4');
		expect(await table.find(watched)).toEqual(['id-1', 'id-4']);
	});

	test('all of them, if the table is empty', async () => {
		const table = new Table(8);
		const watched = [...table.ids];
		table.ids.clear();
		expect(await table.find(watched)).toHaveLength(8);
	});

	test('none of a list that is empty, halved or repeats a page, as long as the records are there', async () => {
		for (const part of [0, 0.5, 0.9]) {
			const table = new Table(40);
			table.listed = () => [...table.ids].slice(0, 40 * part);
			expect(await table.find(table.ids)).toEqual([]);
		}
		const repeated = new Table(1500);
		repeated.listed = () => [...repeated.ids].slice(0, 1000).flatMap((id) => [id, id]);
		await expect(repeated.find(repeated.ids)).rejects.toThrow('is incomplete');
	});

	test('of a half list of a large table, nothing, and few requests', async () => {
		const table = new Table(3000);
		table.listed = () => [...table.ids].slice(0, 1500);
		await expect(table.find(table.ids)).rejects.toThrow('list of records is incomplete');
		expect(table.requests.length).toBeLessThan(130);
	});

	test('no record that came back under its ID before it was looked up', async () => {
		const table = new Table(3);
		const watched = [...table.ids];
		table.ids.clear();
		table.before = (path) => {
			if (path.startsWith('/data/id-')) table.ids.add('id-1');
		};
		expect(await table.find(watched)).toEqual(['id-0', 'id-2']);
	});

	test('a table that was emptied and filled again: the old ids, if the new records have others', async () => {
		const table = new Table(3);
		const watched = [...table.ids];
		table.ids.clear();
		for (const id of ['new-1', 'new-2', 'new-3']) table.ids.add(id);
		expect(await table.find(watched)).toEqual(watched);
		for (const id of watched) table.ids.add(id);
		expect(await table.find(watched)).toEqual([]);
	});
});

describe('what says nothing about a record', () => {
	const html = { ...httpResponse(404, {}), body: '<html>Not Found</html>' };

	test.each([
		['a gateway’s 404', html],
		['a 404 without a word', { ...httpResponse(404, {}), body: '' }],
		['a 404 of another service', httpResponse(404, { message: 'no Route matched' })],
		['a success without a record', httpResponse(200, { data: null })],
		['another record', httpResponse(200, { data: { fields: {} } })],
		['a token that is not valid any more', httpResponse(401, { errors: [] })],
	])('%s: the check fails', async (_, response) => {
		const table = new Table(4);
		const watched = [...table.ids];
		remove(table, 'id-2');
		table.single = () => response;
		await expect(table.find(watched)).rejects.toThrow();
	});

	test('a record that the token may not read any more is not deleted', async () => {
		const table = new Table(4);
		const watched = [...table.ids];
		remove(table, 'id-1', 'id-2');
		table.single = (id) => (id === 'id-2' ? httpResponse(403, { errors: [{ message: 'no' }] }) : undefined);
		expect(await table.find(watched)).toEqual(['id-1']);
	});

	test('a table that disappears while its records are looked up', async () => {
		const table = new Table(4);
		const watched = [...table.ids];
		table.listed = () => ['id-0'];
		table.single = () => notFound;
		// From the second list on, which only checks whether the table still exists.
		table.list = () => (table.requests.filter((path) => path === '/data').length > 1 ? notFound : undefined);
		await expect(table.find(watched)).rejects.toThrow();
	});
});

describe('bounds', () => {
	test('more than the share at once: none, and what to do', async () => {
		const table = new Table(40);
		const watched = [...table.ids];
		remove(table, ...watched.slice(0, 21));
		const refused = table.find(watched, { maxShare: 50 });
		await expect(refused).rejects.toThrow('21 of 40 records are missing at once, more than 50 %');
		expect(await table.find(watched, { maxShare: 60 })).toHaveLength(21);
		table.ids.add('id-0');
		expect(await table.find(watched, { maxShare: 50 })).toHaveLength(20);
	});

	test('no more than the maximum at once', async () => {
		const table = new Table(1000);
		const watched = [...table.ids];
		remove(table, ...watched.slice(0, 101));
		const refused = table.find(watched, { maximum: 100 });
		await expect(refused).rejects.toMatchObject({
			message: '101 of 1000 records are missing at once, more than 100; none was treated as deleted',
			hint: expect.stringContaining("raise 'Max Deletions at Once'"),
		});
		table.ids.add('id-0');
		expect(await table.find(watched, { maximum: 100 })).toHaveLength(100);
	});

	test.each([
		[1, 1],
		[2, 1],
		[3, 2],
		[5, 3],
		[10, 5],
		[20, 5],
		[30, 6],
	])('of %d records, %d may be missing', async (size, most) => {
		const table = new Table(size);
		const watched = [...table.ids];
		remove(table, ...watched.slice(0, most));
		expect(await table.find(watched, { maxShare: 20 })).toHaveLength(most);
		table.ids.delete(watched[most]!);
		if (most < size) await expect(table.find(watched, { maxShare: 20 })).rejects.toThrow(`${most + 1} of ${size} records are missing`);
	});

	test('no more than there is room for, the rest by the next checks', async () => {
		const table = new Table(1200);
		let watched = [...table.ids];
		remove(table, ...watched.slice(100, 900));
		const found: string[] = [];
		for (const room of [3, 1000, 1000, 1000]) {
			const { deleted, isWhole } = await findDeletions(table.check, new Set(watched), {
				room,
				maxShare: 100,
				maximum: 1000,
				addsMatching: false,
			});
			expect(deleted.length).toBeLessThanOrEqual(Math.min(room, 500));
			expect(isWhole).toBe(found.length + deleted.length === 800);
			found.push(...deleted);
			watched = watched.filter((id) => !deleted.includes(id));
		}
		expect(new Set(found).size).toBe(800);
	});

	test('hardly more records are looked up than there is room for', async () => {
		const table = new Table(100);
		const watched = [...table.ids];
		table.ids.clear();
		await table.find(watched, { room: 3 });
		const lookUps = table.requests.filter((path) => path.startsWith('/data/id-'));
		// As many look-ups run at once as the last deletion that there is room for had beside it.
		expect(lookUps.length).toBeLessThanOrEqual(3 + 3);
	});

	test.each([
		[3, 3, true],
		[4, 3, false],
		[6, 3, false],
		[9, 3, false],
	])('of %d deletions there is room for %d; all were found: %s', async (missing, room, expected) => {
		const table = new Table(20);
		const watched = new Set(table.ids);
		remove(table, ...[...watched].slice(0, missing));
		const options = { room, maxShare: 100, maximum: 1000, addsMatching: false };
		const { deleted, isWhole } = await findDeletions(table.check, watched, options);
		expect([deleted.length, isWhole]).toEqual([3, expected]);
	});

	test('records that are hidden, though not deleted, don’t use up the room', async () => {
		const table = new Table(40);
		const watched = [...table.ids];
		remove(table, 'id-30');
		table.listed = () => [...table.ids].slice(3);
		expect(await table.find(watched, { room: 1 })).toEqual(['id-30']);
		const options = { room: 1, maxShare: 100, maximum: 1000, addsMatching: false };
		expect(await findDeletions(table.check, new Set(watched), options)).toMatchObject({ isListComplete: false });
	});

	test('no time: no record is treated as deleted', async () => {
		const table = new Table(2500);
		const watched = [...table.ids];
		remove(table, 'id-2400');
		table.hasTime = () => table.requests.length < 3;
		await expect(table.find(watched)).rejects.toThrow('no time to read the whole list');
	});

	test('a table that is too large is rejected, by its count and by its list', async () => {
		const table = new Table(3);
		table.count = () => MAX_WATCHED + 1;
		await expect(readWatchedIds(table.check)).rejects.toThrow(`at most ${MAX_WATCHED} records; this one has ${MAX_WATCHED + 1}`);
		expect(table.requests).toEqual(['/data/count']);
		const grown = new Table(MAX_WATCHED + 5);
		await expect(grown.find(['gone'])).rejects.toThrow('this one has more than');
		const largest = new Table(MAX_WATCHED);
		expect(await largest.find(['gone'])).toEqual(['gone']);
	});
});

describe('when watching starts', () => {
	test('every record, each page once', async () => {
		const table = new Table(2500);
		expect(await readWatchedIds(table.check)).toEqual(table.ids);
	});

	test('an incomplete list is rejected', async () => {
		const table = new Table(50);
		table.listed = () => [...table.ids].slice(20);
		await expect(readWatchedIds(table.check)).rejects.toThrow('lacks at least 20');
	});
});

describe('ids as they are stored', () => {
	test('come back, whatever they are', () => {
		const ids = fc.uniqueArray(
			fc.oneof(
				fc.uuid(),
				fc.uuid().map((id) => id.toUpperCase()),
				anyText(),
			),
		);
		fc.assert(
			fc.property(ids, (given) => {
				expect(new Set(unpackIds(packIds(given)))).toEqual(new Set(given));
			}),
		);
	});

	test('take 22 characters each', () => {
		const ids = Array.from({ length: 3000 }, () => randomUUID());
		expect(packIds(ids).length).toBeLessThanOrEqual(22 * 3000);
		expect(packIds(ids)).toBe(packIds([...ids].reverse()));
	});
});

describe('what a check requests', () => {
	const field = (type: string) => ({ name: `my ${type}`, type });

	/** A table in an application, whose definition shows its fields; the records that a list shows. */
	function tableWith(types: string[], ids: string[], count = ids.length) {
		const requests: string[] = [];
		const { connection } = fakePlatform(({ method, url, body }) => {
			const { pathname, searchParams } = new URL(url);
			const path = pathname.replace('/api/v2/apps/crm', '');
			searchParams.delete('sort');
			requests.push([method, decodeURIComponent(`${path}?${searchParams}`), body && String(body)].filter(Boolean).join(' '));
			if (path === '/tables/things') {
				return httpResponse(200, { data: { id: 't', items: types.map(field) } });
			}
			if (path.endsWith('/count')) return httpResponse(200, { data: { count } });
			if (path.endsWith('/data') || path.endsWith('/filter')) {
				const skip = Number(searchParams.get('skip') ?? 0);
				const data = ids.slice(skip).map((id) => ({ id, fields: {} }));
				return httpResponse(200, { data });
			}
			return notFound;
		});
		const check = (query: DeletionCheck['query'] = {}): DeletionCheck => ({
			table: new PlatformTable(connection, { application: 'crm', table: 'things' }),
			query,
			hasTime: () => true,
		});
		return { check, requests };
	}

	const LIST = '/tables/things/data';
	const filter = { filter: [{ field: 'a', operator: 'eq', value: '1' }], filterOperator: 'and' as const };
	const all = { room: 1000, maxShare: 100, maximum: 1000, addsMatching: true };

	test.each<[string, string[], string]>([
		['the shortest that it has', ['long_text', 'text', 'number', 'file'], 'my number'],
		['a checkbox before all', ['number', 'checkbox'], 'my checkbox'],
		['text, if there is nothing shorter', ['chips', 'text'], 'my text'],
	])('of each record one field: %s', async (_, types, name) => {
		const { check, requests } = tableWith(types, ['a']);
		await readWatchedIds(check());
		expect(requests.slice(1)).toEqual(['GET /tables/things?', `POST ${LIST}/filter?limit=1000 {"loadFields":["${name}"]}`]);
	});

	test('of each record all fields, if none is short', async () => {
		const { check, requests } = tableWith(['long_text'], ['a']);
		await readWatchedIds(check());
		expect(requests[2]).toBe(`GET ${LIST}?limit=1000`);
	});

	test.each<[string, DeletionCheck['query'], string]>([
		['a saved view', { savedView: 'v' }, `GET ${LIST}?limit=1000&userFilter=v`],
		[
			'a filter',
			{ filter },
			`POST ${LIST}/filter?limit=1000 {"filter":[{"field":"a","operator":"eq","value":"1"}],"filterOperator":"and"}`,
		],
	])('%s: what matches is watched, however many there are beside it', async (_, query, list) => {
		const { check, requests } = tableWith(['file'], ['a', 'b'], 500);
		expect(await readWatchedIds(check(query))).toEqual(new Set(['a', 'b']));
		const next = (request: string) => request.replace('limit=1000', 'limit=1000&skip=1');
		expect(requests).toEqual([`GET ${LIST}/count?`, 'GET /tables/things?', list, next(list)]);
		const later = tableWith(['file'], ['a', 'b'], 500);
		const found = await findDeletions(later.check(query), new Set(['b', 'gone']), all);
		expect(found).toEqual({ deleted: ['gone'], added: ['a'], isWhole: true, isListComplete: true });
		// The list of the whole table shows what was deleted; the list of matches, which records are
		// new.
		const all1000 = `GET ${LIST}?limit=1000`;
		expect(later.requests.filter((request) => request.includes('limit='))).toEqual([
			...[all1000, next(all1000), `GET ${LIST}?limit=1`],
			...[list, next(list)],
		]);
	});

	test('new records are returned only if requested', async () => {
		const { check, requests } = tableWith(['file'], ['a', 'b']);
		const watched = new Set(['b']);
		expect(await findDeletions(check(), watched, all)).toMatchObject({ added: ['a'] });
		expect(requests.splice(0)).toEqual(['GET /tables/things?', `GET ${LIST}?limit=1000`, `GET ${LIST}?limit=1000&skip=1`]);
		const without = { ...all, addsMatching: false };
		expect(await findDeletions(check(), watched, without)).toMatchObject({ added: [] });
		// All that is watched was found: nothing else matters.
		expect(requests).toEqual(['GET /tables/things?', `GET ${LIST}?limit=1000`]);
	});

	test('if a record disappears in the meantime, the count is read again', async () => {
		const table = new Table(50);
		table.before = (path) => {
			if (path === '/data') remove(table, 'id-7');
		};
		await readWatchedIds(table.check);
		const counts = table.requests.filter((path) => path === '/data/count');
		expect(counts).toHaveLength(2);
		const whole = new Table(50);
		await readWatchedIds(whole.check);
		expect(whole.requests.filter((path) => path === '/data/count')).toHaveLength(1);
	});

	test('an incomplete list is read once, and compared with the count before and after', async () => {
		const table = new Table(50);
		table.listed = () => [...table.ids].slice(20);
		await expect(readWatchedIds(table.check)).rejects.toThrow(
			expect.objectContaining({ delivery: 'notApplied', hint: 'No record was treated as deleted. The next poll reads the list again.' }),
		);
		expect(table.requests.filter((path) => path === '/data/count')).toHaveLength(2);
	});
});

describe('at the bounds', () => {
	const inTable = (size: number, unlisted: number) => {
		const table = new Table(size);
		table.listed = () => [...table.ids].slice(unlisted);
		return table;
	};

	test('a list may lack this many existing records, and no more', async () => {
		const table = inTable(300, 100);
		expect(await table.find(table.ids)).toEqual([]);
		const more = inTable(300, 101);
		await expect(more.find(more.ids)).rejects.toThrow('lacks at least 101');
	});

	test('a table of as many records as may be watched', async () => {
		const table = new Table(3);
		table.count = () => MAX_WATCHED;
		await expect(readWatchedIds(table.check)).rejects.toThrow('is incomplete');
	});

	test('the error says what to do', async () => {
		const large = new Table(3);
		large.count = () => MAX_WATCHED + 1;
		await expect(readWatchedIds(large.check)).rejects.toMatchObject({
			hint: expect.stringContaining("choose another event under 'Trigger On'"),
		});
		const table = new Table(40);
		const watched = [...table.ids];
		remove(table, ...watched.slice(0, 21));
		await expect(table.find(watched, { maxShare: 50 })).rejects.toMatchObject({
			hint: expect.stringContaining("raise 'Max Share of Deletions (%)'"),
		});
		table.hasTime = () => false;
		await expect(table.find(watched)).rejects.toMatchObject({
			delivery: 'notApplied',
			hint: 'The platform responds slowly, or the table is large. No record was treated as deleted.',
		});
	});

	test('a failed connection does not mean that a record was deleted', async () => {
		const table = new Table(3);
		const watched = [...table.ids];
		remove(table, 'id-1');
		table.single = () => networkError('ERR_SSL_WRONG_VERSION_NUMBER');
		await expect(table.find(watched)).rejects.toThrow('secure connection');
	});
});

const BUDGET = { hasTime: () => true, limits: LIMITS };

test('a check that fails does not keep changes back, and is in the log', async () => {
	const { connection, log } = fakePlatform(() => httpResponse(403, { errors: [{ message: 'no' }] }));
	const watch = {
		get table() {
			return new PlatformTable(connection, { table: 'things' });
		},
		query: {},
		emitsChanges: true,
		changes: { kinds: new Set(['created']), overlapMs: 0, maximum: 10 },
		deletions: { intervalMs: 1000, maxShare: 50, maximum: 100 },
	} as unknown as Watch;
	const watcher = new DeletionWatcher(watch, BUDGET);
	const known = { ids: packIds(['gone']), checkedAt: 0 };
	const changes = [{ kind: 'created' as const, record: { id: 'new', fields: {} } }];
	const { deleted, saved } = await watcher.next(known, changes, false);
	expect({ deleted, ids: unpackIds(saved!.ids) }).toEqual({ deleted: [], ids: ['gone', 'new'] });
	expect(log).toEqual([expect.stringMatching(/^Data Platform Trigger: The check for deletions failed: no \(403\)\. [A-Z].*\.$/)]);
	// Nor is it repeated sooner than after the interval.
	expect(await watcher.next(saved, [], false)).toEqual({ deleted: [], saved });
	const alone = await watcher.next(known, [], false);
	expect(alone).toMatchObject({ deleted: [], failure: { message: 'no (403)' } });
	expect(await watcher.next(alone.saved, [], false)).toEqual({ deleted: [], saved: alone.saved });
});

test('a check of a table in which nothing changed is two requests; any change makes it list the records', async () => {
	const records = new Map([1, 2, 3].map((at) => [`id-${at}`, `2026-01-01T00:00:0${at}Z`]));
	const requests: string[] = [];
	const { connection } = fakePlatform(({ url }) => {
		const { pathname, searchParams } = new URL(String(url));
		const path = pathname.replace('/api/v2/things', '');
		requests.push(path);
		if (path.startsWith('/data/id-')) return notFound;
		if (path === '/data/count') return httpResponse(200, { data: { count: records.size } });
		if (!path.startsWith('/data')) return httpResponse(403, { errors: [] });
		const all = [...records].map(([id, modified]) => ({ id, modified, fields: {} }));
		if (searchParams.get('sort') === 'modified(desc)') return httpResponse(200, { data: all.reverse().slice(0, 1) });
		return httpResponse(200, { data: all.slice(Number(searchParams.get('skip') ?? 0)) });
	});
	const watch = {
		get table() {
			return new PlatformTable(connection, { table: 'things' });
		},
		query: {},
		emitsChanges: true,
		changes: { kinds: new Set(['created']), overlapMs: 0, maximum: 10 },
		deletions: { intervalMs: 0, maxShare: 20, maximum: 100 },
	} as unknown as Watch;
	const watcher = new DeletionWatcher(watch, BUDGET);
	let { saved } = await watcher.next(undefined, [], false);
	const check = async () => {
		requests.length = 0;
		const found = await watcher.next(saved, [], false);
		({ saved } = found);
		return [found.deleted, requests.length];
	};
	expect(await check()).toEqual([[], 4]);
	expect(await check()).toEqual([[], 2]);
	records.delete('id-2');
	expect(await check()).toEqual([['id-2'], 6]);
	records.delete('id-1');
	records.set('id-4', '2026-01-01T00:00:04Z');
	const [deleted] = await check();
	expect(deleted).toEqual(['id-1']);
	expect(await check()).toEqual([[], 2]);
	// Within one second on the platform's clock, a record more and one less show in nothing.
	const second = new Date().toISOString().replace(/\.\d+/, '');
	records.set('id-5', second);
	expect((await check())[0]).toEqual([]);
	records.delete('id-3');
	records.set('id-6', second);
	expect((await check())[0]).toEqual(['id-3']);
});

test('a record that is deleted after its change was read is not watched any more', async () => {
	const table = new Table(8);
	const watch = {
		table: table.check.table,
		query: {},
		changes: { maximum: 100 },
		deletions: { intervalMs: 0, maxShare: 100, maximum: 100 },
		emitsChanges: true,
	};
	const watcher = new DeletionWatcher(watch as unknown as Watch, BUDGET);
	const { saved: known } = await watcher.next(undefined, [], false);
	remove(table, 'id-1');
	const changes = ['id-1', 'id-2', 'new'].map((id) => ({ kind: 'updated' as const, record: { id, fields: {} } }));
	const { deleted, saved } = await watcher.next(known, changes, false);
	expect(deleted).toEqual(['id-1']);
	expect(unpackIds(saved!.ids)).toEqual(expect.arrayContaining(['id-2', 'new']));
	expect(unpackIds(saved!.ids)).not.toContain('id-1');
	// 'new' was deleted before that check: the next one finds it, though nothing has changed since.
	expect((await watcher.next(saved, [], false)).deleted).toEqual(['new']);
});

describe('when a poll checks', () => {
	const NOW = Date.now();
	const MINUTE = 60_000;

	/** Watches a table of 8 records, of which `id-1` was deleted since the last check. */
	function watching({ emitsChanges = true, maximum = 100 } = {}) {
		const table = new Table(8);
		const watch = {
			table: table.check.table,
			query: {},
			changes: { maximum },
			deletions: { intervalMs: 10 * MINUTE, maxShare: 100, maximum: 100 },
			emitsChanges,
		};
		const watcher = new DeletionWatcher(watch as unknown as Watch, { ...BUDGET, hasTime: () => table.hasTime() });
		const ids = packIds(table.ids);
		remove(table, 'id-1');
		return { table, watcher, ids };
	}

	const changesOf = (ids: string[]) => ids.map((id) => ({ kind: 'updated' as const, record: { id, fields: {} } }));

	test.each<[string, { ago?: number; changes?: number; isBehind?: boolean; hasTime?: boolean }, boolean]>([
		['after the interval', {}, true],
		['sooner', { ago: 9 * MINUTE }, false],
		['if the last check seems to be in the future, since the clock was set back', { ago: -60 * MINUTE }, true],
		['with a backlog of changes', { isBehind: true }, false],
		['if no time is left', { hasTime: false }, false],
		['with one change fewer than a poll may emit', { changes: 2 }, true],
		['with as many changes as a poll may emit', { changes: 3 }, false],
		['with more changes than a poll may emit', { changes: 4 }, false],
	])('%s: %j', async (_, { ago = 11 * MINUTE, changes = 0, isBehind = false, hasTime = true }, isChecked) => {
		const { table, watcher, ids } = watching({ maximum: 3 });
		table.hasTime = () => hasTime;
		const known = { ids, checkedAt: NOW - ago };
		const { deleted } = await watcher.next(known, changesOf(['id-2', 'id-3', 'id-4', 'id-5'].slice(0, changes)), isBehind);
		expect(deleted).toEqual(isChecked ? ['id-1'] : []);
		expect(table.requests.length > 0).toBe(isChecked);
	});

	test('changes and deletions together are no more than a poll may emit', async () => {
		const { table, watcher, ids } = watching({ maximum: 3 });
		remove(table, 'id-6', 'id-7');
		const { deleted } = await watcher.next({ ids, checkedAt: 0 }, changesOf(['id-2']), false);
		expect(deleted).toHaveLength(2);
	});

	test('if only deletions are emitted, it finds the records to watch, and has n8n store them', async () => {
		const { table, watcher, ids } = watching({ emitsChanges: false });
		table.ids.add('id-1').add('new');
		const found = await watcher.next({ ids, checkedAt: 0 }, [], false);
		expect(found).toMatchObject({ deleted: [], mustStore: true });
		remove(table, 'new');
		const later = await watcher.next({ ...found.saved!, checkedAt: 0 }, [], false);
		expect(later).toMatchObject({ deleted: ['new'], mustStore: false });
	});

	test('a change of a record that is watched already leaves the next check as short as it was', async () => {
		const { table, watcher, ids } = watching();
		const { saved } = await watcher.next({ ids, checkedAt: 0 }, [], false);
		const changed = await watcher.next(saved, changesOf(['id-2']), false);
		table.requests.length = 0;
		await watcher.next({ ...changed.saved!, checkedAt: 0 }, [], false);
		expect(table.requests).toHaveLength(2);
	});

	test('far above the most records that may be watched, no more are added', async () => {
		const { watcher } = watching();
		const ids = Array.from({ length: 2 * MAX_WATCHED - 1 }, (_, index) => `old-${index}`);
		const changes = changesOf(['new-1', 'new-2', 'new-3']);
		const { saved } = await watcher.next({ ids: packIds(ids), checkedAt: Date.now() }, changes, false);
		const added = unpackIds(saved!.ids).filter((id) => id.startsWith('new-'));
		expect(added).toEqual(['new-1']);
	});
});

test('without deletions to watch, none is found, and nothing is stored', async () => {
	const table = new Table(8);
	const watch = { table: table.check.table, query: {}, changes: { maximum: 100 }, emitsChanges: true };
	const watcher = new DeletionWatcher(watch as unknown as Watch, BUDGET);
	expect(await watcher.next(undefined, [], false)).toEqual({ deleted: [] });
	expect(table.requests).toEqual([]);
});
