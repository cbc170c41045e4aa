/** What is sent of many records, and what a failed attempt does to the pace. */
import type { WriteMode } from '../../../nodes/DataPlatform/bulk/plan.ts';
import type { Entry } from '../../../nodes/DataPlatform/bulk/entry.ts';
import type { Task } from '../../../nodes/DataPlatform/bulk/task.ts';
import { writeMany } from '../../../nodes/DataPlatform/bulk/write.ts';
import {
	entriesOf,
	isWrite,
	nothingFound,
	records,
	TIME,
	writeRecords,
	written,
} from '../bulkWrites.cts';
import { fieldOf, people, tableOf } from '../fixtures.cts';
import {
	httpResponse,
	pageResponse,
	fakePlatform,
	networkError,
	type Serve,
} from '../stubPlatform.cts';

const withIds = (count: number) =>
	records(count).map((record) => ({ ...record, id: `r${record.index}` }));

async function write(
	planned: Entry[],
	serve: Serve,
	options: Partial<Task> = {},
	setup: { table?: typeof people; retryBudgetMs?: number } = {},
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
		const { sent } = await write(planned, written, { mode, skipAudit });
		expect(sent).toHaveLength(1);
		expect(sent[0]).toMatchObject({
			method,
			url: 'https://platform.example.com/api/v2/people/data/bulk?dataResponseType=MetadataOnly',
		});
		const [{ id, fields }] = planned as [Entry];
		expect(JSON.parse(String(sent[0]!.body))).toEqual({
			bulk: [id === undefined ? { fields } : { id, fields }],
			...body,
		});
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

	test('the log says how many records are done', async () => {
		const { log } = await write(withIds(3), written, { batchSize: 2, parallelRequests: 1 });
		expect(log).toEqual([
			expect.stringContaining(': 2 of 3 records done'),
			expect.stringContaining(': 3 of 3 records done'),
		]);
	});

	test('nothing for no records', async () => {
		const { sent, stopped } = await write([], written);
		expect(sent).toEqual([]);
		expect(stopped).toBeUndefined();
	});
});

