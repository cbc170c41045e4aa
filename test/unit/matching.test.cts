/** Which record an item means, and what becomes of it: the rules as a table, then on tables in memory. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import {
	decide,
	writeMatched,
	type Matching,
	type MatchRules,
} from '../../nodes/DataPlatform/bulk/matching.ts';
import type { ItemOutcome } from '../../nodes/DataPlatform/bulk/outcome.ts';
import {
	planRecords,
	type MatchOn,
	type Plan,
	type PlannedRecord,
	type PlanOptions,
} from '../../nodes/DataPlatform/bulk/plan.ts';
import type { FieldValues } from '../../nodes/DataPlatform/api/types.ts';
import type { WriteManyOptions } from '../../nodes/DataPlatform/bulk/write.ts';
import { ServiceError } from '../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf, storedOf, tableOf } from './fixtures.cts';
import { httpResponse } from './stubPlatform.cts';
import { StubTables } from './stubTables.cts';

const preset: MatchRules = { ifFound: 'update', ifMissing: 'create', severalMatches: 'error' };

describe('what the rules say', () => {
	const record: PlannedRecord = { index: 0, key: 'k', fields: { n: 1 } };
	const a = storedOf({ id: 'a', fields: { n: 0 } });
	const b = storedOf({ id: 'b' });
	const many = ['c', 'd', 'e', 'f', 'g', 'h'].map((id) => storedOf({ id }));
	const decided = (found: (typeof a)[], rules: Partial<MatchRules>, item = record) => {
		const { updates, creates, outcomes } = decide(new Map([[item, found]]), {
			...preset,
			...rules,
		});
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
		[{ severalMatches: 'first' }, [a, b], { updates: ['a'] }],
		[{ severalMatches: 'all' }, [a, b], { updates: ['a', 'b'] }],
		[
			{ ifFound: 'skip' },
			[a],
			{
				outcomes: [
					{
						outcome: 'found',
						id: 'a',
						created: a.created,
						modified: a.modified,
						ver: 1,
						fields: { n: 0 },
					},
				],
			},
		],
	])('%j, %#', (rules, found, says) => {
		expect(decided(found, rules)).toEqual(says);
	});

	test('found, of several', () => {
		const ids = (severalMatches: MatchRules['severalMatches']) =>
			decided([a, b], { ifFound: 'skip', severalMatches }).outcomes?.map(({ id }) => id);
		expect(ids('first')).toEqual(['a']);
		expect(ids('all')).toEqual(['a', 'b']);
	});

	test.each<[item: Partial<PlannedRecord>, message: string]>([
		[{}, "No record matches 'k'"],
		[{ key: '"x", "y"' }, 'No record matches "x", "y"'],
		[{ key: undefined, id: 'r' }, "The table has no record with the id 'r'"],
	])('missing is an error: %j', (item, message) => {
		expect(decided([], { ifMissing: 'error' }, { ...record, ...item }).outcomes).toEqual([
			{ outcome: 'notFound', id: item.id, message, hint: { code: 'createIfMissing' } },
		]);
	});

	test.each([
		[[a, b], "2 records match 'k': 'a', 'b'"],
		[many.slice(0, 5), "5 records match 'k': 'c', 'd', 'e', 'f', 'g'"],
		[many, "More than 5 records match 'k': 'c', 'd', 'e', 'f', 'g' and more"],
	])('several are an error that names them: %#', (found, message) => {
		for (const ifFound of ['update', 'skip'] as const) {
			expect(decided(found, { ifFound })).toEqual({
				outcomes: [{ outcome: 'failed', message, hint: { code: 'chooseAmongMatches' } }],
			});
		}
	});

	test('an id that an item names is not kept for what is created', () => {
		const creates = decide(new Map([[{ ...record, id: 'r' }, []]]), preset).creates;
		expect(creates).toEqual([{ ...record, id: undefined }]);
	});
});

const table = {
	...tableOf(fieldOf('name'), fieldOf('city'), fieldOf('n', 'number'), fieldOf('at', 'datetime')),
	id: 'people',
};

const stored: Record<string, FieldValues> = {
	a: { name: 'Ada', city: 'Oslo', n: 1 },
	b: { name: 'Bob', city: 'Oslo', n: 1 },
};

interface Setup {
	on?: MatchOn;
	rules?: Partial<MatchRules>;
	options?: Partial<WriteManyOptions>;
	/** Responds in the place of the tables, or changes them before they do. */
	respond?: (
		request: string,
		options: IHttpRequestOptions,
		stub: StubTables,
	) => ReturnType<typeof httpResponse> | undefined;
	ids?: string[];
	prepare?: (plan: Plan) => Promise<void>;
	watermark?: string | ServiceError;
	mode?: 'update' | 'replace';
}

