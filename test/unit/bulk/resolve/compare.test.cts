/** What a stored record says about what was sent. */
import type { FieldValues, RecordMetadata } from '../../../../nodes/DataPlatform/api/types.ts';
import { firstDifference, isAppending, isSameVersion } from '../../../../nodes/DataPlatform/bulk/resolve/compare.ts';
import { sendableOf, storedOf } from '../../fixtures.cts';
import { context } from '../../outcomeFixtures.cts';
import type { Entry, WriteMode } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const URL = 'https://example.com/a';
const added = { add: [{ filename: 'a' }] };
const files = (...ids: string[]) => ids.map((fileId) => ({ fileId, fileName: 'a' }));

/** `n false`: the field that differs, and whether it holds what was sent. */
function difference(mode: WriteMode, entry: Partial<Entry>, stored: FieldValues) {
	const record = storedOf({ id: 'x', fields: stored });
	const found = firstDifference(sendableOf(entry), record, context(mode));
	return found && `${found.name} ${found.isHeld}`;
}

test.each<[string, WriteMode, sent: FieldValues, stored: FieldValues, string | undefined]>([
	['all are held', 'update', { code: 'a', n: 1 }, { code: 'a', n: 1 }, undefined],
	['one is not', 'update', { code: 'a', n: 1 }, { code: 'a', n: 2 }, 'n false'],
	['one is missing', 'update', { code: 'a', n: 1 }, { code: 'a' }, 'n false'],
	['one can’t be seen', 'update', { file: URL, n: 1 }, { file: files('f'), n: 1 }, 'file undefined'],
	['one rather is not', 'update', { file: URL, n: 1 }, { file: files('f'), n: 2 }, 'n false'],
	['one is emptied', 'update', { n: null }, {}, undefined],
	['one should be empty', 'update', { n: null }, { n: 1 }, 'n false'],
	['a full update clears others', 'replace', { n: 1 }, { n: 1, code: 'a' }, 'code false'],
	['of those that it can', 'replace', { n: 1 }, { n: 1, sum: 5, other: 5 }, undefined],
	['no other update does', 'update', { n: 1 }, { n: 1, code: 'a' }, undefined],
	['an upsert finds by the key', 'upsert', { code: 'a' }, { code: 'A' }, undefined],
	['an update may change it', 'update', { code: 'a' }, { code: 'A' }, 'code false'],
	['a creation sets it', 'create', { code: 'a' }, { code: 'A' }, 'code false'],
])('%s: %s of %j, stored %j: %s', (_, mode, fields, stored, expected) => {
	expect(difference(mode, { fields }, stored)).toBe(expected);
});

test('only what was sent is compared', () => {
	const entry = { fields: { code: 'a', n: 1 }, sent: { n: 1 } };
	expect(difference('update', entry, { code: 'b', n: 1 })).toBeUndefined();
});

test('an upsert of a known record is an update, which may change its key', () => {
	expect(difference('upsert', { id: 'x', fields: { code: 'a' } }, { code: 'A' })).toBe('code false');
});

describe('a file that was added', () => {
	test.each<[what: string, before: FieldValues, after: FieldValues, string]>([
		['may be a new one', {}, { file: files('f') }, 'file undefined'],
		['may be a second one', { file: files('f') }, { file: files('f', 'g') }, 'file undefined'],
		['may be another one', { file: files('f') }, { file: files('g') }, 'file undefined'],
		['is not one from before', { file: files('f') }, { file: files('f') }, 'file false'],
		['is not what is no file', { file: ['x'] }, { file: ['x'] }, 'file false'],
		['is not there', { file: files('f') }, {}, 'file false'],
	])('%s', (_, before, after, expected) => {
		const entry = { fields: { file: added }, before: storedOf({ id: 'x', fields: before }) };
		expect(difference('update', entry, after)).toBe(expected);
	});

	test('may be one that another record had before', () => {
		const before = storedOf({ id: 'y', fields: { file: files('f') } });
		const entry = { fields: { file: added }, before };
		expect(difference('update', entry, { file: files('f') })).toBe('file undefined');
	});

	test('does not change what other fields hold', () => {
		const before = storedOf({ id: 'x', fields: { file: files('f'), n: 1 } });
		const entry = { fields: { file: added, n: 1 }, before };
		const after = { file: files('f', 'g'), n: 1 };
		expect(difference('update', entry, after)).toBe('file undefined');
		expect(difference('update', entry, { ...after, n: 2 })).toBe('n false');
	});
});

test.each<[Partial<Entry>, boolean]>([
	[{ fields: { file: added } }, true],
	[{ fields: { file: URL } }, true],
	[{ fields: { file: { remove: ['f'] } } }, false],
	[{ fields: { n: 1 } }, false],
	[{ fields: { file: added }, sent: { n: 1 } }, false],
	[{ fields: { n: 1 }, sent: { file: added } }, true],
])('to send %j twice could add something twice: %s', (entry, expected) => {
	expect(isAppending(sendableOf(entry), context('update'))).toBe(expected);
	expect(isAppending(sendableOf(entry), { appendable: [] })).toBe(false);
});

const [AT, SECONDS] = ['2026-01-01T00:00:00.501Z', '2026-01-01T00:00:00Z'];
const sameTime = '2026-01-01T01:00:00.501+01:00';
test.each<[Partial<RecordMetadata>, Partial<RecordMetadata>, boolean | undefined]>([
	[{ ver: 1, modified: AT }, { ver: 1, modified: SECONDS }, true],
	[{ ver: 1, modified: AT }, { ver: 2, modified: AT }, false],
	[{ ver: 1, modified: AT }, { modified: AT }, true],
	[{ modified: AT }, { ver: 1, modified: AT }, true],
	[{ modified: AT }, { modified: sameTime }, true],
	[{ modified: AT }, { modified: SECONDS }, false],
	[{ modified: SECONDS }, { modified: SECONDS }, undefined],
	[{ modified: AT }, {}, false],
	[{}, { modified: AT }, false],
	[{}, {}, false],
])('%j and %j are one version: %s', (one, other, expected) => {
	expect(isSameVersion({ id: 'x', ...one }, { id: 'x', ...other })).toBe(expected);
});
