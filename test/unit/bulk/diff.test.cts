/** What a record would change, compared with what is stored. */
import { diffEntry } from '../../../nodes/DataPlatform/bulk/diff.ts';
import { isSuccess, OUTCOMES } from '../../../nodes/DataPlatform/bulk/outcome.ts';
import type { WriteMode } from '../../../nodes/DataPlatform/bulk/plan.ts';
import { sentFields, toJson, type Entry } from '../../../nodes/DataPlatform/bulk/entry.ts';
import type { FieldValues } from '../../../nodes/DataPlatform/api/types.ts';
import { storedOf } from '../fixtures.cts';
import { BEFORE, context } from '../outcomeFixtures.cts';

const id = 'x';
const stored = (fields: FieldValues) => storedOf({ id, ver: 3, fields });
const unchanged = { outcome: 'unchanged', id, created: BEFORE, modified: BEFORE, ver: 3 };

type Row = [
	what: string,
	mode: WriteMode,
	sent: FieldValues,
	before: FieldValues | undefined,
	/** The fields that are sent, or the item's outcome where nothing is. */
	result: { sends: FieldValues } | { outcome: string },
];

function diff(
	mode: WriteMode,
	record: Partial<Entry>,
	before: FieldValues | undefined,
	isDryRun: boolean,
) {
	const planned = { index: 0, id: 'x', key: 'a', fields: {}, ...record };
	const upsert = { ...context(mode), key: 'code' };
	return diffEntry({ ...planned, before: before ? stored(before) : null }, upsert, isDryRun);
}
/** What is left to send; fails if nothing is. */
function changeOf(...args: Parameters<typeof diff>): Entry {
	const result = diff(...args);
	if ('outcome' in result) throw new Error(`nothing is sent: ${result.outcome}`);
	return result;
}

describe('skipping what is unchanged', () => {
	test.each<Row>([
		['holds all of it', 'update', { n: 1 }, { code: 'a', n: 1 }, unchanged],
		['differs', 'update', { n: 2 }, { code: 'a', n: 1 }, { sends: { n: 2 } }],
		[
			'differs in one of several fields',
			'update',
			{ code: 'a', n: 2 },
			{ code: 'a', n: 1 },
			{ sends: { n: 2 } },
		],
		['lacks a field', 'update', { n: 1 }, { code: 'a' }, { sends: { n: 1 } }],
		[
			'may differ: nobody can know',
			'update',
			{ n: 1, file: 'https://example.com/a' },
			{ n: 1, file: [{ fileId: 'f' }] },
			{ sends: { file: 'https://example.com/a' } },
		],
		['is not there', 'update', { n: 1 }, undefined, { outcome: 'notFound' }],
		['is not there', 'replace', { n: 1 }, undefined, { outcome: 'notFound' }],
		['is not there', 'upsert', { code: 'a' }, undefined, { sends: { code: 'a' } }],
		[
			'differs: an upsert sends its key too',
			'upsert',
			{ code: 'a', n: 2 },
			{ code: 'a', n: 1 },
			{ sends: { n: 2, code: 'a' } },
		],
		[
			'holds the key in another form, by which it was found',
			'upsert',
			{ code: 'a', n: 1 },
			{ code: 'A', n: 1 },
			unchanged,
		],
		[
			'holds it all, and nothing else that a full update would clear',
			'replace',
			{ n: 1 },
			{ n: 1, code: null },
			unchanged,
		],
		[
			'holds another field: a full update is sent whole',
			'replace',
			{ n: 1 },
			{ n: 1, code: 'a' },
			{ sends: { n: 1 } },
		],
		[
			'holds a calculated field, which no update clears',
			'replace',
			{ n: 1 },
			{ n: 1, sum: 5, unknown: 5 },
			unchanged,
		],
		['another key in an update', 'update', { code: 'b' }, { code: 'a' }, { sends: { code: 'b' } }],
	])('the record %s: %s of %j, stored %j', (_, mode, sent, before, result) => {
		if ('sends' in result) {
			const change = changeOf(mode, { fields: sent }, before, false);
			expect(sentFields(change)).toEqual(result.sends);
			expect(JSON.parse(toJson(change))).toEqual({ id: 'x', fields: result.sends });
		} else expect(diff(mode, { fields: sent }, before, false)).toMatchObject(result);
	});

	test('knows whether there was a record before, and which', () => {
		expect(changeOf('update', { fields: { n: 2 } }, { n: 1 }, false).before).toEqual(
			stored({ n: 1 }),
		);
		expect(changeOf('replace', { fields: { n: 2 } }, { n: 1 }, false).before).toEqual(
			stored({ n: 1 }),
		);
		expect(changeOf('upsert', { fields: {} }, undefined, false).before).toBeNull();
	});

	test('an uncertain key may be another item’s too: it is written even if it holds everything', () => {
		const record = { fields: { code: 'a', n: 1 }, hasUncertainKey: true };
		const change = changeOf('upsert', record, { code: 'A', n: 1 }, false);
		expect(change.sent).toEqual({ code: 'a' });
		expect(diff('upsert', record, { code: 'A', n: 1 }, true)).toEqual(unchanged);
	});

	test('an upsert without a known key sends what differs', () => {
		const before = stored({ code: 'a', n: 1 });
		const entry = { index: 0, fields: { code: 'a', n: 2 }, before };
		expect(diffEntry(entry, context('upsert'), false)).toMatchObject({ sent: { n: 2 }, before });
	});
});