async function write(
	items: FieldValues[],
	{ on = ['name'], rules, options, respond, ids, prepare, watermark, mode = 'update' }: Setup = {},
) {
	const stub = new StubTables({ people: stored });
	const matching: Matching = { ...preset, ...rules, on };
	const planOptions: PlanOptions = {
		mode: 'upsert',
		empty: 'leave',
		unknownFields: 'error',
		duplicates: 'merge',
		matchOn: on,
	};
	const rows = items.map((values, index) => ({ index, values, id: ids?.[index] }));
	const plan = planRecords(table, rows, planOptions);
	const outcomes: Array<ItemOutcome[] | undefined> = items.map(() => undefined);
	const stopped = await writeMatched(
		stub.client((request, options) => respond?.(request, options, stub)),
		{ table: 'people' },
		table,
		plan,
		planOptions,
		matching,
		{
			mode,
			batchSize: 0,
			batchBytes: 1_000_000,
			parallelRequests: 0,
			skipUnchanged: false,
			dryRun: false,
			stopAtFailure: false,
			...options,
		},
		watermark ?? '2026-02-01T00:00:00Z',
		({ index }, all) => {
			// Once for each item.
			expect(outcomes[index]).toBeUndefined();
			outcomes[index] = all;
		},
		prepare,
	);
	return {
		stub,
		stopped,
		outcomes,
		results: outcomes.map((all) => all?.map(({ outcome, id }) => `${outcome} ${id ?? ''}`.trim())),
		names: stub.tables.people!.map(
			({ id, fields }) => `${id} ${String(fields.name)} ${String(fields.n)}`,
		),
	};
}

describe('on fields', () => {
	test('what matches is updated, what is missing created', async () => {
		const { results, names, stub, stopped } = await write([
			{ name: 'Ada', n: 2 },
			{ name: 'Cleo', n: 3 },
		]);
		expect(results).toEqual([['updated a'], ['inserted new1']]);
		expect(names).toEqual(['a Ada 2', 'b Bob 1', 'new1 Cleo 3']);
		expect(stub.requests).toEqual(['POST people filter', 'PATCH people bulk', 'POST people bulk']);
		expect(stopped).toBeUndefined();
	});

	test('nothing is sent for what is found or skipped', async () => {
		const rules = { ifFound: 'skip', ifMissing: 'skip' } as const;
		const { results, stub } = await write([{ name: 'Ada', n: 2 }, { name: 'Cleo' }], { rules });
		expect(results).toEqual([['found a'], ['skipped']]);
		expect(stub.requests).toEqual(['POST people filter']);
		// All fields: the record is returned as it is.
		expect(stub.bodies[0]).not.toHaveProperty('loadFields');
	});

	test('only the fields to match on are read, where records are updated', async () => {
		const { stub } = await write([{ name: 'Ada', n: 2 }]);
		expect(stub.bodies[0]).toMatchObject({ loadFields: ['name'] });
	});

	test.each<[MatchRules['severalMatches'], results: unknown, names: string[]]>([
		['error', [['failed']], ['a Ada 1', 'b Bob 1']],
		['first', [['updated a']], ['a Ada 5', 'b Bob 1']],
		['all', [['updated a', 'updated b']], ['a Ada 5', 'b Bob 5']],
	])('several: %s', async (severalMatches, results, names) => {
		const result = await write([{ city: 'Oslo', n: 5 }], {
			on: ['city'],
			rules: { severalMatches },
		});
		expect(result.results).toEqual(results);
		expect(result.names).toEqual(names);
	});

	test('one of several that fails is the outcome of its item, with how many were written', async () => {
		const { outcomes } = await write([{ city: 'Oslo', n: 5 }], {
			on: ['city'],
			rules: { severalMatches: 'all' },
			respond: (request, { body }) =>
				request.startsWith('PATCH') && String(body).includes('"b"')
					? httpResponse(200, {
							bulk: { successCount: 1, insertedCount: 0, updatedCount: 1 },
							data: [
								{
									id: 'a',
									created: '2026-03-01T00:00:00Z',
									modified: '2026-03-02T00:00:00Z',
									ver: 1,
								},
							],
							errors: [{ message: 'locked', RecordIndex: 1 }],
						})
					: undefined,
		});
		expect(outcomes[0]).toHaveLength(1);
		expect(outcomes[0]![0]).toMatchObject({
			outcome: 'failed',
			message: 'locked; 1 of 2 matching records were written',
		});
	});

	test('what looking up fails with is the outcome of all, and stops the run', async () => {
		const respond = () => httpResponse(403, { errors: [{ message: 'no' }] });
		const { outcomes, stopped } = await write([{ name: 'Ada' }, { name: 'Cleo' }], { respond });
		expect(outcomes.map((all) => all![0]!.outcome)).toEqual(['failed', 'failed']);
		expect(outcomes[0]![0]).toMatchObject({ status: 403 });
		expect(stopped?.status).toBe(403);
	});

	test('nothing to write needs no request', async () => {
		expect((await write([])).stub.requests).toEqual([]);
	});

	test('a watermark that could not be read stops before anything is written', async () => {
		const watermark = new ServiceError('down', { delivery: 'notApplied' });
		const { outcomes, stub, stopped } = await write([{ name: 'Ada', n: 2 }, { name: 'Cleo' }], {
			watermark,
		});
		expect(stub.requests).toEqual(['POST people filter']);
		expect(outcomes.map((all) => all![0]!.outcome)).toEqual(['failed', 'failed']);
		expect(stopped?.message).toBe('down');
	});

	test('a full update is sent as one', async () => {
		const { stub } = await write([{ name: 'Ada', n: 2 }], { mode: 'replace' });
		expect(stub.requests).toContain('PUT people bulk');
	});

	test('items of one record share it', async () => {
		const { results, stub } = await write([
			{ name: 'Ada', n: 2 },
			{ name: 'Ada', city: 'Rome' },
		]);
		expect(results).toEqual([undefined, ['updated a']]);
		expect(stub.bodies[1]).toMatchObject({
			bulk: [{ id: 'a', fields: { name: 'Ada', n: 2, city: 'Rome' } }],
		});
	});
});

