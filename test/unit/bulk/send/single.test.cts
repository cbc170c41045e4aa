/** A token that may write, but send no bulk requests: each record takes a request of its own. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import type { Entry, WriteMode } from '../../../../nodes/DataPlatform/bulk/terms.ts';
import { NO_BULK_NOTICE } from '../../../../nodes/DataPlatform/bulk/send/single.ts';
import { writeMany } from '../../../../nodes/DataPlatform/bulk/send/write.ts';
import { isWrite, nothingFound, records, writeRecords, writeTo } from '../../bulkWrites.cts';
import { storedOf } from '../../fixtures.cts';
import { fakePlatform, httpResponse, networkError, notFound, type Serve } from '../../stubPlatform.cts';

const no = (status: number, message = 'no') => httpResponse(status, { errors: [{ message }] });
const saved = (status: number, data: object = { id: 'x', ver: 3 }) => httpResponse(status, { data });

const described = ({ method, url, body }: IHttpRequestOptions) => {
	const { pathname, search } = new URL(url);
	return `${method} ${pathname.replace('/api/v2/people', '')}${search} ${String(body)}`;
};

/** Forbids bulk requests, and serves the others. */
const withoutBulk =
	(serve: Serve): Serve =>
	(request, count) =>
		isWrite(request) ? no(403) : serve(request, count);

const byId = (id: string, more: Partial<Entry> = {}): Entry => ({ index: 0, id, fields: { email: 'a' }, ...more });
const QUERY = '?dataResponseType=MetadataOnly';

test.each<[WriteMode, Entry, request: string]>([
	['upsert', records(1)[0]!, `POST /data${QUERY} {"fields":{"email":"k0","surname":"Fox"},"useUpsert":true}`],
	['create', records(1)[0]!, `POST /data${QUERY} {"fields":{"email":"k0","surname":"Fox"}}`],
	['update', byId('x'), `PATCH /data/x${QUERY} {"fields":{"email":"a"}}`],
	['replace', byId('x'), `PUT /data/x${QUERY} {"fields":{"email":"a"}}`],
])('%s', async (mode, entry, request) => {
	const { sent } = await writeRecords({ planned: [entry], serve: withoutBulk(() => saved(200)), options: { mode } });
	expect(sent.slice(1).map(described)).toEqual([request]);
});

const [create] = records(1);
const before = (ver: number) => ({ before: storedOf({ id: 'x', ver, fields: { email: 'b' } }) });

test.each<[string, WriteMode, Entry, ReturnType<Serve>, outcome: object]>([
	['inserted, if it was created', 'upsert', create!, saved(201), { outcome: 'inserted', id: 'x', ver: 3 }],
	['written, if it was not: whether it changed is not said', 'upsert', create!, saved(200), { outcome: 'written', id: 'x' }],
	['written, if nobody knows its version before', 'update', byId('x'), saved(200), { outcome: 'written', id: 'x' }],
	['unchanged, if its version is as before', 'update', byId('x', before(3)), saved(200), { outcome: 'unchanged', id: 'x' }],
	['updated, if its version is another', 'update', byId('x', before(2)), saved(200), { outcome: 'updated', id: 'x' }],
	['failed, if it is rejected', 'upsert', create!, no(400, 'too long'), { outcome: 'failed', message: 'too long' }],
	['not found, if there is none', 'update', byId('x'), notFound(), { outcome: 'notFound', id: 'x' }],
	['not found by a 404 that is not about a record', 'create', create!, notFound(), { outcome: 'failed', status: 404 }],
])('a record is %s', async (_, mode, entry, response, outcome) => {
	const serve = withoutBulk(({ method, url }) => {
		if (method !== 'GET' && !url.includes('/filter')) return response;
		return url.includes('/data/') && method === 'GET' ? notFound() : nothingFound();
	});
	const { outcomes } = await writeRecords({ planned: [entry], serve, options: { mode } });
	expect(outcomes).toMatchObject([outcome]);
});

test('a response without the record does not show that it was written: it is looked up', async () => {
	const stored = storedOf({ id: 'r7', fields: { email: 'k0', surname: 'Fox' } });
	const serve = withoutBulk(({ url }) =>
		url.includes('/filter') ? httpResponse(200, { data: [stored] }) : httpResponse(200, { data: null }),
	);
	const { outcomes } = await writeRecords({ planned: records(1), serve });
	expect(outcomes).toMatchObject([{ outcome: 'written', id: 'r7' }]);
});

test('the first bulk request shows it; a rejected record affects no other', async () => {
	const serve = withoutBulk((request) => (String(request.body).includes('k1') ? no(400, 'too long') : saved(201)));
	const { outcomes, writes, sent } = await writeRecords({ planned: records(4), serve });
	expect(outcomes.map(({ outcome }) => outcome)).toEqual(['inserted', 'failed', 'inserted', 'inserted']);
	expect([writes.length, sent.length]).toEqual([1, 5]);
});

test('without the right to write single records either, one attempt shows it', async () => {
	const { outcomes, stopped, sent } = await writeRecords({ planned: records(4), serve: () => no(403) });
	expect(outcomes.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'failed', 'failed']);
	expect(stopped?.status).toBe(403);
	expect(sent).toHaveLength(2);
});

test('if only the retry of a lost bulk request is forbidden, what it wrote is found', async () => {
	jest.spyOn(Math, 'random').mockReturnValue(-1);
	let count = 0;
	const serve: Serve = (request) => {
		if (isWrite(request)) return (count += 1) === 1 ? networkError('ECONNRESET') : no(403);
		return saved(200);
	};
	const { outcomes } = await writeRecords({ planned: records(1), serve, retryBudgetMs: 60_000 });
	jest.restoreAllMocks();
	// The lost attempt may have inserted it.
	expect(outcomes).toMatchObject([{ outcome: 'written', id: 'x' }]);
	expect(count).toBe(2);
});

test('a notice says why it takes so many requests', async () => {
	const { connection } = fakePlatform(withoutBulk(() => saved(201)));
	const write = writeTo(connection);
	await writeMany(write, records(2), () => undefined);
	expect([...connection.notices]).toEqual([NO_BULK_NOTICE]);
});
