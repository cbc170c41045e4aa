/** The outcome of an item, from what its request reports and what look-ups show. */
import { sendableOf, storedOf } from '../../fixtures.cts';
import { BEFORE, context, failure, lost, pending, SINCE } from '../../outcomeFixtures.cts';
import type { PlatformRecord, RecordMetadata } from '../../../../nodes/DataPlatform/api/types.ts';
import { resolveOutcome, rowFor, ROWS, unreadItem, type Situation } from '../../../../nodes/DataPlatform/bulk/resolve/resolveOutcome.ts';
import { ServiceError } from '../../../../nodes/DataPlatform/transport/errors.ts';
import type { Entry, Listed, Reported, WriteMode } from '../../../../nodes/DataPlatform/bulk/terms.ts';

/**
 * All possible situations. How each is written in the table below:
 *
 * - reported: `new`, `old`, `listed` and `first` are listed as inserted, as updated, without saying so, and that in
 *   the first version;
 *   `counted` is an omitted creation; `reasons` is unclear, and says why records were not written. A
 *   `+` stands for attempts of unknown result, before or now; a `*` for with or without them.
 * - later: whether such an attempt may be applied later
 * - after: `same` has the values that were sent, `first` as it was created, `version` in the version from before the write;
 *   `different` has others, `kept` in the version from before the write; `unproven` does not show it
 */
const DOMAIN = {
	kind: ['create', 'upsert', 'update'],
	report: ['new', 'old', 'listed', 'first', 'counted', 'omitted', 'rejected', 'unclear', 'reasons', 'lost'],
	attempt: ['', '+'],
	later: ['no', 'yes'],
	before: ['unread', 'missing', 'found'],
	after: ['unread', 'missing', 'same', 'first', 'version', 'different', 'kept', 'unproven'],
};
type Facts = Record<keyof typeof DOMAIN, string>;

const LISTED: Record<string, boolean | undefined> = { new: true, old: false, listed: undefined, first: undefined };
const isListed = (report: string) => Object.hasOwn(LISTED, report);

const isCounted = (report: string) => report === 'omitted' || report === 'counted';

const isPossible = ({ kind, report, attempt, later, before, after }: Facts) =>
	// An upsert of a record that was found is sent as an update.
	before !== (kind === 'update' ? 'missing' : 'found') &&
	report !== (kind === 'create' ? 'omitted' : 'counted') &&
	(report !== 'lost' || attempt === '+') &&
	(later === 'no' || attempt === '+') &&
	(after === 'unread' || !isListed(report)) &&
	(before === 'found' || (after !== 'version' && after !== 'kept')) &&
	// What the service compared is not compared again.
	(['unread', 'missing', 'same', 'first', 'version'].includes(after) || !isCounted(report));

const SITUATIONS = Object.entries(DOMAIN)
	.reduce<Array<Partial<Facts>>>((all, [name, words]) => all.flatMap((one) => words.map((word) => ({ ...one, [name]: word }))), [{}])
	.filter((facts): facts is Facts => isPossible(facts as Facts));

/** A response, if any, that does not say what became of the item. */
const OPEN = 'lost+,unclear*,reasons*,omitted+,rejected+';

/** The outcome of each situation. Wherever several lines fit, they agree. */
const TABLE = `
	kind           reported                                    later  before   after           outcome
	update         new*,old*,listed*,first*                    *      *        *               updated
	create         new*,old*,listed*,first*                    *      *        *               inserted
	upsert         new*                                        *      *        *               inserted
	upsert         old                                         *      *        *               updated
	upsert         listed                                      *      *        *               written
	upsert         first*                                      *      missing  *               inserted
	upsert         first*                                      *      unread   *               written
	upsert         old+,listed+                                *      *        *               written
	*              rejected                                    *      *        *               rejection
	create         counted*                                    *      *        *               inserted
	update         omitted,open                                *      *        missing         notFound
	upsert         omitted                                     *      *        missing         failed
	upsert,update  omitted                                     *      *        same,first,version  unchanged
	upsert         omitted                                     *      *        unread          written
	update         omitted                                     *      *        unread          unknown
	create         reasons                                     *      *        same,first      unknown
	upsert,update  open                                        *      missing  first           inserted
	upsert,update  open                                        *      missing  same            written
	create         lost+,unclear*,reasons+,omitted+,rejected+  *      missing  same,first      inserted
	update         open                                        *      found    version         unchanged
	update         open                                        *      found    same,first      updated
	upsert,update  open                                        *      unread   same,first      written
	create         open                                        *      unread   same,first      unknown
	*              rejected+                                   no     unread   different       rejection
	*              rejected+                                   no     found    kept            rejection
	*              rejected+                                   *      missing  different       unknown
	*              rejected+                                   *      found    different       unknown
	*              rejected+                                   *      *        unproven        unknown
	*              rejected+                                   yes    *        different,kept  unknown
	*              reasons                                     *      *        different,kept  failed
	create,upsert  reasons                                     *      *        missing         failed
	*              lost+,unclear*,reasons+                     *      *        different,kept  unknown
	*              lost+,unclear*,reasons*                     *      *        unproven        unknown
	create,upsert  lost+,unclear*,reasons+,omitted+,rejected+  *      *        missing         unknown
	*              open                                        *      *        unread          unknown
`;
const [, ...LINES] = TABLE.trim()
	.split('\n')
	.map((line) => line.trim().split(/\s+/) as [string, string, string, string, string, string]);

