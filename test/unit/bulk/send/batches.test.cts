/** How unsent records are divided into batches: how many, how large, in which order. */
import { takeBatch } from '../../../../nodes/DataPlatform/bulk/send/congestion.ts';
import { byteSize, toJson } from '../../../../nodes/DataPlatform/bulk/entry.ts';
import { sendableOf } from '../../fixtures.cts';
import type { Entry } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const recordsOf = (count: number, size = 10) =>
	Array.from({ length: count }, (_, index) => sendableOf({ index, fields: { a: 'x'.repeat(size) } }));

/** Limits of a batch: so many records, of any size if no bytes are given. */
const upTo = (records: number, bytes: number = Number.MAX_SAFE_INTEGER) => ({ records, bytes });

/** All batches, as the indexes of their records. */
function batchesOf(records: Entry[], limits: ReturnType<typeof upTo>, kindOf = (_: Entry) => true) {
	const unsent = [...records];
	const batches: number[][] = [];
	while (unsent.length > 0) batches.push(takeBatch(unsent, limits, kindOf).map(({ index }) => index));
	return batches;
}
const sizesOf = (records: Entry[], limits: ReturnType<typeof upTo>) => batchesOf(records, limits).map(({ length }) => length);

test.each<[count: number, sizes: number[]]>([
	[250, [100, 100, 50]],
	[100, [100]],
	[0, []],
])('%d records are sent in batches of %j if a batch may have 100', (count, sizes) => {
	expect(sizesOf(recordsOf(count), upTo(100))).toEqual(sizes);
});

test('a batch may have exactly as many bytes as its limit, and not one more', () => {
	const five = recordsOf(5);
	const one = byteSize(five[0]!);
	expect(sizesOf(five, upTo(100, 2 * one))).toEqual([2, 2, 1]);
	expect(sizesOf(five, upTo(100, 2 * one - 1))).toEqual([1, 1, 1, 1, 1]);
});

test('the size of a batch is counted in bytes, not in characters', () => {
	const [ascii, wide] = [sendableOf({ fields: { a: 'eeee' } }), sendableOf({ fields: { a: '€€€€' } })];
	const limits = upTo(100, 2 * byteSize(ascii));
	expect(sizesOf([ascii, ascii], limits)).toEqual([2]);
	expect(sizesOf([wide, wide], limits)).toEqual([1, 1]);
});

test('a record larger than the limit is sent alone, its neighbors together', () => {
	const [small, huge] = [recordsOf(2), recordsOf(1, 10_000)];
	expect(sizesOf([...small, ...huge, ...small], upTo(100, 1000))).toEqual([2, 1, 2]);
});

test('records of two kinds are sent in separate batches, in order', () => {
	const batches = batchesOf(recordsOf(6), upTo(10), ({ index }) => [1, 2, 5].includes(index));
	expect(batches).toEqual([[0], [1, 2], [3, 4], [5]]);
});

test('batches keep the order of the records', () => {
	expect(batchesOf(recordsOf(7), upTo(3))).toEqual([[0, 1, 2], [3, 4, 5], [6]]);
});

test('entries with the same record ID are sent in different batches, those without an ID together', () => {
	const records = ['a', 'b', 'a', undefined, undefined].map((id, index) => sendableOf({ index, id }));
	expect(batchesOf(records, upTo(9)).map(String)).toEqual(['0,1', '2,3,4']);
});

test('the JSON of an entry has an ID only if there is one, and the fields that are to be sent', () => {
	const fields = { a: 1 };
	expect(toJson({ index: 0, fields })).toBe('{"fields":{"a":1}}');
	expect(toJson({ index: 0, id: 'r1', fields, sent: { b: 2 } })).toBe('{"id":"r1","fields":{"b":2}}');
});
