/** Skip Unchanged, Dry Run, Empty Values, and the report of a write. */
import { byId, expectFailed, goingOn, numbered, order, outcomes, UNKNOWN_ID, useHarness } from './fixtures.cts';

const harness = useHarness();

const old = { number: '1', buyer: 'Fox', price: 5, comment: 'kept', tags: ['a', 'b'] };

describe('skip unchanged', () => {
	const options = { skipUnchanged: true };

	test('Skip Unchanged, upsert: only what differs is sent', async () => {
		await harness.fill('orders', old, order(2));
		const result = await harness.run('upsert', { items: [old, order(2, { buyer: 'changed' }), order(3)], options });
		expect(outcomes(result)).toEqual(['unchanged', 'updated', 'inserted']);
		expect(result.json().map(({ id }) => id)).toEqual((await harness.records()).map(({ id }) => id));
		expect(result.json().map(({ ver }) => ver)).toEqual([0, 1, 0]);
		expect((await harness.writes()).map(({ records }) => records)).toEqual([1, 1]);
	});

	test('Skip Unchanged, update by ID: a missing record is reported without a write', async () => {
		const [first, second] = await harness.fill('orders', old, order(2));
		const items = [first.id, UNKNOWN_ID, second.id].map((id) => ({ id, buyer: 'Fox' }));
		const result = await harness.run('update', { ...goingOn, items, parameters: byId, options });
		expect(outcomes(result)).toEqual(['unchanged', 'notFound', 'updated']);
		expect((await harness.writes()).map(({ records }) => records)).toEqual([1]);
	});

	test('a checkbox that is off is cleared: it may only be shown as off', async () => {
		const fields = [
			{ name: 'code', type: 'text', metadata: { importKey: true } },
			{ name: 'done', type: 'checkbox' },
		];
		await harness.createTable({ internalName: 'tasks', fields }, [{ code: 'a', done: false }]);
		const items = [{ code: 'a', done: null }];
		const result = await harness.run('upsert', { table: 'tasks', items, options: { ...options, emptyValues: 'clear' } });
		expect(outcomes(result)).toEqual(['updated']);
		expect(await harness.writes()).toHaveLength(1);
	});
});

test('a dry run of an upsert reports what would change, before and after, and writes nothing', async () => {
	await harness.fill('orders', old, order(2));
	const items = [{ number: '1', buyer: 'Fox', price: 6, comment: 'kept' }, order(2), order(3), order(4, { price: 'much' })];
	const result = await harness.run('upsert', { ...goingOn, items, options: { dryRun: true } });
	expect(outcomes(result)).toEqual(['updated', 'unchanged', 'inserted', 'failed']);
	expect(result.json()[0]).toMatchObject({ before: { price: 5 }, after: { price: 6 } });
	expect(result.json()[2]).toMatchObject({ after: order(3) });
	expect(result.hints).toEqual([expect.stringMatching(/^Dry run, nothing was written: 1 inserted, 1 updated, 1 unchanged, 1 failed/)]);
	expect(await harness.writes()).toEqual([]);
	expect((await harness.records()).map(({ ver }) => ver)).toEqual([0, 0]);
});

describe('empty values', () => {
	const items = [{ number: '1', buyer: 'Fox', price: null, comment: '', tags: [] }];
	const run = async (emptyValues: string) => {
		await harness.fill('orders', old);
		return await harness.run('upsert', { ...goingOn, items, options: { emptyValues } });
	};

	test('empty values leave their fields as they are', async () => {
		await run('leave');
		expect((await harness.records())[0]!.fields).toEqual(old);
	});

	test('empty values clear their fields', async () => {
		expect(outcomes(await run('clear'))).toEqual(['updated']);
		expect((await harness.records())[0]!.fields).toEqual({ number: '1', buyer: 'Fox' });
	});

	test('empty values are an error that names all of them', async () => {
		const result = await run('error');
		expectFailed(result, 0, "'price' is empty; 'comment' is empty; 'tags' is empty");
		expect(await harness.writes()).toEqual([]);
	});
});

const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

describe('the report', () => {
	const items = [order(1), order(2), order(3, { state: 'lost' })];

	test('a summary is one item, paired with all', async () => {
		const options = { output: 'summary' };
		const result = await harness.run('upsert', { ...goingOn, items, options });
		const [item, ...others] = result.output('Data Platform');
		expect(others).toEqual([]);
		expect(item?.json).toEqual({
			...{ inserted: 2, updated: 0, unchanged: 0, found: 0, skipped: 0, notFound: 0, failed: 1, unknown: 0, written: 0 },
			...{ requests: (await harness.requests()).length, retries: 0, waitedMs: 0 },
			...{ started: expect.stringMatching(ISO_TIME), finished: expect.stringMatching(ISO_TIME) },
			executionId: expect.stringMatching(/^\d+$/),
			warning: '1 failed',
			errors: [{ count: 1, error: 'Field \'state\' must be one of "open", "sent", not "lost"', outcome: 'failed', item: 2 }],
		});
		expect(String(item!.json.started) <= String(item!.json.finished)).toBe(true);
		expect(item!.pairedItem).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
	});

	test('a summary has no warning if all succeeded', async () => {
		const options = { output: 'summary' };
		const result = await harness.run('upsert', { items: numbered(2), options });
		const { json } = result.output('Data Platform')[0]!;
		expect(json.inserted).toBe(2);
		expect(json).not.toHaveProperty('warning');
		expect(json).not.toHaveProperty('errors');
	});

	test('a hint reports the outcomes and the problems', async () => {
		const result = await harness.run('upsert', { ...goingOn, items });
		expect(result.hints).toEqual([
			'2 inserted, 1 failed (2 requests). Problems: item 2 (3): Field \'state\' must be one of "open", "sent", not "lost"',
		]);
	});
});
