import { UnsentRecords, type BatchLimits } from '../../../../nodes/DataPlatform/bulk/send/batches.ts';
import { byteSize, toJson } from '../../../../nodes/DataPlatform/bulk/entry.ts';
import { sendableOf } from '../../fixtures.cts';
import type { Entry } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const recordsOf = (count: number, size = 10) =>
	Array.from({ length: count }, (_, index) => sendableOf({ index, fields: { a: 'x'.repeat(size) } }));

/** All batches, as the indexes of their records. */
function batchesOf(records: Entry[], limits: BatchLimits) {
	const unsent = new UnsentRecords(records.values());
	const batches: number[][] = [];
	for (let batch = unsent.takeBatch(limits); batch.length > 0; batch = unsent.takeBatch(limits)) {
		batches.push(batch.map(({ index }) => index));
	}
	return batches;
}
const sizesOf = (records: Entry[], limits: BatchLimits) => batchesOf(records, limits).map(({ length }) => length);

const large = Number.MAX_SAFE_INTEGER;

test('cuts by count', () => {
	expect(sizesOf(recordsOf(250), { records: 100, bytes: large })).toEqual([100, 100, 50]);
	expect(sizesOf(recordsOf(100), { records: 100, bytes: large })).toEqual([100]);
	expect(sizesOf([], { records: 100, bytes: large })).toEqual([]);
});

test('cuts by bytes, exactly at the limit', () => {
	const five = recordsOf(5);
	const one = byteSize(five[0]!);
	expect(sizesOf(five, { records: 100, bytes: 2 * one })).toEqual([2, 2, 1]);
	expect(sizesOf(five, { records: 100, bytes: 2 * one - 1 })).toEqual([1, 1, 1, 1, 1]);
});

test('counts bytes, not characters', () => {
	const ascii = sendableOf({ fields: { a: 'eeee' } });
	const wide = sendableOf({ fields: { a: '€€€€' } });
	const limits = { records: 100, bytes: 2 * byteSize(ascii) };
	expect(sizesOf([ascii, ascii], limits)).toEqual([2]);
	expect(sizesOf([wide, wide], limits)).toEqual([1, 1]);
});

test('a record larger than the limit is sent alone, its neighbors together', () => {
	const [small, huge] = [recordsOf(2), recordsOf(1, 10_000)];
	expect(sizesOf([...small, ...huge, ...small], { records: 100, bytes: 1000 })).toEqual([2, 1, 2]);
});

test('records of two kinds are sent separately, in order', () => {
	const isApart = ({ index }: Entry) => [1, 2, 5].includes(index);
	const unsent = new UnsentRecords(recordsOf(6).values(), isApart);
	const limits = { records: 10, bytes: large };
	const batches: number[][] = [];
	for (let batch = unsent.takeBatch(limits); batch.length > 0; batch = unsent.takeBatch(limits)) {
		batches.push(batch.map(({ index }) => index));
	}
	expect(batches).toEqual([[0], [1, 2], [3, 4], [5]]);
});

test('keeps the order', () => {
	expect(batchesOf(recordsOf(7), { records: 3, bytes: large })).toEqual([[0, 1, 2], [3, 4, 5], [6]]);
});

test('a record is in a batch once', () => {
	const records = ['a', 'b', 'a', undefined, undefined].map((id, index) => sendableOf({ index, id }));
	expect(batchesOf(records, { records: 9, bytes: large })).toEqual([
		[0, 1],
		[2, 3, 4],
	]);
});

test('reads the source only as far as a batch needs it', () => {
	let read = 0;
	const source = function* () {
		for (const record of recordsOf(10)) {
			read += 1;
			yield record;
		}
	};
	const unsent = new UnsentRecords(source());
	unsent.takeBatch({ records: 4, bytes: large });
	expect(read).toBe(4);
});

test('records that were put back come first, those that were added after the waiting ones', () => {
	const [a, b, c, d, e] = recordsOf(5) as [Entry, Entry, Entry, Entry, Entry];
	const unsent = new UnsentRecords([e].values());
	unsent.add([c]);
	unsent.add([d]);
	unsent.putBack([a, b]);
	expect(unsent.waitingCount).toBe(4);
	expect(unsent.takeBatch({ records: 2, bytes: large })).toEqual([a, b]);
	expect(unsent.waitingCount).toBe(2);
	expect(unsent.takeBatch({ records: 9, bytes: large })).toEqual([c, d, e]);
	expect(unsent.take()).toBeUndefined();
});

test('what is put back after some were taken comes once', () => {
	const three = recordsOf(3);
	const unsent = new UnsentRecords([].values());
	unsent.add(three);
	const taken = unsent.takeBatch({ records: 2, bytes: large });
	unsent.putBack(taken.slice(1));
	expect(unsent.waitingCount).toBe(2);
	expect(unsent.takeBatch({ records: 9, bytes: large })).toEqual(three.slice(1));
});

test('the entry of a request has the id only if there is one', () => {
	const fields = { a: 1 };
	expect(toJson({ index: 0, fields })).toBe('{"fields":{"a":1}}');
	expect(toJson({ index: 0, id: 'r1', fields, sent: { b: 2 } })).toBe('{"id":"r1","fields":{"b":2}}');
});
