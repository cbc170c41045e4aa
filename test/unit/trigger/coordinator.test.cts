/** What the polls of one node know about each other in one process of n8n. */
import { PollCoordinator } from '../../../nodes/DataPlatform/trigger/coordinator.ts';
import type { SavedState } from '../../../nodes/DataPlatform/trigger/savedState.ts';

const NODE = 'workflow node';
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

const startPoll = (node = NODE, stored?: SavedState, identity = 'watch') =>
	coordinator.startPoll(node, identity, stored, Date.now() + 36_000);

/** The state that a poll goes on from, which ends without one of its own. */
function resume(stored: SavedState | undefined, node = NODE, identity = 'watch') {
	const turn = startPoll(node, stored, identity);
	turn?.end();
	return turn ? turn.known : 'unconfirmed';
}

/** A poll that reads the stored state and produces another one. */
function run(stored: SavedState | undefined, next: SavedState, mustBeStored = true) {
	const turn = startPoll(NODE, stored)!;
	turn.finish(next, mustBeStored);
	turn.end();
	return turn.known;
}

test('a poll goes on from what is stored', () => {
	expect(resume(undefined)).toBeUndefined();
	expect(resume(saved(1))).toEqual(saved(1));
});

test('one poll at a time, until the one under way should have ended', () => {
	const first = startPoll()!;
	expect(startPoll()).toBeUndefined();
	expect(startPoll('another node')?.isCurrent()).toBe(true);
	jest.advanceTimersByTime(36_000);
	const second = startPoll()!;
	expect([first.isCurrent(), second.isCurrent()]).toEqual([false, true]);
	// The late one ends without allowing a third one to start.
	first.end();
	expect(startPoll()).toBeUndefined();
	second.end();
	expect(startPoll()?.isCurrent()).toBe(true);
});

test('a copy from before the last emission waits until that is stored', () => {
	run(saved(1), saved(2));
	expect(resume(saved(1))).toBe('unconfirmed');
	expect(resume(saved(2))).toEqual(saved(2));
});

test('what n8n never stored is emitted again, after a while', () => {
	run(saved(1), saved(2));
	jest.advanceTimersByTime(GRACE_MS);
	expect(resume(saved(1))).toEqual(saved(1));
	run(saved(1), saved(3));
	expect(resume(saved(1))).toBe('unconfirmed');
});

test.each([-1, 1])('that while is as long if the clock is set by %i hours', (hours) => {
	run(saved(1), saved(2));
	jest.setSystemTime(Date.now() + hours * 3600_000);
	expect(resume(saved(1))).toBe('unconfirmed');
	jest.advanceTimersByTime(GRACE_MS);
	expect(resume(saved(1))).toEqual(saved(1));
});

test('what n8n never stored is emitted again, and nothing that was stored before', () => {
	run(saved(1), saved(2));
	run(saved(2), saved(3));
	expect(resume(saved(3))).toEqual(saved(3));
	run(saved(3), saved(4));
	// Another execution has stored an old copy.
	expect(resume(saved(1))).toBe('unconfirmed');
	jest.advanceTimersByTime(GRACE_MS);
	expect(resume(saved(1))).toEqual(saved(3));
});

test('a start that n8n never stored is not forgotten with what followed it', () => {
	run(undefined, saved(1, 100), false);
	expect(run(undefined, saved(2))).toEqual(saved(1, 100));
	expect(resume(undefined)).toBe('unconfirmed');
	jest.advanceTimersByTime(GRACE_MS);
	expect(resume(undefined)).toEqual(saved(1, 100));
	run(undefined, saved(3));
	jest.advanceTimersByTime(GRACE_MS);
	expect(resume(undefined)).toEqual(saved(1, 100));
});

test('a node that watches something else begins anew, and so does one that is back', () => {
	run(saved(1), saved(1, 700), false);
	expect(resume(undefined, NODE, 'another watch')).toBeUndefined();
	expect(resume(undefined)).toBeUndefined();
});

test('a copy that was overwritten by an older one does not count', () => {
	run(saved(1), saved(2));
	expect(resume(saved(2))).toEqual(saved(2));
	jest.advanceTimersByTime(10 * GRACE_MS);
	expect(resume(saved(1))).toEqual(saved(2));
	expect(resume(undefined)).toEqual(saved(2));
});

test('another process that emitted more does', () => {
	run(saved(1), saved(2));
	expect(resume(saved(5))).toEqual(saved(5));
	expect(resume(saved(5))).toEqual(saved(5));
});

test('what idle polls came to is known without being stored', () => {
	run(saved(1), saved(1, 700), false);
	expect(resume(saved(1))).toEqual(saved(1, 700));
});

test('the nodes polled least recently are forgotten', () => {
	run(saved(1), saved(1, 700), false);
	for (let number = 0; number < 1000; number += 1) resume(saved(1), `node ${number}`);
	expect(resume(saved(1))).toEqual(saved(1));
});
