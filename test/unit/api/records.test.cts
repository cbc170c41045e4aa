/** Reading page by page: what is requested when, and what happens if it ends early. */
import { readPage, type RecordQuery } from '../../../nodes/DataPlatform/api/pages.ts';
import { readRecords } from '../../../nodes/DataPlatform/api/readRecords.ts';
import type { ApiClient } from '../../../nodes/DataPlatform/transport/client.ts';
import type { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { fakePlatform, httpResponse, pageResponse, type Fake, type Serve } from '../stubPlatform.cts';

const TABLE = { application: 'crm', table: 't' };

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `r${from + index}`);
const records = (ids: string[]) => ids.map((id) => ({ id, fields: {} }));
const page = (...ids: string[]) => httpResponse(200, { data: records(ids) });
const forbidden = () => httpResponse(403, { errors: [] });
const wait = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

/** A table with the records r0, r1 and so on. Its platform may cut pages. */
function table(size: number, largestPage = Infinity): Serve {
	const all = records(range(0, size));
	return (options) => pageResponse(options, all, largestPage);
}

/** The same, except that the response to one request, counted from 1, is another. */
const tableExcept = (size: number, request: number, respond: () => ReturnType<typeof httpResponse>): Serve => {
	const serve = table(size);
	return (options, count) => (count === request ? respond() : serve(options, count));
};

const skipsOf = (sent: Array<{ url: string }>) => sent.map(({ url }) => Number(new URL(url).searchParams.get('skip')));

/** Reads to the end: the records' IDs, and what was noted. */
async function readAll(client: ApiClient, limit = Infinity, { offset = 0, query = {} }: { offset?: number; query?: RecordQuery } = {}) {
	const notes = { hasShifted: false };
	const ids: string[] = [];
	for await (const found of readRecords({ client, at: TABLE }, { ...query, offset }, limit, notes)) ids.push(...found.map(({ id }) => id));
	return { ids, notes };
}

/** Reads to the end: the IDs and, for each page, how many requests had been sent when it was returned. */
async function readCounting({ connection, sent }: Fake, limit: number | Promise<number>) {
	const [ids, requests, sizes]: [string[], number[], number[]] = [[], [], []];
	for await (const found of readRecords({ client: connection, at: TABLE }, {}, limit)) {
		ids.push(...found.map(({ id }) => id));
		sizes.push(found.length);
		requests.push(sent.length);
	}
	return { ids, requests, sizes };
}

/** Reads one page, then stops: how many records it has. */
async function readOnePage(client: ApiClient) {
	const reading = readRecords({ client, at: TABLE }, {}, Infinity);
	const { value } = await reading.next();
	await reading.return(undefined);
	return value?.length;
}

test('the next page is requested while a page is processed', async () => {
	const { ids, requests } = await readCounting(fakePlatform(table(2500)), Infinity);
	expect(requests).toEqual([2, 3, 3]);
	expect(ids).toEqual(range(0, 2500));
});

test('the longer a read lasts, the more pages are requested at a time, up to four', async () => {
	const serve = table(20_000);
	let underWay = 0;
	const { connection, sent } = fakePlatform(async (options, count) => {
		underWay += 1;
		await wait(1);
		underWay -= 1;
		return await serve(options, count);
	});
	const ahead: number[] = [];
	const ids: string[] = [];
	const notes = { hasShifted: false };
	for await (const found of readRecords({ client: connection, at: TABLE }, {}, Infinity, notes)) {
		ids.push(...found.map(({ id }) => id));
		ahead.push(underWay);
		// Whatever was requested arrives while this page is processed.
		await wait(5);
	}
	expect(ids).toEqual(range(0, 20_000));
	expect(notes).toEqual({ hasShifted: false });
	const requested = ahead.map((_, index) => ahead.slice(0, index + 1).reduce((a, b) => a + b, 1));
	expect(requested.slice(0, 8)).toEqual([2, 3, 5, 6, 8, 9, 11, 12]);
	// 21 pages hold the records. While the last one is loading, it is not yet known to be the last.
	expect(sent).toHaveLength(24);
});

