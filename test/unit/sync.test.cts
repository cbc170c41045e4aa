/** What is missing from an input, and what becomes of it: on a table in memory. */
import type { WritePipeline } from '../../nodes/DataPlatform/bulk/pipeline.ts';
import type { PlannedRecord } from '../../nodes/DataPlatform/bulk/plan.ts';
import type { ItemOutcome } from '../../nodes/DataPlatform/bulk/outcome.ts';
import { Sync, type SyncOptions } from '../../nodes/DataPlatform/bulk/sync.ts';
import type { FieldValues } from '../../nodes/DataPlatform/api/types.ts';
import type { ServiceError } from '../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf, tableOf } from './fixtures.cts';
import { httpResponse } from './stubPlatform.cts';
import { StubTables } from './stubTables.cts';

const table = { ...tableOf(fieldOf('name'), fieldOf('state')), id: 'people' };
const at = { table: 'people' };
const [nameField] = table.fields;

type Respond = (
	request: string,
	tables: StubTables,
	isRemoving: boolean,
) => ReturnType<typeof httpResponse> | undefined;

interface Setup {
	stored?: Record<string, FieldValues>;
	options?: Partial<SyncOptions>;
	/** Responds in the place of the table, or changes it before it does. */
	respond?: Respond;
	isById?: boolean;
}

const people = (...names: string[]): Record<string, FieldValues> =>
	Object.fromEntries(names.map((name) => [`id-${name}`, { name }]));

const input = (...names: string[]): PlannedRecord[] =>
	names.map((name, index) => ({ index, key: name, fields: { name } }));

/** Deletes as the service does: 204, or 404 for what is not there. */
function deletion(request: string, tables: StubTables) {
	const [, id] = /^DELETE people (.*)$/.exec(request) ?? [];
	if (id === undefined) return undefined;
	const all = tables.tables.people!;
	const index = all.findIndex((record) => record.id === id);
	if (index < 0) return httpResponse(404, {});
	all.splice(index, 1);
	return httpResponse(204, '');
}

function setUp({ stored = people('a', 'b', 'c'), options, respond, isById }: Setup = {}) {
	const tables = new StubTables({ people: stored });
	let isRemoving = false;
	const client = tables.client(
		(request) => respond?.(request, tables, isRemoving) ?? deletion(request, tables),
	);
	const updates: PlannedRecord[][] = [];
	/** Updates what it is given: how it does so is the pipeline's own matter. */
	const pipeline = {
		update: async (
			records: PlannedRecord[],
			onOutcome: (record: PlannedRecord, outcome: ItemOutcome) => void,
		) => {
			updates.push(records);
			for (const record of records) {
				const known = tables.tables.people!.find(({ id }) => id === record.id);
				if (known) known.fields = { ...known.fields, ...record.fields };
				onOutcome(record, { outcome: known ? 'updated' : 'notFound', id: record.id });
			}
			return undefined;
		},
	} as unknown as WritePipeline;
	const sync = new Sync(client, at, table, isById ? [] : [nameField!], pipeline, {
		scope: { filter: [], filterOperator: 'and' },
		removal: 'delete',
		maximum: 100,
		maximumShare: 100,
		dryRun: false,
		stopAtFailure: false,
		...options,
	});
	const removals: Array<[id: string, outcome: ItemOutcome]> = [];
	const remove = async () => {
		isRemoving = true;
		const stopped = await sync.remove((record, outcome) => removals.push([record.id, outcome]));
		return { stopped, outcomes: removals.map(([id, { outcome }]) => `${id} ${outcome}`) };
	};
	const left = () => tables.tables.people!.map(({ id }) => id);
	const deletes = () => tables.requests.filter((request) => request.startsWith('DELETE'));
	return { tables, sync, remove, removals, left, deletes, updates };
}

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
		await sync.compare(input(...names));
		expect([sync.missingCount, sync.scopeSize]).toEqual([missing, 3]);
	});

	test('by ID, where the items name their records', async () => {
		const { sync } = setUp({ isById: true });
		await sync.compare([{ index: 0, id: 'id-b', fields: {} }]);
		expect(sync.missingCount).toBe(2);
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
		const { sync, remove, updates } = setUp({
			stored,
			options: { removal: { set: { state: 'left' } } },
		});
		await sync.compare(input('a'));
		expect([sync.missingCount, sync.scopeSize]).toEqual([1, 3]);
		expect((await remove()).outcomes).toEqual(['id-b marked']);
		expect(updates).toEqual([[{ index: 0, id: 'id-b', fields: { state: 'left' } }]]);
	});
});

