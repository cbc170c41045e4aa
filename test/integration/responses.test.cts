import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import { expectErrorItem, numbered, outcomes, useHarness, type Run } from './fixtures.cts';
import { useStubServer } from './useStubServer.cts';

const harness = useHarness();

const onBulk = (fault: FaultRule['fault']): FaultRule => ({
	match: { path: '/data/bulk$' },
	fault,
});
const goingOn: Run = { onError: 'continueRegularOutput' };
const bad = (count: number, ...positions: number[]) =>
	numbered(count).map((order, index) =>
		positions.includes(index) ? { ...order, state: 'lost' } : order,
	);

describe('silent skips', () => {
	const skip = onBulk({ kind: 'skipRecords', indexes: [1] });

	test.each(['createMany', 'upsertMany'])('%s: the skipped item failed', async (operation) => {
		await harness.faults(skip);
		const result = await harness.run(operation, { ...goingOn, items: numbered(3) });
		expect(outcomes(result)).toEqual(['inserted', 'failed', 'inserted']);
		expectErrorItem(result.output('Data Platform')[1]!, 1, 'did not mention this item');
		const ids = (await harness.records()).map(({ id }) => id);
		expect(result.json().map(({ id }) => id ?? null)).toEqual([ids[0], null, ids[1]]);
	});

	test('createMany without an import key: found by what was written', async () => {
		await harness.faults(skip);
		const items = ['a', 'b', 'c'].map((text) => ({ text }));
		const result = await harness.run('createMany', { ...goingOn, table: 'notes', items });
		expect(outcomes(result)).toEqual(['inserted', 'failed', 'inserted']);
		expect(await harness.values('text', 'notes')).toEqual(['a', 'c']);
	});

	test('createMany without an import key: equal records are not assigned by guessing', async () => {
		await harness.faults(skip);
		const items = ['a', 'a', 'a'].map((text) => ({ text }));
		const result = await harness.run('createMany', { ...goingOn, table: 'notes', items });
		expect(outcomes(result).filter((outcome) => outcome === 'inserted')).toHaveLength(2);
		expect(await harness.records('notes')).toHaveLength(2);
	});

	test('updateMany: unchanged, skipped and unknown are three different things', async () => {
		const stored = await harness.fill('orders', ...numbered(3));
		await harness.faults(onBulk({ kind: 'skipRecords', indexes: [1] }));
		const result = await harness.run('updateMany', {
			...goingOn,
			items: [
				{ id: stored[0]!.id, buyer: 'Buyer 1' },
				{ id: stored[1]!.id, buyer: 'changed' },
				{ id: '00000000-0000-4000-8000-000000000000', buyer: 'changed' },
				{ id: stored[2]!.id, buyer: 'changed' },
			],
			parameters: { recordId: '={{ $json.id }}' },
		});
		expect(outcomes(result)).toEqual(['unchanged', 'failed', 'notFound', 'updated']);
		expectErrorItem(result.output('Data Platform')[1]!, 1, `holds "Buyer 2" in 'buyer'`, {
			field: 'buyer',
			id: stored[1]!.id,
		});
		expect(await harness.values('buyer')).toEqual(['Buyer 1', 'Buyer 2', 'changed']);
	});
});

test('updates in another order still belong to their items', async () => {
	const stored = await harness.fill('orders', ...numbered(4));
	await harness.faults(onBulk({ kind: 'reorderRecords' }));
	const items = stored.map(({ id }, index) => ({ id, buyer: index === 1 ? 'Buyer 2' : 'changed' }));
	const result = await harness.run('updateMany', {
		items,
		parameters: { recordId: '={{ $json.id }}' },
	});
	expect(outcomes(result)).toEqual(['updated', 'unchanged', 'updated', 'updated']);
	expect(result.json().map(({ id, ver }) => [id, ver])).toEqual(
		(await harness.records()).map(({ id, ver }) => [id, ver]),
	);
});

describe('a response with too few or too many records', () => {
	test.each([
		['fewerRecords', 'createMany'],
		['fewerRecords', 'upsertMany'],
		['moreRecords', 'createMany'],
		['moreRecords', 'upsertMany'],
	])('%s after %s: every outcome matches the stored record', async (kind, operation) => {
		await harness.faults(onBulk({ kind, count: 2 }));
		const result = await harness.run(operation, { ...goingOn, items: numbered(4) });
		expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted', 'inserted']);
		const ids = (await harness.records()).map(({ id }) => id);
		expect(result.json().map(({ id }) => id)).toEqual(ids);
	});

	test.each(['fewerRecords', 'moreRecords'])('%s after an update', async (kind) => {
		const stored = await harness.fill('orders', ...numbered(3));
		await harness.faults(onBulk({ kind }));
		const result = await harness.run('updateMany', {
			...goingOn,
			items: stored.map(({ id }) => ({ id, buyer: 'changed' })),
			parameters: { recordId: '={{ $json.id }}' },
		});
		expect(outcomes(result)).toEqual(['updated', 'updated', 'updated']);
	});

	test.each(['fewerRecords', 'moreRecords'])(
		'%s after a create without a key: nothing is claimed wrongly',
		async (kind) => {
			await harness.faults(onBulk({ kind }));
			const items = ['a', 'b', 'c'].map((text) => ({ text }));
			const result = await harness.run('createMany', { ...goingOn, table: 'notes', items });
			const stored = new Map(
				(await harness.records('notes')).map(({ id, fields }) => [id, fields.text]),
			);
			expect(stored.size).toBe(3);
			expect(result.json()).toHaveLength(3);
			result.json().forEach(({ outcome, id, details }, index) => {
				if (outcome === 'inserted' && id !== undefined) {
					expect(stored.get(id as string)).toBe(items[index]!.text);
				} else if (outcome !== 'inserted') expect(details).toMatchObject({ outcome: 'unknown' });
			});
		},
	);
});

