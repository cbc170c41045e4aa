/** What is known of an item: whether it was applied, what its record holds. */
import { decide } from '../../../nodes/DataPlatform/bulk/decide.ts';
import type { Entry } from '../../../nodes/DataPlatform/bulk/entry.ts';
import { holdsWhole, isUnapplied } from '../../../nodes/DataPlatform/bulk/evidence.ts';
import { judge } from '../../../nodes/DataPlatform/bulk/judge.ts';
import type { LastChange } from '../../../nodes/DataPlatform/bulk/lastChange.ts';
import type { FieldValues, PlatformRecord } from '../../../nodes/DataPlatform/api/types.ts';
import { fieldOf, sendableOf, storedOf } from '../fixtures.cts';
import { BEFORE, LAST, SINCE, context, timedOut } from '../outcomeFixtures.cts';

const RULES = { ifFound: 'update', ifMissing: 'create', multipleMatches: 'error' } as const;

test.each<[FieldValues, boolean | undefined]>([
	[{ code: 'a', n: 1 }, true],
	[{ code: 'a', n: 2 }, false],
	[{ code: 'a', n: 'one' }, undefined],
	[{ code: 'b', n: 'one' }, false],
])('the record holds %j: all of the item %s', (fields, all) => {
	const item = sendableOf({ fields: { code: 'a', n: 1 } });
	expect(
		holdsWhole(item, { outcome: 'updated' }, storedOf({ id: 'r1', fields }), context('update')),
	).toBe(all);
});

test.each<[string, string, string, string]>([
	['after a lost response', 'lost', '2026-06-01T10:00:00Z', 'unchanged'],
	['after a lost response and a rejection', 'rejected', '2026-06-01T10:00:00Z', 'unchanged'],
	['unless its record has another key now', 'lost', '2026-06-01T09:00:00Z', 'unknown'],
])(
	'a key that only the platform can compare is known by the look-up, %s',
	(_, how, time, outcome) => {
		const at = fieldOf('at', 'datetime');
		const record: Entry = {
			index: 0,
			hasUncertainKey: true,
			fields: { at: '2026-06-01T12:00:00' },
		};
		const before = storedOf({ id: 'r1', fields: { at: '2026-06-01T10:00:00Z' } });
		const { updates } = decide(new Map([[record, [before]]]), RULES, true, [at]);
		const entry = { ...updates[0]!, previousAttempt: timedOut };
		const update = { ...context('update'), fields: new Map([['at', at]]) };
		const found = storedOf({ id: 'r1', fields: { at: time } });
		const rejections = new Map(how === 'rejected' ? [[entry, { outcome: 'failed' } as const]] : []);
		expect(judge(entry, [found], { rejections }, update)).toMatchObject({ outcome });
	},
);

describe('an item that adds a file', () => {
	const added = { file: { add: [{ filename: 'a' }] } };
	const item = { ...sendableOf({ id: 'r1', fields: added }), previousAttempt: timedOut };
	const files = (...ids: string[]) => ({
		file: ids.map((fileId) => ({ fileId, fileName: 'a' })),
	});
	const at = (fields: FieldValues, more = {}) => storedOf({ id: 'r1', fields, ...more });

	test.each<[string, PlatformRecord | undefined, PlatformRecord[], LastChange, boolean]>([
		['no record', undefined, [], undefined, false],
		['an older record', undefined, [at({})], LAST, true],
		['one that was changed since', undefined, [at({}, { modified: SINCE })], LAST, false],
		['nobody knows since when', undefined, [at({})], undefined, false],
		['the version that was read', at({}), [at({}, { modified: SINCE })], LAST, true],
		['another version', at({}), [at({}, { ver: 2 })], LAST, false],
		['no version was read', at({}, { ver: undefined }), [at({}, { ver: 2 })], LAST, true],
		['it shows no version', at({}), [at({}, { ver: undefined })], LAST, true],
		['another record was read', at({}, { id: 'r2' }), [at({}, { ver: 2 })], LAST, true],
		['one of two', undefined, [at({}), at({}, { modified: SINCE })], LAST, false],
	])('was not applied: %s', (_, before, found, last, expected) => {
		expect(
			isUnapplied({ ...item, before }, found, {
				...context('update'),
				lastChangeBefore: last,
			}),
		).toBe(expected);
	});

	test('was not applied if it would have created the record', () => {
		expect(isUnapplied(item, [], { ...context('upsert'), lastChangeBefore: LAST })).toBe(true);
	});

	test.each<[string, FieldValues, FieldValues, string]>([
		['none of its name before, one now', {}, files('f'), 'updated'],
		['one of its name before, two now', files('f'), files('f', 'g'), 'updated'],
		['one of its name before and now', files('f'), files('f'), 'unknown'],
		['another one of its name now', files('f'), files('g'), 'updated'],
		['what is no file before and now', { file: ['x'] }, { file: ['x'] }, 'unknown'],
	])('with %s', (_, before, now, outcome) => {
		const prepared = { ...item, before: at(before) };
		const found = [at(now, { ver: 2 })];
		expect(judge(prepared, found, {}, context('update'))).toMatchObject({ outcome });
	});

	test('is final only if its outcome is unknown', () => {
		const [unknown, updated] = [{}, files('f')].map((fields) =>
			judge(item, [at(fields, { modified: SINCE })], {}, context('update')),
		);
		expect(unknown).toMatchObject({ outcome: 'unknown', noRetry: true });
		expect(updated).toEqual({
			outcome: 'updated',
			id: 'r1',
			modified: SINCE,
			created: BEFORE,
			ver: 1,
		});
	});

	test('to a new record is looked up like any other', () => {
		const { hint, noRetry } = judge(item, [], {}, context('create'));
		expect([hint, noRetry]).toEqual([{ code: 'lookBeforeCreatingAgain' }, undefined]);
	});

	test('and one that adds no file is safe to repeat', () => {
		const plain = { ...sendableOf({ id: 'r1', fields: { n: 1 } }), previousAttempt: timedOut };
		const found = [at({ n: 2 })];
		const outcome = judge(plain, found, {}, context('update'));
		expect(outcome).toMatchObject({ outcome: 'unknown', hint: 'It is safe to run it again.' });
		expect(outcome).not.toHaveProperty('noRetry');
	});
});
