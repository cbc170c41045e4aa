/** Records that are missing from an input, and what happens to them, on a table in memory. */
import type { Group } from '../../../../nodes/DataPlatform/api/filters.ts';
import type { DefinedTable, FieldValues, PlatformRecord } from '../../../../nodes/DataPlatform/api/types.ts';
import { LinkResolver } from '../../../../nodes/DataPlatform/bulk/links/linkResolver.ts';
import { WritePipeline } from '../../../../nodes/DataPlatform/bulk/pipeline.ts';
import { Sync, type SyncOptions } from '../../../../nodes/DataPlatform/bulk/remove/sync.ts';
import { fieldOf, tableOf } from '../../fixtures.cts';
import { httpResponse, type Serve } from '../../stubPlatform.cts';
import { StubTables } from '../../stubTables.cts';
import type { Entry, ItemOutcome } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const table = { ...tableOf(fieldOf('button', 'buttonform'), fieldOf('name'), fieldOf('state'), fieldOf('at', 'datetime')), id: 'people' };
const at = { table: 'people' };

type Respond = (request: string, tables: StubTables, isRemoving: boolean) => ReturnType<Serve> | undefined;

interface Setup {
	stored?: Record<string, FieldValues>;
	options?: Partial<SyncOptions>;
	/** Responds instead of the table, or changes it before it responds. */
	respond?: Respond;
	/** The fields that identify a record; none by ID. */
	keys?: string[];
	parallelRequests?: number;
}

const people = (...names: string[]): Record<string, FieldValues> => Object.fromEntries(names.map((name) => [`id-${name}`, { name }]));

const input = (...names: string[]): Entry[] => names.map((name, index) => ({ index, key: name, fields: { name } }));

function setUp({ stored = people('a', 'b', 'c'), options, respond, keys = ['name'], parallelRequests = 1 }: Setup = {}) {
	const tables = new StubTables({ people: stored });
	let isRemoving = false;
	const client = tables.client((request) => respond?.(request, tables, isRemoving));
	const all: SyncOptions = {
		scope: { filter: [], filterOperator: 'and' },
		removal: 'delete',
		maximum: 100,
		maximumShare: 100,
		dryRun: false,
		stopAtFailure: false,
		...options,
	};
	const noLinks = async () => await Promise.reject<DefinedTable>(new Error('No links'));
	const target = { client, at, table };
	const pipeline = new WritePipeline(target, new LinkResolver(noLinks), {
		mode: 'upsert',
		batchSize: 0,
		parallelRequests,
		skipUnchanged: true,
		dryRun: all.dryRun,
		stopAtFailure: all.stopAtFailure,
		planning: { mode: 'upsert', empty: 'leave', unknownFields: 'error', duplicates: 'merge' },
		linkRules: new Map(),
	});
	const fields = keys.map((key) => table.fields.find(({ name }) => name === key)!);
	const sync = new Sync(target, fields, pipeline, all);
	const removals: Array<[id: string, outcome: ItemOutcome, record: PlatformRecord]> = [];
	const onRemoval = (record: PlatformRecord, outcome: ItemOutcome) => removals.push([record.id, outcome, record]);
	const remove = async () => {
		isRemoving = true;
		const stopped = await sync.remove(onRemoval);
		return { stopped, outcomes: removals.map(([id, { outcome }]) => `${id} ${outcome}`) };
	};
	const left = () => tables.tables.people!.map(({ id }) => id);
	const deletes = () => tables.requests.filter((request) => request.startsWith('DELETE'));
	const updates = () => tables.bodies.flatMap(({ bulk }) => (bulk ? [bulk] : []));
	return { tables, sync, remove, removals, onRemoval, left, deletes, updates };
}

const isList = (request: string) => /^(GET people|POST people filter)$/.test(request);

const many = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);

