/** Deciding and reading changes, on a fake platform (changesTable.cts). */
import { LIMITS } from '../../../nodes/DataPlatform/changes/tracker.ts';
import { Follower, ORDERS, Table, type Order } from '../changesTable.cts';

const small = (more: Partial<typeof LIMITS> = {}) => ({ ...LIMITS, page: 5, pageOverlap: 2, ...more });

describe('the overlap', () => {
	test('catches what became visible late', async () => {
		const table = new Table();
		const follower = new Follower(table, { overlapMs: 100 });
		table.create();
		await follower.poll();
		table.create(table.now - 99);
		expect(await follower.poll()).toEqual(['c2/1']);
		table.create(table.now - 101);
		expect(await follower.poll()).toEqual([]);
	});

	test.each(Object.keys(ORDERS) as Order[])('many with one time, ids ordered %s: all emitted, a few at a time', async (order) => {
		const limits = small({ maxTracked: 8, maxBuffered: 12 });
		const table = new Table(order, limits);
		const follower = new Follower(table, { maximum: 7 }, limits);
		for (let count = 0; count < 120; count += 1) table.create();
		await follower.drain();
		expect(follower.emitted).toHaveLength(120);
		expect(new Set(follower.emitted.map(({ id }) => id)).size).toBe(120);
		expect(Math.max(...follower.polls.map((changes) => changes.length))).toBe(7);
	});

	test('holds back while what became visible late is emitted a few at a time', async () => {
		const table = new Table();
		const follower = new Follower(table, { overlapMs: 3, maximum: 1 });
		for (let count = 0; count < 3; count += 1) table.create();
		await follower.poll();
		table.create(table.now - 1);
		table.create(table.now - 1);
		table.now += 3;
		table.create();
		await follower.drain();
		expect(follower.emitted.map(({ id }) => id)).toEqual(['1', '4', '5', '2', '3', '6']);
	});

	test.each([1, 2, 3, 7, 10, 20, 25, 30, 40, 50, 60, 100, 120, 149, 150, 151])(
		'pages that the platform cuts to %d records lose nothing',
		async (largest) => {
			const table = new Table('asText', LIMITS, largest);
			const follower = new Follower(table);
			for (let count = 0; count < 150; count += 1) table.create();
			expect(await follower.poll()).toHaveLength(150);
			for (let count = 0; count < 150; count += 1) table.create((table.now += 1));
			expect(await follower.poll()).toHaveLength(150);
			expect(await follower.poll()).toEqual([]);
		},
	);

	describe('after a burst', () => {
		let now = Date.now();
		beforeEach(() => void jest.spyOn(Date, 'now').mockImplementation(() => now));
		afterEach(() => void jest.restoreAllMocks());

		const burst = async (size: number, largest: number, limits = LIMITS, overlapMs = 60_000) => {
			const table = new Table('asText', limits, largest);
			const follower = new Follower(table, { overlapMs, maximum: 5000 }, limits);
			for (let count = 0; count < size; count += 1) table.create((table.now += 10));
			await follower.drain();
			return { table, follower };
		};
		const pass = (ms: number) => (now += ms);

		test.each([
			[80, 30],
			[80, 79],
			[1500, Infinity],
			[1500, 700],
		])('of %d records, a change among the oldest that becomes visible late is emitted, with pages of %d', async (size, largest) => {
			const { table, follower } = await burst(size, largest);
			// The time of the newest change has settled, but not all late changes are visible.
			pass(15_000);
			expect(await follower.poll()).toEqual([]);
			pass(15_000);
			expect(await follower.poll()).toEqual([]);
			table.create(table.now - 10 * size + 55);
			expect(await follower.poll()).toEqual([`c${size + 1}/1`]);
			expect(await follower.poll()).toEqual([]);
		});
	});
});

