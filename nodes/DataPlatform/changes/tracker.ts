/**
 * `changes/` finds out what changed in a table since the last poll. The tracker decides which of the
 * changes to emit, so that none is lost and none is emitted twice. It compares only the platform's
 * own times; it uses no clock and no network. docs/changes.md has the promises to users.
 *
 *     const read = await readChanges(pages, state, options, hasTime); // reader
 *     const { changes, state: next } = selectChanges(state, read, options);
 */
import type { FieldValues, PlatformRecord } from '../api/types';
import { shortHash } from '../api/packing';

export type ChangeKind = 'created' | 'updated';

export interface Change {
	kind: ChangeKind;
	record: PlatformRecord;
	/** What its item has besides the record. */
	more?: FieldValues;
}

/** A position in the order of changes: the time of a change (ms since 1970), then the record's id. */
export interface Position {
	time: number;
	id: string;
}

/** The state stored from one poll to the next: small, and bounded by `Limits`. */
export interface ChangeState {
	/**
	 * All changes before this time are known, except those that become visible late. Never moves
	 * back.
	 */
	cursor?: number;
	/**
	 * When the cursor reached this time, by our own clock. Long after that, no change gets that time
	 * any more.
	 */
	cursorReadAt?: number;
	/** Changes up to here count as emitted. Never moves back. */
	watermark?: Position;
	/** Version and time of each record emitted after the watermark, by record ID. */
	emitted: Record<string, [version: number, time: number]>;
	/**
	 * Short hashes of the IDs emitted in the last `CREATION_LAG_MS` up to the watermark, if all are
	 * known: a record that was created then and is not among them is new.
	 */
	recent?: string;
	/**
	 * Short hashes of the IDs of new records that were not quiet yet. The watermark may have passed
	 * their creation when they are.
	 */
	held?: string;
	/** Set while there is more to emit than one poll emits. */
	backlog?: {
		/** The `createdBefore` of the state in which the backlog began. */
		createdWatermark?: Position;
		/** Short hashes of the IDs emitted since then that are no longer in `emitted`. */
		earlier: string;
		/** About this many records changed before the watermark. */
		offset?: number;
		/** The newest change when it was last looked up, until the cursor gets there. */
		newest?: number;
	};
	/** The digests of the watched fields when last emitted, by record ID; oldest first. */
	digests?: Record<string, string>;
}

export interface ChangeOptions {
	kinds: ReadonlySet<ChangeKind>;
	/** How far back each poll looks for changes that become visible late. */
	overlapMs: number;
	/** How many changes one poll emits at most. */
	maximum: number;
	/** How long a record must not have changed; off if 0. It is a part of `overlapMs`. */
	quietMs?: number;
	/**
	 * Digests of equal length of the fields that must change for a change to count. Without it every
	 * change counts.
	 */
	digest?: (record: PlatformRecord) => Array<[field: string, digest: string]>;
	/** What the other system lacks; undefined if nothing: then the change does not count. */
	missingThere?: (record: PlatformRecord) => FieldValues | undefined;
}

/** Limits of a poll's memory and of what is stored after it. */
export interface Limits {
	/** How many records one request reads. */
	page: number;
	/** How many changes to expect since the last poll: the first request reads no more. */
	expected: number;
	/**
	 * How many records of a page repeat the page before, to show that nothing moved in between. Fewer
	 * if the platform returns small pages.
	 */
	pageOverlap: number;
	/** How many records one poll holds, however many changed. */
	maxBuffered: number;
	/**
	 * How many emitted records to remember. If more changed within the overlap, the overlap gets
	 * shorter.
	 */
	maxTracked: number;
	/** How many more to remember by a hash of their ID while there is a backlog. */
	hashes: number;
	/**
	 * After this time in ms, no further change can get a time that was read. Longer than the
	 * resolution of any platform's clock, which may be a second.
	 */
	settleMs: number;
}

export const LIMITS: Readonly<Limits> = {
	page: 1000,
	expected: 50,
	pageOverlap: 20,
	maxBuffered: 20_000,
	maxTracked: 5000,
	hashes: 50_000,
	settleMs: 10_000,
};

