/** What follows from the result of a step. */
import { sentFields, toJson, type Entry } from '../../../nodes/DataPlatform/bulk/entry.ts';
import type { FieldValues } from '../../../nodes/DataPlatform/api/types.ts';
import type { WriteMode } from '../../../nodes/DataPlatform/bulk/plan.ts';
import {
	afterCompare,
	afterSend,
	afterStop,
	type Ending,
	type SendWork,
	type Step,
} from '../../../nodes/DataPlatform/bulk/steps.ts';
import type { ApiResponse } from '../../../nodes/DataPlatform/transport/client.ts';
import { ServiceError, type Delivery } from '../../../nodes/DataPlatform/transport/errors.ts';
import { sendableOf, storedOf } from '../fixtures.cts';
import { BEFORE, SINCE, context } from '../outcomeFixtures.cts';

/** Five records; their ids and codes are their letters. */
const [a, b, c, d, e] = [...'abcde'].map((letter, index) =>
	sendableOf({ index, id: letter, key: letter, fields: { code: letter } }),
) as [Entry, Entry, Entry, Entry, Entry];

const failure = (delivery: Delivery, status?: number, more = {}) =>
	new ServiceError(`${delivery} ${status ?? ''}`.trim(), { delivery, status, ...more });
const lost = failure('ambiguous');
const lostButRunning = failure('ambiguous', 504, { stillPending: true });
const rejected = (status = 400, body?: object) => failure('rejected', status, { body });

/** The record as a previous request may have written it. */
const open = (record: Entry, previousAttempt = lost) => ({ ...record, previousAttempt });

const letters = (records: Entry[]) => records.map(({ id }) => id).join('');

const response = (body: object, previousAttempt?: ServiceError): ApiResponse => ({
	status: 200,
	body: body as ApiResponse['body'],
	repeated: previousAttempt !== undefined,
	previousAttempt,
	durationMs: 10,
});
const listed = (ids: string) =>
	[...ids].map((id) => ({ id, created: BEFORE, modified: SINCE, ver: 1 }));
const confirms = (ids: string, more = {}, previousAttempt?: ServiceError) =>
	response({ data: listed(ids), ...more }, previousAttempt);
const fails = (...indexes: number[]) => ({
	errors: indexes.map((RecordIndex) => ({ RecordIndex, message: 'bad' })),
});

/** A step in one line for each thing that follows. */
function describeStep({ outcomes, work, unsent, stop, isDivided }: Step): string[] {
	const byOutcome = Map.groupBy(outcomes, ([, { outcome, notAttempted }]) =>
		notAttempted ? 'not sent' : outcome,
	);
	return [
		...[...byOutcome].map(
			([outcome, items]) => `${outcome} ${letters(items.map(([record]) => record))}`,
		),
		...work.map((piece) => {
			const records = letters(piece.records);
			if (piece.kind === 'send') {
				const isOpen = piece.records.some(({ previousAttempt }) => previousAttempt);
				const suspects = piece.suspects ? `, suspect ${letters(piece.suspects.records)}` : '';
				return `send ${records}${suspects}${isOpen ? ', open' : ''}`;
			}
			const { response: mentioned, rejections } = piece.unresolved;
			const why = rejections ? 'rejected' : mentioned ? 'not mentioned' : 'no response';
			return `look up ${records}, ${why}`;
		}),
		...(unsent.length > 0 ? [`batch anew ${letters(unsent)}`] : []),
		...(isDivided ? ['divided'] : []),
		...(stop ? [`stop: ${stop.message}`] : []),
	];
}

type Row = [
	what: string,
	work: Entry[] | Omit<SendWork, 'kind'>,
	result: ApiResponse | ServiceError,
	follows: string[],
];

function expectSteps(mode: WriteMode, rows: Row[], canDivide = true) {
	test.each(rows)('%s', (_, work, result, follows) => {
		const send: SendWork = { kind: 'send', ...(Array.isArray(work) ? { records: work } : work) };
		expect(describeStep(afterSend(send, result, context(mode), canDivide))).toEqual(follows);
	});
}

