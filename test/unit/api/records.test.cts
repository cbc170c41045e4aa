/** Reading page by page: what is requested when, and what happens if it ends early. */
import { readPage, type RecordQuery } from '../../../nodes/DataPlatform/api/pages.ts';
import { PageSizes } from '../../../nodes/DataPlatform/api/pageSizes.ts';
import { readRecords } from '../../../nodes/DataPlatform/api/readRecords.ts';
import type { ApiClient } from '../../../nodes/DataPlatform/transport/client.ts';
import type { ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { httpResponse, fakePlatform, type Serve } from '../stubPlatform.cts';

const TABLE = { application: 'crm', table: 't' };

/** A table with this many records, sorted by ID. Its platform may cut pages. */
const table =
	(size: number, largestPage = Infinity): Serve =>
	({ url }) => {
		const query = new URL(url).searchParams;
		const skip = Number(query.get('skip') ?? 0);
		const count = Math.max(0, Math.min(Number(query.get('limit')), largestPage, size - skip));
		const data = Array.from({ length: count }, (_, index) => ({ id: `r${skip + index}`, fields: {} }));
		return httpResponse(200, { data });
	};

/** Reads to the end: the records' IDs, and what was noted. */
async function readAll(client: ApiClient, limit = Infinity, { offset = 0, query = {} }: { offset?: number; query?: RecordQuery } = {}) {
	const notes = { hasShifted: false };
	const ids: string[] = [];
	for await (const page of readRecords(client, TABLE, query, limit, notes, offset)) ids.push(...page.map(({ id }) => id));
	return { ids, notes };
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `r${from + index}`);

test('the next page is requested while one is worked on', async () => {
	const { connection, sent } = fakePlatform(table(2500));
	const requests: number[] = [];
	const ids: string[] = [];
	for await (const page of readRecords(connection, TABLE, {}, Infinity)) {
		ids.push(...page.map(({ id }) => id));
		requests.push(sent.length);
	}
	expect(requests).toEqual([2, 3, 3]);
	expect(ids).toEqual(range(0, 2500));
});

test('the longer a reading is, the more pages are under way, up to four', async () => {
	const serve = table(20_000);
	let underWay = 0;
	const { connection, sent } = fakePlatform(async (options, count) => {
		underWay += 1;
		await new Promise((resolve) => setTimeout(resolve, 1));
		underWay -= 1;
		return await serve(options, count);
	});
	const ahead: number[] = [];
	const ids: string[] = [];
	const notes = { hasShifted: false };
	for await (const page of readRecords(connection, TABLE, {}, Infinity, notes)) {
		ids.push(...page.map(({ id }) => id));
		ahead.push(underWay);
		// Whatever was requested arrives while this page is processed.
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	expect(ids).toEqual(range(0, 20_000));
	expect(notes).toEqual({ hasShifted: false });
	const requested = ahead.map((_, index) => ahead.slice(0, index + 1).reduce((a, b) => a + b, 1));
	expect(requested.slice(0, 8)).toEqual([2, 3, 5, 6, 8, 9, 11, 12]);
	// 21 pages hold the records. While the last one is loading, it is not yet known to be the last.
	expect(sent).toHaveLength(24);
});

test('if they are being counted: the first page at the same time, then all others at once', async () => {
	const { connection, sent } = fakePlatform(table(9500));
	const counting = new Promise<number>((resolve) => setTimeout(() => resolve(9500), 5));
	const requests: number[] = [];
	const ids: string[] = [];
	for await (const page of readRecords(connection, TABLE, {}, counting)) {
		ids.push(...page.map(({ id }) => id));
		requests.push(sent.length);
	}
	// Each page repeats a record. Nothing is requested after the last one.
	expect(requests).toEqual(Array.from({ length: 10 }, () => 10));
	expect(ids).toEqual(range(0, 9500));
});

test('if the count is too low, the first page is returned whole, and no other is requested', async () => {
	const { connection, sent } = fakePlatform(table(3000));
	const pages: number[] = [];
	for await (const page of readRecords(connection, TABLE, {}, Promise.resolve(10))) {
		pages.push(page.length);
	}
	expect([pages, sent.length]).toEqual([[1000], 1]);
});

test('a count that fails ends the reading', async () => {
	const { connection, sent } = fakePlatform(async (options, count) => {
		await new Promise((resolve) => setTimeout(resolve, 5));
		return await table(3000)(options, count);
	});
	const reading = readRecords(connection, TABLE, {}, Promise.reject(new Error('no count')));
	await expect(reading.next()).rejects.toThrow('no count');
	expect(sent).toHaveLength(1);
});

test('a long reading of which records go away meanwhile misses none that stay without a notice', async () => {
	let rows = range(0, 12_000);
	const gone = new Set<string>();
	const { connection } = fakePlatform(async ({ url }, count) => {
		const query = new URL(url).searchParams;
		const skip = Number(query.get('skip') ?? 0);
		const data = rows.slice(skip, skip + Number(query.get('limit'))).map((id) => ({ id, fields: {} }));
		if (count === 7) {
			for (const id of rows.slice(100, 150)) gone.add(id);
			rows = rows.filter((id) => !gone.has(id));
		}
		await new Promise((resolve) => setTimeout(resolve, count % 3));
		return httpResponse(200, { data });
	});
	const { ids, notes } = await readAll(connection);
	expect(new Set(ids).size).toBe(ids.length);
	expect(notes).toEqual({ hasShifted: true });
	expect(ids.length).toBeGreaterThanOrEqual(11_900);
});

test.each([
	[1000, 1],
	[1001, 2],
	[1999, 2],
	[5, 1],
])('no page is requested that a limit of %d does not need', async (limit, requests) => {
	const { connection, sent } = fakePlatform(table(9999));
	expect((await readAll(connection, limit)).ids).toHaveLength(limit);
	expect(sent).toHaveLength(requests);
});

describe('a platform that cuts pages', () => {
	const read = async (serve: Serve, limit = Infinity, offset = 0, untilEmpty?: boolean) => {
		const { connection, sent } = fakePlatform(serve);
		const { ids, notes } = await readAll(connection, limit, { offset, query: { untilEmpty } });
		expect(notes).toEqual({ hasShifted: false });
		return { ids, requests: sent.length };
	};

	test.each([25, 26, 30, 32, 40, 60, 99, 120, 250, 333, 500, 999, 1000])('to %d records: all are read', async (largest) => {
		expect((await read(table(1500, largest))).ids).toEqual(range(0, 1500));
		expect((await read(table(1500, largest), 1234)).ids).toEqual(range(0, 1234));
		expect((await read(table(1500, largest), 700, 600)).ids).toEqual(range(600, 1300));
		for (const size of [largest - 1, largest, largest + 1, 2 * largest, 2 * largest + 1]) {
			expect((await read(table(size, largest))).ids).toEqual(range(0, size));
		}
	});

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
	])('or may: %d records in %d requests', async (size, requests) => {
		expect(await read(table(size))).toMatchObject({ ids: range(0, size), requests });
	});

	test.each([1, 2, 7, 24])('to %d records, fewer than any is known to: all are read if something rests on it', async (largest) => {
		const all = await read(table(100, largest), Infinity, 0, true);
		expect(all.ids).toEqual(range(0, 100));
	});

	test('a client that has seen a shorter page that was cut, asks for the end', async () => {
		const { connection } = fakePlatform(table(50, 20));
		const read = async (untilEmpty: boolean) => (await readAll(connection, Infinity, { query: { untilEmpty } })).ids.length;
		expect([await read(false), await read(true), await read(false)]).toEqual([20, 50, 50]);
	});

	// After two empty pages in vain, a longer page of the table is read, until one was not full.
	test.each<[vain: number, count: number, sample: number | Error, read: number[]]>([
		[1, 30, 0, []],
		[2, 30, 99, [100]],
		[2, 60, 30, [120]],
		[2, 700, 30, [1000]],
		[2, 30, 100, [100, 100]],
		[2, 30, new Error('no'), [100]],
	])('%d requests in vain after pages of %d, and a longer one has %s: %j are read', async (vain, count, sample, read) => {
		const sizes = new PageSizes();
		const asked: number[] = [];
		const readSample = async (size: number) => {
			asked.push(size);
			if (sample instanceof Error) throw sample;
			return await Promise.resolve(Array(sample));
		};
		for (let at = 0; at < vain; at += 1) sizes.noteVainRequest();
		for (let at = 0; at < 2; at += 1) await sizes.learn(count, readSample);
		expect(asked).toEqual(read);
	});

	test('whoever has enough does not ask whether there is more', async () => {
		const { connection, sent } = fakePlatform(table(300));
		for await (const page of readRecords(connection, TABLE, {}, Infinity)) {
			expect(page).toHaveLength(300);
			break;
		}
		expect(sent).toHaveLength(1);
	});
});

