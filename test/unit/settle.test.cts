import type { PreparedRecord } from '../../nodes/DataPlatform/bulk/batches.ts';
import type { WriteMode } from '../../nodes/DataPlatform/bulk/plan.ts';
import {
	alignByContent,
	confirmedItem,
	failedItem,
	pairByPosition,
	refusedItem,
	type Watermark,
	type WriteContext,
} from '../../nodes/DataPlatform/bulk/resolve.ts';
import type { FieldValues, PlatformRecord } from '../../nodes/DataPlatform/api/types.ts';
import { ServiceError } from '../../nodes/DataPlatform/transport/errors.ts';
import { sendableOf, storedOf } from './fixtures.cts';
import { BEFORE, SINCE, answerOf, context, fields } from './settling.cts';

describe('reading an answer', () => {
	test('errors by position, whatever the case of RecordIndex', () => {
		const { failed, unattributedErrors: loose } = answerOf(
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
		expect(loose.map(({ message }) => message)).toEqual(['c', 'd', 'e', 'f']);
	});

	test('several errors of one record are joined', () => {
		const { failed, unattributedErrors: loose } = answerOf({
			errors: [
				{ id: 'first', message: 'a', RecordIndex: 0 },
				{ id: 'second', message: 'b', RecordIndex: 0 },
				{ RecordIndex: 0 },
			],
		});
		expect(loose).toEqual([]);
		expect(failed.get(0)).toMatchObject({ id: 'first', message: 'a; b' });
	});

	test('a success is counted only where every record that did not fail is', () => {
		const errors = [{ RecordIndex: 0 }];
		expect(answerOf({ bulk: { successCount: 2 } }, 2).countsAsSuccess).toBe(true);
		expect(answerOf({ bulk: { successCount: 1 } }, 2).countsAsSuccess).toBe(false);
		expect(answerOf({ bulk: { successCount: 1 }, errors }, 2).countsAsSuccess).toBe(true);
		expect(answerOf({ bulk: { successCount: 2 }, errors: [{}] }, 2).countsAsSuccess).toBe(false);
		expect(answerOf({}, 2).countsAsSuccess).toBe(false);
	});

	test.each([
		[{ insertedCount: 2, updatedCount: 0 }, true, false],
		[{ insertedCount: 0, updatedCount: 2 }, false, true],
		[{ insertedCount: 1, updatedCount: 1 }, false, false],
		[{ insertedCount: 0, updatedCount: 0 }, false, false],
		[{ insertedCount: 2 }, false, false],
		['nonsense', false, false],
	])('the counts %j', (bulk, allInserted, allUpdated) => {
		expect(answerOf({ bulk }, 2)).toMatchObject({ allInserted, allUpdated });
	});

	test('data that is no list of records confirms nothing', () => {
		for (const data of [undefined, {}, 'x', [{ id: 'a' }, {}], [null]]) {
			expect(answerOf({ data }, 2).data).toEqual([]);
		}
	});
});

describe('a confirmed item', () => {
	const mixed = { allInserted: false, allUpdated: false, repeated: false };
	const created = (time: string) => ({ id: 'r1', created: time, modified: SINCE, ver: 2 });
	const outcome = (
		mode: WriteMode,
		metadata: ReturnType<typeof created>,
		answer = mixed,
		before?: PlatformRecord | null,
		baseline?: Watermark,
	) =>
		confirmedItem({ ...sendableOf({}), before }, metadata, context(mode, baseline), answer).outcome;

	test('of a create is inserted, of an update is updated', () => {
		expect(outcome('create', created(BEFORE))).toBe('inserted');
		expect(outcome('update', created(SINCE))).toBe('updated');
		expect(outcome('replace', created(SINCE))).toBe('updated');
	});

	test('of an upsert: by what was read before', () => {
		expect(outcome('upsert', created(SINCE), mixed, storedOf({ id: 'r1' }))).toBe('updated');
		expect(outcome('upsert', created(BEFORE), mixed, null)).toBe('inserted');
	});

	test('of an upsert: by the counts of the only try', () => {
		expect(outcome('upsert', created(BEFORE), { ...mixed, allInserted: true })).toBe('inserted');
		expect(outcome('upsert', created(SINCE), { ...mixed, allUpdated: true })).toBe('updated');
	});

	test('of an upsert: by its age where the counts are mixed or of a second try', () => {
		expect(outcome('upsert', created(SINCE))).toBe('inserted');
		expect(outcome('upsert', created(BEFORE))).toBe('updated');
		const again = { allInserted: false, allUpdated: true, repeated: true };
		expect(outcome('upsert', created(SINCE), again)).toBe('inserted');
		expect(outcome('upsert', created(BEFORE), mixed, undefined, 'none')).toBe('inserted');
	});

	test('tells the metadata', () => {
		const metadata = created(SINCE);
		expect(confirmedItem(sendableOf({}), metadata, context('create'), mixed)).toEqual({
			outcome: 'inserted',
			...metadata,
		});
	});

	test('of an upsert without a baseline: new where it was never modified', () => {
		const noBaseline: WriteContext = { mode: 'upsert', watermark: undefined, fields };
		const told = (modified: string) =>
			confirmedItem(sendableOf({}), { id: 'r1', created: BEFORE, modified }, noBaseline, mixed);
		expect(told(BEFORE).outcome).toBe('inserted');
		expect(told(SINCE).outcome).toBe('updated');
	});
});

describe('pairing by position', () => {
	const batch = ['a', 'b', 'c'].map((code, index) => sendableOf({ index, fields: { code } }));
	const pair = (body: Record<string, unknown>) =>
		pairByPosition(batch, answerOf(body, 3))?.map(({ sendable, metadata }) => [
			sendable.record.index,
			metadata.id,
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

	test('never where one is missing, too many, told twice, or an error says not whose', () => {
		expect(pair({ data: data('x', 'y') })).toBeUndefined();
		expect(pair({ data: data('x', 'y', 'z', 'w') })).toBeUndefined();
		expect(pair({ data: data('x', 'y', 'y') })).toBeUndefined();
		expect(
			pair({ data: data('x', 'y', 'z'), errors: [{ message: 'one failed' }] }),
		).toBeUndefined();
	});
});

describe('refusals', () => {
	test('of a record', () => {
		expect(refusedItem({ message: 'too young', id: 'code1' })).toEqual({
			outcome: 'failed',
			message: 'too young',
			code: 'code1',
		});
		expect(refusedItem({}).message).toContain('gave no reason');
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
		return pairs && [...pairs].map(([{ record }, created]) => [record.index, created?.id]);
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
			[1, undefined],
			[0, undefined],
			[2, 'r1'],
		]);
		expect(align(several.slice(1), created)).toEqual([
			[1, 'r0'],
			[2, 'r1'],
		]);
	});
});
