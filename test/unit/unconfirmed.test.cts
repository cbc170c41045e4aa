/**
 * Items that no response confirms, as a table: what was sent, what came back, what a look-up found,
 * and what the item came to.
 */
import type { PreparedRecord } from '../../nodes/DataPlatform/bulk/batches.ts';
import type { ItemOutcome } from '../../nodes/DataPlatform/bulk/outcome.ts';
import type { LastChange } from '../../nodes/DataPlatform/bulk/lastChange.ts';
import type { WriteMode } from '../../nodes/DataPlatform/bulk/plan.ts';
import {
	alignByContent,
	confirmedItem,
	holdsWhole,
	pairByPosition,
	resolveUnreported,
	type UnresolvedContext,
} from '../../nodes/DataPlatform/bulk/resolve.ts';
import type { FieldValues, PlatformRecord } from '../../nodes/DataPlatform/api/types.ts';
import { ServiceError } from '../../nodes/DataPlatform/transport/errors.ts';
import { sendableOf, storedOf } from './fixtures.cts';
import {
	BEFORE,
	LAST,
	LAST_CHANGE,
	LATER,
	SINCE,
	context,
	fields,
	lastChangeAt,
	responseOf,
	timedOut,
} from './outcomeFixtures.cts';

const sent = sendableOf({ id: 'r1', key: 'a', fields: { code: 'a', n: 1 } });
const lost = { ...sent, previousAttempt: timedOut };
const stillRunning = new ServiceError('Gateway gave up', {
	delivery: 'ambiguous',
	mayStillApply: true,
});
const running = { ...sent, previousAttempt: stillRunning };

const stored = (values: FieldValues, times: Partial<PlatformRecord> = {}) =>
	storedOf({ id: 'r1', fields: { code: 'a', n: 1, ...values }, ...times });
const same = stored({});
const sameNew = stored({}, { created: SINCE, modified: SINCE });
const sameTouched = stored({}, { modified: SINCE });
const other = stored({ n: 2 });
const otherNew = stored({ n: 2 }, { created: SINCE, modified: SINCE });

const rejection: ItemOutcome = { outcome: 'failed', message: 'too young', status: 400 };
const rejects = (prepared: PreparedRecord): UnresolvedContext => ({
	rejections: new Map([[prepared, rejection]]),
});
const responds = (body: object): UnresolvedContext => ({
	response: responseOf({ data: [], ...body }),
});
const silent = responds({ bulk: { successCount: 1 } });
/** It lists as many records as it counts, and the item is not among them. */
const complete = responds({ bulk: { insertedCount: 0, updatedCount: 0 } });
const nothing: UnresolvedContext = {};

const unknown = (why: string) => ({
	outcome: 'unknown',
	message: `Unknown whether this record was written: ${why}`,
});

type Row = [
	what: string,
	mode: WriteMode,
	prepared: PreparedRecord,
	unresolved: UnresolvedContext,
	found: PlatformRecord[],
	outcome: object,
];

const expectOutcomes = (rows: Row[]) =>
	test.each(rows)('%s: %s', (_, mode, prepared, unresolved, found, outcome) => {
		const keyed = { ...context(mode), key: 'code' };
		expect(resolveUnreported(prepared, found, unresolved, keyed)).toMatchObject(outcome);
	});