/** The result of one read. */
export interface ReadResult {
	/** The latest version of each record that is not emitted yet, oldest first and without a gap. */
	records: PlatformRecord[];
	/** False if there is more to read. */
	isWhole: boolean;
	/**
	 * The newest change of all when reading began. It is the best estimate of the platform's clock:
	 * later changes have that time or a newer one.
	 */
	newest?: number;
	/** How many records changed before the watermark, if that is known. */
	offset?: number;
	/** What changed from this time on is not quiet yet. */
	quietUntil?: number;
	/** The IDs of new records among that: all of them if the read is whole. */
	held?: Iterable<string>;
	/** When reading began and ended, by our own clock. */
	startedAt: number;
	readAt: number;
}

const instant = (text: string | undefined) => Date.parse(text ?? '') || 0;

/** When the record last changed, in ms since 1970. */
export const timeOf = ({ modified }: PlatformRecord): number => instant(modified);

/** Its version, or the time of its change if the platform sends no version. */
export const versionOf = (record: PlatformRecord): number => record.ver ?? timeOf(record);

export const createdAt = ({ created }: PlatformRecord): number => instant(created);

/** How long after a record's creation the platform may still fill in links and calculated fields. */
const COMPLETION_MS = 5000;

/**
 * How much later than its creation a new record may be modified: the platform's reference shows 1 ms,
 * and a clock may be as coarse as a second.
 */
export const CREATION_LAG_MS = 2000;

/** True for a record in its first version, also if the platform has since completed it. */
export const isNew = (record: PlatformRecord): boolean => {
	const { ver = 1 } = record;
	return ver === 0 || (ver === 1 && timeOf(record) - createdAt(record) <= COMPLETION_MS);
};

const positionOf = (record: PlatformRecord): Position => ({ time: timeOf(record), id: record.id });

function compare(a: Position, b: Position) {
	if (a.time !== b.time || a.id === b.id) return a.time - b.time;
	return a.id < b.id ? -1 : 1;
}

/** Sorts by time of change, then by ID in our own order: the platform may order IDs differently. */
export const byPosition = (a: PlatformRecord, b: PlatformRecord): number =>
	compare(positionOf(a), positionOf(b));

const HASH_LENGTH = 6;
const HASHES = new RegExp(`.{${HASH_LENGTH}}`, 'g');

const hashOf = (id: string) => shortHash(id, HASH_LENGTH);

/** Adds short hashes of IDs; the oldest are dropped if there are too many. */
const addHashes = (hashes: string, ids: string[], max: number): string =>
	[hashes, ...ids.map(hashOf)].join('').slice(-max * HASH_LENGTH);

const hashesIn = (hashes = ''): string[] => hashes.match(HASHES) ?? [];

/** Records created up to here were already emitted, or existed when watching started. */
function createdBefore({ backlog, watermark, recent }: ChangeState): Position | undefined {
	if (backlog) return backlog.createdWatermark;
	if (!watermark || recent === undefined) return watermark;
	return { ...watermark, time: watermark.time - CREATION_LAG_MS };
}

/** How far reading and emitting got. */
interface ReadingEnd {
	/** `idle`: nothing was new; `complete`: everything is emitted; `more`: there is more to emit. */
	end: 'idle' | 'complete' | 'more';
	/** All visible changes up to here are certainly emitted. */
	known?: Position;
}

/** Reads a state: what it says about a record, and the state after more was emitted. */
export class EmittedIndex {
	private readonly emitted: Map<string, readonly [version: number, time: number]>;
	private readonly earlier: Set<string>;
	private readonly held: Set<string>;
	private readonly digests: Map<string, string>;

	constructor(
		private readonly state: ChangeState,
		private readonly options: ChangeOptions,
		private readonly limits: Limits,
	) {
		this.held = new Set(hashesIn(state.held));
		this.emitted = new Map(Object.entries(state.emitted));
		this.earlier = new Set(hashesIn(state.backlog?.earlier ?? state.recent));
		this.digests = new Map(Object.entries(state.digests ?? {}));
	}

	/** This version of the record counts as emitted: its own, or that of a later one. */
	isEmitted(record: PlatformRecord): boolean {
		const { watermark } = this.state;
		if (watermark && compare(positionOf(record), watermark) <= 0) return true;
		const emitted = this.emitted.get(record.id);
		// A record that was deleted and created again under the same ID restarts its versions.
		return emitted !== undefined && versionOf(record) <= emitted[0] && timeOf(record) <= emitted[1];
	}

