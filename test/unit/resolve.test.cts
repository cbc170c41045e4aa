import type { PreparedRecord } from '../../nodes/DataPlatform/bulk/batches.ts';
import type { LastChange } from '../../nodes/DataPlatform/bulk/lastChange.ts';
import type { WriteMode } from '../../nodes/DataPlatform/bulk/plan.ts';
import {
	alignByContent,
	confirmedItem,
	failedItem,
	isUnapplied,
	pairByPosition,
	rejectedItem,
	resolveUnreported,
	upsertOutcome,
	type WriteContext,
} from '../../nodes/DataPlatform/bulk/resolve.ts';
import type { FieldValues, PlatformRecord } from '../../nodes/DataPlatform/api/types.ts';
import { ServiceError } from '../../nodes/DataPlatform/transport/errors.ts';
import { sendableOf, storedOf } from './fixtures.cts';
import {
	BEFORE,
	LAST,
	LATER,
	SINCE,
	context,
	fields,
	responseOf,
	timedOut,
} from './outcomeFixtures.cts';

/** The item of a record that was inserted with some of its fields only. */
const whole = (prepared: PreparedRecord) => ({
	...prepared,
	previousAttempt: timedOut,
	isInserted: true,
});

describe('reading a response', () => {
	test('errors by position, whatever the case of RecordIndex', () => {
		const { failed, unattributedErrors } = responseOf(
			{
				errors: [
					{ message: 'a', RecordIndex: 1 },
					{ message: 'b', recordIndex: 0 },
					{ message: 'c' },
					{ message: 'd', RecordIndex: 2 },
					{ message: 'e', RecordIndex: -1 },
					{ message: 'f', RecordIndex: '1' },
				],
			},
			2,
		);
		expect([...failed].map(([index, { message }]) => [index, message])).toEqual([
			[1, 'a'],
			[0, 'b'],
		]);
		expect(unattributedErrors.map(({ message }) => message)).toEqual(['c', 'd', 'e', 'f']);
	});

	test('several errors of one record are joined', () => {
		const { failed, unattributedErrors } = responseOf({
			errors: [
				{ id: 'first', message: 'a', RecordIndex: 0 },
				{ id: 'second', message: 'b', RecordIndex: 0 },
				{ RecordIndex: 0 },
			],
		});
		expect(unattributedErrors).toEqual([]);
		expect(failed.get(0)).toMatchObject({ id: 'first', message: 'a; b' });
	});

	test.each([
		[{ insertedCount: 2, updatedCount: 0 }, true, false],
		[{ insertedCount: 0, updatedCount: 2 }, false, true],
		[{ insertedCount: 1, updatedCount: 1 }, false, false],
		[{ insertedCount: 0, updatedCount: 0 }, false, false],
		[{ insertedCount: 2 }, false, false],
		['nonsense', false, false],
	])('the counts %j', (bulk, allInserted, allUpdated) => {
		expect(responseOf({ bulk }, 2)).toMatchObject({ allInserted, allUpdated });
	});

	test('data that is no list of records confirms nothing', () => {
		for (const data of [undefined, {}, 'x', [{ id: 'a' }, {}], [null]]) {
			expect(responseOf({ data }, 2).data).toEqual([]);
		}
	});
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

	const inserted = { allInserted: true, allUpdated: false };
	const updated = { allInserted: false, allUpdated: true };
	const stored = storedOf({ id: 'r1', created: BEFORE });
	const absent = { ...prepared, before: null };
	const present = { ...prepared, before: stored };
	type Row = [
		what: string,
		prepared: PreparedRecord,
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
		['inserted before, completed now', whole(prepared), isBoth, mixed, LAST, 'inserted'],
	])('of an upsert, %s', (_, item, times, counts, lastChangeBefore, outcome) => {
		const upsert: WriteContext = { ...context('upsert'), lastChangeBefore };
		expect(confirmedItem(item, { id: 'r1', ...times }, upsert, counts).outcome).toBe(outcome);
	});

	test('of an upsert, present, but another record has its key now', () => {
		const other = { id: 'r2', created: SINCE, modified: SINCE };
		expect(confirmedItem(present, other, context('upsert'), mixed).outcome).toBe('inserted');
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

describe('an item that adds a file', () => {
	const added = { file: { add: [{ filename: 'a' }] } };
	const item = { ...sendableOf({ id: 'r1', fields: added }), previousAttempt: timedOut };
	const files = (...ids: string[]) => ({
		file: ids.map((fileId) => ({ fileId, fileName: 'a' })),
	});
	const at = (fields: FieldValues, more = {}) => storedOf({ id: 'r1', fields, ...more });

	test.each<[string, PlatformRecord | undefined, PlatformRecord[], LastChange, boolean]>([
		['no record', undefined, [], undefined, true],
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

	test.each<[string, FieldValues, FieldValues, string]>([
		['none of its name before, one now', {}, files('f'), 'updated'],
		['one of its name before, two now', files('f'), files('f', 'g'), 'updated'],
		['one of its name before and now', files('f'), files('f'), 'unknown'],
		['another one of its name now', files('f'), files('g'), 'updated'],
		['what is no file before and now', { file: ['x'] }, { file: ['x'] }, 'unknown'],
	])('with %s', (_, before, now, outcome) => {
		const prepared = { ...item, before: at(before) };
		const found = [at(now, { ver: 2 })];
		expect(resolveUnreported(prepared, found, {}, context('update'))).toMatchObject({ outcome });
	});

	test('is final only if its outcome is unknown', () => {
		const [unknown, updated] = [{}, files('f')].map((fields) =>
			resolveUnreported(item, [at(fields, { modified: SINCE })], {}, context('update')),
		);
		expect(unknown).toMatchObject({ outcome: 'unknown', isFinal: true });
		expect(updated).toEqual({
			outcome: 'updated',
			id: 'r1',
			modified: SINCE,
			created: BEFORE,
			ver: 1,
		});
	});

	test('to a new record is looked for as any other', () => {
		const { hint, isFinal } = resolveUnreported(item, [], {}, context('create'));
		expect([hint, isFinal]).toEqual([{ code: 'lookBeforeCreatingManyAgain' }, undefined]);
	});

	test('and one that adds none is safe to repeat', () => {
		const plain = { ...sendableOf({ id: 'r1', fields: { n: 1 } }), previousAttempt: timedOut };
		const found = [at({ n: 2 })];
		const outcome = resolveUnreported(plain, found, {}, context('update'));
		expect(outcome).toMatchObject({ outcome: 'unknown', hint: 'It is safe to run it again.' });
		expect(outcome).not.toHaveProperty('isFinal');
	});
});

describe('pairing by position', () => {
	const batch = ['a', 'b', 'c'].map((code, index) => sendableOf({ index, fields: { code } }));
	const pair = (body: Record<string, unknown>) =>
		pairByPosition(batch, responseOf(body, 3), false)?.map(([{ record }, { id }]) => [
			record.index,
			id,
		]);
	const data = (...ids: string[]) => ids.map((id) => ({ id }));

	test('every record that did not fail has its entry', () => {
		expect(pair({ data: data('x', 'y', 'z') })).toEqual([
			[0, 'x'],
			[1, 'y'],
			[2, 'z'],
		]);
		expect(pair({ data: data('x', 'z'), errors: [{ RecordIndex: 1 }] })).toEqual([
			[0, 'x'],
			[2, 'z'],
		]);
	});

	test('never if one is missing, too many, listed twice, or an error does not say which record it means', () => {
		expect(pair({ data: data('x', 'y') })).toBeUndefined();
		expect(pair({ data: data('x', 'y', 'z', 'w') })).toBeUndefined();
		expect(pair({ data: data('x', 'y', 'y') })).toBeUndefined();
		expect(
			pair({ data: data('x', 'y', 'z'), errors: [{ message: 'one failed' }] }),
		).toBeUndefined();
	});
});

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
		});
	});
});