describe('a dry run returns', () => {
	test.each<Row>([
		[
			'what would be inserted',
			'upsert',
			{ code: 'a' },
			undefined,
			{ outcome: 'inserted', after: { code: 'a' } } as never,
		],
		[
			'what would change, and from what',
			'update',
			{ code: 'a', n: 2, file: 'https://example.com/a' },
			{ code: 'a', n: 1 },
			{
				outcome: 'updated',
				id,
				before: { n: 1, file: null },
				after: { n: 2, file: 'https://example.com/a' },
			} as never,
		],
		[
			'what a full update would clear',
			'replace',
			{ n: 1 },
			{ n: 1, code: 'a' },
			{ outcome: 'updated', id, before: { code: 'a' }, after: { code: null } } as never,
		],
		['that nothing would change', 'upsert', { code: 'a', n: 1 }, { code: 'a', n: 1 }, unchanged],
		[
			'that there is no such record',
			'update',
			{ n: 1 },
			undefined,
			{ outcome: 'notFound', id: 'x' } as never,
		],
	])('%s', (_, mode, sent, before, result) => {
		expect(diff(mode, { fields: sent }, before, true)).toMatchObject(result);
	});

	const failed = (message: string, id?: string) => ({
		outcome: 'failed',
		id,
		message,
		hint: { code: 'updateInstead' },
	});
	const shared = (isFirst: boolean) => ({
		key: undefined,
		fields: { code: 'a' },
		sharedKey: { text: 'a', isFirst },
	});
	test.each<[string, Partial<Entry>, FieldValues | undefined, object]>([
		[
			'that the key is taken',
			{ fields: { code: 'a' } },
			{ code: 'a' },
			failed("A record with the import key 'a' already exists", 'x'),
		],
		[
			'that the key is taken, of an item that shares it',
			shared(true),
			{ code: 'a' },
			failed("A record with the import key 'a' already exists", 'x'),
		],
		[
			'that an item before it takes the key',
			shared(false),
			undefined,
			failed("A previous item has the same import key 'a'"),
		],
		[
			'that the first of those items would be inserted',
			shared(true),
			undefined,
			{ outcome: 'inserted', after: { code: 'a' } },
		],
		[
			'that it would be inserted',
			{ fields: { code: 'a' } },
			undefined,
			{ outcome: 'inserted', after: { code: 'a' } },
		],
	])('of a create %s', (_, record, before, expected) => {
		expect(diff('create', record, before, true)).toEqual(expected);
	});
});

test('a success is what was asked for: written, held already, found or skipped', () => {
	expect(OUTCOMES.filter((outcome) => isSuccess({ outcome }))).toEqual([
		'inserted',
		'updated',
		'unchanged',
		'found',
		'skipped',
		'deleted',
		'marked',
	]);
});
