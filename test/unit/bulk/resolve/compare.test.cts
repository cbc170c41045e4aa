/** Whether a stored record has the values that were sent, and whether two readings of it are the same version. */
import type { FieldValues, RecordMetadata } from '../../../../nodes/DataPlatform/api/types.ts';
import { firstDifference, isAppending, isSameVersion } from '../../../../nodes/DataPlatform/bulk/resolve/compare.ts';
import { fieldOf, sendableOf, storedOf } from '../../fixtures.cts';
import { context } from '../../outcomeFixtures.cts';
import type { Entry, WriteMode } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const URL = 'https://example.com/a';
const added = { add: [{ filename: 'a' }] };
const files = (...ids: string[]) => ids.map((fileId) => ({ fileId, fileName: 'a' }));

/** The first field that differs, such as `n differs`, or can't be compared, such as `file uncertain`; else `none`. */
function difference(mode: WriteMode, entry: Partial<Entry>, stored: FieldValues) {
	const found = firstDifference(sendableOf(entry), storedOf({ id: 'x', fields: stored }), context(mode));
	if (!found) return 'none';
	expect([false, undefined]).toContain(found.isHeld);
	return `${found.name} ${found.isHeld === false ? 'differs' : 'uncertain'}`;
}

// The table has the key `code`, the number `n`, the calculated field `sum`, and `file`.
test.each<[rule: string, WriteMode, sent: FieldValues, stored: FieldValues, difference: string]>([
	['values that are stored as they were sent do not differ', 'update', { code: 'a', n: 1 }, { code: 'a', n: 1 }, 'none'],
	['a field with another value differs', 'update', { code: 'a', n: 1 }, { code: 'a', n: 2 }, 'n differs'],
	['a field that the record lacks differs', 'update', { code: 'a', n: 1 }, { code: 'a' }, 'n differs'],
	['a file that was sent as an address can’t be compared', 'update', { file: URL, n: 1 }, { file: files('f'), n: 1 }, 'file uncertain'],
	['a difference matters more than a field that can’t be compared', 'update', { file: URL, n: 1 }, { file: files('f'), n: 2 }, 'n differs'],
	['a field that was emptied may be missing', 'update', { n: null }, {}, 'none'],
	['a field that was emptied and has a value differs', 'update', { n: null }, { n: 1 }, 'n differs'],
	['a replacing update empties the fields that it does not send', 'replace', { n: 1 }, { n: 1, code: 'a' }, 'code differs'],
	['a replacing update can’t empty calculated or unknown fields', 'replace', { n: 1 }, { n: 1, sum: 5, other: 5 }, 'none'],
	['any other update leaves the fields that it does not send', 'update', { n: 1 }, { n: 1, code: 'a' }, 'none'],
	['an upsert, which finds the record by its key, does not compare the key', 'upsert', { code: 'a' }, { code: 'A' }, 'none'],
	['an update may change the key, so it compares it', 'update', { code: 'a' }, { code: 'A' }, 'code differs'],
	['a creation sets the key, so it compares it', 'create', { code: 'a' }, { code: 'A' }, 'code differs'],
])('%s', (_, mode, fields, stored, expected) => {
	expect(difference(mode, { fields }, stored)).toBe(expected);
});

test.each<[stored: FieldValues, difference: object]>([
	[
		{ n: 1, team: null },
		{ name: 'team', isHeld: undefined },
	],
	[
		{ n: 1, team: {} },
		{ name: 'team', isHeld: undefined },
	],
	[
		{ n: 1, team: { id: 's' } },
		{ name: 'team', isHeld: false },
	],
	[
		{ n: 2, team: null },
		{ name: 'n', isHeld: false },
	],
])('a link may be stored some time after the rest: %j', (fields, expected) => {
	const { fields: known, ...rest } = context('update');
	const linked = { ...rest, fields: new Map([...known, ['team', fieldOf('team', 'schema_link')]]) };
	const sent = sendableOf({ fields: { team: { id: 'r' }, n: 1 } });
	expect(firstDifference(sent, storedOf({ id: 'x', fields }), linked)).toMatchObject(expected);
});

