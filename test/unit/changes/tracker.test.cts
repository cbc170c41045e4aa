/** What a poll emits and what it stores, as tables of states before and after. */
import { createHash } from 'node:crypto';
import type { PlatformRecord } from '../../../nodes/DataPlatform/api/types.ts';
import {
	LIMITS,
	selectChanges,
	type ChangeKind,
	type ChangeOptions,
	type ChangeState,
	type Limits,
	type ReadResult,
} from '../../../nodes/DataPlatform/changes/tracker.ts';

const iso = (time: number) => new Date(time).toISOString();

/** A record that changed at a time; its first version unless it was created before. */
const at = (id: string, modified: number, created = modified, ver?: number): PlatformRecord => ({
	id,
	created: iso(created),
	modified: iso(modified),
	ver: ver ?? (created === modified ? 1 : 2),
	fields: {},
});

const hash = (id: string) => createHash('sha256').update(id).digest('base64url').slice(0, 6);

/** By our own clock. */
const NOW = 1_000_000;

function poll(state: ChangeState, read: Partial<ReadResult>, options: Partial<ChangeOptions> = {}, limits: Partial<Limits> = {}) {
	const times = (read.records ?? []).map(({ modified }) => Date.parse(modified!));
	const newest = Math.max(state.cursor ?? -Infinity, ...times);
	const selection = selectChanges(
		structuredClone(state),
		{ records: [], isWhole: true, ...(newest > -Infinity && { newest }), startedAt: NOW, readAt: NOW + 100, ...read },
		{ kinds: new Set<ChangeKind>(['created', 'updated']), overlapMs: 500, maximum: 100, ...options },
		{ ...LIMITS, ...limits },
	);
	const { cursorReadAt, ...rest } = selection.state;
	return { emitted: selection.changes.map(({ kind, record }) => `${kind} ${record.id}`), state: rest as ChangeState, cursorReadAt };
}

const nothing: ChangeState = { emitted: {} };

