/** From rows to outcomes, portion by portion, on tables in memory. */
import type { FieldValues } from '../../../nodes/DataPlatform/api/types.ts';
import { LinkResolver } from '../../../nodes/DataPlatform/bulk/links/linkResolver.ts';
import { WritePipeline } from '../../../nodes/DataPlatform/bulk/pipeline.ts';
import { learnedFacts } from '../../../nodes/DataPlatform/api/table.ts';
import { fieldOf, tableOf } from '../fixtures.cts';
import { httpResponse } from '../stubPlatform.cts';
import { StubTables } from '../stubTables.cts';
import type {
	Entry,
	ItemOutcome,
	LinkRule,
	Matching,
	PlanOptions,
	RowProblem,
	RowTask,
	WriteMode,
} from '../../../nodes/DataPlatform/bulk/terms.ts';

const people = {
	...tableOf(
		fieldOf('name', 'text', { importKey: true }),
		fieldOf('n', 'number'),
		fieldOf('at', 'datetime'),
		fieldOf('company', 'schema_link', { linkTableId: 'companies' }),
		fieldOf('boss', 'schema_link', { linkTableId: 'people' }),
	),
	id: 'people',
};

const companies = {
	...tableOf(fieldOf('name', 'text', { importKey: true })),
	id: 'companies',
	internalName: 'companies',
	header: 'Companies',
};

const stored: Record<string, FieldValues> = { a: { name: 'Ada', n: 1 }, b: { name: 'Bob', n: 1 } };

/** The tables reject a longer name. */
const TOO_LONG = 'x'.repeat(41);

/** A result without the record's ID, such as `inserted`. */
const outcomeOf = (result: string) => result.split(' ')[0];

const onName: Matching = { on: ['name'], ifFound: 'update', ifMissing: 'create', multipleMatches: 'error' };

interface Setup {
	mode?: WriteMode;
	matching?: Matching;
	/** How companies and bosses are given, if not by their IDs. */
	links?: LinkRule['ifNotFound'];
	options?: Partial<RowTask>;
	planning?: Partial<PlanOptions>;
	table?: typeof people;
	respond?: Parameters<StubTables['client']>[0];
}

interface Portion {
	ids?: string[];
	problems?: RowProblem[];
}

function setUp({ mode = 'upsert', matching, links, options, planning, table = people, respond }: Setup = {}) {
	const stub = new StubTables({ people: stored, companies: { acorn: { name: 'Acorn' } } });
	const client = stub.client(respond);
	const resolver = new LinkResolver(async ({ name }) =>
		name === 'boss' ? { client, at: { table: 'people' }, table } : { client, at: { table: 'companies' }, table: companies },
	);
	const rules = links ? ['company', 'boss'].map((name) => [name, { ifNotFound: links }] as const) : [];
	const pipeline = new WritePipeline({ client, at: { table: 'people' }, table }, resolver, {
		mode,
		batchSize: 0,
		parallelRequests: 1,
		skipUnchanged: false,
		dryRun: false,
		stopAtFailure: false,
		planning: { mode, empty: 'leave', unknownFields: 'error', duplicates: 'merge', matchOn: matching?.on, ...planning },
		linkRules: new Map(rules),
		matching,
		...options,
	});
	let next = 0;
	/** Plans and writes rows. Returns the results in the order of the rows. */
	const write = async (values: FieldValues[], { ids, problems }: Portion = {}) => {
		const rows = values.map((entry, at) => ({ index: next++, values: entry, id: ids?.[at] }));
		const before = stub.requests.length;
		const plan = await pipeline.plan(rows, problems);
		const reported = new Map<number, { item: ItemOutcome; record?: Entry }>();
		const stopped = await pipeline.write(plan, (index, item, record) => {
			// Once for each row.
			expect([...reported.keys()]).not.toContain(index);
			reported.set(index, { item, record });
		});
		const inOrder = [...reported].sort(([a], [b]) => a - b).map(([, entry]) => entry);
		return {
			stopped,
			indexes: [...reported.keys()].sort((a, b) => a - b),
			outcomes: inOrder.map(({ item }) => item),
			results: inOrder.map(({ item: { outcome, id, notAttempted } }) =>
				notAttempted ? `${outcome}, derived` : `${outcome} ${id ?? ''}`.trim(),
			),
			records: inOrder.map(({ record }) => record?.fields),
			requests: stub.requests.slice(before),
		};
	};
	return { stub, pipeline, links: resolver, write };
}