describe('what is missing', () => {
	test.each<[names: string[], missing: number]>([
		[['a', 'b', 'c'], 0],
		[['a'], 2],
		[[], 3],
		[['x', 'y'], 3],
		[['a', 'a', 'b'], 1],
		[['A'], 3],
	])('an input of %j', async (names, missing) => {
		const { sync } = setUp();
		expect([sync.missing.length, sync.scopeSize]).toEqual([0, 0]);
		await sync.compare(input(...names));
		expect([sync.missing.length, sync.scopeSize]).toEqual([missing, 3]);
	});

	test('by ID, if the items name their records', async () => {
		const { sync, tables } = setUp({ keys: [] });
		// Whatever its key is: the record is identified by something else.
		await sync.compare([{ index: 0, id: 'id-b', key: 'x', fields: {} }]);
		expect(sync.missing.length).toBe(2);
		expect(tables.requests).toEqual(['GET people count', 'POST people filter']);
	});

	test('not what an item names by its ID in capitals', async () => {
		const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
		const { sync, tables } = setUp({ keys: [], stored: { [id]: { name: 'a' }, y: {} } });
		const items = [id.toUpperCase(), 'Y'].map((each, index) => ({ index, id: each, fields: { state: 'x' } }));
		await sync.compare(items, items);
		expect(sync.missing.length).toBe(1);
		// It is written by the ID that the platform has, or it would be created anew.
		expect(items.map((item) => item.id)).toEqual([id, 'Y']);
		expect(tables.bodies.at(-1)).toEqual({ loadFields: ['name'] });
	});

	test('not what an item names by its ID, though it gives it another key', async () => {
		const { sync, remove } = setUp();
		await sync.compare([{ index: 0, id: 'id-b', key: 'x', fields: { name: 'x' } }]);
		expect((await remove()).outcomes).toEqual(['id-a deleted', 'id-c deleted']);
	});

	test('by several fields: all of them have to be the same', async () => {
		const stored = { x: { name: 'a', state: 'open' }, y: { name: 'a', state: 'closed' }, z: { name: 'b', state: 'open' } };
		const { sync, remove, left } = setUp({ stored, keys: ['name', 'state'] });
		await sync.compare([{ index: 0, key: '"a", "open"', fields: { name: 'a', state: 'open' } }]);
		// A request for both of them finds the third one as well.
		expect((await remove()).outcomes).toEqual(['y deleted', 'z deleted']);
		expect(left()).toEqual(['x']);
	});

	test('not what an item turned out to mean', async () => {
		const { sync, remove, left } = setUp();
		await sync.compare(input('a'));
		sync.holds('id-c');
		sync.holds(undefined);
		expect((await remove()).outcomes).toEqual(['id-b deleted', 'id-c skipped']);
		expect(left()).toEqual(['id-a', 'id-c']);
	});

	test('not what holds already the values that would be set', async () => {
		const stored = { ...people('a', 'b'), gone: { name: 'c', state: 'left' } };
		const { sync, remove, updates } = setUp({ stored, options: { removal: { set: { state: 'left' } } } });
		await sync.compare(input('a'));
		expect([sync.missing.length, sync.scopeSize]).toEqual([1, 3]);
		expect((await remove()).outcomes).toEqual(['id-b marked']);
		expect(updates()).toEqual([[{ id: 'id-b', fields: { state: 'left' } }]]);
	});

	test.each<[what: string, set: FieldValues, stored: FieldValues, missing: number]>([
		['all of them are set', { state: 'left', name: 'x' }, { state: 'left', name: 'x' }, 0],
		['one of them differs', { state: 'left', name: 'x' }, { state: 'left', name: 'y' }, 1],
		['one that is to be empty is', { state: null }, {}, 0],
		['one that is to be empty is not', { state: null }, { state: 'left' }, 1],
		['it is written in another way', { at: '2026-11-21T09:30:00Z' }, { at: '2026-11-21T10:30:00+01:00' }, 0],
		// Only the platform knows which time of day that is.
		['it is not certain', { at: '2026-11-21T09:30:00Z' }, { at: '2026-11-21T09:30:00' }, 1],
	])('fields to set: %s', async (_, set, fields, missing) => {
		const { sync } = setUp({ stored: { r: fields }, keys: [], options: { removal: { set } } });
		await sync.compare([]);
		expect(sync.missing.length).toBe(missing);
	});
});

