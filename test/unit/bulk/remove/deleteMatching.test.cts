/** Deleting what a filter matches, on a fake platform with one table. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import type { Group } from '../../../../nodes/DataPlatform/api/filters.ts';
import { deleteMany, type DeleteManyOptions } from '../../../../nodes/DataPlatform/bulk/remove/deleteMatching.ts';
import { NO_BULK_NOTICE } from '../../../../nodes/DataPlatform/bulk/send/single.ts';
import { InputError, ServiceError } from '../../../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf } from '../../fixtures.cts';
import { httpResponse, fakePlatform, networkError } from '../../stubPlatform.cts';

type Response = ReturnType<typeof httpResponse> | Error;
type Reply = Response | undefined;

/** The matching records on the platform, and how the platform misbehaves. */
interface Matching {
	ids: string[];
	/** What others changed, the newest first. */
	changed: string[];
	/** Called before each request. If it returns a response, that one is sent instead. */
	on?: (line: string, table: Matching, count: number) => Reply;
}

const no = (status: number) => httpResponse(status, { errors: [{ message: 'no' }] });
const lost = () => networkError('ECONNRESET');

function serve(table: Matching, { method, url }: IHttpRequestOptions, count: number): Response {
	const { pathname, searchParams } = new URL(url);
	const path = pathname.replace('/api/v2/people/data', '');
	const line = `${method} ${path}`.trim();
	const replaced = table.on?.(line, table, count);
	if (replaced) return replaced;
	if (path.startsWith('/count')) return httpResponse(200, { data: { count: table.ids.length } });
	if (method === 'DELETE') {
		const id = path.slice(1);
		const limit = Number(searchParams.get('limit'));
		if (id !== 'bulk' && !table.ids.includes(id)) return no(404);
		table.ids = id === 'bulk' ? table.ids.slice(limit) : table.ids.filter((one) => one !== id);
		return httpResponse(204, '');
	}
	if (searchParams.get('sort')?.startsWith('modified')) return httpResponse(200, { data: table.changed.map((id) => ({ id, fields: {} })) });
	const skip = Number(searchParams.get('skip') ?? 0);
	const page = table.ids.slice(skip, skip + Number(searchParams.get('limit')));
	return httpResponse(200, { data: page.map((id) => ({ id, fields: { name: id.toUpperCase() } })) });
}

/** Can go into a query string as it is. */
const plain: Group = { filter: [{ field: 'age', operator: 'gte', value: '18' }], filterOperator: 'and' };
/** Can't, because of the comma: its records are deleted one by one. */
const withComma: Group = { filter: [{ field: 'name', operator: 'eq', value: 'Fox, Ann' }], filterOperator: 'and' };
const key = fieldOf('name', 'text');
const nothing: Group = { filter: [], filterOperator: 'and' };

interface Setup extends Partial<DeleteManyOptions> {
	filter?: Group;
	ids?: string[];
	on?: Matching['on'];
	/** Time for retries; none by default. */
	retryBudgetMs?: number;
}

async function run({ filter = plain, ids = ['a', 'b', 'c'], on, retryBudgetMs = 0, ...options }: Setup = {}) {
	const table: Matching = { ids: [...ids], changed: [], on };
	const { connection, sent } = fakePlatform((request, count) => serve(table, request, count), { retryBudgetMs });
	const outcome = await deleteMany({ client: connection, at: { table: 'people' } }, filter, {
		maximum: 100_000,
		allowAll: false,
		dryRun: false,
		...options,
	}).catch((error: unknown) => error as ServiceError);
	const lines = sent.map(({ method, url }) => {
		const { pathname, search } = new URL(url);
		return `${method} ${pathname.replace('/api/v2/people/data', '')}${decodeURIComponent(search)}`;
	});
	const { records, ...counts } = 'records' in outcome ? outcome : { records: [] };
	const result = 'records' in outcome ? { ...counts, deleted: options.dryRun ? 0 : records.length } : outcome;
	const notices = [...connection.notices];
	return { result, records, left: table.ids, lines, deletions: lines.filter((line) => /^DELETE/.test(line)), notices };
}

