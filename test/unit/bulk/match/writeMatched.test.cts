/**
 * Which record an item refers to, and what happens to it: the rules as a table, then on tables in
 * memory.
 */
import type { IHttpRequestOptions } from 'n8n-workflow';
import { decide } from '../../../../nodes/DataPlatform/bulk/match/rules.ts';
import { MatchedWriter } from '../../../../nodes/DataPlatform/bulk/match/writeMatched.ts';
import { WriteSession } from '../../../../nodes/DataPlatform/bulk/send/write.ts';
import type { FieldValues } from '../../../../nodes/DataPlatform/api/types.ts';
import { fieldOf, planRecords, storedOf, tableOf } from '../../fixtures.cts';
import { httpResponse, pageResponse } from '../../stubPlatform.cts';
import { StubTables } from '../../stubTables.cts';
import type { Entry, ItemOutcome, Matching, MatchOn, MatchRules, PlanOptions, Task } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const preset: MatchRules = { ifFound: 'update', ifMissing: 'create', multipleMatches: 'error' };

describe('what the rules say', () => {
	const record: Entry = { index: 0, key: 'k', fields: { n: 1 } };
	const a = storedOf({ id: 'a', fields: { n: 0 } });
	const b = storedOf({ id: 'b' });
	const many = ['c', 'd', 'e', 'f', 'g', 'h'].map((id) => storedOf({ id }));
	const decided = (found: (typeof a)[], rules: Partial<MatchRules>, item = record) => {
		const { updates, creates, outcomes } = decide(new Map([[item, found]]), { ...preset, ...rules });
		return {
			...(updates.length > 0 && { updates: updates.map(({ id }) => id) }),
			...(creates.length > 0 && { creates: creates.map(({ id }) => id) }),
			...(outcomes.length > 0 && { outcomes: outcomes.map(([, outcome]) => outcome) }),
		};
	};

	test.each<[rules: Partial<MatchRules>, found: (typeof a)[], says: object]>([
		[{}, [a], { updates: ['a'] }],
		[{ ifMissing: 'skip' }, [a], { updates: ['a'] }],
		[{}, [], { creates: [undefined] }],
		[{ ifFound: 'skip' }, [], { creates: [undefined] }],
		[{ ifMissing: 'skip' }, [], { outcomes: [{ outcome: 'skipped', id: undefined }] }],
		[{ multipleMatches: 'first' }, [a, b], { updates: ['a'] }],
		[
			{ ifFound: 'skip' },
			[a],
			{ outcomes: [{ outcome: 'found', id: 'a', created: a.created, modified: a.modified, ver: 1, fields: { n: 0 } }] },
		],
	])('%j, %#', (rules, found, says) => {
		expect(decided(found, rules)).toEqual(says);
	});

	const adviceOnKey = "Check the value. 'If Missing' in the options says what to do with items that have no record.";
	test.each<[item: Partial<Entry>, message: string, advice: string]>([
		[{}, "No record matches 'k'", adviceOnKey],
		[{ key: '"x", "y"' }, 'No record matches "x", "y"', adviceOnKey],
		[{ key: 'size 5"' }, `No record matches 'size 5"'`, adviceOnKey],
		[{ key: undefined, id: 'r' }, "The table has no record with the ID 'r'", 'Check the ID'],
	])('missing is an error: %j', (item, message, advice) => {
		const hint: unknown = expect.stringContaining(advice);
		expect(decided([], { ifMissing: 'error' }, { ...record, ...item }).outcomes).toEqual([
			{ outcome: 'notFound', id: item.id, message, hint },
		]);
	});

	test.each([
		[[a, b], "2 records match 'k': 'a', 'b'"],
		[many.slice(0, 5), "5 records match 'k': 'c', 'd', 'e', 'f', 'g'"],
		[many, "More than 5 records match 'k': 'c', 'd', 'e', 'f', 'g' and more"],
	])('several are an error that names them: %#', (found, message) => {
		for (const ifFound of ['update', 'skip'] as const) {
			expect(decided(found, { ifFound })).toEqual({
				outcomes: [
					{
						outcome: 'failed',
						message,
						hint: "Match on more fields, correct the records, or choose another way under 'Multiple Matches' in the options.",
					},
				],
			});
		}
	});

	test('an id that an item names is not kept for what is created', () => {
		const creates = decide(new Map([[{ ...record, id: 'r' }, []]]), preset).creates;
		expect(creates).toEqual([{ ...record, id: undefined, before: null }]);
	});
});

