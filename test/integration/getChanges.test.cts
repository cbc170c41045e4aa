/** Record: Get Changes, on the sandbox: a cursor in, changes and the next cursor out. */
import type { IDataObject } from 'n8n-workflow';
import { expectFailed, goingOn, located, note, numbered, pairedIndexes, useHarness, where } from './fixtures.cts';

interface Page {
	changes: Array<IDataObject & { id: string; event: string; ver: number; number?: string }>;
	cursor: string;
	hasMore: boolean;
}

const harness = useHarness();

const getChanges = async (parameters: IDataObject = {}, options: IDataObject = {}) =>
	await harness.run('getChanges', { parameters, options });

async function pageOf(parameters: IDataObject = {}, options: IDataObject = {}): Promise<Page> {
	const result = await getChanges(parameters, options);
	expect(result.error).toBeUndefined();
	expect(result.json()).toHaveLength(1);
	return result.json()[0] as unknown as Page;
}

/** All pages after a cursor. */
async function drain(parameters: IDataObject = {}, options: IDataObject = {}, onPage = async () => {}) {
	const pages: Page[] = [];
	for (let cursor = parameters.cursor; pages.length < 500; cursor = pages.at(-1)!.cursor) {
		pages.push(await pageOf({ ...parameters, cursor }, options));
		if (!pages.at(-1)!.hasMore) return pages;
		await onPage();
	}
	throw new Error('There is no end');
}

const shown = ({ changes }: Page) => changes.map(({ event, number }) => `${event} ${number}`);
const change = async (number: string) => await harness.change(await harness.idOf(number), { buyer: 'new' });
const add = async (number: string) => await harness.insert({ number, buyer: 'x' });

describe('the start', () => {
	test('from the beginning returns every record as created, and then what changes', async () => {
		await harness.fill('orders', ...numbered(3));
		const first = await pageOf();
		expect(shown(first).sort()).toEqual(['created 1', 'created 2', 'created 3']);
		expect(first.hasMore).toBe(false);
		const idle = await pageOf({ cursor: first.cursor });
		expect(idle).toEqual({ changes: [], cursor: expect.any(String), hasMore: false });
		await change('2');
		await add('4');
		const second = await pageOf({ cursor: idle.cursor });
		expect(shown(second)).toEqual(['updated 2', 'created 4']);
		expect((await pageOf({ cursor: second.cursor })).changes).toEqual([]);
	});

	test('with Quiet For, a new record comes once, with the values that are filled in later', async () => {
		await harness.settings({ lateValuesMs: 60_000 });
		await add('1');
		const options = { quietFor: 3600 };
		const { cursor } = await pageOf({}, options);
		await harness.sandbox.admin.storeLateValues();
		const early = await pageOf({ cursor }, options);
		expect([shown(early), early.hasMore]).toEqual([[], false]);
		// As if it had been quiet for so long.
		const { changes } = await pageOf({ cursor: early.cursor });
		expect(changes).toMatchObject([{ event: 'created', number: '1', label: expect.any(String) }]);
	});

	test.each([0, 3])('from now returns no changes, but a cursor, in a table with %d records', async (count) => {
		await harness.fill('orders', ...numbered(count));
		const start = await pageOf({ startFrom: 'now' });
		expect(start).toEqual({ changes: [], cursor: expect.any(String), hasMore: false });
		await add('new');
		expect(shown(await pageOf({ cursor: start.cursor }))).toEqual(['created new']);
	});

	test('from a date returns what changed since, and earlier records as updated', async () => {
		await harness.fill('orders', ...numbered(2));
		await new Promise((resolve) => setTimeout(resolve, 5));
		const startDate = new Date().toISOString();
		await change('1');
		await add('3');
		const page = await pageOf({ startFrom: 'date', startDate });
		expect(shown(page)).toEqual(['updated 1', 'created 3']);
		const unreadable = await getChanges({ startFrom: 'date', startDate: 'soon' });
		expect(unreadable.error?.message).toBe(`'Date' must be a date, not "soon"`);
	});

	test('at an older cursor returns the same changes again: nothing is kept anywhere else', async () => {
		await harness.fill('orders', ...numbered(5));
		const { cursor } = await pageOf({ pageSize: 2 });
		const twice = [await pageOf({ cursor }), await pageOf({ cursor })];
		// The next cursors may differ, because they contain the time when they were read.
		expect(twice[0]!.changes).toEqual(twice[1]!.changes);
		expect(twice[0]!.changes).toHaveLength(3);
	});
});

describe('page after page', () => {
	test('each record is returned once, with hasMore until the last', async () => {
		await harness.fill('orders', ...numbered(234));
		const pages = await drain({ pageSize: 100 });
		expect(pages.map(({ changes }) => changes.length)).toEqual([100, 100, 34]);
		expect(pages.map(({ hasMore }) => hasMore)).toEqual([true, true, false]);
		const ids = pages.flatMap(({ changes }) => changes.map(({ id }) => id));
		expect(new Set(ids).size).toBe(234);
	});

	test('records that change between two pages are returned again, as updated, and none is lost', async () => {
		await harness.fill('orders', ...numbered(60));
		let count = 0;
		const onPage = async () => {
			count += 1;
			if (count > 4) return;
			await change(String(count));
			await add(`new ${count}`);
		};
		const changes = (await drain({ pageSize: 10 }, {}, onPage)).flatMap((page) => page.changes);
		const versions = changes.map(({ id, ver }) => `${id}/${ver}`);
		expect(new Set(versions).size).toBe(versions.length);
		const stored = (await harness.records()).map(({ id, ver }) => `${id}/${ver}`);
		expect(stored.filter((version) => !versions.includes(version))).toEqual([]);
		const created = changes.filter(({ event }) => event === 'created').map(({ id }) => id);
		expect(created).toHaveLength(64);
		expect(new Set(created).size).toBe(64);
	});

	test('the loop ends if the table is emptied in between', async () => {
		await harness.fill('orders', ...numbered(30));
		const empty = async () => void (await harness.fill('orders'));
		const pages = await drain({ pageSize: 10 }, {}, empty);
		expect(pages.map(({ changes }) => changes.length)).toEqual([10, 0]);
	});
});

