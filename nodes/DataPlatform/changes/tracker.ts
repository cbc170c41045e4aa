/**
 * Which changes of a table's records to emit: none lost, none emitted twice. Only the platform's own
 * times are compared. No clock, no network; reading is in `reader`. What users are promised stands
 * in docs/trigger.md.
 */
import { createHash } from 'node:crypto';

import type { PlatformRecord } from '../api/types';

export type ChangeKind = 'created' | 'updated';

export interface Change {
	kind: ChangeKind;
	record: PlatformRecord;
}

/** A position in the order of changes: the time of a change (ms since 1970), then the record's id. */
export interface Position {
	time: number;
	id: string;
}

/** What is stored from one poll to the next: small, and bounded by `Limits`. */
export interface ChangeState {
	/** Every change before this time is known, unless it becomes visible late; never moves back. */
	cursor?: number;
	/** When the cursor got here, by our own clock: much later, nothing changes at that time any more. */
	cursorReadAt?: number;
	/** Changes up to here count as emitted; never moves back. */
	watermark?: Position;
	/** Version and time of what was emitted after the watermark, by record id. */
	emitted: Record<string, [version: number, time: number]>;
	/** While there is more to emit than one poll emits. */
	backlog?: {
		/** Records created up to here were emitted before, or were there when watching began. */
		createdWatermark?: Position;
		/** Short hashes of the ids that were emitted since and are no longer in `emitted`. */
		earlier: string;
		/** Where reading began: about so many records changed before the watermark. */
		offset?: number;
	};
	/** A digest of the watched fields as they were emitted, by record id; the oldest first. */
	digests?: Record<string, string>;
}

export interface ChangeOptions {
	kinds: ReadonlySet<ChangeKind>;
	/** How far back each poll looks, for changes that become visible late. */
	overlapMs: number;
	/** How many changes one poll emits at most. */
	maximum: number;
	/** A digest of the fields that must have changed; without it every change counts. */
	digest?: (record: PlatformRecord) => string;
}

/** What bounds a poll's memory and what is stored after it. */
export interface Limits {
	/** How many records one request reads. */
	page: number;
	/** How many changes are expected since the last poll: a first request reads no more of them. */
	expected: number;
	/**
	 * How many of them repeat the page before, which shows that nothing slipped between; fewer if the
	 * platform gives small pages.
	 */
	pageOverlap: number;
	/** How many records one poll holds, however many changed. */
	maxBuffered: number;
	/** How many emitted records are remembered; with more in one overlap, the overlap gets shorter. */
	maxTracked: number;
	/** How many more are remembered by their ids' hashes while there is a backlog. */
	hashes: number;
	/**
	 * After so long, nothing changes any more at a time that was read, in ms: longer than any moment that
	 * a platform's clock distinguishes, which may be a second.
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

/** What was read in one go. */
export interface ReadResult {
	/** The latest version of each record that is not emitted yet; without a gap from the oldest on. */
	records: PlatformRecord[];
	/** Whether that is everything. */
	isWhole: boolean;
	/**
	 * When the newest change of all was as reading began, which is as near to the platform's clock as can
	 * be: what changes from then on has that time or a later one.
	 */
	newest?: number;
	/** Where reading began, by the order of changes. */
	offset?: number;
	/** When reading began and ended, by our own clock. */
	startedAt: number;
	readAt: number;
}

const instant = (text: string | undefined) => Date.parse(text ?? '') || 0;

/** When the record changed last, ms since 1970. */
export const timeOf = ({ modified }: PlatformRecord): number => instant(modified);

/** Its version; the time of its change if the platform sends none. */
export const versionOf = (record: PlatformRecord): number => record.ver ?? timeOf(record);

const createdAt = ({ created }: PlatformRecord): number => instant(created);

/** Whether the record has not been changed since it was created. */
export const isFirstVersion = (record: PlatformRecord): boolean =>
	createdAt(record) === timeOf(record);

const positionOf = (record: PlatformRecord): Position => ({ time: timeOf(record), id: record.id });

const compare = (a: Position, b: Position) =>
	a.time - b.time || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** In the order of their changes. Ties are ours to order: the platform may order ids otherwise. */
export const byPosition = (a: PlatformRecord, b: PlatformRecord): number =>
	compare(positionOf(a), positionOf(b));

const HASH_LENGTH = 6;

const hashOf = (id: string) =>
	createHash('sha256').update(id).digest('base64url').slice(0, HASH_LENGTH);

function* hashesIn(text: string) {
	for (let at = 0; at < text.length; at += HASH_LENGTH) yield text.slice(at, at + HASH_LENGTH);
}

/**
 * Whether no change can get the time of the cursor any more. Only how long ago the cursor got there
 * counts: our clock may be any hour.
 */
const hasSettled = (
	{ cursorReadAt }: ChangeState,
	now: number,
	{ settleMs }: Pick<Limits, 'settleMs'>,
): boolean => cursorReadAt !== undefined && Math.abs(now - cursorReadAt) >= settleMs;

/** How far what was read and emitted goes. */
interface ReadingEnd {
	/** `idle`: there was nothing new; `complete`: everything is emitted; `more`: not all is. */
	end: 'idle' | 'complete' | 'more';
	/** Up to where everything that can be seen is emitted for certain. */
	known?: Position;
}

/** Reads a state: what it says about a record, and the state after more is emitted. */
export class EmittedIndex {
	/** Changes before this time are not read again. */
	readonly since: number;
	private readonly emitted: Map<string, readonly [version: number, time: number]>;
	private readonly earlier: Set<string>;
	private readonly digests: Map<string, string>;

