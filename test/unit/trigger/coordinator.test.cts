/** What the polls of one node know about each other in one process of n8n. */
import { PollCoordinator } from '../../../nodes/DataPlatform/trigger/coordinator.ts';
import type { SavedState } from '../../../nodes/DataPlatform/trigger/savedState.ts';

const NODE = { node: 'workflow node', identity: 'watch' };
const nodeOf = (node: string) => ({ ...NODE, node });
const GRACE_MS = 30_000;

const saved = (revision: number, cursor?: number): SavedState => ({ identity: 'watch', revision, state: { cursor, emitted: {} } });

let coordinator: PollCoordinator;

beforeEach(() => {
	jest.useFakeTimers({ now: 1_000_000 });
	coordinator = new PollCoordinator(GRACE_MS);
});

afterEach(() => {
	jest.useRealTimers();
});

/** A poll that reads the stored state and produces another one. */
function run(stored: SavedState | undefined, next: SavedState, mustBeStored = true) {
	const known = coordinator.resume(NODE, stored);
	const turn = coordinator.startPoll(NODE, Date.now() + 36_000);
	turn?.finish(next, mustBeStored);
	turn?.end();
	return known;
}

test('a poll goes on from what is stored', () => {
	expect(coordinator.resume(NODE, undefined)).toBeUndefined();
	expect(coordinator.resume(NODE, saved(1))).toEqual(saved(1));
});

test('one poll at a time, until the one under way should have ended', () => {
	const first = coordinator.startPoll(NODE, Date.now() + 36_000)!;
	expect(coordinator.startPoll(NODE, Date.now() + 36_000)).toBeUndefined();
	expect(coordinator.startPoll(nodeOf('another node'), Date.now() + 36_000)?.isCurrent()).toBe(true);
	jest.advanceTimersByTime(36_000);
	const second = coordinator.startPoll(NODE, Date.now() + 36_000)!;
	expect([first.isCurrent(), second.isCurrent()]).toEqual([false, true]);
	// The late one ends without allowing a third one to start.
	first.end();
	expect(coordinator.startPoll(NODE, Date.now() + 36_000)).toBeUndefined();
	second.end();
	expect(coordinator.startPoll(NODE, Date.now() + 36_000)?.isCurrent()).toBe(true);
});

test('a copy from before the last emission waits until that is stored', () => {
	run(saved(1), saved(2));
	expect(coordinator.resume(NODE, saved(1))).toBe('unconfirmed');
	expect(coordinator.resume(NODE, saved(2))).toEqual(saved(2));
});

test('what n8n never stored is emitted again, after a while', () => {
	run(saved(1), saved(2));
	jest.advanceTimersByTime(GRACE_MS);
	expect(coordinator.resume(NODE, saved(1))).toEqual(saved(1));
	run(saved(1), saved(3));
	expect(coordinator.resume(NODE, saved(1))).toBe('unconfirmed');
});

test.each([-1, 1])('that while is as long if the clock is set by %i hours', (hours) => {
	run(saved(1), saved(2));
	jest.setSystemTime(Date.now() + hours * 3600_000);
	expect(coordinator.resume(NODE, saved(1))).toBe('unconfirmed');
	jest.advanceTimersByTime(GRACE_MS);
	expect(coordinator.resume(NODE, saved(1))).toEqual(saved(1));
});

test('what n8n never stored is emitted again, and nothing that was stored before', () => {
	run(saved(1), saved(2));
	run(saved(2), saved(3));
	expect(coordinator.resume(NODE, saved(3))).toEqual(saved(3));
	run(saved(3), saved(4));
	// Another execution has stored an old copy.
	expect(coordinator.resume(NODE, saved(1))).toBe('unconfirmed');
	jest.advanceTimersByTime(GRACE_MS);
	expect(coordinator.resume(NODE, saved(1))).toEqual(saved(3));
});

test('a start that n8n never stored is not forgotten with what followed it', () => {
	run(undefined, saved(1, 100), false);
	expect(run(undefined, saved(2))).toEqual(saved(1, 100));
	expect(coordinator.resume(NODE, undefined)).toBe('unconfirmed');
	jest.advanceTimersByTime(GRACE_MS);
	expect(coordinator.resume(NODE, undefined)).toEqual(saved(1, 100));
	run(undefined, saved(3));
	jest.advanceTimersByTime(GRACE_MS);
	expect(coordinator.resume(NODE, undefined)).toEqual(saved(1, 100));
});

test('a node that watches something else begins anew, and so does one that is back', () => {
	const other = { ...NODE, identity: 'another watch' };
	run(saved(1), saved(1, 700), false);
	expect(coordinator.resume(other, undefined)).toBeUndefined();
	expect(coordinator.resume(NODE, undefined)).toBeUndefined();
});

test('a copy that was overwritten by an older one does not count', () => {
	run(saved(1), saved(2));
	expect(coordinator.resume(NODE, saved(2))).toEqual(saved(2));
	jest.advanceTimersByTime(10 * GRACE_MS);
	expect(coordinator.resume(NODE, saved(1))).toEqual(saved(2));
	expect(coordinator.resume(NODE, undefined)).toEqual(saved(2));
});

test('another process that emitted more does', () => {
	run(saved(1), saved(2));
	expect(coordinator.resume(NODE, saved(5))).toEqual(saved(5));
	expect(coordinator.resume(NODE, saved(5))).toEqual(saved(5));
});

test('what idle polls came to is known without being stored', () => {
	run(saved(1), saved(1, 700), false);
	expect(coordinator.resume(NODE, saved(1))).toEqual(saved(1, 700));
});

test('the nodes polled least recently are forgotten', () => {
	run(saved(1), saved(1, 700), false);
	for (let number = 0; number < 1000; number += 1) coordinator.resume(nodeOf(`node ${number}`), saved(1));
	expect(coordinator.resume(NODE, saved(1))).toEqual(saved(1));
});