const table = { ...tableOf(fieldOf('name'), fieldOf('city'), fieldOf('n', 'number'), fieldOf('at', 'datetime')), id: 'people' };

const stored: Record<string, FieldValues> = { a: { name: 'Ada', city: 'Oslo', n: 1 }, b: { name: 'Bob', city: 'Oslo', n: 1 } };

/** Items such as `Ada 2`: a name and a number. */
const items = (...all: string[]): FieldValues[] =>
	all.map((item) => {
		const [name, n] = item.split(' ');
		return { name: name!, n: Number(n) };
	});

interface Setup {
	table?: typeof table;
	stored?: Record<string, FieldValues>;
	duplicates?: PlanOptions['duplicates'];
	empty?: PlanOptions['empty'];
	on?: MatchOn;
	rules?: Partial<Matching>;
	options?: Partial<Task>;
	/** Responds instead of the tables, or changes them before they respond. */
	respond?: (request: string, options: IHttpRequestOptions, stub: StubTables) => ReturnType<typeof httpResponse> | undefined;
	ids?: string[];
	prepare?: (records: Entry[]) => Promise<Entry[]>;
	mode?: 'update' | 'replace';
}

async function write(
	items: FieldValues[],
	{
		table: written = table,
		stored: before = stored,
		duplicates = 'merge',
		empty = 'leave',
		on = ['name'],
		rules,
		options,
		respond,
		ids,
		prepare = async (all) => all,
		mode = 'update',
	}: Setup = {},
) {
	const stub = new StubTables({ people: before });
	const matching: Matching = { ...preset, ...rules, on };
	const planOptions: PlanOptions = { mode: 'upsert', empty, unknownFields: 'error', duplicates, matchOn: on };
	const rows = items.map((values, index) => ({ index, values, id: ids?.[index] }));
	const plan = planRecords(written, rows, planOptions);
	const outcomes: Array<ItemOutcome | undefined> = items.map(() => undefined);
	const task = {
		planning: planOptions,
		matching,
		mode,
		batchSize: 0,
		parallelRequests: 0,
		skipUnchanged: false,
		dryRun: false,
		stopAtFailure: false,
		...options,
	};
	const target = { client: stub.client((request, options) => respond?.(request, options, stub)), at: { table: 'people' }, table: written };
	const onOutcome = ({ index }: Entry, outcome: ItemOutcome) => {
		// Once for each item.
		expect([...items.keys()]).toContain(index);
		expect(outcomes[index]).toBeUndefined();
		outcomes[index] = outcome;
		session.note(outcome);
	};
	const session = new WriteSession(task);
	await new MatchedWriter({ target, task, session }, matching, prepare, onOutcome).run(plan.records);
	const { stopped } = session;
	return {
		stub,
		plan,
		stopped,
		outcomes,
		results: outcomes.map((item) => item && (item.notAttempted ? 'not sent' : `${item.outcome} ${item.id ?? ''}`.trim())),
		names: stub.tables.people!.map(({ id, fields }) => `${id} ${String(fields.name)} ${String(fields.n)}`),
	};
}