	constructor(private readonly state: ChangeState) {
		this.since = state.watermark?.time ?? -Infinity;
		this.emitted = new Map(Object.entries(state.emitted));
		this.earlier = new Set(hashesIn(state.backlog?.earlier ?? ''));
		this.digests = new Map(Object.entries(state.digests ?? {}));
	}

	/** How many records are known to be emitted after the watermark. */
	get trackedCount(): number {
		return this.emitted.size;
	}

	/** Whether this version of the record counts as emitted. */
	isEmitted(record: PlatformRecord): boolean {
		const { watermark } = this.state;
		if (watermark && compare(positionOf(record), watermark) <= 0) return true;
		const emitted = this.emitted.get(record.id);
		// A record that was deleted and made again under its id begins anew with its versions.
		return emitted !== undefined && versionOf(record) <= emitted[0] && timeOf(record) <= emitted[1];
	}

	/**
	 * What a version that is not emitted yet is emitted as.
	 *
	 * @param kinds what is emitted at all: where that is updates only, a record that was created and
	 *   changed before it was read first is an update, whether or not an earlier poll saw it created
	 */
	kindOf(record: PlatformRecord, kinds: ReadonlySet<ChangeKind>): ChangeKind {
		const { id } = record;
		const time = createdAt(record);
		const emitted = this.emitted.get(id);
		if (emitted && time <= emitted[1]) return 'updated';
		if (isFirstVersion(record)) return 'created';
		if (!kinds.has('created')) return 'updated';
		if (emitted) return 'created';
		const { backlog, watermark } = this.state;
		const createdWatermark = backlog ? backlog.createdWatermark : watermark;
		if (createdWatermark && compare({ time, id }, createdWatermark) <= 0) return 'updated';
		return this.earlier.size > 0 && this.earlier.has(hashOf(id)) ? 'updated' : 'created';
	}

	/** Marks a version as emitted; whether it is worth emitting, by the watched fields. */
	markEmitted(record: PlatformRecord, kind: ChangeKind, digest: ChangeOptions['digest']): boolean {
		this.emitted.set(record.id, [versionOf(record), timeOf(record)]);
		if (!digest) return true;
		const now = digest(record);
		const last = this.digests.get(record.id);
		// To the end: the order is that of emission.
		this.digests.delete(record.id);
		this.digests.set(record.id, now);
		return kind === 'created' || last !== now;
	}

	/** The cursor after the changes that were read. */
	private nextCursor(
		{ newest = -Infinity, startedAt }: ReadResult,
		{ end, known }: ReadingEnd,
		limits: Limits,
	): number | undefined {
		const { cursor = -Infinity } = this.state;
		// What appears while pages are read may stand before them, at the newest time as reading began.
		const reached = Math.min(newest, known?.time ?? -Infinity);
		const isOver = end !== 'more' && hasSettled(this.state, startedAt, limits);
		const next = reached === cursor && isOver ? cursor + 1 : Math.max(cursor, reached);
		return next === -Infinity ? undefined : next;
	}