test('at scale: a platform that gives the same page again and again is an error, not an endless read', async () => {
	const { connection } = fakePlatform((options, count) => {
		const url = new URL(String(options.url));
		url.searchParams.delete('skip');
		return table(5000)({ ...options, url: url.href }, count);
	});
	await expect(readAll(connection)).rejects.toThrow('no stable list of records');
});

test('whoever stops early waits for the request that is under way, whatever comes of it', async () => {
	const serve = table(9999);
	const { connection, sent } = fakePlatform((options, count) => (count === 2 ? httpResponse(403, { errors: [] }) : serve(options, count)));
	for await (const page of readRecords(connection, TABLE, {}, Infinity)) {
		expect(page).toHaveLength(1000);
		break;
	}
	expect(sent).toHaveLength(2);
});

test('a page that fails is an error after the pages before it', async () => {
	const serve = table(9999);
	const { connection } = fakePlatform((options, count) => (count === 3 ? httpResponse(403, { errors: [] }) : serve(options, count)));
	const sizes: number[] = [];
	const reading = (async () => {
		for await (const page of readRecords(connection, TABLE, {}, Infinity)) sizes.push(page.length);
	})();
	await expect(reading).rejects.toThrow('no right');
	expect(sizes).toEqual([1000, 999]);
});