/** The records that are left after the deletion request, its response, and what others changed. */
const afterDeletion =
	(left: string[], reply?: () => Reply, changed = ''): Matching['on'] =>
	(line, table) => {
		if (line !== 'DELETE /bulk') return undefined;
		table.ids = left;
		table.changed = [...changed];
		return reply?.() ?? httpResponse(204, '');
	};

describe('nothing is deleted', () => {
	test('without a filter, nor anything sent', async () => {
		const { result, lines } = await run({ filter: nothing });
		expect(result).toBeInstanceOf(InputError);
		expect(result).toMatchObject({
			message: 'Nothing was deleted: there is no filter',
			hint: "Add a condition. To delete every record of the table, set 'Filter' to 'None' and turn on 'Delete All Records'.",
		});
		expect(lines).toEqual([]);
	});

	test.each<[string, Setup, string]>([
		['by ID', { ids: ['b', 'c', 'a'] }, "'a', 'b', 'c'"],
		['by key', { keys: [key] }, "'A', 'B', 'C'"],
		[
			'up to ten',
			{ ids: Array.from({ length: 1200 }, (_, index) => `r${index}`) },
			"'r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7', 'r8', 'r9' and 1190 more",
		],
	])('if more records match than the maximum, which are named: %s', async (_, setup, names) => {
		const { result, lines } = await run({ maximum: 2, ...setup });
		expect(result).toBeInstanceOf(InputError);
		expect(result).toMatchObject({
			message: expect.stringMatching(/^Nothing was deleted: (3|1,?200) records match, more than the maximum of 2$/) as string,
			hint: `Matching: ${names}. Narrow the filter, or raise 'Max Records to Delete' to delete all of them. 'Dry Run' lists them.`,
		});
		expect(lines).toEqual(['POST /count/filter', 'POST /filter?limit=1000&sort=created,id']);
	});

	test.each([[100], [2]])('in a dry run, whatever the maximum: which match is said for one more request', async (maximum) => {
		const { result, records, lines } = await run({ dryRun: true, maximum, keys: [key] });
		expect(result).toEqual({ matched: 3, deleted: 0, remaining: 3 });
		expect(records).toEqual([
			{ id: 'a', key: 'A' },
			{ id: 'b', key: 'B' },
			{ id: 'c', key: 'C' },
		]);
		expect(lines).toEqual(['POST /count/filter', 'POST /filter?limit=1000&sort=created,id']);
	});

	test.each([[plain], [withComma]])('if nothing matches', async (filter) => {
		const { result, lines } = await run({ ids: [], filter });
		expect(result).toEqual({ matched: 0, deleted: 0, remaining: 0 });
		expect(lines).toEqual(['POST /count/filter']);
	});

	test('if nothing matches any more after the records are read', async () => {
		const on: Matching['on'] = (line, table) => {
			if (line === 'POST /filter') table.ids = [];
			return undefined;
		};
		const { result, deletions } = await run({ on });
		expect(result).toEqual({ matched: 0, deleted: 0, remaining: 0 });
		expect(deletions).toEqual([]);
	});
});