	/** The state after the changes that were read. */
	nextState(
		read: ReadResult,
		{ end, known }: ReadingEnd,
		{ overlapMs, digest }: ChangeOptions,
		limits: Limits,
	): ChangeState {
		const { state } = this;
		const { newest, offset, readAt } = read;
		const cursor = this.nextCursor(read, { end, known }, limits);
		let watermark = state.watermark;
		const raise = (to: Position) => {
			const position = known && compare(to, known) > 0 ? known : to;
			if (known && (!watermark || compare(position, watermark) > 0)) watermark = position;
		};
		if (cursor !== undefined) {
			// Once a time is over the cursor is one past it.
			const latest = Math.max(newest ?? -Infinity, cursor - 1);
			// What is older than the overlap can't become visible any more, however far behind we are.
			raise({ time: Math.min(cursor, latest - overlapMs), id: '' });
		}
		const positions = [...this.emitted].map(([id, [, time]]) => ({ time, id })).sort(compare);
		const excess = positions[positions.length - limits.maxTracked - 1];
		if (excess) raise(excess);
		// After a burst the overlap would not fit into one page, and each poll would read several.
		const most = Math.floor(limits.page / 2);
		const last = positions[positions.length - most - 1];
		const isOver = end === 'idle' && cursor !== undefined && (newest ?? -Infinity) < cursor;
		if (isOver && last) raise({ time: Math.min(last.time + 1, cursor), id: '' });

		const isKept = (position: Position) => !watermark || compare(position, watermark) > 0;
		const dropped = positions.filter((position) => !isKept(position));
		const emitted = positions
			.filter(isKept)
			.map(({ id }) => [id, [...this.emitted.get(id)!]] as const);
		const begun = { createdWatermark: state.watermark, earlier: '' };
		const backlog = end === 'more' ? (state.backlog ?? begun) : undefined;
		const earlier = backlog && [backlog.earlier, ...dropped.map(({ id }) => hashOf(id))].join('');
		return {
			...(cursor !== undefined && {
				cursor,
				cursorReadAt: cursor === state.cursor ? (state.cursorReadAt ?? readAt) : readAt,
			}),
			...(watermark && { watermark: { ...watermark } }),
			emitted: Object.fromEntries(emitted) as ChangeState['emitted'],
			...(backlog && {
				backlog: {
					...(backlog.createdWatermark && { createdWatermark: { ...backlog.createdWatermark } }),
					earlier: earlier!.slice(-limits.hashes * HASH_LENGTH),
					...(offset !== undefined && { offset }),
				},
			}),
			...(digest && {
				digests: Object.fromEntries([...this.digests].slice(-limits.maxTracked)),
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
 * Selects the changes to emit from what was read, oldest first.
 *
 * A record is *created* if it was created after watching began and no version of it was emitted
 * before; every other new version is *updated*.
 */
export function selectChanges(
	state: ChangeState,
	read: ReadResult,
	options: ChangeOptions,
	limits: Limits = LIMITS,
): Selection {
	const emittedIndex = new EmittedIndex(state);
	const fresh = read.records.filter((record) => !emittedIndex.isEmitted(record)).sort(byPosition);
	const changes: Change[] = [];
	let taken = 0;
	for (const record of fresh) {
		if (changes.length >= options.maximum) break;
		taken += 1;
		const kind = emittedIndex.kindOf(record, options.kinds);
		const isWorth = emittedIndex.markEmitted(record, kind, options.digest);
		if (isWorth && options.kinds.has(kind)) changes.push({ kind, record });
	}
	const last = fresh[taken - 1];
	const end: ReadingEnd =
		read.isWhole && taken === fresh.length
			? { end: taken === 0 ? 'idle' : 'complete', known: { time: Infinity, id: '' } }
			: { end: 'more', known: last && positionOf(last) };
	return { changes, state: emittedIndex.nextState(read, end, options, limits) };
}
