/** Record IDs that mean something else in the platform's paths. */
import { numbered, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const ids = ['bulk', 'BULK', 'filter', 'count', 'summary', 'bulk/', 'count?x=1', ' bulk ', '.', '..'];

describe.each(ids)('the record ID %j', (id) => {
	test.each<[string, Run]>([
		['get', {}],
		['delete', {}],
	])('%s: nothing is sent', async (operation, run) => {
		await harness.fill('orders', ...numbered(2));
		const result = await harness.run(operation, { ...run, parameters: { recordId: id } });
		expect(result.error?.message).toMatch(/can't be the ID of a record|cannot be the name or ID of anything/);
		const paths = (await harness.requests()).map(({ path }) => path);
		expect(paths.filter((path) => path.includes('/data'))).toEqual([]);
		expect(await harness.records()).toHaveLength(2);
	});

	test.each<[string, Run]>([
		['update', { parameters: {} }],
		['update', { options: { skipUnchanged: true } }],
		['upsert', { parameters: { matchOn: 'recordId' } }],
	])('%s %j: an error of the item', async (operation, run) => {
		const stored = await harness.fill('orders', ...numbered(2));
		const result = await harness.run(operation, {
			...run,
			items: [stored[0]!.id, id, stored[1]!.id].map((recordId) => ({ id: recordId, buyer: 'x' })),
			parameters: { recordId: '={{ $json.id }}', ...run.parameters },
			onError: 'continueRegularOutput',
		});
		expect(outcomes(result)).toEqual(['updated', 'failed', 'updated']);
		expect(await harness.values('buyer')).toEqual(['x', 'x']);
	});
});
