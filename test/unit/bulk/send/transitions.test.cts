/** What follows from the result of a piece of work. */
import type { PlatformRecord } from '../../../../nodes/DataPlatform/api/types.ts';
import { asBulk } from '../../../../nodes/DataPlatform/bulk/send/single.ts';
import {
	afterCompare,
	afterLookUp,
	afterSend,
	giveUp,
	type ReconcileWork,
	type WorkResult,
} from '../../../../nodes/DataPlatform/bulk/send/transitions.ts';
import { notSentItem } from '../../../../nodes/DataPlatform/bulk/outcome.ts';
import type { ApiResponse } from '../../../../nodes/DataPlatform/transport/client.ts';
import type { ServiceError } from '../../../../nodes/DataPlatform/transport/errors.ts';
import { sendableOf, storedOf } from '../../fixtures.cts';
import { context, failure, lost, SINCE } from '../../outcomeFixtures.cts';
import type { Entry, Report, Reported, WriteMode } from '../../../../nodes/DataPlatform/bulk/terms.ts';

/** `ab+`: two records whose IDs and keys are these letters; the second had a lost attempt. */
const entriesOf = (text: string) =>
	[...text.matchAll(/(\w)(\+*)/g)].map(([, letter, attempts], index) =>
		sendableOf({
			...{ index, id: letter, key: letter, fields: { code: letter! } },
			attempts: attempts ? [...attempts].map(() => lost) : undefined,
		}),
	);

const describeEntries = (entries: readonly Entry[]) =>
	entries.map(({ key, attempts = [] }) => `${key}${'+'.repeat(attempts.length)}`).join('');

/** A step in words, such as `updated a; send bc`. */
function describeStep({ outcomes, work, stop }: WorkResult): string {
	const byOutcome = Map.groupBy(outcomes, ([, { outcome, notAttempted }]) => (notAttempted ? 'not sent' : outcome));
	const byReport = work.flatMap((piece) =>
		piece.kind === 'send'
			? [`send ${describeEntries(piece.records)}`]
			: [...Map.groupBy(piece.reports, ([, { as }]) => as)].map(
					([as, reports]) => `look up ${describeEntries(reports.map(([entry]) => entry))}, ${as}`,
				),
	);
	return [
		...[...byOutcome].map(([outcome, items]) => `${outcome} ${describeEntries(items.map(([entry]) => entry))}`),
		...byReport,
		...(stop ? [`stop: ${stop.message}`] : []),
	].join('; ');
}

const listed = (ids: string) => [...ids].map((id) => ({ id, modified: SINCE, ver: 2 }));
const errorAt = (...indexes: number[]) => indexes.map((RecordIndex) => ({ RecordIndex, message: 'bad' }));

/** A response that lists records, counts successes, and has errors at some positions. */
const responds = (ids: string, successCount: number, errors: number[] = [], more = {}) =>
	({ status: 200, body: { data: listed(ids), bulk: { successCount }, errors: errorAt(...errors) }, ...more }) as unknown as ApiResponse;
/** The platform rejects a batch, and may name records. */
const rejects = (status = 400, ...errors: number[]) =>
	failure('rejected', status, { body: { errors: errors.length > 0 ? errorAt(...errors) : [{ message: 'bad' }] } });
/** Something in between rejects it. */
const gateway = (status: number) => failure('rejected', status);
/** A rejection that follows an attempt of unknown result. */
const late = (rejection: ServiceError) => failure('ambiguous', undefined, { rejection });
const partly = { body: { data: listed('a'), errors: errorAt(1) } };
const afterLost = { previousAttempt: lost };
const outOfTime = failure('ambiguous', 503, { isRetryBudgetSpent: true });

type Row = [what: string, sent: string, result: ApiResponse | ServiceError, follows: string];

