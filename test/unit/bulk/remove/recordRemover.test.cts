/** Deleting records one by one: how many at a time. */
import { Remover } from '../../../../nodes/DataPlatform/bulk/remove/recordRemover.ts';
import { forEachConcurrent } from '../../../../nodes/DataPlatform/transport/concurrency.ts';
import { fakePlatform, httpResponse } from '../../stubPlatform.cts';

const at = { table: 'people' };
const many = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `r${index}`, fields: {} }));

test('the first record goes alone, and what it took makes fewer go at a time', async () => {
	const busyOnce = new Set(['r0']);
	let underWay = 0;
	const seen: number[] = [];
	const { connection } = fakePlatform(
		async ({ url }) => {
			seen.push((underWay += 1));
			await new Promise(setImmediate);
			underWay -= 1;
			return busyOnce.delete(url.split('/').at(-1)!) ? httpResponse(429, {}, { 'retry-after': '0' }) : httpResponse(204, '');
		},
		{ retryBudgetMs: 60_000 },
	);
	const remover = new Remover({ client: connection, at });
	for (const count of [0, 30]) {
		await remover.removeEach(
			many(count),
			() => false,
			() => undefined,
		);
	}
	// r0, r0 again, and from then on two at once, as one was confirmed.
	expect(seen.slice(0, 4)).toEqual([1, 1, 1, 2]);
	expect(Math.max(...seen)).toBeGreaterThan(2);
});

test('how many go at a time may change meanwhile', async () => {
	let limit = 3;
	let underWay = 0;
	const seen: number[] = [];
	await forEachConcurrent(
		many(12),
		() => limit,
		async ({ id }) => {
			underWay += 1;
			seen.push(underWay);
			await new Promise(setImmediate);
			underWay -= 1;
			if (id === 'r2') limit = 1;
			if (id === 'r8') limit = 2;
		},
	);
	expect(seen).toHaveLength(12);
	expect(Math.max(...seen.slice(0, 5))).toBe(3);
	expect(Math.max(...seen.slice(6, 9))).toBe(1);
	expect(Math.max(...seen.slice(9))).toBe(2);
});