	/**
	 * The kind of change to emit for a version that is not emitted yet. If only updates are emitted, a
	 * record that was created and changed before it was first read counts as updated, unless it is new.
	 */
	kindOf(record: PlatformRecord): ChangeKind {
		const { id } = record;
		const time = createdAt(record);
		const emitted = this.emitted.get(id);
		if (emitted && time <= emitted[1]) return 'updated';
		if (record.ver === 0) return 'created';
		if (!this.options.kinds.has('created')) return isNew(record) ? 'created' : 'updated';
		if (emitted || (this.held.size > 0 && this.held.has(hashOf(id)))) return 'created';
		const before = createdBefore(this.state);
		if (before && compare({ time, id }, before) <= 0) return 'updated';
		// A record that is no longer tracked was emitted before, as far as short hashes say.
		return this.earlier.size > 0 && this.earlier.has(hashOf(id)) ? 'updated' : 'created';
	}

	/**
	 * Marks a version as emitted.
	 *
	 * @returns the watched fields that changed, as far as their last values are known; undefined if
	 * they make the change not worth emitting
	 */
	markEmitted(record: PlatformRecord, kind: ChangeKind): string[] | undefined {
		const { digest } = this.options;
		this.emitted.set(record.id, [versionOf(record), timeOf(record)]);
		this.held.delete(hashOf(record.id));
		if (!digest) return [];
		const digests = digest(record);
		const now = digests.map(([, each]) => each).join('');
		const last = this.digests.get(record.id);
		// Moves it to the end, because the order is that of emission.
		this.digests.delete(record.id);
		this.digests.set(record.id, now);
		if (kind !== 'created' && last === now) return undefined;
		if (last?.length !== now.length) return [];
		const changed = digests.filter(([, each], at) => !last.startsWith(each, at * each.length));
		return changed.map(([field]) => field);
	}

	/** The cursor after a read. */
	private nextCursor(
		{ newest = -Infinity }: ReadResult,
		{ known }: ReadingEnd,
	): number | undefined {
		// A change that appears during the read may sort before it, at the newest time when reading
		// began.
		const reached = Math.min(newest, known?.time ?? -Infinity);
		const next = Math.max(this.state.cursor ?? -Infinity, reached);
		return next === -Infinity ? undefined : next;
	}

	/** The watermark after a read. @param positions of all emitted versions, in their order */
	private nextWatermark(
		{ newest = -Infinity, startedAt, quietUntil = Infinity }: ReadResult,
		{ end, known }: ReadingEnd,
		{ cursor, positions }: { cursor?: number; positions: Position[] },
	): Position | undefined {
		const { overlapMs } = this.options;
		let { watermark } = this.state;
		if (!known) return watermark;
		const raise = (to: Position) => {
			const position = compare(to, known) > 0 ? known : to;
			if (!watermark || compare(position, watermark) > 0) watermark = position;
		};
		if (cursor !== undefined) {
			// A change older than the overlap can't become visible any more, however large the backlog.
			raise({ time: Math.min(cursor, Math.max(newest, cursor) - overlapMs), id: '' });
		}
		const excess = positions[positions.length - this.limits.maxTracked - 1];
		if (excess) raise(excess);
		// So long after the cursor got there, no change can get its time any more, and none before it can
		// become visible. Only the time in between counts, so our clock need not be right.
		const { cursor: before, cursorReadAt = Infinity } = this.state;
		const isOver = startedAt - cursorReadAt >= Math.max(overlapMs, this.limits.settleMs);
		const isStill = cursor !== undefined && cursor === before && cursor < quietUntil;
		if (end === 'idle' && isOver && isStill) raise({ time: cursor + 1, id: '' });
		return watermark;
	}

