/** The counts in a bulk response, and whether they match its list. */
import {
	contradictsItself,
	countsAll,
	listsAllChanges,
	parseBulkResponse,
} from '../../../nodes/DataPlatform/bulk/response.ts';

const responseOf = (listed: number, bulk: object, more = {}) =>
	parseBulkResponse(
		{ bulk, data: Array.from({ length: listed }, (_, index) => ({ id: `r${index}` })), ...more },
		5,
	);

test.each<[listed: number, bulk: object, contradicts: boolean, listsAll: boolean]>([
	[2, { insertedCount: 2, updatedCount: 0 }, false, true],
	[2, { insertedCount: 1, updatedCount: 1 }, false, true],
	[0, { insertedCount: 0, updatedCount: 0 }, false, true],
	[1, { insertedCount: 2, updatedCount: 0 }, true, false],
	[3, { insertedCount: 2, updatedCount: 0 }, true, false],
	[3, { insertedCount: 2, updatedCount: 1 }, false, true],
	// Some services also count records that they skipped.
	[2, { insertedCount: 1, updatedCount: 3 }, false, false],
	[1, { insertedCount: 2 }, true, false],
	[3, { insertedCount: 2 }, false, false],
	[3, { updatedCount: 2 }, false, false],
	[2, { updatedCount: 2 }, false, false],
	[2, {}, false, false],
	[5, {}, false, false],
	// More than were sent.
	[6, {}, true, false],
	[6, { insertedCount: 0, updatedCount: 6 }, true, true],
	[2, { insertedCount: '1', updatedCount: '1' }, false, false],
])('%i listed, counted as %j: contradicts itself %s, lists all %s', (listed, bulk, no, all) => {
	const response = responseOf(listed, bulk);
	expect([contradictsItself(response, 5), listsAllChanges(response)]).toEqual([no, all]);
});

test('what the platform says of a record is bounded, however much and however often it says it', () => {
	const message = 'x'.repeat(5_000_000);
	const { failed, unattributedErrors } = responseOf(
		0,
		{},
		{
			errors: [
				{ message, id: message, RecordIndex: 1 },
				...Array.from({ length: 500 }, () => ({ message: 'wrong', RecordIndex: 2 })),
				{ message },
			],
		},
	);
	const cut = `${'x'.repeat(1000)}… (cut)`;
	expect(failed.get(1)).toMatchObject({ message: cut, id: cut });
	expect(failed.get(2)!.message).toMatch(/^(wrong; ){142}wrong;… \(cut\)$/);
	expect(unattributedErrors).toMatchObject([{ message: cut }]);
});

test.each<[bulk: object, more: object, all: boolean]>([
	[{ insertedCount: 3 }, {}, true],
	[{ insertedCount: 2 }, {}, false],
	[{ insertedCount: 4 }, {}, false],
	[{}, {}, false],
	[{ insertedCount: 3 }, { errors: [{ message: 'one failed' }] }, false],
	[{ insertedCount: 3 }, { errors: [{ message: 'that one', RecordIndex: 4 }] }, true],
])('%j %j counts all of three as inserted: %s', (bulk, more, all) => {
	expect(countsAll(responseOf(0, bulk, more), 3)).toBe(all);
});

test.each<[bulk: unknown, inserted: unknown, updated: unknown, all: [boolean, boolean]]>([
	[{ insertedCount: 2, updatedCount: 0 }, 2, 0, [true, false]],
	[{ insertedCount: 0, updatedCount: 2 }, 0, 2, [false, true]],
	[{ insertedCount: '2', updatedCount: 0 }, undefined, 0, [false, false]],
	[{ insertedCount: 0, updatedCount: '2' }, 0, undefined, [false, false]],
	[{ insertedCount: 2, updatedCount: '0' }, 2, undefined, [false, false]],
	[[2, 0], undefined, undefined, [false, false]],
])('the counts %j', (bulk, insertedCount, updatedCount, [allInserted, allUpdated]) => {
	const response = parseBulkResponse({ bulk }, 5);
	expect(response).toMatchObject({ allInserted, allUpdated });
	expect([response.insertedCount, response.updatedCount]).toEqual([insertedCount, updatedCount]);
});

describe('reading a response', () => {
	test('errors by position, whatever the case of RecordIndex', () => {
		const { failed, unattributedErrors } = parseBulkResponse(
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
		const { failed, unattributedErrors } = parseBulkResponse(
			{
				errors: [
					{ id: 'first', message: 'a', RecordIndex: 0 },
					{ id: 'second', message: 'b', RecordIndex: 0 },
					{ RecordIndex: 0 },
				],
			},
			1,
		);
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
		expect(parseBulkResponse({ bulk }, 2)).toMatchObject({ allInserted, allUpdated });
	});

	test('data that is not a list of records confirms nothing', () => {
		for (const data of [undefined, {}, 'x', [{ id: 'a' }, {}], [null]]) {
			expect(parseBulkResponse({ data }, 2).data).toEqual([]);
		}
	});
});