test('while the records are being counted, the first page is requested, and after that all others at once', async () => {
	const counting = wait(5).then(() => 9500);
	const { ids, requests } = await readCounting(fakePlatform(table(9500)), counting);
	// Each page repeats a record. Nothing is requested after the last one.
	expect(requests).toEqual([10, 10, 10, 10, 10, 10, 10, 10, 10, 10]);
	expect(ids).toEqual(range(0, 9500));
});

test('if the count is too low, the first page is returned complete, and no other is requested', async () => {
	expect(await readCounting(fakePlatform(table(3000)), Promise.resolve(10))).toMatchObject({ sizes: [1000], requests: [1] });
});

test('a count that fails ends the read before another page is requested', async () => {
	const { connection, sent } = fakePlatform(async (options, count) => {
		await wait(5);
		return await table(3000)(options, count);
	});
	const reading = readRecords({ client: connection, at: TABLE }, {}, Promise.reject(new Error('no count')));
	await expect(reading.next()).rejects.toThrow('no count');
	expect(sent).toHaveLength(1);
});

test('if records are deleted during a long read, it notes a shift, and returns all that stay, none twice', async () => {
	let rows = range(0, 12_000);
	const { connection } = fakePlatform(async (options, count) => {
		const response = pageResponse(options, records(rows));
		if (count === 7) rows = rows.toSpliced(100, 50);
		await wait(count % 3);
		return response;
	});
	const { ids, notes } = await readAll(connection);
	const read = new Set(ids);
	expect(read.size).toBe(ids.length);
	expect(notes).toEqual({ hasShifted: true });
	expect(rows.filter((id) => !read.has(id))).toEqual([]);
});

test.each([
	[1000, 1],
	[1001, 2],
	[1999, 2],
	[5, 1],
])('up to a limit of %d, %d pages are requested, none that it does not need', async (limit, requests) => {
	const { connection, sent } = fakePlatform(table(9999));
	expect((await readAll(connection, limit)).ids).toHaveLength(limit);
	expect(sent).toHaveLength(requests);
});

describe('on a platform that cuts pages', () => {
	const read = async (serve: Serve, limit = Infinity, offset = 0, untilEmpty?: boolean) => {
		const { connection, sent } = fakePlatform(serve);
		const { ids, notes } = await readAll(connection, limit, { offset, query: { untilEmpty } });
		expect(notes).toEqual({ hasShifted: false });
		return { ids, requests: sent.length };
	};

	test.each([25, 26, 30, 32, 40, 60, 99, 120, 250, 333, 500, 999, 1000])(
		'to %d records, all records are read, up to any limit and from any offset',
		async (largest) => {
			expect((await read(table(1500, largest))).ids).toEqual(range(0, 1500));
			expect((await read(table(1500, largest), 1234)).ids).toEqual(range(0, 1234));
			expect((await read(table(1500, largest), 700, 600)).ids).toEqual(range(600, 1300));
			for (const size of [largest - 1, largest, largest + 1, 2 * largest, 2 * largest + 1]) {
				expect((await read(table(size, largest))).ids).toEqual(range(0, size));
			}
		},
	);

	test.each([
		[0, 1],
		[1, 1],
		[24, 1],
		[25, 2],
		[999, 2],
		[1000, 2],
		[1500, 2],
		[1998, 2],
		[1999, 3],
	])('or may, a table of %d records is read in %d requests', async (size, requests) => {
		expect(await read(table(size))).toMatchObject({ ids: range(0, size), requests });
	});

	test.each([1, 2, 7, 24])(
		'to %d records, fewer than any platform is known to, a query that reads until an empty page returns all',
		async (largest) => {
			const all = await read(table(100, largest), Infinity, 0, true);
			expect(all.ids).toEqual(range(0, 100));
		},
	);

	test('a reader that has enough does not ask whether there is more', async () => {
		const { connection, sent } = fakePlatform(table(300));
		expect(await readOnePage(connection)).toBe(300);
		expect(sent).toHaveLength(1);
	});
});

