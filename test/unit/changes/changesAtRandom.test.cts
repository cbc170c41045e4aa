/** Random changes on a fake platform (changesTable.cts), with ties in another order than ours. */
import fc from 'fast-check';
import { LIMITS } from '../../../nodes/DataPlatform/changes/tracker.ts';
import { Follower, ORDERS, Table, type Order } from '../changesTable.cts';

interface Step {
	what: 'create' | 'update' | 'delete' | 'wait' | 'late' | 'poll';
	many: number;
	pick: number;
	/** Changes during a poll: after how many requests, and which. */
	during: Array<{ after: number; what: 'create' | 'update' | 'delete'; pick: number }>;
}

const write = fc.constantFrom('create' as const, 'update' as const, 'delete' as const);
const step: fc.Arbitrary<Step> = fc.record({
	what: fc.constantFrom('create', 'create', 'update', 'update', 'delete', 'wait', 'late', 'poll'),
	many: fc.constantFrom(1, 1, 2, 5, 13, 40),
	pick: fc.nat({ max: 1000 }),
	during: fc.array(fc.record({ after: fc.nat({ max: 12 }), what: write, pick: fc.nat({ max: 1000 }) }), { maxLength: 6 }),
});

function change(table: Table, what: 'create' | 'update' | 'delete', pick: number, many = 1) {
	for (let count = 0; count < many; count += 1) {
		const ids = [...table.rows.keys()];
		const id = ids[(pick * 7 + count * 3) % Math.max(1, ids.length)];
		if (what === 'create' || id === undefined) table.create();
		else if (what === 'update') table.update(id);
		else table.rows.delete(id);
	}
}

const schedule = fc.record({
	order: fc.constantFrom(...(Object.keys(ORDERS) as Order[])),
	existing: fc.constantFrom(0, 3, 30),
	isNow: fc.boolean(),
	overlapMs: fc.constantFrom(0, 3, 60, 60_000),
	maximum: fc.constantFrom(1, 4, 15, 1000),
	isSmall: fc.boolean(),
	page: fc.integer({ min: 4, max: 9 }),
	pageOverlap: fc.integer({ min: 1, max: 3 }),
	expected: fc.constantFrom(1, 3, 50),
	largestPage: fc.oneof(fc.constantFrom(Infinity, 50, 100), fc.integer({ min: 2, max: 9 }), fc.integer({ min: 2, max: 60 })),
	settleMs: fc.constantFrom(0, 10_000),
	isLater: fc.boolean(),
	maxBuffered: fc.constantFrom(3, 10, 20_000),
	maxTracked: fc.constantFrom(4, 9, 5000),
	quietMs: fc.constantFrom(0, 0, 0, 2, 40),
	clockAhead: fc.constantFrom(0, 0, -30, 30, undefined),
	steps: fc.array(step, { maxLength: 14 }),
});

afterEach(() => void jest.restoreAllMocks());

test('at random: the last version of each record once, each new record as created once', async () => {
	await fc.assert(
		fc.asyncProperty(schedule, async (given) => {
			const { isSmall, page, pageOverlap, expected, maxBuffered, maxTracked } = given;
			const { largestPage } = given;
			// If few records are tracked, no moment is split, so that each has passed at once.
			const limits = isSmall
				? { ...LIMITS, page, pageOverlap, expected, maxBuffered, maxTracked, settleMs: given.settleMs }
				: { ...LIMITS, expected };
			const table = new Table(given.order, limits, largestPage);
			// A moment of the platform's clock lasts until it counts as past.
			jest.spyOn(Date, 'now').mockImplementation(() => table.now * LIMITS.settleMs);
			for (let count = 0; count < given.existing; count += 1) table.create();
			const old = new Map([...table.rows].map(([id, { ver }]) => [id, ver]));
			const { quietMs, clockAhead } = given;
			table.clockAhead = clockAhead;
			const follower = new Follower(table, { ...given, overlapMs: given.overlapMs + quietMs }, limits);
			const poll = async () => {
				await follower.poll();
				const latest = Math.max(0, ...follower.polls.at(-1)!.map(({ time }) => time));
				if (clockAhead === 0) expect(latest + quietMs).toBeLessThanOrEqual(table.now);
			};
			if (given.isNow) {
				await follower.startNow();
				table.now += 1;
			}
			for (const { what, many, pick, during } of given.steps) {
				if (what === 'wait') table.now += pick;
				else if (what === 'late') {
					// As late as the overlap allows; not late at all if few records are tracked.
					const lag = given.isNow ? 0 : Math.min(given.overlapMs, pick);
					// Cut pages show a late change only once there is something new.
					const isLate = !isSmall && largestPage === Infinity && table.newest > 0;
					table.create(isLate ? Math.max(1, table.newest - lag) : table.now);
				} else if (what === 'poll') {
					let requests = 0;
					table.onRequest = () => {
						for (const entry of during) {
							if (entry.after !== requests) continue;
							if (isSmall) table.now += 1;
							change(table, entry.what, entry.pick);
						}
						requests += 1;
					};
					await poll();
					table.onRequest = () => undefined;
				} else change(table, what, pick, Math.min(many, largestPage < 10 ? 5 : many));
				// If few records are tracked, a poll must not split a moment.
				if (isSmall) table.now += 1;
			}
			if (given.isLater) table.now += 1;
			if (quietMs > 0) table.now += quietMs + 31;
			await follower.drain();

			const versions = follower.emitted.map(({ id, ver }) => `${id}/${ver}`);
			expect(new Set(versions).size).toBe(versions.length);
			const born = follower.emitted.filter(({ kind }) => kind === 'created').map(({ id }) => id);
			expect(new Set(born).size).toBe(born.length);
			for (const { id, ver } of table.rows.values()) {
				const wasThere = given.isNow && old.has(id);
				const isDue = !wasThere || old.get(id) !== ver;
				expect([id, ver, versions.includes(`${id}/${ver}`)]).toEqual([id, ver, isDue]);
				expect([id, born.includes(id)]).toEqual([id, !wasThere]);
			}
			for (const changes of follower.polls) {
				const times = changes.map(({ time }) => time);
				expect(times).toEqual([...times].sort((a, b) => a - b));
				expect(changes.length).toBeLessThanOrEqual(given.maximum);
			}
		}),
		{ numRuns: 4 * (fc.readConfigureGlobal().numRuns ?? 100) },
	);
});