describe('on fields', () => {
	test('what matches is updated, what is missing created', async () => {
		const { results, names, stub, stopped } = await write(items('Ada 2', 'Cleo 3'));
		expect(results).toEqual(['updated a', 'inserted new1']);
		expect(names).toEqual(['a Ada 2', 'b Bob 1', 'new1 Cleo 3']);
		expect(stub.requests).toEqual(['POST people filter', 'PATCH people bulk', 'POST people bulk']);
		expect(stopped).toBeUndefined();
	});

	test('nothing is sent for what is found or skipped', async () => {
		const rules = { ifFound: 'skip', ifMissing: 'skip' } as const;
		const { results, stub } = await write([{ name: 'Ada', n: 2 }, { name: 'Cleo' }], { rules });
		expect(results).toEqual(['found a', 'skipped']);
		expect(writes(stub)).toEqual([]);
		// All fields, because the record is returned unchanged.
		expect(stub.bodies[0]).not.toHaveProperty('loadFields');
	});

	test('only the fields to match on are read if records are updated', async () => {
		const { stub } = await write([{ name: 'Ada', n: 2 }]);
		expect(stub.bodies[0]).toMatchObject({ loadFields: ['name'] });
	});

	test('a failed look-up is the outcome of all, and stops the run', async () => {
		const respond = () => httpResponse(403, { errors: [{ message: 'no' }] });
		const { outcomes, stopped } = await write([{ name: 'Ada' }, { name: 'Cleo' }], { respond });
		expect(outcomes.map((item) => item!.outcome)).toEqual(['failed', 'failed']);
		expect(outcomes[0]).toMatchObject({ status: 403 });
		expect(stopped?.status).toBe(403);
	});

	test('nothing to write needs no request', async () => {
		expect((await write([])).stub.requests).toEqual([]);
	});

	test('a full update is sent as one', async () => {
		const { stub } = await write([{ name: 'Ada', n: 2 }], { mode: 'replace' });
		expect(stub.requests).toContain('PUT people bulk');
	});
});

describe('what is prepared before writing', () => {
	test('is what is to be written, once; what it takes out is not', async () => {
		const calls: number[][] = [];
		const { results } = await write(items('Ada 2', 'Cleo 3', 'Dora 4'), {
			prepare: async (records) => {
				calls.push(records.map(({ index }) => index));
				return records.filter(({ index }) => index !== 1);
			},
		});
		expect(calls).toEqual([[0, 1, 2]]);
		expect(results).toEqual(['updated a', undefined, 'inserted new1']);
	});

	test('is not updated if it is taken out', async () => {
		const { results, names } = await write(items('Ada 2', 'Bob 3'), {
			prepare: async (records) => records.filter(({ index }) => index !== 0),
		});
		expect(results).toEqual([undefined, 'updated b']);
		expect(names).toEqual(['a Ada 1', 'b Bob 3']);
	});

	test.each<[what: string, items: FieldValues[], stopAtFailure: boolean, calls: number[][]]>([
		['nothing failed', [{ name: 'Ada' }, { name: 'Cleo' }], true, [[0]]],
		['an item failed, and the run goes on', [{ name: 'Ada' }, { name: 'Bob' }], false, [[0]]],
		['an item failed beside one that is skipped', [{ name: 'Ada' }, { name: 'Bob' }, { name: 'Cleo' }], true, []],
	])('if %s', async (_, items, stopAtFailure, expected) => {
		const calls: number[][] = [];
		await write(items, {
			stored: { a: { name: 'Ada' }, b: { name: 'Bob' }, c: { name: 'Bob' } },
			rules: { ifMissing: 'skip' },
			options: { stopAtFailure },
			prepare: async (records) => {
				calls.push(records.map(({ index }) => index));
				return records;
			},
		});
		expect(calls).toEqual(expected);
	});

	test('not if an item without a record stops the run: then nothing is written', async () => {
		let isCalled = false;
		const { outcomes, stub } = await write([{ name: 'Ada', n: 2 }, { name: 'Cleo' }], {
			rules: { ifMissing: 'error' },
			options: { stopAtFailure: true },
			prepare: async (records) => {
				isCalled = true;
				return records;
			},
		});
		expect(isCalled).toBe(false);
		expect(outcomes).toMatchObject([
			{ outcome: 'failed', notAttempted: true },
			{ outcome: 'notFound', message: "No record matches 'Cleo'" },
		]);
		expect(writes(stub)).toEqual([]);
	});
});

