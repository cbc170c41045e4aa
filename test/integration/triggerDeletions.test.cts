/** Trigger On: Record Deleted, polled by n8n's engine against a sandbox. */
import { seal, unseal } from '../../nodes/DataPlatform/api/packing.ts';
import type { SavedState } from '../../nodes/DataPlatform/trigger/savedState.ts';
import { nextMillisecond, numbered, useHarness, where } from './fixtures.cts';
import { failureOf, storedState, TASK, watchedOrders, withState } from './triggerFixtures.cts';

const harness = useHarness();
const { start, create, change, remove, emitted } = watchedOrders(harness, {
	triggerOn: 'createdUpdatedOrDeleted',
	options: { deletionCheckInterval: 0 },
});

describe('emitted', () => {
	test('each deleted record is emitted once, with its ID', async () => {
		await harness.fill('orders', ...numbered(4));
		const watching = await start();
		expect(await watching.poll()).toBeNull();
		const id = await harness.idOf('2');
		await remove('2');
		expect((await watching.poll())?.map(({ json }) => json)).toEqual([{ event: 'deleted', id }]);
		expect(await watching.poll()).toBeNull();
	});

	test('changes are emitted first, then deletions; a record that was emitted is watched', async () => {
		await harness.fill('orders', ...numbered(3));
		const watching = await start();
		await watching.poll();
		await create('new');
		await change('1');
		await remove('3');
		expect(await emitted(watching)).toEqual(['created new', 'updated 1', 'deleted 3']);
		await remove('new', '1');
		expect((await emitted(watching))?.sort()).toEqual(['deleted 1', 'deleted new']);
	});

	test('with deletions only, no change is emitted, and records that were created since are watched', async () => {
		await harness.fill('orders', ...numbered(2));
		const watching = await start({ triggerOn: 'deleted', startFrom: 'beginning' });
		expect(await watching.poll()).toBeNull();
		await create('new');
		await change('1');
		// Without items, so that n8n stores that the new record is watched.
		expect(await watching.poll()).toEqual([]);
		expect(await watching.poll()).toBeNull();
		await remove('new', '1');
		expect((await emitted(watching))?.sort()).toEqual(['deleted 1', 'deleted new']);
	});

	test('from the beginning, existing records are emitted as created, and all of them are watched', async () => {
		await harness.fill('orders', ...numbered(3));
		const watching = await start({ startFrom: 'beginning' });
		expect(await watching.poll()).toHaveLength(3);
		await remove('2');
		expect(await emitted(watching)).toEqual(['deleted 2']);
	});

	test('with a filter, a record is watched if it matched at the start or was emitted, even if it no longer matches', async () => {
		await harness.fill('orders', ...numbered(3));
		const watching = await start(where({ field: 'buyer', operator: 'eq', value: 'Buyer 1' }));
		await watching.poll();
		await change('1');
		expect(await watching.poll()).toBeNull();
		await remove('1', '2');
		expect(await emitted(watching)).toEqual(['deleted 1']);
	});

	test("a test in the editor shows a deletion's item, and leaves the state alone", async () => {
		await harness.fill('orders', ...numbered(1));
		const watching = await start({ triggerOn: 'deleted' });
		const id = await harness.idOf('1');
		expect((await watching.poll('manual'))?.map(({ json }) => json)).toEqual([{ event: 'deleted', id }]);
		expect(watching.staticData()).toBe('{}');
	});
});

