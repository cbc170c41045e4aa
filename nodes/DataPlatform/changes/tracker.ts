/**
 * What to tell of the records of a table that changed: nothing lost, nothing told twice. Only the
 * platform's own times are compared. No clock, no network; reading is in `changePages`. Follows
 * design.md section 5; what users are promised stands in docs/trigger.md.
 */
import { createHash } from 'node:crypto';

import type { PlatformRecord } from '../api/types';

export type ChangeKind = 'created' | 'updated';

export interface Change {
	kind: ChangeKind;
	record: PlatformRecord;
}

/** A place in the order of changes: the time of a change (ms since 1970), then the record's id. */
export interface Position {
	time: number;
	id: string;
}

/** What is kept from one look to the next: small, and bounded by `Limits`. */
export interface ChangeState {
	/** The time of the newest change that was told, or that was there when watching began. */
	cursor?: number;
	/** What changed up to here counts as told; never moves back. */
	watermark?: Position;
	/** Version and time of what was told behind the floor, by record id. */
	emitted: Record<string, [version: number, time: number]>;
	/** While there is more to tell than one look tells. */
	backlog?: {
		/** Records created up to here were told before, or were there when watching began. */
		createdWatermark?: Position;
		/** Short hashes of the ids that were told since and are no longer in `told`. */
		earlier: string;
		/** Where reading began: about so many records changed before the floor. */
		offset?: number;
	};
	/** A digest of the watched fields as they were told, by record id; the oldest first. */
	digests?: Record<string, string>;
}

export interface ChangeOptions {
	kinds: ReadonlySet<ChangeKind>;
	/** How far back each look goes, for changes that became visible late. */
	overlapMs: number;
	/** How many changes one look tells at most. */
	maximum: number;
	/** A digest of the fields that must have changed; without it every change counts. */
	digest?: (record: PlatformRecord) => string;
}

/** What bounds a look's memory and what is kept after it. */
export interface Limits {
	/** How many records one request reads. */
	page: number;
	/** How many of them repeat the page before, to see that nothing slipped between the two. */
	pageOverlap: number;
	/** How many records one look holds, however many changed. */
	maxBuffered: number;
	/** How many records are remembered as told; more in one overlap, and the overlap gets shorter. */
	maxTracked: number;
	/** How many more are remembered by their ids' hashes while there is a backlog. */
	hashes: number;
}

export const LIMITS: Readonly<Limits> = {
	page: 1000,
	pageOverlap: 20,
	maxBuffered: 20_000,
	maxTracked: 5000,
	hashes: 50_000,
};

/** What was read in one look. */
export interface ReadResult {
	/** The state that it was read for. */
	from: ChangeState;
	/** The latest version of each record that is not told yet; without a gap from the oldest on. */
	records: PlatformRecord[];
	/** Whether that is everything. */
	isWhole: boolean;
	/** When the newest change of all was, which is as near to the platform's clock as can be. */
	newest?: number;
	/** Where reading began, by the order of changes. */
	offset?: number;
}

const instant = (text: string | undefined) => Date.parse(text ?? '') || 0;

/** When the record changed last, ms since 1970. */
export const timeOf = ({ modified }: PlatformRecord): number => instant(modified);

/** Its version; where the platform tells none, the time of its change. */
export const versionOf = (record: PlatformRecord): number => record.ver ?? timeOf(record);

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

/** Reads a state: what it says about a record, and the state after more was told. */
export class EmittedIndex {
	/** Changes before this time are not looked at again. */
	readonly since: number;
	private readonly emitted: Map<string, readonly [version: number, time: number]>;
	private readonly earlier: Set<string>;
	private readonly digests: Map<string, string>;
	private cursor?: number;

	constructor(private readonly state: ChangeState) {
		this.since = state.watermark?.time ?? -Infinity;
		this.emitted = new Map(Object.entries(state.emitted));
		this.earlier = new Set(hashesIn(state.backlog?.earlier ?? ''));
		this.digests = new Map(Object.entries(state.digests ?? {}));
		this.cursor = state.cursor;
	}

	/** Whether this version of the record counts as told. */
	isEmitted(record: PlatformRecord): boolean {
		const { watermark } = this.state;
		if (watermark && compare(positionOf(record), watermark) <= 0) return true;
		const emitted = this.emitted.get(record.id);
		// A record that was deleted and made again under its id begins anew with its versions.
		return emitted !== undefined && versionOf(record) <= emitted[0] && timeOf(record) <= emitted[1];
	}

	/** What a version that is not told yet is told as. */
	kindOf(record: PlatformRecord): ChangeKind {
		const { id } = record;
		const time = instant(record.created);
		const emitted = this.emitted.get(id);
		if (emitted) return time > emitted[1] ? 'created' : 'updated';
		// Its first version, which nobody was told yet.
		if (time === timeOf(record)) return 'created';
		const { backlog, watermark } = this.state;
		const createdWatermark = backlog ? backlog.createdWatermark : watermark;
		if (createdWatermark && compare({ time, id }, createdWatermark) <= 0) return 'updated';
		return this.earlier.size > 0 && this.earlier.has(hashOf(id)) ? 'updated' : 'created';
	}