describe('by record id', () => {
	const on = 'recordId';

	test('is updated without a look-up; what is not there is created', async () => {
		const { results, stub, names } = await write([{ n: 2 }, { name: 'Cleo' }], { on, ids: ['a', 'x'] });
		expect(results).toEqual(['updated a', 'inserted new1']);
		expect(names).toEqual(['a Ada 2', 'b Bob 1', 'new1 Cleo undefined']);
		expect(stub.requests[0]).toBe('PATCH people bulk');
	});

	test.each([
		['skip', 'skipped x'],
		['error', 'notFound x'],
	] as const)('if missing: %s', async (ifMissing, outcome) => {
		const { results, outcomes } = await write([{ n: 2 }], { on, ids: ['x'], rules: { ifMissing } });
		expect(results).toEqual([outcome]);
		expect(outcomes[0]!.message).toBe(ifMissing === 'error' ? "The table has no record with the ID 'x'" : undefined);
	});

	test('is looked up to be returned', async () => {
		const rules = { ifFound: 'skip', ifMissing: 'skip' } as const;
		const { results, stub } = await write([{ n: 2 }, { n: 3 }], { on, ids: ['a', 'x'], rules });
		expect(results).toEqual(['found a', 'skipped x']);
		expect(stub.requests.sort()).toEqual(['GET people a', 'GET people x']);
	});
});

describe('another writer', () => {
	/** Deletes a record just before the first request that writes. */
	const deleting = (id: string): NonNullable<Setup['respond']> => {
		let isDone = false;
		return (request, _, stub) => {
			if (!isDone && request.startsWith('PATCH')) {
				isDone = true;
				stub.tables.people = stub.tables.people!.filter((record) => record.id !== id);
			}
			return undefined;
		};
	};

	test('deletes what matched; an error says so', async () => {
		const { outcomes } = await write([{ name: 'Ada', n: 2 }], { respond: deleting('a'), rules: { ifMissing: 'error' } });
		expect(outcomes[0]).toMatchObject({
			outcome: 'notFound',
			id: 'a',
			message: "The record 'a', which matched 'Ada', was deleted meanwhile",
			hint: 'It is safe to run it again.',
			isRetryable: true,
		});
	});

	test('deletes one that was found by its ID', async () => {
		const rules = { fieldRules: new Map([['city', 'whenCreating'] as const]) };
		const { outcomes, names } = await write([{ name: 'Eve', n: 7 }], { respond: deleting('a'), on: 'recordId', ids: ['a'], rules });
		expect(outcomes[0]).toMatchObject({ outcome: 'notFound', message: "The record 'a' was deleted meanwhile" });
		expect(names).toEqual(['b Bob 1']);
	});
});

/** The requests that write. */
const writes = ({ requests }: StubTables) => requests.filter((request) => /^(POST|PATCH|PUT) people bulk$/.test(request));

/** The requests, except those that only check for more. */
const steps = ({ requests, queries }: StubTables) =>
	requests.filter((request, at) => request !== 'POST people filter' || !queries[at]!.skip);

const lookUps = (stub: StubTables) => steps(stub).filter((request) => request === 'POST people filter');

const filters = ({ requests }: StubTables) => requests.filter((request) => request === 'POST people filter');

const bulkOf = ({ body }: IHttpRequestOptions) => (JSON.parse(String(body)) as { bulk: Array<{ id?: string; fields: FieldValues }> }).bulk;

const times = <Value,>(count: number, value: Value) => Array.from({ length: count }, () => value);

/** The table with an import key. */
const keyed = {
	...table,
	fields: table.fields.map((field) => (field.name === 'name' ? { ...field, metadata: { importKey: true } } : field)),
};

const oneByOne = { batchSize: 1, parallelRequests: 1 };

