/** Sync: makes the table, or a part of it, match the input. */
import type { IDataObject } from 'n8n-workflow';
import { byFields, byId, goingOn, numbered, order, outcomes, useHarness, where, type Run } from './fixtures.cts';

const harness = useHarness();

const guards = { maxRecordsToRemove: 100, maxShareToRemove: 100 };
const deleting = { missingRecords: 'delete', ...guards };
const marking = { missingRecords: 'setFields', fieldsToSet: { entry: [{ field: 'state', value: 'sent' }] }, ...guards };

const sync = (items: IDataObject[], { parameters = deleting, ...run }: Run = {}) =>
	harness.run('sync', { items, ...run, parameters: { ...parameters } });

/** The outcome of each output item, with its key. */
const report = (result: Awaited<ReturnType<typeof sync>>) =>
	result.json().map(({ outcome, number, details }) => {
		const failed = details as { outcome: string } | undefined;
		return failed?.outcome ?? `${outcome as string} ${number as string}`;
	});

beforeEach(() => harness.fill('orders', ...numbered(5)));

test('Sync creates, updates and deletes, and removes last', async () => {
	const result = await sync([order(1), order(2, { price: 3 }), order(3), order(4), order(9)]);
	expect(result.error).toBeUndefined();
	expect(report(result)).toEqual(['unchanged 1', 'updated 2', 'unchanged 3', 'unchanged 4', 'inserted 9', 'deleted 5']);
	expect(await harness.values('number')).toEqual(['1', '2', '3', '4', '9']);
	const writes = (await harness.writes()).map(({ method }) => method);
	expect(writes.at(-1)).toBe('DELETE');
	expect(result.hints[0]).toMatch(/^1 inserted, 1 updated, 3 unchanged, 1 deleted \(\d+ requests?\)\.$/);
});

test('a removed record is returned whole, and comes from no input item', async () => {
	await harness.fill('orders', order(1), order(2, { price: 7, comment: 'kept' }));
	const result = await sync([order(1)]);
	expect(result.json()[1]).toMatchObject({ outcome: 'deleted', number: '2', price: 7, comment: 'kept' });
	expect(result.output('Data Platform')[1]?.pairedItem).toEqual([]);
});

test('Leave neither reads the scope nor removes anything', async () => {
	const result = await sync([order(1)], { parameters: {} });
	expect(report(result)).toEqual(['unchanged 1']);
	expect(await harness.records()).toHaveLength(5);
});

test('fields are set instead of deleting; records that already have the values are left out', async () => {
	await harness.fill('orders', order(1), order(2), order(3, { state: 'sent' }));
	const result = await sync([order(1)], { parameters: marking });
	expect(report(result)).toEqual(['unchanged 1', 'marked 2']);
	expect(await harness.values('state')).toEqual([undefined, 'sent', 'sent']);
	const again = await sync([order(1)], { parameters: marking });
	expect(report(again)).toEqual(['unchanged 1']);
	const writes = (await harness.writes()).filter(({ method }) => method === 'PATCH');
	expect(writes).toHaveLength(1);
});

test('only records that the filter names can be missing', async () => {
	await harness.fill('orders', order(1, { state: 'open' }), order(2, { state: 'open' }), order(3, { state: 'sent' }));
	const result = await sync([order(1)], { parameters: { ...deleting, ...where({ field: 'state', operator: 'eq', value: 'open' }) } });
	expect(report(result)).toEqual(['unchanged 1', 'deleted 2']);
	expect(await harness.values('number')).toEqual(['1', '3']);
});

test('a record that the platform wrote for an item stays, even if it has another key', async () => {
	// As if the platform compared keys in its own way.
	const [last] = (await harness.records()).filter(({ fields }) => fields.number === '5');
	const { id, created, modified, ver } = last!;
	const body = { bulk: { successCount: 1, insertedCount: 0, updatedCount: 1 }, data: [{ id, created, modified, ver }] };
	await harness.faults({ match: { method: 'POST', path: '/data/bulk$' }, fault: { kind: 'status', status: 200, body } });
	const result = await sync([...numbered(3), order(55)]);
	expect(report(result).sort()).toEqual(['deleted 4', 'skipped 5', 'unchanged 1', 'unchanged 2', 'unchanged 3', 'updated 55']);
	expect(await harness.values('number')).toEqual(['1', '2', '3', '5']);
});