describe('the scope', () => {
	const scope: Group = { filter: [{ field: 'state', operator: 'eq', value: 'open' }], filterOperator: 'and' };
	const stored = { a: { name: 'a', state: 'open' }, b: { name: 'b', state: 'open' }, c: { name: 'c', state: 'closed' } };

	test.each<[scope: Group, filters: Group[]]>([
		[scope, [scope]],
		[{ ...scope, filter: [] }, []],
	])('and a record’s key are asked for together: %j', async (given, filters) => {
		const { sync, remove, tables } = setUp({ stored, options: { scope: given } });
		await sync.compare(input('b', 'c'));
		const before = tables.requests.length;
		await remove();
		expect(tables.requests.slice(before)).toEqual(['POST people filter', 'DELETE people a']);
		expect(tables.bodies[before]).toEqual({
			filter: [...filters, { filter: [{ field: 'name', operator: 'in', value: 'a' }], filterOperator: 'and' }],
			filterOperator: 'and',
		});
	});

	test.each<[keys: string[], removal: SyncOptions['removal'], loaded: string[]]>([
		[['name'], 'delete', ['name']],
		[['name'], { set: { state: 'left' } }, ['name', 'state']],
		[['name'], { set: { name: 'x', state: 'left' } }, ['name', 'state']],
		[['name', 'state'], 'delete', ['name', 'state']],
		[[], { set: { state: 'left' } }, ['state']],
		// One field is needed: without any, all would be loaded.
		[[], 'delete', ['name']],
	])('is read with the fields that are compared: %j, %j', async (keys, removal, loaded) => {
		const { sync, tables } = setUp({ stored, keys, options: { removal } });
		await sync.compare([]);
		expect(tables.bodies.at(-1)).toEqual({ loadFields: loaded });
	});
});

describe('a stored key that can’t be compared', () => {
	const local = { at: '2026-11-21T09:30:00' };
	const refused = "can't be compared with other values";

	test('may be one of the input: nothing is written or removed', async () => {
		const { sync } = setUp({ stored: { r: local }, keys: ['at'] });
		await expect(sync.compare([])).rejects.toThrow(refused);
	});

	test('does not matter if another key field is empty: then it is no item’s', async () => {
		const { sync } = setUp({ stored: { r: local }, keys: ['at', 'name'] });
		await sync.compare([]);
		expect(sync.missing.length).toBe(1);
	});

	test('right before the removal keeps the record', async () => {
		const { sync, remove, left, tables } = setUp({
			stored: { r: { at: '2026-11-21T09:30:00Z' } },
			keys: ['at'],
			respond: (request, { queries }, isRemoving) =>
				isRemoving && request === 'POST people filter' && !queries.at(-1)!.skip
					? httpResponse(200, { data: [{ ...tables.tables.people![0]!, fields: local }] })
					: undefined,
		});
		await sync.compare([]);
		const { outcomes, stopped } = await remove();
		expect(outcomes).toEqual(['r failed']);
		expect(stopped?.message).toContain(refused);
		expect(left()).toEqual(['r']);
	});
});

