/** What a poll leaves behind: timers, and static data. */
import type { IDataObject } from 'n8n-workflow';
import { poll, POLL_LIMITS } from '../../../nodes/DataPlatform/trigger/poll.ts';
import { locator } from '../fakeNode.cts';
import { tokenQueues } from '../../../nodes/DataPlatform/transport/tokenQueue.ts';
import { fakePoll, type Watched } from '../fakeTrigger.cts';
import { httpResponse, networkError, pageResponse, type Serve } from '../stubPlatform.cts';

// As in a new process.
beforeEach(() => tokenQueues.clear());

const recordOf = (id: string, modified = '2026-11-21T09:30:00Z') => ({ ...{ id, ver: 0, fields: {} }, ...{ created: modified, modified } });

const sortedBy = (sort: string | null, records: Array<ReturnType<typeof recordOf>>) => {
	const newestLast = [...records].sort((a, b) => (a.modified < b.modified ? -1 : 1));
	return sort?.includes('(desc)') ? newestLast.reverse() : newestLast;
};

/** A table of these records. */
const serveTable =
	(...records: Array<ReturnType<typeof recordOf>>): Serve =>
	(options) =>
		pageResponse(options, sortedBy(new URL(options.url).searchParams.get('sort'), records));

const serveNothing = serveTable();

const start = async (given: Partial<Watched> & { pollBudgetMs?: number }) =>
	await poll(fakePoll({ serve: serveNothing, workflowId: expect.getState().currentTestName, ...given }));

afterEach(() => {
	jest.useRealTimers();
});

describe('the timer of a poll ends with it', () => {
	beforeEach(() => {
		jest.useFakeTimers();
	});

	test.each<[string, Parameters<typeof start>[0]]>([
		['that begins to watch', {}],
		['of the durable scheduler', { pollBudgetMs: 36_000 }],
		['that emits', { parameters: { startFrom: 'beginning' } }],
		['in the editor', { mode: 'manual' }],
	])('%s', async (_, given) => {
		await start({ serve: serveTable(recordOf('1')), ...given });
		expect(jest.getTimerCount()).toBe(0);
	});

	test.each<[string, string, Parameters<typeof start>[0]]>([
		['that the platform rejects', 'no right', { serve: () => httpResponse(403, { errors: [{}] }) }],
		['without a table', "'Table' is empty", { parameters: { table: '' } }],
		['without a base URL', 'The base URL', { credential: { baseUrl: '' } }],
	])('%s', async (_, message, given) => {
		await expect(start(given)).rejects.toThrow(message);
		expect(jest.getTimerCount()).toBe(0);
	});

	test('that waits to try again, and fails', async () => {
		const serve = () => networkError('ECONNREFUSED');
		const failed = expect(start({ serve })).rejects.toThrow('could not be reached');
		await jest.advanceTimersByTimeAsync(60_000);
		await failed;
		expect(jest.getTimerCount()).toBe(0);
	});

	test('whose time is over', async () => {
		const serve: Serve = ({ abortSignal }) =>
			new Promise((_, reject) => {
				(abortSignal as AbortSignal).addEventListener('abort', () => reject(new Error('aborted')));
			});
		const failed = expect(start({ serve, pollBudgetMs: 36_000 })).rejects.toThrow(
			'The poll did not finish within the 36 s that n8n allows',
		);
		await jest.advanceTimersByTimeAsync(36_000);
		await failed;
		expect(jest.getTimerCount()).toBe(0);
	});
});

const ids = (outputs: Awaited<ReturnType<typeof poll>>) => outputs && outputs[0]!.map(({ json }) => json.id);