describe('guards', () => {
	test('nothing is written if more records are missing than the maximum', async () => {
		const result = await sync([order(1), order(8)], { parameters: { ...deleting, maxRecordsToRemove: 3 } });
		expect(result.error?.message).toBe(
			'Nothing was written or removed: 4 of 5 records (80 %) are missing from the input, more than the maximum of 3',
		);
		expect(result.error?.description).toMatch(/Missing: ('[2-5]', ){3}'[2-5]'\. /);
		expect(result.error?.description).toContain("'Max Records to Remove'");
		expect(await harness.records()).toHaveLength(5);
	});

	test('an empty input removes nothing unless it is allowed', async () => {
		const refused = await sync([{}]);
		expect(refused.error?.message).toBe('Nothing was written or removed: the input is empty');
		expect(await harness.records()).toHaveLength(5);
		const allowed = await sync([{}], { parameters: { ...deleting, allowEmptyInput: true } });
		expect(report(allowed).sort()).toEqual([1, 2, 3, 4, 5].map((n) => `deleted ${n}`));
		expect(await harness.records()).toEqual([]);
	});
});

describe('an item that fails', () => {
	test('if an item without its key fails, nothing is removed, whatever the options are', async () => {
		const parameters = { ...deleting, removeDespiteFailures: true };
		const result = await sync([order(1), { buyer: 'x' }, order(3)], { ...goingOn, parameters });
		expect(report(result)).toEqual(['unchanged 1', 'failed', 'unchanged 3']);
		expect(result.hints).toContainEqual(expect.stringContaining('No record was removed: it is unknown which one item 1 stands for'));
		expect(await harness.records()).toHaveLength(5);
	});

	test('if not all items were sent, nothing is removed, whatever the options are', async () => {
		await harness.faults({ match: { path: '/data/bulk$' }, fault: { kind: 'status', status: 401 } });
		const parameters = { ...deleting, removeDespiteFailures: true };
		const result = await sync([order(1), order(9)], { ...goingOn, parameters });
		expect(result.json()[2]?.error).toContain('but was not removed: the run stopped before');
		expect(await harness.records()).toHaveLength(5);
	});

	test('if an item with its key fails, missing records are reported, and left unless the option is set', async () => {
		const items = [order(1), order(2, { price: -1 }), order(3)];
		const left = await sync(items, goingOn);
		expect(report(left)).toEqual(['unchanged 1', 'failed', 'unchanged 3', 'failed', 'failed']);
		expect(left.json()[3]).toMatchObject({
			error: expect.stringContaining('but was not removed: item 1 did not succeed') as string,
			details: { outcome: 'failed', id: expect.any(String) as string },
		});
		expect(await harness.records()).toHaveLength(5);
		const removed = await sync(items, { ...goingOn, parameters: { ...deleting, removeDespiteFailures: true } });
		// Records that were created at the same time are sorted by their IDs.
		expect(report(removed).sort()).toEqual(['deleted 4', 'deleted 5', 'failed', 'unchanged 1', 'unchanged 3']);
		expect(await harness.values('number')).toEqual(['1', '2', '3']);
	});
});

test('by record ID, an item with a wrong value still says which record it stands for', async () => {
	const [first, second] = await harness.records();
	const parameters = { ...deleting, ...byId, matchOn: 'recordId', removeDespiteFailures: true };
	const result = await sync(
		[
			{ id: first!.id, buyer: 'a' },
			{ id: second!.id, price: 'x' },
		],
		{ ...goingOn, parameters },
	);
	expect(outcomes(result).filter((outcome) => outcome === 'deleted')).toHaveLength(3);
	expect((await harness.records()).map(({ id }) => id).sort()).toEqual([first!.id, second!.id].sort());
});