test('a canceled execution requests no further page', async () => {
	const { connection, sent, cancel } = fakePlatform(table(9999));
	const reading = (async () => {
		for await (const page of readRecords(connection, TABLE, {}, Infinity)) {
			if (page.length > 0) cancel();
		}
	})();
	await expect(reading).rejects.toThrow('cancel');
	expect(sent.length).toBeLessThanOrEqual(2);
});

test.each([
	['r999', false],
	['r5', true],
])('a page that begins with %s, which was read before: shifted %s', async (first, hasShifted) => {
	const serve = table(1500);
	const { connection } = fakePlatform((options, count) => {
		if (count === 1) return serve(options, count);
		const data = [first, 'r1000', 'r1001'].map((id) => ({ id, fields: {} }));
		return httpResponse(200, { data });
	});
	const { ids, notes } = await readAll(connection);
	expect(ids).toHaveLength(1002);
	expect(notes).toEqual({ hasShifted });
});

test('at scale: a table whose pages never meet ends in an error', async () => {
	let number = 0;
	const { connection, sent } = fakePlatform(({ url }) => {
		const limit = Number(new URL(url).searchParams.get('limit'));
		const data = Array.from({ length: limit }, () => ({ id: `r${(number += 1)}`, fields: {} }));
		return httpResponse(200, { data });
	});
	const reading = (async () => {
		for await (const page of readRecords(connection, TABLE, {}, Infinity)) {
			expect(page.length).toBeLessThanOrEqual(1000);
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
])('beside a writer that deletes the first %d records after each request', async (count, most) => {
	let rows = range(0, 8000);
	const { connection, sent } = fakePlatform(({ url }) => {
		const query = new URL(url).searchParams;
		const skip = Number(query.get('skip') ?? 0);
		const page = rows.slice(skip, skip + Number(query.get('limit')));
		rows = rows.slice(count);
		return httpResponse(200, { data: page.map((id) => ({ id, fields: {} })) });
	});
	const { ids, notes } = await readAll(connection);
	expect(new Set(ids).size).toBe(ids.length);
	expect(rows.filter((id) => !ids.includes(id))).toEqual([]);
	expect(notes).toEqual({ hasShifted: true });
	expect(sent.length).toBeLessThanOrEqual(most);
});

test('a portion begins at its offset, and ends at its limit', async () => {
	const { connection, sent } = fakePlatform(table(5000));
	const { ids, notes } = await readAll(connection, 1500, { offset: 2000 });
	expect(ids).toEqual(range(2000, 3500));
	expect(sent).toHaveLength(2);
	expect(notes).toEqual({ hasShifted: false });
});

test('an offset after the last record: none', async () => {
	const { connection, sent } = fakePlatform(table(10));
	expect((await readAll(connection, Infinity, { offset: 10 })).ids).toEqual([]);
	expect(sent).toHaveLength(1);
});

test('a portion does not go back before its offset if records disappear', async () => {
	const serve = table(5000);
	const { connection, sent } = fakePlatform((options, count) =>
		count === 1 ? serve(options, count) : httpResponse(200, { data: [{ id: 'new', fields: {} }] }),
	);
	const { ids, notes } = await readAll(connection, Infinity, { offset: 100 });
	expect(sent.map(({ url }) => new URL(url).searchParams.get('skip'))).toEqual(['100', '1099', '100']);
	expect(ids).toHaveLength(1001);
	// The last page is all that is left of the list: it contains no gap.
	expect(notes).toEqual({ hasShifted: false });
});

test('whoever stops early goes on when the request that is under way has ended', async () => {
	const serve = table(9999);
	let ended = 0;
	const { connection } = fakePlatform(async (options, count) => {
		await new Promise((resolve) => setTimeout(resolve, 5));
		ended += 1;
		return serve(options, count);
	});
	for await (const page of readRecords(connection, TABLE, {}, Infinity)) {
		expect(page).toHaveLength(1000);
		break;
	}
	expect(ended).toBe(2);
});

test.each([
	[400, true],
	[404, false],
])('a query that is rejected with %d says what to check: %s', async (status, isNamed) => {
	const rejection = httpResponse(status, { errors: [{ message: 'no' }] });
	const { connection } = fakePlatform(() => rejection);
	const reading = { hint: 'Check the names.' };
	const page = readPage(connection, TABLE, reading, { limit: 1, skip: 0 });
	const failure = (await page.catch((error: unknown) => error)) as ServiceError;
	expect(failure.status).toBe(status);
	expect(failure.hint === reading.hint).toBe(isNamed);
});

test('no more records than were asked for, whatever the platform sends', async () => {
	const { connection } = fakePlatform(() => httpResponse(200, { data: ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, fields: {} })) }));
	const { ids } = await readAll(connection, 3);
	expect(ids).toEqual(['a', 'b', 'c']);
});