test.each<[string, FieldValues, Setup]>([
	['another writer created it before', { name: 'Cleo', n: 3 }, {}],
	['another record has its import key', { name: 'Ada', n: 5 }, { table: keyed, on: 'recordId', ids: ['x'] }],
])('a record to create that is rejected failed, and stops a run that stops: %s', async (_, item, setup) => {
	const respond: Setup['respond'] = (request, __, { tables }) => {
		if (request === 'POST people bulk') tables.people!.push(storedOf({ id: 'c', fields: { name: 'Cleo' } }));
		return undefined;
	};
	const options = { stopAtFailure: true, ...oneByOne };
	const { outcomes, names, stopped } = await write([item], { respond, options, ...setup });
	expect(outcomes[0]).toMatchObject({ outcome: 'failed', message: 'must be unique' });
	expect(names.slice(0, 2)).toEqual(['a Ada 1', 'b Bob 1']);
	expect(stopped?.message).toBe('an earlier item did not succeed');
});

describe('a created record whose response is lost', () => {
	/** The first request that creates is applied, or not; its response is lost. */
	const losing = (isApplied: boolean): Setup['respond'] => {
		let isLost = false;
		return (request, options, stub) => {
			if (isLost || request !== 'POST people bulk') return undefined;
			isLost = true;
			for (const [at, { fields }] of isApplied ? bulkOf(options).entries() : []) {
				const time = '2026-03-01T00:00:00Z';
				stub.tables.people!.push(storedOf({ id: `lost${at}`, fields, created: time, modified: time }));
			}
			return httpResponse(502, {});
		};
	};

	test('is looked up by what it was matched on', async () => {
		const { results } = await write([{ name: 'Cleo' }, { name: 'Dora' }], { respond: losing(true) });
		expect(results).toEqual(['inserted lost0', 'inserted lost1']);
	});

	test.each<[on: MatchOn]>([[['name']], ['recordId']])(
		'is unknown if it is not found, and not created again by a later attempt: %j',
		async (on) => {
			const setup = { table: keyed, on, ids: ['x'], respond: losing(false) };
			const { outcomes } = await write([{ name: 'Cleo' }], setup);
			const message: unknown = expect.stringContaining("the key 'Cleo'");
			expect(outcomes[0]).toMatchObject({ outcome: 'unknown', noRetry: true, message });
		},
	);

	test('by record ID: the import key says whose it is, unless two items have the same', async () => {
		const write2 = async (...both: string[]) =>
			(
				await write(
					both.map((name) => ({ name })),
					{ table: keyed, on: 'recordId', ids: ['x', 'y', 'z'], respond: losing(true) },
				)
			).results;
		expect(await write2('Cleo', 'Dora')).toEqual(['inserted lost0', 'inserted lost1']);
		expect(await write2('Cleo', 'Cleo', 'Dora')).toEqual(['unknown', 'unknown', 'inserted lost2']);
	});

	test('without an import key nothing says whose it is', async () => {
		const { results } = await write([{ name: 'Cleo' }, { name: 'Dora' }], { on: 'recordId', ids: ['x', 'y'], respond: losing(true) });
		expect(results).toEqual(['unknown', 'unknown']);
	});
});

describe('what was matched and is gone when it is written', () => {
	/** The record `a` is gone at the first update, and these take its place. */
	const replacing = (...records: Array<[id: string, fields: FieldValues]>): Setup['respond'] => {
		let isDone = false;
		return (request, _, stub) => {
			if (!isDone && request === 'PATCH people bulk') {
				isDone = true;
				stub.tables.people = stub.tables.people!.filter(({ id }) => id !== 'a');
				for (const [id, fields] of records) stub.tables.people.push(storedOf({ id, fields }));
			}
			return undefined;
		};
	};

	test.each<[MatchRules['ifMissing'], result: string]>([
		['create', 'notFound a'],
		['error', 'notFound a'],
		['skip', 'skipped'],
	])('is not created, whatever matches now; if missing: %s', async (ifMissing, result) => {
		const { results, stub } = await write(items('Ada 2', 'Bob 2'), { respond: replacing(['c', { name: 'Ada' }]), rules: { ifMissing } });
		expect(results).toEqual([result, 'updated b']);
		expect(lookUps(stub)).toHaveLength(1);
	});

	test('by record ID is created', async () => {
		const { results, stub } = await write([{ name: 'Ada', n: 2 }], { on: 'recordId', ids: ['a'], respond: replacing() });
		expect(results).toEqual(['inserted new1']);
		expect(filters(stub)).toEqual([]);
	});

	test.each<[MatchRules['ifMissing'], isStopped: boolean]>([
		['create', true],
		['error', true],
		['skip', false],
	])('stops a run that stops at a failure; if missing: %s', async (ifMissing, isStopped) => {
		const options = { stopAtFailure: true, ...oneByOne };
		const { results, stopped } = await write(items('Ada 2', 'Bob 2'), { respond: replacing(), options, rules: { ifMissing } });
		expect(results[1]).toBe(isStopped ? 'not sent' : 'updated b');
		expect(stopped?.message).toBe(isStopped ? 'an earlier item did not succeed' : undefined);
	});
});

