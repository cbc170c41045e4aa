/** What the trigger stores with each of n8n's schedulers, and how it handles strange states. */
import type { IDataObject } from 'n8n-workflow';
import { seal, unseal } from '../../nodes/DataPlatform/api/packing.ts';
import { useHarness } from './fixtures.cts';
import { failureOf, storedState, TASK, watchedOrders, withState } from './triggerFixtures.cts';

const harness = useHarness();
const { start, create, change, emitted } = watchedOrders(harness);

test('with durable cursors, the start survives that n8n drops the state of the activation', async () => {
	const workflowId = 'dropped activation';
	const activation = await start({}, { workflowId, cursor: {} });
	expect(await activation.poll()).toBeNull();
	await create('1');
	// Another process: what the first one knew is gone, and so is its cursor.
	const cursor: IDataObject = {};
	const staticData = activation.staticData();
	const task = await start({}, { ...TASK, workflowId: 'restarted', cursor, staticData });
	expect(await emitted(task)).toEqual(['created 1']);
	expect(Object.keys(cursor)).toEqual(['watch']);
});

describe('durable polls', () => {
	test('a start without an activation is stored by an execution without items; an activation needs none', async () => {
		expect(await emitted(await start())).toBeNull();
		const task = await start({}, TASK);
		expect(await emitted(task)).toEqual([]);
		await create('1');
		const restarted = await start({}, { ...TASK, staticData: task.staticData() });
		expect(await emitted(restarted)).toEqual(['created 1']);
	});

	test('a poll that emits nothing stores nothing', async () => {
		const activation = await start();
		await activation.poll();
		const staticData = activation.staticData();
		const task = await start({}, { ...TASK, staticData });
		expect(await task.poll()).toBeNull();
		expect(task.staticData()).toBe(staticData);
	});

	test('polls at the same time, each with a copy of the state, emit each change once', async () => {
		const options = { ...TASK, workflowId: 'several poll times' };
		const activation = await start({}, { workflowId: options.workflowId });
		await activation.poll();
		await create('1', '2', '3');
		const staticData = activation.staticData();
		const copies = await Promise.all([1, 2, 3].map(() => start({}, { ...options, staticData })));
		const results = await Promise.all(copies.map(emitted));
		expect(results.flatMap((items) => items ?? [])).toEqual(['created 1', 'created 2', 'created 3']);
		// An older copy, shortly afterwards.
		expect(await emitted(await start({}, { ...options, staticData }))).toBeNull();
	});
});

describe("a state that can't be read", () => {
	const shown = (state: unknown) => `another version of this node. It begins with ${JSON.stringify(state).slice(0, 40)}`;

	test.each<[string, (state: string) => unknown]>([
		['of an older version', () => ({ identity: 'x', state: { told: {}, floor: { time: 1, id: '' } } })],
		['that is other text', () => 'state'],
		['that is empty', () => ''],
		['that is a list', () => [1]],
		['of a later version', (state) => seal('poll 4', unseal('poll 3', state)!)],
		['that was changed', (state) => state.replace('"revision":1', '"revision":2')],
		['that was cut', (state) => state.slice(0, -1)],
		['without its beginning', (state) => state.slice(1)],
	])('%s: polls fail, less and less often, and a copy of the node goes on from a date', async (_, damage) => {
		const first = await start();
		await first.poll();
		const state = damage(storedState(first));
		expect(state).not.toBe(storedState(first));
		await create('1');
		const again = await start({}, withState(state));
		const failure = await failureOf(again);
		expect(failure!.message).toContain(shown(state));
		expect(failure!.message).toContain('the next poll asks in 2 minutes');
		expect(failure!.description).toBe(
			"Copy the node, and delete the old one. In the copy, set 'Start From' to 'A Date': the 'modified' of the last record that was emitted, or earlier, as an expression such as {{ '2026-11-21T00:00:00Z' }}.",
		);
		expect(await again.poll()).toBeNull();
		await create('2');
		const copy = await start({ startFrom: 'date', startDate: new Date(Date.now() - 60_000).toISOString() });
		expect(await emitted(copy)).toEqual(['created 1', 'created 2']);
		await create('3');
		const later = await start({}, { staticData: copy.staticData(), workflowId: 'after a restart' });
		expect(await emitted(later)).toEqual(['created 3']);
	});

	test('the date that the error asks for brings what was still to come', async () => {
		const options = { maxRecordsPerPoll: 1 };
		const first = await start({ options });
		await first.poll();
		for (const name of ['1', '2', '3']) await create(name);
		const last = (await first.poll())![0];
		const startDate = `={{ '${last!.json.modified as string}' }}`;
		const copy = await start({ startFrom: 'date', startDate });
		expect(await emitted(copy)).toEqual(expect.arrayContaining(['created 2', 'created 3']));
	});

	test.each([
		['createdUpdatedOrDeleted', /In the copy, set 'Start From' .* Deletions since then are not emitted\.$/],
		['deleted', /^Copy the node, and delete the old one\. Deletions since then are not emitted\.$/],
	])("%s: says what can't be found", async (triggerOn, advice) => {
		const failure = await failureOf(await start({ triggerOn }, withState('x')));
		expect(failure!.description).toMatch(advice);
	});

	test('a start that was never stored as a state counts as well; with a state it does no harm', async () => {
		const first = await start();
		await first.poll();
		const all = JSON.parse(first.staticData()) as { global: { dataPlatformTrigger: Record<string, string> } };
		const starts = all.global.dataPlatformTrigger;
		const global = { dataPlatformTrigger: Object.fromEntries(Object.keys(starts).map((id) => [id, 'x'])) };
		const without = await start({}, { workflowId: 'without a state', staticData: JSON.stringify({ global }) });
		expect((await failureOf(without))!.message).toContain('It begins with "x"');
		const withOne = await start({}, { workflowId: 'with a state', staticData: JSON.stringify({ ...all, global }) });
		await create('1');
		expect(await emitted(withOne)).toEqual(['created 1']);
	});
});

describe('strange states', () => {
	test('a state that is null counts as none', async () => {
		await create('0');
		const watching = await start({}, withState(null));
		expect(await watching.poll()).toBeNull();
		await create('1');
		expect(await emitted(watching)).toEqual(['created 1']);
	});

	test('a start in the static data that is damaged does no harm', async () => {
		const watching = await start({}, { staticData: JSON.stringify({ global: { dataPlatformTrigger: 'x' } }) });
		expect(await watching.poll()).toBeNull();
		await create('1');
		expect(await emitted(watching)).toEqual(['created 1']);
	});
});

test('a test in the editor shows a record as created if it is new', async () => {
	const watching = await start();
	await create('1');
	const event = async () => (await watching.poll('manual'))?.[0]?.json.event;
	expect(await event()).toBe('created');
	await change('1');
	await change('1', { buyer: 'Owl' });
	expect(await event()).toBe('updated');
});

test('the editor knows what every item has before the first event', async () => {
	const schema = (await import('../../nodes/DataPlatform/__schema__/v1.0.0.json')) as unknown as {
		properties: Record<string, { type: string }>;
	};
	const watching = await start({ startFrom: 'beginning' });
	await create('1');
	const [item] = (await watching.poll())!;
	expect(Object.keys(item!.json)).toEqual(expect.arrayContaining(Object.keys(schema.properties)));
	for (const [name, { type }] of Object.entries(schema.properties)) {
		expect([name, typeof item!.json[name]]).toEqual([name, type === 'integer' ? 'number' : type]);
	}
});