test('at scale: a platform that returns the same page again and again causes an error, not an endless read', async () => {
	const { connection } = fakePlatform((options, count) => {
		const url = new URL(String(options.url));
		url.searchParams.delete('skip');
		return table(5000)({ ...options, url: url.href }, count);
	});
	await expect(readAll(connection)).rejects.toThrow('no stable list of records');
});

test('a reader that stops early is not told that the next page, which was requested already, failed', async () => {
	const { connection, sent } = fakePlatform(tableExcept(9999, 2, forbidden));
	expect(await readOnePage(connection)).toBe(1000);
	expect(sent).toHaveLength(2);
});

test('a page that fails throws its error after the pages before it were returned', async () => {
	const { connection } = fakePlatform(tableExcept(9999, 3, forbidden));
	const sizes: number[] = [];
	const reading = (async () => {
		for await (const { length } of readRecords({ client: connection, at: TABLE }, {}, Infinity)) sizes.push(length);
	})();
	await expect(reading).rejects.toThrow('(403)');
	expect(sizes).toEqual([1000, 999]);
});

test('a canceled execution requests no further page', async () => {
	const { connection, sent, cancel } = fakePlatform(table(9999));
	const reading = (async () => {
		for await (const page of readRecords({ client: connection, at: TABLE }, {}, Infinity)) {
			if (page.length > 0) cancel();
		}
	})();
	await expect(reading).rejects.toThrow('cancel');
	expect(sent.length).toBeLessThanOrEqual(2);
});

test.each<[page: string[], added: string[], hasShifted: boolean]>([
	[['r999', 'r1000', 'r1001'], ['r1000', 'r1001'], false],
	[['r5', 'r1000', 'r1001'], ['r1000', 'r1001'], true],
	[['r999', 'r5', 'r1000'], ['r1000'], true],
])('after a page that ends with r999, the page %j adds only %j, and a shift is noted: %s', async (second, added, hasShifted) => {
	const serve = table(1500);
	const { connection } = fakePlatform((options, count) => (count === 1 ? serve(options, count) : page(...second)));
	const { ids, notes } = await readAll(connection);
	expect(ids).toEqual([...range(0, 1000), ...added]);
	expect(notes).toEqual({ hasShifted });
});

test('at scale: a table whose pages never overlap ends in an error, soon', async () => {
	let number = 0;
	const { connection, sent } = fakePlatform(({ url }) => {
		const limit = Number(new URL(url).searchParams.get('limit'));
		number += limit;
		return page(...range(number - limit, number));
	});
	const reading = (async () => {
		for await (const { length } of readRecords({ client: connection, at: TABLE }, {}, Infinity)) {
			expect(length).toBeLessThanOrEqual(1000);
			if (sent.length > 1000) break;
		}
	})();
	await expect(reading).rejects.toThrow('no stable list of records');
	// A hundred steps back, each to a page that does not overlap with the previous one.
	expect(sent.length).toBeLessThan(250);
});

test.each([
	[1, 14],
	[5, 14],
	[50, 20],
	[300, 25],
])('a writer deletes the first %d records after each request: all that stay are read once, in %d requests at most', async (count, most) => {
	let rows = range(0, 8000);
	const { connection, sent } = fakePlatform((options) => {
		const response = pageResponse(options, records(rows));
		rows = rows.slice(count);
		return response;
	});
	const { ids, notes } = await readAll(connection);
	expect(new Set(ids).size).toBe(ids.length);
	expect(rows.filter((id) => !ids.includes(id))).toEqual([]);
	expect(notes).toEqual({ hasShifted: true });
	expect(sent.length).toBeLessThanOrEqual(most);
});