describe('nothing is found', () => {
	const notFound = {
		outcome: 'notFound',
		id: 'r1',
		message: "The table has no record with the ID 'r1'",
		hint: 'Check the ID; the record may have been deleted.',
	};
	expectOutcomes([
		['the response is silent', 'update', sent, silent, [], notFound],
		['the response was lost', 'replace', lost, nothing, [], notFound],
		['it was rejected after a lost attempt', 'update', lost, rejects(lost), [], notFound],
		['it was rejected after a lost attempt', 'upsert', lost, rejects(lost), [], rejection],
		['it was rejected after a lost attempt', 'create', lost, rejects(lost), [], rejection],
		[
			'the response was lost',
			'upsert',
			lost,
			nothing,
			[],
			unknown("No response; a look-up did not find the import key 'a' yet"),
		],
		[
			'only an older record has the key',
			'create',
			lost,
			nothing,
			[same],
			unknown("No response; only an older record has the import key 'a' yet"),
		],
		[
			'a response came after a lost attempt: that counts',
			'upsert',
			lost,
			silent,
			[],
			{
				outcome: 'failed',
				message: 'The response did not mention this item, and the table has no such record',
			},
		],
		[
			'no response, and no attempt',
			'upsert',
			sent,
			nothing,
			[],
			{
				outcome: 'failed',
				message: 'The response did not mention this item, and the table has no such record',
			},
		],
		[
			'the response has one reason',
			'upsert',
			sent,
			responds({ errors: [{ message: 'too young', id: 'c' }] }),
			[],
			{ outcome: 'failed', message: 'too young', code: 'c' },
		],
		[
			'the response has several reasons',
			'create',
			sent,
			responds({ errors: [{ message: 'one' }, { message: 'two' }] }),
			[],
			{
				outcome: 'failed',
				message:
					'The platform did not write this record; its reasons, without saying for which item: one; two',
				code: undefined,
			},
		],
	]);
});

describe('an earlier attempt may still be applied', () => {
	expectOutcomes([
		[
			'rejected later, not there',
			'upsert',
			running,
			rejects(running),
			[],
			unknown('too young; an earlier attempt may still be applied: Gateway gave up'),
		],
		[
			'rejected later, other values',
			'update',
			running,
			rejects(running),
			[other],
			{
				...unknown('too young; an earlier attempt may still be applied: Gateway gave up'),
				id: 'r1',
				status: 400,
			},
		],
		[
			'rejected later, but it is there',
			'update',
			running,
			rejects(running),
			[same],
			{
				outcome: 'unchanged',
			},
		],
		['lost for good, and rejected later', 'upsert', lost, rejects(lost), [], rejection],
		['rejected for good', 'update', lost, rejects(lost), [other], { ...rejection, id: 'r1' }],
	]);
});

describe('the stored record holds other values', () => {
	const holds = "the record holds 2 in 'n'";
	expectOutcomes([
		[
			'the response is silent',
			'update',
			sent,
			silent,
			[other],
			{
				outcome: 'failed',
				id: 'r1',
				field: 'n',
				message: `The response did not mention this item, and ${holds}`,
			},
		],
		[
			'the response has one reason',
			'update',
			sent,
			responds({ errors: [{ message: 'too young', id: 'c' }] }),
			[other],
			{ outcome: 'failed', id: 'r1', field: 'n', message: 'too young', code: 'c' },
		],
		[
			'the response has several reasons',
			'update',
			sent,
			responds({ errors: [{ message: 'one' }, { message: 'two' }] }),
			[other],
			{ message: `The response did not mention this item, and ${holds}`, code: undefined },
		],
		['no response, and no attempt', 'update', sent, nothing, [other], { outcome: 'failed' }],
		[
			'the response was lost',
			'update',
			lost,
			nothing,
			[other],
			{ ...unknown(`No response; ${holds}`), id: 'r1' },
		],
		[
			'a new one, the response was lost',
			'create',
			lost,
			nothing,
			[otherNew],
			unknown(`No response; ${holds}`),
		],
		[
			'a new one, the response is silent',
			'create',
			sent,
			silent,
			[otherNew],
			unknown(`the response did not mention it; ${holds}`),
		],
		['a new one, rejected later', 'create', lost, rejects(lost), [otherNew], rejection],
		[
			'a new one, the response has a reason',
			'create',
			sent,
			responds({ errors: [{ message: 'must be unique' }] }),
			[otherNew],
			{ outcome: 'failed', message: 'must be unique' },
		],
		[
			'in its key, which is how it was found',
			'upsert',
			sent,
			silent,
			[stored({ code: 'A' })],
			{ outcome: 'unchanged' },
		],
		[
			'in its key',
			'update',
			sent,
			silent,
			[stored({ code: 'A' })],
			{ outcome: 'failed', field: 'code' },
		],
		['not in its key', 'upsert', sent, silent, [other], { outcome: 'failed', field: 'n' }],
	]);
});

