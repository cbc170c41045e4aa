/** What is sent of many records, and what a failed attempt does to the pace. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import { writeMany } from '../../../../nodes/DataPlatform/bulk/send/write.ts';
import { entriesOf, isWrite, nothingFound, records, writeRecords, writeTo, written } from '../../bulkWrites.cts';
import { fieldOf, tableOf } from '../../fixtures.cts';
import { httpResponse, pageResponse, fakePlatform, networkError, notFound, type Serve } from '../../stubPlatform.cts';
import type { Entry, Task, WriteMode } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const withIds = (count: number) => records(count).map((record) => ({ ...record, id: `r${record.index}` }));

async function write(
	planned: Entry[],
	serve: Serve,
	options: Partial<Task> = {},
	setup: Pick<Parameters<typeof writeRecords>[0], 'table' | 'retryBudgetMs' | 'skipAudit'> = {},
) {
	const run = await writeRecords({ planned, serve, options, ...setup });
	return { ...run, outcomes: run.outcomes.map(({ outcome }) => outcome) };
}

describe('the request', () => {
	const withoutId = records(1);
	test.each<[WriteMode, boolean, Entry[], method: string, body: object]>([
		['create', false, withoutId, 'POST', {}],
		['create', true, withoutId, 'POST', { skipAudit: true }],
		['upsert', false, withoutId, 'POST', { useUpsert: true }],
		['upsert', true, withoutId, 'POST', { useUpsert: true, skipAudit: true }],
		['update', false, withIds(1), 'PATCH', {}],
		['replace', true, withIds(1), 'PUT', { skipAudit: true }],
	])('of %s, without an audit log %s', async (mode, skipAudit, planned, method, body) => {
		const { sent } = await write(planned, written, { mode }, { skipAudit });
		expect(sent).toHaveLength(1);
		expect(sent[0]).toMatchObject({ method, url: 'https://platform.example.com/api/v2/people/data/bulk?dataResponseType=MetadataOnly' });
		const [{ id, fields }] = planned as [Entry];
		expect(JSON.parse(String(sent[0]!.body))).toEqual({ bulk: [id === undefined ? { fields } : { id, fields }], ...body });
	});

	test.each<[WriteMode, requests: number]>([
		['create', 1],
		['upsert', 2],
		['update', 2],
		['replace', 2],
	])('of %s whose response was lost is sent %i times', async (mode, requests) => {
		let writes = 0;
		const serve: Serve = (request) => {
			if (!isWrite(request)) return nothingFound();
			writes += 1;
			return writes === 1 ? networkError('ECONNRESET') : written(request);
		};
		const { sent } = await write(withIds(1), serve, { mode }, { retryBudgetMs: 5000 });
		expect(sent.filter(isWrite)).toHaveLength(requests);
	});
});

describe('what is sent again', () => {
	const files = tableOf(fieldOf('email', 'text', { importKey: true }), fieldOf('surname'), fieldOf('papers', 'file'));
	/** `PATCH k0 k1`, `GET r0`: the requests, and the keys that were sent or looked for. */
	const linesOf = (sent: IHttpRequestOptions[]) =>
		sent.map(({ method, url, body }) => {
			const keys = new Set(String(body ?? new URL(url).pathname).match(/\b[kr]\d+/g));
			return [url.includes('/data/bulk') ? method : 'look up', ...keys].join(' ');
		});
	const lines = async (planned: Entry[], serve: Serve, options: Partial<Task> = {}, retryBudgetMs = 5000) => {
		const setup = { table: files, retryBudgetMs };
		const { sent, outcomes } = await write(planned, serve, options, setup);
		return { lines: linesOf(sent.filter(isFirstPage)), outcomes };
	};
	/** The first writes get these responses, the others are confirmed. */
	const first = (...responses: Array<ReturnType<typeof written> | Error | undefined>): Serve => {
		let writes = 0;
		return (request) => {
			if (!isWrite(request)) return request.method === 'GET' ? notFound() : nothingFound();
			return responses[writes++] ?? written(request);
		};
	};
	/** Whether a request is not one that checks for more. */
	const isFirstPage = ({ url }: IHttpRequestOptions) => !new URL(url).searchParams.has('skip');
	const reset = networkError('ECONNRESET');
	const [plain, adding, other] = records(3) as [Entry, Entry, Entry];
	adding.fields.papers = { add: [{ filename: 'a' }] };

	test('what adds something is not, if its response is lost; it goes last', async () => {
		const { lines: requests, outcomes } = await lines([adding, plain], first(undefined, reset));
		expect(requests).toEqual(['POST k0', 'POST k1', 'look up k1']);
		expect(outcomes).toEqual(['written', 'unknown']);
	});

	test('what adds nothing is', async () => {
		const { lines: requests } = await lines([plain, other], first(reset));
		expect(requests).toEqual(['POST k0 k2', 'POST k0 k2']);
	});

	test('what adds something is, if it was to wait', async () => {
		const wait = httpResponse(429, '', { 'retry-after': '0' });
		const { lines: requests } = await lines([adding], first(wait));
		expect(requests).toEqual(['POST k1', 'POST k1']);
	});

	test('what the platform did not reach, as it stopped at a bad record', async () => {
		const errors = [{ RecordIndex: 0, message: 'bad' }];
		const stopped = httpResponse(200, { bulk: { successCount: 0 }, data: [], errors });
		const { lines: requests, outcomes } = await lines(records(3), first(stopped));
		expect(requests).toEqual(['POST k0 k1 k2', 'look up k1 k2', 'POST k1 k2']);
		expect(outcomes).toEqual(['failed', 'written', 'written']);
	});
});

