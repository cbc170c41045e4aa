import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import { expectErrorItem, numbered, outcomes, useHarness } from './fixtures.cts';

const harness = useHarness();

const bulk = { path: '/data/bulk$' };
const first = (fault: FaultRule['fault']): FaultRule => ({
	match: bulk,
	when: { nth: [1] },
	fault,
});

/**
 * How the response to the first batch gets lost. With the short timeout, it hangs for a quarter of
 * a second.
 */
const losses: Array<[how: string, rule: FaultRule, isWritten: boolean]> = [
	['a reset before the write', first({ kind: 'resetBefore' }), false],
	['a reset after the write', first({ kind: 'resetAfter' }), true],
	['a timeout before the write', first({ kind: 'hang' }), false],
	['a timeout after the write', first({ kind: 'hang', afterWrite: true }), true],
	['a response cut short', first({ kind: 'truncate' }), true],
	['a gateway’s 502 before the write', first({ kind: 'html', status: 502 }), false],
	['a gateway’s 502 after the write', first({ kind: 'html', status: 502, afterWrite: true }), true],
	['an empty 200 after the write', first({ kind: 'empty', afterWrite: true }), true],
	['an HTML page as a 200', first({ kind: 'html', status: 200, afterWrite: true }), true],
];
const options = { timeout: 0.25 };
const repeated = <Value,>(value: Value, count: number) =>
	Array.from({ length: count }, () => value);
const onlyFirstVersions = async (table?: string) =>
	expect((await harness.records(table)).map(({ ver }) => ver)).toEqual(
		(await harness.records(table)).map(() => 0),
	);

describe.each(losses)('%s', (_, rule, isWritten) => {
	test('upsert: sent again, reported as inserted, no duplicates', async () => {
		await harness.faults(rule);
		const result = await harness.run('upsertMany', { items: numbered(3), options });
		expect(outcomes(result)).toEqual(repeated('inserted', 3));
		expect(await harness.values('number')).toEqual(['1', '2', '3']);
		await onlyFirstVersions();
		expect((await harness.writes()).length).toBe(2);
	});

	test('update: sent again, reported as updated', async () => {
		const stored = await harness.fill('orders', ...numbered(3));
		await harness.faults(rule);
		const result = await harness.run('updateMany', {
			items: stored.map(({ id }) => ({ id, buyer: 'changed' })),
			parameters: { recordId: '={{ $json.id }}' },
			options,
		});
		expect(outcomes(result)).toEqual(repeated('updated', 3));
		expect(await harness.values('buyer')).toEqual(repeated('changed', 3));
		expect((await harness.records()).map(({ ver }) => ver)).toEqual([1, 1, 1]);
	});

	test('create with an import key: looked up and reported correctly, never sent again', async () => {
		await harness.faults(rule);
		const result = await harness.run('createMany', {
			items: numbered(3),
			options,
			onError: 'continueRegularOutput',
		});
		expect(outcomes(result)).toEqual(repeated(isWritten ? 'inserted' : 'unknown', 3));
		expect(await harness.values('number')).toEqual(isWritten ? ['1', '2', '3'] : []);
		expect(await harness.writes()).toHaveLength(1);
		if (isWritten) {
			const ids = (await harness.records()).map(({ id }) => id);
			expect(result.json().map(({ id }) => id)).toEqual(ids);
		} else {
			const [item] = result.output('Data Platform');
			expectErrorItem(item!, 0, "a look-up did not find the import key '1' yet");
		}
	});

	test('create without an import key: unknown, and how to make it safe', async () => {
		await harness.faults(rule);
		const items = ['a', 'b'].map((text) => ({ text }));
		const result = await harness.run('createMany', {
			table: 'notes',
			items,
			options,
			onError: 'continueRegularOutput',
		});
		expect(outcomes(result)).toEqual(['unknown', 'unknown']);
		const [item] = result.output('Data Platform');
		expectErrorItem(item!, 0, 'Unknown whether this record was written');
		expect(item!.json.message).toContain("'Create or Update Many'");
		expect(await harness.records('notes')).toHaveLength(isWritten ? 2 : 0);
		expect(await harness.writes()).toHaveLength(1);
	});
});