describe('the stored record holds what was sent', () => {
	expectOutcomes([
		['and is as old as it was', 'update', sent, silent, [same], { outcome: 'unchanged', ver: 1 }],
		['and was changed since', 'update', sent, silent, [sameTouched], { outcome: 'updated' }],
		[
			'and was changed since, by the lost attempt',
			'update',
			lost,
			nothing,
			[sameTouched],
			{ outcome: 'updated' },
		],
		[
			'and was changed since, but not by this run: the response lists all it did',
			'update',
			sent,
			complete,
			[sameTouched],
			{ outcome: 'unchanged' },
		],
		[
			'and was changed since; the response lists all that its last attempt did',
			'update',
			lost,
			complete,
			[sameTouched],
			{ outcome: 'updated' },
		],
		['and is new', 'upsert', lost, nothing, [sameNew], { outcome: 'inserted' }],
		[
			'and is new, though it was silent',
			'upsert',
			sent,
			silent,
			[sameNew],
			{ outcome: 'inserted' },
		],
		['and is new', 'create', lost, nothing, [sameNew], { outcome: 'inserted', created: SINCE }],
		['and is new', 'update', lost, nothing, [sameNew], { outcome: 'updated' }],
		[
			'and is new, but this run inserted nothing',
			'upsert',
			sent,
			complete,
			[sameNew],
			{ outcome: 'unchanged' },
		],
		[
			'and is new, but this run inserted nothing',
			'upsert',
			sent,
			responds({ bulk: { insertedCount: 0 } }),
			[sameNew],
			{ outcome: 'unchanged' },
		],
		[
			'and is new; the last attempt inserted nothing, the lost one may have',
			'upsert',
			lost,
			responds({ bulk: { insertedCount: 0 } }),
			[sameNew],
			{ outcome: 'inserted' },
		],
		[
			'and is new, changed later: another writer inserted it',
			'upsert',
			sent,
			silent,
			[stored({}, { created: SINCE, modified: LATER })],
			{ outcome: 'updated' },
		],
		[
			'and is new, of unknown change',
			'upsert',
			sent,
			silent,
			[stored({}, { created: SINCE, modified: undefined })],
			{ outcome: 'inserted' },
		],
		[
			'and is new, changed later; the lost attempt may have inserted it',
			'upsert',
			lost,
			silent,
			[stored({}, { created: SINCE, modified: LATER })],
			{ outcome: 'inserted' },
		],
		[
			'and there was none before',
			'upsert',
			{ ...lost, before: null },
			nothing,
			[same],
			{ outcome: 'inserted' },
		],
		[
			'and was inserted by this run before',
			'upsert',
			{ ...lost, isInserted: true },
			nothing,
			[same],
			{ outcome: 'inserted' },
		],
		[
			'and only the newest of several counts',
			'upsert',
			lost,
			nothing,
			[other, { ...sameNew, id: 'r2' }],
			{ outcome: 'inserted', id: 'r2' },
		],
		[
			'of several old ones the first counts',
			'upsert',
			lost,
			nothing,
			[same, { ...other, id: 'r2' }],
			{
				outcome: 'unchanged',
				id: 'r1',
			},
		],
		[
			'the response lists it in another order',
			'upsert',
			sent,
			responds({ data: [{ id: 'r1' }] }),
			[same, { ...sameNew, id: 'r2' }],
			{ outcome: 'updated', id: 'r1' },
		],
		[
			'the response lists it, with times that count more than what is stored',
			'upsert',
			sent,
			responds({ data: [{ id: 'r1', created: SINCE, modified: SINCE, ver: 0 }] }),
			[stored({ n: 5 }, { created: SINCE, modified: LATER, ver: 7 })],
			{ outcome: 'inserted', modified: SINCE, ver: 0 },
		],
	]);

	const file = sendableOf({ id: 'r1', fields: { file: 'https://example.com/a' } });
	const open = "whether 'file' holds what was sent can't be seen from the record";
	const withFile = storedOf({ id: 'r1', ver: 3, fields: { file: [{ fileId: 'f' }] } });
	expectOutcomes([
		[
			'as far as can be seen; the response is silent',
			'update',
			file,
			silent,
			[withFile],
			{ ...unknown(`the response did not mention it; ${open}`), id: 'r1', ver: 3, field: 'file' },
		],
		[
			'as far as can be seen; the response was lost',
			'update',
			{ ...file, previousAttempt: timedOut },
			nothing,
			[withFile],
			unknown(`No response; ${open}`),
		],
		[
			'as far as can be seen, and was changed since',
			'update',
			file,
			silent,
			[{ ...withFile, modified: SINCE }],
			{
				outcome: 'updated',
			},
		],
	]);
});

