/** Deciding and reading changes, on a fake platform (changesTable.cts). */
import { LIMITS, type ChangeKind } from '../../nodes/DataPlatform/changes/tracker.ts';
import { startFromTime } from '../../nodes/DataPlatform/changes/reader.ts';
import { Follower, ORDERS, Table, type Order } from './changesTable.cts';

const small = (more: Partial<typeof LIMITS> = {}) => ({
	...LIMITS,
	page: 5,
	pageOverlap: 2,
	...more,
});

const kinds = (...names: ChangeKind[]) => new Set(names);

describe('what is told', () => {
	test('a new record as created, its later versions as updated, each once', async () => {
		const table = new Table();
		const follower = new Follower(table);
		table.create();
		expect(await follower.look()).toEqual(['c1/1']);
		expect(await follower.look()).toEqual([]);
		table.now += 10;
		table.update('1');
		table.update('1');
		table.create();
		expect(await follower.look()).toEqual(['u1/3', 'c2/1']);
		table.now += 120_000;
		table.update('1');
		expect(await follower.look()).toEqual(['u1/4']);
	});

	test('nothing that was there when watching began', async () => {
		const table = new Table();
		for (let count = 0; count < 12; count += 1) table.create();
		const follower = new Follower(table, {}, small());
		await follower.startNow();
		expect(await follower.look()).toEqual([]);
		table.now += 1;
		table.update('3');
		table.create();
		expect(await follower.look()).toEqual(['c13/1', 'u3/2']);
	});

	test('in an empty table, whatever comes', async () => {
		const table = new Table();
		const follower = new Follower(table);
		await follower.startNow();
		table.create(5);
		expect(await follower.look()).toEqual(['c1/1']);
	});

	test('from a time on, that time included', async () => {
		const table = new Table();
		table.create(1000);
		table.create(2000);
		table.create(3000);
		const follower = new Follower(table);
		follower.state = startFromTime(2000);
		table.update('1');
		expect(await follower.look()).toEqual(['c2/1', 'c3/1', 'u1/2']);
	});

	test('one kind alone, where one is asked for', async () => {
		const table = new Table();
		const created = new Follower(table, { kinds: kinds('created') });
		const updated = new Follower(table, { kinds: kinds('updated') });
		const both = async () => [await created.look(), await updated.look()];
		table.create();
		expect(await both()).toEqual([['c1/1'], []]);
		table.now += 1;
		table.update('1');
		expect(await both()).toEqual([[], ['u1/2']]);
	});

	test('created and changed before anyone looked: created, once', async () => {
		const table = new Table();
		const follower = new Follower(table);
		table.create();
		table.now += 500;
		table.update('1');
		expect(await follower.look()).toEqual(['c1/2']);
	});

	test('a record that came back under its id, its versions beginning anew', async () => {
		const table = new Table();
		const follower = new Follower(table);
		table.create();
		table.update('1');
		await follower.look();
		table.now += 10;
		table.rows.set('1', { id: '1', ver: 1, created: table.now, modified: table.now, fields: {} });
		expect(await follower.look()).toEqual(['c1/1']);
	});

	test('with the time of change in place of a version, where there is none', async () => {
		const table = new Table();
		const follower = new Follower(table);
		const withoutVersion = (modified: number) =>
			table.rows.set('1', { id: '1', created: 1000, modified, fields: {} } as never);
		withoutVersion(1000);
		expect(await follower.look()).toHaveLength(1);
		expect(await follower.look()).toHaveLength(0);
		withoutVersion(1001);
		expect(await follower.look()).toHaveLength(1);
	});

	test('an error where the platform does not tell times', async () => {
		const table = new Table();
		table.rows.set('1', { id: '1', ver: 1, created: 1, modified: 0, fields: {} });
		await expect(new Follower(table).look()).rejects.toThrow('does not tell when records changed');
	});
});

