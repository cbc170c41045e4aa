/**
 * A platform that returns fewer records per page than requested: every read is still complete.
 * Lists with and without a filter have different limits.
 */
import type { IDataObject } from 'n8n-workflow';
import { picked, searchList } from '../support/engine/engine.cts';
import { watch } from '../support/engine/polls.cts';
import { APP, byFields, note, numbered, outcomes, recordParameters, useHarness, where } from './fixtures.cts';
import { useFileStore } from './attachmentFixtures.cts';

const harness = useHarness();

useFileStore();

const SIZE = 150;
const caps: Array<[listed: number, filtered: number]> = [
	[25, 30],
	[149, 75],
];

const open = { field: 'state', operator: 'eq', value: 'open' };
const sort = { by: [{ field: 'buyer', direction: 'desc' }] };
const numbers = (items: IDataObject[]) => items.map(({ number }) => Number(number));
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const fill = async (count = SIZE) => await harness.fill('orders', ...numbered(count, { state: 'open' }));

describe.each(caps)('of %d and %d records', (maxListedRecords, maxFilteredRecords) => {
	beforeEach(async () => await harness.settings({ maxListedRecords, maxFilteredRecords }));

	const getAll = async (parameters: IDataObject = {}, options: IDataObject = {}) => {
		const result = await harness.run('getAll', { parameters: { returnAll: true, ...parameters }, options });
		expect(result.error).toBeUndefined();
		return numbers(result.json());
	};

	test('Get Many returns all records, the requested number, and the requested portion', async () => {
		await fill();
		for (const [parameters, options] of [
			[{}, {}],
			[{ sort }, {}],
			[where(open), {}],
			[{}, { savedView: await harness.savedView() }],
			[{}, { fieldsToLoad: ['number'] }],
		]) {
			expect((await getAll(parameters, options)).sort((a, b) => a - b)).toEqual(upTo(SIZE));
		}
		expect(await getAll({ returnAll: false, limit: 60 })).toHaveLength(60);
		expect(await getAll({ sort }, { offset: 130 })).toHaveLength(SIZE - 130);
		for (const count of [maxListedRecords - 1, maxListedRecords, maxListedRecords + 1]) {
			await fill(count);
			expect(await getAll()).toHaveLength(count);
		}
	});

	test('Export to File has all, and Get Changes returns all', async () => {
		await fill();
		const exported = await harness.run('exportToFile');
		expect(exported.json()).toMatchObject([{ records: SIZE }]);
		const seen = new Set<string>();
		let [cursor, hasMore, calls] = ['', true, 0];
		for (; hasMore && calls < 50; calls += 1) {
			const result = await harness.run('getChanges', { parameters: { cursor, pageSize: 50 } });
			const [page] = result.json() as Array<{ changes: Array<{ id: string }>; cursor: string; hasMore: boolean }>;
			for (const { id } of page!.changes) seen.add(id);
			({ cursor, hasMore } = page!);
		}
		expect(seen.size).toBe(SIZE);
	});

	test('the trigger emits all records, each once', async () => {
		const watching = await watch(harness.credential, {
			application: picked(APP),
			table: picked('orders'),
			triggerOn: 'createdUpdatedOrDeleted',
			options: { deletionCheckInterval: 0 },
		});
		await watching.poll();
		const bulk = numbered(SIZE).map((fields) => ({ fields }));
		expect((await harness.sandbox.client().post(`/apps/${APP}/tables/orders/data/bulk`, { bulk })).status).toBe(200);
		const items = (await watching.poll()) ?? [];
		expect(new Set(items.map(({ json }) => json.id)).size).toBe(SIZE);
		expect(items).toHaveLength(SIZE);
		await harness.remove(items[7]!.json.id as string);
		expect((await watching.poll())?.map(({ json }) => json.event)).toEqual(['deleted']);
	});

	test('Match On finds existing records: nothing is written twice', async () => {
		const texts = upTo(SIZE).map((number) => `note ${number}`);
		await harness.fill('notes', ...texts.map((text) => note(text)));
		const items = [...texts.map((text) => note(text, 1)), note('new')];
		const result = await harness.run('upsert', { table: 'notes', items, parameters: byFields('text') });
		expect(outcomes(result)).toEqual([...texts.map(() => 'updated'), 'inserted']);
		expect(await harness.records('notes')).toHaveLength(SIZE + 1);
	});

	test('Match On says that there are more matches', async () => {
		await harness.fill('notes', ...upTo(100).map(() => note('same')));
		const run = { table: 'notes', items: [note('same', 2)], parameters: byFields('text') };
		expect((await harness.run('upsert', run)).error?.message).toContain('More than 5 records match');
	});

	test('Skip Unchanged writes what differs, and Sync removes what is missing', async () => {
		await fill();
		const items = numbered(SIZE, { state: 'open' }).map((item, index) => (index % 50 === 0 ? { ...item, price: 5 } : item));
		const skipped = await harness.run('upsert', { items, options: { skipUnchanged: true } });
		expect(outcomes(skipped)).toEqual(items.map((_, index) => (index % 50 === 0 ? 'updated' : 'unchanged')));
		const synced = await harness.run('sync', {
			items: items.slice(10),
			parameters: { missingRecords: 'delete', maxRecordsToRemove: 10, maxShareToRemove: 100 },
		});
		expect(outcomes(synced)).toEqual([...items.slice(10).map(() => 'unchanged'), ...items.slice(0, 10).map(() => 'deleted')]);
	});

	test('Delete Many deletes all that match, by one request or one by one', async () => {
		await fill();
		const deleteMany = async (parameters: IDataObject) =>
			(await harness.run('deleteMany', { parameters: { maxRecordsToDelete: SIZE, ...parameters } })).json();
		const some = ['1', '2', '3', '4'].map((value) => ({ field: 'number', operator: 'startswith', value }));
		const count = upTo(SIZE).filter((number) => /^[1-4]/.test(String(number))).length;
		expect(await deleteMany({ ...where(...some), matchType: 'or' })).toMatchObject([{ matched: count, deletedCount: count, remaining: 0 }]);
		expect(await deleteMany(where(open))).toMatchObject([{ matched: SIZE - count, deletedCount: SIZE - count, remaining: 0 }]);
		expect(await harness.records()).toEqual([]);
	});

	test('linked records are all listed', async () => {
		const [target, ...others] = await fill();
		const ids = others.map(({ id }) => id);
		await harness.change(target!.id, { related: { add: ids } });
		const linkedTo = { linkedTo: { record: { linkField: 'orders.related', recordId: target!.id } } };
		expect(await getAll({}, linkedTo)).toHaveLength(ids.length);
		const link = { linkedRecords: { link: [{ field: 'related', limit: SIZE - 1 }] } };
		const [read] = (await harness.run('get', { parameters: { recordId: target!.id }, options: link })).json();
		expect(new Set(read!.related as string[])).toEqual(new Set(ids));
	});

	test("the editor's list of records has all, page by page", async () => {
		await fill(70);
		const found: string[] = [];
		let token: string | undefined;
		do {
			const list = await searchList(harness.credential, 'searchRecords', recordParameters('get'), undefined, token);
			found.push(...list.results.map(({ value }) => String(value)));
			token = list.paginationToken as string | undefined;
		} while (token !== undefined);
		expect(new Set(found).size).toBe(70);
	});
});