describe('the output', () => {
	test('has records as Simplify and the fields to load say, as in the trigger', async () => {
		await harness.fill('orders', { number: '1', buyer: 'Fox', price: 3 });
		const simple = (await pageOf()).changes[0]!;
		expect(simple).toMatchObject({ event: 'created', number: '1', buyer: 'Fox', ver: 0 });
		const nested = (await pageOf({ simple: false })).changes[0]!;
		expect(nested).toMatchObject({ event: 'created', fields: { number: '1', buyer: 'Fox' } });
		const some = (await pageOf({}, { fieldsToLoad: ['buyer'] })).changes[0]!;
		expect(Object.keys(some)).toEqual(['event', 'buyer', 'id', 'created', 'modified', 'ver']);
	});

	test('has a cursor that remembers the changes of as many seconds as Overlap says', async () => {
		for (const number of ['1', '2', '3', '4']) await add(number);
		const lengthOf = async (overlap: number) => (await pageOf({}, { overlap })).cursor.length;
		expect(await lengthOf(0)).toBeLessThan(await lengthOf(60));
	});

	test('has only what the filter or the saved view matches', async () => {
		await harness.fill('orders', ...numbered(3), { number: '4', buyer: 'x', state: 'open' });
		const filtered = await pageOf(where({ field: 'number', operator: 'in', value: '2, 3' }));
		expect(shown(filtered).sort()).toEqual(['created 2', 'created 3']);
		expect(shown(await pageOf({}, { savedView: await harness.savedView() }))).toEqual(['created 4']);
	});

	test('has one item for each item, each with its own cursor, the failed one as an error', async () => {
		await harness.fill('orders', ...numbered(2));
		await harness.fill('notes', note('a'));
		const parameters = { table: located('={{ $json.table }}'), cursor: '={{ $json.cursor }}' };
		const run = async (items: IDataObject[]) => await harness.run('getChanges', { items, parameters, ...goingOn });
		const first = await run([{ table: 'orders' }, { table: 'missing' }, { table: 'notes' }]);
		expect(pairedIndexes(first.output('Data Platform'))).toEqual([0, 1, 2]);
		const [orders, , notes] = first.json() as unknown as Page[];
		expect([orders!.changes.length, notes!.changes.length]).toEqual([2, 1]);
		expectFailed(first, 1, "There is no table 'missing'");
		const again = await run([
			{ table: 'orders', cursor: orders!.cursor },
			{ table: 'orders', cursor: notes!.cursor },
			{ table: 'notes', cursor: notes!.cursor },
		]);
		expect(again.json()).toMatchObject([{ changes: [] }, { error: expect.stringContaining('belongs to another table') }, { changes: [] }]);
	});
});

describe('rejected before anything is read is', () => {
	const filter = (value: string) => where({ field: 'number', operator: 'eq', value });

	test.each<[IDataObject, string]>([
		[{ cursor: 'abc' }, "'Cursor' can't be read"],
		[{ cursor: '={{ $json }}' }, "'Cursor' must be text, not an object"],
		[{ cursor: '={{ 17 }}' }, "'Cursor' can't be read"],
		[{ pageSize: 0 }, "'Page Size' must be a whole number from 1 to 10000"],
		[{ pageSize: 2.9 }, "'Page Size' must be a whole number from 1 to 10000, not 2.9"],
		[{ pageSize: 10_001 }, "'Page Size' must be a whole number from 1 to 10000"],
		[{ startFrom: 'then' }, "'Start From' must be one of 'date', 'now', 'beginning', not \"then\""],
		[{ options: { overlap: -1 } }, "'Overlap (Seconds)' must be a number from 0"],
	])('%j', async (parameters, message) => {
		const result = await getChanges(parameters);
		expect(result.error?.message).toContain(message);
		expect(await harness.requests()).toEqual([]);
	});

	test('a cursor of another filter, table or application, but not one of another spelling of the base URL', async () => {
		const { cursor } = await pageOf(filter('1'));
		const error = async (parameters: IDataObject) => (await getChanges({ cursor, ...parameters })).error?.message;
		expect(await error(filter('1'))).toBeUndefined();
		expect(await error(filter('2'))).toContain('another filter or saved view');
		expect(await error({})).toContain('another filter or saved view');
		const { cursor: plain } = await pageOf();
		expect(await error({ cursor: plain, table: located('notes') })).toContain('belongs to another table');
		expect(await error({ cursor: plain, application: located('') })).toContain('belongs to another table');
		const credential = { baseUrl: `${harness.credential.baseUrl}/api/v2/` };
		const same = await harness.run('getChanges', { parameters: { cursor: plain }, credential });
		expect(same.error).toBeUndefined();
	});
});