describe('the time of a poll', () => {
	beforeEach(() => {
		jest.useFakeTimers();
	});

	test.each<[string, number | undefined, number]>([
		['in memory', undefined, 20],
		['of the durable scheduler', 36_000, 11],
	])('%s: waits so long in all to try again', async (_, pollBudgetMs, seconds) => {
		const serve = () => httpResponse(429, { errors: [{}] }, { 'retry-after': '30' });
		await expect(start({ serve, pollBudgetMs })).rejects.toThrow(`the limit of ${seconds} s`);
	});

	describe.each<[string, Serve, firstRequests: number]>([
		['a 429', () => httpResponse(429, { errors: [{}] }, { 'retry-after': '30000' }), 1],
		['an outage', () => networkError('ECONNREFUSED'), 6],
		['a lost right', () => httpResponse(403, { errors: [{}] }), 1],
	])('after %s', (_, fail, firstRequests) => {
		test('polls ask less and less often, once each, and say since when; once served, every poll asks', async () => {
			const task = { staticData: {}, parameters: { startFrom: 'beginning' } };
			await start({ ...task, serve: serveTable(recordOf('1')) });
			jest.setSystemTime(new Date('2026-11-27T14:02:00Z'));
			const failures: Array<[minute: number, text: string | undefined]> = [];
			let requests = 0;
			const failing: Serve = (options) => {
				requests += 1;
				return fail(options, requests);
			};
			for (let minute = 0; minute < 130; minute += 1) {
				const at = Date.now();
				const running = start({ ...task, serve: failing }).catch(({ message }: Error) => {
					failures.push([minute, /\((failure.*)\)$/.exec(message)?.[1]]);
				});
				await jest.advanceTimersByTimeAsync(20_000);
				await running;
				jest.setSystemTime(at + 60_000);
			}
			const late = firstRequests === 1 ? 0 : 1;
			expect(failures.map(([minute]) => minute)).toEqual([0, 2, 6, 14, 30, 60, 90, 120].map((minute) => minute && minute + late));
			expect(failures[1]![1]).toBe('failure 2 in a row, since 2026-11-27 14:02 UTC; the next poll asks in 4 minutes');
			expect(requests).toBe(firstRequests + 7);
			jest.setSystemTime(Date.now() + 30 * 60_000);
			const serve = serveTable(recordOf('1'), recordOf('2', '2026-11-21T09:30:01Z'));
			expect(ids(await start({ ...task, serve }))).toEqual(['2']);
			const again = expect(start({ ...task, serve: failing })).rejects.toThrow('failure 1 in a row');
			await jest.advanceTimersByTimeAsync(20_000);
			await again;
		});
	});

	test.each<[string, Parameters<typeof start>[0]]>([
		['its credential', { credential: { token: 'another' } }],
		['its parameters', { parameters: { options: { overlap: 7 } } }],
	])('a trigger that fails asks at once after a change of %s', async (_, change) => {
		const task = { staticData: {} };
		await start({ ...task, serve: serveTable(recordOf('1')) });
		const failing = { ...task, serve: () => httpResponse(401, { errors: [{}] }) };
		await expect(start(failing)).rejects.toMatchObject({
			message: expect.stringContaining('failure 1 in a row'),
			context: { details: { requests: 1, waitedSeconds: 0 } },
		});
		expect(await start(failing)).toBeNull();
		await expect(start({ ...failing, ...change })).rejects.toThrow('failure 2 in a row');
	});

	test('a test in the editor that is served ends the waiting', async () => {
		const task = { staticData: {} };
		const serve = serveTable(recordOf('1'));
		await start({ ...task, serve });
		await expect(start({ ...task, serve: () => httpResponse(401, { errors: [{}] }) })).rejects.toThrow('failure 1');
		await start({ ...task, serve, mode: 'manual' });
		let asked = 0;
		await start({ ...task, serve: (...of) => ((asked += 1), serve(...of)) });
		expect(asked).toBeGreaterThan(0);
	});

	test('once 60 % of it are over, no further page is read, and the next poll goes on', async () => {
		const records = Array.from({ length: 200 }, (_, at) => recordOf(`r${at}`, new Date(Date.UTC(2026, 10, 21, 0, at)).toISOString()));
		const table = serveTable(...records);
		const staticData = {};
		const emitted: unknown[] = [];
		for (let polls = 0; polls < 10; polls += 1) {
			const begun = Date.now();
			const requestedAt: number[] = [];
			const serve: Serve = async (options, count) => {
				requestedAt.push(Date.now() - begun);
				// Without the timer that ends the poll.
				jest.setSystemTime(Date.now() + 2_000);
				return await table(options, count);
			};
			const context = fakePoll({
				...{ serve, staticData, pollBudgetMs: 36_000, workflowId: 'slow platform' },
				parameters: { startFrom: 'beginning' },
			});
			emitted.push(...(ids(await poll(context, { ...POLL_LIMITS, page: 10 })) ?? []));
			expect(Math.max(...requestedAt)).toBeLessThan(0.6 * 36_000);
		}
		expect(emitted).toEqual(records.map(({ id }) => id));
	});

	test.each([undefined, 36_000])(
		'a poll without changes stores nothing: n8n may store it after a later one, budget %s',
		async (pollBudgetMs) => {
			const staticData: Record<string, IDataObject> = {};
			const task = { pollBudgetMs, staticData, serve: serveTable(recordOf('1')) };
			await start(task);
			const stored = structuredClone(staticData);
			jest.setSystemTime(Date.now() + 60_000);
			expect(ids(await start(task))).toBeNull();
			expect(staticData).toEqual(stored);
		},
	);

	test('a poll reads on until there is something to emit: n8n drops the state of one that emits nothing', async () => {
		const changed = Array.from({ length: 30 }, (_, at) => ({
			...recordOf(`r${at}`, new Date(Date.UTC(2026, 10, 21, 0, at)).toISOString()),
			...{ created: '2026-11-01T00:00:00Z', ver: 1 },
		}));
		const parameters = { triggerOn: 'created', startFrom: 'date', startDate: '2026-11-20T00:00:00Z' };
		const serve = serveTable(...changed, recordOf('new'));
		const context = fakePoll({ serve, parameters, pollBudgetMs: 36_000, workflowId: 'reads on' });
		expect(ids(await poll(context, { ...POLL_LIMITS, page: 5, maxBuffered: 10 }))).toEqual(['new']);
	});

	test('a poll that another one took over emits nothing', async () => {
		const known = [recordOf('old', '2026-11-19T00:00:00Z'), recordOf('1', '2026-11-20T00:00:00Z')];
		const task = { pollBudgetMs: 36_000 };
		const begun: Record<string, IDataObject> = {};
		await start({ ...task, serve: serveTable(...known), staticData: begun });
		const table = serveTable(...known, recordOf('new'));
		// Its only response comes when its time is over.
		const late: Serve = async (options, count) => {
			await new Promise((resolve) => setTimeout(resolve, 40_000));
			return await table(options, count);
		};
		const [one, other] = [structuredClone(begun), structuredClone(begun)];
		const first = start({ ...task, serve: late, staticData: one });
		await jest.advanceTimersByTimeAsync(36_000);
		expect(ids(await start({ ...task, serve: table, staticData: other }))).toEqual(['new']);
		await jest.advanceTimersByTimeAsync(4_000);
		expect(ids(await first)).toBeNull();
		expect(one).toEqual(begun);
	});
});