test('a dry run lists what would be created, updated and removed', async () => {
	const items = [order(1), order(2, { price: 3 }), order(9)];
	const deleted = await sync(items, { options: { dryRun: true } });
	expect(report(deleted).slice(3).sort()).toEqual(['deleted 3', 'deleted 4', 'deleted 5']);
	const beyond = await sync(items, { parameters: { ...deleting, maxRecordsToRemove: 2 }, options: { dryRun: true } });
	expect(report(beyond)).toHaveLength(6);
	expect(beyond.hints).toContainEqual(
		expect.stringContaining('3 of 5 records (60 %) are missing from the input, more than the maximum of 2'),
	);
	const marked = await sync(items, { parameters: marking, options: { dryRun: true } });
	expect(outcomes(marked)).toEqual(['unchanged', 'updated', 'inserted', 'marked', 'marked', 'marked']);
	expect(marked.json()[3]).toMatchObject({ before: { state: null }, after: { state: 'sent' } });
	expect((await harness.writes()).filter(({ path }) => !path.includes('count'))).toEqual([]);
});

test('a summary counts the records that were removed', async () => {
	const result = await sync([order(1), order(2)], { options: { output: 'summary' } });
	expect(result.json()).toEqual([expect.objectContaining({ unchanged: 2, deleted: 3, marked: 0, scopeRecords: 5, missingRecords: 3 })]);
});

test('a record that could not be removed keeps its details on the error output', async () => {
	await harness.faults({ match: { method: 'DELETE' }, fault: { kind: 'status', status: 409 } });
	const result = await sync(numbered(4), { onError: 'continueErrorOutput' });
	expect(result.output('Data Platform', 0)).toHaveLength(4);
	expect(result.output('Data Platform', 1).map(({ json }) => json)).toMatchObject([
		{ details: { outcome: 'failed', status: 409, id: expect.any(String) as string } },
	]);
});

test('the second attempt of Retry On Fail reports what the first one removed', async () => {
	await harness.faults({ match: { method: 'DELETE' }, when: { nth: [2] }, fault: { kind: 'status', status: 403 } });
	const result = await sync([order(1)], { retry: { maxTries: 2 } });
	expect(result.error).toBeUndefined();
	expect(report(result).sort()).toEqual(['deleted 2', 'deleted 3', 'deleted 4', 'deleted 5', 'unchanged 1']);
	expect(await harness.values('number')).toEqual(['1']);
});

test('records can be matched on other fields and on their IDs', async () => {
	const onBuyer = await sync([order(1), order(2)], { parameters: { ...deleting, ...byFields('buyer') } });
	expect(report(onBuyer).slice(2).sort()).toEqual(['deleted 3', 'deleted 4', 'deleted 5']);
	const [first] = await harness.records();
	const onId = await sync([{ id: first!.id, buyer: 'Buyer 1' }], { parameters: { ...deleting, matchOn: 'recordId', ...byId } });
	expect(outcomes(onId)).toEqual(['unchanged', 'deleted']);
	expect(await harness.values('number')).toEqual(['1']);
});

test('the filter must be the same for all items', async () => {
	const items = [order(1, { state: 'open' }), order(2, { state: 'sent' })];
	const filter = where({ field: 'state', operator: 'eq', value: '={{ $json.state }}' });
	const result = await sync(items, { parameters: { ...deleting, ...filter } });
	expect(result.error?.message).toContain("Nothing was sent: 'Conditions' is");
	expect(await harness.requests()).toEqual([]);
});

test('items that fail because they are duplicates are identified by their key', async () => {
	const result = await sync([order(1), order(1), order(2)], {
		...goingOn,
		parameters: { ...deleting, removeDespiteFailures: true },
		options: { duplicates: 'error' },
	});
	expect(report(result).slice(0, 3)).toEqual(['failed', 'failed', 'unchanged 2']);
	expect(await harness.values('number')).toEqual(['1', '2']);
});
