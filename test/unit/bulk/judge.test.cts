/**
 * Each item's outcome: from what a response lists and, as a table, if no response confirms it. The
 * cases reach every row of the table in judge.ts.
 */
import type { Entry } from '../../../nodes/DataPlatform/bulk/entry.ts';
import {
	gatherEvidence,
	type Situation,
	type UnresolvedContext,
	type WriteContext,
} from '../../../nodes/DataPlatform/bulk/evidence.ts';
import {
	confirmedItem,
	JUDGEMENTS,
	judge,
	judgementOn,
	upsertOutcome,
	type Judgement,
} from '../../../nodes/DataPlatform/bulk/judge.ts';
import type { LastChange } from '../../../nodes/DataPlatform/bulk/lastChange.ts';
import {
	failedItem,
	rejectedItem,
	unknownItem,
	type ItemOutcome,
} from '../../../nodes/DataPlatform/bulk/outcome.ts';
import type { WriteMode } from '../../../nodes/DataPlatform/bulk/plan.ts';
import type { FieldValues, PlatformRecord } from '../../../nodes/DataPlatform/api/types.ts';
import { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { sendableOf, storedOf } from '../fixtures.cts';
import {
	BEFORE,
	LAST,
	LAST_CHANGE,
	LATER,
	SINCE,
	context,
	lastChangeAt,
	responseOf,
	timedOut,
} from '../outcomeFixtures.cts';

const MODES = ['create', 'upsert', 'update', 'replace'] as const;

describe('rejections', () => {
	test('of a record', () => {
		expect(rejectedItem({ message: 'too young', id: 'code1' })).toEqual({
			outcome: 'failed',
			message: 'too young',
			code: 'code1',
		});
		expect(rejectedItem({}).message).toContain('gave no reason');
	});

	test('of a request', () => {
		const error = new ServiceError('No', { delivery: 'rejected', status: 400, hint: 'h' });
		expect(failedItem(error)).toEqual({
			outcome: 'failed',
			message: 'No',
			hint: 'h',
			code: undefined,
			status: 400,
			isRetryable: false,
		});
	});
});

/** The item of a record that was inserted with only some of its fields. */
const whole = (prepared: Entry) => ({
	...prepared,
	previousAttempt: timedOut,
	isInserted: true,
});

describe('a confirmed item', () => {
	const mixed = { allInserted: false, allUpdated: false };
	const prepared = sendableOf({});
	const again = { ...prepared, previousAttempt: timedOut };

	test('of a create is inserted, of an update is updated', () => {
		const outcome = (mode: WriteMode, created: string) =>
			confirmedItem(prepared, { id: 'r1', created, modified: SINCE }, context(mode), mixed).outcome;
		expect(outcome('create', BEFORE)).toBe('inserted');
		expect(outcome('update', SINCE)).toBe('updated');
		expect(outcome('replace', SINCE)).toBe('updated');
	});

	test('has the metadata of the response', () => {
		const metadata = { id: 'r1', created: SINCE, modified: SINCE, ver: 2 };
		expect(confirmedItem(prepared, metadata, context('create'), mixed)).toEqual({
			outcome: 'inserted',
			...metadata,
		});
	});

	test('of an upsert is updated if another item of the run inserted its record', () => {
		const run = { ...context('upsert'), inserted: new Set(['r1']) };
		const isNew = { id: 'r1', created: SINCE, modified: SINCE, ver: 0 };
		for (const entry of [prepared, again, { ...again, before: null }]) {
			expect(confirmedItem(entry, isNew, run, mixed).outcome).toBe('updated');
		}
	});

	const inserted = { allInserted: true, allUpdated: false };
	const updated = { allInserted: false, allUpdated: true };
	const stored = storedOf({ id: 'r1', created: BEFORE });
	const absent = { ...prepared, before: null };
	const present = { ...prepared, before: stored };
	type Row = [
		what: string,
		prepared: Entry,
		times: { created?: string; modified?: string; ver?: number },
		counts: typeof mixed,
		lastChangeBefore: LastChange,
		outcome: 'inserted' | 'updated',
	];
	const isNew = { created: SINCE, modified: SINCE };
	const isChanged = { created: BEFORE, modified: SINCE };
	const isBoth = { created: SINCE, modified: LATER };
	const isOld = { created: BEFORE, modified: BEFORE };
	test.each<Row>([
		['the counts say so', prepared, isChanged, inserted, LAST, 'inserted'],
		['the counts say so', prepared, isNew, updated, LAST, 'updated'],
		['created is modified', prepared, isNew, mixed, LAST, 'inserted'],
		['created is modified, no last change', prepared, isNew, mixed, undefined, 'inserted'],
		['created is modified, table was empty', prepared, isOld, mixed, 'none', 'inserted'],
		['as old as the table', prepared, isOld, mixed, LAST, 'updated'],
		['modified since', prepared, isChanged, mixed, LAST, 'updated'],
		['modified since, no last change', prepared, isChanged, mixed, undefined, 'updated'],
		['another writer inserted it during the run', prepared, isBoth, mixed, LAST, 'updated'],
		['the counts are of the second attempt', again, isNew, updated, LAST, 'inserted'],
		['the first attempt may have inserted it', again, isBoth, mixed, LAST, 'inserted'],
		['the second attempt modified it again', again, isChanged, mixed, LAST, 'updated'],
		['the second attempt, no last change', again, isBoth, mixed, undefined, 'updated'],
		['absent when looked up', absent, isNew, mixed, undefined, 'inserted'],
		['absent, but another writer was faster', absent, isBoth, mixed, LAST, 'updated'],
		['present when looked up', present, isChanged, mixed, undefined, 'updated'],
		['present, not modified since', present, isOld, mixed, 'none', 'updated'],
		['present, but deleted since', present, isNew, mixed, LAST, 'inserted'],
		[
			'present, and its version went back',
			present,
			{ ...isOld, ver: 0 },
			mixed,
			'none',
			'inserted',
		],
		['present, of the same version', present, { ...isOld, ver: 1 }, mixed, 'none', 'updated'],
		['without times, absent', absent, {}, mixed, undefined, 'inserted'],
		['without times, present', present, { ver: 0 }, mixed, undefined, 'updated'],
		['without times, first version', prepared, { ver: 0 }, mixed, undefined, 'inserted'],
		['without times, later version', prepared, { ver: 1 }, mixed, undefined, 'updated'],
		['the counts are of the second attempt', again, isChanged, inserted, LAST, 'updated'],
		[
			'created just at the last change',
			prepared,
			{ created: LAST_CHANGE, modified: LAST_CHANGE },
			mixed,
			LAST,
			'updated',
		],
		['created, never changed', prepared, { created: SINCE }, mixed, LAST, 'inserted'],
		['created before, of unknown change', prepared, { created: BEFORE }, mixed, LAST, 'updated'],
		['changed, first version', prepared, { modified: SINCE, ver: 0 }, mixed, LAST, 'inserted'],
		['changed, later version', prepared, { modified: SINCE, ver: 1 }, mixed, LAST, 'updated'],
		['first version, no times', prepared, { ver: 0 }, mixed, LAST, 'inserted'],
		['present, of unknown creation', present, { modified: SINCE, ver: 0 }, mixed, LAST, 'updated'],
		[
			'absent, lost, no last change',
			{ ...again, before: null },
			isBoth,
			mixed,
			undefined,
			'inserted',
		],
		['inserted before, completed now', whole(prepared), isBoth, mixed, LAST, 'inserted'],
	])('of an upsert, %s', (_, item, times, counts, lastChangeBefore, outcome) => {
		const upsert: WriteContext = { ...context('upsert'), lastChangeBefore };
		expect(confirmedItem(item, { id: 'r1', ...times }, upsert, counts).outcome).toBe(outcome);
	});

	test('of an upsert, present, but another record has its key now', () => {
		const other = { id: 'r2', created: SINCE, modified: SINCE };
		expect(confirmedItem(present, other, context('upsert'), mixed).outcome).toBe('inserted');
		const sameAge = { ...isOld, id: 'r2' };
		const empty = context('upsert', 'none');
		expect(confirmedItem(present, sameAge, empty, mixed).outcome).toBe('inserted');
	});
});

describe('what a single upsert did', () => {
	const isSecond = { created: '2026-03-01T00:00:00Z', modified: '2026-03-01T00:00:00Z' };
	const isNew = { created: SINCE, modified: SINCE };
	const isChanged = { created: BEFORE, modified: SINCE };
	const isOld = { created: BEFORE, modified: BEFORE };
	test.each<
		[
			what: string,
			metadata: Partial<PlatformRecord>,
			lastChangeBefore: LastChange,
			earlier: Partial<PlatformRecord> | undefined,
			outcome: string | undefined,
		]
	>([
		['a new record', isNew, LAST, undefined, 'inserted'],
		['a new record in an empty table', isNew, 'none', undefined, 'inserted'],
		[
			'a new record that is changed',
			{ created: SINCE, modified: LATER },
			LAST,
			undefined,
			'updated',
		],
		['an older record that is changed', isChanged, LAST, undefined, 'updated'],
		['an older record as it was', isOld, LAST, undefined, 'unchanged'],
		['without a last change', isNew, undefined, undefined, undefined],
		['without the time of its creation', { modified: SINCE }, LAST, undefined, undefined],
		['without the time of its change', { created: SINCE }, LAST, undefined, undefined],
		['written before, a later version', { ...isNew, ver: 2 }, LAST, { ver: 1 }, 'updated'],
		['written before, the same version', { ...isNew, ver: 1 }, LAST, { ver: 1 }, 'unchanged'],
		['written before, a later time', isNew, LAST, isOld, 'updated'],
		['written before, the same time', isNew, LAST, isNew, 'unchanged'],
		['written before, and neither is known', {}, LAST, {}, 'updated'],
		['written before, in the same second', isSecond, LAST, isSecond, undefined],
	])('%s', (_, metadata, last, earlier, outcome) => {
		const before = earlier && { id: 'r1', ...earlier };
		expect(upsertOutcome({ id: 'r1', ...metadata }, last, before)).toBe(outcome);
	});
});

const sent = sendableOf({ id: 'r1', key: 'a', fields: { code: 'a', n: 1 } });
const lost = { ...sent, previousAttempt: timedOut };
const stillRunning = new ServiceError('Gateway gave up', {
	delivery: 'ambiguous',
	stillPending: true,
});
const running = { ...sent, previousAttempt: stillRunning };

const stored = (values: FieldValues, times: Partial<PlatformRecord> = {}) =>
	storedOf({ id: 'r1', fields: { code: 'a', n: 1, ...values }, ...times });
const same = stored({});
const sameNew = stored({}, { created: SINCE, modified: SINCE });
const sameTouched = stored({}, { modified: SINCE });
const other = stored({ n: 2 });
const otherTouched = stored({ n: 2 }, { modified: SINCE });
const otherNew = stored({ n: 2 }, { created: SINCE, modified: SINCE });

const rejection: ItemOutcome = { outcome: 'failed', message: 'too young', status: 400 };
const rejects = (prepared: Entry): UnresolvedContext => ({
	rejections: new Map([[prepared, rejection]]),
});
const responds = (body: object): UnresolvedContext => ({
	response: responseOf({ data: [], ...body }),
});
const silent = responds({ bulk: { successCount: 1 } });
/** It lists as many records as it counts, and the item is not one of them. */
const complete = responds({ bulk: { insertedCount: 0, updatedCount: 0 } });
const nothing: UnresolvedContext = {};

const unknown = (why: string) => ({
	outcome: 'unknown',
	message: `Unknown whether this record was written: ${why}`,
});

interface Case {
	what: string;
	mode: WriteMode | WriteMode[];
	/** The outcome of the request, or what was sent and what is known about it. */
	answer?: keyof typeof ANSWERS;
	item?: Entry;
	known?: UnresolvedContext;
	found?: PlatformRecord[];
	/** Its outcome, or what else it contains. */
	outcome: string | object;
}

const ANSWERS = {
	silent: { item: sent, known: silent },
	lost: { item: lost, known: nothing },
	rejected: { item: lost, known: rejects(lost) },
};

/** The rows of the table that decided the cases. */
const reached: Record<WriteMode, Set<Judgement>> = {
	create: new Set(),
	upsert: new Set(),
	update: new Set(),
	replace: new Set(),
};

const expectOutcomes = (cases: Case[]) => {
	const single = cases.flatMap((one) => [one.mode].flat().map((mode) => ({ ...one, mode })));
	for (const { what, mode, answer = 'silent', found = [], outcome, ...more } of single) {
		const { item, known } = { ...ANSWERS[answer], ...more };
		const keyed = { ...context(mode), key: 'code' };
		reached[mode].add(judgementOn(mode, gatherEvidence(item, found, known, keyed)));
		test(`${what}: ${mode}`, () => {
			const expected = typeof outcome === 'string' ? { outcome } : outcome;
			expect(judge(item, found, known, keyed)).toMatchObject(expected);
		});
	}
};

describe('nothing is found', () => {
	const notFound = {
		outcome: 'notFound',
		id: 'r1',
		message: "The table has no record with the ID 'r1'",
		hint: { code: 'checkRecordId' },
	};
	expectOutcomes([
		{
			what: 'there is nothing to update',
			mode: ['update', 'replace'],
			answer: 'silent',
			outcome: notFound,
		},
		{
			what: 'there is nothing to update',
			mode: ['update', 'replace'],
			answer: 'lost',
			outcome: notFound,
		},
		{
			what: 'the response was lost',
			mode: 'create',
			answer: 'lost',
			outcome: {
				...unknown("No response; a look-up did not find the import key 'a' yet"),
				hint: { code: 'lookBeforeCreatingAgain' },
			},
		},
		{
			what: 'the response is silent',
			mode: 'create',
			answer: 'silent',
			outcome: {
				outcome: 'failed',
				message: 'The response did not mention this item, and the table has no such record',
			},
		},
		{
			what: 'the response lists a record that is gone',
			mode: ['create', 'upsert'],
			item: sent,
			known: { ...silent, listsUnknownRecord: true },
			outcome: unknown('the response lists a record that is gone, without saying whose it was'),
		},
		{ what: 'the response is silent', mode: 'update', answer: 'silent', outcome: notFound },
		{ what: 'the response was lost', mode: 'replace', answer: 'lost', outcome: notFound },
		{
			what: 'it was rejected after a lost attempt',
			mode: 'update',
			answer: 'rejected',
			outcome: notFound,
		},
		{
			what: 'it was rejected after a lost attempt',
			mode: 'upsert',
			answer: 'rejected',
			outcome: rejection,
		},
		{
			what: 'it was rejected after a lost attempt',
			mode: 'create',
			answer: 'rejected',
			outcome: rejection,
		},
		{
			what: 'the response was lost',
			mode: 'upsert',
			answer: 'lost',
			outcome: unknown("No response; a look-up did not find the import key 'a' yet"),
		},
		{
			what: 'only an older record has the key',
			mode: 'create',
			answer: 'lost',
			found: [same],
			outcome: unknown("No response; only an older record has the import key 'a' yet"),
		},
		{
			what: 'a response came after a lost attempt: that counts',
			mode: 'upsert',
			item: lost,
			known: silent,
			outcome: {
				outcome: 'failed',
				message: 'The response did not mention this item, and the table has no such record',
			},
		},
		{
			what: 'the response has one reason',
			mode: 'upsert',
			item: sent,
			known: responds({ errors: [{ message: 'too young', id: 'c' }] }),
			outcome: { outcome: 'failed', message: 'too young', code: 'c' },
		},
		{
			what: 'the response has several reasons',
			mode: 'create',
			item: sent,
			known: responds({ errors: [{ message: 'one' }, { message: 'two' }] }),
			outcome: {
				outcome: 'failed',
				message:
					'The platform did not write this record; its reasons do not say which item they mean: one; two',
				code: undefined,
			},
		},
	]);
});

describe('an earlier attempt may still be applied', () => {
	expectOutcomes([
		{
			what: 'only asked to wait and rejected later, other values, changed since',
			mode: ['upsert', 'update', 'replace'],
			item: sent,
			known: rejects(sent),
			found: [otherTouched],
			outcome: { ...rejection, id: 'r1' },
		},
		{
			what: 'rejected later, other values, changed since',
			mode: ['upsert', 'update', 'replace'],
			item: running,
			known: rejects(running),
			found: [otherTouched],
			outcome: {
				...unknown(
					"too young; an earlier attempt may still be applied: Gateway gave up; the record holds 2 in 'n'",
				),
				id: 'r1',
			},
		},
		{
			what: 'lost for good and rejected later, other values, changed since',
			mode: ['upsert', 'update', 'replace'],
			answer: 'rejected',
			found: [otherTouched],
			outcome: {
				...unknown(
					"too young; an earlier attempt may have been applied: No response; the record holds 2 in 'n'",
				),
				id: 'r1',
			},
		},
		{
			what: 'lost for good and rejected later, other values, of unknown time',
			mode: 'update',
			answer: 'rejected',
			found: [stored({ n: 2 }, { modified: undefined })],
			outcome: 'unknown',
		},
		{
			what: 'rejected later, not there',
			mode: 'upsert',
			item: running,
			known: rejects(running),
			outcome: unknown('too young; an earlier attempt may still be applied: Gateway gave up'),
		},
		{
			what: 'rejected later, other values',
			mode: 'update',
			item: running,
			known: rejects(running),
			found: [other],
			outcome: {
				...unknown('too young; an earlier attempt may still be applied: Gateway gave up'),
				id: 'r1',
				status: 400,
			},
		},
		{
			what: 'rejected later, but it is there',
			mode: 'update',
			item: running,
			known: rejects(running),
			found: [same],
			outcome: 'unchanged',
		},
		{
			what: 'lost for good, and rejected later',
			mode: 'upsert',
			answer: 'rejected',
			outcome: rejection,
		},
		{
			what: 'rejected for good',
			mode: 'update',
			answer: 'rejected',
			found: [other],
			outcome: { ...rejection, id: 'r1' },
		},
		{
			what: 'not found according to the response, but it is there',
			mode: ['update', 'replace'],
			item: lost,
			known: { rejections: new Map([[lost, { ...rejection, outcome: 'notFound' }]]) },
			found: [other],
			outcome: { outcome: 'failed', id: 'r1' },
		},
	]);
});

describe('the stored record holds other values', () => {
	const holds = "the record holds 2 in 'n'";
	const part = sendableOf({ id: 'r1', fields: { n: 1 } });
	expectOutcomes([
		{
			what: 'it was changed during the run',
			mode: ['update', 'replace', 'upsert'],
			answer: 'silent',
			found: [stored({ n: 2 }, { modified: SINCE })],
			outcome: {
				...unknown(
					`the response did not mention it, and the record was changed during the run; ${holds}`,
				),
				id: 'r1',
				field: 'n',
			},
		},
		{
			what: 'it was changed during the run, and the response has one reason',
			mode: ['update', 'replace', 'upsert'],
			item: sent,
			known: responds({ errors: [{ message: 'too young' }] }),
			found: [stored({ n: 2 }, { modified: SINCE })],
			outcome: { outcome: 'failed', message: 'too young' },
		},
		{
			what: 'the response was lost',
			mode: ['update', 'replace', 'upsert'],
			answer: 'lost',
			found: [other],
			outcome: { ...unknown(`No response; ${holds}`), id: 'r1' },
		},
		{
			what: 'it was rejected',
			mode: ['update', 'replace', 'upsert'],
			answer: 'rejected',
			found: [other],
			outcome: { ...rejection, id: 'r1' },
		},
		{
			what: 'the response is silent',
			mode: ['update', 'replace', 'upsert'],
			answer: 'silent',
			found: [other],
			outcome: { outcome: 'failed', field: 'n' },
		},
		{
			what: 'a new one, the response has a reason, and lists a record that is gone',
			mode: 'create',
			item: sent,
			known: { ...responds({ errors: [{ message: 'must be unique' }] }), listsUnknownRecord: true },
			found: [otherNew],
			outcome: unknown('the response lists a record that is gone, without saying whose it was'),
		},
		{
			what: 'a field that a full update clears',
			mode: 'replace',
			item: part,
			known: silent,
			found: [stored({ sum: 5 })],
			outcome: { outcome: 'failed', field: 'code' },
		},
		{
			what: 'the response is silent',
			mode: 'update',
			answer: 'silent',
			found: [other],
			outcome: {
				outcome: 'failed',
				id: 'r1',
				field: 'n',
				message: `The response did not mention this item, and ${holds}`,
			},
		},
		{
			what: 'the response has one reason',
			mode: 'update',
			item: sent,
			known: responds({ errors: [{ message: 'too young', id: 'c' }] }),
			found: [other],
			outcome: { outcome: 'failed', id: 'r1', field: 'n', message: 'too young', code: 'c' },
		},
		{
			what: 'the response has several reasons',
			mode: 'update',
			item: sent,
			known: responds({ errors: [{ message: 'one' }, { message: 'two' }] }),
			found: [other],
			outcome: { message: `The response did not mention this item, and ${holds}`, code: undefined },
		},
		{
			what: 'the response was lost',
			mode: 'update',
			answer: 'lost',
			found: [other],
			outcome: { ...unknown(`No response; ${holds}`), id: 'r1' },
		},
		{
			what: 'a new one, the response was lost',
			mode: 'create',
			answer: 'lost',
			found: [otherNew],
			outcome: unknown(`No response; ${holds}`),
		},
		{
			what: 'a new one, the response is silent',
			mode: 'create',
			answer: 'silent',
			found: [otherNew],
			outcome: unknown(`the response did not mention it; ${holds}`),
		},
		{
			what: 'a new one, rejected later',
			mode: 'create',
			answer: 'rejected',
			found: [otherNew],
			outcome: rejection,
		},
		{
			what: 'a new one, the response has a reason',
			mode: 'create',
			item: sent,
			known: responds({ errors: [{ message: 'must be unique' }] }),
			found: [otherNew],
			outcome: { outcome: 'failed', message: 'must be unique' },
		},
		{
			what: 'in its key, which is how it was found',
			mode: 'upsert',
			answer: 'silent',
			found: [stored({ code: 'A' })],
			outcome: 'unchanged',
		},
		{
			what: 'in its key',
			mode: 'update',
			answer: 'silent',
			found: [stored({ code: 'A' })],
			outcome: { outcome: 'failed', field: 'code' },
		},
		{
			what: 'not in its key',
			mode: 'upsert',
			answer: 'silent',
			found: [other],
			outcome: { outcome: 'failed', field: 'n' },
		},
	]);
});

describe('the stored record holds what was sent', () => {
	const part = sendableOf({ id: 'r1', fields: { n: 1 } });
	expectOutcomes([
		{
			what: 'and is as old as it was',
			mode: ['upsert', 'update', 'replace'],
			answer: 'silent',
			found: [same],
			outcome: 'unchanged',
		},
		{
			what: 'and is as old as it was, the response was lost',
			mode: ['upsert', 'update', 'replace'],
			answer: 'lost',
			found: [same],
			outcome: 'unchanged',
		},
		{
			what: 'and was changed since, the response was lost',
			mode: ['upsert', 'update', 'replace'],
			answer: 'lost',
			found: [sameTouched],
			outcome: 'updated',
		},
		{
			what: 'and nobody knows since when, the response was lost',
			mode: ['upsert', 'update', 'replace'],
			answer: 'lost',
			found: [stored({}, { modified: undefined, ver: undefined })],
			outcome: { outcome: 'unknown', id: 'r1', message: expect.stringContaining('since when') },
		},
		{
			what: 'and the response lists it',
			mode: ['upsert', 'update', 'replace'],
			item: sent,
			known: responds({ data: [{ id: 'r1' }] }),
			found: [other],
			outcome: { outcome: 'updated', id: 'r1' },
		},
		{
			what: 'without a field that is not sent',
			mode: 'update',
			item: part,
			known: silent,
			found: [stored({ sum: 5 })],
			outcome: 'unchanged',
		},
		{
			what: 'and nothing in a field that is cleared',
			mode: 'replace',
			item: part,
			known: silent,
			found: [stored({ code: null, sum: 5 })],
			outcome: 'unchanged',
		},
		{ what: 'and is new', mode: 'create', answer: 'silent', found: [sameNew], outcome: 'inserted' },
		{
			what: 'and is listed',
			mode: 'create',
			item: sent,
			known: responds({ data: [{ id: 'r1' }] }),
			found: [sameNew],
			outcome: 'inserted',
		},
		{
			what: 'and is new, changed by another writer',
			mode: 'create',
			answer: 'lost',
			found: [stored({}, { created: SINCE })],
			outcome: { outcome: 'inserted', id: 'r1' },
		},
		{
			what: 'and there was none before, the response is silent',
			mode: 'upsert',
			item: { ...sent, before: null },
			known: silent,
			found: [same],
			outcome: 'inserted',
		},
		{
			what: 'and of several the one that the response lists counts',
			mode: 'upsert',
			item: sent,
			known: responds({ data: [{ id: 'r2' }] }),
			found: [same, { ...otherNew, id: 'r2' }],
			outcome: { outcome: 'inserted', id: 'r2' },
		},
		{
			what: 'and is as old as it was',
			mode: 'update',
			answer: 'silent',
			found: [same],
			outcome: { outcome: 'unchanged', ver: 1 },
		},
		{
			what: 'and was changed since',
			mode: 'update',
			answer: 'silent',
			found: [sameTouched],
			outcome: 'updated',
		},
		{
			what: 'and was changed since, by the lost attempt',
			mode: 'update',
			answer: 'lost',
			found: [sameTouched],
			outcome: 'updated',
		},
		{
			what: 'and was changed since, but not by this run: the response lists all it did',
			mode: 'update',
			item: sent,
			known: complete,
			found: [sameTouched],
			outcome: 'unchanged',
		},
		{
			what: 'and was changed since; the response lists all that its last attempt did',
			mode: 'update',
			item: lost,
			known: complete,
			found: [sameTouched],
			outcome: 'updated',
		},
		{ what: 'and is new', mode: 'upsert', answer: 'lost', found: [sameNew], outcome: 'inserted' },
		{
			what: 'and is new, though it was silent',
			mode: 'upsert',
			answer: 'silent',
			found: [sameNew],
			outcome: 'inserted',
		},
		{
			what: 'and is new',
			mode: 'create',
			answer: 'lost',
			found: [sameNew],
			outcome: { outcome: 'inserted', created: SINCE },
		},
		{ what: 'and is new', mode: 'update', answer: 'lost', found: [sameNew], outcome: 'updated' },
		{
			what: 'and is new, but this run inserted nothing',
			mode: 'upsert',
			item: sent,
			known: complete,
			found: [sameNew],
			outcome: 'unchanged',
		},
		{
			what: 'and is new, but this run inserted nothing',
			mode: 'upsert',
			item: sent,
			known: responds({ bulk: { insertedCount: 0 } }),
			found: [sameNew],
			outcome: 'unchanged',
		},
		{
			what: 'and is new; the last attempt inserted nothing, the lost one may have',
			mode: 'upsert',
			item: lost,
			known: responds({ bulk: { insertedCount: 0 } }),
			found: [sameNew],
			outcome: 'inserted',
		},
		{
			what: 'and is new, changed later: another writer inserted it',
			mode: 'upsert',
			answer: 'silent',
			found: [stored({}, { created: SINCE, modified: LATER })],
			outcome: 'updated',
		},
		{
			what: 'and is new, of unknown change',
			mode: 'upsert',
			answer: 'silent',
			found: [stored({}, { created: SINCE, modified: undefined })],
			outcome: 'inserted',
		},
		{
			what: 'and is new, changed later; the lost attempt may have inserted it',
			mode: 'upsert',
			item: lost,
			known: silent,
			found: [stored({}, { created: SINCE, modified: LATER })],
			outcome: 'inserted',
		},
		{
			what: 'and there was none before',
			mode: 'upsert',
			item: { ...lost, before: null },
			known: nothing,
			found: [same],
			outcome: 'inserted',
		},
		{
			what: 'and was inserted by this run before',
			mode: 'upsert',
			item: { ...lost, isInserted: true },
			known: nothing,
			found: [same],
			outcome: 'inserted',
		},
		{
			what: 'and only the newest of several counts',
			mode: 'upsert',
			answer: 'lost',
			found: [other, { ...sameNew, id: 'r2' }],
			outcome: { outcome: 'inserted', id: 'r2' },
		},
		{
			what: 'of several old ones the first counts',
			mode: 'upsert',
			answer: 'lost',
			found: [same, { ...other, id: 'r2' }],
			outcome: { outcome: 'unchanged', id: 'r1' },
		},
		{
			what: 'the response lists it in another order',
			mode: 'upsert',
			item: sent,
			known: responds({ data: [{ id: 'r1' }] }),
			found: [same, { ...sameNew, id: 'r2' }],
			outcome: { outcome: 'updated', id: 'r1' },
		},
		{
			what: 'the response lists it, with times that count more than what is stored',
			mode: 'upsert',
			item: sent,
			known: responds({ data: [{ id: 'r1', created: SINCE, modified: SINCE, ver: 0 }] }),
			found: [stored({ n: 5 }, { created: SINCE, modified: LATER, ver: 7 })],
			outcome: { outcome: 'inserted', modified: SINCE, ver: 0 },
		},
	]);

	const file = sendableOf({ id: 'r1', fields: { file: 'https://example.com/a' } });
	const open = "whether 'file' holds what was sent can't be seen from the record";
	const withFile = storedOf({ id: 'r1', ver: 3, fields: { file: [{ fileId: 'f' }] } });
	expectOutcomes([
		{
			what: 'as far as can be seen; the response is silent',
			mode: ['upsert', 'update', 'replace'],
			item: file,
			known: silent,
			found: [withFile],
			outcome: {
				...unknown(`the response did not mention it; ${open}`),
				id: 'r1',
				ver: 3,
				field: 'file',
			},
		},
		{
			what: 'as far as can be seen; the response was lost',
			mode: ['upsert', 'update', 'replace'],
			item: { ...file, previousAttempt: timedOut },
			known: nothing,
			found: [withFile],
			outcome: unknown(`No response; ${open}`),
		},
		{
			what: 'as far as can be seen, and was changed since',
			mode: ['upsert', 'update', 'replace'],
			item: file,
			known: silent,
			found: [{ ...withFile, modified: SINCE }],
			outcome: 'updated',
		},
	]);
});

test('of many reasons that may be an item’s only some are named', () => {
	const errors = Array.from({ length: 700 }, (_, index) => ({ message: `reason ${index}` }));
	const { message } = judge(sent, [], responds({ errors }), context('upsert'));
	expect(message).toContain('reason 4');
	expect(message!.length).toBeLessThan(1200);
});

describe('an item that the response leaves out, with a record that has other values', () => {
	const outcome = (last: LastChange, record = other) =>
		judge(sent, [record], silent, { ...context('update'), lastChangeBefore: last }).outcome;

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

describe('without a last change', () => {
	const resolve = (mode: WriteMode, found: PlatformRecord, prepared = lost) =>
		judge(prepared, [found], nothing, { ...context(mode), lastChangeBefore: undefined }).outcome;
	test('nothing counts as new, or as changed', () => {
		expect(resolve('create', sameNew)).toBe('unknown');
		expect(resolve('upsert', sameNew)).toBe('unknown');
		expect(resolve('update', sameTouched)).toBe('unknown');
	});
	test('but what did not exist before does', () => {
		expect(resolve('create', sameNew, { ...lost, before: null })).toBe('inserted');
	});
});

test('a record that another item of the run inserted, and nobody changed, is unchanged', () => {
	const run = { ...context('upsert'), key: 'code', inserted: new Set(['r1']) };
	const { outcome } = judge(sent, [sameNew], responds({ bulk: { insertedCount: 0 } }), run);
	expect(outcome).toBe('unchanged');
	const other = { ...run, inserted: new Set<string>() };
	expect(judge(sent, [sameTouched], responds({}), other).outcome).toBe('updated');
});

describe('a new record that the response does not list, but others', () => {
	const listed = (created: string, modified: string) => ({ id: 'r2', created, modified });
	test.each<{ what: string; insertedCount?: number; data: object[]; outcome: string }>([
		{ what: 'it counts none', insertedCount: 0, data: [], outcome: 'unchanged' },
		{
			what: 'it counts the one that it lists',
			insertedCount: 1,
			data: [listed(SINCE, SINCE)],
			outcome: 'unchanged',
		},
		{
			what: 'it counts one, and lists one that it updated',
			insertedCount: 1,
			data: [listed(SINCE, LATER)],
			outcome: 'inserted',
		},
		{
			what: 'it counts one, and lists an older one',
			insertedCount: 1,
			data: [listed(BEFORE, BEFORE)],
			outcome: 'inserted',
		},
		{
			what: 'it counts one, and lists one without times',
			insertedCount: 1,
			data: [{ id: 'r2' }],
			outcome: 'inserted',
		},
		{
			what: 'it counts two, and lists one',
			insertedCount: 2,
			data: [listed(SINCE, SINCE)],
			outcome: 'inserted',
		},
		{ what: 'it counts none, and lists one', data: [listed(SINCE, SINCE)], outcome: 'inserted' },
	])('$what: $outcome', ({ insertedCount, data, outcome }) => {
		const known = { response: responseOf({ bulk: { insertedCount }, data }, 2) };
		expect(judge(sent, [sameNew], known, context('upsert'))).toMatchObject({ outcome });
		// Whoever inserted it, someone has changed it since.
		const changed = stored({}, { created: SINCE, modified: LATER });
		expect(judge(sent, [changed], known, context('upsert'))).toMatchObject({ outcome: 'updated' });
	});
});

test.each(MODES)('an unknown %s says what to do', (mode) => {
	const { outcome, message, hint } = unknownItem(mode, 'reason');
	expect(outcome).toBe('unknown');
	expect(message).toContain('Unknown whether this record was written: reason');
	if (mode === 'create') expect(hint).toEqual({ code: 'lookBeforeCreatingAgain' });
	else expect(hint).toContain('It is safe to run it again');
});

describe('the table', () => {
	test.each(MODES)('of %s: the cases above reach every row', (mode) => {
		const missed = JUDGEMENTS[mode].filter((row) => !reached[mode].has(row));
		expect(missed.map(([facts]) => facts)).toEqual([]);
	});

	const facts: { [Fact in keyof Situation]: ReadonlyArray<Situation[Fact]> } = {
		answer: ['silent', 'reasons', 'lost', 'rejected'],
		record: ['missing', 'listed', 'different', 'unproven', 'same'],
		isWritten: [true, false],
		mayBeWritten: [true, false],
		mayBeChanged: [true, false],
		isUntouched: [true, false],
		wasLost: [true, false],
		isInserted: [true, false],
		listsGoneRecord: [true, false],
	};
	const situations = Object.entries(facts).reduce<object[]>(
		(all, [name, values]) =>
			all.flatMap((situation) => values.map((value) => ({ ...situation, [name]: value }))),
		[{}],
	) as Situation[];

	test.each(MODES)('of %s decides every situation', (mode) => {
		expect(situations.length).toBeGreaterThan(1000);
		for (const situation of situations) {
			expect(judgementOn(mode, situation)).toHaveLength(2);
		}
	});
});

test.each([undefined, true])(
	'an unknown item says how its attempt ended (single: %s)',
	(isSingle) => {
		const previousAttempt = new ServiceError('The platform failed', {
			delivery: 'ambiguous',
			status: 500,
			retryAfterMs: 7000,
		});
		const entry = { ...sendableOf({ id: 'r1', fields: { n: 1 } }), previousAttempt };
		const found = [storedOf({ id: 'r1', fields: { n: 2 } })];
		const outcome = judge(entry, found, {}, { ...context('update'), isSingle });
		expect(outcome).toMatchObject({ outcome: 'unknown', status: 500, retryAfterMs: 7000 });
	},
);