describe('the pace', () => {
	test('records in order go one request at a time: creates, and keys that may be the same', async () => {
		const uncertain = withIds(600).map((record, index) => ({
			...record,
			hasUncertainKey: index === 300,
		}));
		expect((await write(uncertain, written)).mostUnderWay).toBe(1);
		expect((await write(withIds(600), written, { mode: 'create' })).mostUnderWay).toBe(1);
		expect((await write(withIds(600), written)).mostUnderWay).toBe(3);
	});

	test('a lost attempt makes batches smaller, though the next one succeeds', async () => {
		let writes = 0;
		const serve: Serve = (request) => {
			writes += 1;
			return writes === 1 ? networkError('ECONNRESET') : written(request);
		};
		const { batches } = await write(
			withIds(2500),
			serve,
			{ parallelRequests: 1 },
			{ retryBudgetMs: 5000 },
		);
		expect(batches).toEqual([1000, 1000, 500, 500, 500]);
	});

	test('after repeated attempts one request at a time goes on, until one is confirmed at once', async () => {
		const tried = new Set<string>();
		let underWay = 0;
		let atNext = 0;
		const serve: Serve = async (request) => {
			const [{ fields }] = entriesOf(request) as [{ fields: { email: string } }];
			const isFirst = !tried.has(fields.email);
			tried.add(fields.email);
			underWay += 1;
			if (fields.email === 'k12') atNext = underWay;
			await new Promise((resolve) => setTimeout(resolve, 5));
			underWay -= 1;
			const isRefused = isFirst && tried.size <= 12;
			return isRefused ? httpResponse(429, {}, { 'retry-after': '0' }) : written(request);
		};
		const { mostUnderWay, outcomes } = await write(
			withIds(16),
			serve,
			{ batchSize: 1 },
			{ retryBudgetMs: 60_000 },
		);
		expect(outcomes).toHaveLength(16);
		expect([mostUnderWay, atNext]).toEqual([12, 1]);
	});

	test('a batch that is not confirmed whole does not make them larger', async () => {
		const serve: Serve = (request) => {
			if (!isWrite(request)) return nothingFound();
			const { length } = entriesOf(request);
			return length > 1 ? nothingFound() : written(request);
		};
		const { batches } = await write(records(1000), serve, {
			mode: 'create',
			skipUnchanged: true,
		});
		expect(batches).toEqual([250, 250, 250, 250]);
	});

	test('only records that were not read before are looked up, together', async () => {
		const planned = records(2500).map((record) => ({
			...record,
			before:
				record.index % 300 === 0 ? undefined : { id: `r${record.index}`, fields: record.fields },
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

	test('an update compares one window of records at a time, an upsert twelve', async () => {
		const compare = async (mode: WriteMode) => {
			const planned = withIds(13_000).map(({ id, ...record }) =>
				mode === 'upsert' ? record : { ...record, id },
			);
			let most = 0;
			let reading = 0;
			const serve: Serve = async (request) => {
				if (isWrite(request)) return written(request);
				reading += 1;
				most = Math.max(most, reading);
				await new Promise((resolve) => setTimeout(resolve, 5));
				reading -= 1;
				const keys = [...new Set(String(request.body).match(/k\d+/g))];
				const stored = keys.map((email) => ({
					id: email.replace('k', 'r'),
					fields: { email, surname: 'Fox' },
				}));
				return pageResponse(request, stored);
			};
			const { outcomes } = await write(planned, serve, { mode, skipUnchanged: true });
			expect(new Set(outcomes)).toEqual(new Set(['unchanged']));
			return most;
		};
		expect(await compare('upsert')).toBe(12);
		expect(await compare('update')).toBe(1);
		expect(await compare('replace')).toBe(1);
	});
});

/** Two forms of one time, which only the platform knows to be the same. */
const forms = ['2026-11-21T09:30:00', '2026-11-21T09:30:00.0004'].map((email, index) => ({
	index,
	key: email,
	hasUncertainKey: true,
	fields: { email },
}));

test('two keys that turn out to be one record: the first item inserted it, the second updated it', async () => {
	const table = tableOf(fieldOf('email', 'datetime', { importKey: true }));
	const serve: Serve = (request) =>
		httpResponse(200, {
			bulk: { insertedCount: 1, updatedCount: 0 },
			data: entriesOf(request).map(() => ({ id: 'x', created: TIME, modified: TIME, ver: 0 })),
		});
	const { outcomes, batches } = await write(forms, serve, {}, { table });
	expect(outcomes).toEqual(['inserted', 'updated']);
	expect(batches).toEqual([1, 1]);
});

test('two keys that turn out to be one record, which holds what was sent: both leave it as it is', async () => {
	const table = tableOf(fieldOf('email', 'datetime', { importKey: true }));
	const stored = {
		id: 'x',
		created: TIME,
		modified: TIME,
		fields: { email: '2026-11-21T09:30:00Z' },
	};
	const serve: Serve = (request) =>
		isWrite(request)
			? httpResponse(200, { bulk: { insertedCount: 0, updatedCount: 0 }, data: [] })
			: pageResponse(request, [stored]);
	const { outcomes } = await write(forms, serve, {}, { table });
	expect(outcomes).toEqual(['unchanged', 'unchanged']);
});

test.each([['while it is sent'], ['at its outcome'], ['at the outcome of what is not sent']])(
	'a defect %s ends the run with its error, and nothing more is sent',
	async (when) => {
		const { connection, sent } = fakePlatform((request) =>
			when.includes('not sent') ? httpResponse(401, {}) : written(request),
		);
		const defect = new TypeError('a defect');
		if (when === 'while it is sent') {
			connection.tryRequest = async () => await Promise.reject(defect);
		}
		const run = writeMany(
			{ client: connection, at: { table: 'people' }, table: people },
			withIds(3),
			{
				mode: 'upsert',
				batchSize: 1,
				batchBytes: 1000,
				parallelRequests: 1,
				skipUnchanged: false,
				dryRun: false,
				stopAtFailure: false,
			},
			'none',
			(_, { notAttempted = false }) => {
				if (notAttempted === when.includes('not sent')) throw defect;
			},
		);
		await expect(run).rejects.toBe(defect);
		expect(sent.length).toBeLessThanOrEqual(1);
	},
);
