/** Which record of a response belongs to which item. */
import type { Entry } from '../../../nodes/DataPlatform/bulk/entry.ts';
import { alignByContent, pairByPosition } from '../../../nodes/DataPlatform/bulk/pairing.ts';
import type { FieldValues, PlatformRecord } from '../../../nodes/DataPlatform/api/types.ts';
import { sendableOf, storedOf } from '../fixtures.cts';
import { fields, responseOf } from '../outcomeFixtures.cts';

describe('pairing by position', () => {
	const batch = ['a', 'b', 'c'].map((code, index) => sendableOf({ index, fields: { code } }));
	const pair = (body: Record<string, unknown>) =>
		pairByPosition(batch, responseOf(body, 3))?.map(([{ index }, { id }]) => [index, id]);
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

describe('pairing', () => {
	const batch = ['a', 'b', 'c'].map((code, index) => sendableOf({ index, fields: { code } }));
	test.each<[bulk: object, isPaired: boolean]>([
		[{ insertedCount: 2, updatedCount: 1 }, true],
		[{ insertedCount: 1, updatedCount: 1 }, false],
		[{ insertedCount: 4, updatedCount: 0 }, false],
		[{}, true],
	])('by position, with three records and the counts %j: %s', (bulk, isPaired) => {
		const response = responseOf({ bulk, data: [{ id: 'x' }, { id: 'y' }, { id: 'z' }] }, 3);
		expect(pairByPosition(batch, response) !== undefined).toBe(isPaired);
	});

	type Pairs = Array<[item: number, record: string | undefined]>;
	test.each<[string, sent: FieldValues[], created: FieldValues[], Pairs | undefined]>([
		[
			'all',
			[{ n: 1 }, { n: 2 }],
			[{ n: 1 }, { n: 2 }],
			[
				[0, 'r0'],
				[1, 'r1'],
			],
		],
		['the first is missing', [{ n: 1 }, { n: 2 }], [{ n: 2 }], [[1, 'r0']]],
		['the last is missing', [{ n: 1 }, { n: 2 }], [{ n: 1 }], [[0, 'r0']]],
		['in another order', [{ n: 1 }, { n: 2 }], [{ n: 2 }, { n: 1 }], undefined],
		['two alike, one created', [{ n: 1 }, { n: 1 }], [{ n: 1 }], [[0, 'r0']]],
		[
			'two alike, both created',
			[{ n: 1 }, { n: 1 }],
			[{ n: 1 }, { n: 1 }],
			[
				[0, 'r0'],
				[1, 'r1'],
			],
		],
		[
			'alike on both sides of another',
			[{ n: 1 }, { n: 2 }, { n: 1 }],
			[{ n: 1 }, { n: 2 }],
			[
				[0, 'r0'],
				[1, 'r1'],
			],
		],
		[
			'alike on both sides of another, the first is missing',
			[{ n: 1 }, { n: 2 }, { n: 1 }],
			[{ n: 2 }, { n: 1 }],
			[
				[1, 'r0'],
				[2, 'r1'],
			],
		],
		[
			'two fit, what they hold differs',
			[{ n: 1 }, { n: 1, code: 'a' }],
			[{ n: 1, code: 'a' }],
			[
				[0, undefined],
				[1, undefined],
			],
		],
		[
			'two are alike, and one of their records may be of a third: none is said not to be created',
			[{ n: 1 }, { n: 1, code: 'a' }, { n: 1, code: 'a' }],
			[
				{ n: 1, code: 'a' },
				{ n: 1, code: 'a' },
			],
			[
				[0, undefined],
				[1, 'r1'],
				[2, undefined],
			],
		],
		[
			'two are alike, and the third, which may have the first record, comes after them',
			[{ n: 1, code: 'a' }, { n: 1, code: 'a' }, { n: 1 }],
			[
				{ n: 1, code: 'a' },
				{ n: 1, code: 'a' },
			],
			[
				[0, 'r0'],
				[1, undefined],
				[2, undefined],
			],
		],
		[
			'two are alike, and others are not certain',
			[{ n: 1 }, { n: 1 }, { n: 2 }, { n: 2, code: 'a' }],
			[{ n: 1 }, { n: 2, code: 'a' }],
			[
				[0, 'r0'],
				[2, undefined],
				[3, undefined],
			],
		],
		[
			'two fit, but the next record needs the second',
			[{ n: 1 }, { n: 1, code: 'a' }],
			[
				{ n: 1, code: 'a' },
				{ n: 1, code: 'a' },
			],
			[
				[0, 'r0'],
				[1, 'r1'],
			],
		],
		['a record fits none', [{ n: 1 }], [{ n: 5 }], undefined],
		['more records than items', [{ n: 1 }], [{ n: 1 }, { n: 1 }], undefined],
	])('by what they hold: %s', (_, items, created, pairs) => {
		const rest = items.map((values, index) => sendableOf({ index, fields: values }));
		const records = created.map((values, index) => storedOf({ id: `r${index}`, fields: values }));
		const aligned = alignByContent(rest, records, fields);
		const found = aligned && [...aligned].map(([{ index }, to]) => [index, to?.id] as const);
		expect(found?.sort(([a], [b]) => a - b)).toEqual(pairs);
	});
});

describe('records without a key, read back', () => {
	const rest = ['a', 'b', 'a'].map((code, index) => sendableOf({ index, fields: { code } }));
	const read = (...codes: string[]) =>
		codes.map((code, index) => storedOf({ id: `r${index}`, fields: { code } }));
	const align = (sent: Entry[], created: PlatformRecord[]) => {
		const pairs = alignByContent(sent, created, fields);
		const found = pairs && [...pairs].map(([{ index }, to]) => [index, to?.id] as const);
		return found?.sort(([a], [b]) => a - b);
	};

	test('are found by their values, in order', () => {
		expect(align(rest, read('b', 'a'))).toEqual([
			[1, 'r0'],
			[2, 'r1'],
		]);
		expect(align(rest, [])).toEqual([]);
	});

	test('are not guessed if a record fits none', () => {
		expect(align(rest, read('c'))).toBeUndefined();
	});

	test('a value that cannot be compared is no objection', () => {
		const file = [sendableOf({ fields: { file: 'https://example.com/a' } })];
		const stored = [storedOf({ id: 'r0', fields: { file: [{ fileId: 'f' }] } })];
		expect(align(file, stored)).toEqual([[0, 'r0']]);
	});

	test('are not guessed if a record fits items with different values', () => {
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