const names = (count: number, prefix = 'New') => Array.from({ length: count }, (_, at) => ({ name: `${prefix} ${at}` }));
const times = <Value,>(count: number, value: Value) => Array.from({ length: count }, () => value);

test.each([
	[0, 12],
	[3, 3],
])('with %d parallel requests, %d at most are under way, look-ups included', async (given, most) => {
	let underWay = 0;
	let mostUnderWay = 0;
	const { write } = setUp({
		// A filter has few values with a comma, so each window has many look-ups.
		table: { ...people, ...tableOf(fieldOf('code', 'text', { importKey: true }), fieldOf('n', 'number')) },
		options: { parallelRequests: given, dryRun: true },
		respond: async () => {
			underWay += 1;
			mostUnderWay = Math.max(mostUnderWay, underWay);
			await new Promise((resolve) => setImmediate(resolve));
			underWay -= 1;
			return httpResponse(200, { data: [] });
		},
	});
	const rows = Array.from({ length: 4000 }, (_, at) => ({ code: `a,${at}`, n: 1 }));
	expect((await write(rows)).results).toHaveLength(4000);
	expect(mostUnderWay).toBe(most);
});

test('a plan takes the problems of any number of rows', async () => {
	const { pipeline } = setUp();
	const problems = Array.from({ length: 200_000 }, (_, index) => ({ index, message: 'no' }));
	expect((await pipeline.plan([], problems)).problems).toHaveLength(200_000);
});

describe('the outcomes of a portion', () => {
	test('one for each row, with the record as it was planned', async () => {
		const { write } = setUp();
		const rows = [
			{ name: 'Ada', n: 2 },
			{ name: 'Cleo', n: 3 },
		];
		const { results, records, requests, stopped } = await write(rows);
		expect(results).toEqual(['updated a', 'inserted new1']);
		expect(records).toEqual(rows);
		expect(requests).toEqual(['POST people bulk']);
		expect(stopped).toBeUndefined();
	});

	test('a row with problems is not sent, and says all of them', async () => {
		const { write, stub } = setUp();
		const { indexes, outcomes, records } = await write([{ name: 'Ada' }, {}, { name: 'Cleo' }], {
			problems: [
				{ index: 5, message: 'no such city', field: 'City' },
				{ index: 5, message: 'no such street', field: 'Street' },
			],
		});
		expect(indexes).toEqual([0, 1, 2, 5]);
		expect(outcomes[1]).toMatchObject({ outcome: 'failed', field: 'name' });
		expect(outcomes[3]).toEqual({
			outcome: 'failed',
			message: 'Item 5 was not sent: no such city; no such street',
			hint: 'Correct the item and run it again.',
			field: 'City',
		});
		expect(records).toEqual([{ name: 'Ada' }, undefined, { name: 'Cleo' }, undefined]);
		expect(stub.bodies[0]!.bulk).toEqual([{ fields: { name: 'Ada' } }, { fields: { name: 'Cleo' } }]);
	});

	test('a row with very many problems says the first ones, each cut', async () => {
		const { pipeline } = setUp();
		const problem = { index: 0, message: 'x'.repeat(2000) };
		const plan = await pipeline.plan([], times(200_000, problem));
		let outcome: ItemOutcome | undefined;
		await pipeline.write(plan, (_, only) => (outcome = only));
		const cut = `${'x'.repeat(1000)}… (cut)`;
		expect(outcome?.message).toBe(`Item 0 was not sent: ${times(10, cut).join('; ')}; and 199990 more`);
	});

	test('rows of one record share its outcome, and what was sent of it', async () => {
		const { write } = setUp();
		const { outcomes, results, records } = await write([
			{ name: 'Ada', n: 2 },
			{ name: 'Cleo' },
			{ name: 'Ada', at: '2026-01-01T00:00:00Z' },
		]);
		expect(results).toEqual(['updated a', 'inserted new1', 'updated a']);
		expect(outcomes[0]).toEqual({ ...outcomes[2], mergedInto: 2 });
		expect(outcomes[2]).not.toHaveProperty('mergedInto');
		expect(records[0]).toEqual({ name: 'Ada', n: 2, at: '2026-01-01T00:00:00Z' });
		expect(records[2]).toEqual(records[0]);
	});

	test('a row of a record that fails fails because of the other row', async () => {
		const { write } = setUp();
		const { outcomes } = await write([{ name: TOO_LONG, n: 2 }, { name: TOO_LONG }]);
		expect(outcomes[1]).toMatchObject({ outcome: 'failed', message: 'too long' });
		expect(outcomes[0]).toEqual({
			...outcomes[1],
			mergedInto: 1,
			notAttempted: true,
			message: 'Merged into item 1, which has the same key and did not succeed: too long',
		});
	});
});