describe('the kind of an emitted change', () => {
	const watched: ChangeState = { watermark: { time: 1000, id: 'm' }, emitted: {} };
	const behind: ChangeState = {
		watermark: { time: 2000, id: '' },
		emitted: {},
		backlog: { createdWatermark: { time: 1000, id: 'm' }, earlier: `${hash('first')}${hash('known')}` },
	};
	const seen = (version: number, time: number): ChangeState => ({ emitted: { a: [version, time] } });

	test.each<[string, ChangeState, PlatformRecord, string[]]>([
		['a first version', nothing, at('a', 3000), ['created a']],
		['created and changed before anything was read', nothing, at('a', 3000, 2000), ['created a']],
		['created before watching began', watched, at('a', 3000, 500), ['updated a']],
		['created when watching began, by its id before', watched, at('a', 3000, 1000), ['updated a']],
		['the record where watching began', watched, at('m', 3000, 1000), ['updated m']],
		['created when watching began, by its id after', watched, at('z', 3000, 1000), ['created z']],
		['created after watching began', watched, at('a', 3000, 1001), ['created a']],
		['a new version of what was emitted', seen(1, 2000), at('a', 3000, 2000), ['updated a']],
		['the version that was emitted', seen(2, 3000), at('a', 3000, 2000), []],
		['an older version', seen(3, 3500), at('a', 3000, 2000), []],
		['its version again, changed later', seen(2, 2500), at('a', 3000, 2000), ['updated a']],
		['a higher version of the same time', seen(1, 3000), at('a', 3000, 2000), ['updated a']],
		['made again under its id', seen(9, 2000), at('a', 3000), ['created a']],
		['made again under its id, and changed', seen(9, 2000), at('a', 3000, 2500), ['created a']],
		['behind, created before watching began', behind, at('a', 3000, 500), ['updated a']],
		['behind, created since and never emitted', behind, at('a', 3000, 1500), ['created a']],
		['behind, created since and emitted first', behind, at('first', 3000, 1500), ['updated first']],
		['behind, created since and emitted then', behind, at('known', 3000, 1500), ['updated known']],
		[
			'behind, emitted once more since, then made again under its id',
			{ ...behind, emitted: { known: [2, 2500] } },
			at('known', 3000, 2600),
			['created known'],
		],
		['what changed before the watermark', watched, at('a', 999), []],
		['what changed at the watermark, by its id before', watched, at('a', 1000), []],
		['what changed at the watermark, by its id after', watched, at('z', 1000), ['created z']],
	])('%s', (_, state, record, expected) => {
		expect(poll(state, { records: [record] }).emitted).toEqual(expected);
	});

	test.each<[string, ChangeKind[], PlatformRecord, string[]]>([
		['created only: a first version', ['created'], at('a', 3000), ['created a']],
		['created only: an update', ['created'], at('a', 3000, 500), []],
		['updates only: a first version', ['updated'], at('a', 3000), []],
		['updates only: created and changed', ['updated'], at('a', 3000, 2000), ['updated a']],
	])('%s', (_, kinds, record, expected) => {
		expect(poll(watched, { records: [record] }, { kinds: new Set(kinds) }).emitted).toEqual(expected);
	});

	test('oldest first, and by their ids if their times are the same', () => {
		const records = [at('c', 2000), at('b', 1000), at('a', 2000)];
		expect(poll(nothing, { records }).emitted).toEqual(['created b', 'created a', 'created c']);
		expect(poll(nothing, { records }, { maximum: 2 }).emitted).toEqual(['created b', 'created a']);
	});

	test('unknown values are not part of the state', () => {
		expect(poll(nothing, {}).state).toStrictEqual({ emitted: {} });
		const { state } = poll(nothing, { records: [at('a', 1000)], isWhole: false });
		expect(state.backlog).toStrictEqual({ earlier: '' });
	});

	test('a record without a version has the time of its change as one', () => {
		const record = { ...at('a', 3000, 2000), ver: undefined };
		expect(poll(nothing, { records: [record] }).state.emitted).toEqual({ a: [3000, 3000] });
	});
});