test('keys of stored records that can’t be compared stop the run: nothing is updated or created', async () => {
	const { results, stopped, stub } = await write([{ at: '2026-11-21T09:30:00Z' }, { at: '2026-11-22T09:30:00Z' }], {
		on: ['at'],
		stored: { a: { at: '2026-11-21T10:30:00' } },
		respond: (request, options, { tables }) => (request === 'POST people filter' ? pageResponse(options, tables.people!) : undefined),
	});
	expect(results).toEqual(times(2, 'failed'));
	expect(stopped?.message).toBe(
		`The platform returned "2026-11-21T10:30:00" in 'at' of the record 'a', which can't be compared with other values`,
	);
	expect(writes(stub)).toEqual([]);
});

test('writing only what differs compares what is found, not what is missing', async () => {
	const { results, stub } = await write(items('Ada 1', 'Bob 2', 'Cleo 3'), { options: { skipUnchanged: true } });
	expect(results).toEqual(['unchanged a', 'updated b', 'inserted new1']);
	// One to match and compare.
	expect(lookUps(stub)).toHaveLength(1);
	expect(stub.bodies).toContainEqual(expect.objectContaining({ loadFields: ['name', 'n'] }));
	expect(writes(stub)).toEqual(['PATCH people bulk', 'POST people bulk']);
	expect(stub.bodies.at(-2)!.bulk).toEqual([{ id: 'b', fields: { n: 2 } }]);
});

describe('a run that stops', () => {
	test('before an update: what is missing is not created', async () => {
		const { results, stub, stopped } = await write([{ name: 'Ada', n: 2 }, { name: 'Cleo' }], {
			respond: (request) => (request === 'PATCH people bulk' ? httpResponse(401, {}) : undefined),
		});
		expect(results).toEqual(['failed', 'not sent']);
		expect(stopped?.status).toBe(401);
		expect(writes(stub)).toEqual(['PATCH people bulk']);
	});

	test('because several match: nothing is written, not even what was found', async () => {
		const { results, stub, stopped } = await write([{ city: 'Oslo' }, { city: 'Rome' }], {
			on: ['city'],
			options: { stopAtFailure: true },
		});
		expect(results).toEqual(['failed', 'not sent']);
		expect(stopped).toMatchObject({ message: 'an earlier item did not succeed', delivery: 'notApplied' });
		expect(writes(stub)).toEqual([]);
	});
});

