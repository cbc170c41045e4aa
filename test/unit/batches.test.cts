import {
	splitIntoBatches,
	prepareRecord,
	type PreparedRecord,
} from '../../nodes/DataPlatform/bulk/batches.ts';
import { sendableOf } from './fixtures.cts';

const sendables = (count: number, size = 10) =>
	Array.from({ length: count }, (_, index) =>
		sendableOf({ index, fields: { a: 'x'.repeat(size) } }),
	);

async function sizes(batches: AsyncIterable<PreparedRecord[]>) {
	const counts: number[] = [];
	for await (const batch of batches) counts.push(batch.length);
	return counts;
}

const large = Number.MAX_SAFE_INTEGER;
const bytesOf = ({ json }: PreparedRecord) => Buffer.byteLength(json) + 1;

test('cuts by count', async () => {
	expect(await sizes(splitIntoBatches(sendables(250), { records: 100, bytes: large }))).toEqual([
		100, 100, 50,
	]);
	expect(await sizes(splitIntoBatches(sendables(100), { records: 100, bytes: large }))).toEqual([
		100,
	]);
	expect(await sizes(splitIntoBatches([], { records: 100, bytes: large }))).toEqual([]);
});

test('cuts by bytes, exactly at the limit', async () => {
	const five = sendables(5);
	const one = bytesOf(five[0]!);
	expect(await sizes(splitIntoBatches(five, { records: 100, bytes: 2 * one }))).toEqual([2, 2, 1]);
	expect(await sizes(splitIntoBatches(five, { records: 100, bytes: 2 * one - 1 }))).toEqual([
		1, 1, 1, 1, 1,
	]);
});

test('counts bytes, not characters', async () => {
	const ascii = sendableOf({ fields: { a: 'eeee' } });
	const wide = sendableOf({ fields: { a: '€€€€' } });
	const limits = { records: 100, bytes: 2 * bytesOf(ascii) };
	expect(await sizes(splitIntoBatches([ascii, ascii], limits))).toEqual([2]);
	expect(await sizes(splitIntoBatches([wide, wide], limits))).toEqual([1, 1]);
});

test('a record larger than the limit goes alone, its neighbours together', async () => {
	const [small, huge] = [sendables(2), sendables(1, 10_000)];
	const stream = [...small, ...huge, ...small];
	expect(await sizes(splitIntoBatches(stream, { records: 100, bytes: 1000 }))).toEqual([2, 1, 2]);
});

test('keeps the order', async () => {
	const seen: number[] = [];
	for await (const batch of splitIntoBatches(sendables(7), { records: 3, bytes: large })) {
		seen.push(...batch.map(({ record }) => record.index));
	}
	expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('limits may shrink on the way', async () => {
	const limits = { records: 4, bytes: large };
	const counts: number[] = [];
	for await (const batch of splitIntoBatches(sendables(10), limits)) {
		counts.push(batch.length);
		limits.records = 2;
	}
	expect(counts).toEqual([4, 2, 2, 2]);
});

test('the entry of a request has the id only where there is one', () => {
	const fields = { a: 1 };
	expect(prepareRecord({ index: 0, fields }).json).toBe('{"fields":{"a":1}}');
	expect(prepareRecord({ index: 0, id: 'r1', fields }, { b: 2 }).json).toBe(
		'{"id":"r1","fields":{"b":2}}',
	);
});
