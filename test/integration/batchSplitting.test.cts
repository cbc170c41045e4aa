import { APP, expectErrorItem, goingOn, numbered, order, outcomes, pairedIndexes, UNKNOWN_ID, useHarness, where } from './fixtures.cts';

const harness = useHarness();

/** 25 orders; the platform rejects the one at position 12. */
const items = numbered(25).map((order, index) => (index === 12 ? { ...order, state: 'lost' } : order));
const good = items.filter((_, index) => index !== 12).map(({ number }) => number);

describe('25 items, item 12 rejected', () => {
	const rejections = [
		['with its batch', { batchFailure: 'wholeBatch400' }],
		['with its batch, without an index', { batchFailure: 'wholeBatch422', errorPosition: 'none' }],
		['alone', {}],
		['on its own, without an index', { errorPosition: 'none' }],
	] as const;

	describe.each(rejections)('%s', (_, settings) => {
		test.each(['create', 'upsert'])('%s writes the other 24 once, and only that item is an error', async (operation) => {
			await harness.settings(settings);
			const result = await harness.run(operation, { items, ...goingOn });
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
			const numbers = new Map((await harness.records()).map(({ id, fields }) => [id, fields.number]));
			const written = result.json().map(({ id }) => numbers.get(String(id)));
			expect(written).toEqual(items.map(({ number }, index) => (index === 12 ? undefined : number)));
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
		const result = await harness.run('upsert', { items, options: { batchSize: 4, parallelRequests: 1 } });
		expect(result.error?.context?.itemIndex).toBe(12);
		expect(result.error?.description).toContain('12 of 25 items are done, all confirmed through item 11.');
		expect(await harness.values('number')).toEqual(good.slice(0, 12));
	});
});

test('after a 413 for a whole batch, only a record that is too large on its own fails', async () => {
	await harness.settings({ maxBodyBytes: 5000 });
	const mixed = numbered(6, { comment: 'x'.repeat(500) });
	mixed[2] = { ...mixed[2], comment: 'x'.repeat(6000) };
	const result = await harness.run('create', { items: mixed, ...goingOn });
	expectErrorItem(result.output('Data Platform')[2]!, 2, 'At most 5000 bytes', { status: 413 });
	expect(await harness.values('number')).toEqual(['1', '2', '4', '5', '6']);
});

test('batches are limited by count and by bytes; a large record is sent alone', async () => {
	const large = numbered(10, { comment: 'x'.repeat(1000) });
	large[4] = { ...large[4], comment: 'x'.repeat(4 * 1024 * 1024) };
	await harness.run('create', { items: large, options: { batchSize: 3 } });
	expect((await harness.writes()).map(({ records }) => records)).toEqual([3, 1, 1, 3, 2]);
	expect(await harness.records()).toHaveLength(10);
});

describe('a role without the import right, on a platform that wants it for bulk requests', () => {
	const robot = async (...allow: string[]) => {
		await harness.settings({ bulkRight: 'import' });
		const permissions = [{ app: APP, table: '*', allow: ['structure', 'read', ...allow] }];
		return { credential: { token: await harness.sandbox.admin.createToken({ name: 'robot', type: 'role', permissions }) } };
	};
	const NOTICE = expect.stringContaining('With the right to import, up to 1,000 records go into one');
	const notices = (hints: string[]) => hints.filter((hint) => hint.includes('right to import'));

	test.each([
		['create', 1],
		['create', 5],
		['upsert', 1],
		['upsert', 5],
	] as const)('%s of %i items: one more request, then one for each, and a notice', async (operation, count) => {
		const result = await harness.run(operation, { items: numbered(count), ...(await robot('create', 'update')) });
		expect(outcomes(result)).toEqual(Array.from({ length: count }, () => 'inserted'));
		expect(await harness.writes()).toHaveLength(1 + count);
		expect(notices(result.hints)).toEqual([NOTICE]);
		if (operation === 'create') expect(await harness.values('number')).toEqual(numbered(count).map(({ number }) => number));
	});

	test('a first request that is lost before it is forbidden is no reason to stop', async () => {
		await harness.faults({ match: { path: '/data/bulk$' }, when: { nth: [1] }, fault: { kind: 'html' } });
		const result = await harness.run('upsert', { items: numbered(3), ...(await robot('create', 'update')) });
		expect(outcomes(result)).toEqual(['inserted', 'inserted', 'inserted']);
		expect(await harness.values('number')).toEqual(['1', '2', '3']);
	});

	test('upserts and updates of existing records; an ID that is gone is not found', async () => {
		const access = await robot('create', 'update');
		await harness.insert(order(1));
		const id = await harness.idOf('1');
		const upserted = await harness.run('upsert', { items: [order(1, { comment: 'new' }), order(2)], ...access });
		expect(outcomes(upserted)).toEqual(['written', 'inserted']);
		const items = [id, UNKNOWN_ID].map((each) => ({ id: each, comment: 'newer' }));
		const updated = await harness.run('update', { items, ...goingOn, ...access, parameters: { recordId: '={{ $json.id }}' } });
		expect(outcomes(updated)).toEqual(['written', 'notFound']);
		expect(await harness.values('comment')).toEqual(['newer', undefined]);
	});

	test('delete many deletes one by one', async () => {
		for (const item of numbered(3)) await harness.insert(item);
		const access = await robot('delete');
		const result = await harness.run('deleteMany', { ...access, parameters: where({ field: 'number', operator: 'in', value: '1,2' }) });
		expect(result.json()).toMatchObject([{ deleted: true, deletedCount: 2 }]);
		expect(notices(result.hints)).toEqual([NOTICE]);
		expect(await harness.values('number')).toEqual(['3']);
	});

	test('that may not write either: the error names the right, after one more request', async () => {
		const result = await harness.run('create', { items: numbered(5), ...(await robot()) });
		expect(result.error?.message).toMatch(/^The role .* does not have the right 'create' .* \(403\)$/);
		expect(await harness.writes()).toHaveLength(2);
	});
});

describe('a limit of records that is reached amid the items', () => {
	test.each([
		['perRecord', {}, 1],
		['perRecord', { errorPosition: 'none' }, 1],
		['wholeBatch', {}, 20],
	])('%s, %j: the others are not written, and the platform says why', async (limitErrors, settings, requests) => {
		await harness.settings({ maxRecords: 5, limitErrors, ...settings });
		const result = await harness.run('upsert', { items: numbered(60), ...goingOn, options: { parallelRequests: 1 } });
		expect(await harness.records()).toHaveLength(5);
		expect(outcomes(result).filter((outcome) => outcome === 'inserted')).toHaveLength(5);
		const failed = result.json().filter((json) => 'error' in json);
		for (const { error } of failed) expect(error).toContain('The limit of 5 records');
		expect(failed).toHaveLength(55);
		expect((await harness.writes()).length).toBeLessThanOrEqual(requests);
	});
});

test('a firewall that dislikes one text takes no other item along, and is named', async () => {
	const items = numbered(25).map((item, index) => (index === 17 ? { ...item, comment: 'DROP TABLE' } : item));
	await harness.faults({ match: { bodyContains: 'DROP TABLE' }, fault: { kind: 'html', status: 403 } });
	const result = await harness.run('create', { items, ...goingOn });
	expect(await harness.records()).toHaveLength(24);
	expectErrorItem(result.output('Data Platform')[17]!, 17, 'Something between n8n and the platform, such as a firewall', { status: 403 });
	expect((await harness.writes()).length).toBeLessThanOrEqual(12);
});
