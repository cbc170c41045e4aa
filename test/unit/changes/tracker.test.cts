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

/** A record that was modified at a time; in its first version unless it was created before that. */
const at = (id: string, modified: number, created = modified, ver?: number): PlatformRecord => ({
	id,
	created: iso(created),
	modified: iso(modified),
	ver: ver ?? (created === modified ? 1 : 2),
	fields: {},
});

/** By which a backlog knows a record that was emitted already. */
const hash = (id: string) => createHash('sha256').update(id).digest('base64url').slice(0, 6);

/** When a poll starts, by our own clock. */
const NOW = 1_000_000;

/** One poll: what it emits, and the state that it stores. `newest` is the newest change of `read` or the cursor, if not given. */
function poll(state: ChangeState, read: Partial<ReadResult>, options: Partial<ChangeOptions> = {}, limits: Partial<Limits> = {}) {
	const times = (read.records ?? []).map(({ modified }) => Date.parse(modified!));
	const newest = Math.max(state.cursor ?? -Infinity, ...times);
	const selection = selectChanges(
		structuredClone(state),
		{ records: [], isWhole: true, ...(newest > -Infinity && { newest }), startedAt: NOW, readAt: NOW + 100, ...read },
		{ kinds: new Set<ChangeKind>(['created', 'updated']), overlapMs: 500, maximum: 100, ...options },
		{ ...LIMITS, ...limits },
	);
	const { cursorReadAt, recent, ...rest } = selection.state;
	const more = selection.changes.map((change) => change.more);
	return {
		emitted: selection.changes.map(({ kind, record }) => `${kind} ${record.id}`),
		more,
		state: rest as ChangeState,
		cursorReadAt,
		recent,
	};
}

const nothing: ChangeState = { emitted: {} };

describe('what a poll emits', () => {
	/** Watching began at 1000, with the record m. */
	const watched: ChangeState = { watermark: { time: 1000, id: 'm' }, emitted: {} };
	/** The same, with a backlog in which the records `first` and `known` were emitted already. */
	const behind: ChangeState = {
		watermark: { time: 2000, id: '' },
		emitted: {},
		backlog: { createdWatermark: { time: 1000, id: 'm' }, earlier: `${hash('first')}${hash('known')}` },
	};
	/** The same, with `known` as the only record that was emitted shortly before. */
	const remembering: ChangeState = { watermark: { time: 3000, id: '' }, emitted: {}, recent: hash('known') };
	const again: ChangeState = { ...behind, emitted: { known: [2, 2500] } };
	const seen = (version: number, time: number): ChangeState => ({ emitted: { a: [version, time] } });

	test.each<[what: string, emitted: string[], ChangeState, PlatformRecord]>([
		['a record in its first version', ['created a'], nothing, at('a', 3000)],
		['a record that was created and changed before the first poll', ['created a'], nothing, at('a', 3000, 2000)],
		['a record created before watching began', ['updated a'], watched, at('a', 3000, 500)],
		['a record created at the time when watching began, with a smaller ID', ['updated a'], watched, at('a', 3000, 1000)],
		['the record at which watching began', ['updated m'], watched, at('m', 3000, 1000)],
		['a record created at the time when watching began, with a greater ID', ['created z'], watched, at('z', 3000, 1000)],
		['a record created after watching began', ['created a'], watched, at('a', 3000, 1001)],
		['a new record that was modified a second after it was created', ['created a'], watched, at('a', 3000, 2000, 0)],
		['a new record created before watching began and modified since', ['created a'], watched, at('a', 3000, 900, 0)],
		['a record created shortly before the watermark and never emitted', ['created a'], remembering, at('a', 3500, 1001)],
		['a record created shortly before the watermark and emitted', ['updated known'], remembering, at('known', 3500, 1001)],
		['a record created long before the watermark', ['updated a'], remembering, at('a', 3500, 999)],
		['a newer version of an emitted record', ['updated a'], seen(1, 2000), at('a', 3000, 2000)],
		['the version that was emitted', [], seen(2, 3000), at('a', 3000, 2000)],
		['an older version than was emitted', [], seen(3, 3500), at('a', 3000, 2000)],
		['the version that was emitted, modified later', ['updated a'], seen(2, 2500), at('a', 3000, 2000)],
		['a higher version of the same time', ['updated a'], seen(1, 3000), at('a', 3000, 2000)],
		['a record made again under its ID', ['created a'], seen(9, 2000), at('a', 3000)],
		['a record made again under its ID and then changed', ['created a'], seen(9, 2000), at('a', 3000, 2500)],
		['in a backlog, a record created before watching began', ['updated a'], behind, at('a', 3000, 500)],
		['in a backlog, a record created since and never emitted', ['created a'], behind, at('a', 3000, 1500)],
		['in a backlog, a record created since, whose hash is the first of those emitted,', ['updated first'], behind, at('first', 3000, 1500)],
		['in a backlog, a record created since, whose hash is the last of those emitted,', ['updated known'], behind, at('known', 3000, 1500)],
		['in a backlog, a record emitted twice, then made again under its ID', ['created known'], again, at('known', 3000, 2600)],
		['a change before the watermark', [], watched, at('a', 999)],
		['a change at the watermark, with a smaller ID', [], watched, at('a', 1000)],
		['a change at the watermark, with a greater ID', ['created z'], watched, at('z', 1000)],
	])('%s makes a poll emit %j', (_, expected, state, record) => {
		expect(poll(state, { records: [record] }).emitted).toEqual(expected);
	});

	test.each<[kind: ChangeKind, what: string, emitted: string[], PlatformRecord]>([
		['created', 'a first version', ['created a'], at('a', 3000)],
		['created', 'an update', [], at('a', 3000, 500)],
		['updated', 'a first version', [], at('a', 3000)],
		['updated', 'a record created and changed since', ['updated a'], at('a', 3000, 2000)],
		['updated', 'a new record that was modified a second later', [], at('a', 3000, 2000, 0)],
		['updated', 'a new record that the platform completed', [], at('a', 3000, 2000, 1)],
		['updated', 'a record changed long after it was created', ['updated a'], at('a', 13_000, 2000, 1)],
		['created', 'a new record that the platform completed', ['created a'], at('a', 3000, 2000, 1)],
	])('if only %s records are wanted, %s makes a poll emit %j', (kind, _, expected, record) => {
		expect(poll(watched, { records: [record] }, { kinds: new Set([kind]) }).emitted).toEqual(expected);
	});

	test('changes are emitted oldest first, and by ID if their times are the same', () => {
		const records = [at('c', 2000), at('b', 1000), at('a', 2000)];
		expect(poll(nothing, { records }).emitted).toEqual(['created b', 'created a', 'created c']);
		expect(poll(nothing, { records }, { maximum: 2 }).emitted).toEqual(['created b', 'created a']);
	});
});

