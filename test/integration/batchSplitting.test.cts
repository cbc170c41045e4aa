import type { IDataObject } from 'n8n-workflow';
import { numbered, expectErrorItem, outcomes, pairedIndexes, useHarness } from './fixtures.cts';

const harness = useHarness();

/** 25 orders; the platform rejects the one at position 12. */
const items = numbered(25).map((order, index) => (index === 12 ? { ...order, state: 'lost' } : order));
const good = items.filter((_, index) => index !== 12).map(({ number }) => number);

/** Each output item has the ID of the record that was written from its own input item. */
async function expectOwnIds(output: IDataObject[], input: IDataObject[]) {
	const stored = new Map((await harness.records()).map(({ id, fields }) => [id, fields.number]));
	const written = output.map(({ id }) => (id === undefined ? undefined : stored.get(id as string)));
	expect(written).toEqual(input.map(({ number }, index) => ('id' in output[index]! ? number : undefined)));
}

describe('25 items, item 12 rejected', () => {
	const rejections = [
		['with its batch', { batchFailure: 'wholeBatch400' }],
		['with its batch, without an index', { batchFailure: 'wholeBatch422', recordIndex: false }],
		['alone', {}],
		['on its own, without an index', { recordIndex: false }],
	] as const;

	describe.each(rejections)('%s', (_, settings) => {
		test.each(['create', 'upsert'])('%s writes the other 24 once', async (operation) => {
			await harness.settings(settings);
			const result = await harness.run(operation, { items, onError: 'continueRegularOutput' });
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
			await expectOwnIds(result.json(), items);
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

	test('if the run stops, later batches are not sent', async () => {
		const options = { batchSize: 10, parallelRequests: 1 };
		const result = await harness.run('upsert', { items, options });
		expect(result.error?.context?.itemIndex).toBe(12);
		expect(result.error?.description).toContain('19 of 25 items are done');
		expect(await harness.values('number')).toEqual(good.slice(0, 19));
	});
});

test('each of several bad records is found', async () => {
	await harness.settings({ batchFailure: 'wholeBatch422', recordIndex: false });
	const bad = new Set([0, 5, 6, 24]);
	const mixed = numbered(25).map((order, index) => (bad.has(index) ? { ...order, state: 'lost' } : order));
	const result = await harness.run('create', { items: mixed, onError: 'continueErrorOutput' });
	expect(pairedIndexes(result.output('Data Platform', 1))).toEqual([...bad]);
	expect(await harness.records()).toHaveLength(21);
	expect((await harness.records()).every(({ ver }) => ver === 0)).toBe(true);
});

test('updates are split as well', async () => {
	await harness.settings({ batchFailure: 'wholeBatch400', recordIndex: false });
	const stored = await harness.fill('orders', ...numbered(8));
	const changes = stored.map(({ id }, index) => ({ id, state: index === 3 ? 'lost' : 'sent' }));
	const result = await harness.run('update', {
		items: changes,
		parameters: { recordId: '={{ $json.id }}' },
		onError: 'continueErrorOutput',
	});
	expect(pairedIndexes(result.output('Data Platform', 1))).toEqual([3]);
	expect(await harness.values('state')).toEqual([...'ssssssss'].map((_, i) => (i === 3 ? undefined : 'sent')));
});

test('if every record is rejected, every item has an error', async () => {
	await harness.faults({ fault: { kind: 'rejectBatch', status: 422 } });
	const result = await harness.run('create', { items: numbered(5), onError: 'continueRegularOutput' });
	expect(outcomes(result)).toEqual(Array.from({ length: 5 }, () => 'failed'));
	expect(await harness.records()).toEqual([]);
});

describe('413', () => {
	test('by bytes: only a record that is too large on its own fails', async () => {
		await harness.settings({ maxBodyBytes: 5000 });
		const items = numbered(6, { comment: 'x'.repeat(500) });
		items[2] = { ...items[2], comment: 'x'.repeat(6000) };
		const result = await harness.run('create', { items, onError: 'continueRegularOutput' });
		expectErrorItem(result.output('Data Platform')[2]!, 2, 'too large', { status: 413 });
		expect(await harness.values('number')).toEqual(['1', '2', '4', '5', '6']);
	});
});

test('batches are limited by count and by bytes; a large record is sent alone', async () => {
	const items = numbered(10, { comment: 'x'.repeat(1000) });
	items[4] = { ...items[4], comment: 'x'.repeat(200_000) };
	await harness.run('create', { items, options: { batchSize: 3, maxBatchSizeMiB: 0.1 } });
	expect((await harness.writes()).map(({ records }) => records)).toEqual([3, 1, 1, 3, 2]);
	expect(await harness.records()).toHaveLength(10);
});

test.each(['create', 'upsert'])('%s reports all problems of a record', async (operation) => {
	const item = { number: '1', buyer: 'x', state: 'lost', related: { add: ['nobody'] } };
	const result = await harness.run(operation, { items: [item, ...numbered(3).slice(1)], onError: 'continueRegularOutput' });
	expectErrorItem(result.output('Data Platform')[0]!, 0, /'state'.*'related'/);
	expect(outcomes(result)).toEqual(['failed', 'inserted', 'inserted']);
	expect(await harness.requests()).toHaveLength(2);
});
