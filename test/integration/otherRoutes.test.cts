/** Names of records that mean something else in the platform's paths. */
import { forgetTables } from '../support/engine/engine.cts';
import { byId, goingOn, numbered, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const ids = ['bulk', 'BULK', 'filter', 'count', 'summary', 'bulk/', 'count?x=1', ' bulk ', '.', '..'];

describe.each(ids)('the record ID %j', (id) => {
	test.each(['get', 'delete'])('%s: it is looked up as a key, or nothing is sent', async (operation) => {
		await harness.fill('orders', ...numbered(2));
		const { error } = await harness.run(operation, { parameters: { recordId: id } });
		expect(error?.message).toContain('no record of');
		await harness.clearRequests();
		await harness.settings({ definition: 'documented' });
		forgetTables(harness.credential);
		const result = await harness.run(operation, { parameters: { recordId: id } });
		expect(result.error?.message).toMatch(/can't be the ID of a record|cannot be the name or ID of anything/);
		expect((await harness.requests()).filter(({ path }) => path.includes('/data'))).toEqual([]);
		expect(await harness.records()).toHaveLength(2);
	});

	test.each<[string, Run]>([
		['update', { parameters: {} }],
		['update', { options: { skipUnchanged: true } }],
		['upsert', { parameters: { matchOn: 'recordId' } }],
	])('%s %j: an error of the item', async (operation, run) => {
		const [first, second] = (await harness.fill('orders', ...numbered(2))).map((stored) => stored.id);
		const items = [first, id, second].map((recordId) => ({ id: recordId, buyer: 'x' }));
		const result = await harness.run(operation, { ...run, ...goingOn, items, parameters: { ...byId, ...run.parameters } });
		expect(outcomes(result)).toEqual(['updated', 'failed', 'updated']);
		expect(await harness.values('buyer')).toEqual(['x', 'x']);
	});
});