describe('what is stored', () => {
	type Rules = Partial<ChangeOptions> & Partial<Limits>;
	const [a, b, c] = [at('a', 1000), at('b', 2000), at('c', 3000)];
	/** A state: records that were emitted in their first version, with the time of each. */
	const known = (cursor: number, watermark: number, emitted: Record<string, number>, backlog?: ChangeState['backlog']): ChangeState => ({
		...{ cursor, watermark: { time: watermark, id: '' } },
		emitted: Object.fromEntries(Object.entries(emitted).map(([id, time]) => [id, [1, time]])),
		...(backlog && { backlog }),
	});
	const since = (time: number, id = '') => ({ createdWatermark: { time, id } });
	const few = known(4, 0, { a: 1, b: 2, c: 3, d: 4 });
	const idle = { ...few, cursorReadAt: NOW - LIMITS.settleMs };
	const [zy, z] = [{ emitted: { z: [1, 50], y: [1, 40] } } as ChangeState, known(10, 5, { z: 9 })];
	const started: ChangeState = { watermark: { time: 100, id: 'x' }, emitted: {} };
	const late5000: ChangeState = { cursor: 5000, watermark: { time: 4900, id: 'x' }, emitted: {} };
	const behind = (earlier: string, more = {}) => known(1000, 500, { a: 1000 }, { earlier, ...more });

	test.each<[what: string, before: ChangeState, read: Partial<ReadResult>, rules: Rules, after: ChangeState]>([
		['nothing, of an empty table', nothing, {}, {}, nothing],
		['what was emitted within the overlap', nothing, { records: [a, b] }, {}, known(2000, 1500, { b: 2000 })],
		[
			'up to the newest change, if that is gone before it is read',
			nothing,
			{ records: [a, b], newest: 2300 },
			{},
			known(2300, 1800, { b: 2000 }),
		],
		['no later than the newest change as reading began', nothing, { records: [b], newest: 1000 }, {}, known(1000, 500, { b: 2000 })],
		[
			'from where it was, if the newest change is gone',
			{ cursor: 1901, emitted: {} },
			{ records: [b], newest: 1000 },
			{},
			known(1901, 1400, { b: 2000 }),
		],
		[
			'where to resume, if there is more',
			nothing,
			{ records: [a, b, c] },
			{ maximum: 2 },
			known(2000, 2000, { b: 2000 }, { earlier: hash('a') }),
		],
		[
			'where watching began and reading began, if there is more',
			started,
			{ records: [a, b], offset: 7 },
			{ maximum: 1 },
			known(1000, 1000, { a: 1000 }, { ...since(100, 'x'), earlier: '', offset: 7 }),
		],
		[
			'the same beginning, as long as there is more',
			behind('before', { ...since(100, 'x'), offset: 7 }),
			{ records: [b], isWhole: false, offset: 9 },
			{},
			known(2000, 1500, { b: 2000 }, { ...since(100, 'x'), earlier: `before${hash('a')}`, offset: 9 }),
		],
		[
			'as many hashes as there may be',
			behind('before'),
			{ records: [b], isWhole: false },
			{ hashes: 1 },
			known(2000, 1500, { b: 2000 }, { earlier: hash('a') }),
		],
		[
			'no backlog, once everything is emitted',
			known(2000, 1500, { b: 2000 }, { earlier: hash('a'), offset: 3 }),
			{ records: [c], offset: 3 },
			{},
			known(3000, 2500, { c: 3000 }),
		],
		[
			'no step ahead, if nothing could be read',
			z,
			{ isWhole: false, newest: 9999, offset: 3 },
			{ overlapMs: 0 },
			known(10, 5, { z: 9 }, { ...since(5), earlier: '', offset: 3 }),
		],
		[
			'up to the newest change as reading began: others may have the same time',
			nothing,
			{ records: [a, b], newest: 1000 },
			{ overlapMs: 0 },
			known(1000, 1000, { a: 1000, b: 2000 }),
		],
		[
			'no step back, if the overlap has become longer',
			late5000,
			{ records: [at('y', 5100)] },
			{ overlapMs: 1000 },
			{ ...late5000, cursor: 5100, emitted: { y: [1, 5100] } },
		],
		[
			'no more records than there may be: the overlap gets shorter',
			zy,
			{ records: [at('a', 60)] },
			{ maxTracked: 2 },
			{ cursor: 60, watermark: { time: 40, id: 'y' }, emitted: { z: [1, 50], a: [1, 60] } },
		],
		['as many records as there may be', zy, { records: [at('a', 60)] }, { maxTracked: 3 }, known(60, -440, { z: 50, y: 40, a: 60 })],
		['nothing, once the overlap has passed without anything new', idle, {}, {}, known(5, 5, {})],
		['all of it, while more may change at the last moment', { ...idle, cursorReadAt: idle.cursorReadAt + 1 }, {}, {}, few],
		[
			'all of it, while changes in it may become visible',
			{ ...idle, cursor: 5 },
			{ newest: 4 },
			{ overlapMs: LIMITS.settleMs + 1 },
			{ ...few, cursor: 5 },
		],
		['nothing, as soon as none may', { ...idle, cursor: 5 }, { newest: 4 }, { overlapMs: LIMITS.settleMs }, known(5, 5, {})],
		['all of it, if our clock was set back', { ...few, cursor: 5, cursorReadAt: NOW * 2 }, { newest: 4 }, {}, { ...few, cursor: 5 }],
		['all of it, if there is something new', idle, { records: [at('e', 5)] }, {}, known(5, 0, { a: 1, b: 2, c: 3, d: 4, e: 5 })],
	])('%s', (_, before, read, rules, after) => {
		expect(poll(before, read, rules, rules).state).toEqual(after);
	});

	const at60: ChangeState = { cursor: 60, emitted: {} };
	const before = NOW - LIMITS.settleMs;
	const late = at('z', 70);
	type CursorRow = [
		what: string,
		before: ChangeState,
		read: Partial<ReadResult>,
		cursor: number | undefined,
		cursorReadAt: number | undefined,
	];
	test.each<CursorRow>([
		['of the newest change, when it was read', nothing, { records: [at('a', 60)] }, 60, NOW + 100],
		['if there is none, nothing', nothing, {}, undefined, undefined],
		['as it was, while its time may go on', { ...at60, cursorReadAt: before + 1 }, {}, 60, before + 1],
		['one further, when its time is over', { ...at60, cursorReadAt: before }, {}, 61, NOW + 100],
		[
			'the same, with newer changes that appeared while pages were read',
			{ ...at60, cursorReadAt: before },
			{ records: [late], newest: 60 },
			61,
			NOW + 100,
		],
		[
			'as it was, while not all of its time is emitted',
			{ ...at60, cursorReadAt: before },
			{ records: [late], newest: 60, isWhole: false },
			60,
			before,
		],
		['as it was, if nothing is newer', { ...at60, cursorReadAt: 7 }, { newest: 59 }, 60, 7],
		['as it was, if all is gone', { ...at60, cursorReadAt: 7 }, { newest: undefined }, 60, 7],
		['now, if that was not stored', at60, {}, 60, NOW + 100],
		['of a newer one', { ...at60, cursorReadAt: 7 }, { records: [at('a', 61)] }, 61, NOW + 100],
		['no further than the newest change was as reading began', nothing, { records: [at('a', 60), late], newest: 60 }, 60, NOW + 100],
	])('how far everything is known: %s', (_, state, read, cursor, cursorReadAt) => {
		const after = poll(state, read);
		expect([after.state.cursor, after.cursorReadAt]).toEqual([cursor, cursorReadAt]);
	});

	test('nothing of what was read and is emitted already', () => {
		const before: ChangeState = { cursor: 2000, watermark: { time: 1500, id: '' }, emitted: { b: [1, 2000] } };
		const { emitted, state } = poll(before, { records: [a, b] });
		expect([emitted, state]).toEqual([[], before]);
	});
});