describe('when it checks', () => {
	test('it checks no sooner than the interval says; in between a poll is one request, or none', async () => {
		// At two times: a record from before the overlap shows that no more can be new.
		await harness.fill('orders', ...numbered(1));
		await nextMillisecond();
		await create('2');
		for (const [triggerOn, requests] of [
			['createdUpdatedOrDeleted', 1],
			['deleted', 0],
		] as const) {
			const watching = await start({ triggerOn, options: { deletionCheckInterval: 60, overlap: 0 } });
			await watching.poll();
			await harness.clearRequests();
			expect(await watching.poll()).toBeNull();
			expect(await harness.requests()).toHaveLength(requests);
		}
	});

	test('it checks at once if an interval has passed while n8n was stopped', async () => {
		await harness.fill('orders', ...numbered(2));
		const watching = await start({ options: { deletionCheckInterval: 60 } });
		await watching.poll();
		await remove('1');
		expect(await watching.poll()).toBeNull();
		const { deletions, ...state } = unseal('poll 3', storedState(watching)) as SavedState;
		const older = { ...state, deletions: { ...deletions!, checkedAt: Date.now() - 3.6e6 } };
		const later = await start({ options: { deletionCheckInterval: 60 } }, withState(seal('poll 3', older)));
		expect(await emitted(later)).toEqual(['deleted 1']);
	});

	test('it checks after a backlog is emitted, and emits no more than the maximum at once', async () => {
		await harness.fill('orders', ...numbered(7));
		const watching = await start({ options: { maxRecordsPerPoll: 2 } });
		await watching.poll();
		await remove('1', '2', '3');
		await create('a', 'b', 'c');
		const polls = [];
		for (let count = 0; count < 5; count += 1) polls.push(await emitted(watching));
		expect(polls.map((items) => items?.length ?? 0)).toEqual([2, 2, 2, 0, 0]);
		expect(polls.flat().slice(0, 3)).toEqual(['created a', 'created b', 'created c']);
		expect(polls.flat().slice(3, 6).sort()).toEqual(['deleted 1', 'deleted 2', 'deleted 3']);
	});
});

test('a poll fails if too many records are missing at once, and says what to do; with a higher share they are emitted', async () => {
	await harness.fill('orders', ...numbered(30));
	const watching = await start();
	await watching.poll();
	await remove(...numbered(20).map(({ number }) => String(number)));
	const failure = await failureOf(watching);
	expect(failure!.message).toContain('20 of 30 records are missing at once, more than 20 %');
	expect(failure!.description).toContain("'Max Share of Deletions (%)'");
	const all = await start({ options: { maxDeletedShare: 100 } }, { staticData: watching.staticData() });
	expect(await emitted(all)).toHaveLength(20);
});

describe('what is stored', () => {
	test('deletions that are switched on later, or again, are watched from then on', async () => {
		await harness.fill('orders', ...numbered(4));
		const before = await start({ triggerOn: 'createdOrUpdated' });
		await before.poll();
		await remove('1');
		const on = await start({}, { staticData: before.staticData() });
		expect(await on.poll()).toBeNull();
		await remove('2');
		const again = await start({}, { staticData: on.staticData() });
		expect(await emitted(again)).toEqual(['deleted 2']);
		const off = await start({ triggerOn: 'created' }, { staticData: again.staticData() });
		await create('new');
		expect(await emitted(off)).toEqual(['created new']);
		await remove('3');
		const last = await start({}, { staticData: off.staticData() });
		expect(await last.poll()).toBeNull();
		await remove('4');
		expect(await emitted(last)).toEqual(['deleted 4']);
	});

	test('after a while with deletions only, changes are watched from then on', async () => {
		await harness.fill('orders', ...numbered(3));
		const startFrom = 'beginning';
		const all = await start({ startFrom });
		expect(await all.poll()).toHaveLength(3);
		const only = await start({ triggerOn: 'deleted' }, { staticData: all.staticData() });
		await remove('1');
		expect(await emitted(only)).toEqual(['deleted 1']);
		const back = await start({ startFrom }, { staticData: only.staticData() });
		expect(await back.poll()).toBeNull();
		await create('new');
		expect(await emitted(back)).toEqual(['created new']);
	});

	test('with durable cursors, the start survives that n8n drops the state of the activation', async () => {
		await harness.fill('orders', ...numbered(3));
		const activation = await start({}, { workflowId: 'first', cursor: {} });
		expect(await activation.poll()).toBeNull();
		await remove('2');
		const task = await start({}, { ...TASK, workflowId: 'second', cursor: {}, staticData: activation.staticData() });
		expect(await emitted(task)).toEqual(['deleted 2']);
	});

	test('a poll with an older copy of the state emits nothing twice', async () => {
		await harness.fill('orders', ...numbered(3));
		const workflowId = 'copies';
		const activation = await start({}, { workflowId });
		await activation.poll();
		await remove('2');
		const staticData = activation.staticData();
		const first = await start({}, { ...TASK, workflowId, staticData });
		expect(await emitted(first)).toEqual(['deleted 2']);
		const second = await start({}, { ...TASK, workflowId, staticData });
		expect(await second.poll()).toBeNull();
	});
});