describe('what a poll stores', () => {
	type Rules = Partial<ChangeOptions> & Partial<Limits>;
	const [a, b, c] = [at('a', 1000), at('b', 2000), at('c', 3000)];
	/** A state: records that were emitted in their first version, with the time of each. */
	const known = (cursor: number, watermark: number, emitted: Record<string, number>, backlog?: ChangeState['backlog']): ChangeState => ({
		...{ cursor, watermark: { time: watermark, id: '' } },
		emitted: Object.fromEntries(Object.entries(emitted).map(([id, time]) => [id, [1, time]])),
		...(backlog && { backlog }),
	});
	const cursorAt = (cursor: number, cursorReadAt?: number) => ({
		cursor,
		emitted: {},
		...(cursorReadAt !== undefined && { cursorReadAt }),
	});
	const read = (records: PlatformRecord[], more: Partial<ReadResult> = {}) => ({ records, ...more });
	/** Not all changes are read. */
	const part = (records: PlatformRecord[], more: Partial<ReadResult> = {}) => read(records, { isWhole: false, ...more });

	// Backlogs: since watching began at a time, by a record; the hash of a record that was emitted before.
	const since = (time: number, id: string, earlier: string, offset: number, newest?: number) => ({
		createdWatermark: { time, id },
		earlier,
		offset,
		...(newest !== undefined && { newest }),
	});
	const hashA = { earlier: hash('a') };
	const behind = (backlog: ChangeState['backlog']) => known(1000, 500, { a: 1000 }, backlog);
	const started: ChangeState = { watermark: { time: 100, id: 'x' }, emitted: {} };
	const startedAtA = known(1000, 1000, { a: 1000 }, since(100, 'x', '', 7, 2000));
	const stillBehind = known(2000, 1500, { b: 2000 }, since(100, 'x', `before${hash('a')}`, 10));
	const backlogOfB = known(2000, 1500, { b: 2000 }, { ...hashA, offset: 3 });
	const [z, since5] = [known(10, 5, { z: 9 }), since(5, '', '', 3, 9999)];
	const both = known(1000, 1000, { a: 1000, b: 2000 });
	const late5000: ChangeState = { cursor: 5000, watermark: { time: 4900, id: 'x' }, emitted: {} };
	const late5100: ChangeState = { ...late5000, cursor: 5100, emitted: { y: [1, 5100] } };
	const [zy, a60] = [{ emitted: { z: [1, 50], y: [1, 40] } } as ChangeState, read([at('a', 60)])];
	const shorter: ChangeState = { cursor: 60, watermark: { time: 40, id: 'y' }, emitted: { z: [1, 50], a: [1, 60] } };
	// The cursor was read so long ago that no change before it can become visible.
	const settled = NOW - LIMITS.settleMs;
	const few = known(4, 0, { a: 1, b: 2, c: 3, d: 4 });
	const few5 = { ...few, cursor: 5 };
	const [idle, idle5] = [
		{ ...few, cursorReadAt: settled },
		{ ...few5, cursorReadAt: settled },
	];

	test.each<[what: string, before: ChangeState, read: Partial<ReadResult>, after: ChangeState, rules?: Rules]>([
		['nothing of an empty table', nothing, {}, nothing],
		['the changes that it emitted within the overlap', nothing, read([a, b]), known(2000, 1500, { b: 2000 })],
		['the newest change as its cursor, even if that was not read', nothing, read([a, b], { newest: 2300 }), known(2300, 1800, { b: 2000 })],
		['no later cursor than the newest change when reading began', nothing, read([b], { newest: 1000 }), known(1000, 500, { b: 2000 })],
		['the cursor as it was if all newer changes are gone', cursorAt(1901), read([b], { newest: 1000 }), known(1901, 1401, { b: 2000 })],
		['where to resume if there is more', nothing, read([a, b, c]), known(2000, 2000, { b: 2000 }, hashA), { maximum: 2 }],
		['where watching and reading began if there is more', started, read([a, b], { offset: 7 }), startedAtA, { maximum: 1 }],
		['the same beginning while it is behind', behind(since(100, 'x', 'before', 7)), part([b], { offset: 9 }), stillBehind],
		['no more hashes than the limit', behind({ earlier: 'before' }), part([b]), known(2000, 1500, { b: 2000 }, hashA), { hashes: 1 }],
		['no backlog once all is emitted', backlogOfB, read([c], { offset: 3 }), known(3000, 2500, { c: 3000 })],
		['no progress if it read nothing', z, part([], { newest: 9999, offset: 3 }), known(10, 5, { z: 9 }, since5), { overlapMs: 0 }],
		['the newest change when reading began as the watermark', nothing, read([a, b], { newest: 1000 }), both, { overlapMs: 0 }],
		['no earlier watermark if the overlap is longer', late5000, read([at('y', 5100)]), late5100, { overlapMs: 1000 }],
		['no more records than the limit, with a shorter overlap', zy, a60, shorter, { maxTracked: 2 }],
		['as many records as the limit, with the whole overlap', zy, a60, known(60, -440, { z: 50, y: 40, a: 60 }), { maxTracked: 3 }],
		['no emitted changes once the overlap has passed without anything new', idle, {}, known(4, 5, {})],
		['all emitted changes while more may happen in the same millisecond', { ...idle, cursorReadAt: settled + 1 }, {}, few],
		['all emitted changes while others may become visible', idle5, { newest: 4 }, few5, { overlapMs: LIMITS.settleMs + 1 }],
		['no emitted changes as soon as no others may', idle5, { newest: 4 }, known(5, 6, {}), { overlapMs: LIMITS.settleMs }],
		['all emitted changes if the cursor got there only now', { ...idle, cursor: 3 }, { newest: 4 }, few],
		['all emitted changes if our clock was set back', { ...idle5, cursorReadAt: NOW * 2 }, { newest: 4 }, few5],
		['all emitted changes if there is a new one', idle, read([at('e', 5)]), known(5, 0, { a: 1, b: 2, c: 3, d: 4, e: 5 })],
	])('a poll stores %s', (_, before, found, after, rules = {}) => {
		expect(poll(before, found, rules, rules).state).toEqual(after);
	});

	const recentOf = (...ids: string[]) => ids.map(hash).join('');
	const one = { watermark: { time: 1000, id: '' }, emitted: { a: [1, 1001] } } satisfies ChangeState;
	const knows = { ...one, recent: hash('z') };
	test.each<[what: string, before: ChangeState, newest: number, recent: string | undefined]>([
		['that nothing was, if watching began with an empty table', nothing, 900, ''],
		['which records were emitted in the last 2 s before the watermark', one, 3000, recentOf('a')],
		['no older ones', one, 3001, ''],
		['none if it began too short ago to know all', one, 2999, undefined],
		['those of the poll before as well while it has to', knows, 2999, recentOf('z', 'a')],
		['those of the poll before no longer', knows, 3000, recentOf('a')],
	])('a poll stores %s', (_, before, newest, recent) => {
		expect(poll(before, read([], { newest: newest, cursor: newest } as Partial<ReadResult>), { overlapMs: 0 }).recent).toBe(recent);
	});

	test('a backlog begins with the records that were emitted shortly before', () => {
		const { state } = poll({ ...known(5000, 5000, {}), recent: hash('z') }, part([at('y', 6000)]));
		expect(state.backlog).toEqual({ createdWatermark: { time: 3000, id: '' }, earlier: hash('z') });
	});

	const late = at('z', 70);
	test.each<[what: string, before: ChangeState, read: Partial<ReadResult>, cursor: number | undefined, readAt: number | undefined]>([
		['at the newest change, read now', nothing, a60, 60, NOW + 100],
		['at nothing if there is no change', nothing, {}, undefined, undefined],
		['as it was while more may change at its time', cursorAt(60, settled + 1), {}, 60, settled + 1],
		['as it was once its time is over', cursorAt(60, settled), {}, 60, settled],
		['as it was while not all changes of its time are emitted', cursorAt(60, settled), part([late], { newest: 60 }), 60, settled],
		['as it was if nothing is newer', cursorAt(60, 7), { newest: 59 }, 60, 7],
		['as it was if all records are gone', cursorAt(60, 7), { newest: undefined }, 60, 7],
		['as it was, read now, if that was not stored', cursorAt(60), {}, 60, NOW + 100],
		['at a newer change, read now', cursorAt(60, 7), read([at('a', 61)]), 61, NOW + 100],
		['no later than the newest change when reading began', nothing, read([at('a', 60), late], { newest: 60 }), 60, NOW + 100],
	])('the cursor after a poll is %s', (_, state, found, cursor, cursorReadAt) => {
		const after = poll(state, found);
		expect([after.state.cursor, after.cursorReadAt]).toEqual([cursor, cursorReadAt]);
	});

	test('a poll that reads only what was emitted before emits nothing and keeps the state', () => {
		const before = known(2000, 1500, { b: 2000 });
		const { emitted, state } = poll(before, { records: [a, b] });
		expect([emitted, state]).toEqual([[], before]);
	});

	test('a state has no undefined members', () => {
		expect(poll(nothing, {}).state).toStrictEqual({ emitted: {} });
		const { state } = poll(nothing, { records: [at('a', 1000)], isWhole: false });
		expect(state.backlog).toStrictEqual({ earlier: '' });
	});

	test('a record without a version is stored with its time as the version', () => {
		const record = { ...at('a', 3000, 2000), ver: undefined };
		expect(poll(nothing, { records: [record] }).state.emitted).toEqual({ a: [3000, 3000] });
	});
});

