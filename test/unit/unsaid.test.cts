import type { WriteMode } from '../../nodes/DataPlatform/bulk/plan.ts';
import {
	unknownItem,
	resolveUnreported,
	type UnresolvedContext,
} from '../../nodes/DataPlatform/bulk/resolve.ts';
import type { FieldValues, PlatformRecord } from '../../nodes/DataPlatform/api/types.ts';
import { sendableOf, storedOf } from './fixtures.cts';
import { SINCE, answerOf, context, timedOut } from './settling.cts';

describe('an item that the answer leaves unsaid', () => {
	const sent = sendableOf({ key: 'a', id: 'r1', fields: { code: 'a', n: 1 } });
	const holding = (values: FieldValues, times = {}) =>
		storedOf({ id: 'r1', fields: { code: 'a', n: 1, ...values }, ...times });
	const silent: UnresolvedContext = { answer: answerOf({ bulk: { successCount: 1 }, data: [] }) };
	const settle = (
		mode: WriteMode,
		found: PlatformRecord[],
		unsaid: UnresolvedContext,
		sendable = sent,
	) => resolveUnreported(sendable, found, unsaid, context(mode));

	test('a created record is found by its key, an older one with it does not count', () => {
		expect(settle('create', [holding({}, { created: SINCE })], { cause: timedOut })).toMatchObject({
			outcome: 'inserted',
			id: 'r1',
		});
		const older = settle('create', [holding({})], { cause: timedOut });
		expect(older).toMatchObject({ outcome: 'unknown' });
		expect(older.message).toContain("only an older record has the import key 'a'");
	});

	test('a created record that is not there stays unknown after a failure', () => {
		const { outcome, message, hint } = settle('create', [], { cause: timedOut });
		expect(outcome).toBe('unknown');
		expect(message).toContain("a look-up did not find the import key 'a'");
		expect(hint).toContain("'Create or Update Many'");
	});

	test('a created record that is not there failed where the answer came', () => {
		expect(settle('create', [], silent)).toMatchObject({
			outcome: 'failed',
			message: expect.stringContaining('left this item out without a word'),
		});
	});

	test('the only error without a position is its reason', () => {
		const answer = answerOf({ data: [], errors: [{ message: 'too young', id: 'c' }] });
		expect(settle('create', [], { answer })).toMatchObject({ message: 'too young', code: 'c' });
	});

	test('several errors without a position are told without claiming whose they are', () => {
		const answer = answerOf({ data: [], errors: [{ message: 'one' }, { message: 'two' }] });
		expect(settle('upsert', [], { answer }).message).toContain(
			'its reasons, without saying for which item: one; two',
		);
	});

	test('an update of what is not there is notFound', () => {
		for (const mode of ['update', 'replace'] as const) {
			for (const unsaid of [silent, { cause: timedOut }]) {
				expect(settle(mode, [], unsaid)).toMatchObject({ outcome: 'notFound', id: 'r1' });
			}
		}
	});

	test('what holds the values and was not touched is unchanged', () => {
		expect(settle('update', [holding({})], silent).outcome).toBe('unchanged');
		expect(settle('upsert', [holding({})], silent).outcome).toBe('unchanged');
		expect(settle('upsert', [holding({})], { cause: timedOut }).outcome).toBe('unchanged');
	});

	test('what holds the values and was changed since is updated', () => {
		const changed = holding({}, { modified: SINCE });
		expect(settle('update', [changed], { cause: timedOut }).outcome).toBe('updated');
		expect(settle('upsert', [changed], { cause: timedOut }).outcome).toBe('updated');
	});

	test('an upsert that is newer than the run is inserted', () => {
		const made = holding({}, { created: SINCE, modified: SINCE });
		expect(settle('upsert', [made], { cause: timedOut }).outcome).toBe('inserted');
		expect(settle('upsert', [holding({})], silent, { ...sent, before: null }).outcome).toBe(
			'inserted',
		);
	});

	test('a skipped write names what the record holds instead', () => {
		expect(settle('update', [holding({ n: 2 })], silent)).toEqual({
			outcome: 'failed',
			id: 'r1',
			field: 'n',
			code: undefined,
			message: "The platform left this item out without a word, and the record holds 2 in 'n'",
		});
	});

	test('other values after a failure are unknown: the write may still come', () => {
		const { outcome, message } = settle('update', [holding({ n: 2 })], { cause: timedOut });
		expect(outcome).toBe('unknown');
		expect(message).toContain("No answer; the record holds 2 in 'n'");
	});

	test('a full update did not happen while a field that it clears holds something', () => {
		const left = sendableOf({ id: 'r1', fields: { n: 1 } });
		const stored = holding({ sum: 5 });
		expect(settle('replace', [stored], silent, left)).toMatchObject({
			outcome: 'failed',
			field: 'code',
		});
		expect(settle('update', [stored], silent, left).outcome).toBe('unchanged');
		const cleared = holding({ code: null, sum: 5 });
		expect(settle('replace', [cleared], silent, left).outcome).toBe('unchanged');
	});

	test('a record that the answer confirms out of order is taken at its word', () => {
		const answer = answerOf({ data: [{ id: 'r1' }] });
		expect(settle('upsert', [holding({ n: 2 })], { answer }).outcome).toBe('updated');
	});

	test('of several with the key the confirmed one counts', () => {
		const answer = answerOf({ data: [{ id: 'r2' }] });
		const found = [holding({}), storedOf({ id: 'r2', created: SINCE, fields: { code: 'a' } })];
		expect(settle('upsert', found, { answer })).toMatchObject({ outcome: 'inserted', id: 'r2' });
	});

	test('values that cannot be compared are unknown unless something confirms them', () => {
		const file = sendableOf({ id: 'r1', fields: { file: 'https://example.com/a' } });
		const stored = storedOf({ id: 'r1', fields: { file: [{ fileId: 'f' }] } });
		expect(settle('update', [stored], { cause: timedOut }, file).outcome).toBe('unknown');
		expect(
			settle('update', [{ ...stored, modified: SINCE }], { cause: timedOut }, file).outcome,
		).toBe('updated');
		expect(settle('update', [stored], silent, file).outcome).toBe('unchanged');
	});
});

test.each(['create', 'upsert', 'update', 'replace'] as const)(
	'an unknown %s says what to do',
	(mode) => {
		const { outcome, message, hint } = unknownItem(mode, 'reason');
		expect(outcome).toBe('unknown');
		expect(message).toContain('not known whether this record was written: reason');
		expect(hint).toContain(mode === 'create' ? 'Look for the record' : 'Run it again');
	},
);
