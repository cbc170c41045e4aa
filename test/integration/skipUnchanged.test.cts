import type { IDataObject } from 'n8n-workflow';
import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import { APP, expectErrorItem, numbered, outcomes, useHarness, type Run } from './fixtures.cts';
import { useOtherWriter } from './otherWriter.cts';

const harness = useHarness();

const goingOn: Run = { onError: 'continueRegularOutput' };
const onBulk = { match: { path: '/data/bulk$' } };
const idParameter = { recordId: '={{ $json.id }}' };
const old = { number: '1', buyer: 'Fox', price: 5, comment: 'kept', tags: ['a', 'b'] };

describe('skip unchanged', () => {
	const options = { skipUnchanged: true };

	test('upsert: only what differs is sent', async () => {
		await harness.fill('orders', old, { number: '2', buyer: 'Owl' });
		const result = await harness.run('upsert', {
			items: [old, { number: '2', buyer: 'changed' }, { number: '3', buyer: 'Hare' }],
			options,
		});
		expect(outcomes(result)).toEqual(['unchanged', 'updated', 'inserted']);
		expect(result.json().map(({ id, ver }) => ({ id, ver }))).toEqual(
			(await harness.records()).map(({ id }, index) => ({ id, ver: [0, 1, 0][index] })),
		);
		expect((await harness.writes()).map(({ records }) => records)).toEqual([1, 1]);
	});

	test('update: by id; a missing record is reported without a write', async () => {
		const stored = await harness.fill('orders', old, { number: '2', buyer: 'Owl' });
		const unknown = '00000000-0000-4000-8000-000000000000';
		const result = await harness.run('update', {
			...goingOn,
			items: [
				{ id: stored[0]!.id, buyer: 'Fox' },
				{ id: unknown, buyer: 'x' },
				{ id: stored[1]!.id, buyer: 'changed' },
			],
			parameters: idParameter,
			options,
		});
		expect(outcomes(result)).toEqual(['unchanged', 'notFound', 'updated']);
		expect((await harness.writes()).map(({ records }) => records)).toEqual([1]);
	});

	describe('a full update', () => {
		const run = async (item: IDataObject) => {
			const [stored] = await harness.fill('orders', old);
			const result = await harness.run('update', {
				items: [{ id: stored!.id, ...item }],
				parameters: { ...idParameter, updateMode: 'replace' },
				options,
			});
			const [record] = await harness.records();
			return { outcomes: outcomes(result), ver: record!.ver, fields: record!.fields };
		};

		test('is skipped if it would change nothing', async () => {
			expect(await run(old)).toEqual({ outcomes: ['unchanged'], ver: 0, fields: old });
		});

		test('is sent if it clears a field, whether or not it names the import key', async () => {
			const named = { number: '1', buyer: 'Fox', price: 5 };
			expect(await run(named)).toEqual({ outcomes: ['updated'], ver: 1, fields: named });
			expect(await run({ buyer: 'Fox' })).toEqual({ outcomes: ['updated'], ver: 1, fields: { buyer: 'Fox' } });
		});
	});
});

describe('dry run', () => {
	const options = { dryRun: true };

	test('upsert: what would be, before and after, and no write', async () => {
		await harness.fill('orders', old, { number: '2', buyer: 'Owl' });
		const result = await harness.run('upsert', {
			...goingOn,
			items: [
				{ number: '1', buyer: 'Fox', price: 6, comment: 'kept' },
				{ number: '2', buyer: 'Owl' },
				{ number: '3', buyer: 'Hare' },
				{ number: '4', price: 'much' },
			],
			options,
		});
		expect(outcomes(result)).toEqual(['updated', 'unchanged', 'inserted', 'failed']);
		expect(result.json()[0]).toMatchObject({ before: { price: 5 }, after: { price: 6 } });
		expect(result.json()[2]).toMatchObject({ after: { number: '3', buyer: 'Hare' } });
		expect(result.hints).toEqual([expect.stringMatching(/^Dry run, nothing was written: 1 inserted, 1 updated, 1 unchanged, 1 failed/)]);
		expect(await harness.writes()).toEqual([]);
		expect((await harness.records()).map(({ ver }) => ver)).toEqual([0, 0]);
	});

	test('full update: the fields that it would clear are shown, the calculated are not', async () => {
		const [stored] = await harness.fill('orders', old);
		const result = await harness.run('update', {
			items: [{ id: stored!.id, number: '1', buyer: 'Fox', price: 5 }],
			parameters: { ...idParameter, updateMode: 'replace' },
			options,
		});
		expect(result.json()).toMatchObject([
			{ outcome: 'updated', before: { comment: 'kept', tags: ['a', 'b'] }, after: { comment: null, tags: null } },
		]);
		expect(Object.keys(result.json()[0]!.before as IDataObject).sort()).toEqual(['comment', 'tags']);
		expect(await harness.writes()).toEqual([]);
	});
});

describe('empty values', () => {
	const items = [{ number: '1', buyer: 'Fox', price: null, comment: '', tags: [] }];
	const run = async (emptyValues: string) => {
		await harness.fill('orders', old);
		return await harness.run('upsert', { ...goingOn, items, options: { emptyValues } });
	};

	test('are left as they are', async () => {
		await run('leave');
		expect((await harness.records())[0]!.fields).toEqual(old);
	});

	test('clear their fields', async () => {
		expect(outcomes(await run('clear'))).toEqual(['updated']);
		expect((await harness.records())[0]!.fields).toEqual({ number: '1', buyer: 'Fox' });
	});

	test('are an error that names all of them', async () => {
		const result = await run('error');
		expectErrorItem(result.output('Data Platform')[0]!, 0, "'price' is empty; 'comment' is empty; 'tags' is empty");
		expect(await harness.writes()).toEqual([]);
	});
});

