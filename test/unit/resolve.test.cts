import type { PreparedRecord } from '../../nodes/DataPlatform/bulk/batches.ts';
import type { WriteMode } from '../../nodes/DataPlatform/bulk/plan.ts';
import {
	alignByContent,
	confirmedItem,
	failedItem,
	pairByPosition,
	rejectedItem,
	upsertOutcome,
	type Watermark,
	type WriteContext,
} from '../../nodes/DataPlatform/bulk/resolve.ts';
import type { FieldValues, PlatformRecord } from '../../nodes/DataPlatform/api/types.ts';
import { ServiceError } from '../../nodes/DataPlatform/transport/errors.ts';
import { sendableOf, storedOf } from './fixtures.cts';
import {
	BEFORE,
	LATER,
	SINCE,
	WATERMARK,
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
		watermark: Watermark,
		outcome: 'inserted' | 'updated',
	];
	const isNew = { created: SINCE, modified: SINCE };
	const isChanged = { created: BEFORE, modified: SINCE };
	const isBoth = { created: SINCE, modified: LATER };
	const isOld = { created: BEFORE, modified: BEFORE };
	test.each<Row>([
		['the counts say so', prepared, isChanged, inserted, WATERMARK, 'inserted'],
		['the counts say so', prepared, isNew, updated, WATERMARK, 'updated'],
		['created is modified', prepared, isNew, mixed, WATERMARK, 'inserted'],
		['created is modified, no watermark', prepared, isNew, mixed, undefined, 'inserted'],
		['created is modified, table was empty', prepared, isOld, mixed, 'none', 'inserted'],
		['as old as the table', prepared, isOld, mixed, WATERMARK, 'updated'],
		['modified since', prepared, isChanged, mixed, WATERMARK, 'updated'],
		['modified since, no watermark', prepared, isChanged, mixed, undefined, 'updated'],
		['another writer inserted it during the run', prepared, isBoth, mixed, WATERMARK, 'updated'],
		['the counts are of the second attempt', again, isNew, updated, WATERMARK, 'inserted'],
		['the first attempt may have inserted it', again, isBoth, mixed, WATERMARK, 'inserted'],
		['the second attempt modified it again', again, isChanged, mixed, WATERMARK, 'updated'],
		['the second attempt, no watermark', again, isBoth, mixed, undefined, 'updated'],
		['absent when looked up', absent, isNew, mixed, undefined, 'inserted'],
		['absent, but another writer was faster', absent, isBoth, mixed, WATERMARK, 'updated'],
		['present when looked up', present, isChanged, mixed, undefined, 'updated'],
		['present, not modified since', present, isOld, mixed, 'none', 'updated'],
		['present, but deleted since', present, isNew, mixed, WATERMARK, 'inserted'],
		['without times, absent', absent, {}, mixed, undefined, 'inserted'],
		['without times, present', present, { ver: 0 }, mixed, undefined, 'updated'],
		['without times, first version', prepared, { ver: 0 }, mixed, undefined, 'inserted'],
		['without times, later version', prepared, { ver: 1 }, mixed, undefined, 'updated'],
		['inserted before, completed now', whole(prepared), isBoth, mixed, WATERMARK, 'inserted'],
	])('of an upsert, %s', (_, item, times, counts, watermark, outcome) => {
		const upsert: WriteContext = { mode: 'upsert', watermark, fields };
		expect(confirmedItem(item, { id: 'r1', ...times }, upsert, counts).outcome).toBe(outcome);
	});

	test('of an upsert, present, but another record has its key now', () => {
		const other = { id: 'r2', created: SINCE, modified: SINCE };
		expect(confirmedItem(present, other, context('upsert'), mixed).outcome).toBe('inserted');
	});
});

describe('what a single upsert did', () => {
	const isNew = { created: SINCE, modified: SINCE };
	const isChanged = { created: BEFORE, modified: SINCE };
	const isOld = { created: BEFORE, modified: BEFORE };
	test.each<
		[
			what: string,
			metadata: Partial<PlatformRecord>,
			watermark: Watermark,
			earlier: Partial<PlatformRecord> | undefined,
			outcome: string | undefined,
		]
	>([
		['a new record', isNew, WATERMARK, undefined, 'inserted'],
		['a new record in an empty table', isNew, 'none', undefined, 'inserted'],
		[
			'a new record that is changed',
			{ created: SINCE, modified: LATER },
			WATERMARK,
			undefined,
			'updated',
		],
		['an older record that is changed', isChanged, WATERMARK, undefined, 'updated'],
		['an older record as it was', isOld, WATERMARK, undefined, 'unchanged'],
		['without a watermark', isNew, undefined, undefined, undefined],
		['without the time of its creation', { modified: SINCE }, WATERMARK, undefined, undefined],
		['without the time of its change', { created: SINCE }, WATERMARK, undefined, undefined],
		['written before, a later version', { ...isNew, ver: 2 }, WATERMARK, { ver: 1 }, 'updated'],
		['written before, the same version', { ...isNew, ver: 1 }, WATERMARK, { ver: 1 }, 'unchanged'],
		['written before, a later time', isNew, WATERMARK, isOld, 'updated'],
		['written before, the same time', isNew, WATERMARK, isNew, 'unchanged'],
		['written before, and neither is known', {}, WATERMARK, {}, 'updated'],
	])('%s', (_, metadata, watermark, earlier, outcome) => {
		const before = earlier && { id: 'r1', ...earlier };
		expect(upsertOutcome({ id: 'r1', ...metadata }, watermark, before)).toBe(outcome);
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
