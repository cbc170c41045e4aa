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
	const index = new EmittedIndex(state, OPTIONS, LIMITS);
	return index.isEmitted(changed) ? 'emitted' : index.kindOf(changed);
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

describe('with watched fields', () => {
	const digest = (): Array<[string, string]> => [['name', 'same']];
	const known: ChangeState = { ...begun, digests: { old: 'same', seen: 'same' } };
	const poll = (state: ChangeState, changed: ReturnType<typeof record>[], options: object = {}) => {
		const { changes, state: next } = selectChanges(
			state,
			{ ...read, records: changed },
			{ ...OPTIONS, maximum: 100, digest, ...options },
			LIMITS,
		);
		return { emitted: changes.map((change) => change.record.id), next };
	};

	test('what comes again is emitted although its fields are the same; then only what changed', () => {
		const restarted = restartAt(known, 50);
		const { emitted, next } = poll(restarted, [record('seen', 20, 60), record('new', 70, 70)]);
		expect(emitted).toEqual(['seen', 'new']);
		expect(poll(next, [record('seen', 20, 510)]).emitted).toEqual([]);
		expect(poll(next, [record('seen', 20, 510)], { digest: () => [['name', 'other']] }).emitted).toEqual(['seen']);
	});

	test('a record that came again is held back from then on, also in the backlog', () => {
		const both = [record('old', 10, 60), record('seen', 20, 70)];
		const first = poll(restartAt(known, 50), both, { maximum: 1 });
		expect(first.emitted).toEqual(['old']);
		expect(poll(first.next, [both[1]!, record('old', 10, 80)]).emitted).toEqual(['seen']);
	});

	test('the values that were emitted before are forgotten', () => {
		expect(restartAt({ ...behind, digests: { seen: 'a' } }, 150).digests).toBeUndefined();
	});
});
