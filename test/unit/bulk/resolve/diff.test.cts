/** What a record would change, compared with what is stored. */
import { diffEntry } from '../../../../nodes/DataPlatform/bulk/resolve/compare.ts';
import { toJson } from '../../../../nodes/DataPlatform/bulk/entry.ts';
import type { FieldValues } from '../../../../nodes/DataPlatform/api/types.ts';
import { storedOf } from '../../fixtures.cts';
import { BEFORE, context } from '../../outcomeFixtures.cts';
import type { Entry, ItemOutcome, WriteMode } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const URL = 'https://example.com/a';
const FILES = [{ fileId: 'f' }];
const unchanged = { outcome: 'unchanged', id: 'x', created: BEFORE, modified: BEFORE, ver: 3 };
const stored = (fields: FieldValues) => storedOf({ id: 'x', ver: 3, fields });

/** @param before undefined if there is no record */
const diff = (mode: WriteMode, entry: Partial<Entry>, before: FieldValues | undefined, isDryRun = false) =>
	diffEntry({ index: 0, id: 'x', key: 'a', fields: {}, ...entry, before: before ? stored(before) : null }, context(mode), isDryRun);

test.each<[string, WriteMode, FieldValues, FieldValues | undefined, sends: FieldValues]>([
	['one value differs', 'update', { code: 'a', n: 2 }, { code: 'a', n: 1 }, { n: 2 }],
	['a value is missing', 'update', { n: 1 }, { code: 'a' }, { n: 1 }],
	['one may differ', 'update', { n: 1, file: URL }, { n: 1, file: FILES }, { file: URL }],
	['the key changes', 'update', { code: 'b' }, { code: 'a' }, { code: 'b' }],
	['there is no record', 'upsert', { code: 'a' }, undefined, { code: 'a' }],
	['it was found by its key', 'upsert', { code: 'a', n: 2 }, { code: 'a', n: 1 }, { n: 2 }],
	['a full update clears a field', 'replace', { n: 1 }, { n: 1, code: 'a' }, { n: 1 }],
])('if %s, an %s of %j, stored %j, sends %j', (_, mode, fields, before, sends) => {
	const entry = diff(mode, { fields }, before);
	if ('outcome' in entry) throw new Error(`nothing is sent: ${entry.outcome}`);
	expect(JSON.parse(toJson(entry))).toEqual({ id: 'x', fields: sends });
	expect(entry.before).toEqual(before ? stored(before) : null);
});

test.each<[string, WriteMode, FieldValues, FieldValues | undefined, object]>([
	['it holds all', 'update', { n: 1 }, { code: 'a', n: 1 }, unchanged],
	['its key is in another form', 'upsert', { code: 'a', n: 1 }, { code: 'A', n: 1 }, unchanged],
	['it holds nothing else', 'replace', { n: 1 }, { n: 1, code: null }, unchanged],
	['nothing else is cleared', 'replace', { n: 1 }, { n: 1, sum: 5, other: 5 }, unchanged],
	['there is no record', 'update', { n: 1 }, undefined, { outcome: 'notFound', id: 'x' }],
	['there is no record', 'replace', { n: 1 }, undefined, { outcome: 'notFound', id: 'x' }],
])('nothing is sent if %s: %s of %j, stored %j', (_, mode, fields, before, outcome) => {
	expect(diff(mode, { fields }, before)).toMatchObject(outcome);
});

test('an upsert that was found by its key is an update of that record', () => {
	const entry = { id: undefined, fields: { code: 'a', n: 2 } };
	expect(diff('upsert', entry, { n: 1 })).toMatchObject({ id: 'x', sent: { n: 2 } });
});

describe('a dry run returns', () => {
	const changes = (before: object, after: object) => ({ outcome: 'updated', id: 'x', before, after }) as ItemOutcome;
	const inserts = { outcome: 'inserted', after: { code: 'a' } };
	const missing = { outcome: 'notFound', id: 'x' };
	test.each<[string, WriteMode, FieldValues, FieldValues | undefined, object]>([
		['an insert', 'upsert', { code: 'a' }, undefined, inserts],
		['no insert of an update', 'update', { code: 'a' }, undefined, missing],
		['both values', 'update', { n: 2, file: URL }, { n: 1 }, changes({ n: 1, file: null }, { n: 2, file: URL })],
		['what is cleared', 'replace', { n: 1 }, { n: 1, code: 'a' }, changes({ code: 'a' }, { code: null })],
		['that nothing changes', 'upsert', { code: 'a', n: 1 }, { code: 'a', n: 1 }, unchanged],
	])('%s: %s of %j, stored %j', (_, mode, fields, before, result) => {
		expect(diff(mode, { fields }, before, true)).toMatchObject(result);
	});

	test.each<[string, FieldValues | undefined, object]>([
		[
			'exists',
			{ code: 'a' },
			{
				...{ outcome: 'unknown', id: 'x', hint: "Use 'Create or Update' to update it." },
				message: "A record with the import key 'a' already exists: the platform would create a second record, or reject it",
			},
		],
		['is new', undefined, inserts],
	])('that the key of a creation %s', (_, before, expected) => {
		expect(diff('create', { fields: { code: 'a' } }, before, true)).toEqual(expected);
	});
});
