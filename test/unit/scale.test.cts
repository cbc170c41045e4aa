import type { IHttpRequestOptions } from 'n8n-workflow';
import { writeTo } from './bulkWrites.cts';
import { Ledger } from '../../nodes/DataPlatform/run/ledger.ts';
import { writeMany } from '../../nodes/DataPlatform/bulk/send/write.ts';
import { growthOf, LINEAR } from '../support/growth.cts';
import { LIMITS } from '../../nodes/DataPlatform/changes/tracker.ts';
import { Follower, Table } from './changesTable.cts';
import { fieldOf, people, planRecords, tableOf } from './fixtures.cts';
import { fakePlatform, httpResponse } from './stubPlatform.cts';
import type { PlanInput } from '../../nodes/DataPlatform/bulk/terms.ts';

/** A fake platform that inserts whatever it gets, at once. */
const insertAll = (options: IHttpRequestOptions) => {
	if (options.method === 'GET') return httpResponse(200, { data: [] });
	const { bulk } = JSON.parse(options.body as string) as { bulk: unknown[] };
	const time = '2026-01-01T00:00:00Z';
	return httpResponse(200, {
		bulk: { successCount: bulk.length, insertedCount: bulk.length, updatedCount: 0 },
		data: bulk.map(() => ({ id: crypto.randomUUID(), created: time, modified: time, ver: 1 })),
	});
};

/** Counts how often entries of a list are read, by any method. */
function counted<Entry>(list: Entry[]) {
	const count = { reads: 0 };
	const watched = new Proxy(list, {
		get(target, name, receiver) {
			if (typeof name === 'string' && /^\d+$/.test(name)) count.reads += 1;
			return Reflect.get(target, name, receiver) as unknown;
		},
	});
	return { watched, count };
}

function* rows(size: number): Generator<PlanInput> {
	for (let index = 0; index < size; index += 1) {
		yield { index, values: { email: `person-${index}@example.com`, surname: 'Fox', age: 7 } };
	}
}

async function upsert(size: number, batchSize: number, parallelRequests = 0) {
	const plan = planRecords(people, rows(size), { mode: 'upsert', empty: 'leave', unknownFields: 'error', duplicates: 'merge' });
	const { watched, count } = counted(plan.records);
	const { connection, sent } = fakePlatform(insertAll);
	const report = new Ledger(size);
	const write = writeTo(connection, { batchSize, parallelRequests });
	await writeMany(write, watched, ({ index }, outcome) => report.done(index, [{ json: { ...outcome } }]));
	expect(write.session.stopped).toBeUndefined();
	expect(report.reached).toMatchObject({ done: size, confirmedThroughItem: size - 1 });
	const bytes = sent.reduce((sum, { body }) => sum + Buffer.byteLength(String(body ?? '')), 0);
	return { requests: sent.length, reads: count.reads, bytes, items: report.items() };
}

test('four times the items are four times the work, no more', async () => {
	const small = await upsert(10_000, 100);
	const large = await upsert(40_000, 100);
	expect(small.requests).toBe(100);
	expect(large.requests).toBe(400);
	expect(small.reads).toBeGreaterThanOrEqual(10_000);
	expect(large.reads / small.reads).toBeCloseTo(4, 1);
	expect(large.bytes / small.bytes).toBeCloseTo(4, 1);
});

test('100,000 items come through, in order and paired', async () => {
	const { requests, items } = await upsert(100_000, 1000);
	expect(requests).toBe(100);
	expect(items).toHaveLength(100_000);
	expect(items.at(-1)).toMatchObject({ json: { outcome: 'inserted' }, pairedItem: { item: 99_999 } });
});

test('100,000 items with problems are planned without one copying the other', () => {
	const many = Array.from({ length: 100_000 }, (_, index) => ({
		index,
		values: { email: `p${index % 50_000}@example.com`, [`unknown${index % 7}`]: 1, age: 'x' },
	}));
	const options = { mode: 'upsert', empty: 'leave', duplicates: 'error' } as const;
	const strict = planRecords(people, many, { ...options, unknownFields: 'error' });
	expect(strict.problems).toHaveLength(200_000);
	const fields = { ...people, fields: [...people.fields, fieldOf('x')] };
	const good = many.map(({ index, values: { email } }) => ({ index, values: { email } }));
	const merged = planRecords(fields, good, { ...options, unknownFields: 'error', duplicates: 'merge' });
	expect(merged.records).toHaveLength(50_000);
	expect(merged.merged.size).toBe(50_000);
});

test('records that share one key are distinguished without comparing each with each', () => {
	const same = Array.from({ length: 20_000 }, (_, index) => ({ index, values: { email: 'same@example.com' } }));
	const plan = planRecords(people, same, { mode: 'upsert', empty: 'leave', unknownFields: 'error', duplicates: 'error' });
	expect(plan.problems).toHaveLength(20_000);
	expect(plan.problems[0]?.message).toContain('as item 1, 2, 3');
});

test('many unknown names in a wide table are reported in linear time', async () => {
	const table = tableOf(...Array.from({ length: 500 }, (_, index) => fieldOf(`a_rather_long_field_name_${index}`)));
	const plan = (count: number) => {
		const values = Object.fromEntries(Array.from({ length: count }, (_, index) => [`another_rather_long_name_${index}`, 1]));
		return () => {
			const options = { mode: 'create', empty: 'leave', unknownFields: 'error', duplicates: 'error' } as const;
			expect(planRecords(table, [{ index: 0, values }], options).problems).toHaveLength(count);
		};
	};
	expect(await growthOf(1250, plan)).toBeLessThan(LINEAR);
});

test('the state of the trigger is small, however many records changed', async () => {
	const table = new Table();
	const digest = ({ id }: { id: string }): Array<[string, string]> => [['name', `digest-${id}`]];
	const follower = new Follower(table, { digest, maximum: 2000 });
	for (let count = 0; count < 20_000; count += 1) table.create();
	while ((await follower.poll()).length > 0);
	expect(follower.emitted).toHaveLength(20_000);
	expect(Object.keys(follower.state.emitted).length).toBeLessThanOrEqual(LIMITS.maxTracked);
	expect(Object.keys(follower.state.digests!)).toHaveLength(LIMITS.maxTracked);
	expect(JSON.stringify(follower.state).length).toBeLessThan(400_000);
});