test.each([
	['the next records', [1000, 1001]],
	['no record of the table', [5000, 5001]],
])('a page that is longer than was asked for, by %s, is not the last', async (_, more) => {
	const serve = table(2100);
	const { connection } = fakePlatform((options, count) => {
		if (count !== 1) return serve(options, count);
		const data = [...Array.from({ length: 1000 }, (_entry, at) => at), ...more];
		return httpResponse(200, { data: data.map((at) => ({ id: `r${at}`, fields: {} })) });
	});
	const { ids } = await readAll(connection);
	expect(ids).toEqual(range(0, 2100));
});

test('a page with another record that was read before: shifted, and none comes twice', async () => {
	const serve = table(1500);
	const { connection } = fakePlatform((options, count) => {
		if (count === 1) return serve(options, count);
		const data = ['r999', 'r5', 'r1000'].map((id) => ({ id, fields: {} }));
		return httpResponse(200, { data });
	});
	const { ids, notes } = await readAll(connection);
	expect(ids.slice(999)).toEqual(['r999', 'r1000']);
	expect(notes).toEqual({ hasShifted: true });
});

test.each([
	['without records', []],
	['of others', [{ id: 'new', fields: {} }]],
])('after a page %s, reading goes back a page', async (_, data) => {
	const serve = table(5000);
	const { connection, sent } = fakePlatform((options, count) => (count === 3 ? httpResponse(200, { data }) : serve(options, count)));
	const { ids, notes } = await readAll(connection, 3000);
	expect(new Set(ids).size).toBe(3000);
	expect(sent.map(({ url }) => Number(new URL(url).searchParams.get('skip')))).toEqual([0, 999, 1998, 989, 1979, 2969]);
	expect(notes).toEqual({ hasShifted: true });
});

test('at scale: a record that moves to a page far behind comes once, whatever its ID looks like', async () => {
	const idOf = (index: number) => `${String(index).padStart(8, '0')}-1111-4111-8111-111111111111`;
	const size = 20_000;
	const { connection } = fakePlatform(({ url }) => {
		const query = new URL(url).searchParams;
		const skip = Number(query.get('skip') ?? 0);
		const count = Math.max(0, Math.min(Number(query.get('limit')), size - skip));
		// The first ones are repeated at the end, one of them in upper case.
		const ids = Array.from({ length: count }, (_, at) =>
			skip + at >= size - 50 ? idOf(size - 1 - skip - at).toUpperCase() : idOf(skip + at),
		);
		return httpResponse(200, { data: ids.map((id) => ({ id, fields: {} })) });
	});
	const { ids, notes } = await readAll(connection, Infinity, { query: { sort: 'rank' } });
	expect(ids).toEqual(Array.from({ length: size - 50 }, (_, index) => idOf(index)));
	expect(notes).toEqual({ hasShifted: true });
});