describe('a clock that does not distinguish what is written in one second', () => {
	const write = (table: Table, count: number) => {
		for (let done = 0; done < count; done += 1) table.create();
	};
	const sizes: Array<[size: number, largest: number]> = [
		[3, Infinity],
		[600, Infinity],
		[1500, Infinity],
		[60, 7],
		[600, 20],
	];

	test.each(sizes)('what changes again after %d records were emitted, in pages of %d', async (size, largest) => {
		const table = new Table('asText', LIMITS, largest);
		const follower = new Follower(table, { maximum: 5000 });
		write(table, size);
		expect(await follower.poll()).toHaveLength(size);
		// A poll without anything new must not make it forget.
		expect(await follower.poll()).toEqual([]);
		table.update('1');
		table.update(String(size));
		table.create();
		const changes = ['u1/2', `u${size}/2`, `c${size + 1}/1`];
		expect((await follower.poll()).sort()).toEqual(changes.sort());
		expect(await follower.poll()).toEqual([]);
		table.now += 1000;
		table.update('1');
		expect(await follower.poll()).toEqual(['u1/3']);
	});

	test.each(sizes)('what changes in the second in which watching begins, after %d records in pages of %d', async (size, largest) => {
		const table = new Table('asText', LIMITS, largest);
		write(table, 1);
		table.now += 1000;
		write(table, size);
		const follower = new Follower(table);
		await follower.startNow();
		table.update('2');
		table.update(String(size));
		table.create();
		const changes = ['u2/2', `u${size}/2`, `c${size + 2}/1`];
		expect((await follower.poll()).sort()).toEqual(changes.sort());
		expect(await follower.poll()).toEqual([]);
	});

	test('if more changed in it than can be remembered, all of them count as emitted', async () => {
		const limits = small({ maxTracked: 20, maxBuffered: 40 });
		const table = new Table('asText', limits);
		write(table, 60);
		const follower = new Follower(table, {}, limits);
		await follower.startNow();
		expect(follower.state.emitted).toEqual({});
		expect(await follower.poll()).toEqual([]);
		table.now += 1000;
		table.update('1');
		expect(await follower.poll()).toEqual(['u1/2']);
	});

	test('what is created while pages are read, and stands before what was read', async () => {
		const table = new Table('backwards');
		const follower = new Follower(table, { overlapMs: 5 });
		write(table, 1);
		table.onRequest = () => {
			// The newest page, whether that is all, the first page of all, the second.
			if (table.requests === 2 || table.requests === 4) write(table, 1);
			if (table.requests !== 4) return;
			table.now += 1000;
			write(table, 1);
		};
		await follower.drain();
		expect(follower.emitted.map(({ id }) => id).sort()).toEqual(['1', '2', '3', '4']);
	});

	describe('on a platform with small pages, a minute later', () => {
		let now = Date.now();
		beforeEach(() => void jest.spyOn(Date, 'now').mockImplementation(() => now));
		afterEach(() => void jest.restoreAllMocks());

		test('what was written in the second that was read, right after it was read', async () => {
			const table = new Table('backwards', LIMITS, 7);
			const follower = new Follower(table);
			write(table, 60);
			expect(await follower.poll()).toHaveLength(60);
			// Not among the seven newest: '1' and '10' to '15' are.
			write(table, 1);
			now += 60_000;
			expect(await follower.poll()).toEqual(['c61/1']);
			// Now that second has passed, and then the overlap.
			now += 60_000;
			expect(await follower.poll()).toEqual([]);
			table.requests = 0;
			expect(await follower.poll()).toEqual([]);
			expect(table.requests).toBe(1);
		});

		test('what appeared while pages were read, before many that are newer', async () => {
			const table = new Table('backwards', LIMITS, 7);
			const follower = new Follower(table, { overlapMs: 0 });
			write(table, 30);
			table.onRequest = () => {
				// The newest page, whether that is all, and two pages of all are read.
				if (table.requests !== 5) return;
				write(table, 1);
				table.now += 1000;
				write(table, 20);
			};
			const passed = 'c31/1';
			const first = await follower.poll();
			expect(first).toHaveLength(50);
			expect(first).not.toContain(passed);
			now += 60_000;
			expect(await follower.poll()).toEqual([passed]);
			now += 60_000;
			await follower.drain();
			expect(follower.emitted).toHaveLength(51);
		});
	});

	test('nothing is forgotten or read twice while a backlog is emitted', async () => {
		const table = new Table('backwards', LIMITS, 30);
		const follower = new Follower(table, { maximum: 70, overlapMs: 0 });
		write(table, 400);
		await follower.poll();
		table.update('1');
		table.update('400');
		write(table, 3);
		await follower.drain();
		const latest = [...table.rows.values()].map(({ id, ver }) => `${id}/${ver}`);
		const emitted = follower.emitted.map(({ id, ver }) => `${id}/${ver}`);
		expect(emitted).toEqual(expect.arrayContaining(latest));
		expect(new Set(emitted).size).toBe(emitted.length);
	});
});

