/** Deleting records one by one: how many at a time, and how many on one reading. */
import { CongestionControl, RequestLimit } from '../../../../nodes/DataPlatform/bulk/send/congestion.ts';
import { Remover } from '../../../../nodes/DataPlatform/bulk/remove/recordRemover.ts';
import { forEachConcurrent } from '../../../../nodes/DataPlatform/transport/concurrency.ts';
import { ServiceError } from '../../../../nodes/DataPlatform/transport/errors.ts';
import { fakePlatform, httpResponse } from '../../stubPlatform.cts';

const at = { table: 'people' };
const busy = new ServiceError('Busy', { delivery: 'notApplied', status: 429 });
const many = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `r${index}` }));

test.each<[parallelRequests: number, troubles: number, successes: number, records: number]>([
	[0, 0, 0, 60],
	[0, 1, 0, 20],
	[0, 1, 6, 35],
	[0, 1, 50, 60],
	[1, 0, 50, 20],
	[8, 0, 0, 40],
])(
	'with %i parallel requests, after %i troubles and %i successes: %i records on one reading',
	(parallelRequests, troubles, successes, records) => {
		const requests = new RequestLimit(parallelRequests);
		for (let count = 0; count < troubles; count++) requests.failed(busy);
		for (let count = 0; count < successes; count++) requests.confirmed();
		const { connection } = fakePlatform(() => httpResponse(204, ''));
		expect(new Remover({ client: connection, at }, requests).recheckEvery).toBe(records);
	},
);

test('deletions and writes learn from each other', async () => {
	const congestion = new CongestionControl({ batchSize: 0, parallelRequests: 0 });
	const { connection } = fakePlatform(() => httpResponse(503, {}), { retryBudgetMs: 0 });
	const failures: string[] = [];
	await new Remover({ client: connection, at }, congestion).removeEach(
		many(5),
		() => failures.length > 0,
		({ id }) => void failures.push(id),
	);
	expect(failures).toEqual(['r0']);
	expect(congestion.count).toBe(1);
});

test('the first record goes alone, and what it took makes fewer go at a time', async () => {
	const requests = new RequestLimit(0);
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
	const remover = new Remover({ client: connection, at }, requests);
	for (const count of [0, 30]) {
		await remover.removeEach(
			many(count),
			() => false,
			() => undefined,
		);
	}
	// r0, r0 again, and from then on two at once, as one was confirmed.
	expect(seen.slice(0, 4)).toEqual([1, 1, 1, 2]);
	expect(requests.count).toBeGreaterThan(2);
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