describe('when watching starts', () => {
	const before = recordOf('before');
	const meanwhile = recordOf('meanwhile', '2026-11-21T09:31:00Z');
	const after = recordOf('after', '2026-11-21T09:32:00Z');

	test('is stored again if n8n dropped the poll that found it', async () => {
		const task = { pollBudgetMs: 36_000 };
		const serve = serveTable(before);
		expect(ids(await start({ ...task, serve, staticData: {} }))).toEqual([]);
		const staticData: Record<string, IDataObject> = {};
		expect(ids(await start({ ...task, serve, staticData }))).toEqual([]);
		expect(staticData.node).toHaveProperty('watch');
		expect(ids(await start({ ...task, serve, staticData }))).toBeNull();
		// Nothing is lost if n8n is killed now.
		const restarted = { ...task, staticData, workflowId: 'restarted' };
		expect(ids(await start({ ...restarted, serve: serveTable(before, after) }))).toEqual(['after']);
	});

	test('is stored again if n8n dropped it, with what is emitted', async () => {
		const task = { pollBudgetMs: 36_000 };
		await start({ ...task, serve: serveTable(before), staticData: {} });
		const serve = serveTable(before, after);
		const staticData: Record<string, IDataObject> = {};
		expect(ids(await start({ ...task, serve, staticData }))).toEqual(['after']);
		expect(ids(await start({ ...task, serve, staticData }))).toBeNull();
	});

	test.each(['beginning', 'date'])('is not stored if it can be found again: %s', async (startFrom) => {
		const parameters = { startFrom, triggerOn: 'updated', startDate: '2026-11-21T00:00:00Z' };
		for (let polls = 0; polls < 3; polls += 1) {
			const serve = serveTable(before);
			const task = { pollBudgetMs: 36_000, parameters, serve, staticData: {} };
			expect(ids(await start(task))).toBeNull();
		}
	});

	test('at a date has what changed at that very time', async () => {
		const parameters = { startFrom: 'date', startDate: '2026-11-21T09:30:00Z' };
		const serve = serveTable(recordOf('before', '2026-11-21T09:29:59Z'), recordOf('then'), recordOf('after', '2026-11-21T09:31:00Z'));
		expect(ids(await start({ parameters, serve }))).toEqual(['then', 'after']);
	});

	test('at a date that may move is stored', async () => {
		const staticData: Record<string, IDataObject> = {};
		const parameters = { startFrom: 'date', startDate: '={{ $now }}' };
		const poll = async (time: string, ...records: Array<typeof before>) =>
			ids(
				await start({
					...{ staticData, parameters, workflowId: `moves to ${time}`, pollBudgetMs: 36_000 },
					resolved: { '={{ $now }}': time },
					serve: serveTable(recordOf('old', '2026-11-01T00:00:00Z'), ...records),
				}),
			);
		expect(await poll('2026-11-05T00:00:00Z')).toEqual([]);
		expect(await poll('2026-11-15T00:00:00Z', recordOf('early', '2026-11-10T00:00:00Z'))).toEqual(['early']);
	});

	test('is not the beginning if the newest record does not say when it changed', async () => {
		const serve = serveTable({ ...recordOf('1'), modified: '' });
		await expect(start({ serve })).rejects.toThrow('time of the newest change');
	});

	test('is that of the last activation, though n8n kept an older one of the same table', async () => {
		const kept: Record<string, IDataObject> = {};
		await start({ staticData: kept, serve: serveTable(before) });
		const activated = structuredClone(kept);
		await start({ staticData: activated, parameters: { table: locator('orders') } });
		await start({ staticData: activated, serve: serveTable(before, meanwhile) });
		// With durable cursors, n8n drops the node's own data of an activation, not the workflow's.
		const staticData = { ...activated, node: kept.node! };
		const serve = serveTable(before, meanwhile, after);
		const workflowId = 'another process';
		expect(ids(await start({ staticData, serve, workflowId }))).toEqual(['after']);
	});

	test('goes on from the same platform, however its base URL is written', async () => {
		const staticData = {};
		await start({ staticData, serve: serveTable(before) });
		const credential = { baseUrl: 'https://PLATFORM.example.com/api/v2/' };
		const other = await start({ staticData, credential, serve: serveTable(before, after), workflowId: 'restarted' });
		expect(ids(other)).toEqual(['after']);
	});

	test('is not that of another table', async () => {
		const staticData: Record<string, IDataObject> = {};
		await start({ staticData, serve: serveTable(before) });
		const dropped = { global: staticData.global!, node: {} };
		const parameters = { table: locator('orders') };
		expect(ids(await start({ staticData: dropped, parameters, serve: serveTable(before, after), workflowId: 'other' }))).toBeNull();
	});

	test('is stored by an activation without an execution', async () => {
		expect(ids(await start({ serve: serveTable(before) }))).toBeNull();
	});

	test.each([undefined, 36_000])('begins anew with a table that was watched before another one, budget %s', async (pollBudgetMs) => {
		const staticData = {};
		const watching = { staticData, pollBudgetMs };
		const other = { table: locator('orders') };
		await start({ ...watching, serve: serveTable(before) });
		await start({ ...watching, serve: serveTable(before), parameters: other });
		// With Start From: Now, changes in the meantime are not emitted.
		const back = await start({ ...watching, serve: serveTable(before, meanwhile) });
		expect(ids(back) ?? []).toEqual([]);
		const later = await start({ ...watching, serve: serveTable(before, meanwhile, after) });
		expect(ids(later)).toEqual(['after']);
	});
});

describe('the starts of nodes that are gone', () => {
	const serve = serveTable(recordOf('1'));
	const stored = () => ({ dataPlatformTrigger: { gone: 'x', other: 'y' }, 'of a Code node': { gone: true } });
	const startsAfter = async (nodeIds?: string[]) => {
		const staticData = { global: stored() as IDataObject };
		await start({ serve, staticData, nodeIds });
		expect(staticData.global).toMatchObject({ 'of a Code node': { gone: true } });
		return Object.keys(staticData.global.dataPlatformTrigger as IDataObject);
	};

	test('are removed when watching starts', async () => {
		expect(await startsAfter(['node', 'other'])).toEqual(['other', 'node']);
	});

	test('stay if n8n does not say which nodes there are', async () => {
		expect(await startsAfter()).toEqual(['gone', 'other', 'node']);
	});
});