test('only the fields that were sent are compared', () => {
	const entry = { fields: { code: 'a', n: 1 }, sent: { n: 1 } };
	expect(difference('update', entry, { code: 'b', n: 1 })).toBe('none');
});

test('an upsert of a record whose ID is known is an update, which may change its key', () => {
	expect(difference('upsert', { id: 'x', fields: { code: 'a' } }, { code: 'A' })).toBe('code differs');
});

describe('after a file was added to a record', () => {
	test.each<[rule: string, before: FieldValues, after: FieldValues, difference: string]>([
		['a first file may be the one', {}, { file: files('f') }, 'file uncertain'],
		['a second file may be the one', { file: files('f') }, { file: files('f', 'g') }, 'file uncertain'],
		['a file in place of another may be the one', { file: files('f') }, { file: files('g') }, 'file uncertain'],
		['a file from before is not the one', { file: files('f') }, { file: files('f') }, 'file differs'],
		['a value that is no file is not the one', { file: ['x'] }, { file: ['x'] }, 'file differs'],
		['the file is missing if the field has none', { file: files('f') }, {}, 'file differs'],
	])('%s', (_, before, after, expected) => {
		const entry = { fields: { file: added }, before: storedOf({ id: 'x', fields: before }) };
		expect(difference('update', entry, after)).toBe(expected);
	});

	test('a file that another record had before may be the one', () => {
		const entry = { fields: { file: added }, before: storedOf({ id: 'y', fields: { file: files('f') } }) };
		expect(difference('update', entry, { file: files('f') })).toBe('file uncertain');
	});

	test.each([
		[1, 'file uncertain'],
		[2, 'n differs'],
	])('another field, sent as 1 and stored as %d, is compared as ever: %s', (n, expected) => {
		const before = storedOf({ id: 'x', fields: { file: files('f'), n: 1 } });
		expect(difference('update', { fields: { file: added, n: 1 }, before }, { file: files('f', 'g'), n })).toBe(expected);
	});
});

test.each<[Partial<Entry>, boolean]>([
	[{ fields: { file: added } }, true],
	[{ fields: { file: URL } }, true],
	[{ fields: { file: { remove: ['f'] } } }, false],
	[{ fields: { n: 1 } }, false],
	[{ fields: { file: added }, sent: { n: 1 } }, false],
	[{ fields: { n: 1 }, sent: { file: added } }, true],
])('sending %j twice may add a file twice: %s; without fields for files it never does', (entry, expected) => {
	expect(isAppending(sendableOf(entry), context('update').fields.values())).toBe(expected);
	expect(isAppending(sendableOf(entry), [])).toBe(false);
});

const [AT, SECONDS] = ['2026-01-01T00:00:00.501Z', '2026-01-01T00:00:00Z'];
const SAME_TIME = '2026-01-01T01:00:00.501+01:00';
test.each<[Partial<RecordMetadata>, Partial<RecordMetadata>, isSame: boolean | undefined]>([
	[{ ver: 1, modified: AT }, { ver: 1, modified: SECONDS }, true],
	[{ ver: 1, modified: AT }, { ver: 2, modified: AT }, false],
	[{ ver: 1, modified: AT }, { modified: AT }, true],
	[{ modified: AT }, { ver: 1, modified: AT }, true],
	[{ modified: AT }, { modified: SAME_TIME }, true],
	[{ modified: AT }, { modified: SECONDS }, false],
	// Within one second there may be two changes: nobody can say.
	[{ modified: SECONDS }, { modified: SECONDS }, undefined],
	[{ modified: AT }, {}, false],
	[{}, { modified: AT }, false],
	[{}, {}, false],
])('a record with %j and one with %j are the same version: %s', (one, other, expected) => {
	expect(isSameVersion({ id: 'x', ...one }, { id: 'x', ...other })).toBe(expected);
});