	/** Remembers a version as told; whether it is worth telling, by the watched fields. */
	markEmitted(record: PlatformRecord, kind: ChangeKind, digest: ChangeOptions['digest']): boolean {
		this.emitted.set(record.id, [versionOf(record), timeOf(record)]);
		this.cursor = Math.max(this.cursor ?? -Infinity, timeOf(record));
		if (!digest) return true;
		const now = digest(record);
		const last = this.digests.get(record.id);
		// To the end: the order is that of telling.
		this.digests.delete(record.id);
		this.digests.set(record.id, now);
		return kind === 'created' || last !== now;
	}

	/**
	 * The state after telling what a look found.
	 *
	 * @param end `quiet`: there was nothing to tell; `settled`: everything is told; `unclear`: another
	 *   look was faster; `more`: not everything is told
	 * @param known up to where all that can be seen is told for certain
	 */
	nextState(
		{ newest, offset }: ReadResult,
		{ end, known }: { end: 'quiet' | 'settled' | 'unclear' | 'more'; known?: Position },
		{ overlapMs, digest }: ChangeOptions,
		limits: Limits,
	): ChangeState {
		const { state, cursor } = this;
		let watermark = state.watermark;
		const raise = (to: Position) => {
			const position = known && compare(to, known) > 0 ? known : to;
			if (known && (!watermark || compare(position, watermark) > 0)) watermark = position;
		};
		if (cursor !== undefined) {
			// What is older than the overlap can't become visible any more, however far behind we are.
			const late = Math.max(cursor, newest ?? -Infinity) - overlapMs;
			raise({ time: Math.min(cursor, late), id: '' });
		}
		const positions = [...this.emitted].map(([id, [, time]]) => ({ time, id })).sort(compare);
		const excess = positions[positions.length - limits.maxTracked - 1];
		if (excess) raise(excess);
		// After a burst the overlap would not fit into one page, and each poll would read several.
		const most = Math.floor(limits.page / 2);
		const last = positions[positions.length - most - 1];
		if (end === 'quiet' && last) raise({ time: last.time + 1, id: '' });

		const isKept = (position: Position) => !watermark || compare(position, watermark) > 0;
		const dropped = positions.filter((position) => !isKept(position));
		const emitted = positions
			.filter(isKept)
			.map(({ id }) => [id, [...this.emitted.get(id)!]] as const);
		const isSettled = end === 'quiet' || end === 'settled';
		const begun = end === 'more' ? { createdWatermark: state.watermark, earlier: '' } : undefined;
		const backlog = isSettled ? undefined : (state.backlog ?? begun);
		const earlier = backlog && [backlog.earlier, ...dropped.map(({ id }) => hashOf(id))].join('');
		return {
			...(cursor !== undefined && { cursor }),
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

/**
 * Decides what to tell of a look, oldest first, and the state after it.
 *
 * A record is *created* when it was created after watching began and no version of it was told
 * before; every other new version is *updated*.
 *
 * @param now the state as it is now; another look may have moved it since this one was read
 */
export function selectChanges(
	now: ChangeState,
	readResult: ReadResult,
	options: ChangeOptions,
	limits: Limits = LIMITS,
): { changes: Change[]; state: ChangeState } {
	const emittedIndex = new EmittedIndex(now);
	const fresh = readResult.records
		.filter((record) => !emittedIndex.isEmitted(record))
		.sort(byPosition);
	const changes: Change[] = [];
	let taken = 0;
	for (const record of fresh) {
		if (changes.length >= options.maximum) break;
		taken += 1;
		const kind = emittedIndex.kindOf(record);
		const isWorth = emittedIndex.markEmitted(record, kind, options.digest);
		if (isWorth && options.kinds.has(kind)) changes.push({ kind, record });
	}
	const end = endOf(now, readResult, fresh, taken);
	return { changes, state: emittedIndex.nextState(readResult, end, options, limits) };
}

/** What a look leaves to be told. */
function endOf(now: ChangeState, readResult: ReadResult, fresh: PlatformRecord[], taken: number) {
	const isAll = readResult.isWhole && taken === fresh.length;
	// A look that was overtaken knows what it told, and not what there is besides.
	if (readResult.from !== now) return { end: isAll ? ('unclear' as const) : ('more' as const) };
	if (isAll) {
		const known = { time: Infinity, id: '' };
		return { end: taken === 0 ? ('quiet' as const) : ('settled' as const), known };
	}
	const last = fresh[taken - 1];
	return { end: 'more' as const, known: last && positionOf(last) };
}