test('a read with an offset and a limit returns just the records between them, and requests no others', async () => {
	const { connection, sent } = fakePlatform(table(5000));
	const { ids, notes } = await readAll(connection, 1500, { offset: 2000 });
	expect(ids).toEqual(range(2000, 3500));
	expect(sent).toHaveLength(2);
	expect(notes).toEqual({ hasShifted: false });
});

test('a read whose offset is after the last record returns none', async () => {
	const { connection, sent } = fakePlatform(table(10));
	expect((await readAll(connection, Infinity, { offset: 10 })).ids).toEqual([]);
	expect(sent).toHaveLength(1);
});

test('a read does not go back before its offset if records disappear', async () => {
	const serve = table(5000);
	const { connection, sent } = fakePlatform((options, count) => (count === 1 ? serve(options, count) : page('new')));
	const { ids, notes } = await readAll(connection, Infinity, { offset: 100 });
	expect(skipsOf(sent)).toEqual([100, 1099, 100]);
	expect(ids).toHaveLength(1001);
	// The last page is all that is left of the list: it contains no gap.
	expect(notes).toEqual({ hasShifted: false });
});

test('a reader that stops early waits until the request for the next page has ended', async () => {
	const serve = table(9999);
	let ended = 0;
	const { connection } = fakePlatform(async (options, count) => {
		await wait(5);
		ended += 1;
		return serve(options, count);
	});
	expect(await readOnePage(connection)).toBe(1000);
	expect(ended).toBe(2);
});

test.each([
	[400, true],
	[404, false],
])('an error with the status %d has the hint of the read: %s', async (status, isNamed) => {
	const { connection } = fakePlatform(() => httpResponse(status, { errors: [{ message: 'no' }] }));
	const reading = { hint: 'Check the names.' };
	const response = readPage({ client: connection, at: TABLE }, reading, { limit: 1, skip: 0 });
	const failure = (await response.catch((error: unknown) => error)) as ServiceError;
	expect(failure.status).toBe(status);
	expect(failure.hint === reading.hint).toBe(isNamed);
});

test('no more records are returned than the limit, even if the platform sends more', async () => {
	const { connection } = fakePlatform(() => page('a', 'b', 'c', 'd', 'e'));
	const { ids } = await readAll(connection, 3);
	expect(ids).toEqual(['a', 'b', 'c']);
});

test.each([
	['two records more than were asked for', ['r1000', 'r1001']],
	['two records more, which the table does not have,', ['r5000', 'r5001']],
])('a page with %s is not taken for the last, and all records are read', async (_, more) => {
	const { connection } = fakePlatform(tableExcept(2100, 1, () => page(...range(0, 1000), ...more)));
	expect((await readAll(connection)).ids).toEqual(range(0, 2100));
});

test.each<[page: string, ids: string[]]>([
	['without records', []],
	['with a record that is new', ['new']],
])('after a page %s instead of an overlap, the read goes back a page, and notes a shift', async (_, ids) => {
	const { connection, sent } = fakePlatform(tableExcept(5000, 3, () => page(...ids)));
	const all = await readAll(connection, 3000);
	expect(new Set(all.ids).size).toBe(3000);
	expect(skipsOf(sent)).toEqual([0, 999, 1998, 989, 1979, 2969]);
	expect(all.notes).toEqual({ hasShifted: true });
});

test('at scale: a record that moves to a page far behind is returned once, even if its ID is then in upper case', async () => {
	const idOf = (index: number) => `${String(index).padStart(8, '0')}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`;
	const all = Array.from({ length: 19_950 }, (_, index) => idOf(index));
	// The first ones are repeated at the end, in upper case.
	const repeated = all.slice(0, 50).reverse();
	const { connection } = fakePlatform((options) => pageResponse(options, records([...all, ...repeated.map((id) => id.toUpperCase())])));
	const { ids, notes } = await readAll(connection, Infinity, { query: { sort: 'rank' } });
	expect(ids).toEqual(all);
	expect(notes).toEqual({ hasShifted: true });
});
