/**
 * Random reads: tables of any size, on platforms that cut pages to any length, differently for each
 * endpoint; several reads with one client, during writes by another writer.
 */
import fc from 'fast-check';
import { readRecords } from '../../../nodes/DataPlatform/api/readRecords.ts';
import type { RecordQuery } from '../../../nodes/DataPlatform/api/pages.ts';
import { fakePlatform, pageResponse } from '../stubPlatform.cts';

const TABLE = { table: 'things' };
const GROUPS = 3;

interface Row {
	id: string;
	group: number;
	rank: number;
}

interface Contents {
	/** The largest pages that the platform returns: of the list, and of the list with a filter. */
	caps: [listed: number, filtered: number];
	count: number;
	seed: number;
}

/** A table whose records have a group, which filters and saved views use, and a rank to sort by. */
class Things {
	rows: Row[] = [];
	requests = 0;
	/** Called before each response. */
	before: (requests: number) => void = () => undefined;
	readonly client;
	private made = 0;

	constructor({ caps, count, seed }: Contents) {
		for (let index = 0; index < count; index += 1) this.create((index * 7 + seed) % GROUPS, (index * 7919 + seed) % 1009);
		const { connection } = fakePlatform((options) => {
			this.requests += 1;
			this.before(this.requests);
			const query = new URL(options.url).searchParams;
			const { filter } = (options.body ? JSON.parse(String(options.body)) : {}) as { filter?: Array<{ value: string }> };
			const rows = this.select(query.get('userFilter') ?? filter?.[0]?.value, query.get('sort')?.startsWith('rank'));
			const records = rows.map(({ id }) => ({ id, fields: {} }));
			return pageResponse(options, records, options.method === 'GET' ? caps[0] : caps[1]);
		});
		this.client = connection;
	}

	create(group: number, rank: number) {
		this.made += 1;
		this.rows.push({ id: `r${this.made}`, group, rank });
	}

	private select(group?: string, isByRank?: boolean): Row[] {
		const found = this.rows.filter((row) => group === undefined || String(row.group) === group);
		return isByRank ? found.sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1)) : found;
	}

	/** The records that a query selects, in its order. */
	matching({ savedView, filter, sort }: RecordQuery): string[] {
		const group = (filter?.filter[0] as { value?: string } | undefined)?.value;
		return this.select(savedView ?? group, sort === 'rank').map(({ id }) => id);
	}
}

const cap = fc.oneof(
	fc.constantFrom(25, 26, 30, 40, 60, 120, 999, 1000, Infinity),
	fc.integer({ min: 25, max: 1000 }),
	fc.integer({ min: 25, max: 40 }),
);

/** Any number of records, often near a multiple of a cap, where the last page is easily mistaken for one of many, or the other way round. */
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

/** Many small pages take long, and test no more than a few. */
const MAX_PAGES = 100;

const contents = fc
	.tuple(cap, cap)
	.chain((caps) =>
		fc.record({
			caps: fc.constant(caps),
			count: size(caps).map((count) => Math.min(count, MAX_PAGES * Math.min(...caps))),
			seed: fc.nat(),
		}),
	);

/** A group, or one without records. */
const group = fc.nat({ max: GROUPS }).map(String);
const inGroup = (value: string): RecordQuery => ({
	filter: { filter: [{ field: 'group', operator: 'eq', value }], filterOperator: 'and' },
});
const selection = fc.oneof<Array<fc.Arbitrary<RecordQuery>>>(
	fc.constantFrom({}, { fields: ['a'] }),
	group.map(inGroup),
	group.map((value) => ({ ...inGroup(value), fields: ['a'] })),
	group.map((savedView) => ({ savedView })),
);
const query = fc.tuple(selection, fc.constantFrom(undefined, 'rank')).map(([selected, sort]): RecordQuery => ({ ...selected, sort }));

async function read(things: Things, of: RecordQuery, limit = Infinity, offset = 0) {
	const notes = { hasShifted: false };
	const ids: string[] = [];
	for await (const page of readRecords({ client: things.client, at: TABLE }, { ...of, offset }, limit, notes))
		ids.push(...page.map(({ id }) => id));
	return { ids, ...notes };
}

const checkOften = async <T,>(property: fc.IAsyncProperty<T>) =>
	await fc.assert(property, { numRuns: 4 * (fc.readConfigureGlobal().numRuns ?? 100) });

test('at random: each read returns every record that its query selects once, in order, from its offset to its limit', async () => {
	const limits = fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 1500 }));
	const offsets = fc.oneof(fc.constant(0), fc.constant(0), fc.nat({ max: 1200 }));
	const readings = fc.array(fc.tuple(query, limits, offsets), { minLength: 1, maxLength: 5 });
	await checkOften(
		fc.asyncProperty(contents, readings, async (initial, all) => {
			const things = new Things(initial);
			for (const [selected, limit, offset] of all) {
				const ids = things.matching(selected).slice(offset, offset + limit);
				expect(await read(things, selected, limit, offset)).toEqual({ ids, hasShifted: false });
			}
		}),
	);
});

const write = fc.record({
	after: fc.nat({ max: 15 }),
	action: fc.constantFrom('create' as const, 'delete' as const, 'move' as const),
	pick: fc.nat(),
	many: fc.constantFrom(1, 1, 3, 50),
});

test('at random, beside another writer: a read returns no record twice, and misses none that stays, unless it is sorted and says so', async () => {
	const writes = fc.array(write, { maxLength: 8 });
	await checkOften(
		fc.asyncProperty(contents, query, writes, async (initial, selected, all) => {
			const things = new Things(initial);
			const atFirst = new Set(things.matching(selected));
			const ever = new Set(atFirst);
			things.before = (requests) => {
				for (const { action, pick, many } of all.filter(({ after }) => after === requests)) {
					const at = pick % Math.max(1, things.rows.length);
					if (action === 'delete') things.rows.splice(at, many);
					else if (action === 'create') things.create(pick % GROUPS, pick % 1009);
					else if (things.rows[at]) things.rows[at].rank = pick % 977;
				}
				for (const id of things.matching(selected)) ever.add(id);
			};
			const { ids, hasShifted } = await read(things, selected);
			expect(new Set(ids).size).toBe(ids.length);
			expect(ids.filter((id) => !ever.has(id))).toEqual([]);
			const missing = things.matching(selected).filter((id) => atFirst.has(id) && !ids.includes(id));
			if (selected.sort === undefined || !hasShifted) expect(missing).toEqual([]);
		}),
	);
});