describe('after an upsert, a response', () => {
	expectSteps('upsert', [
		['is paired by position', [a, b], confirms('xy'), ['updated ab']],
		['lists too few to be paired', [a, b], confirms('x'), ['look up ab, not mentioned']],
		[
			'has an error that does not say which record it means',
			[a, b],
			confirms('xy', { errors: [{ message: 'bad' }] }),
			['look up ab, not mentioned'],
		],
	]);
});

describe('a response that lists one record twice', () => {
	const once = confirms('xx');
	expectSteps('upsert', [['confirms neither', [a, b], once, ['look up ab, not mentioned']]]);
	expectSteps('create', [['confirms neither', [a, b], once, ['look up ab, not mentioned']]]);
});

/** What follows from each way in which a request can end. */
const ENDINGS: Record<Ending, Row[]> = {
	responded: [
		['confirms all', [a, b], confirms('ab'), ['updated ab']],
		['confirms all in another order', [a, b, c], confirms('cab'), ['updated abc']],
		[
			'does not mention some',
			[a, b, c],
			confirms('ac'),
			['updated ac', 'look up b, not mentioned'],
		],
		['mentions nothing', [a, b], confirms(''), ['look up ab, not mentioned']],
		['rejects one by name', [a, b, c], confirms('ac', fails(1)), ['updated ac', 'failed b']],
		[
			'rejects one that an earlier request may have written',
			[a, open(b), c],
			confirms('ac', fails(1)),
			['updated ac', 'look up b, rejected'],
		],
		[
			'rejects one, and an earlier attempt of this request was lost',
			[a, b],
			confirms('a', fails(1), lost),
			['updated a', 'look up b, rejected'],
		],
		[
			'rejects one and does not mention another',
			[a, b, c],
			confirms('a', fails(1)),
			['updated a', 'failed b', 'look up c, not mentioned'],
		],
		[
			'says what was written, though its status is a failure',
			[a, b],
			failure('rejected', 400, { body: { data: listed('a'), ...fails(1) } }),
			['updated a', 'look up b, rejected'],
		],
	],
	lost: [
		['leaves all open', [a, b], lost, ['look up ab, no response']],
		[
			'leaves all open, with no time to send them again',
			[a, b],
			failure('ambiguous', 503, { isRetryBudgetSpent: true }),
			['look up ab, no response', 'stop: ambiguous 503'],
		],
	],
	refused: [
		['for lack of rights', [a, b], rejected(403), ['failed ab', 'stop: rejected 403']],
		[
			'because of the token',
			[a, open(b)],
			rejected(401),
			['failed a', 'look up b, no response', 'stop: rejected 401'],
		],
		['before it was sent', [a], failure('notApplied'), ['failed a', 'stop: notApplied']],
		[
			'before it was sent, whatever its status',
			[a, b],
			failure('notApplied', 400),
			['failed ab', 'stop: notApplied 400'],
		],
		[
			'by cancellation',
			[a, open(b)],
			failure('canceled'),
			['failed a', 'look up b, no response', 'stop: canceled'],
		],
	],
	rejectedAlone: [
		['fails', [a], rejected(), ['failed a']],
		['is looked up if it may be written', [open(a)], rejected(), ['look up a, rejected']],
		['fails as too large', [a], rejected(413), ['failed a']],
	],
	rejectedTogether: [
		['are divided', [a, b, c, d, e], rejected(), ['send abc, suspect de', 'divided']],
		['are divided after 409', [a, b], rejected(409), ['send a, suspect b', 'divided']],
		['are divided after 422', [a, b], rejected(422), ['send a, suspect b', 'divided']],
		['are divided after 423', [a, b], rejected(423), ['send a, suspect b', 'divided']],
		['are divided after 424', [a, b], rejected(424), ['send a, suspect b', 'divided']],
		[
			'are divided if the response names them all',
			[a, b],
			rejected(422, fails(0, 1)),
			['send a, suspect b', 'divided'],
		],
	],
	rejectedByName: [
		[
			'fail, and the others are sent',
			[a, b, c],
			rejected(422, fails(1)),
			['failed b', 'send ac', 'divided'],
		],
		[
			'are looked up if they may be written',
			[open(a), open(b)],
			rejected(422, fails(1)),
			['look up b, rejected', 'send a, open', 'divided'],
		],
	],
	tooLarge: [
		['goes into smaller batches', [a, b, c], rejected(413), ['batch anew abc', 'divided']],
		[
			'goes into smaller batches, though the response names a record',
			[a, b],
			rejected(413, fails(1)),
			['batch anew ab', 'divided'],
		],
	],
	rejectedForGood: [
		['fails', [a, b], rejected(), ['failed ab']],
		['fails as too large', [a, b], rejected(413), ['failed ab']],
		[
			'is looked up if it may be written',
			[open(a), b],
			rejected(),
			['failed b', 'look up a, rejected'],
		],
	],
};