describe('records that would be new', () => {
	const named = (count: number, prefix = 'New') => Array.from({ length: count }, (_, at) => ({ name: `${prefix} ${at}` }));
	/** A table with as many records that items match. */
	const tableWith = (count: number) => Object.fromEntries(named(count, 'Old').map((fields, at) => [`old${at}`, fields]));
	const LIMIT = { maxNew: 50 };

	test.each<[string, added: number, found: number, rules: Partial<Matching>]>([
		['ten, of however few', 10, 1, { maxNew: 0 }],
		['half of the items, if half may be', 11, 11, LIMIT],
		['all, without a limit', 11, 1, {}],
		['any number that is not created', 12, 1, { ...LIMIT, ifMissing: 'skip' }],
		['all, if the table is empty', 11, 0, LIMIT],
	])('may be %s', async (_, added, found, rules) => {
		const { outcomes } = await write([...named(added), ...named(found, 'Old')], { stored: tableWith(found), rules });
		const expected = rules.ifMissing === 'skip' ? 'skipped' : 'inserted';
		expect(outcomes.filter((item) => item?.outcome === expected)).toHaveLength(added);
	});

	test.each<[string, added: number, found: number, allowed: number]>([
		['more than half of the items', 12, 11, 11],
		['more than ten, of few', 11, 1, 10],
	])('may not be %s: nothing is sent', async (_, added, found, allowed) => {
		const writing: string[] = [];
		const respond: Setup['respond'] = (request) => {
			if (request.endsWith('bulk')) writing.push(request);
			return undefined;
		};
		const run = write([...named(added), ...named(found, 'Old')], { stored: tableWith(found), rules: LIMIT, respond });
		await expect(run).rejects.toMatchObject({
			name: 'InputError',
			message: `Nothing was sent to 'People': ${added} records would be new, more than ${allowed}`,
			hint: "Does the token see all records of the table? Do the keys have the same form as there? If this is intended, raise 'Max New Records (%)'.",
		});
		expect(writing).toEqual([]);
	});

	test.each<[string, Setup]>([
		['by a field', {}],
		['by IDs that it does not have', { on: 'recordId', ids: named(11).map((_, at) => `x${at}`) }],
	])('may not be all of many, if the table has others: %s', async (_, setup) => {
		const run = write(named(11), { rules: LIMIT, ...setup });
		await expect(run).rejects.toThrow('11 records would be new, more than 10');
	});
});

describe('what is created by the import key', () => {
	const guarded = { maxNew: 100 };
	test.each<[string, Setup, isUpsert: boolean]>([
		['once, though a request is lost, if new records are limited', { table: keyed, rules: guarded }, true],
		['as new, if they are not', { table: keyed }, false],
		['as new by another field', { rules: guarded }, false],
		['as new by two fields', { table: keyed, on: ['name', 'city'], rules: guarded }, false],
		['as new by a key that the user named', { table: keyed, rules: guarded, options: { importKey: 'name' } }, false],
	])('is created %s', async (_, setup, isUpsert) => {
		const { results, stub } = await write([{ name: 'Cleo', city: 'Rome' }], setup);
		expect(results).toEqual(['inserted new1']);
		expect('useUpsert' in stub.bodies.at(-1)!).toBe(isUpsert);
	});

	test('may be tried again later, if it is unknown whether it was created', async () => {
		const lost: Setup['respond'] = (request) => (request === 'POST people bulk' ? httpResponse(502, {}) : undefined);
		const unknown = async (setup: Setup) => (await write([{ name: 'Cleo' }], { table: keyed, respond: lost, ...setup })).outcomes[0];
		expect(await unknown({})).toMatchObject({ outcome: 'unknown', noRetry: true });
		expect(await unknown({ rules: guarded })).not.toHaveProperty('noRetry');
	});
});