test('of many reasons that may be an item’s only some are named', () => {
	const errors = Array.from({ length: 700 }, (_, index) => ({ message: `reason ${index}` }));
	const { message } = resolveUnreported(sent, [], responds({ errors }), context('upsert'));
	expect(message).toContain('reason 4');
	expect(message!.length).toBeLessThan(1200);
});

describe('an item of which the response says nothing, and the record holds something else', () => {
	const outcome = (last: LastChange, record = other) =>
		resolveUnreported(sent, [record], silent, { ...context('update'), lastChangeBefore: last })
			.outcome;

	test.each<[string, LastChange, string]>([
		['it is older than the run', lastChangeAt(SINCE), 'failed'],
		['it was changed since', 'none', 'unknown'],
		['nobody knows when that was', undefined, 'failed'],
		[
			'it has the time of the last change before',
			{ ...lastChangeAt(BEFORE), areOthersLater: undefined },
			'unknown',
		],
	])('%s', (_, last, expected) => {
		expect(outcome(last)).toBe(expected);
	});
});

describe('an item that shares its record with another', () => {
	test.each<[string[], string]>([
		[['n'], 'unknown'],
		[[], 'unchanged'],
		[['code'], 'unchanged'],
	])('that writes %j, of which the key says nothing: %s', (fields, outcome) => {
		const sharing = new Map([[lost, new Set(fields)]]);
		const withKey = { ...context('upsert'), key: 'code' };
		expect(resolveUnreported(lost, [same], { sharing }, withKey).outcome).toBe(outcome);
	});

	const isNew = { id: 'r1', created: SINCE, modified: LATER, ver: 1 };
	const shares = (
		prepared: PreparedRecord,
		unresolved: UnresolvedContext,
		fields: string[] = [],
	) => ({
		...unresolved,
		sharing: new Map([[prepared, new Set(fields)]]),
	});
	const counted = (insertedCount: number | undefined) =>
		responds({ bulk: { insertedCount }, data: [isNew] });
	const whole = { ...sent, isInserted: false };
	const newRecord = stored({}, isNew);
	expectOutcomes([
		[
			'is listed and new',
			'upsert',
			sent,
			shares(sent, counted(1)),
			[newRecord],
			{ outcome: 'inserted' },
		],
		[
			'is listed and new, nothing counted',
			'upsert',
			sent,
			shares(sent, counted(undefined)),
			[newRecord],
			{ outcome: 'inserted' },
		],
		[
			'is listed, nothing was inserted',
			'upsert',
			sent,
			shares(sent, counted(0)),
			[newRecord],
			{ outcome: 'updated' },
		],
		['is listed and old', 'upsert', sent, shares(sent, counted(1)), [same], { outcome: 'updated' }],
		[
			'is listed, and was inserted by another',
			'upsert',
			whole,
			shares(whole, counted(1)),
			[newRecord],
			{ outcome: 'updated' },
		],
		['is alone in its record', 'upsert', sent, counted(1), [newRecord], { outcome: 'updated' }],
		[
			'is written over by the other, and the response was lost',
			'upsert',
			lost,
			shares(lost, nothing, ['code', 'n']),
			[same],
			unknown('No response; another item writes the same fields'),
		],
		[
			'is written over by the other, was rejected, and the record is as it was',
			'upsert',
			lost,
			shares(lost, rejects(lost), ['code', 'n']),
			[same],
			{ ...rejection, id: 'r1' },
		],
		[
			'is written over by the other, the response was lost, and the record was changed',
			'upsert',
			lost,
			shares(lost, nothing, ['code', 'n']),
			[sameTouched],
			{ outcome: 'updated' },
		],
		[
			'is new, changed by the other',
			'upsert',
			sent,
			shares(sent, silent),
			[newRecord],
			{ outcome: 'inserted' },
		],
		[
			'holds what the other overwrote',
			'upsert',
			sent,
			shares(sent, silent, ['n']),
			[other],
			{ outcome: 'unchanged' },
		],
		[
			'holds what the other did not overwrite',
			'upsert',
			sent,
			shares(sent, silent, ['code']),
			[other],
			{ outcome: 'failed', field: 'n' },
		],
	]);

	test.each<[FieldValues, string[], boolean]>([
		[{ code: 'a', n: 1 }, [], true],
		[{ code: 'a', n: 2 }, [], false],
		[{ code: 'a', n: 2 }, ['n'], true],
		[{ code: 'a', n: 'one' }, [], false],
		[{ code: 'b', n: 'one' }, [], false],
	])(
		'the record holds %j, of which %j was overwritten: all of the item %s',
		(fields, overwritten, all) => {
			const record = storedOf({ id: 'r1', fields });
			expect(holdsWhole(sent, record, context('update'), new Set(overwritten))).toBe(all);
		},
	);
});

