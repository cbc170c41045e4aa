/** Restarts during a backlog: which records count as created. */
import { restartAt } from '../../../nodes/DataPlatform/changes/tracker.ts';
import { EmittedIndex, selectChanges, LIMITS, type ChangeState } from '../../../nodes/DataPlatform/changes/tracker.ts';

const at = (time: number) => new Date(time).toISOString();
const record = (id: string, created: number, modified: number) => ({
	...{ id, ver: modified - created, fields: {} },
	...{ created: at(created), modified: at(modified) },
});
const OPTIONS = { kinds: new Set(['created', 'updated'] as const), overlapMs: 0, maximum: 1 };

/** A backlog since 100, emitted up to 200: `seen` at 150. */
const begun: ChangeState = { watermark: { time: 100, id: '' }, emitted: {} };
const records = [record('seen', 150, 150), record('other', 160, 300), record('new', 400, 400)];
const read = { records, isWhole: true, newest: 400, startedAt: 0, readAt: 0 };
const { state: behind } = selectChanges(begun, read, OPTIONS, LIMITS);

const kindAfter = (state: ChangeState, changed: ReturnType<typeof record>) => {
	const index = new EmittedIndex(state);
	return index.isEmitted(changed) ? 'emitted' : index.kindOf(changed, OPTIONS.kinds);
};

test.each([
	['a date before the backlog', 50, ['created', 'created', 'created']],
	['a date within what was emitted', 155, ['updated', 'created', 'created']],
	['a date before the record that was emitted', 145, ['created', 'created', 'created']],
	['a date in the future', 1e6, ['updated', 'created', 'created']],
])('%s', (_, time, kinds) => {
	const state = restartAt(behind, time);
	const changed = [record('seen', 150, 350), record('other', 160, 300), record('new', 400, 400)];
	expect(changed.map((each) => kindAfter(state, each))).toEqual(kinds);
});

test('a version from before the date does not come again, one at the date does', () => {
	expect(kindAfter(restartAt(behind, 151), record('seen', 150, 150))).toBe('emitted');
	expect(kindAfter(restartAt(behind, 150), record('seen', 150, 150))).toBe('created');
});

test('its watched fields count as changed', () => {
	const digested = { ...behind, digests: { seen: 'a', gone: 'b' } };
	// Back behind what was emitted: others than those that it remembers come again, too.
	expect(restartAt(digested, 150).digests).toEqual({});
	expect(restartAt(digested, 1e6).digests).toEqual({ seen: 'a', gone: 'b' });
});