describe.each(Object.entries(ENDINGS))('a request that ended as %s', (ending, rows) => {
	expectSteps('update', rows, ending !== 'rejectedForGood');
});

describe('after a batch was sent, a failure', () => {
	test('keeps an earlier attempt with each record', () => {
		const result = failure('rejected', 413, { previousAttempt: lost });
		const { unsent } = afterSend(
			{ kind: 'send', records: [a, b] },
			result,
			context('update'),
			true,
		);
		expect(unsent.map(({ previousAttempt }) => previousAttempt)).toEqual([lost, lost]);
	});

	test('keeps the attempt that may still be applied', () => {
		const records = [open(a, lostButRunning), open(b), c];
		const { work } = afterSend({ kind: 'send', records }, lost, context('update'), true);
		const attempts = work[0]!.records.map(({ previousAttempt }) => previousAttempt);
		expect(attempts).toEqual([lostButRunning, lost, lost]);
	});

	test.each([
		['itself', lost, false],
		['an earlier attempt that may still be applied', lostButRunning, true],
	])('that lists some records leaves with the others %s', (_, earlier, isKept) => {
		const result = failure('ambiguous', 500, { body: { data: listed('a') } });
		const { work } = afterSend(
			{ kind: 'send', records: [a, open(b, earlier)] },
			result,
			context('update'),
			true,
		);
		expect(work).toHaveLength(1);
		const [{ records }] = work as [Step['work'][number]];
		expect(letters(records)).toBe('b');
		expect(records[0]!.previousAttempt).toBe(isKept ? earlier : result);
	});

	test('keeps what an item was rejected for, in case it was not written before', () => {
		const [work] = afterSend(
			{ kind: 'send', records: [open(a)] },
			rejected(),
			context('update'),
			true,
		).work;
		const rejections = work?.kind === 'reconcile' && work.unresolved.rejections;
		expect([...(rejections || [])].map(([, { outcome, status }]) => [outcome, status])).toEqual([
			['failed', 400],
		]);
	});
});

describe('after half of a rejected batch was sent', () => {
	const suspects = { records: [c, d, e], rejection: rejected() };
	expectSteps('update', [
		[
			'and is good: the cause is in the other half, which is divided',
			{ records: [a, b], suspects },
			confirms('ab'),
			['updated ab', 'send cd, suspect e', 'divided'],
		],
		[
			'and is good: a single suspect is sent to hear what is wrong with it',
			{ records: [a, b], suspects: { ...suspects, records: [c] } },
			confirms('ab'),
			['updated ab', 'send c'],
		],
		[
			'and has a bad record: the other half may be good',
			{ records: [a, b], suspects },
			confirms('a', fails(1)),
			['updated a', 'failed b', 'send cde'],
		],
		[
			'and is not confirmed whole: nothing is known of the other half',
			{ records: [a, b], suspects },
			confirms('a'),
			['updated a', 'look up b, not mentioned', 'send cde'],
		],
		[
			'and is rejected itself: it is divided, then the other half sent',
			{ records: [a, b], suspects },
			rejected(),
			['send a, suspect b', 'send cde', 'divided'],
		],
		[
			'and gets no response',
			{ records: [a, b], suspects },
			lost,
			['look up ab, no response', 'send cde'],
		],
		[
			'and meets what stops the run',
			{ records: [a], suspects },
			rejected(401),
			['failed a', 'send cde', 'stop: rejected 401'],
		],
	]);
});