describe('by one request', () => {
	test('as many as the maximum, and no more than matched', async () => {
		const { result, left, deletions } = await run({ maximum: 3 });
		expect(result).toEqual({ matched: 3, deleted: 3, remaining: 0 });
		expect(left).toEqual([]);
		expect(deletions).toEqual(['DELETE /bulk?limit=3&filter=age(gte)18']);
	});

	test('says which were deleted, without another request', async () => {
		const { records, lines } = await run({ keys: [key], on: afterDeletion(['b'], undefined, 'a') });
		expect(records).toEqual([{ id: 'c', key: 'C' }]);
		expect(lines.map((line) => line.split('?')[0])).toEqual([
			'POST /count/filter',
			'POST /filter',
			'DELETE /bulk',
			'POST /count/filter',
			'POST /filter',
			'GET ',
		]);
	});

	test('all records, if that is allowed', async () => {
		const { result, lines } = await run({ filter: nothing, allowAll: true });
		expect(result).toEqual({ matched: 3, deleted: 3, remaining: 0 });
		expect(lines).toEqual(['GET /count', 'GET ?limit=4&sort=created,id', 'DELETE /bulk?limit=3', 'GET /count']);
	});

	test.each<[string, string[], object]>([
		['all are gone', [], { matched: 3, deleted: 3, remaining: 0 }],
		['others were added meanwhile', ['x', 'y'], { matched: 3, deleted: 3, remaining: 2 }],
		['one is still there', ['b'], { matched: 3, deleted: 2, remaining: 1 }],
		['one is there, one was added', ['b', 'x'], { matched: 3, deleted: 2, remaining: 2 }],
	])('%s', async (_, left, result) => {
		expect((await run({ on: afterDeletion(left) })).result).toEqual(result);
	});

	const addedAfterCount = (added: string[], left: string[], reply: Reply): Matching['on'] => {
		const whenDeleted = afterDeletion(left, () => reply);
		return (line, table, count) => {
			if (count === 2) table.ids = [...added, ...table.ids];
			return whenDeleted?.(line, table, count);
		};
	};
	test.each<[string, added: string[], left: string[], Reply, deleted: string[], more: object]>([
		['one, and it is left', ['x'], ['x'], undefined, ['a', 'b', 'c'], { matched: 3, remaining: 1 }],
		['one, and it is left without a response', ['x'], ['x'], lost(), ['a', 'b', 'c'], { matched: 3, remaining: 1 }],
		['one, and it is deleted instead of another', ['x'], ['b'], undefined, ['x', 'a', 'c'], { matched: 3, remaining: 1 }],
		['three, and some are deleted', ['x', 'y', 'z'], ['y', 'z', 'b'], undefined, ['x', 'a', 'c'], { matched: 3, remaining: 3 }],
	])('others are added between the count and the list, first in its order: %s', async (_, added, left, reply, deleted, more) => {
		const { result, records, deletions } = await run({ maximum: 3, on: addedAfterCount(added, left, reply) });
		expect(result).toEqual({ ...more, deleted: deleted.length });
		expect(records.map(({ id }) => id)).toEqual(deleted);
		expect(deletions).toEqual(['DELETE /bulk?limit=3&filter=age(gte)18']);
	});

	test('with added ones in the list, a lost deletion still says how many were not deleted', async () => {
		const { result } = await run({ maximum: 3, on: addedAfterCount(['x'], ['x', 'a'], lost()) });
		expect((result as Error).message).toMatch(/; 1 record of 3 still match$/);
	});

	test.each<[string, Setup, object]>([
		['does not count as deleted', { on: afterDeletion([], undefined, 'a') }, { matched: 3, deleted: 2, remaining: 0 }],
		['does not, if another one was added', { on: afterDeletion(['x'], undefined, 'ax') }, { matched: 3, deleted: 2, remaining: 1 }],
		['does not, if the response is lost', { on: afterDeletion([], lost, 'ab') }, { matched: 3, deleted: 1, remaining: 0 }],
		['but never did, does not matter', { on: afterDeletion([], undefined, 'xyz') }, { matched: 3, deleted: 3, remaining: 0 }],
		['is one that still does, if it was changed', { on: afterDeletion(['a'], undefined, 'a') }, { matched: 3, deleted: 2, remaining: 1 }],
		[
			'is deleted, without a filter',
			{ filter: nothing, allowAll: true, on: afterDeletion(['x'], undefined, 'a') },
			{ matched: 3, deleted: 3, remaining: 1 },
		],
	])('a record that no longer matches %s', async (_, setup, expected) => {
		expect((await run(setup)).result).toEqual(expected);
	});

	test('ids are read of as many as there are', async () => {
		const ids = Array.from({ length: 10_000 }, (_, index) => `r${index}`);
		const { result } = await run({ ids, on: afterDeletion(['x', 'r7']) });
		expect(result).toEqual({ matched: 10_000, deleted: 9999, remaining: 2 });
	});

	const stillMatch = {
		message: expect.stringMatching(/; 2 records of 3 still match$/),
		delivery: 'ambiguous',
		hint: 'Run it again to delete the rest.',
	};
	test.each<[string, string[], () => Reply, object]>([
		['is rejected', ['a', 'b', 'c'], () => no(402), { delivery: 'rejected', status: 402, message: 'no' }],
		['has no response, but all are gone', [], lost, { matched: 3, deleted: 3, remaining: 0 }],
		['has no response, others were added', ['x'], lost, { matched: 3, deleted: 3, remaining: 1 }],
		['has no response, and some are still there', ['a', 'b', 'x'], lost, stillMatch],
		[
			'of which a gateway gave up waiting, and one is still there',
			['a'],
			() => no(504),
			{
				message: 'The platform failed (504): no; 1 record of 3 still match, and the platform may still be deleting them',
				status: 504,
				delivery: 'ambiguous',
				hint: 'Wait a little and count them before you run it again.',
			},
		],
	])('that %s', async (_, left, reply, expected) => {
		const { result } = await run({ on: afterDeletion(left, reply) });
		expect(result).toMatchObject(expected);
	});

	test('that gets a body in place of 204: what is left says what was deleted', async () => {
		const body = () => httpResponse(200, { data: { deleted: 3 } });
		const { result } = await run({ on: afterDeletion(['a', 'b', 'c'], body) });
		expect(result).toBeInstanceOf(ServiceError);
		expect((result as Error).message).toContain('3 records of 3 still match');
		expect((await run({ on: afterDeletion([], body) })).result).toEqual({ matched: 3, deleted: 3, remaining: 0 });
	});

	test('is not sent again if its response is lost: it could reach others', async () => {
		const { result, deletions } = await run({ on: afterDeletion(['c', 'x'], lost), retryBudgetMs: 60_000 });
		expect(deletions).toHaveLength(1);
		expect(result).toMatchObject({ delivery: 'ambiguous', hint: 'Run it again to delete the rest.' });
	});

	test('that the platform forbids: one by one', async () => {
		const { result, deletions, notices } = await run({ on: (line) => (line === 'DELETE /bulk' ? no(403) : undefined) });
		expect(result).toEqual({ matched: 3, deleted: 3, remaining: 0 });
		expect(deletions.map((line) => line.split('?')[0])).toEqual(['DELETE /bulk', 'DELETE /a', 'DELETE /b', 'DELETE /c']);
		expect(notices).toEqual([NO_BULK_NOTICE]);
	});

	test('that the platform forbids, as it does single ones: says so', async () => {
		const { result, deletions } = await run({ on: (line) => (line.startsWith('DELETE') ? no(403) : undefined) });
		expect(result).toMatchObject({ status: 403, message: 'no (403); 0 of 3 records were deleted' });
		expect(deletions).toHaveLength(2);
	});

	test.each<[string, (() => Reply) | undefined, string]>([
		['was confirmed', undefined, 'The platform confirmed the deletion of up to 3 records, but counting the rest failed: '],
		['had no response', lost, '; it is unknown how many of 3 records were deleted: '],
	])('that %s, and what is left can’t be counted', async (_, reply, message) => {
		let isDeleted = false;
		const on: Matching['on'] = (line) => {
			if (line === 'DELETE /bulk') {
				isDeleted = true;
				return reply?.();
			}
			return isDeleted ? no(403) : undefined;
		};
		const { result } = await run({ on });
		expect(result).toBeInstanceOf(ServiceError);
		expect(result).toMatchObject({ status: 403, delivery: 'ambiguous' });
		expect((result as Error).message).toContain(message);
		expect((result as Error).message).toContain('no (403)');
	});
});