	/** The state after a read. */
	nextState(read: ReadResult, reached: ReadingEnd): ChangeState {
		const { state, limits } = this;
		const { readAt } = read;
		const cursor = this.nextCursor(read, reached);
		const positions = [...this.emitted].map(([id, [, time]]) => ({ time, id })).sort(compare);
		const watermark = this.nextWatermark(read, reached, { cursor, positions });
		const isKept = (position: Position) => !watermark || compare(position, watermark) > 0;
		const emitted = positions
			.filter(isKept)
			.map(({ id }) => [id, [...this.emitted.get(id)!]] as const);
		const dropped = positions.filter((position) => !isKept(position));
		if (reached.end !== 'more') this.held.clear();
		for (const id of read.held ?? []) this.held.add(hashOf(id));
		return {
			...(cursor !== undefined && {
				cursor,
				cursorReadAt: cursor === state.cursor ? (state.cursorReadAt ?? readAt) : readAt,
			}),
			...(watermark && { watermark: { ...watermark } }),
			emitted: Object.fromEntries(emitted) as ChangeState['emitted'],
			...this.nextRecent(dropped, watermark),
			...(this.held.size > 0 && { held: [...this.held].slice(-limits.hashes).join('') }),
			...(reached.end === 'more' && { backlog: this.nextBacklog(dropped, read, cursor) }),
			...(this.options.digest && {
				digests: Object.fromEntries([...this.digests].slice(-limits.maxTracked)),
			}),
		};
	}

	/** @param dropped records that the next state no longer tracks */
	private nextRecent(dropped: Position[], next: Position | undefined): Pick<ChangeState, 'recent'> {
		const { watermark, recent } = this.state;
		if (!next) return {};
		const since = next.time - CREATION_LAG_MS;
		const isPassed = (watermark?.time ?? -Infinity) <= since;
		if (!isPassed && recent === undefined) return {};
		const ids = dropped.filter(({ time }) => time > since).map(({ id }) => id);
		return { recent: addHashes(isPassed ? '' : (recent ?? ''), ids, this.limits.hashes) };
	}

	/** @param dropped records that the next state no longer tracks */
	private nextBacklog(
		dropped: Position[],
		{ offset, newest = -Infinity }: ReadResult,
		cursor = -Infinity,
	): ChangeState['backlog'] {
		const { state } = this;
		const { createdWatermark, earlier } = state.backlog ?? {
			createdWatermark: createdBefore(state),
			earlier: state.recent ?? '',
		};
		const ids = dropped.map(({ id }) => id);
		return {
			...(createdWatermark && { createdWatermark: { ...createdWatermark } }),
			earlier: addHashes(earlier, ids, this.limits.hashes),
			...(offset !== undefined && {
				offset: offset + dropped.length,
				...(newest > cursor && { newest }),
			}),
		};
	}
}

/** What a poll emits, and the state after it. */
export interface Selection {
	changes: Change[];
	state: ChangeState;
}

/**
 * Selects the changes to emit from a read, oldest first.
 *
 * A record is *created* if it was created after watching started and no version of it was emitted
 * before. Every other new version is *updated*.
 */
export function selectChanges(
	state: ChangeState,
	read: ReadResult,
	options: ChangeOptions,
	limits: Limits = LIMITS,
): Selection {
	const emittedIndex = new EmittedIndex(state, options, limits);
	const fresh = read.records.filter((record) => !emittedIndex.isEmitted(record)).sort(byPosition);
	const changes: Change[] = [];
	let taken = 0;
	for (const record of fresh) {
		if (changes.length >= options.maximum) break;
		taken += 1;
		const kind = emittedIndex.kindOf(record);
		const changed = emittedIndex.markEmitted(record, kind);
		const missing = options.missingThere ? options.missingThere(record) : {};
		if (!changed || !missing || !options.kinds.has(kind)) continue;
		const more = { ...missing, ...(changed.length > 0 && { changed }) };
		changes.push({ kind, record, ...(Object.keys(more).length > 0 && { more }) });
	}
	const end = endOf(fresh, taken, read.isWhole);
	return { changes, state: emittedIndex.nextState(read, end) };
}

/** @param taken how many of the fresh records are emitted */
function endOf(fresh: PlatformRecord[], taken: number, isWhole: boolean): ReadingEnd {
	const last = fresh[taken - 1];
	if (!isWhole || taken < fresh.length) return { end: 'more', known: last && positionOf(last) };
	return { end: taken === 0 ? 'idle' : 'complete', known: { time: Infinity, id: '' } };
}

/** The state if watching starts at a time, in ms since 1970. Earlier changes count as emitted. */
export const startFromTime = (time: number): ChangeState => ({
	watermark: { time, id: '' },
	emitted: {},
});
