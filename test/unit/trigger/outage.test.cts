/**
 * Forty triggers that poll every minute, by a fake clock: what an outage and a day whose requests are used up cost. Each failed
 * execution is an alarm. "Before" is a trigger that asks at each poll, as n8n's in-memory scheduler calls it.
 */
import { tokenQueues } from '../../../nodes/DataPlatform/transport/tokenQueue.ts';
import { poll } from '../../../nodes/DataPlatform/trigger/poll.ts';
import { fakePoll } from '../fakeTrigger.cts';
import { httpResponse, networkError, pageResponse, type Serve } from '../stubPlatform.cts';

const TRIGGERS = 40;
const MINUTE = 60_000;
const record = { id: '1', ver: 0, fields: {}, created: '2026-11-20T00:00:00Z', modified: '2026-11-20T00:00:00Z' };

beforeEach(() => {
	jest.useFakeTimers({ now: new Date('2026-11-27T12:00:00Z') });
	jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
	jest.restoreAllMocks();
	jest.useRealTimers();
});

test.each<[what: string, from: string, to: string, fail: () => ReturnType<Serve>, expected: object]>([
	[
		'two hours of outage',
		'14:02',
		'16:02',
		() => networkError('ECONNREFUSED'),
		{ before: { failed: 4800, requests: 28_800 }, after: { failed: 280, requests: 480 } },
	],
	[
		'a day whose requests are used up at 14:00',
		'14:00',
		'24:00',
		() => httpResponse(429, { errors: [{}] }),
		{ before: { failed: 24_000, requests: 24_000 }, after: { failed: 920, requests: 892 } },
	],
])('%s, from %s to %s', async (what, from, to, fail, expected) => {
	const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
	const [begin, end] = [minutesOf(from) - 720, minutesOf(to) - 720];
	let minute = 0;
	const isDown = () => minute >= begin && minute < end;
	/** Polls until all are served again. `isNew`: each poll as in a process that knows of none before it. */
	const count = async (triggers: number, isNew = false) => {
		const counts = { failed: 0, requests: 0 };
		const serve: Serve = (options) => {
			if (!isDown()) return pageResponse(options, [record]);
			counts.requests += 1;
			return fail();
		};
		const start = Date.now();
		const states = Array.from({ length: triggers }, () => ({}));
		let served = 0;
		for (minute = begin - 1; minute <= end + 30; minute += 1) {
			jest.setSystemTime(start + minute * MINUTE);
			if (isNew) tokenQueues.clear();
			const polls = states.map(async (staticData, nodeId) => {
				const workflowId = `${what} ${isNew}${isNew && isDown() ? minute : ''}`;
				const { failed } = counts;
				await poll(fakePoll({ serve, staticData, workflowId, nodeId: String(nodeId) })).catch(() => (counts.failed += 1));
				if (minute === end + 30 && counts.failed === failed) served += 1;
			});
			// Within the 20 s that a poll may wait for retries.
			await jest.advanceTimersByTimeAsync(isDown() ? 20_000 : 1000);
			await Promise.all(polls);
		}
		expect(served).toBe(triggers);
		return counts;
	};
	const perTrigger = await count(1, true);
	const before = { failed: perTrigger.failed * TRIGGERS, requests: perTrigger.requests * TRIGGERS };
	expect({ before, after: await count(TRIGGERS) }).toEqual(expected);
});