describe('the pace', () => {
	test('a lost attempt makes batches smaller, though the next one succeeds', async () => {
		let writes = 0;
		const serve: Serve = (request) => {
			writes += 1;
			return writes === 1 ? networkError('ECONNRESET') : written(request);
		};
		const { batches } = await write(withIds(2500), serve, { parallelRequests: 1 }, { retryBudgetMs: 5000 });
		expect(batches).toEqual([1000, 1000, 500, 500, 500]);
	});

	test('after repeated attempts one request at a time goes on, until one is confirmed at once', async () => {
		const tried = new Set<string>();
		const underWayAt: Record<string, number> = {};
		let underWay = 0;
		const serve: Serve = async (request) => {
			const [{ fields }] = entriesOf(request) as [{ fields: { email: string } }];
			const isFirst = !tried.has(fields.email);
			tried.add(fields.email);
			underWay += 1;
			underWayAt[fields.email] = underWay;
			await new Promise((resolve) => setTimeout(resolve, 5));
			underWay -= 1;
			const isRefused = isFirst && tried.size <= 12;
			return isRefused ? httpResponse(429, {}, { 'retry-after': '0' }) : written(request);
		};
		const { mostUnderWay } = await write(withIds(16), serve, { batchSize: 1 }, { retryBudgetMs: 60_000 });
		expect([mostUnderWay, underWayAt.k12, underWayAt.k14]).toEqual([12, 1, 2]);
	});

	test('only records that were not read before are looked up, together', async () => {
		const planned = records(2500).map((record) => ({
			...record,
			before: record.index % 300 === 0 ? undefined : { id: `r${record.index}`, fields: record.fields },
		}));
		const looksUp: number[] = [];
		const serve: Serve = (request) => {
			if (isWrite(request)) return written(request);
			looksUp.push(new Set(String(request.body).match(/k\d+/g)).size);
			return nothingFound();
		};
		const { outcomes, batches } = await write(planned, serve, { skipUnchanged: true });
		expect(looksUp).toEqual([9]);
		expect(batches).toEqual([9]);
		expect(outcomes.filter((outcome) => outcome === 'unchanged')).toHaveLength(2491);
	});

	test.each<[WriteMode]>([['upsert'], ['update'], ['replace']])(
		'%s of 2,500 records that are compared: three pages are read at a time',
		async (mode) => {
			const planned = withIds(2500).map(({ id, ...record }) => (mode === 'upsert' ? record : { ...record, id }));
			let most = 0;
			let reading = 0;
			const serve: Serve = async (request) => {
				if (isWrite(request)) return written(request);
				reading += 1;
				most = Math.max(most, reading);
				await new Promise((resolve) => setTimeout(resolve, 5));
				reading -= 1;
				const keys = [...new Set(String(request.body).match(/k\d+/g))];
				const stored = keys.map((email) => ({ id: email.replace('k', 'r'), fields: { email, surname: 'Fox' } }));
				return pageResponse(request, stored);
			};
			const { outcomes } = await write(planned, serve, { mode, skipUnchanged: true });
			expect(new Set(outcomes)).toEqual(new Set(['unchanged']));
			expect(most).toBe(3);
		},
	);
});

test.each([['while it is sent'], ['at its outcome'], ['at the outcome of what is not sent']])(
	'a defect %s ends the run with its error, and nothing more is sent',
	async (when) => {
		const { connection, sent } = fakePlatform((request) => (when.includes('not sent') ? httpResponse(401, {}) : written(request)));
		const defect = new TypeError('a defect');
		if (when === 'while it is sent') {
			connection.tryRequest = async () => await Promise.reject(defect);
		}
		const run = writeMany(writeTo(connection, { batchSize: 1, parallelRequests: 1 }), withIds(3), (_, { notAttempted = false }) => {
			if (notAttempted === when.includes('not sent')) throw defect;
		});
		await expect(run).rejects.toBe(defect);
		expect(sent.length).toBeLessThanOrEqual(1);
	},
);
