/** What a poll leaves behind: timers, and static data. */
import type { IDataObject } from 'n8n-workflow';
import { poll } from '../../nodes/DataPlatform/trigger/poll.ts';
import { fakePoll, type Watched } from './fakeTrigger.cts';
import { httpResponse, networkError, pageResponse, type Serve } from './stubPlatform.cts';

const serveNothing: Serve = (options) => pageResponse(options, []);

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
		const record = {
			...{ id: '1', ver: 0, fields: {} },
			...{ created: '2026-11-21T09:30:00Z', modified: '2026-11-21T09:30:00Z' },
		};
		await start({ serve: (options) => pageResponse(options, [record]), ...given });
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
			'The poll did not end in the 36 s that n8n grants it',
		);
		await jest.advanceTimersByTimeAsync(36_000);
		await failed;
		expect(jest.getTimerCount()).toBe(0);
	});
});

describe('what is stored for nodes that are gone', () => {
	const record = {
		...{ id: '1', ver: 0, fields: {} },
		...{ created: '2026-11-21T09:30:00Z', modified: '2026-11-21T09:30:00Z' },
	};
	const serve: Serve = (options) => pageResponse(options, [record]);
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