describe('guards', () => {
	test('say what to do', async () => {
		const refused = async (options: Partial<SyncOptions>) =>
			await setUp({ stored: people('a'), options })
				.sync.compare([])
				.catch((error: unknown) => error);
		const found = 'Nothing was written or removed: 1 of 1 record (100 %) are missing from the input';
		expect(await refused({ maximum: 0 })).toMatchObject({
			message: `${found}, more than the maximum of 0`,
			hint: expect.stringContaining("If this is intended, raise 'Max Records to Remove'."),
		});
		expect(await refused({ maximumShare: 50 })).toMatchObject({
			message: `${found}, more than 50 %`,
			hint: expect.stringContaining("If this is intended, raise 'Max Share to Remove (%)'."),
		});
	});

	test.each<[options: Partial<SyncOptions>, names: string[], message: string]>([
		[{ maximum: 2 }, ['a'], ''],
		[{ maximum: 1 }, ['a'], '2 of 3 records (66.67 %) are missing from the input, more than the maximum of 1'],
		[{ maximum: 0 }, ['a', 'b', 'c'], ''],
		[{ maximum: 0 }, ['a', 'b'], '1 of 3 records (33.33 %) are missing from the input, more than the maximum of 0'],
		[{ maximumShare: 34 }, ['a', 'b'], ''],
		[{ maximumShare: 33 }, ['a', 'b'], '1 of 3 records (33.33 %) are missing from the input, more than 33 %'],
		[{ maximumShare: 0 }, ['a', 'b', 'c'], ''],
		[{ maximum: 1, maximumShare: 33 }, ['a'], '2 of 3 records (66.67 %) are missing from the input, more than the maximum of 1 and 33 %'],
	])('%j with %j', async (options, names, message) => {
		const { sync, deletes } = setUp({ options });
		const comparing = sync.compare(input(...names));
		if (message === '') await comparing;
		else await expect(comparing).rejects.toThrow(`Nothing was written or removed: ${message}`);
		expect(deletes()).toEqual([]);
	});

	test('name what is missing, sorted', async () => {
		const stored = people('b', 'a10', 'a9', 'c');
		const comparing = setUp({ stored, options: { maximum: 0 } }).sync.compare(input('c'));
		await expect(comparing).rejects.toMatchObject({ hint: expect.stringMatching(/^Missing: 'a9', 'a10', 'b'\. .* turn on 'Dry Run'\. /) });
	});

	test('stop no dry run: it lists all, and says what a run would do', async () => {
		const { sync, remove, tables } = setUp({ stored: people(...many(61)), options: { maximum: 10, maximumShare: 20, dryRun: true } });
		expect(await sync.compare([])).toBe(
			"Without 'Dry Run', nothing would be written or removed: 61 of 61 records (100 %) are missing from the input, more than the maximum of 10 and 20 %. If this is intended, raise 'Max Records to Remove' and 'Max Share to Remove (%)'.",
		);
		const before = tables.requests.length;
		expect((await remove()).outcomes).toHaveLength(61);
		expect(sync.removed.slice(0, 1)).toEqual([{ id: 'id-n0', key: 'n0' }]);
		expect(tables.requests.length - before).toBe(1);
	});

	test('an empty scope lacks nothing', async () => {
		const { sync } = setUp({ stored: {}, options: { maximumShare: 0 } });
		await sync.compare(input('a'));
		expect([sync.missing.length, sync.scopeSize]).toEqual([0, 0]);
	});

	test('a record that is added while the empty scope is read is no error', async () => {
		const { sync } = setUp({
			stored: {},
			respond: (request, tables) => {
				// The count is requested first, but comes to the platform after the list.
				if (request === 'GET people count' && tables.tables.people!.length === 0) {
					tables.tables.people!.push({ id: 'new', fields: { name: 'new' } });
					return httpResponse(200, { data: { count: 1 } });
				}
				const isFirst = tables.requests.filter(isList).length === 1;
				return isList(request) && isFirst ? httpResponse(200, { data: [] }) : undefined;
			},
		});
		await sync.compare(input('new'));
		expect([sync.missing.length, sync.scopeSize]).toEqual([0, 1]);
	});

	test('is counted and read at the same time', async () => {
		let listed = () => {};
		const isListed = new Promise<void>((resolve) => (listed = resolve));
		const { sync } = setUp({
			parallelRequests: 2,
			respond: (request) => {
				if (isList(request)) listed();
				const isCount = request === 'GET people count';
				return isCount ? isListed.then(() => httpResponse(200, { data: { count: 3 } })) : undefined;
			},
		});
		await sync.compare(input('a'));
		expect(sync.missing.length).toBe(2);
	});

	test('a list shorter than the count is an error, unless records went meanwhile', async () => {
		const counts = (...values: number[]): Respond => {
			return (request) =>
				request === 'GET people count' ? httpResponse(200, { data: { count: values.length > 1 ? values.shift() : values[0] } }) : undefined;
		};
		await expect(setUp({ respond: counts(4) }).sync.compare([])).rejects.toMatchObject({
			message: 'The platform counts 4 records, but lists 3: it is unknown which ones are missing from the input',
			delivery: 'notApplied',
			hint: expect.stringContaining('Nothing was written or removed.'),
		});
		const { sync } = setUp({ respond: counts(4, 3) });
		await sync.compare(input('a'));
		expect(sync.missing.length).toBe(2);
		const more = setUp({ respond: counts(1) });
		await more.sync.compare(input('a'));
		expect(more.sync.scopeSize).toBe(3);
	});
});

