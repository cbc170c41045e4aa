/**
 * Random reads: tables of any size, on platforms that cut pages to any length, differently for each
 * endpoint; several reads with one client, during writes by another writer.
 */
import fc from 'fast-check';
import { readRecords } from '../../../nodes/DataPlatform/api/readRecords.ts';
import type { RecordQuery } from '../../../nodes/DataPlatform/api/pages.ts';
import { httpResponse, fakePlatform } from '../stubPlatform.cts';

const TABLE = { table: 'things' };

interface Row {
	id: string;
	group: number;
	rank: number;
}

interface Body {
	filter?: Array<{ value: string }>;
}

/** A table whose records have a group, which filters and saved views use, and a rank to sort by. */
class Things {
	rows: Row[] = [];
	requests = 0;
	/** Called before each response. */
	before: (requests: number) => void = () => undefined;
	readonly client;
	private made = 0;

	/** @param caps the largest pages of the list, and of the list with a filter */
	constructor(caps: [listed: number, filtered: number]) {
		const { connection } = fakePlatform(({ url, method, body }) => {
			this.requests += 1;
			this.before(this.requests);
			const query = new URL(url).searchParams;
			const { filter } = (body ? JSON.parse(String(body)) : {}) as Body;
			const group = query.get('userFilter') ?? filter?.[0]?.value;
			const skip = Number(query.get('skip') ?? 0);
			const cap = method === 'GET' ? caps[0] : caps[1];
			const found = this.select(group, query.get('sort')?.startsWith('rank'));
			const count = Math.min(Number(query.get('limit')), cap);
			const data = found.slice(skip, skip + count).map(({ id }) => ({ id, fields: {} }));
			return httpResponse(200, { data });
		});
		this.client = connection;
	}

	create(group: number, rank: number) {
		this.made += 1;
		this.rows.push({ id: `r${this.made}`, group, rank });
	}

	select(group?: string, isByRank?: boolean): Row[] {
		const found = this.rows.filter((row) => group === undefined || String(row.group) === group);
		return isByRank ? found.sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1)) : found;
	}

	/** The records that a query selects, in its order. */
	matching({ savedView, filter, sort }: RecordQuery): string[] {
		const value = (filter?.filter[0] as { value?: string } | undefined)?.value;
		return this.select(savedView ?? value, sort === 'rank').map(({ id }) => id);
	}
}

const GROUPS = 3;
const by = (group: number): RecordQuery['filter'] => ({
	filter: [{ field: 'group', operator: 'eq', value: String(group) }],
	filterOperator: 'and',
});

const cap = fc.oneof(
	fc.constantFrom(25, 26, 30, 40, 60, 120, 999, 1000, Infinity),
	fc.integer({ min: 25, max: 1000 }),
	fc.integer({ min: 25, max: 40 }),
);

/**
 * Sizes around a cap, where the last page is easily mistaken for one of many, or the other way
 * round.
 */
const size = (caps: number[]) =>
	fc.oneof(
		fc.nat({ max: 60 }),
		fc.nat({ max: 2500 }),
		...caps
			.filter((count) => count <= 1000)
			.map((count) =>
				fc
					.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: -2, max: 2 }))
					.map(([times, more]) => Math.max(0, Math.min(2500, times * count + more))),
			),
	);

const reading = fc.record({
	query: fc.oneof<Array<fc.Arbitrary<RecordQuery>>>(
		fc.constantFrom({}, { fields: ['a'] }),
		fc.nat({ max: GROUPS }).map((group) => ({ filter: by(group) })),
		fc.nat({ max: GROUPS }).map((group) => ({ filter: by(group), fields: ['a'] })),
		fc.nat({ max: GROUPS }).map((group) => ({ savedView: String(group) })),
	),
	sort: fc.constantFrom(undefined, 'rank'),
	limit: fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 1500 })),
	offset: fc.oneof(fc.constant(0), fc.constant(0), fc.nat({ max: 1200 })),
});

/** Many small pages take long, and test no more than a few. */
const MAX_PAGES = 100;

const table = fc
	.tuple(cap, cap)
	.chain((caps) =>
		fc.record({
			caps: fc.constant(caps),
			count: size(caps).map((count) => Math.min(count, MAX_PAGES * Math.min(...caps))),
			seed: fc.nat(),
		}),
	);

const fill = (things: Things, count: number, seed: number) => {
	for (let index = 0; index < count; index += 1) {
		things.create((index * 7 + seed) % GROUPS, (index * 7919 + seed) % 1009);
	}
};

async function read(things: Things, query: RecordQuery, limit = Infinity, offset = 0) {
	const notes = { hasShifted: false };
	const ids: string[] = [];
	for await (const page of readRecords(things.client, TABLE, query, limit, notes, offset)) {
		ids.push(...page.map(({ id }) => id));
	}
	return { ids, ...notes };
}

test('at random: each read returns all records once, in its order', async () => {
	const readings = fc.array(reading, { minLength: 1, maxLength: 5 });
	await fc.assert(
		fc.asyncProperty(table, readings, async ({ caps, count, seed }, all) => {
			const things = new Things(caps);
			fill(things, count, seed);
			for (const { query, sort, limit, offset } of all) {
				const whole = { ...query, sort };
				expect(await read(things, whole, limit, offset)).toEqual({
					ids: things.matching(whole).slice(offset, offset + limit),
					hasShifted: false,
				});
			}
		}),
		{ numRuns: 4 * (fc.readConfigureGlobal().numRuns ?? 100) },
	);
});

const write = fc.record({
	after: fc.nat({ max: 15 }),
	what: fc.constantFrom('create' as const, 'delete' as const, 'move' as const),
	pick: fc.nat(),
	many: fc.constantFrom(1, 1, 3, 50),
});

test('with another writer: no lasting record is missing without a notice, and none comes twice', async () => {
	const writes = fc.array(write, { maxLength: 8 });
	await fc.assert(
		fc.asyncProperty(table, reading, writes, async (given, { query, sort }, all) => {
			// With one record per page, nothing can show that nothing moved.
			const caps = given.caps.map((count) => Math.max(2, count)) as [number, number];
			const things = new Things(caps);
			fill(things, given.count, given.seed);
			const whole = { ...query, sort };
			const before = new Set(things.matching(whole));
			const ever = new Set(before);
			things.before = (requests) => {
				for (const { what, pick, many } of all.filter(({ after }) => after === requests)) {
					const at = pick % Math.max(1, things.rows.length);
					if (what === 'delete') things.rows.splice(at, many);
					else if (what === 'create') things.create(pick % GROUPS, pick % 1009);
					else if (things.rows[at]) things.rows[at].rank = pick % 977;
				}
				for (const id of things.matching(whole)) ever.add(id);
			};
			const { ids, hasShifted } = await read(things, whole);
			things.before = () => undefined;
			expect(new Set(ids).size).toBe(ids.length);
			expect(ids.filter((id) => !ever.has(id))).toEqual([]);
			const missing = things.matching(whole).filter((id) => before.has(id) && !ids.includes(id));
			if (sort === undefined || !hasShifted) expect(missing).toEqual([]);
		}),
		{ numRuns: 4 * (fc.readConfigureGlobal().numRuns ?? 100) },
	);
});