describe('the overlap', () => {
	test('catches what became visible late', async () => {
		const table = new Table();
		const follower = new Follower(table, { overlapMs: 100 });
		table.create();
		await follower.look();
		table.create(table.now - 99);
		expect(await follower.look()).toEqual(['c2/1']);
		table.create(table.now - 101);
		expect(await follower.look()).toEqual([]);
	});

	test('of another length tells nothing again', async () => {
		const table = new Table();
		const short = new Follower(table, { overlapMs: 10 });
		for (let count = 0; count < 5; count += 1) {
			table.create();
			table.now += 30;
		}
		await short.settle();
		const long = new Follower(table, { overlapMs: 10_000 });
		long.state = short.state;
		expect(await long.look()).toEqual([]);
	});

	test.each(Object.keys(ORDERS) as Order[])(
		'many with one time, ids ordered %s: all told, a few at a time',
		async (order) => {
			const limits = small({ maxTracked: 8, maxBuffered: 12 });
			const table = new Table(order, limits);
			const follower = new Follower(table, { maximum: 7 }, limits);
			for (let count = 0; count < 120; count += 1) table.create();
			await follower.settle();
			expect(follower.told).toHaveLength(120);
			expect(new Set(follower.told.map(({ id }) => id)).size).toBe(120);
			expect(Math.max(...follower.looks.map((look) => look.length))).toBe(7);
		},
	);

	test('holds back while what became visible late is told a few at a time', async () => {
		const table = new Table();
		const follower = new Follower(table, { overlapMs: 3, maximum: 1 });
		for (let count = 0; count < 3; count += 1) table.create();
		await follower.look();
		table.create(table.now - 1);
		table.create(table.now - 1);
		table.now += 3;
		table.create();
		await follower.settle();
		expect(follower.told.map(({ id }) => id)).toEqual(['1', '4', '5', '2', '3', '6']);
	});

	test('after a burst a quiet poll is one request', async () => {
		const limits = small();
		const table = new Table('asText', limits);
		const follower = new Follower(table, {}, limits);
		for (let count = 0; count < 40; count += 1) table.create();
		await follower.settle();
		table.requests = 0;
		await follower.look();
		expect(table.requests).toBe(1);
	});
});

describe('watched fields', () => {
	const digest = ({ fields }: { fields: Record<string, unknown> }) => String(fields.state);

	test('an update is told where they differ from what was told', async () => {
		const table = new Table();
		const follower = new Follower(table, { digest });
		table.create(table.now, { state: 'open' });
		expect(await follower.look()).toEqual(['c1/1']);
		table.now += 1;
		table.update('1', { state: 'open', note: 'x' });
		expect(await follower.look()).toEqual([]);
		table.update('1', { state: 'sent' });
		expect(await follower.look()).toEqual(['u1/3']);
	});

	test('are forgotten when nothing is watched any more', async () => {
		const table = new Table();
		const follower = new Follower(table, { digest });
		table.create(table.now, { state: 'open' });
		await follower.look();
		const plain = new Follower(table);
		plain.state = follower.state;
		await plain.look();
		expect(plain.state.digests).toBeUndefined();
	});
});

describe('what is kept', () => {
	test('is bounded, and small', async () => {
		const table = new Table();
		const digest = ({ id }: { id: string }) => `digest-${id}`;
		const follower = new Follower(table, { digest, maximum: 2000 });
		for (let count = 0; count < 20_000; count += 1) table.create();
		while ((await follower.look()).length > 0);
		expect(follower.told).toHaveLength(20_000);
		expect(Object.keys(follower.state.emitted).length).toBeLessThanOrEqual(LIMITS.maxTracked);
		expect(Object.keys(follower.state.digests!)).toHaveLength(LIMITS.maxTracked);
		const sizes = JSON.stringify(follower.state).length;
		expect(sizes).toBeLessThan(400_000);
	});

	test('a look that was overtaken by another tells nothing again', async () => {
		const table = new Table();
		const first = new Follower(table);
		table.create();
		table.create();
		const { readChanges } = await import('../../nodes/DataPlatform/changes/reader.ts');
		const { selectChanges: takeChanges } = await import(
			'../../nodes/DataPlatform/changes/tracker.ts'
		);
		const before = first.state;
		const late = await readChanges(table.pages, before, first.options, () => true);
		table.now += 1;
		table.update('1');
		expect(await first.look()).toEqual(['c2/1', 'c1/2']);
		const { changes } = takeChanges(first.state, late, first.options);
		expect(changes).toEqual([]);
	});

	test('records that move while pages are read open no gap', async () => {
		const limits = small({ pageOverlap: 1 });
		const table = new Table('asText', limits);
		const follower = new Follower(table, { overlapMs: 0 }, limits);
		for (let count = 0; count < 20; count += 1) {
			table.create();
			table.now += 1;
		}
		table.onRequest = () => {
			// The newest page is the first request, the first page of the backlog the second.
			if (table.requests === 3) for (const id of ['1', '2', '3']) table.update(id);
		};
		await follower.settle();
		const latest = [...table.rows.values()].map(({ id, ver }) => `${id}/${ver}`);
		expect(follower.told.map(({ id, ver }) => `${id}/${ver}`)).toEqual(
			expect.arrayContaining(latest),
		);
	});

	test('where time runs out, the rest comes in the next look', async () => {
		const limits = small();
		const table = new Table('asText', limits);
		const follower = new Follower(table, {}, limits);
		for (let count = 0; count < 30; count += 1) {
			table.create();
			table.now += 1;
		}
		const first = await follower.look(() => false);
		expect(first.length).toBeGreaterThan(0);
		expect(first.length).toBeLessThan(10);
		await follower.settle();
		expect(follower.told).toHaveLength(30);
	});
});