describe('the records to write', () => {
	const stored = { x: { name: 'a', state: 'old' }, y: { name: 'b' }, z: { name: 'b' }, w: { name: 'c' } };

	test('get the stored record with their key, with the fields that are compared', async () => {
		const { sync, tables } = setUp({ stored });
		const writing: Entry[] = [
			{ index: 0, key: 'a', fields: { name: 'a', state: 'new' } },
			{ index: 1, key: 'new', fields: { name: 'new' } },
		];
		await sync.compare(writing, writing);
		expect(writing.map(({ before }) => before)).toEqual([tables.tables.people![0], null]);
		expect(tables.bodies.map(({ loadFields }) => loadFields)).toEqual([undefined, ['name', 'state']]);
	});

	test('are looked up if a part of the table lacks them: the rest may have them', async () => {
		const scope: Group = { filter: [{ field: 'state', operator: 'eq', value: 'old' }], filterOperator: 'and' };
		const { sync } = setUp({ stored, options: { scope } });
		const record: Entry = { index: 0, key: 'c', fields: { name: 'c' } };
		await sync.compare([record], [record]);
		expect(record.before).toBeUndefined();
	});

	test.each<[what: string, record: Entry]>([
		['two stored records have its key', { index: 0, key: 'b', fields: { name: 'b' } }],
		['it has no key', { index: 0, fields: {} }],
	])('get none if %s', async (_, record) => {
		const { sync } = setUp({ stored });
		await sync.compare([record], [record]);
		expect(record.before).toBeUndefined();
	});
});