describe('watched fields', () => {
	const digest = ({ id }: PlatformRecord) => (id === 'same' ? 'x' : 'y');
	const before: ChangeState = {
		watermark: { time: 500, id: '' },
		emitted: { same: [1, 1000], other: [1, 1000] },
		digests: { same: 'x', other: 'x', third: 'x' },
	};
	const changed = (id: string) => at(id, 2000, 1000);

	test('an update is emitted if they differ from what was emitted last', () => {
		const records = [changed('other'), changed('same')];
		const { emitted, state } = poll(before, { records }, { digest });
		expect(emitted).toEqual(['updated other']);
		expect(state.emitted).toEqual({ same: [2, 2000], other: [2, 2000] });
	});

	test('a record that is made again is emitted, whatever they hold', () => {
		const records = [at('same', 3000, 3000, 1)];
		expect(poll(before, { records }, { digest }).emitted).toEqual(['created same']);
	});

	test('the next update of a record that is not remembered is emitted, whatever they hold', () => {
		const state = { ...before, digests: { other: 'y' } };
		const records = [changed('other'), changed('same')];
		expect(poll(state, { records }, { digest }).emitted).toEqual(['updated same']);
	});

	test('those emitted last are remembered, as many as there may be', () => {
		const { state } = poll(before, { records: [changed('same')] }, { digest });
		expect(Object.entries(state.digests!)).toEqual([
			['other', 'x'],
			['third', 'x'],
			['same', 'x'],
		]);
		const limited = poll(before, { records: [changed('other')] }, { digest }, { maxTracked: 2 });
		expect(limited.state.digests).toEqual({ third: 'x', other: 'y' });
	});

	test('none are kept if nothing is watched', () => {
		expect(poll(before, {}).state).not.toHaveProperty('digests');
		expect(poll(nothing, {}, { digest }).state).toEqual({ emitted: {}, digests: {} });
	});
});