describe('when no more requests may be spent on dividing', () => {
	const suspects = { records: [c, d], rejection: rejected() };
	expectSteps(
		'update',
		[
			[
				'the suspects are sent whole',
				{ records: [a], suspects },
				confirms('a'),
				['updated a', 'send cd'],
			],
		],
		false,
	);

	test('the reason says so', () => {
		const { outcomes } = afterSend(
			{ kind: 'send', records: [a, b] },
			rejected(),
			context('update'),
			false,
		);
		expect(outcomes[0]![1].message).toContain('rejected together with other items');
	});
});

describe('after a stop', () => {
	test('nothing counts as not sent if a previous request may have written it', () => {
		const step = afterStop([a, open(b), c], rejected(401));
		expect(describeStep(step)).toEqual(['not sent ac', 'look up b, no response']);
		expect(step.outcomes[0]![1].message).toBe('Not sent, the run stopped before: rejected 401');
	});
});

describe('items that are rejected after the platform asked to wait', () => {
	const postponed = (error: ServiceError) =>
		new ServiceError(error.message, { ...error, wasPostponed: true });
	const records = [
		sendableOf({ index: 0, key: 'a' }),
		sendableOf({ index: 1, key: 'b', id: 'x' }),
		sendableOf({ index: 2 }),
	];
	const kinds = (result: Parameters<typeof afterSend>[1]) => {
		const { outcomes, work } = afterSend(
			{ kind: 'send', records },
			result,
			context('create'),
			false,
		);
		const open = work.flatMap((piece) => piece.records.map(({ index }) => index));
		return [outcomes.map(([{ index }]) => index), open];
	};

	test('are looked up by their keys, if they have no ID', () => {
		expect(kinds(postponed(rejected()))).toEqual([[1, 2], [0]]);
	});

	test('are rejected, if it did not', () => {
		expect(kinds(rejected())).toEqual([[0, 1, 2], []]);
	});

	test('are looked up if the response names them', () => {
		const errors = [0, 1, 2].map((RecordIndex) => ({ message: 'no', RecordIndex }));
		const named = { ...response({ errors }), wasPostponed: true };
		expect(kinds(named as never)).toEqual([[1, 2], [0]]);
	});

	test('are not looked up if they were not sent', () => {
		const { outcomes } = afterStop(
			records.map((record) => ({ ...record, wasPostponed: true })),
			rejected(401),
		);
		expect(outcomes).toHaveLength(3);
	});
});

describe('an item with a file, of which only the changes were sent, beside another writer', () => {
	const added = { add: [{ filename: 'a' }] };
	const partial = (sent: FieldValues): Entry => ({
		...sendableOf({ index: 0, id: 'x', fields: { n: 1, file: added } }),
		sent,
		before: storedOf({ id: 'x', ver: 1, fields: { n: 0 } }),
	});
	const after = (prepared: Entry) =>
		afterSend(
			{ kind: 'send', records: [prepared] },
			response({ data: [{ id: 'x', created: BEFORE, modified: SINCE, ver: 5 }] }),
			context('update'),
			true,
		);

	test('is written again without it', () => {
		const { work, outcomes } = after(partial({ file: added }));
		expect(outcomes).toEqual([]);
		expect(work).toMatchObject([{ kind: 'send', records: [{ sent: { n: 1 } }] }]);
		expect(toJson((work[0] as SendWork).records[0]!)).not.toContain('filename');
	});

	test('is written again without it, if the record had it before', () => {
		const { work } = after(partial({ n: 1 }));
		expect(sentFields((work[0] as SendWork).records[0]!)).toEqual({ n: 1 });
	});

	test('is written again with it, if it was deleted meanwhile, and by itself', () => {
		const other = { ...sendableOf({ index: 1, key: 'b', fields: { code: 'b', n: 1, m: 2 } }) };
		const records = [
			{ ...partial({ code: 'a', n: 1 }), id: undefined, key: 'a' },
			{ ...other, sent: { code: 'b', n: 1 }, before: storedOf({ id: 'y', fields: {} }) },
		];
		const isNew = { created: SINCE, modified: SINCE, ver: 0 };
		const { work } = afterSend(
			{ kind: 'send', records },
			response({ data: ['x2', 'y2'].map((id) => ({ id, ...isNew })) }),
			{ ...context('upsert'), key: 'code' },
			true,
		);
		expect(
			work.map(({ records: each }) => each.map((entry) => Object.keys(sentFields(entry)))),
		).toEqual([[['n', 'file']], [['code', 'n', 'm']]]);
	});

	test('is done if it holds nothing else but its key', () => {
		const record = { index: 0, key: 'a', fields: { code: 'a', file: added } };
		const step = afterSend(
			{
				kind: 'send',
				records: [
					{
						...sendableOf(record),
						sent: { ...record.fields },
						before: storedOf({ id: 'x', ver: 1, fields: { code: 'a' } }),
					},
				],
			},
			response({ data: [{ id: 'x', created: BEFORE, modified: SINCE, ver: 5 }] }),
			{ ...context('upsert'), key: 'code' },
			true,
		);
		expect(step.work).toEqual([]);
		expect(step.outcomes).toMatchObject([[{}, { outcome: 'updated' }]]);
	});

	test('is done if it holds nothing else', () => {
		const record = { index: 0, id: 'x', fields: { file: added } };
		const { work, outcomes } = after({ ...partial({ file: added }), ...record });
		expect(work).toEqual([]);
		expect(outcomes).toMatchObject([[{}, { outcome: 'updated', ver: 5 }]]);
	});
});