const isOneOf = (words: string, word: string) => words === '*' || words.split(',').includes(word);

function fits([kind, reported, later, before, after]: (typeof LINES)[number], facts: Facts) {
	const reports = reported.replace('open', OPEN);
	return (
		isOneOf(kind, facts.kind) &&
		(isOneOf(reports, `${facts.report}${facts.attempt}`) || isOneOf(reports, `${facts.report}*`)) &&
		isOneOf(later, facts.later) &&
		isOneOf(before, facts.before) &&
		isOneOf(after, facts.after)
	);
}

const rejection = { outcome: 'failed', message: 'bad', code: 'c', status: 400 } as const;
const noneListed = new Map<string, Listed>();

function reportOf({ report }: Pick<Facts, 'report'>): Reported {
	if (isListed(report)) return { as: 'listed', record: { id: 'x', ver: report === 'first' ? 0 : undefined }, isNew: LISTED[report] };
	if (report === 'rejected') return { as: 'rejected', rejection };
	if (report === 'lost') return { as: 'lost' };
	if (isCounted(report)) return { as: 'omitted', listed: noneListed };
	const reasons = report === 'reasons' ? [{ message: 'why' }] : [];
	return { as: 'unclear', reasons, namesOthers: false, listed: noneListed };
}

const attemptsOf = ({ attempt, later }: Facts) => {
	if (attempt === '') return undefined;
	return later === 'yes' ? [pending, lost] : [lost];
};

const RECORDS: Record<string, ReturnType<typeof storedOf>> = {
	found: storedOf({ id: 'x', ver: 1, fields: { code: 'k', n: 0 } }),
	same: storedOf({ id: 'x', ver: 2, fields: { code: 'k', n: 1 } }),
	first: storedOf({ id: 'x', ver: 0, fields: { code: 'k', n: 1 } }),
	version: storedOf({ id: 'x', ver: 1, fields: { code: 'k', n: 1 } }),
	kept: storedOf({ id: 'x', ver: 1, fields: { code: 'k', n: 0 } }),
	unproven: storedOf({ id: 'x', ver: 2, fields: { code: 'k', n: 'one' } }),
	different: storedOf({ id: 'x', ver: 2, fields: { code: 'k', n: 2 } }),
};
const READINGS: Record<string, null> = { missing: null };

const item: Entry = sendableOf({ key: 'k', fields: { code: 'k', n: 1 } });

/** The outcome of an item in a situation. */
function resolveIn(facts: Facts) {
	const { kind, report, before, after } = facts;
	const entry: Entry = {
		...item,
		id: kind === 'update' ? 'x' : undefined,
		before: RECORDS[before] ?? READINGS[before],
		attempts: attemptsOf(facts),
	};
	// What is omitted counts as the same, whatever it holds.
	const record = report === 'omitted' && after === 'same' ? RECORDS.different : RECORDS[after];
	const found = after === 'unread' ? undefined : [record].flatMap((each) => each ?? []);
	return resolveOutcome(entry, reportOf(facts), context(kind as WriteMode), found);
}

test.each(LINES)('%s, %s, later %s, before %s, after %s: %s', (...line) => {
	const situations = SITUATIONS.filter((facts) => fits(line, facts));
	expect(situations).not.toEqual([]);
	for (const facts of situations) {
		const { outcome, message = '' } = resolveIn(facts);
		const isRejection = message.startsWith(rejection.message);
		expect({ ...facts, outcome: isRejection ? 'rejection' : outcome }).toEqual({ ...facts, outcome: line.at(-1) });
	}
});

test('every situation has a line', () => {
	expect(SITUATIONS.filter((facts) => !LINES.some((line) => fits(line, facts)))).toEqual([]);
});