describe('one by one, if the filter can’t be part of the deletion', () => {
	const filter = withComma;

	test('each record that matches', async () => {
		const { result, records, lines } = await run({ filter, keys: [key] });
		expect(result).toEqual({ matched: 3, deleted: 3, remaining: 0 });
		expect(records.map((record) => record.key)).toEqual(['A', 'B', 'C']);
		expect(lines).toEqual([
			'POST /count/filter',
			'POST /filter?limit=3&sort=created,id',
			'DELETE /a',
			'DELETE /b',
			'DELETE /c',
			'POST /count/filter',
		]);
	});

	test('a record that no longer matches stays, and an added one is not deleted instead', async () => {
		const ids = Array.from({ length: 62 }, (_, index) => `r${index}`);
		const on: Matching['on'] = (_, table, count) => {
			// After the first page was read, one record of the second no longer matches.
			if (count === 4) table.ids = [...table.ids.filter((id) => id !== 'r61'), 'x', 'y'];
			return undefined;
		};
		const { result, left, lines } = await run({ filter, ids, on });
		expect(result).toEqual({ matched: 62, deleted: 62, remaining: 1 });
		expect(left).toEqual(['y']);
		expect(lines.at(-1)).toBe('POST /count/filter');
	});

	test('one that the service does not find, and still lists, is tried once', async () => {
		const ids = Array.from({ length: 65 }, (_, index) => `r${index}`);
		const on: Matching['on'] = (line) => (line === 'DELETE /r0' ? no(404) : undefined);
		const { result, deletions } = await run({ filter, ids, on });
		expect(result).toMatchObject({ message: expect.stringContaining('63 of 65') as string });
		expect(deletions.filter((line) => line === 'DELETE /r0')).toHaveLength(1);
	});

	test('one that is gone already, and no others left, needs no list', async () => {
		const on: Matching['on'] = (line, table) => {
			if (line === 'DELETE /a') table.ids = table.ids.filter((id) => id !== 'b');
			return undefined;
		};
		const { result, lines } = await run({ filter, on });
		expect(result).toEqual({ matched: 3, deleted: 2, remaining: 0 });
		expect(lines.at(-1)).toBe('POST /count/filter');
	});

	test('no more than were counted, if a page is longer than requested', async () => {
		const { result, left } = await run({
			filter: withComma,
			ids: ['a', 'b', 'c', 'd', 'e'],
			on: (line, { ids }, count) => {
				if (count === 1) return httpResponse(200, { data: { count: 2 } });
				if (line !== 'GET' && line !== 'POST /filter') return undefined;
				return httpResponse(200, { data: ids.map((id) => ({ id, fields: {} })) });
			},
		});
		expect(left).toEqual(['c', 'd', 'e']);
		expect(result).toMatchObject({ matched: 2, deleted: 2 });
	});

	test('fewer match than were counted: it ends', async () => {
		const on: Matching['on'] = (line, table) => {
			if (line === 'POST /filter') table.ids = table.ids.filter((id) => id !== 'c');
			return undefined;
		};
		const { result } = await run({ filter, on });
		expect(result).toEqual({ matched: 3, deleted: 2, remaining: 0 });
	});

	test('a record that is said to be gone, and matches: an error', async () => {
		const on: Matching['on'] = (line) => (line === 'DELETE /b' ? no(404) : undefined);
		const { result } = await run({ filter, on });
		expect(result).toMatchObject({ status: 404, message: expect.stringMatching(/; 2 of 3 records were deleted \('a', 'c'\)$/) });
	});

	test('a record that is said to be gone, and another matches by now: no error', async () => {
		const on: Matching['on'] = (line, table) => {
			if (line !== 'DELETE /b') return undefined;
			table.ids = [...table.ids.filter((id) => id !== 'b'), 'x'];
			return no(404);
		};
		const { result } = await run({ filter, on });
		expect(result).toEqual({ matched: 3, deleted: 2, remaining: 1 });
	});

	test.each<[string, Matching['on'], string, object]>([
		['the first page', (line) => (line === 'POST /filter' ? no(403) : undefined), 'no (403); 0 of 3 records were deleted', { status: 403 }],
		[
			'a deletion, rejected',
			(line) => (line === 'DELETE /c' ? no(403) : undefined),
			'no (403); 2 of 3 records were deleted',
			{ status: 403, delivery: 'rejected' },
		],
		[
			'a deletion, without a response',
			(line) => (line === 'DELETE /c' ? lost() : undefined),
			'; at least 2 of 3 records were deleted',
			{ delivery: 'ambiguous' },
		],
		[
			'two deletions: the one that is open counts',
			(line) => (line === 'DELETE /b' ? no(403) : line === 'DELETE /c' ? lost() : undefined),
			'; at least 1 of 3 records were deleted',
			{ delivery: 'ambiguous' },
		],
		[
			'the count at the end',
			(line, _, count) => (count > 2 && line.startsWith('POST /count') ? no(403) : undefined),
			"The platform confirmed the deletion of 3 of 3 records ('a', 'b', 'c'), but counting the rest failed: ",
			{ status: 403, delivery: 'ambiguous' },
		],
		[
			'looking at what was said to be gone',
			(line, _, count) => {
				if (line === 'DELETE /b') return no(404);
				return count > 6 && line === 'POST /filter' ? no(403) : undefined;
			},
			'no (403); 2 of 3 records were deleted',
			{ status: 403 },
		],
	])('a failure of %s', async (_, on, message, expected) => {
		const { result } = await run({ filter, on });
		expect(result).toBeInstanceOf(ServiceError);
		expect((result as Error).message).toContain(message);
		expect(result).toMatchObject(expected);
	});

	test('rejected after one that is said to be gone, but whose first response was lost: it may be deleted yet', async () => {
		let tries = 0;
		const on: Matching['on'] = (line) => {
			if (line === 'DELETE /b') return no(403);
			if (line !== 'DELETE /a') return undefined;
			tries += 1;
			return tries === 1 ? lost() : no(404);
		};
		const { result } = await run({ filter, on, retryBudgetMs: 60_000 });
		expect(result).toMatchObject({ delivery: 'ambiguous', message: expect.stringContaining('; at least 0 of 3 records were deleted') });
	});

	test('in another attempt: the message says in which', async () => {
		const on: Matching['on'] = (line) => (line === 'DELETE /c' ? no(403) : undefined);
		const { result } = await run({ filter, on, attempt: 2 });
		expect((result as Error).message).toMatch(/; 2 of 3 records were deleted in attempt 2 \('a', 'b'\)$/);
	});

	test('after a failure no further record is deleted', async () => {
		const ids = Array.from({ length: 40 }, (_, index) => `r${index}`);
		const on: Matching['on'] = (line) => (line === 'DELETE /r0' ? no(403) : undefined);
		const { deletions } = await run({ filter, ids, on });
		expect(deletions).toEqual(['DELETE /r0']);
	});

	test('the more were deleted, the more go at a time', async () => {
		const ids = Array.from({ length: 90 }, (_, index) => `r${index}`);
		const refused = (id: string) => (line: string) => (line === `DELETE /${id}` ? no(403) : undefined);
		const first = await run({ filter, ids, on: refused('r1') });
		// First one request, then two.
		expect(first.deletions).toHaveLength(3);
		// Some of the second page, too.
		const second = await run({ filter, ids, on: refused('r60') });
		expect(second.deletions.length).toBeGreaterThan(64);
		expect(second.deletions.length).toBeLessThanOrEqual(72);
	});
});
