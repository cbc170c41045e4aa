/**
 * For each function of api/: the requests that it sends, its result, and what a failure becomes.
 */
import type { IHttpRequestOptions } from 'n8n-workflow';
import { countRecords, summarizeRecords } from '../../../nodes/DataPlatform/api/aggregates.ts';
import { paths, recordIdProblem } from '../../../nodes/DataPlatform/api/endpoints.ts';
import { and, type Group } from '../../../nodes/DataPlatform/api/filters.ts';
import { findRecord, readRecord, tryDeleteRecord, writtenRecord } from '../../../nodes/DataPlatform/api/records.ts';
import { readLatestChange, readPage, type RecordQuery } from '../../../nodes/DataPlatform/api/pages.ts';
import { readRecords } from '../../../nodes/DataPlatform/api/readRecords.ts';
import { readApplications, readCurrentUser, readTables, readTimeZone } from '../../../nodes/DataPlatform/api/structure.ts';
import { tableAt } from '../../../nodes/DataPlatform/api/table.ts';
import { startWorkflow } from '../../../nodes/DataPlatform/api/workflows.ts';
import type { ApiClient } from '../../../nodes/DataPlatform/transport/client.ts';
import { InputError, ServiceError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { httpResponse, fakePlatform, networkError, type Serve } from '../stubPlatform.cts';

const at = { table: 'people' };
const TIME = '2026-01-01T00:00:00Z';
const record = (id: string, fields: object = {}) => ({ id, created: TIME, modified: TIME, ver: 1, fields });
const no = (status: number) => httpResponse(status, { errors: [{ message: 'no' }] });
const lost = () => networkError('ECONNRESET');

const describeRequest = ({ method, url, body }: IHttpRequestOptions) => {
	const { pathname, search } = new URL(url);
	const path = pathname.replace('/api/v2', '') + decodeURIComponent(search);
	return body === undefined ? `${method} ${path}` : `${method} ${path} ${String(body)}`;
};

/** Runs one function against responses. Returns what was sent, and its result or error. */
async function call<T>(run: (client: ApiClient) => Promise<T>, ...responses: Array<ReturnType<Serve>>) {
	const { connection, sent, withToken } = fakePlatform((_, count) => responses[count - 1] ?? no(500), {
		retryBudgetMs: 0,
		webhookOrigins: 'https://hooks.example.com',
	});
	let hasThrown = false;
	const result = await run(connection).catch((error: unknown) => {
		hasThrown = true;
		return error as ServiceError;
	});
	return { result, hasThrown, requests: sent.map(describeRequest), sent, withToken };
}

const ok = (data: unknown, status = 200) => httpResponse(status, { data });
const isOver18: Group = { filter: [{ field: 'age', operator: 'gte', value: '18' }], filterOperator: 'and' };
const isAnyOf: Group = {
	filter: [
		{ field: 'age', operator: 'gte', value: '18' },
		{ field: 'name', operator: 'eq', value: 'Fox' },
	],
	filterOperator: 'or',
};
const anything: Group = { filter: [], filterOperator: 'and' };
const PROXY = "Another server may have responded, such as a proxy. Check the 'Base URL' in the credential and the network.";

describe('a record', () => {
	const uuid = '01234567-89ab-cdef-0123-456789abcdef';
	const read = (id: string) => (client: ApiClient) => readRecord({ client, at }, id);
	test.each<[string, string, unknown]>([
		['as it is', 'x', record('x')],
		['by an id in another case', uuid, record(uuid.toUpperCase())],
		['by a name that is no id', 'mine', record('x')],
	])('is read %s', async (_, id, data) => {
		const { result, requests } = await call(read(id), ok(data));
		expect(result).toMatchObject({ fields: {} });
		expect(requests).toEqual([`GET /people/data/${id}`]);
	});

	test.each<[string, string, unknown]>([
		['there is none', 'x', null],
		['it has no fields', 'x', { id: 'x' }],
		['it is another', uuid, record(uuid.replace('0', '1'))],
		['it is no list', 'x', [record('x')]],
	])('is not read if %s', async (_, id, data) => {
		const { result } = await call(read(id), ok(data));
		expect(result).toBeInstanceOf(ServiceError);
		expect(result).toMatchObject({ message: `The response contains no record '${id}'`, delivery: 'notApplied', status: 200, hint: PROXY });
	});

	test.each([`x${uuid}`, `${uuid}x`])('%s is not a UUID', async (id) => {
		expect((await call(read(id), ok(record('other')))).result).toMatchObject({ id: 'other' });
	});

	test.each<[string, ReturnType<Serve>, unknown]>([
		['null if the platform says that there is none', no(404), null],
		['an error if another server says so', httpResponse(404, {}), expect.any(ServiceError)],
	])('that is missing is %s', async (_, response, found) => {
		expect((await call(async (client) => await findRecord({ client, at }, 'x'), response)).result).toEqual(found);
	});

	test('the record in the response to a write is none if it is another', () => {
		const other = uuid.replace('0', '1');
		expect(writtenRecord(record(uuid), uuid.toUpperCase())).toMatchObject({ id: uuid });
		expect(writtenRecord(record(other), uuid)).toBeUndefined();
		expect(writtenRecord(record(other), undefined)).toMatchObject({ id: other });
	});

	test('a read that is lost changed nothing', async () => {
		expect((await call(read('x'), lost())).result).toMatchObject({ delivery: 'notApplied' });
	});
});

describe('a page of records', () => {
	const page =
		(query: RecordQuery, limit = 5, skip = 0) =>
		(client: ApiClient) =>
			readPage({ client, at }, query, { limit, skip });
	test.each<[string, RecordQuery, number, string]>([
		['all', {}, 0, 'GET /people/data?limit=5'],
		['from the third on, sorted', { sort: 'age(desc)' }, 2, 'GET /people/data?limit=5&skip=2&sort=age(desc)'],
		['an empty filter', { filter: anything }, 0, 'GET /people/data?limit=5'],
		[
			'a filter',
			{ filter: isOver18 },
			2,
			'POST /people/data/filter?limit=5&skip=2 {"filter":[{"field":"age","operator":"gte","value":"18"}],"filterOperator":"and"}',
		],
		['some fields', { fields: ['a', 'b'] }, 0, 'POST /people/data/filter?limit=5 {"loadFields":["a","b"]}'],
		['no fields named', { fields: [] }, 0, 'GET /people/data?limit=5'],
		['a saved view', { savedView: 'v' }, 0, 'GET /people/data?limit=5&userFilter=v'],
		['a saved view and a filter', { savedView: 'v', filter: isOver18 }, 0, 'GET /people/data?limit=5&filter=age(gte)18&userFilter=v'],
		['a saved view and an empty filter', { savedView: 'v', filter: anything }, 0, 'GET /people/data?limit=5&userFilter=v'],
	])('%s', async (_, query, skip, request) => {
		const { requests } = await call(page(query, 5, skip), ok([]));
		expect(requests).toEqual([request]);
	});

	const linkedTo = { id: 'c1', tableId: 't1', field: 'orders' };
	const LINK = 'linkId=c1&linkTableId=t1&linkField=orders';
	test.each<[string, RecordQuery, string]>([
		['all that it leads to', { linkedTo }, `GET /people/data?limit=5&${LINK}`],
		['those that a filter lets through', { linkedTo, filter: isOver18 }, `GET /people/data?limit=5&filter=age(gte)18&${LINK}`],
		['in a saved view', { linkedTo, savedView: 'v' }, `GET /people/data?limit=5&userFilter=v&${LINK}`],
		['with some fields', { linkedTo, fields: ['a'] }, `GET /people/data?limit=5&${LINK}`],
	])('a link of a record: %s', async (_, query, request) => {
		const { result, requests } = await call(page(query), ok([record('x', { a: 1, b: 2 })]));
		expect(requests).toEqual([request]);
		expect(result).toMatchObject([{ fields: query.fields ? { a: 1 } : { a: 1, b: 2 } }]);
	});

	describe.each<[string, RecordQuery, string, string]>([
		['a link', { linkedTo }, 'the choice of linked records', "'Linked To'"],
		['a link and a saved view', { linkedTo, savedView: 'v' }, 'the choice of linked records', "'Linked To'"],
		['a saved view', { savedView: 'v' }, 'a saved view', 'the saved view'],
	])('%s and a filter', (_, query, what, besides) => {
		test.each<[string, Group, string, string]>([
			['that joins by any', isAnyOf, "it joins by 'any'", 'use conditions that must all hold.'],
			[
				'whose list has a bracket',
				and(and({ field: 'a', operator: 'eq', value: '1' }, { field: 'b', operator: 'in', value: ['x', 'y)'] })),
				"the condition on 'b' (in) has a value with a comma, a bracket, a backslash, or a space at an end",
				"compare with a part of the value, such as with 'Starts With' (startswith).",
			],
			[
				'that is too long',
				{ filter: [{ field: 'a', operator: 'eq', value: 'x'.repeat(6001) }], filterOperator: 'and' },
				'it is too long',
				'use fewer or shorter values.',
			],
		])('%s: nothing is sent', async (__, filter, problem, instead) => {
			const { result, requests } = await call(page({ ...query, filter }));
			expect(result).toBeInstanceOf(InputError);
			const message = `The filter can't be combined with ${what}: ${problem}`;
			expect(result).toMatchObject({ message, hint: `Leave ${besides} out, or ${instead}` });
			expect(requests).toEqual([]);
		});
	});

	test('a saved view gives all fields: those that were not asked for are left out', async () => {
		const query = { savedView: 'v', fields: ['a', 'c'] };
		const { result, requests } = await call(page(query), ok([record('x', { a: 1, b: 2 })]));
		expect(requests).toEqual(['GET /people/data?limit=5&userFilter=v']);
		expect(result).toMatchObject([{ id: 'x' }]);
		expect((result as Array<{ fields: object }>)[0]!.fields).toEqual({ a: 1, c: null });
	});

	test('without fields to choose from, a saved view gives them all', async () => {
		const { result } = await call(page({ savedView: 'v', fields: [] }), ok([record('x', { a: 1 })]));
		expect(result).toMatchObject([{ fields: { a: 1 } }]);
	});

	test.each([[{}], [null], [[{ id: 'x' }]], [[record('x'), null]]])('%j is not one', async (data) => {
		expect((await call(page({}), ok(data))).result).toMatchObject({
			message: 'The response contains no list of records',
			delivery: 'notApplied',
			status: 200,
		});
	});

	test('the newest change is that of one record', async () => {
		const latest = (client: ApiClient) => readLatestChange({ client, at });
		const { result, requests } = await call(latest, ok([record('x')]));
		expect(result).toBe(TIME);
		expect(requests).toEqual(['GET /people/data?limit=1&sort=modified(desc)']);
		expect((await call(latest, ok([]))).result).toBeUndefined();
	});

	test.each<[RecordQuery, string]>([
		[{}, 'sort=created,id'],
		[{ sort: 'age' }, 'sort=age,id'],
	])('pages %j have one order', async (query, sort) => {
		const { requests } = await call(
			async (client) => {
				for await (const _ of readRecords({ client, at }, query, 30));
			},
			ok(Array.from({ length: 25 }, (_, number) => record(`r${number}`))),
			ok([record('r24')]),
		);
		expect(requests).toEqual([`GET /people/data?limit=30&${sort}`, `GET /people/data?limit=6&skip=24&${sort}`]);
	});
});

describe('counting', () => {
	const count = (filter?: Group) => (client: ApiClient) => countRecords({ client, at }, filter);
	test.each<[Group | undefined, string]>([
		[undefined, 'GET /people/data/count'],
		[anything, 'GET /people/data/count'],
		[isOver18, 'POST /people/data/count/filter {"filter":[{"field":"age","operator":"gte","value":"18"}],"filterOperator":"and"}'],
	])('%j', async (filter, request) => {
		const { result, requests } = await call(count(filter), ok({ count: 0 }));
		expect(result).toBe(0);
		expect(requests).toEqual([request]);
	});

	test('a count that is lost changed nothing', async () => {
		for (const filter of [undefined, isOver18]) {
			expect((await call(count(filter), lost())).result).toMatchObject({ delivery: 'notApplied' });
		}
		expect((await call(summary(anything), lost())).result).toMatchObject({ delivery: 'notApplied' });
	});

	test.each([[-1], [1.5], ['1'], [undefined], [2 ** 53]])('%j is not a count', async (given) => {
		expect((await call(count(), ok({ count: given }))).result).toMatchObject({ message: 'The response contains no count', status: 200 });
	});
	test('a response without data is invalid', async () => {
		expect((await call(count(), httpResponse(200, {}))).result).toMatchObject({ message: 'The response contains no count' });
	});

	const summary = (filter: Group) => (client: ApiClient) => summarizeRecords({ client, at }, filter, { age: ['min', 'max'] });
	test.each<[Group, string]>([
		[anything, '{"fields":{"age":{"aggregations":["min","max"]}}}'],
		[
			isOver18,
			'{"filter":[{"field":"age","operator":"gte","value":"18"}],"filterOperator":"and","fields":{"age":{"aggregations":["min","max"]}}}',
		],
	])('and aggregates of %j', async (filter, body) => {
		const data = { count: 2, fields: { age: { min: 1, max: 2 } } };
		const { result, requests } = await call(summary(filter), ok(data));
		expect(result).toEqual(data);
		expect(requests).toEqual([`POST /people/data/summary ${body}`]);
	});

	test('a summary that lacks one of the fields is invalid', async () => {
		const run = (client: ApiClient) => summarizeRecords({ client, at }, anything, { age: ['min'], size: ['max'] });
		const data = { count: 2, fields: { age: { min: 1 } } };
		expect((await call(run, ok(data))).result).toMatchObject({ message: "The response contains no summary of 'size'" });
	});

	test.each<[unknown]>([
		[{ count: 2, fields: [] }],
		[{ count: 2, fields: { age: 5 } }],
		[{ count: 'two', fields: { age: {} } }],
		[{ fields: { age: {} } }],
		[undefined],
	])('%j is not a summary', async (data) => {
		expect((await call(summary(anything), ok(data))).result).toMatchObject({
			message: expect.stringContaining('The response contains no summary'),
			status: 200,
		});
	});
});

describe('one record that is written', () => {
	test('deleting', async () => {
		const run = (client: ApiClient) => tryDeleteRecord({ client, at }, 'x');
		const { result, requests } = await call(run, httpResponse(204, ''));
		expect(result).toBeUndefined();
		expect(requests).toEqual(['DELETE /people/data/x']);
	});

	const body = httpResponse(200, { data: { id: 'x' } });
	const which = 'Unknown whether the record was deleted: The platform responded with 200, which confirms nothing; it is still there';
	const unknown = expect.stringContaining('Unknown whether the record was deleted: ') as string;
	const hint = 'It is safe to run it again.';
	test.each<[string, Array<ReturnType<Serve>>, object | undefined]>([
		['is rejected', [no(404)], { status: 404, delivery: 'rejected' }],
		['is lost, and the record is gone', [lost(), no(404)], undefined],
		['is lost, and the record is still there', [lost(), ok(record('x'))], { message: unknown, hint }],
		['is lost, and the record can’t be read', [lost(), no(403)], { message: unknown }],
		['is answered with a body instead of 204', [body, ok(record('x'))], { message: which }],
	])('a deletion that %s', async (_, responses, expected) => {
		const { result } = await call((client) => tryDeleteRecord({ client, at }, 'x'), ...responses);
		if (expected) expect(result).toMatchObject(expected);
		else expect(result).toBeUndefined();
	});
});

describe('a request whose response is lost', () => {
	const hook = 'https://hooks.example.com/run';
	test.each<[string, (client: ApiClient) => Promise<unknown>, number, string]>([
		['a start: once', (client) => startWorkflow(client, hook, {}), 1, 'ambiguous'],
		['a deletion: again, then it is looked up', (client) => tryDeleteRecord({ client, at }, 'x'), 12, 'ambiguous'],
		['a read: again', (client) => readRecord({ client, at }, 'x'), 6, 'notApplied'],
		['a page: again', (client) => readPage({ client, at }, {}, { limit: 1, skip: 0 }), 6, 'notApplied'],
		[
			'a page that a filter narrows: again',
			(client) => readPage({ client, at }, { filter: isOver18 }, { limit: 1, skip: 0 }),
			6,
			'notApplied',
		],
		['a count: again', (client) => countRecords({ client, at }, isOver18), 6, 'notApplied'],
		['the tables: again', (client) => readTables(client, 'a'), 6, 'notApplied'],
	])('is sent %s', async (_, run, requests, delivery) => {
		// No wait between attempts.
		jest.spyOn(Math, 'random').mockReturnValue(-1);
		const { connection, sent } = fakePlatform(lost, { webhookOrigins: hook });
		const failure: unknown = await run(connection).catch((error: unknown) => error);
		jest.restoreAllMocks();
		expect(sent).toHaveLength(requests);
		expect(failure).toMatchObject({ delivery });
	});
});

test('every name and ID stays in its segment of the path', () => {
	const inApp = { application: 'a/b', table: 'c?d' };
	expect({
		ping: paths.ping(),
		currentUser: paths.currentUser(),
		applications: paths.applications(),
		tables: paths.tables('a/b'),
		table: paths.table('a/b', 'c?d'),
		records: [paths.records(at), paths.records(inApp)],
		record: paths.record(inApp, '#1'),
		filter: paths.filter(at),
		count: paths.count(at),
		countFilter: paths.countFilter(at),
		summary: paths.summary(at),
		bulk: paths.bulk(at),
		file: paths.file(inApp, 'f/1'),
		thumbnail: paths.thumbnail(at, 'f/1'),
	}).toEqual({
		ping: '/api/v2/ping',
		currentUser: '/api/v2/users/me',
		applications: '/api/v2/apps',
		tables: '/api/v2/apps/a%2Fb/tables',
		table: '/api/v2/apps/a%2Fb/tables/c%3Fd',
		records: ['/api/v2/people/data', '/api/v2/apps/a%2Fb/tables/c%3Fd/data'],
		record: '/api/v2/apps/a%2Fb/tables/c%3Fd/data/%231',
		filter: '/api/v2/people/data/filter',
		count: '/api/v2/people/data/count',
		countFilter: '/api/v2/people/data/count/filter',
		summary: '/api/v2/people/data/summary',
		bulk: '/api/v2/people/data/bulk',
		file: '/api/v2/apps/a%2Fb/tables/c%3Fd/files/f%2F1',
		thumbnail: '/api/v2/people/files/f%2F1/thumbnail',
	});
});

test.each(['bulk', ' Count', 'filter/', 'SUMMARY?x'])('%j addresses no record: it can’t be an ID', (id) => {
	const message = `'${id}' can't be the ID of a record`;
	expect([recordIdProblem(id), recordIdProblem(`x${id}`)]).toEqual([message, undefined]);
	expect(() => paths.record(at, id)).toThrow(expect.objectContaining({ message, hint: 'Enter the ID of a record.' }) as Error);
});

describe('applications and tables', () => {
	const app = (id: string) => ({ id, name: `App ${id}` });
	const table = (id: string, items: unknown[] = [{ name: 'a', type: 'text' }]) => ({ id, internalNameApi: `name-${id}`, items });

	test.each<[string, (client: ApiClient) => Promise<unknown>, unknown, string, object]>([
		['applications', readApplications, [app('a')], 'GET /apps', [{ id: 'a' }]],
		['tables', (client) => readTables(client, 'a'), [table('t')], 'GET /apps/a/tables', [{ id: 't' }]],
		[
			'a table',
			(client) => tableAt(client, { application: 'a', table: 't' }).definition(),
			table('t'),
			'GET /apps/a/tables/t',
			{ id: 't', fields: [{ name: 'a' }] },
		],
		['the user', readCurrentUser, { id: 'u', email: 'e' }, 'GET /users/me', { id: 'u', email: 'e' }],
	])('%s', async (_, run, data, request, expected) => {
		const { result, requests } = await call(run, ok(data));
		expect(result).toMatchObject(expected);
		expect(requests).toEqual([request]);
	});

	test.each<[string, (client: ApiClient) => Promise<unknown>, unknown]>([
		['list of applications', readApplications, [{}]],
		['list of tables', (client) => readTables(client, 'a'), {}],
		["table 't'", (client) => tableAt(client, { application: 'a', table: 't' }).definition(), null],
		['user', readCurrentUser, { id: 5 }],
		['user', readCurrentUser, { id: 'u' }],
		['user', readCurrentUser, { id: '', email: 'e' }],
		['user', readCurrentUser, {}],
		['user', readCurrentUser, 'x'],
		['user', readCurrentUser, null],
	])('no %s', async (what, run, data) => {
		const { result } = await call(run, ok(data));
		expect(result).toBeInstanceOf(ServiceError);
		expect(result).toMatchObject({ message: `The response contains no ${what}`, delivery: 'notApplied', hint: PROXY });
	});

	test('a table without fields can’t be worked on', async () => {
		const run = (client: ApiClient) => tableAt(client, { application: 'a', table: 't' }).definition();
		expect((await call(run, ok(table('t', [])))).result).toMatchObject({
			message: "The response contains no fields of table 't'",
			delivery: 'rejected',
			hint: "Check that the token's role may see the table's structure.",
		});
	});

	const find = (name: string) => (client: ApiClient) => tableAt(client, { table: name }).definition();
	test.each(['t', 'name-t'])('a table is found by %s in all applications', async (name) => {
		const { result, requests } = await call(find(name), ok([app('a'), app('b')]), ok([table('s')]), ok([table('t')]));
		expect(result).toMatchObject({ id: 't' });
		expect(requests).toEqual(['GET /apps', 'GET /apps/a/tables', 'GET /apps/b/tables']);
	});

	test('a table that several applications have must be chosen', async () => {
		const { result } = await call(find('t'), ok([app('a'), app('b')]), ok([table('t')]), ok([table('t')]));
		expect(result).toBeInstanceOf(InputError);
		expect(result).toMatchObject({ message: "Several applications have a table 't': App a, App b", hint: "Choose one in 'Application'." });
	});

	test('a table that none has', async () => {
		const { result } = await call(find('x'), ok([app('a')]), ok([table('t')]));
		expect(result).toMatchObject({
			message: "No application that this token can see has a table 'x'",
			status: 404,
			delivery: 'rejected',
			hint: expect.stringContaining('Choose the application'),
		});
	});

	test('if the applications can’t be listed, the error says what to choose', async () => {
		expect((await call(find('t'), no(403))).result).toMatchObject({
			message: 'no (403)',
			status: 403,
			delivery: 'rejected',
			hint: "Choose the application in 'Application': the token may not list the applications to look for the table.",
		});
		const { result } = await call(find('t'), no(400));
		expect(result).toMatchObject({ message: 'no', status: 400 });
		expect(result).not.toMatchObject({ hint: expect.stringContaining('Choose the application') });
	});

	test.each<[string, ReturnType<Serve>, string | undefined]>([
		['as the platform tells it', ok({ timeZone: 'Europe/Vienna' }), 'Europe/Vienna'],
		['empty', ok({ timeZone: '' }), undefined],
		['no text', ok({ timeZone: 1 }), undefined],
		['not told', ok({}), undefined],
		['not readable', no(403), undefined],
		['lost', lost(), undefined],
	])('the time zone of an application is undefined, or what the platform says: %s', async (_, response, expected) => {
		const { result, hasThrown, requests } = await call((client) => readTimeZone(client, 'a'), response);
		expect([result, hasThrown]).toEqual([expected, false]);
		expect(requests).toEqual(['GET /apps/a']);
	});

	test('a 404 is as the platform says, and without another request', async () => {
		const runs: Array<(client: ApiClient) => Promise<unknown>> = [
			(client) => tableAt(client, { application: 'a', table: 't' }).definition(),
			(client) => readTables(client, 'a'),
		];
		for (const run of runs) {
			const { result, requests } = await call(run, no(404));
			expect(result).toMatchObject({ status: 404, message: 'no' });
			expect(requests).toHaveLength(1);
		}
	});
});

describe('starting a workflow', () => {
	const start = (url: string) => (client: ApiClient) => startWorkflow(client, url, { a: 1 });
	const url = 'https://hooks.example.com/run?x=1';

	test.each<[string, ReturnType<Serve>, unknown]>([
		['JSON', httpResponse(200, '{"id":7}'), { id: 7 }],
		['text', httpResponse(202, 'started'), 'started'],
		['nothing', httpResponse(204, ''), null],
		['white space', httpResponse(200, ' \n'), null],
		['a list', httpResponse(200, '[1]'), [1]],
	])('any success is one: %s', async (_, response, expected) => {
		const { result, sent, requests, withToken } = await call(start(url), response);
		expect(result).toEqual(expected);
		expect(withToken).toEqual([true]);
		expect(sent[0]).toMatchObject({ url });
		expect(requests).toEqual(['POST /run?x=1 {"a":1}']);
	});

	test('is not repeated if it may have started', async () => {
		const { result, requests } = await call(start(url), lost());
		expect(result).toMatchObject({
			message: expect.stringMatching(/^Unknown whether the workflow started: The connection broke/),
			delivery: 'ambiguous',
			hint: "Look at the workflow's runs in the platform before you start it again.",
		});
		expect(requests).toHaveLength(1);
	});

	test('is rejected', async () => {
		expect((await call(start(url), no(400))).result).toMatchObject({ message: 'no', status: 400 });
		expect((await call(start(url), no(403))).result).toMatchObject({ hint: expect.anything() });
	});

	test('if no workflow listens', async () => {
		expect((await call(start(url), no(404))).result).toMatchObject({
			message: 'No workflow of the platform listens at this webhook URL',
			delivery: 'rejected',
			status: 404,
			hint: "Copy the address again from the workflow's webhook trigger in the platform ('Use this link after save').",
		});
	});

	test('a URL without encryption is rejected before anything is sent', async () => {
		const { result, requests } = await call(start('http://hooks.example.com/run'));
		expect(result).toMatchObject({ name: 'InputError', message: 'The webhook URL must use HTTPS. Nothing was sent' });
		expect(requests).toEqual([]);
	});

	const PLATFORM = 'https://platform.example.com';
	test.each([
		...['/api/v2/people/data', '/api/v2/people/data/filter', '/API/V2/People/DATA/', '//api//v2//people//data'],
		...['/api/v2/apps', '/api/v2/apps/crm', '/api/v2/people/data;x', '/api/v2/people/data?limit=1', '/api/v2/people/data#x'],
		// As other servers on the way may read it.
		...['/api/v2/people/%64ata', '/api/v2/people%2fdata', '/api/v2/people/%2564ata', '/api/v2/people%5Cdata', '/api\\v2\\people\\data'],
		...['/hooks/../api', '/hooks/./1', '/hooks/..', '/hooks/.', '/hooks/%2e%2e/1', '/hooks/.%2E/1', '/hooks/%252e./1', '/hooks/%25252e./1'],
		...[
			'/hooks/..;x/1',
			'/hooks/..;',
			'/hooks/..\\1',
			'/hooks%2f../1',
			'/hooks/.\n./1',
			'/hooks/\t..\r/1',
			'/hooks/%%32e./1',
			'/hooks/.. ',
		],
	])('is refused where it could reach records: %j', async (path) => {
		const { result, requests } = await call(start(PLATFORM + path));
		expect(result).toMatchObject({
			name: 'InputError',
			message: 'The webhook URL leads to records, or contains . or .. in its path. Nothing was sent',
			hint: "Copy the address from the workflow's webhook trigger in the platform.",
		});
		expect(requests).toEqual([]);
	});

	test.each([
		...['/hooks/1', '/hooks/...', '/hooks/..x/1', '/hooks/a..', '/hooks/1?next=/../x', '/hooks/1#/../x', '/hooks;..x/1', '/', ''],
		...['/hooks/api/v2/people/data', '/api/v2/hooks/1/data', '/api/v2/people/database', '/api/v2/appsettings', '/apps/1', '/%zz'],
	])('is possible anywhere else on the platform: %j', async (path) => {
		const { result, sent } = await call(start(PLATFORM + path), httpResponse(200, '{}'));
		expect(result).toEqual({});
		expect(sent.map(({ url: address }) => address)).toEqual([new URL(PLATFORM + path).href]);
	});

	test('not elsewhere', async () => {
		const { result, requests } = await call(start('https://other.example.com/run'));
		expect(result).toMatchObject({
			message: 'The webhook URL leads to https://other.example.com, where the token is not sent. Nothing was sent',
			hint: "If this address belongs to your platform, add https://other.example.com to 'Webhook Origins' in the credential, under 'More Settings'.",
		});
		expect(requests).toEqual([]);
	});
});
