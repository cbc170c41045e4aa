/** What a poll leaves behind. */
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