test.each([
	['the other value too', { n: 1, code: 'c' }, true],
	['what was sent in another form', { n: 2, code: 'c' }, true],
	['another value', { n: 1, code: 'other' }, false],
])('a single write after which the record holds %s', (_, fields, isDone) => {
	const item: Entry = {
		...sendableOf({ id: 'x', fields: { n: 1, code: 'c' } }),
		sent: { n: 1 },
		before: storedOf({ id: 'x', ver: 5, fields: { n: 0, code: 'c' } }),
		isAlone: true,
	};
	// Another writer may have written the same change, and this write changed nothing.
	const { outcomes, work } = afterSend(
		{ kind: 'send', records: [item] },
		response({ data: storedOf({ id: 'x', ver: 6, fields }) }),
		context('update'),
		true,
	);
	expect(outcomes).toHaveLength(isDone ? 1 : 0);
	expect(work).toMatchObject(isDone ? [] : [{ records: [{ sent: { n: 1, code: 'c' } }] }]);
});

describe('a record that was deleted between the look-up and the write', () => {
	const record = { index: 0, key: 'a', fields: { code: 'a', n: 1 } };
	const change: Entry = {
		...sendableOf(record),
		sent: { n: 1 },
		before: storedOf({ id: 'x', created: BEFORE, fields: { code: 'a', n: 0 } }),
	};
	const isNew = { id: 'y', created: SINCE, modified: SINCE, ver: 0 };

	test('is sent again with all its fields, and was inserted', () => {
		const step = afterSend(
			{ kind: 'send', records: [change] },
			response({ data: [isNew] }),
			context('upsert'),
			true,
		);
		expect(step.outcomes).toEqual([]);
		const [work] = step.work;
		expect(work).toMatchObject({ kind: 'send', records: [{ sent: record.fields }] });
		const again = afterSend(
			work as SendWork,
			response({ data: [{ ...isNew, modified: '2026-03-02T00:00:00Z', ver: 1 }] }),
			context('upsert'),
			true,
		);
		expect(again.outcomes).toMatchObject([[{}, { outcome: 'inserted', id: 'y', ver: 1 }]]);
	});

	test.each([
		['raises its version by one: it is done', 5, 6, ['updated ']],
		['raises it by more: it is written again', 5, 7, ['send , open']],
		['raises none that is known: it is written again', undefined, 6, ['send , open']],
	])('an update that %s', (_, before, ver, follows) => {
		const partial = {
			...change,
			before: storedOf({ id: 'x', created: BEFORE, ver: before, fields: { code: 'a', n: 0 } }),
		};
		const step = afterSend(
			{ kind: 'send', records: [partial] },
			response({ data: [{ id: 'x', created: BEFORE, modified: SINCE, ver }] }),
			context('upsert'),
			true,
		);
		expect(describeStep(step)).toEqual(follows);
		const [work] = step.work;
		if (!work) return;
		expect(work).toMatchObject({ records: [{ sent: record.fields, isInserted: false }] });
		// Whoever inserted it in the meantime, this run did not.
		const again = afterSend(
			work as SendWork,
			response({ data: [{ id: 'y', created: SINCE, modified: SINCE, ver: 8 }] }),
			context('upsert'),
			true,
		);
		expect(again.outcomes).toMatchObject([[{}, { outcome: 'updated', ver: 8 }]]);
	});

	test.each<[string, before: number | undefined, metadata: object, isWhole: boolean]>([
		['the next version', 5, { ver: 6 }, true],
		['the same version', 5, { ver: 5 }, false],
		['no version', 5, {}, false],
		['no version before', undefined, { ver: 6 }, false],
		['never a version', undefined, {}, false],
		['another record', 5, { id: 'y', ver: 6 }, false],
		['a new record under its id', 5, { created: SINCE, ver: 6 }, false],
	])('left %s: it is written again %s', (_, ver, metadata, isWhole) => {
		const partial = {
			...change,
			before: storedOf({ id: 'x', created: BEFORE, ver, fields: { code: 'a', n: 0 } }),
		};
		const item = { id: 'x', created: BEFORE, modified: SINCE, ...metadata };
		const step = afterSend(
			{ kind: 'send', records: [partial] },
			response({ data: [item] }),
			context('upsert'),
			true,
		);
		expect([step.outcomes.length, step.work.length]).toEqual(isWhole ? [1, 0] : [0, 1]);
	});

	test.each([
		[{ id: 'x', created: BEFORE, ver: 9 }, 'Another writer changed the record between'],
		[{ id: 'y', created: SINCE, ver: 0 }, 'The record was deleted meanwhile and inserted again'],
	])('and why it is open until then: %j', (metadata, message) => {
		const step = afterSend(
			{ kind: 'send', records: [change] },
			response({ data: [{ modified: SINCE, ...metadata }] }),
			context('upsert'),
			true,
		);
		expect(step.work[0]!.records[0]!.previousAttempt).toMatchObject({
			message: expect.stringContaining(message),
			delivery: 'ambiguous',
		});
	});

	test('is done if all its fields were sent', () => {
		const whole = { ...change, sent: undefined };
		const step = afterSend(
			{ kind: 'send', records: [whole] },
			response({ data: [isNew] }),
			context('upsert'),
			true,
		);
		expect(step.outcomes).toMatchObject([[{}, { outcome: 'inserted', id: 'y' }]]);
		expect(step.work).toEqual([]);
	});
});