test('catching up takes about a request for each page, also of records that change meanwhile', async () => {
	const table = new Table();
	const follower = new Follower(table, {});
	for (let count = 0; count < 10_000; count += 1) {
		table.now += 1000;
		table.create();
	}
	let updates = 0;
	table.onRequest = () => {
		table.now += 1;
		if (updates < 5) table.update(String((updates += 1) * 7));
	};
	while ((await follower.poll()).length > 0);
	expect(follower.emitted.length).toBeGreaterThanOrEqual(10_000);
	expect(new Set(follower.emitted.map(({ id, ver }) => `${id}/${ver}`)).size).toBe(follower.emitted.length);
	expect(table.requests).toBeLessThanOrEqual(16);
});

describe('Quiet For', () => {
	const QUIET = { quietMs: 60_000, overlapMs: 60_000 };

	test.each([60_000, 1_260_000])('a new record that keeps changing is created once it is quiet (overlap %d ms)', async (overlapMs) => {
		const table = new Table();
		const follower = new Follower(table, { ...QUIET, overlapMs });
		const old = table.create();
		table.now += 60_001;
		expect(await follower.poll()).toEqual(['c1/1']);
		const { id } = table.create();
		for (let changes = 0; changes < 40; changes += 1) {
			table.now += 30_000;
			table.update(id);
			expect(await follower.poll()).toEqual([]);
		}
		table.update(old.id);
		table.now += 60_000;
		expect(await follower.poll()).toEqual([]);
		table.now += 1;
		expect(await follower.poll()).toEqual(['u1/2', 'c2/41']);
		table.now += 3_600_000;
		table.update(id);
		table.now += 60_001;
		expect(await follower.poll()).toEqual(['u2/42']);
	});

	test('a backlog of more than a page waits as well, and those that are held are created', async () => {
		const table = new Table();
		const follower = new Follower(table, QUIET);
		table.create(1000);
		table.now += 60_001;
		await follower.poll();
		for (let count = 0; count < 2500; count += 1) table.create();
		expect(await follower.poll()).toEqual([]);
		table.now += 50_000;
		table.update('2');
		table.now += 10_001;
		const emitted = [...(await follower.poll()), ...(await follower.poll()), ...(await follower.poll())];
		expect(emitted).toHaveLength(2499);
		expect(emitted).not.toContain('c2/2');
		table.now += 600_000;
		expect(await follower.poll()).toEqual(['c2/2']);
	});

	test('a record that changes at the time of the start is emitted, however long it takes to be quiet', async () => {
		const limits = { ...LIMITS, settleMs: 0 };
		const table = new Table('asText', limits);
		const follower = new Follower(table, { quietMs: 60_000, overlapMs: 0 }, limits);
		const { id } = table.create();
		await follower.startNow();
		table.update(id);
		expect([await follower.poll(), await follower.poll()]).toEqual([[], []]);
		table.now += 60_001;
		expect(await follower.poll()).toEqual(['u1/2']);
	});

	test('what changes during a backlog waits, too', async () => {
		const limits = small();
		const table = new Table('asText', limits);
		const follower = new Follower(table, { ...QUIET, maximum: 5 }, limits);
		for (let count = 0; count < 12; count += 1) table.create((table.now += 1));
		table.now += 60_001;
		expect(await follower.poll()).toHaveLength(5);
		table.update('12');
		expect(await follower.poll()).toHaveLength(5);
		expect(await follower.poll()).toEqual(['c11/1']);
		table.now += 60_001;
		expect(await follower.poll()).toEqual(['c12/2']);
	});
});
