/** What a poll leaves behind: timers, and static data. */
import type { IDataObject } from 'n8n-workflow';
import { poll } from '../../nodes/DataPlatform/trigger/poll.ts';
import { locator } from './fakeNode.cts';
import { fakePoll, type Watched } from './fakeTrigger.cts';
import { httpResponse, networkError, pageResponse, type Serve } from './stubPlatform.cts';

const recordOf = (id: string, modified = '2026-11-21T09:30:00Z') => ({
	...{ id, ver: 0, fields: {} },
	...{ created: modified, modified },
});

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
	await poll(
		fakePoll({
			serve: serveNothing,
			workflowId: expect.getState().currentTestName,
			...given,
		}),
	);

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

const ids = (outputs: Awaited<ReturnType<typeof poll>>) =>
	outputs && outputs[0]!.map(({ json }) => json.id);

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

	test.each(['beginning', 'date'])(
		'is not stored if it can be found again: %s',
		async (startFrom) => {
			const parameters = { startFrom, triggerOn: 'updated', startDate: '2026-11-21T00:00:00Z' };
			for (let polls = 0; polls < 3; polls += 1) {
				const serve = serveTable(before);
				const task = { pollBudgetMs: 36_000, parameters, serve, staticData: {} };
				expect(ids(await start(task))).toBeNull();
			}
		},
	);

	test('is stored by an activation without an execution', async () => {
		expect(ids(await start({ serve: serveTable(before) }))).toBeNull();
	});

	test.each([undefined, 36_000])(
		'begins anew with a table that was watched before another one, budget %s',
		async (pollBudgetMs) => {
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
		},
	);
});

describe('what is stored for nodes that are gone', () => {
	const serve = serveTable(recordOf('1'));
	const stored = () => ({
		dataPlatformTrigger: { gone: { revision: 1 }, other: { revision: 2 } },
		'dataPlatformTriggerData:gone': { watch: {} },
		'dataPlatformTriggerData:other': { watch: {} },
		'of a Code node': { gone: true },
	});
	const nodeIds = ['node', 'other'];

	test.each<[string, Parameters<typeof start>[0]]>([
		['at the start', {}],
		['with what it emits', { parameters: { startFrom: 'beginning' } }],
	])('is removed %s', async (_, given) => {
		const staticData = { global: stored() as IDataObject };
		await start({ serve, staticData, nodeIds, ...given });
		const { dataPlatformTrigger, ...rest } = staticData.global;
		expect(dataPlatformTrigger).toMatchObject({ other: { revision: 2 } });
		expect(dataPlatformTrigger).not.toHaveProperty('gone');
		const {
			'dataPlatformTriggerData:gone': _gone,
			dataPlatformTrigger: _starts,
			...kept
		} = stored();
		expect(rest).toEqual(kept);
	});

	test('stays while n8n does not say which nodes there are', async () => {
		const staticData = { global: stored() as IDataObject };
		await start({ serve, staticData });
		expect(staticData.global).toMatchObject(stored());
	});

	test('nothing is written if no node is gone', async () => {
		const global = Object.freeze({
			dataPlatformTrigger: Object.freeze({ other: { revision: 2 } }),
		});
		const staticData = { global: global as IDataObject };
		await start({ serve, staticData, nodeIds, parameters: { startFrom: 'beginning' } });
	});
});
