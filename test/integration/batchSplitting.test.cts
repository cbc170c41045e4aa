import { expectErrorItem, goingOn, numbered, outcomes, pairedIndexes, useHarness } from './fixtures.cts';

const harness = useHarness();

/** 25 orders; the platform rejects the one at position 12. */
const items = numbered(25).map((order, index) => (index === 12 ? { ...order, state: 'lost' } : order));
const good = items.filter((_, index) => index !== 12).map(({ number }) => number);

describe('25 items, item 12 rejected', () => {
	const rejections = [
		['with its batch', { batchFailure: 'wholeBatch400' }],
		['with its batch, without an index', { batchFailure: 'wholeBatch422', errorPosition: 'none' }],
		['alone', {}],
		['on its own, without an index', { errorPosition: 'none' }],
	] as const;

	describe.each(rejections)('%s', (_, settings) => {
		test.each(['create', 'upsert'])('%s writes the other 24 once, and only that item is an error', async (operation) => {
			await harness.settings(settings);
			const result = await harness.run(operation, { items, ...goingOn });
			const stored = await harness.values('number');
			// Only creates keep the order of the items.
			expect(operation === 'create' ? stored : new Set(stored)).toEqual(operation === 'create' ? good : new Set(good));
			expect(stored).toHaveLength(24);
			expect((await harness.records()).every(({ ver }) => ver === 0)).toBe(true);
			const output = result.output('Data Platform');
			expect(pairedIndexes(output)).toEqual(items.map((__, index) => index));
			const failed = output.filter(({ json }) => 'error' in json);
			expect(failed).toHaveLength(1);
			expectErrorItem(failed[0]!, 12, "'state'", { outcome: 'failed' });
			expect(outcomes(result).filter((outcome) => outcome === 'inserted')).toHaveLength(24);
			expect((await harness.requests()).length).toBeLessThanOrEqual(12);
			const numbers = new Map((await harness.records()).map(({ id, fields }) => [id, fields.number]));
			const written = result.json().map(({ id }) => numbers.get(String(id)));
			expect(written).toEqual(items.map(({ number }, index) => (index === 12 ? undefined : number)));
		});
	});

	test('on the error output it is paired with item 12', async () => {
		await harness.settings({ batchFailure: 'wholeBatch400' });
		const result = await harness.run('upsert', { items, onError: 'continueErrorOutput' });
		expect(pairedIndexes(result.output('Data Platform', 1))).toEqual([12]);
		expect(result.output('Data Platform', 0)).toHaveLength(24);
	});

	test('if the run stops, the error says up to which item everything is confirmed', async () => {
		await harness.settings({ batchFailure: 'wholeBatch400' });
		const result = await harness.run('upsert', { items });
		expect(result.error?.context?.itemIndex).toBe(12);
		expect(result.error?.description).toContain('24 of 25 items are done, all confirmed through item 11.');
		expect(await harness.values('number')).toEqual(good);
	});
});

test('after a 413 for a whole batch, only a record that is too large on its own fails', async () => {
	await harness.settings({ maxBodyBytes: 5000 });
	const mixed = numbered(6, { comment: 'x'.repeat(500) });
	mixed[2] = { ...mixed[2], comment: 'x'.repeat(6000) };
	const result = await harness.run('create', { items: mixed, ...goingOn });
	expectErrorItem(result.output('Data Platform')[2]!, 2, 'too large', { status: 413 });
	expect(await harness.values('number')).toEqual(['1', '2', '4', '5', '6']);
});

test('batches are limited by count and by bytes; a large record is sent alone', async () => {
	const large = numbered(10, { comment: 'x'.repeat(1000) });
	large[4] = { ...large[4], comment: 'x'.repeat(200_000) };
	await harness.run('create', { items: large, options: { batchSize: 3, maxBatchSizeMiB: 0.1 } });
	expect((await harness.writes()).map(({ records }) => records)).toEqual([3, 1, 1, 3, 2]);
	expect(await harness.records()).toHaveLength(10);
});