describe('without a last change', () => {
	const resolve = (mode: WriteMode, found: PlatformRecord, prepared = lost) =>
		resolveUnreported(prepared, [found], nothing, { ...context(mode), lastChangeBefore: undefined })
			.outcome;
	test('nothing counts as new, or as changed', () => {
		expect(resolve('create', sameNew)).toBe('unknown');
		expect(resolve('upsert', sameNew)).toBe('unchanged');
		expect(resolve('update', sameTouched)).toBe('unchanged');
	});
	test('but what was not there before is', () => {
		expect(resolve('create', sameNew, { ...lost, before: null })).toBe('inserted');
	});
});

describe('an upsert that the response lists', () => {
	const mixed = { allInserted: false, allUpdated: false };
	const upsert = (
		prepared: PreparedRecord,
		metadata: object,
		counts: typeof mixed,
		lastChangeBefore: LastChange,
	) =>
		confirmedItem(
			prepared,
			{ id: 'r1', ...metadata },
			{ ...context('upsert'), lastChangeBefore },
			counts,
		).outcome;
	const present = { ...sent, before: storedOf({ id: 'r1', created: BEFORE }) };
	const absent = { ...lost, before: null };
	const isOld = { created: BEFORE, modified: BEFORE };
	const inserted = { allInserted: true, allUpdated: false };

	test.each<[string, PreparedRecord, object, typeof mixed, LastChange, string]>([
		[
			'the counts are of the second attempt',
			lost,
			{ created: BEFORE, modified: SINCE },
			inserted,
			LAST,
			'updated',
		],
		[
			'created just at the last change',
			sent,
			{ created: LAST_CHANGE, modified: LAST_CHANGE },
			mixed,
			LAST,
			'updated',
		],
		['another record of the same age', present, { ...isOld, id: 'r2' }, mixed, 'none', 'inserted'],
		['created, never changed', sent, { created: SINCE }, mixed, LAST, 'inserted'],
		['created before, of unknown change', sent, { created: BEFORE }, mixed, LAST, 'updated'],
		['changed, first version', sent, { modified: SINCE, ver: 0 }, mixed, LAST, 'inserted'],
		['changed, later version', sent, { modified: SINCE, ver: 1 }, mixed, LAST, 'updated'],
		['first version, no times', sent, { ver: 0 }, mixed, LAST, 'inserted'],
		['present, of unknown creation', present, { modified: SINCE, ver: 0 }, mixed, LAST, 'updated'],
		[
			'absent, lost, no last change',
			absent,
			{ created: SINCE, modified: LATER },
			mixed,
			undefined,
			'inserted',
		],
	])('%s', (_, prepared, metadata, counts, last, outcome) => {
		expect(upsert(prepared, metadata, counts, last)).toBe(outcome);
	});
});