test('every row decides a situation', () => {
	const situations = SITUATIONS.map(({ kind, report, attempt, later, before, after }) => ({
		kind,
		reported: reportOf({ report }).as,
		isNew: LISTED[report],
		wasLost: attempt === '+',
		isPending: later === 'yes',
		hasReasons: report === 'reasons',
		before,
		after: { version: 'same', first: 'same', kept: 'different' }[after] ?? after,
		isFirstVersion: after === 'first' || report === 'first',
		isSameVersion: after === 'version' || after === 'kept',
	}));
	expect(new Set((situations as Situation[]).map(rowFor))).toEqual(new Set(ROWS));
});

const by = (id: string, n: number, more = {}) => storedOf({ id, fields: { code: 'k', n }, ...more });
const [same, other] = [by('x', 1, { ver: 4 }), by('x', 2)];
const listedAs = (record: Partial<RecordMetadata>): Reported => ({ ...{ as: 'listed', record: { id: 'x', ...record }, isNew: true } });
const unclear = (...reasons: object[]): Reported => ({ ...{ as: 'unclear', reasons, namesOthers: false, listed: noneListed } });
const omitted: Reported = { as: 'omitted', listed: noneListed };
const noResponse: Reported = { as: 'lost' };
const rejected: Reported = { as: 'rejected', rejection };
type Found = PlatformRecord[] | undefined;
const unread = undefined;
const busy = failure('ambiguous', 503, { retryAfterMs: 7 });

/** The outcome of an upsert that was looked up, or not. */
const resolve = (report: Reported, found?: PlatformRecord[], more: Partial<Entry> = {}) =>
	resolveOutcome({ ...item, ...more }, report, context('upsert'), found);

const attempts = [lost];

describe('the record of an outcome is', () => {
	const metadata = { id: 'x', created: BEFORE, modified: BEFORE, ver: 4 };
	test.each<[what: string, Reported, Found, object]>([
		['what is listed', listedAs({ ver: 0 }), undefined, { outcome: 'inserted', id: 'x', ver: 0 }],
		['rather what is listed', listedAs({ modified: SINCE }), [same], { modified: SINCE }],
		['what was found, if no time is listed', listedAs({}), [same], metadata],
		['what was found', noResponse, [same], { outcome: 'written', ...metadata }],
		['the one with its values', noResponse, [other, by('y', 1), by('z', 1)], { id: 'y' }],
		['the one with its values, also if that is the first', noResponse, [by('y', 1), other, by('z', 1)], { id: 'y' }],
		['the first, if none has its values', unclear({}), [other, by('y', 3)], { id: 'x' }],
	])('%s', (_, report, found, expected) => {
		expect(resolve(report, found)).toMatchObject(expected);
	});

	test.each([
		['nothing was found', []],
		['it may be another one', [other]],
	])('not named if %s', (_, found) => {
		expect(resolve(noResponse, found)).not.toHaveProperty('id');
	});

	test('not told, if it was only counted and several have its key', () => {
		const outcome = resolve(omitted, [by('x', 1), by('y', 1)]);
		expect(outcome).toMatchObject({ outcome: 'unchanged' });
		expect(outcome.id).toBeUndefined();
	});

	test('the one that is listed, though another has its values', () => {
		const listed = new Map([['y', { record: { id: 'y', modified: SINCE }, isNew: false }]]);
		const found = [by('x', 1), by('y', 2)];
		for (const as of ['omitted', 'unclear'] as const) {
			const report = { ...(as === 'omitted' ? omitted : unclear()), listed } as Reported;
			expect(resolve(report, found)).toMatchObject({ ...{ outcome: 'updated', id: 'y', modified: SINCE } });
		}
	});

	test('known for an update, whatever its outcome', () => {
		const entry = { ...item, id: 'x' };
		const outcome = resolveOutcome(entry, noResponse, context('upsert'), [other]);
		expect(outcome).toMatchObject({ outcome: 'unknown', id: 'x' });
		expect(resolveOutcome(entry, noResponse, context('replace'), [])).toEqual({
			outcome: 'notFound',
			id: 'x',
			message: "The table has no record with the ID 'x'",
			hint: "Check the ID; the record may have been deleted. If you meant to match by something else, such as an e-mail address, set 'Match On' to 'Import Key' or 'Other Fields'.",
		});
	});
});