describe('a row whose linked record can not be created', () => {
	const rows = [
		{ name: 'Ada', company: TOO_LONG },
		{ name: 'Cleo', company: 'New' },
	];

	test('is not written, the others are', async () => {
		const { write, stub } = setUp({ links: 'create' });
		const { results } = await write(rows);
		expect(results).toEqual(['failed', 'inserted new2']);
		expect(stub.tables.companies!.map(({ fields }) => fields.name)).toEqual(['Acorn', 'New']);
	});

	test('stops the others if the node stops', async () => {
		const { write, stub, links } = setUp({ links: 'create', options: { stopAtFailure: true } });
		const { results, stopped } = await write(rows);
		expect([results, stopped?.message]).toEqual([['failed', 'failed, derived'], 'an earlier item did not succeed']);
		expect(stub.requests).not.toContain('POST people bulk');
		expect(links.createdCount).toBe(1);
	});
});

describe('linked records', () => {
	test('are created before the rows that link to them, and known from then on', async () => {
		const { write, stub, links } = setUp({ links: 'create' });
		const first = await write([{ name: 'Ada', company: 'New' }]);
		expect(first.records).toEqual([{ name: 'Ada', company: { id: 'new1' } }]);
		expect(first.requests.slice(-2)).toEqual(['POST companies bulk', 'POST people bulk']);
		const second = await write([
			{ name: 'Bob', company: 'New' },
			{ name: 'Cleo', company: 'Acorn' },
		]);
		expect(second.records).toEqual([
			{ name: 'Bob', company: { id: 'new1' } },
			{ name: 'Cleo', company: { id: 'acorn' } },
		]);
		expect(second.requests).toEqual(['POST companies filter', 'POST people bulk']);
		expect(links.createdCount).toBe(1);
		expect(stub.tables.companies).toHaveLength(2);
	});

	test('are created for matched records of a table without an import key', async () => {
		const fields = people.fields.map((field) => ({ ...field, metadata: { ...field.metadata, importKey: false } }));
		const table = { ...people, fields };
		const { write } = setUp({ table, matching: onName, links: 'create' });
		expect((await write([{ name: 'Ada', company: 'New' }])).records).toEqual([{ name: 'Ada', company: { id: 'new1' } }]);
	});

	test('are not created by a dry run', async () => {
		const { write, links } = setUp({ links: 'create', options: { dryRun: true } });
		const { results, requests } = await write([{ name: 'Cleo', company: 'New' }]);
		expect(results).toEqual(['inserted']);
		expect(requests).toEqual(['POST companies filter', 'POST people filter']);
		expect(links.createdCount).toBe(0);
	});

	test('are created only for rows that are written', async () => {
		const { write, stub } = setUp({ links: 'create', matching: { ...onName, ifMissing: 'skip' } });
		const { results, records } = await write([
			{ name: 'Ada', company: 'New' },
			{ name: 'Nobody', company: 'Other', n: 1 },
		]);
		expect(results).toEqual(['updated a', 'skipped']);
		expect(stub.tables.companies!.map(({ fields }) => fields.name)).toEqual(['Acorn', 'New']);
		expect(records[0]).toEqual({ name: 'Ada', company: { id: 'new1' } });
	});

	test('that are refused fail their rows, and those merged into them', async () => {
		const { write } = setUp({ links: 'create' });
		const { results, outcomes } = await write([
			{ name: 'Ada', n: 2 },
			{ name: 'Ada', company: TOO_LONG },
			{ name: 'Bob', n: 2 },
		]);
		expect(results).toEqual(['failed, derived', 'failed', 'updated b']);
		expect(outcomes[0]).toMatchObject({ mergedInto: 1 });
		expect(outcomes[1]).toMatchObject({ field: 'company' });
	});

	// A record that was created for a link has only its key. Its own row must be able to complete it.
	const failed = ['failed', 'inserted new1'];
	test.each<[what: string, setup: Setup, results: string[]]>([
		['a create', { mode: 'create' }, failed],
		['an upsert', {}, ['inserted new2', 'updated new1']],
		['a match that skips what is found', { matching: { ...onName, ifFound: 'skip' } }, failed],
		['a match with field rules', { matching: { ...onName, fieldRules: new Map([['n', 'whenCreating']]) } }, failed],
		['a match on another field', { matching: { ...onName, on: ['n'] } }, failed],
		['a match that creates nothing', { matching: { ...onName, ifFound: 'skip', ifMissing: 'skip' } }, ['skipped', 'skipped']],
	])('of the same table that %s makes itself', async (_, setup, results) => {
		const { write, stub } = setUp({ ...setup, links: 'create' });
		const first = await write([{ name: 'Eve', n: 5, boss: 'Cleo' }]);
		// In the same portion or a later one.
		const second = await write([{ name: 'Cleo', n: 6 }]);
		expect([...first.results, ...second.results]).toEqual(results);
		const both = await write([
			{ name: 'Fay', n: 7, boss: 'Gus' },
			{ name: 'Gus', n: 8 },
		]);
		expect(both.results.map(outcomeOf)).toEqual(results.map(outcomeOf));
		const missing = stub.tables.people!.filter(({ fields }) => fields.n === undefined);
		expect(missing).toEqual([]);
	});
});