describe('right before a record is removed', () => {
	test.each<[what: string, change: (tables: StubTables) => void, outcome: string, left: number]>([
		['nothing happened', () => {}, 'deleted', 1],
		['it was deleted', ({ tables }) => tables.people!.pop(), 'skipped', 1],
		[
			'it became one of the input',
			({ tables }) => {
				const record = tables.people!.at(-1)!;
				record.fields = { name: 'a' };
				record.ver = 1;
			},
			'skipped',
			2,
		],
		['it was changed', ({ tables }) => Object.assign(tables.people!.at(-1)!, { ver: 1 }), 'skipped', 2],
		[
			'it was written, and the list lacks it',
			({ tables }) => {
				const record = tables.people!.at(-1)!;
				record.fields = { name: 'x' };
				record.ver = 1;
			},
			'skipped',
			2,
		],
	])('%s', async (_, change, outcome, count) => {
		const { sync, remove, left } = setUp({
			stored: people('a', 'b'),
			respond: (request, tables, isRemoving) => {
				if (isRemoving && isList(request)) change(tables);
				return undefined;
			},
		});
		await sync.compare(input('a'));
		expect((await remove()).outcomes).toEqual([`id-b ${outcome}`]);
		expect(left()).toHaveLength(count);
	});

	test('one that the list lacks though nobody changed it stays, the others are removed', async () => {
		const { sync, remove } = setUp({
			respond: (request, tables, isRemoving) => {
				const listed = tables.tables.people!.filter(({ id }) => id === 'id-c');
				return isRemoving && isList(request) ? httpResponse(200, { data: listed }) : undefined;
			},
		});
		await sync.compare(input('a'));
		expect((await remove()).outcomes).toEqual(['id-b skipped', 'id-c deleted']);
	});

	test('a read that fails ends the run: the outcomes of the others say so', async () => {
		const names = many(65);
		const { sync, remove, removals } = setUp({
			stored: people(...names),
			respond: (request, _tables, isRemoving) => (isRemoving && isList(request) ? httpResponse(403, {}) : undefined),
		});
		await sync.compare([]);
		await remove();
		expect(removals.map(([id]) => id)).toEqual(names.map((name) => `id-${name}`));
		expect(removals.map(([, { notAttempted = false }]) => notAttempted)).toEqual(names.map((_, index) => index >= 60));
		expect(removals.at(-1)![1].message).toContain('the run stopped before');
	});

	test('what somebody else has set already stays as it is', async () => {
		const { sync, remove, removals, updates } = setUp({
			options: { removal: { set: { state: 'left' } } },
			respond: (request, { tables }, isRemoving) => {
				if (isRemoving && isList(request)) tables.people![1]!.fields.state = 'left';
				return undefined;
			},
		});
		await sync.compare(input('a'));
		expect((await remove()).outcomes).toEqual(['id-b skipped', 'id-c marked']);
		expect(removals[0]![2].fields).toEqual({ name: 'b', state: 'left' });
		expect(updates()).toEqual([[{ id: 'id-c', fields: { state: 'left' } }]]);
	});

	test('only the missing record is removed of those that the platform takes for the same', async () => {
		const stored = { ...people('b'), other: { name: 'B' } };
		const { sync, remove, left } = setUp({ stored });
		await sync.compare(input('B'));
		expect((await remove()).outcomes).toEqual(['id-b deleted']);
		expect(left()).toEqual(['other']);
	});

	test.each<[what: string, before: string, modified: string, outcome: string]>([
		['is the same', '2026-01-01T00:00:00.501Z', '2026-01-01T00:00:00.501Z', 'deleted'],
		['is another', '2026-01-01T00:00:00.501Z', '2026-04-01T00:00:00.501Z', 'skipped'],
		['has only whole seconds', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 'skipped'],
	])('without a version the time of its last change counts: it %s', async (_, before, modified, outcome) => {
		const { sync, remove, tables } = setUp({ stored: { x: { state: 'open' } } });
		const [record] = tables.tables.people!;
		delete record!.ver;
		record!.modified = before;
		await sync.compare([]);
		record!.modified = modified;
		expect((await remove()).outcomes).toEqual([`x ${outcome}`]);
	});

	test('records without a key are removed if their version is the same', async () => {
		const stored = { x: { state: 'open' }, y: { state: 'open' } };
		const { sync, remove, tables } = setUp({ stored });
		await sync.compare([]);
		expect(sync.missing.length).toBe(2);
		const before = tables.requests.length;
		expect((await remove()).outcomes).toEqual(['x deleted', 'y deleted']);
		expect(tables.requests.slice(before).sort()).toEqual(['DELETE people x', 'DELETE people y', 'GET people x', 'GET people y']);
	});
});