/** What follows from each way in which the request of a batch can end. */
const ENDINGS: Record<string, Row[]> = {
	responded: [
		['lists all', 'ab', responds('ba', 2), 'updated ab'],
		['omits one', 'abc', responds('ac', 3), 'updated ac; look up b, omitted'],
		['accounts for one', 'ab', responds('a', 1), 'updated a; look up b, unclear'],
		['names one', 'abc', responds('ac', 2, [1]), 'updated ac; failed b'],
		['names a lost one', 'ab+', responds('a', 1, [1]), 'updated a; look up b+, rejected'],
		['is late', 'ab', responds('a', 1, [1], afterLost), 'updated a+; look up b+, rejected'],
		['rejects', 'ab', failure('rejected', 400, partly), 'updated a+; look up b+, rejected'],
		['fails', 'ab', failure('ambiguous', 500, partly), 'updated a+; look up b+, rejected'],
	],
	lost: [
		['leaves all open', 'ab+', lost, 'look up a+b++, lost'],
		['leaves no time', 'ab', outOfTime, 'look up a+b+, lost; stop: ambiguous 503'],
	],
	refused: [
		['for lack of rights', 'ab', rejects(403), 'failed ab; stop: rejected 403'],
		['after losses', 'ab+c++', rejects(401), 'failed a; look up b+c++, lost; stop: rejected 401'],
		['after a lost attempt', 'ab', late(rejects(401)), 'look up a+b+, lost; stop: rejected 401'],
		['before it was sent', 'ab', failure('notApplied', 400), 'failed ab; stop: notApplied 400'],
		['by cancellation', 'ab+', failure('canceled'), 'failed a; look up b+, lost; stop: canceled'],
		['by a redirect', 'ab', rejects(302), 'failed ab; stop: rejected 302'],
		['by a gateway that wants a login', 'ab', gateway(407), 'failed ab; stop: rejected 407'],
		['as never before', 'ab', rejects(500), 'failed ab; stop: rejected 500'],
	],
	rejectedAlone: [
		['fails', 'a', rejects(), 'failed a'],
		['may be written', 'a+', rejects(), 'look up a+, rejected'],
		['may just be written', 'a', late(rejects()), 'look up a+, rejected'],
		['is too large', 'a', rejects(413), 'failed a'],
	],
	rejectedTogether: [
		['are halved', 'abcde', rejects(), 'send abc; send de'],
		['keep their attempts', 'a+b', rejects(409), 'send a+; send b'],
		['get a lost attempt', 'a+b', late(rejects(422)), 'send a++; send b+'],
		['by a gateway', 'ab', gateway(403), 'send a; send b'],
		['by a gateway that finds no route', 'ab', gateway(404), 'send a; send b'],
		['as the storage is full', 'ab', rejects(507), 'send a; send b'],
		['by a status of the future', 'ab', rejects(499), 'send a; send b'],
	],
	rejectedByName: [
		['fail', 'abc', rejects(422, 1), 'failed b; send ac'],
		['are all', 'ab+', rejects(422, 0, 1), 'failed a; look up b+, rejected'],
		['may be written', 'a+b+', rejects(422, 1), 'look up b+, rejected; send a+'],
	],
	tooLarge: [
		['goes into smaller batches', 'ab+', rejects(413), 'send ab+'],
		['even if one is named', 'ab', rejects(413, 1), 'send ab'],
		['after a lost attempt', 'ab', late(rejects(413)), 'send a+b+'],
	],
};

const send = (records: Entry[], result: ApiResponse | ServiceError, mode: WriteMode = 'update') =>
	afterSend(records, result, context(mode));

describe.each(Object.entries(ENDINGS))('a batch of updates: %s', (_ending, rows) => {
	test.each(rows)('%s: %s', (_, sent, result, follows) => {
		const step = send(entriesOf(sent), result);
		expect(describeStep(step)).toBe(follows);
	});
});

test('an update that raised the version by two is not sent again: another writer came between', () => {
	const before = storedOf({ id: 'a', ver: 0 });
	expect(describeStep(send([{ ...entriesOf('a')[0]!, before }], responds('a', 1)))).toBe('updated a');
});

test.each([401, 402, 403, 404, 405, 406, 407, 408, 410, 411, 414, 415, 426, 429, 431])(
	'a batch of updates that gets a %i is refused: it is not about a record',
	(status) => {
		const step = send(entriesOf('ab'), rejects(status));
		expect(describeStep(step)).toBe(`failed ab; stop: rejected ${status}`);
	},
);

test('a rejection is kept until the record is looked up', () => {
	const [piece] = send(entriesOf('a+'), rejects()).work;
	const [[, report]] = (piece as ReconcileWork).reports as [Report];
	expect(report).toMatchObject({ as: 'rejected', rejection: { outcome: 'failed', status: 400 } });
});