describe('guards', () => {
	test.each<[options: Partial<SyncOptions>, names: string[], message: string]>([
		[{ maximum: 2 }, ['a'], ''],
		[
			{ maximum: 1 },
			['a'],
			'2 of 3 records are missing from the input, more than the maximum of 1',
		],
		[{ maximum: 0 }, ['a', 'b', 'c'], ''],
		[
			{ maximum: 0 },
			['a', 'b'],
			'1 of 3 records are missing from the input, more than the maximum of 0',
		],
		[{ maximumShare: 34 }, ['a', 'b'], ''],
		[{ maximumShare: 33 }, ['a', 'b'], '1 of 3 records are missing from the input, more than 33 %'],
		[{ maximumShare: 0 }, ['a', 'b', 'c'], ''],
	])('%j with %j', async (options, names, message) => {
		const { sync, deletes } = setUp({ options });
		const comparing = sync.compare(input(...names));
		if (message === '') await comparing;
		else await expect(comparing).rejects.toThrow(`Nothing was written or removed: ${message}`);
		expect(deletes()).toEqual([]);
	});

	test('an empty scope lacks nothing', async () => {
		const { sync } = setUp({ stored: {}, options: { maximumShare: 0 } });
		await sync.compare(input('a'));
		expect([sync.missingCount, sync.scopeSize]).toEqual([0, 0]);
	});

	test('a list shorter than the count is an error, unless records went meanwhile', async () => {
		const counts = (...values: number[]): Respond => {
			return (request) =>
				request === 'GET people count'
					? httpResponse(200, { data: { count: values.length > 1 ? values.shift() : values[0] } })
					: undefined;
		};
		await expect(setUp({ respond: counts(4) }).sync.compare([])).rejects.toThrow(
			'The platform counts 4 records, but lists 3: which are missing from the input is not known',
		);
		const { sync } = setUp({ respond: counts(4, 3) });
		await sync.compare(input('a'));
		expect(sync.missingCount).toBe(2);
		const more = setUp({ respond: counts(1) });
		await more.sync.compare(input('a'));
		expect(more.sync.scopeSize).toBe(3);
	});
});

describe('right before a record is removed', () => {
	const isList = (request: string) => /^(GET people|POST people filter)$/.test(request);

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

	test('one that the list lacks though nobody changed it is an error', async () => {
		const { sync, remove, removals, left } = setUp({
			respond: (request, _tables, isRemoving) =>
				isRemoving && isList(request) ? httpResponse(200, { data: [] }) : undefined,
		});
		await sync.compare(input('a', 'b'));
		expect((await remove()).outcomes).toEqual(['id-c failed']);
		expect(removals[0]?.[1].message).toBe(
			"The record 'id-c' is missing from the input, but was not removed: the platform's list of matching records lacks it",
		);
		expect(left()).toHaveLength(3);
	});

	test('a read that fails leaves all records', async () => {
		const { sync, remove, removals, deletes } = setUp({
			respond: (request, _tables, isRemoving) =>
				isRemoving && isList(request) ? httpResponse(403, {}) : undefined,
		});
		await sync.compare(input('a'));
		const { stopped, outcomes } = await remove();
		expect(stopped?.status).toBe(403);
		expect(outcomes).toEqual(['id-b failed', 'id-c failed']);
		expect(removals[0]?.[1]).toMatchObject({ status: 403, id: 'id-b' });
		expect(deletes()).toEqual([]);
	});

	test('records without a key are removed if their version is the same', async () => {
		const stored = { x: { state: 'open' }, y: { state: 'open' } };
		const { sync, remove } = setUp({ stored });
		await sync.compare([]);
		expect(sync.missingCount).toBe(2);
		expect((await remove()).outcomes).toEqual(['x deleted', 'y deleted']);
	});

	test('records without a key that somebody changed stay', async () => {
		const stored = { x: { state: 'open' }, y: { state: 'open' } };
		const { sync, remove, tables, left } = setUp({ stored });
		await sync.compare([]);
		tables.tables.people![0]!.ver = 7;
		expect((await remove()).outcomes).toEqual(['x skipped', 'y deleted']);
		expect(left()).toEqual(['x']);
	});
});