describe('two-way sync', () => {
	const synced = { ...keyed, fields: [...keyed.fields, fieldOf('agreed', 'long_text')] };
	const twoWay = {
		...{ state: 'agreed', maxChanges: 50, now: '2026-11-27T10:00:00.000Z' },
		...({ bothChanged: 'report', firstTime: 'report' } as const),
	};
	const sync = async (all: FieldValues[], setup: Setup = {}) => await write(all, { table: synced, rules: { twoWay }, ...setup });

	/** The records as a first run leaves them, with these changes since. */
	async function afterFirstRun(changes: Record<string, FieldValues> = {}) {
		const { stub } = await sync(items('Ada 1', 'Bob 1'));
		return Object.fromEntries(stub.tables.people!.map(({ id, fields }) => [id, { ...fields, ...changes[id] }]));
	}

	test('the first time, equal records only get their state, and a new record all', async () => {
		const { results, stub } = await sync(items('Ada 1', 'Cleo 3'));
		expect(results).toEqual(['updated a', 'inserted new1']);
		const [update, create] = stub.bodies.slice(-2);
		expect(update!.bulk).toEqual([{ id: 'a', fields: { agreed: expect.any(String) } }]);
		expect(create).toMatchObject({ useUpsert: true, bulk: [{ fields: { name: 'Cleo', n: 3, agreed: expect.any(String) } }] });
	});

	test('what the record changed comes back, what the item changed is written, and nothing else', async () => {
		const changed = await afterFirstRun({ a: { n: 7 } });
		const { outcomes, results, stub } = await sync(items('Ada 1', 'Bob 4'), { stored: changed });
		expect(results).toEqual(['updated a', 'updated b']);
		expect(outcomes[0]).toMatchObject({ sendBack: { n: 7 } });
		expect(outcomes[1]).not.toHaveProperty('sendBack');
		expect(outcomes.some((item) => item && 'conflicts' in item)).toBe(false);
		const [a, b] = stub.tables.people!;
		expect([a!.fields.n, b!.fields.n]).toEqual([7, 4]);
	});

	test('what both changed is reported, and stays', async () => {
		const changed = await afterFirstRun({ a: { n: 7 } });
		const { outcomes, results, stub } = await sync(items('Ada 5', 'Bob 1'), { stored: changed });
		expect(results).toEqual(['unchanged a', 'unchanged b']);
		expect(outcomes[0]).toMatchObject({ conflicts: [{ field: 'n', here: 7, item: 5, agreed: 1 }] });
		expect(outcomes[1]).not.toHaveProperty('conflicts');
		expect(writes(stub)).toEqual([]);
	});

	test('is refused before anything is written, if too many records changed', async () => {
		const all = (n: number) => items(...Array.from({ length: 11 }, (_, at) => `P${at} ${n}`));
		const { stub } = await sync(all(1), { stored: {} });
		const known = Object.fromEntries(stub.tables.people!.map(({ id, fields }) => [id, fields]));
		await expect(sync(all(2), { stored: known })).rejects.toThrow('Nothing was written: 11 of 11 records changed');
	});
});

describe('field rules', () => {
	const fieldRules = new Map([['n', 'ifEmpty'] as const, ['city', 'whenCreating'] as const]);

	test.each<[string, Setup]>([
		['by a field', {}],
		['by the ID', { on: 'recordId', ids: ['a', 'b'] }],
	])('keep what a record has; its item says what was not written: %s', async (_, setup) => {
		const rows = [
			{ name: 'Ada', city: 'Rome', n: 5 },
			{ name: 'Bob', city: 'Oslo', n: 6 },
		];
		const before = { a: { name: 'Ada', city: 'Oslo', n: 1 }, b: { name: 'Bob', city: 'Oslo', n: null } };
		const { outcomes, names, stub } = await write(rows, { stored: before, rules: { fieldRules }, ...setup });
		expect(names).toEqual(['a Ada 1', 'b Bob 6']);
		expect(outcomes.map((item) => [item?.outcome, item?.kept])).toEqual([
			['unchanged', ['city', 'n']],
			['updated', undefined],
		]);
		expect(stub.bodies.at(-1)!.bulk).toEqual([{ id: 'b', fields: { n: 6 } }]);
	});
});

test.each([
	['first', 'updated a', '1'],
	['error', 'failed', '6'],
] as const)('of several that match, no more are read than needed; with %s, the item is %s', async (multipleMatches, result, limit) => {
	const { results, stub } = await write([{ city: 'Oslo', n: 9 }], { on: ['city'], rules: { multipleMatches } });
	expect(results).toEqual([result]);
	expect(stub.queries[0]).toMatchObject({ limit });
});

test('a full update reads all fields of what it compares, to see what it clears', async () => {
	const { results, stub } = await write([{ name: 'Ada', n: 1 }], { mode: 'replace', options: { skipUnchanged: true } });
	expect(results).toEqual(['updated a']);
	expect(stub.bodies[0]).not.toHaveProperty('loadFields');
});