describe('the message', () => {
	const held = "; the record holds 2 in 'n'";
	const isEmpty = "; the record holds null in 'n'";
	const unseen = "; whether 'n' holds what was sent can't be seen from the record";
	const absent = "; a look-up did not find the key 'k'";
	const empty = storedOf({ id: 'x', fields: { code: 'k' } });
	const [why, a, b] = ['why', 'a', 'b'].map((message) => ({ message })) as [object, object, object];
	const said = new ServiceError('lost; a retry was rejected: bad', { delivery: 'ambiguous' });
	type Message = [why: string, Reported, ServiceError[], Found];

	test.each<Message>([
		['ambiguous', noResponse, attempts, unread],
		['ambiguous', noResponse, [busy, lost], unread],
		['ambiguous 504', noResponse, [pending, lost], unread],
		[`ambiguous${held}`, noResponse, attempts, [other]],
		[`ambiguous${isEmpty}`, noResponse, attempts, [empty]],
		[`ambiguous${absent}`, noResponse, attempts, []],
		['the response did not mention it', unclear(), [], unread],
		[`ambiguous${unseen}`, noResponse, attempts, [RECORDS.unproven!]],
		// Of several, the one that may hold what was sent.
		[`ambiguous${unseen}`, noResponse, attempts, [other, RECORDS.unproven!]],
		['ambiguous 503; a retry was rejected: bad', rejected, [lost, busy], unread],
		[`ambiguous 504; a retry was rejected: bad${held}`, rejected, [pending], [other]],
		[said.message, rejected, [said], unread],
	])('of an unknown outcome: %s', (message, report, attempts, found) => {
		const { message: text } = resolve(report, found, { attempts });
		expect(text).toBe(`Unknown whether this record was written: ${message}`);
	});

	test('of a creation that may have been made before: the record is named', () => {
		const { outcome, message } = resolveOutcome({ ...item, attempts }, noResponse, context('create'), [same]);
		expect([outcome, message]).toEqual([
			'unknown',
			"Unknown whether this record was written: ambiguous; the table has a record 'x' with its values, which may have been there before",
		]);
	});

	test.each<Message>([
		[`why${held}`, unclear(why), [], [other]],
		[`a; b${absent}`, unclear(a, b), [], []],
		[`no reason given${held}`, unclear({}), [], [other]],
	])('of one that was not written: %s', (message, report, attempts, found) => {
		const { message: text } = resolve(report, found, { attempts });
		expect(text).toBe(`The platform did not write this record; its response does not say which item it means: ${message}`);
	});

	const counted = "The platform counted this record as written, but no record has the import key 'k': it may have been deleted since";
	test.each<Message>([
		['bad', rejected, [], unread],
		[`bad${held}`, rejected, [lost], [other]],
		[counted, omitted, [], []],
	])('of one that failed: %s', (message, report, attempts, found) => {
		expect(resolve(report, found, { attempts }).message).toBe(message);
	});
});

describe('an outcome also has', () => {
	const [a, b] = [{ id: 'a' }, { id: 'b' }];
	const file = { code: 'k', file: { add: [{ filename: 'a' }] } };
	const again = {
		noRetry: true,
		hint: 'Look at the record before you run it again: files and messages that it already has would be added again.',
	};
	const safe = { hint: 'It is safe to run it again: with the same import key nothing is doubled.' };
	test.each<[string, Partial<Entry>, Reported, Found, object]>([
		['the status of a failure', { attempts: [busy] }, noResponse, unread, { status: 503, retryAfterMs: 7 }],
		['that of a rejection', { attempts: [busy] }, rejected, unread, { status: 400, retryAfterMs: 7 }],
		['the code of the only reason', {}, unclear(a), [other], { code: 'a', id: 'x', field: 'n' }],
		['no code of two reasons', {}, unclear(a, b), [other], { code: undefined, field: 'n' }],
		['a warning, if it may add a file', { fields: file, attempts }, noResponse, unread, again],
		['none, if that was not sent', { fields: file, sent: { n: 1 }, attempts }, noResponse, unread, safe],
	])('%s', (_, more, report, found, expected) => {
		expect(resolve(report, found, more)).toMatchObject(expected);
	});

	test('no warning, if it is known', () => {
		expect(resolve(listedAs({}), unread, { fields: file })).not.toHaveProperty('noRetry');
	});

	test('the warning of a creation, whatever it adds', () => {
		const entry = { ...item, fields: file, attempts };
		expect(resolveOutcome(entry, noResponse, context('create'))).toMatchObject({
			isRetryable: false,
			hint: "Look for the record in the platform before you send it again. By import key, 'Create or Update' can be repeated without creating duplicates.",
		});
	});
});

test('an unknown outcome says why it was not looked up', () => {
	const down = new ServiceError('down', { delivery: 'notApplied', retryAfterMs: 9 });
	const unreadAfter = (report: Reported) => unreadItem({ ...item, attempts: [busy] }, report, down, context('upsert'));
	expect(unreadAfter(noResponse)).toMatchObject({
		message: expect.stringMatching(/: ambiguous 503; looking it up failed: down$/) as string,
		retryAfterMs: 9,
	});
	expect(unreadItem(item, omitted, down, context('upsert'))).toEqual(resolve(omitted));
});
