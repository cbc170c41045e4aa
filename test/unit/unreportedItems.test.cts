import type { WriteMode } from '../../nodes/DataPlatform/bulk/plan.ts';
import {
	unknownItem,
	resolveUnreported,
	type UnresolvedContext,
} from '../../nodes/DataPlatform/bulk/resolve.ts';
import type { FieldValues, PlatformRecord } from '../../nodes/DataPlatform/api/types.ts';
import type { PreparedRecord } from '../../nodes/DataPlatform/bulk/batches.ts';
import { sendableOf, storedOf } from './fixtures.cts';
import { BEFORE, LATER, SINCE, responseOf, context, timedOut } from './outcomeFixtures.cts';

describe('an item that no response confirms', () => {
	const sent = sendableOf({ key: 'a', id: 'r1', fields: { code: 'a', n: 1 } });
	const holding = (values: FieldValues, times = {}) =>
		storedOf({ id: 'r1', fields: { code: 'a', n: 1, ...values }, ...times });
	const silent: UnresolvedContext = {
		response: responseOf({ bulk: { successCount: 1 }, data: [] }),
	};
	/** The response was lost. */
	const lost = 'lost' as const;
	const attempted = (prepared: PreparedRecord) => ({ ...prepared, previousAttempt: timedOut });
	const resolve = (
		mode: WriteMode,
		found: PlatformRecord[],
		unresolved: UnresolvedContext | typeof lost,
		prepared = sent,
	) =>
		unresolved === lost
			? resolveUnreported(attempted(prepared), found, {}, context(mode))
			: resolveUnreported(prepared, found, unresolved, context(mode));

	test('a created record is found by its key, an older one with it does not count', () => {
		expect(resolve('create', [holding({}, { created: SINCE })], lost)).toMatchObject({
			outcome: 'inserted',
			id: 'r1',
		});
		const older = resolve('create', [holding({})], lost);
		expect(older).toMatchObject({ outcome: 'unknown' });
		expect(older.message).toContain("only an older record has the import key 'a'");
	});

	test('a new record with the key that holds other values is another writer’s', () => {
		const others = [holding({ n: 2 }, { created: SINCE, modified: SINCE })];
		const { outcome, id, message } = resolve('create', others, lost);
		expect([outcome, id]).toEqual(['unknown', undefined]);
		expect(message).toContain("the record holds 2 in 'n'");
		const response = responseOf({ data: [], errors: [{ message: 'must be unique' }] });
		expect(resolve('create', others, { response })).toMatchObject({
			outcome: 'failed',
			message: 'must be unique',
		});
	});

	test('an upsert did not insert a new record that it changed later, or that the response does not count', () => {
		const changed = [holding({}, { created: SINCE, modified: LATER })];
		expect(resolve('upsert', changed, silent)).toMatchObject({ outcome: 'updated' });
		const same = [holding({}, { created: SINCE, modified: SINCE })];
		expect(resolve('upsert', same, silent)).toMatchObject({ outcome: 'inserted' });
	});

	// Another item's record in the response.
	const listed = (created: string, modified: string) => ({ id: 'r2', created, modified });
	test.each([
		['counts none', 0, [], 'unchanged'],
		['counts the one that it lists', 1, [listed(SINCE, SINCE)], 'unchanged'],
		['counts one, and lists one that it updated', 1, [listed(SINCE, LATER)], 'inserted'],
		['counts one, and lists an older one', 1, [listed(BEFORE, BEFORE)], 'inserted'],
		['counts one, and does not say when the other was inserted', 1, [{ id: 'r2' }], 'inserted'],
		['counts two, and lists one', 2, [listed(SINCE, SINCE)], 'inserted'],
		['does not count, and lists one', undefined, [listed(SINCE, SINCE)], 'inserted'],
	])('a new record, where the response %s: %#', (_, insertedCount, data, outcome) => {
		const response = responseOf({ bulk: { insertedCount }, data }, 2);
		const same = [holding({}, { created: SINCE, modified: SINCE })];
		expect(resolve('upsert', same, { response })).toMatchObject({ outcome });
		// Whoever inserted it, somebody changed it since.
		const changed = [holding({}, { created: SINCE, modified: LATER })];
		expect(resolve('upsert', changed, { response })).toMatchObject({ outcome: 'updated' });
	});

	test('a created record that is not there stays unknown after a failure', () => {
		const { outcome, message, hint } = resolve('create', [], lost);
		expect(outcome).toBe('unknown');
		expect(message).toContain("a look-up did not find the import key 'a'");
		expect(hint).toEqual({ code: 'lookBeforeCreatingManyAgain' });
	});

	test('a created record that is not there failed if the response came', () => {
		expect(resolve('create', [], silent)).toMatchObject({
			outcome: 'failed',
			message: expect.stringContaining('did not mention this item'),
		});
	});

	test('the only error without a position is its reason', () => {
		const response = responseOf({ data: [], errors: [{ message: 'too young', id: 'c' }] });
		expect(resolve('create', [], { response })).toMatchObject({ message: 'too young', code: 'c' });
	});

	test('several errors without a position are all given, without saying which is its', () => {
		const response = responseOf({ data: [], errors: [{ message: 'one' }, { message: 'two' }] });
		expect(resolve('upsert', [], { response }).message).toContain(
			'its reasons, without saying for which item: one; two',
		);
	});

	test('an update of what is not there is notFound', () => {
		for (const mode of ['update', 'replace'] as const) {
			for (const unresolved of [silent, lost]) {
				expect(resolve(mode, [], unresolved)).toMatchObject({ outcome: 'notFound', id: 'r1' });
			}
		}
	});

	test('what holds the values and was not touched is unchanged', () => {
		expect(resolve('update', [holding({})], silent).outcome).toBe('unchanged');
		expect(resolve('upsert', [holding({})], silent).outcome).toBe('unchanged');
		expect(resolve('upsert', [holding({})], lost).outcome).toBe('unchanged');
	});

	test('what holds the values and was changed since is updated', () => {
		const changed = holding({}, { modified: SINCE });
		expect(resolve('update', [changed], lost).outcome).toBe('updated');
		expect(resolve('upsert', [changed], lost).outcome).toBe('updated');
	});

	test('an upsert that is newer than the run is inserted', () => {
		const made = holding({}, { created: SINCE, modified: SINCE });
		expect(resolve('upsert', [made], lost).outcome).toBe('inserted');
		expect(resolve('upsert', [holding({})], silent, { ...sent, before: null }).outcome).toBe(
			'inserted',
		);
	});

	test('a skipped write names what the record holds instead', () => {
		expect(resolve('update', [holding({ n: 2 })], silent)).toEqual({
			outcome: 'failed',
			id: 'r1',
			field: 'n',
			code: undefined,
			message: "The response did not mention this item, and the record holds 2 in 'n'",
		});
	});

	test.each(['update', 'replace', 'upsert'] as const)(
		'%s: other values, where the record was changed during the run, are unknown',
		(mode) => {
			const changed = [holding({ n: 2 }, { modified: SINCE })];
			const { outcome, id, field, message } = resolve(mode, changed, silent);
			expect([outcome, id, field]).toEqual(['unknown', 'r1', 'n']);
			expect(message).toContain("changed during the run; the record holds 2 in 'n'");
			const response = responseOf({ data: [], errors: [{ message: 'too young' }] });
			expect(resolve(mode, changed, { response })).toMatchObject({
				outcome: 'failed',
				message: 'too young',
			});
		},
	);

	test('other values after a failure are unknown: the write may still come', () => {
		const { outcome, message } = resolve('update', [holding({ n: 2 })], lost);
		expect(outcome).toBe('unknown');
		expect(message).toContain("No response; the record holds 2 in 'n'");
	});

	test('a full update did not happen while a field that it clears holds something', () => {
		const left = sendableOf({ id: 'r1', fields: { n: 1 } });
		const stored = holding({ sum: 5 });
		expect(resolve('replace', [stored], silent, left)).toMatchObject({
			outcome: 'failed',
			field: 'code',
		});
		expect(resolve('update', [stored], silent, left).outcome).toBe('unchanged');
		const cleared = holding({ code: null, sum: 5 });
		expect(resolve('replace', [cleared], silent, left).outcome).toBe('unchanged');
	});

	test('a record that the response confirms out of order is updated', () => {
		const response = responseOf({ data: [{ id: 'r1' }] });
		expect(resolve('upsert', [holding({ n: 2 })], { response }).outcome).toBe('updated');
	});

	test('of several with the key the confirmed one counts', () => {
		const response = responseOf({ data: [{ id: 'r2' }] });
		const found = [
			holding({}),
			storedOf({ id: 'r2', created: SINCE, modified: SINCE, fields: { code: 'a' } }),
		];
		expect(resolve('upsert', found, { response })).toMatchObject({ outcome: 'inserted', id: 'r2' });
	});

	test('values that cannot be compared are unknown unless something confirms them', () => {
		const file = sendableOf({ id: 'r1', fields: { file: 'https://example.com/a' } });
		const stored = storedOf({ id: 'r1', fields: { file: [{ fileId: 'f' }] } });
		expect(resolve('update', [stored], lost, file).outcome).toBe('unknown');
		expect(resolve('update', [{ ...stored, modified: SINCE }], lost, file).outcome).toBe('updated');
		expect(resolve('update', [stored], silent, file).outcome).toBe('unknown');
	});
});

test.each(['create', 'upsert', 'update', 'replace'] as const)(
	'an unknown %s says what to do',
	(mode) => {
		const { outcome, message, hint } = unknownItem(mode, 'reason');
		expect(outcome).toBe('unknown');
		expect(message).toContain('Unknown whether this record was written: reason');
		if (mode === 'create') expect(hint).toEqual({ code: 'lookBeforeCreatingManyAgain' });
		else expect(hint).toContain('It is safe to run it again');
	},
);