test('duplicates in the input are errors if the option is set', async () => {
	const items = ['a', 'b', 'a'].map((number, index) => ({ number, buyer: `Buyer ${index}` }));
	const options = { duplicates: 'error' };
	const result = await harness.run('upsert', { ...goingOn, items, options });
	expect(outcomes(result)).toEqual(['failed', 'inserted', 'failed']);
	expectErrorItem(result.output('Data Platform')[2]!, 2, "same import key 'a' as item 0");
	const stopped = await harness.run('upsert', { items, options });
	expect(stopped.error?.message).toContain('Nothing was sent. 2 items have problems');
});

const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

describe('the report', () => {
	const items = [...numbered(2), { number: '3', buyer: 'x', state: 'lost' }];

	test('as a summary is one item, paired with all', async () => {
		const options = { output: 'summary' };
		const result = await harness.run('upsert', { ...goingOn, items, options });
		const [item, ...others] = result.output('Data Platform');
		expect(others).toEqual([]);
		expect(item?.json).toEqual({
			inserted: 2,
			updated: 0,
			unchanged: 0,
			found: 0,
			skipped: 0,
			notFound: 0,
			failed: 1,
			unknown: 0,
			written: 0,
			requests: (await harness.requests()).length,
			retries: 0,
			waitedMs: 0,
			started: expect.stringMatching(ISO_TIME),
			finished: expect.stringMatching(ISO_TIME),
			executionId: expect.stringMatching(/^\d+$/),
			warning: '1 failed',
			errors: [{ count: 1, error: 'Field \'state\' must be one of "open", "sent", not "lost"', outcome: 'failed', item: 2 }],
		});
		expect(String(item!.json.started) <= String(item!.json.finished)).toBe(true);
		expect(item!.pairedItem).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
	});

	test('as a summary has no warning if all succeeded', async () => {
		const options = { output: 'summary' };
		const result = await harness.run('upsert', { items: numbered(2), options });
		const { json } = result.output('Data Platform')[0]!;
		expect(json.inserted).toBe(2);
		expect(json).not.toHaveProperty('warning');
		expect(json).not.toHaveProperty('errors');
	});

	test('is reported in a hint', async () => {
		const result = await harness.run('upsert', { ...goingOn, items });
		expect(result.hints).toEqual([
			'2 inserted, 1 failed (2 requests). Problems: item 2: Field \'state\' must be one of "open", "sent", not "lost"',
		]);
	});
});

describe('skip unchanged beside another writer', () => {
	const other = useOtherWriter(harness);
	const item = { number: '1', buyer: 'Fox', price: 6, comment: 'kept' };
	const data = `/apps/${APP}/tables/orders/data`;

	const send = async (method: string, url: string, body?: object) => {
		const { status } = await harness.sandbox.client().request({ method, url, data: body });
		expect(status).toBeLessThan(300);
	};

	/** Runs an item for a stored record, which another writer changes just before the first write. */
	const run = async (operation: string, act: (id: string) => Promise<unknown>, ...faults: FaultRule['fault'][]) => {
		const [stored] = await harness.fill('orders', old);
		const { id } = stored!;
		await harness.faults(...faults.map((fault) => ({ ...onBulk, when: { nth: [1] }, fault })));
		let isDone = false;
		other.before((target) => {
			if (isDone || !target.endsWith('/data/bulk')) return undefined;
			isDone = true;
			return act(id);
		});
		const result = await harness.run(operation, {
			...goingOn,
			credential: other.credential(),
			items: [{ ...(operation === 'update' && { id }), ...item }],
			...(operation === 'update' && { parameters: idParameter }),
			options: { skipUnchanged: true, maxRetryWait: 0 },
		});
		expect(isDone).toBe(true);
		return { json: result.json()[0]!, records: await harness.records(), id };
	};

	const price: IDataObject = { price: 6 };
	describe.each(['upsert', 'update'])('%s', (operation) => {
		test.each<[string, string, IDataObject, FaultRule['fault'][]]>([
			['updated', 'the response lists it', {}, []],
			['updated', 'the response is lost', {}, [{ kind: 'resetAfter' }]],
			['updated', 'the response leaves it out', {}, [{ kind: 'fewerRecords' }]],
			['unchanged', 'the other writer made the same change', price, []],
		])('for each field the last writer counts: %s if %s', async (outcome, _, change, faults) => {
			const fields = { ...change, comment: 'theirs' };
			const act = async (id: string) => await send('PATCH', `${data}/${id}`, { fields });
			const { json, records } = await run(operation, act, ...faults);
			const ver = outcome === 'updated' ? 2 : 1;
			expect(json).toMatchObject({ outcome, ver });
			expect(records).toMatchObject([{ ver, fields: { ...old, ...item, comment: 'theirs' } }]);
		});
	});

	test('a record that replaced another one gets all values of the item', async () => {
		const { json, records, id } = await run('upsert', async (deleted) => {
			await send('DELETE', `${data}/${deleted}`);
			await send('POST', data, { fields: { number: '1', buyer: 'Owl' } });
		});
		expect(records).toMatchObject([{ fields: item }]);
		expect(records[0]!.id).not.toBe(id);
		expect(json).toMatchObject({ outcome: 'updated', id: records[0]!.id, ver: records[0]!.ver });
	});
});