describe('records without a key, read back', () => {
	const rest = ['a', 'b', 'a'].map((code, index) => sendableOf({ index, fields: { code } }));
	const read = (...codes: string[]) =>
		codes.map((code, index) => storedOf({ id: `r${index}`, fields: { code } }));
	const align = (sent: PreparedRecord[], created: PlatformRecord[]) => {
		const pairs = alignByContent(sent, created, fields);
		const found = pairs && [...pairs].map(([{ record }, to]) => [record.index, to?.id] as const);
		return found?.sort(([a], [b]) => a - b);
	};

	test('are found by their values, in order', () => {
		expect(align(rest, read('b', 'a'))).toEqual([
			[1, 'r0'],
			[2, 'r1'],
		]);
		expect(align(rest, [])).toEqual([]);
	});

	test('are not guessed where a record fits none', () => {
		expect(align(rest, read('c'))).toBeUndefined();
	});

	test('a value that cannot be compared is no objection', () => {
		const file = [sendableOf({ fields: { file: 'https://example.com/a' } })];
		const stored = [storedOf({ id: 'r0', fields: { file: [{ fileId: 'f' }] } })];
		expect(align(file, stored)).toEqual([[0, 'r0']]);
	});

	test('are not guessed where a record fits items with different values', () => {
		const sent: FieldValues[] = [{ code: 'a' }, { code: 'a', n: 1 }, { code: 'b' }];
		const several = sent.map((values, index) => sendableOf({ index, fields: values }));
		const held: FieldValues[] = [{ code: 'a', n: 1 }, { code: 'b' }];
		const created = held.map((values, index) => storedOf({ id: `r${index}`, fields: values }));
		expect(align(several, created)).toEqual([
			[0, undefined],
			[1, undefined],
			[2, 'r1'],
		]);
		expect(align(several.slice(1), created)).toEqual([
			[1, 'r0'],
			[2, 'r1'],
		]);
	});
});