describe('after comparing', () => {
	const planned = ['a', 'b', 'c'].map((key, index) => ({
		index,
		key,
		fields: { code: key, n: index },
	}));
	const [same, changed, missing] = planned as [
		(typeof planned)[0],
		(typeof planned)[0],
		(typeof planned)[0],
	];
	const stored = new Map([
		[same, [storedOf({ id: 'x', fields: { code: 'a', n: 0 } })]],
		[changed, [storedOf({ id: 'y', fields: { code: 'b', n: 7 } })]],
		[missing, []],
	]);
	const upsert = { ...context('upsert'), key: 'code' };

	test('only what differs is sent', () => {
		const { outcomes, unsent, stop } = afterCompare(planned, stored, upsert, false);
		expect(outcomes.map(([{ index }, { outcome }]) => [index, outcome])).toEqual([
			[0, 'unchanged'],
		]);
		expect(unsent.map(({ index }) => index)).toEqual([1, 2]);
		expect(unsent[0]!.before).toMatchObject({ id: 'y' });
		expect(unsent[1]!.before).toBeNull();
		expect(stop).toBeUndefined();
	});

	test('a dry run sends nothing', () => {
		const { outcomes, unsent } = afterCompare(planned, stored, upsert, true);
		expect(outcomes.map(([, { outcome }]) => outcome)).toEqual([
			'unchanged',
			'updated',
			'inserted',
		]);
		expect(unsent).toEqual([]);
	});

	test('what cannot be read stops the run, and nothing was sent', () => {
		const error = failure('rejected', 401);
		const { outcomes, unsent, stop } = afterCompare(planned, error, upsert, false);
		expect(outcomes.map(([, { outcome }]) => outcome)).toEqual(['failed', 'failed', 'failed']);
		expect(unsent).toEqual([]);
		expect(stop).toBe(error);
	});
});