test.each<[what: string, matching: Matching | undefined]>([
	['an upsert', undefined],
	['matched records', onName],
])('a portion passes on how large a batch may be, for %s', async (_, matching) => {
	const sizes: number[] = [];
	const { write } = setUp({
		matching,
		respond: (request, { body }) => {
			if (request !== 'POST people bulk') return undefined;
			const { length } = (JSON.parse(String(body)) as { bulk: unknown[] }).bulk;
			sizes.push(length);
			return length > 100 ? httpResponse(413, {}) : undefined;
		},
	});
	await write(names(200));
	expect(sizes).toEqual([200, 100, 100]);
	await write(names(200, 'Other'));
	expect(sizes.slice(3)).toEqual([100, 100]);
});

describe('an update by ID', () => {
	const records: Entry[] = [
		{ index: 0, id: 'gone', fields: { n: 9 } },
		{ index: 1, id: 'b', fields: { n: 1 } },
	];
	const update = async (setup: Setup = {}) => {
		const { pipeline, stub } = setUp(setup);
		const results: string[] = [];
		const stopped = await pipeline.update(records, ({ index }, item) => {
			results[index] = item.notAttempted ? `${item.outcome}, derived` : item.outcome;
			return item.outcome === 'notFound' ? { outcome: 'skipped' } : item;
		});
		return { results, stopped, stub };
	};

	test.each<[what: string, setup: Setup]>([
		['an upsert', {}],
		['a full update', { mode: 'replace' }],
		['matched records', { matching: onName }],
		['a run that writes only what differs', { options: { skipUnchanged: true } }],
	])('is one, whatever the rows are: %s', async (_, setup) => {
		const { results, stub, stopped } = await update(setup);
		expect(results).toEqual(['notFound', 'updated']);
		// What the response leaves out is looked up.
		expect(stub.requests).toEqual(['PATCH people bulk', 'GET people gone']);
		expect(stopped).toBeUndefined();
	});

	test('goes on behind a record that is gone and counts as skipped, though the run stops at a failure', async () => {
		const { results } = await update({ options: { stopAtFailure: true, batchSize: 1 } });
		expect(results).toEqual(['notFound', 'updated']);
	});
});

test('the stored records of entries are found by ID or by import key, with all fields', async () => {
	const entries: Entry[] = [
		{ index: 0, id: 'b', fields: {} },
		{ index: 1, key: 'Ada', fields: { name: 'Ada' } },
	];
	const { pipeline, stub } = setUp();
	const found = await pipeline.stored(entries);
	expect(entries.map((entry) => found.get(entry)?.map(({ id }) => id))).toEqual([['b'], ['a']]);
	expect([...stub.requests].sort()).toEqual(['GET people b', 'POST people filter']);
	expect(stub.bodies.map(({ loadFields }) => loadFields)).toEqual([undefined, undefined]);
	const keyless = setUp({ table: { ...people, fields: people.fields.slice(1) } });
	expect([...(await keyless.pipeline.stored(entries.slice(0, 1)))].map(([, [record]]) => record?.id)).toEqual(['b']);
});