test('a record without a key may be one that is listed, so it is counted', () => {
	const [a, b] = entriesOf('ab').map((entry) => ({ ...entry, id: undefined })) as [Entry, Entry];
	const { work } = send([{ ...a, key: undefined }, b], responds('x', 1), 'create');
	expect(work).toMatchObject([{ kind: 'reconcile', reports: [[b, { as: 'unclear' }]], unread: 1 }]);
});

test('a record without an ID and a key is not looked up', () => {
	const records = [sendableOf({ index: 0 }), sendableOf({ key: 'b' }), sendableOf({ id: 'c' })];
	const { outcomes, work } = send(records, lost, 'create');
	expect(outcomes).toMatchObject([[records[0], { outcome: 'unknown' }]]);
	const { reports } = work[0] as ReconcileWork;
	expect(reports.map(([entry]) => entry)).toMatchObject(records.slice(1));
});

test.each<[mode: WriteMode, id: string | undefined, outcome: string]>([
	['upsert', 'a', 'updated'],
	['upsert', undefined, 'inserted'],
	['replace', 'a', 'updated'],
	['create', undefined, 'inserted'],
])('%s of the ID %s: its response is read as that of the request: %s', (mode, id, outcome) => {
	const result = responds('a', 1);
	Object.assign(result.body.bulk as object, { insertedCount: 1 });
	expect(describeStep(send([{ ...entriesOf('a')[0]!, id }], result, mode))).toBe(`${outcome} a`);
});

test('records that are not sent any more are looked up if they may be written', () => {
	const step = giveUp(entriesOf('ab+c'), notSentItem(rejects(401)), context('update'));
	expect(describeStep(step)).toBe('not sent ac; look up b+, lost');
});

describe('after a look-up', () => {
	const unclear = (namesOthers: boolean, ...reasons: object[]): Reported => ({
		...{ as: 'unclear', reasons, namesOthers, listed: new Map() },
	});
	const fewer = { message: 'fewer' };
	const stored = (code: string) => [storedOf({ id: 'a', fields: { code } })];
	test.each<[string, WriteMode, Reported, found: PlatformRecord[], follows: string]>([
		['others are named', 'update', unclear(true, fewer), stored('x'), 'send a'],
		['others are named, and it is there', 'update', unclear(true, fewer), stored('a'), 'written a'],
		['others are named, and no reason', 'update', unclear(true), stored('x'), 'unknown a'],
		['none is named', 'update', unclear(false, fewer), stored('x'), 'failed a'],
		['it was rejected', 'update', { as: 'rejected', rejection: { outcome: 'failed' } }, [], 'failed a'],
		['it is gone', 'update', { as: 'lost' }, [], 'notFound a'],
		['it is gone: it is upserted', 'upsert', { as: 'lost' }, [], 'send a'],
	])('if %s: %s', (_, mode, report, found, follows) => {
		const [entry] = entriesOf('a') as [Entry];
		const step = afterLookUp({ kind: 'reconcile', reports: [[entry, report]], unread: 0 }, new Map([[entry, found]]), context(mode));
		expect(describeStep(step)).toBe(follows);
	});

	test.each<[mode: WriteMode, as: 'omitted' | 'unclear', found: string, unread: number, follows: string]>([
		['upsert', 'omitted', 'x', 0, 'inserted a; failed b'],
		['upsert', 'omitted', 'y', 0, 'unchanged a; unknown b'],
		['upsert', 'omitted', '', 0, 'unknown ab'],
		['upsert', 'unclear', 'x', 0, 'inserted a; send b'],
		['upsert', 'unclear', 'y', 0, 'written a; unknown b'],
		['create', 'unclear', 'x', 0, 'inserted a; send b'],
		['create', 'unclear', '', 0, 'unknown ab'],
		['create', 'unclear', '', 1, 'send ab'],
		['update', 'unclear', 'y', 0, 'written a; notFound b'],
	])('%s: if x is listed, a %s and found as %s, b missing, %s have no key: %s', (mode, as, id, unread, follows) => {
		const listed = new Map([['x', { record: { id: 'x' }, isNew: true }]]);
		const report = { ...unclear(true, fewer), as, listed } as Reported;
		const [a, b] = entriesOf('ab').map((entry) => (mode === 'update' ? entry : { ...entry, id: undefined })) as [Entry, Entry];
		const found = id ? [storedOf({ id, fields: { code: 'a' } })] : [];
		const stored = new Map([
			[a, found],
			[b, []],
		]);
		const reports: Report[] = [
			[a, report],
			[b, report],
		];
		expect(describeStep(afterLookUp({ kind: 'reconcile', reports, unread }, stored, context(mode)))).toBe(follows);
	});

	test('a record that was deleted since is upserted whole, by its key', () => {
		const fields = { code: 'a', n: 1 };
		const before = storedOf({ id: 'a' });
		const entry = { ...entriesOf('a+')[0]!, fields, sent: { n: 1 }, before };
		const report: Reported = { as: 'omitted', listed: new Map() };
		const { work } = afterLookUp({ kind: 'reconcile', reports: [[entry, report]], unread: 0 }, new Map([[entry, []]]), context('upsert'));
		expect(work).toEqual([{ kind: 'send', records: [{ index: 0, id: undefined, key: 'a', fields, before: null, attempts: [lost] }] }]);
	});
});