describe('with watched fields', () => {
	const digest = ({ id }: PlatformRecord): Array<[string, string]> => [['stage', id === 'same' ? 'x' : 'y']];
	const before: ChangeState = {
		watermark: { time: 500, id: '' },
		emitted: { same: [1, 1000], other: [1, 1000] },
		digests: { same: 'x', other: 'x', third: 'x' },
	};
	const changed = (id: string) => at(id, 2000, 1000);

	test('an update is emitted only if their values differ from those that were emitted last', () => {
		const records = [changed('other'), changed('same')];
		const { emitted, state } = poll(before, { records }, { digest });
		expect(emitted).toEqual(['updated other']);
		expect(state.emitted).toEqual({ same: [2, 2000], other: [2, 2000] });
	});

	test('it names those that changed since they were emitted last, if their last values are known', () => {
		const two = ({ id }: PlatformRecord): Array<[string, string]> => [
			...digest({ id } as PlatformRecord),
			['price', id === 'third' ? 'z' : 'x'],
		];
		const state = { ...before, digests: { same: 'xw', other: 'yw', third: 'xx' } };
		const more = ['same', 'other', 'third', 'old', 'new'].map((id) => {
			const records = [id === 'new' ? at(id, 2000, 2000, 0) : changed(id)];
			return poll(state, { records }, { digest: two }).more[0];
		});
		const names = [{ changed: ['price'] }, { changed: ['price'] }, { changed: ['stage', 'price'] }];
		expect(more).toEqual([...names, undefined, undefined]);
	});

	test('a record that is made again is emitted, whatever their values are', () => {
		const records = [at('same', 3000, 3000, 1)];
		expect(poll(before, { records }, { digest }).emitted).toEqual(['created same']);
	});

	test('an update of a record whose values are not stored is emitted, whatever they are', () => {
		const state = { ...before, digests: { other: 'y' } };
		const records = [changed('other'), changed('same')];
		expect(poll(state, { records }, { digest }).emitted).toEqual(['updated same']);
	});

	test('the values that were emitted last are stored, for as many records as the limit', () => {
		const { state } = poll(before, { records: [changed('same')] }, { digest });
		expect(Object.entries(state.digests!)).toEqual([
			['other', 'x'],
			['third', 'x'],
			['same', 'x'],
		]);
		const limited = poll(before, { records: [changed('other')] }, { digest }, { maxTracked: 2 });
		expect(limited.state.digests).toEqual({ third: 'x', other: 'y' });
	});

	test('values are stored only while fields are watched', () => {
		expect(poll(before, {}).state).not.toHaveProperty('digests');
		expect(poll(nothing, {}, { digest }).state).toEqual({ emitted: {}, digests: {} });
	});
});