test('keys are planned whatever else is wrong with a row; a row without its key is unknown', async () => {
	const { pipeline } = setUp({ planning: { duplicates: 'error' } });
	const rows = [{ name: 'Ada', n: 'no number' }, { n: 1 }, 'no row', { name: 'Bob' }, { name: 'Bob' }];
	const all = rows.map((values, index) => ({ index, values }));
	const { records, unknown } = await pipeline.planKeys(all, people.fields.slice(0, 1));
	expect(records.map(({ key, fields }) => [key, fields])).toEqual([
		['Ada', { name: 'Ada' }],
		['Bob', { name: 'Bob' }],
	]);
	expect(unknown).toEqual([1, 2]);
});

test('a record that adds a file or message would add it twice, others add nothing', () => {
	const files = { ...people, fields: [...people.fields, fieldOf('papers', 'file')] };
	const { pipeline } = setUp({ table: files });
	const plain: Entry = { index: 0, fields: { name: 'Ada' } };
	const adding: Entry = { index: 1, fields: { papers: { add: [{ filename: 'a' }] } } };
	expect([[plain], [adding], [plain, adding]].map((records) => pipeline.addsTwice(records))).toEqual([false, true, true]);
});

test('what rows link to is forgotten with the next portion', async () => {
	const { pipeline, write } = setUp({ links: 'create' });
	await write([{ name: 'Ada', company: 'Acorn' }]);
	expect([...(await pipeline.linkedIds([]))]).toEqual(['acorn']);
	await pipeline.plan([]);
	expect([...(await pipeline.linkedIds([]))]).toEqual([]);
});