test.each<[what: string, mode: WriteMode, sent: string, result: ApiResponse, follows: string]>([
	['none listed', 'upsert', 'ab', responds('', 2), 'unchanged ab'],
	['one listed', 'upsert', 'ab', responds('x', 2), 'look up ab, omitted'],
	['a lost attempt', 'upsert', 'ab+', responds('', 2), 'unchanged a; look up b+, omitted'],
	['not all counted', 'upsert', 'ab', responds('', 1), 'look up ab, unclear'],
	['an update by ID, whose record may be gone', 'update', 'ab', responds('', 2), 'look up ab, omitted'],
])('if nobody asks for IDs, nothing that was counted is looked up only for them: %s', (_, mode, sent, result, follows) => {
	const withId = mode === 'update';
	const records = entriesOf(sent).map((entry) => (withId ? entry : { ...entry, id: undefined }));
	const step = (withoutIds: boolean) => describeStep(afterSend(records, result, { ...context(mode), withoutIds }));
	expect([step(true), step(false)]).toEqual([follows, expect.stringMatching(/^look up ab/)]);
});

describe('after records were compared', () => {
	const [a, b, c] = entriesOf('abc') as [Entry, Entry, Entry];
	const other = [storedOf({ id: 'b', fields: { code: 'x' } })];
	const compare = (entries: Entry[], found: Parameters<typeof afterCompare>[1], isDryRun = false) =>
		afterCompare(entries, found, context('update'), isDryRun);

	test('those that differ are sent', () => {
		const same = [storedOf({ id: 'a', fields: { code: 'a' } })];
		const step = compare(
			[a, b, c],
			new Map([
				[a, same],
				[b, other],
				[c, []],
			]),
		);
		expect(describeStep(step)).toBe('unchanged a; notFound c');
		expect(step.differing).toMatchObject([{ before: other[0], sent: { code: 'b' } }]);
	});

	test('those that were read before count as they were', () => {
		const entries = [
			{ ...a, before: storedOf({ id: 'a', fields: { code: 'a' } }) },
			{ ...b, before: null },
		];
		expect(describeStep(compare(entries, new Map()))).toBe('unchanged a; notFound b');
	});

	test('nothing is sent in a dry run', () => {
		expect(describeStep(compare([b], new Map([[b, other]]), true))).toBe('updated b');
	});

	test('nothing is sent if they could not be read', () => {
		expect(describeStep(compare([a, b], rejects(403)))).toBe('failed ab; stop: rejected 403');
	});
});

test.each([
	['is missing', [], 'notFound a'],
	['is there nevertheless', [storedOf({ id: 'a', fields: { code: 'old' } })], 'failed a'],
])('a record that its own request does not find, and that %s', (_, found, follows) => {
	const [entry] = entriesOf('a');
	const step = afterSend([entry!], asBulk(entry!, rejects(404)) as ApiResponse, context('update'));
	expect(describeStep(step)).toBe('look up a, unclear');
	expect(describeStep(afterLookUp(step.work[0] as ReconcileWork, new Map([[entry!, found]]), context('update')))).toBe(follows);
});