describe('a deletion', () => {
	const failing =
		(status: number, id = 'id-b'): Respond =>
		(request) =>
			request === `DELETE people ${id}` ? httpResponse(status, {}) : undefined;

	test.each<[status: number, outcomes: string[]]>([
		[400, ['id-b failed', 'id-c deleted']],
		[409, ['id-b failed', 'id-c deleted']],
		[423, ['id-b failed', 'id-c deleted']],
	])('that is rejected with %i is about one record', async (status, expected) => {
		const { sync, remove } = setUp({ respond: failing(status) });
		await sync.compare(input('a'));
		const { outcomes, stopped } = await remove();
		expect(outcomes).toEqual(expected);
		expect(stopped).toBeUndefined();
	});

	test('that a token may not do ends the others', async () => {
		const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
		const { sync, remove, removals, deletes } = setUp({
			stored: people(...names),
			respond: (request) => (request.startsWith('DELETE') ? httpResponse(403, {}) : undefined),
		});
		await sync.compare([]);
		const { stopped } = await remove();
		expect(stopped?.status).toBe(403);
		expect(deletes().length).toBeLessThanOrEqual(4);
		expect(removals.map(([id]) => id)).toEqual(names.map((name) => `id-${name}`));
		expect(removals.every(([, { outcome }]) => outcome === 'failed')).toBe(true);
		expect(removals.at(-1)?.[1].message).toContain('the run stopped before');
	});

	test('that fails ends the others where the run is to stop', async () => {
		const names = Array.from({ length: 30 }, (_, index) => `n${index}`);
		const { sync, remove, deletes } = setUp({
			stored: people(...names),
			options: { stopAtFailure: true },
			respond: failing(400, 'id-n0'),
		});
		await sync.compare([]);
		expect((await remove()).stopped).toBeDefined();
		expect(deletes().length).toBeLessThanOrEqual(8);
	});

	test('whose response is lost is looked up', async () => {
		let isLost = true;
		const { sync, remove } = setUp({
			respond: (request, tables) => {
				if (request !== 'DELETE people id-b' || !isLost) return undefined;
				isLost = false;
				deletion(request, tables);
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

test('a dry run reports what would be removed, and changes nothing', async () => {
	const removing = setUp({ options: { dryRun: true } });
	await removing.sync.compare(input('a'));
	expect((await removing.remove()).outcomes).toEqual(['id-b deleted', 'id-c deleted']);
	const marking = setUp({ options: { dryRun: true, removal: { set: { state: 'left' } } } });
	await marking.sync.compare(input('a', 'b'));
	await marking.remove();
	expect(marking.removals[0]?.[1]).toEqual({
		outcome: 'marked',
		id: 'id-c',
		before: { state: null },
		after: { state: 'left' },
	});
	expect([...removing.deletes(), ...marking.updates]).toEqual([]);
	expect(removing.left()).toHaveLength(3);
});

test('what is left is reported with the reason', async () => {
	const { sync, deletes } = setUp();
	await sync.compare(input('a'));
	const messages: string[] = [];
	sync.leave('item 3 did not succeed', (_, { message = '' }) => messages.push(message));
	expect(messages).toEqual(
		['id-b', 'id-c'].map(
			(id) =>
				`The record '${id}' is missing from the input, but was not removed: item 3 did not succeed`,
		),
	);
	expect(deletes()).toEqual([]);
});

test('of many, each is reported once and in order, and each twenty are read again', async () => {
	const names = Array.from({ length: 45 }, (_, index) => `n${index}`);
	const { sync, remove, removals, tables } = setUp({ stored: people(...names) });
	await sync.compare([]);
	expect((await remove()).stopped as ServiceError | undefined).toBeUndefined();
	expect(removals.map(([id]) => id)).toEqual(names.map((name) => `id-${name}`));
	const lists = tables.requests.filter((request) =>
		/^(GET people|POST people filter)$/.test(request),
	);
	expect(lists).toHaveLength(1 + 3);
});