describe('pairing', () => {
	const batch = ['a', 'b', 'c'].map((code, index) => sendableOf({ index, fields: { code } }));
	test.each<[bulk: object, isPaired: boolean]>([
		[{ insertedCount: 2, updatedCount: 1 }, true],
		[{ insertedCount: 1, updatedCount: 1 }, false],
		[{ insertedCount: 4, updatedCount: 0 }, false],
		[{}, true],
	])('by position, with three records and the counts %j: %s', (bulk, isPaired) => {
		const response = responseOf({ bulk, data: [{ id: 'x' }, { id: 'y' }, { id: 'z' }] }, 3);
		expect(pairByPosition(batch, response, false) !== undefined).toBe(isPaired);
	});

	type Pairs = Array<[item: number, record: string | undefined]>;
	test.each<[string, sent: FieldValues[], created: FieldValues[], Pairs | undefined]>([
		[
			'all',
			[{ n: 1 }, { n: 2 }],
			[{ n: 1 }, { n: 2 }],
			[
				[0, 'r0'],
				[1, 'r1'],
			],
		],
		['the first is missing', [{ n: 1 }, { n: 2 }], [{ n: 2 }], [[1, 'r0']]],
		['the last is missing', [{ n: 1 }, { n: 2 }], [{ n: 1 }], [[0, 'r0']]],
		['in another order', [{ n: 1 }, { n: 2 }], [{ n: 2 }, { n: 1 }], undefined],
		['two alike, one created', [{ n: 1 }, { n: 1 }], [{ n: 1 }], [[0, 'r0']]],
		[
			'two alike, both created',
			[{ n: 1 }, { n: 1 }],
			[{ n: 1 }, { n: 1 }],
			[
				[0, 'r0'],
				[1, 'r1'],
			],
		],
		[
			'alike on both sides of another',
			[{ n: 1 }, { n: 2 }, { n: 1 }],
			[{ n: 1 }, { n: 2 }],
			[
				[0, 'r0'],
				[1, 'r1'],
			],
		],
		[
			'alike on both sides of another, the first is missing',
			[{ n: 1 }, { n: 2 }, { n: 1 }],
			[{ n: 2 }, { n: 1 }],
			[
				[1, 'r0'],
				[2, 'r1'],
			],
		],
		[
			'two fit, what they hold differs',
			[{ n: 1 }, { n: 1, code: 'a' }],
			[{ n: 1, code: 'a' }],
			[
				[0, undefined],
				[1, undefined],
			],
		],
		[
			'two are alike, and one of their records may be of a third: none is said not to be created',
			[{ n: 1 }, { n: 1, code: 'a' }, { n: 1, code: 'a' }],
			[
				{ n: 1, code: 'a' },
				{ n: 1, code: 'a' },
			],
			[
				[0, undefined],
				[1, 'r1'],
				[2, undefined],
			],
		],
		[
			'two are alike, and the third, which may have the first record, comes after them',
			[{ n: 1, code: 'a' }, { n: 1, code: 'a' }, { n: 1 }],
			[
				{ n: 1, code: 'a' },
				{ n: 1, code: 'a' },
			],
			[
				[0, 'r0'],
				[1, undefined],
				[2, undefined],
			],
		],
		[
			'two are alike, and others are not certain',
			[{ n: 1 }, { n: 1 }, { n: 2 }, { n: 2, code: 'a' }],
			[{ n: 1 }, { n: 2, code: 'a' }],
			[
				[0, 'r0'],
				[2, undefined],
				[3, undefined],
			],
		],
		[
			'two fit, but the next record needs the second',
			[{ n: 1 }, { n: 1, code: 'a' }],
			[
				{ n: 1, code: 'a' },
				{ n: 1, code: 'a' },
			],
			[
				[0, 'r0'],
				[1, 'r1'],
			],
		],
		['a record fits none', [{ n: 1 }], [{ n: 5 }], undefined],
		['more records than items', [{ n: 1 }], [{ n: 1 }, { n: 1 }], undefined],
	])('by what they hold: %s', (_, items, created, pairs) => {
		const rest = items.map((values, index) => sendableOf({ index, fields: values }));
		const records = created.map((values, index) => storedOf({ id: `r${index}`, fields: values }));
		const aligned = alignByContent(rest, records, fields);
		const found =
			aligned && [...aligned].map(([{ record }, to]) => [record.index, to?.id] as const);
		expect(found?.sort(([a], [b]) => a - b)).toEqual(pairs);
	});
});