describe('a deletion', () => {
	const failing =
		(status: number, id = 'id-b'): Respond =>
		(request) =>
			request === `DELETE people ${id}` ? httpResponse(status, {}) : undefined;

	test.each<[status: number, outcomes: string[]]>([
		[400, ['id-b failed', 'id-c deleted']],
		[412, ['id-b failed', 'id-c deleted']],
		[422, ['id-b failed', 'id-c deleted']],
		[409, ['id-b failed', 'id-c deleted']],
		[423, ['id-b failed', 'id-c deleted']],
	])('that is rejected with %i is about one record', async (status, expected) => {
		const { sync, remove } = setUp({ respond: failing(status) });
		await sync.compare(input('a'));
		const { outcomes, stopped } = await remove();
		expect(outcomes).toEqual(expected);
		expect(stopped).toBeUndefined();
	});

	test('that fails ends the others if the run stops on errors', async () => {
		const names = many(30);
		const { sync, remove, removals, deletes } = setUp({
			stored: people(...names),
			options: { stopAtFailure: true },
			respond: failing(400, 'id-n0'),
		});
		await sync.compare([]);
		const { stopped } = await remove();
		expect(stopped?.message).toBe('an earlier item did not succeed');
		expect(deletes().length).toBeLessThanOrEqual(8);
		const unsent = removals.filter(([, { notAttempted }]) => notAttempted);
		expect(unsent).toHaveLength(30 - deletes().length);
		for (const [, { message }] of unsent) {
			expect(message).toContain('the run stopped before: an earlier item did not succeed');
		}
	});

	test('whose outcome is not known ends the others', async () => {
		const { sync, remove, removals, deletes } = setUp({ stored: people(...many(30)), respond: failing(500, 'id-n0') });
		await sync.compare([]);
		const { stopped } = await remove();
		expect(stopped).toMatchObject({ status: 500, delivery: 'ambiguous' });
		expect(removals[0]![1]).toMatchObject({ outcome: 'unknown', id: 'id-n0', status: 500 });
		expect(deletes().length).toBeLessThan(30);
	});

	test('that comes too late is not a failure: somebody else deleted the record', async () => {
		const { sync, remove, left } = setUp({
			respond: (request, tables) => {
				if (request === 'DELETE people id-b') tables.remove('people', 'id-b');
				return undefined;
			},
		});
		await sync.compare(input('a', 'c'));
		expect(await remove()).toEqual({ stopped: undefined, outcomes: ['id-b skipped'] });
		expect(left()).toEqual(['id-a', 'id-c']);
	});

	test('that is rejected says why', async () => {
		const errors = [{ id: 'recordLocked', message: 'It is locked' }];
		const { sync, remove, removals, tables } = setUp({
			respond: (request) => (request.startsWith('DELETE') ? httpResponse(409, { errors }) : undefined),
		});
		await sync.compare(input('a', 'c'));
		await remove();
		// A clear response needs no look-up.
		expect(tables.requests.at(-1)).toBe('DELETE people id-b');
		expect(removals[0]![1]).toMatchObject({
			outcome: 'failed',
			id: 'id-b',
			status: 409,
			code: 'recordLocked',
			message: expect.stringContaining('It is locked'),
		});
		expect(removals[0]![1].notAttempted).toBeUndefined();
	});

	test('whose response is lost is looked up', async () => {
		let isLost = true;
		const { sync, remove } = setUp({
			respond: (request, tables) => {
				if (request !== 'DELETE people id-b' || !isLost) return undefined;
				isLost = false;
				tables.remove('people', 'id-b');
				return httpResponse(502, {});
			},
		});
		await sync.compare(input('a', 'c'));
		expect((await remove()).outcomes).toEqual(['id-b deleted']);
	});

	test('that is answered 404 though the record is there is no success', async () => {
		const { sync, remove, left } = setUp({ respond: failing(404) });
		await sync.compare(input('a', 'c'));
		expect((await remove()).outcomes).toEqual(['id-b failed']);
		expect(left()).toHaveLength(3);
	});
});