describe('a single create without a response', () => {
	const lost = (kind: 'resetBefore' | 'resetAfter') =>
		harness.faults({ match: { method: 'POST', path: '/data$' }, fault: { kind } });

	test.each(['resetBefore', 'resetAfter'] as const)('%s: unknown, not sent again', async (kind) => {
		await lost(kind);
		const result = await harness.run('create', {
			items: numbered(2),
			onError: 'continueRegularOutput',
		});
		expect(outcomes(result)).toEqual(['unknown', 'unknown']);
		const [item] = result.output('Data Platform');
		expectErrorItem(item!, 0, 'Unknown whether this record was written');
		expect(item!.json.message).toContain("'Create or Update'");
		expect(await harness.records()).toHaveLength(kind === 'resetAfter' ? 2 : 0);
		expect(await harness.writes()).toHaveLength(2);
	});

	test('a single upsert and update are sent again', async () => {
		const [stored] = await harness.fill('orders', { number: '1', buyer: 'old' });
		await harness.faults({
			match: { method: 'POST' },
			when: { first: 1 },
			fault: { kind: 'resetAfter' },
		});
		const upserted = await harness.run('upsert', { items: [{ number: '1', buyer: 'new' }] });
		expect(upserted.json()).toMatchObject([{ id: stored!.id }]);
		await harness.faults({
			match: { method: 'PATCH' },
			when: { first: 1 },
			fault: { kind: 'resetAfter' },
		});
		const updated = await harness.run('update', {
			items: [{ buyer: 'newer' }],
			parameters: { recordId: stored!.id },
		});
		expect(updated.json()).toMatchObject([{ id: stored!.id, buyer: 'newer' }]);
		expect(await harness.records()).toMatchObject([{ fields: { buyer: 'newer' } }]);
	});

	test('a delete whose response is lost finds the record gone, and that is a success', async () => {
		const [stored] = await harness.fill('orders', { number: '1', buyer: 'old' });
		await harness.faults({
			match: { method: 'DELETE' },
			when: { first: 1 },
			fault: { kind: 'resetAfter' },
		});
		const result = await harness.run('delete', { parameters: { recordId: stored!.id } });
		expect(result.json()).toMatchObject([{ deleted: true, id: stored!.id }]);
	});
});

test('import keys of any kind are found again', async () => {
	await harness.faults(first({ kind: 'resetAfter' }));
	const named = ['Dog, jr.', "O'Brien", '(ü)', ' a ', 'A', 'a', 'x\\\\', 'y\\', '"q"', '%_*', '🦊'];
	const result = await harness.run('createMany', {
		items: named.map((number) => ({ number, buyer: 'x' })),
		onError: 'continueRegularOutput',
	});
	const stored = new Map((await harness.records()).map(({ id, fields }) => [id, fields.number]));
	expect(outcomes(result)).toEqual(repeated('inserted', named.length));
	expect(result.json().map(({ id }) => stored.get(id as string))).toEqual(named);
});

test('an upsert of new and existing records has the right outcomes after a lost response', async () => {
	await harness.fill('orders', { number: '2', buyer: 'old' });
	await harness.faults(first({ kind: 'resetAfter' }));
	const result = await harness.run('upsertMany', { items: numbered(3) });
	expect(outcomes(result)).toEqual(['inserted', 'updated', 'inserted']);
	expect(await harness.records()).toHaveLength(3);
});

test('an upsert that was written before its repeat is refused was still inserted', async () => {
	await harness.faults(first({ kind: 'resetAfter' }), {
		match: bulk,
		when: { nth: [2] },
		fault: { kind: 'status', status: 413 },
	});
	const items = numbered(4).map((order) => ({ ...order, price: 1 }));
	const result = await harness.run('upsertMany', { items });
	expect(outcomes(result)).toEqual(repeated('inserted', 4));
	await onlyFirstVersions();
});

test('an upsert whose every attempt fails is resolved by a look-up', async () => {
	await harness.faults({ match: bulk, fault: { kind: 'resetAfter' } });
	const result = await harness.run('upsertMany', {
		items: numbered(2),
		options: { maxRetryWait: 0.5 },
		onError: 'continueRegularOutput',
	});
	expect(outcomes(result)).toEqual(['inserted', 'inserted']);
	expect(await harness.values('number')).toEqual(['1', '2']);
});

test('if the look-up fails too, the outcome is unknown', async () => {
	await harness.faults(first({ kind: 'resetAfter' }), {
		match: { path: '/data/filter$' },
		fault: { kind: 'status', status: 403 },
	});
	const result = await harness.run('createMany', {
		items: numbered(2),
		onError: 'continueRegularOutput',
	});
	expect(outcomes(result)).toEqual(['unknown', 'unknown']);
	expectErrorItem(result.output('Data Platform')[0]!, 0, 'looking it up failed');
	expect(await harness.records()).toHaveLength(2);
});

test('the next batches are written after an ambiguous one', async () => {
	await harness.faults(first({ kind: 'resetBefore' }));
	const result = await harness.run('createMany', {
		items: numbered(4),
		options: { batchSize: 2 },
		onError: 'continueRegularOutput',
	});
	expect(outcomes(result)).toEqual(['unknown', 'unknown', 'inserted', 'inserted']);
	expect(await harness.values('number')).toEqual(['3', '4']);
});

test('a platform that cannot be reached: the error says that nothing was sent', async () => {
	const result = await harness.run('createMany', {
		items: numbered(2),
		credential: { baseUrl: 'http://127.0.0.1:9' },
		options: { maxRetryWait: 0 },
		onError: 'continueRegularOutput',
	});
	expect(outcomes(result)).toEqual(['failed', 'failed']);
	expectErrorItem(result.output('Data Platform')[1]!, 1, 'The platform could not be reached');
});