describe('what is prepared before writing', () => {
	test('gets what is to be written, once; what it takes out fails', async () => {
		const calls: number[][] = [];
		const { results, outcomes, names } = await write(
			[
				{ name: 'Ada', n: 2 },
				{ name: 'Cleo', n: 3 },
				{ name: 'Dora', n: 4 },
			],
			{
				prepare: async (plan) => {
					calls.push(plan.records.map(({ index }) => index));
					plan.records = plan.records.filter(({ index }) => index !== 1);
					plan.problems.push(
						{ index: 1, field: 'city', message: 'no such city' },
						{ index: 1, field: 'city', message: 'said twice' },
					);
				},
			},
		);
		expect(calls).toEqual([[0, 1, 2]]);
		expect(results).toEqual([['updated a'], ['failed'], ['inserted new1']]);
		expect(outcomes[1]![0]).toEqual({
			outcome: 'failed',
			message: 'Item 1 was not sent: no such city',
			field: 'city',
		});
		expect(names).toHaveLength(3);
	});

	test('not where an item without a record stops the run: nothing is written then', async () => {
		let isCalled = false;
		const { outcomes, stub } = await write([{ name: 'Ada', n: 2 }, { name: 'Cleo' }], {
			rules: { ifMissing: 'error' },
			options: { stopAtFailure: true },
			prepare: async () => {
				isCalled = true;
			},
		});
		expect(isCalled).toBe(false);
		expect(outcomes.map((all) => all![0]!.outcome)).toEqual(['failed', 'notFound']);
		expect(outcomes[0]![0]!.isDerived).toBe(true);
		expect(stub.requests).toEqual(['POST people filter']);
	});
});

describe('by record id', () => {
	const on = 'recordId';

	test('is updated without a look-up; what is not there is created', async () => {
		const { results, stub, names } = await write([{ n: 2 }, { name: 'Cleo' }], {
			on,
			ids: ['a', 'x'],
		});
		expect(results).toEqual([['updated a'], ['inserted new1']]);
		expect(names).toEqual(['a Ada 2', 'b Bob 1', 'new1 Cleo undefined']);
		expect(stub.requests[0]).toBe('PATCH people bulk');
	});

	test.each([
		['skip', 'skipped x'],
		['error', 'notFound x'],
	] as const)('if missing: %s', async (ifMissing, outcome) => {
		const { results } = await write([{ n: 2 }], { on, ids: ['x'], rules: { ifMissing } });
		expect(results).toEqual([[outcome]]);
	});

	test('is looked up to be returned', async () => {
		const rules = { ifFound: 'skip', ifMissing: 'skip' } as const;
		const { results, stub } = await write([{ n: 2 }, { n: 3 }], { on, ids: ['a', 'x'], rules });
		expect(results).toEqual([['found a'], ['skipped x']]);
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

	test.each<[MatchRules['ifMissing'], string]>([
		['create', 'inserted new1'],
		['skip', 'skipped'],
	])('deletes what matched; if missing: %s', async (ifMissing, outcome) => {
		const { results } = await write([{ name: 'Ada', n: 2 }], {
			respond: deleting('a'),
			rules: { ifMissing },
		});
		expect(results).toEqual([[outcome]]);
	});

	test('deletes what matched; an error says so', async () => {
		const { outcomes } = await write([{ name: 'Ada', n: 2 }], {
			respond: deleting('a'),
			rules: { ifMissing: 'error' },
		});
		expect(outcomes[0]![0]).toMatchObject({
			outcome: 'notFound',
			id: 'a',
			message: "The record 'a', which matched 'Ada', was deleted meanwhile",
		});
	});

	test('deletes one of several: the others count', async () => {
		const { results } = await write([{ city: 'Oslo', n: 2 }], {
			respond: deleting('a'),
			on: ['city'],
			rules: { severalMatches: 'all' },
		});
		expect(results).toEqual([['updated b']]);
	});
});