describe('errors that do not say which record they mean', () => {
	beforeEach(() => harness.settings({ recordIndex: false }));

	test.each(['createMany', 'upsertMany'])(
		'%s: the one that is missing gets it',
		async (operation) => {
			const result = await harness.run(operation, { ...goingOn, items: bad(4, 2) });
			expect(outcomes(result)).toEqual(['inserted', 'inserted', 'failed', 'inserted']);
			expectErrorItem(result.output('Data Platform')[2]!, 2, "'state'");
		},
	);

	test('several of them: the missing ones fail with all reasons', async () => {
		const items = bad(4, 0, 2);
		items[2] = { ...items[2], related: { add: ['nobody'] } };
		const result = await harness.run('upsertMany', { ...goingOn, items });
		expect(outcomes(result)).toEqual(['failed', 'inserted', 'failed', 'inserted']);
		expectErrorItem(result.output('Data Platform')[0]!, 0, 'do not say which item they mean');
		expect(await harness.values('number')).toEqual(['2', '4']);
	});

	test('without a key, records are matched by their values', async () => {
		await harness.faults(onBulk({ kind: 'failRecords', indexes: [1], withIndex: false }));
		const items = ['a', 'b', 'c'].map((text) => ({ text }));
		const result = await harness.run('createMany', { ...goingOn, table: 'notes', items });
		expect(outcomes(result)).toEqual(['inserted', 'failed', 'inserted']);
		expect(await harness.values('text', 'notes')).toEqual(['a', 'c']);
	});
});

describe('a response that is not JSON', () => {
	test.each(['createMany', 'upsertMany', 'create', 'upsert'])('%s', async (operation) => {
		await harness.faults({
			match: { path: '/data(/bulk)?$', method: 'POST' },
			fault: { kind: 'html', status: 200 },
		});
		const result = await harness.run(operation, {
			...goingOn,
			items: numbered(2),
			options: { maxRetryWait: 0.3 },
		});
		expect(outcomes(result)).toEqual(['unknown', 'unknown']);
		expectErrorItem(result.output('Data Platform')[0]!, 0, /could not be read \(text\/html/);
		expect(await harness.records()).toEqual([]);
	});

	test('to a read', async () => {
		await harness.faults({ fault: { kind: 'html', status: 200 } });
		const result = await harness.run('getAll', { options: { maxRetryWait: 0 } });
		expect(result.error?.message).toContain("The platform's response could not be read (text/html");
	});

	test('a redirect is not followed, and does not get the token', async () => {
		await harness.faults({ fault: { kind: 'redirect', location: 'http://127.0.0.1:9/elsewhere' } });
		const result = await harness.run('getAll');
		expect(result.error?.message).toContain(
			'responded with a redirect (307), which is not followed',
		);
	});
});

describe('a table with a field whose type is not reported', () => {
	const platform = useStubServer();
	const record = { id: 'r1', created: 'c', modified: 'c', ver: 0, fields: { name: 'x', mute: 5 } };

	beforeEach(() => {
		const items = [{ name: 'name', header: 'Name', type: 'text' }, { name: 'mute' }];
		const table = { id: 't', internalNameApi: 'orders', header: 'Orders', items };
		platform.respond = (requests) => ({
			body: JSON.stringify({ data: requests.target.includes('/data') ? record : table }),
		});
	});

	const run = async (operation: string, json: object) =>
		await harness.run(operation, {
			credential: { baseUrl: platform.origin },
			items: [json as never],
		});

	test('the other fields are written', async () => {
		const result = await run('create', { name: 'x' });
		expect(result.json()).toMatchObject([{ id: 'r1' }]);
		const [, write] = platform.requests;
		expect(JSON.parse(write!.body)).toEqual({ fields: { name: 'x' } });
	});

	test.each(['create', 'createMany'])('%s does not write it as text', async (operation) => {
		const { error } = await run(operation, { name: 'x', mute: 5 });
		expect(error?.message).toContain(
			"'mute' can't be written: the platform does not report its type",
		);
		expect(platform.requests.map(({ method }) => method)).not.toContain('POST');
	});
});