describe('setting fields', () => {
	const marking = { removal: { set: { state: 'left' } } } as const;
	/** Responds to the update. */
	const updating = (serve: (tables: StubTables) => ReturnType<Respond>): Respond => {
		return (request, tables) => (request === 'PATCH people bulk' ? serve(tables) : undefined);
	};
	const locked = updating(() =>
		httpResponse(200, { data: [{ id: 'id-c', ver: 1 }], errors: [{ message: 'It is locked', RecordIndex: 0 }] }),
	);

	test('gives the record as it is then', async () => {
		const { sync, remove, removals, tables } = setUp({ options: marking });
		await sync.compare(input('a', 'b'));
		expect((await remove()).stopped).toBeUndefined();
		const [[, outcome, record]] = removals as [(typeof removals)[0]];
		expect(outcome).toMatchObject({ outcome: 'marked', id: 'id-c', ver: 1 });
		expect(record.fields).toEqual({ name: 'c', state: 'left' });
		expect(tables.tables.people![2]!.fields.state).toBe('left');
	});

	test('of a record that is gone by then is no failure', async () => {
		const { sync, remove } = setUp({
			options: { ...marking, stopAtFailure: true },
			respond: updating(({ tables }) => {
				tables.people!.pop();
				return undefined;
			}),
		});
		await sync.compare(input('a'));
		expect(await remove()).toEqual({ stopped: undefined, outcomes: ['id-b marked', 'id-c skipped'] });
	});

	test('is told from the record if the response only counts it', async () => {
		const { sync, remove } = setUp({
			options: marking,
			respond: updating(({ tables }) => {
				Object.assign(tables.people!.at(-1)!, { fields: { name: 'c', state: 'left' }, ver: 1 });
				return httpResponse(200, { bulk: { successCount: 1, insertedCount: 0 } });
			}),
		});
		await sync.compare(input('a', 'b'));
		expect((await remove()).outcomes).toEqual(['id-c marked']);
	});

	test('whose response is lost is known by the record before and after it', async () => {
		const { sync, remove } = setUp({
			options: marking,
			respond: updating(({ tables }) => {
				Object.assign(tables.people!.at(-1)!, { fields: { name: 'c', state: 'left' }, ver: 1 });
				return httpResponse(502, {});
			}),
		});
		await sync.compare(input('a', 'b'));
		expect((await remove()).outcomes).toEqual(['id-c marked']);
	});

	test('that is rejected leaves the record as it was', async () => {
		const { sync, remove, removals } = setUp({ options: marking, respond: locked });
		await sync.compare(input('a'));
		expect(await remove()).toEqual({ stopped: undefined, outcomes: ['id-b failed', 'id-c marked'] });
		expect(removals[0]![1].message).toBe('It is locked');
		expect(removals[0]![2].fields).toEqual({ name: 'b' });
	});

	test('that is rejected ends a run that is to stop', async () => {
		const { sync, remove } = setUp({ options: { ...marking, stopAtFailure: true }, respond: locked });
		await sync.compare(input('a'));
		expect((await remove()).stopped?.message).toBe('an earlier item did not succeed');
	});

	test('that a token may not do ends the run', async () => {
		const { sync, remove, removals } = setUp({
			stored: people(...many(300)),
			options: { ...marking, maximum: 300 },
			respond: (request) => (request.startsWith('PATCH') ? httpResponse(403, { errors: [{ message: 'no' }] }) : undefined),
		});
		await sync.compare([]);
		expect((await remove()).stopped?.status).toBe(403);
		expect(removals).toHaveLength(300);
		expect(removals.map(([, { notAttempted = false }]) => notAttempted)).toEqual(many(300).map((_, index) => index > 0));
	});
});

test('a dry run reports what would be removed, and changes nothing', async () => {
	const removing = setUp({ options: { dryRun: true } });
	await removing.sync.compare(input('a'));
	expect((await removing.remove()).outcomes).toEqual(['id-b deleted', 'id-c deleted']);
	const marking = setUp({
		stored: { ...people('a', 'b', 'c'), 'id-d': { name: 'd', state: 'open' } },
		options: { dryRun: true, removal: { set: { state: 'left' } } },
	});
	await marking.sync.compare(input('a', 'b'));
	await marking.remove();
	expect(marking.removals[0]?.[1]).toEqual({ outcome: 'marked', id: 'id-c', before: { state: null }, after: { state: 'left' } });
	expect(marking.removals[1]?.[1]).toMatchObject({ id: 'id-d', before: { state: 'open' } });
	expect([...removing.deletes(), ...marking.updates()]).toEqual([]);
	expect(removing.left()).toHaveLength(3);
});

test('what is left is reported with the reason', async () => {
	const { sync, deletes, removals, onRemoval } = setUp();
	await sync.compare(input('a'));
	sync.leave('item 3 did not succeed', onRemoval);
	expect(removals.map(([, outcome]) => outcome)).toEqual(
		['id-b', 'id-c'].map((id) => ({
			outcome: 'failed',
			id,
			message: `The record '${id}' is missing from the input, but was not removed: item 3 did not succeed`,
			notAttempted: true,
			isRetryable: true,
		})),
	);
	expect(deletes()).toEqual([]);
});