describe('an import key that the user named is proven before records are sent by it', () => {
	beforeEach(() => learnedFacts.clear());

	type Respond = NonNullable<Setup['respond']>;
	const proving = (respond?: Respond): Setup => ({ options: { provesKey: true }, respond });
	const LOOK_UP = 'POST people filter';
	const PROOF = 'POST people';
	const WRITE = 'POST people bulk';

	/** The platform finds records by another field: the proof inserts one. */
	const insertsAnother: Respond = (request) => (request === PROOF ? httpResponse(201, { data: { id: 'z', ver: 0 } }) : undefined);

	test('with one that is stored, which its key alone does not change', async () => {
		const { write, stub } = setUp(proving());
		const { results, requests, stopped } = await write([{ name: 'New' }, { name: 'Ada', n: 5 }]);
		expect(results).toEqual(['inserted new1', 'updated a']);
		expect(requests).toEqual([LOOK_UP, PROOF, WRITE]);
		expect(stub.bodies[0]).toMatchObject({ loadFields: ['name'] });
		expect(stub.bodies[1]).toEqual({ fields: { name: 'Ada' }, useUpsert: true });
		expect(stopped).toBeUndefined();
	});

	test('once, also for the runs after it', async () => {
		const { write } = setUp(proving());
		await write([{ name: 'Ada', n: 5 }]);
		expect((await write([{ name: 'Ada', n: 6 }])).requests).toEqual([WRITE]);
		expect((await setUp(proving()).write([{ name: 'Ada', n: 7 }])).requests).toEqual([WRITE]);
	});

	test('not if the definition marks it', async () => {
		expect((await setUp().write([{ name: 'Ada', n: 5 }])).requests).toEqual([WRITE]);
	});

	test('if none is stored, with the first one that can be written; the others come after it', async () => {
		const { write, stub } = setUp(proving());
		const { results, outcomes, requests } = await write([{ name: TOO_LONG }, ...names(3)]);
		expect(results).toEqual(['failed', 'inserted new1', 'inserted new2', 'inserted new3']);
		expect(outcomes[0]).toMatchObject({ message: 'too long' });
		expect(requests).toEqual([LOOK_UP, WRITE, WRITE, PROOF, WRITE]);
		expect(stub.bodies.map(({ bulk }) => bulk?.length)).toEqual([undefined, 1, 1, undefined, 2]);
	});

	test('if it is not the platform’s, nothing is sent', async () => {
		const { write } = setUp(proving(insertsAnother));
		const { results, outcomes, requests, stopped } = await write([{ name: 'Ada', n: 5 }, { name: 'New' }]);
		expect(results).toEqual(['failed, derived', 'failed, derived']);
		expect(stopped?.message).toMatch(/^The platform does not find records of table 'People' by 'name': .* inserted another record, 'z'/);
		expect(outcomes[0]!.message).toContain('The platform does not find records');
		expect(requests).toEqual([LOOK_UP, PROOF]);
		// Nor is it taken for proven.
		expect((await setUp(proving()).write([{ name: 'Ada', n: 6 }])).requests).toEqual([LOOK_UP, PROOF, WRITE]);
	});

	test.each<[string, count: number, results: string[]]>([
		['is right, and the others say so', 2, ['inserted new1', 'failed, derived']],
		['is unknown, if no other one says so', 1, ['unknown new1']],
	])('if the proof fails after the first one was inserted, it %s', async (_, count, results) => {
		const { write } = setUp(proving(insertsAnother));
		const run = await write(names(count));
		expect(run.results).toEqual(results);
		expect(run.stopped?.message).toContain('The platform does not find records');
		expect(run.outcomes.at(-1)!.message).toContain('inserted another record');
	});

	test('one that had no record and was updated shows it, too', async () => {
		const updates: Respond = (request, options) => {
			if (request === PROOF) return httpResponse(500, {});
			if (request !== WRITE) return undefined;
			const { length } = (JSON.parse(String(options.body)) as { bulk: unknown[] }).bulk;
			expect(length).toBe(1);
			const data = [{ id: 'b', ver: 2 }];
			return httpResponse(200, { bulk: { successCount: 1, insertedCount: 0, updatedCount: 1 }, data });
		};
		const { results, outcomes } = await setUp(proving(updates)).write(names(2));
		expect(results).toEqual(['unknown b', 'failed, derived']);
		expect(outcomes[0]!.message).toMatch(/^Record 'b' was updated, although none had this key before\. /);
	});

	test('with the first one that is written, if the token may not read', async () => {
		const { write } = setUp(proving((request) => (request === LOOK_UP ? httpResponse(403, { errors: [{ message: 'no' }] }) : undefined)));
		const { results, requests } = await write([{ name: 'Ada', n: 5 }, { name: 'New' }]);
		expect(results).toEqual(['updated a', 'inserted new1']);
		expect(requests).toEqual([LOOK_UP, WRITE, PROOF, WRITE]);
	});

	test('if the look-up fails otherwise, nothing is sent', async () => {
		const { write } = setUp(proving((request) => (request === LOOK_UP ? httpResponse(500, {}) : undefined)));
		const { results, requests, stopped } = await write([{ name: 'Ada', n: 5 }, { name: 'New' }]);
		expect(results).toEqual(['failed, derived', 'failed, derived']);
		expect(stopped?.status).toBe(500);
		expect(requests).toEqual([LOOK_UP]);
	});

	test('not, if the run stopped before', async () => {
		const failing = setUp({ ...proving(), links: 'create', options: { provesKey: true, stopAtFailure: true } });
		const { requests, results } = await failing.write([{ name: 'Ada', company: TOO_LONG }, { name: 'Bob' }]);
		expect(results).toEqual(['failed', 'failed, derived']);
		expect(requests).not.toContain(PROOF);
		expect(requests).not.toContain(LOOK_UP);
	});
});

test('what to do with one value is said if it is the only problem of its row', async () => {
	const { pipeline } = setUp();
	const problem = (index: number) => ({ index, message: 'no day', remedy: 'Use another format.' });
	const plan = await pipeline.plan([], [problem(0), problem(1), problem(1)]);
	const outcomes: ItemOutcome[] = [];
	await pipeline.write(plan, (index, outcome) => (outcomes[index] = outcome));
	expect(outcomes.map(({ remedy }) => remedy)).toEqual(['Use another format.', undefined]);
});

test('a row with an ID needs no values to be identified', async () => {
	const { pipeline } = setUp({ planning: { matchOn: 'recordId' }, mode: 'update' });
	const { records, unknown } = await pipeline.planKeys([{ index: 0, id: 'a', values: { n: 1 } }], []);
	expect([records.map(({ id }) => id), unknown]).toEqual([['a'], []]);
});
