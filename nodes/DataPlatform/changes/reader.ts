/**
 * Reads what changed in a table since the last poll, in few requests and with bounded memory. Reads
 * from the newest change back to the watermark; if that is too much, on from the watermark.
 *
 *     oldest ── watermark ── cursor − overlap ── newest
 *     emitted ──────▶│◀── read, and compared with what was emitted
 */
import {
	byPosition,
	CREATION_LAG_MS,
	EmittedIndex,
	LIMITS,
	selectChanges,
	startFromTime,
	timeOf,
	versionOf,
	type ChangeKind,
	type ChangeOptions,
	type ChangeState,
	type Limits,
	type ReadResult,
} from './tracker';
import type { PlatformRecord, TableAt } from '../api/types';
import { ServiceError } from '../transport/errors';
import { invalidResponse } from '../api/decoders';
import { pageSizesOf, readPage, type PageSizes, type RecordQuery } from '../api/pages';

const NEWEST_FIRST = 'modified(desc),id(desc)';
const OLDEST_FIRST = 'modified,id';

/** More records than any table has. */
const MAX_OFFSET = 2 ** 31;

/** How many requests in a row may return nothing new while more records are expected. */
const MAX_IN_VAIN = 100;

/** For a service that returns the same records at every offset. */
const notSteady = () => invalidResponse('stable list of changes', 200);

/** Reads the records of one table in the order of their changes. */
export class ChangePages {
	private readonly sizes: PageSizes;

	constructor(
		private readonly table: TableAt,
		private readonly reading: RecordQuery,
		readonly limits: Limits = LIMITS,
	) {
		this.sizes = pageSizesOf(table, reading);
	}

	/**
	 * The last changes, newest first.
	 *
	 * @param since finds out whether all changes from this time on are among them
	 * @param count how many at most; never more than a page
	 */
	async newest(
		since: number,
		count = Infinity,
	): Promise<{ records: PlatformRecord[]; isCovered: boolean; isCut: boolean }> {
		const size = Math.min(count, this.limits.page);
		const records = await this.page(NEWEST_FIRST, 0, size);
		const oldest = records.at(-1);
		const isShort = records.length < size;
		const isCovered =
			!oldest ||
			timeOf(oldest) < since ||
			(isShort && (await this.isLast(oldest, records.length, since)));
		return { records, isCovered, isCut: isShort && !isCovered };
	}

	/** True if no change from a time on follows the last record of a page that may have been cut. */
	private async isLast({ id }: PlatformRecord, count: number, since: number): Promise<boolean> {
		if (this.sizes.isWhole(count, true)) return true;
		// Reads the last record again to see that nothing moved: after the others if pages hold only one.
		const overlap = count > 1 ? 1 : 0;
		const rest = await this.page(NEWEST_FIRST, count - overlap, overlap + 1);
		const next = rest[overlap];
		if (next && timeOf(next) >= since) return false;
		const [again] = overlap > 0 ? rest : await this.page(NEWEST_FIRST, 0, 1);
		return again?.id === id;
	}

	/**
	 * Pages from a time on, oldest first; some records come more than once. Records that change
	 * during the read move to the end, and the others move up. Each page therefore repeats a part of
	 * what was read, and goes further back until the two overlap. Only the order of times matters:
	 * the platform may order equal times as it likes.
	 *
	 * @param guess about how many records changed before that time, if known
	 * @returns the pages; the time up to which all is read; how many records changed before `since`
	 */
	async *from(
		since: number,
		guess?: number,
	): AsyncGenerator<{ page: PlatformRecord[]; reached: number; offset: number }> {
		const read = new ReadUpTo(since);
		/** A record before that time was read, or looked up: nothing since then is skipped. */
		let isVerified = guess === undefined;
		let next = guess ?? (await this.offsetBefore(since));
		let offset = next;
		let furthest = 0;
		/** How many requests in a row returned nothing new. */
		let inVain = 0;
		for (let stepsBack = 0; ; ) {
			const { atLeast } = this.sizes;
			// Repeat less of small pages: a page that only repeats records would make no progress.
			const most = Math.min(Math.ceil(atLeast / 4), Math.floor(atLeast / 2));
			const overlap = Math.min(this.limits.pageOverlap, isVerified ? most : Infinity);
			const distance = stepsBack === 0 ? 0 : atLeast * 2 ** (stepsBack - 1);
			const skip = Math.max(0, next - overlap - distance);
			const page = await this.page(OLDEST_FIRST, skip, this.limits.page);
			const [first] = page;
			if (inVain > MAX_IN_VAIN) throw notSteady();
			if (skip > 0 && overlap > 0 && !(first && read.has(first))) {
				if (isVerified) stepsBack += 1;
				// So many were deleted, or changed again and moved.
				else next = await this.offsetBefore(since);
				isVerified = true;
				inVain += 1;
				continue;
			}
			isVerified = true;
			stepsBack = 0;
			next = skip + page.length;
			// A step back repeats what was read. Only what is beyond it can be new.
			if (!page.every((record) => read.has(record))) inVain = 0;
			else if (next > furthest) inVain += 1;
			furthest = Math.max(furthest, next);
			read.add(page);
			const before = page.filter((record) => timeOf(record) < since).length;
			if (before > 0) offset = skip + before;
			const isLast = page.length < this.limits.page && this.sizes.isWhole(page.length, true);
			yield { page, reached: isLast ? Infinity : read.time, offset };
			if (isLast) return;
		}
	}

	/**
	 * An offset in the order of changes: all records before it changed before a time, and that time
	 * is at most half a page further. Found by bisection, one record per request.
	 */
	async offsetBefore(time: number): Promise<number> {
		if (time === -Infinity) return 0;
		const { page } = this.limits;
		const distance = Math.min(page, this.sizes.atLeast || page) / 2;
		const isBefore = async (index: number) => {
			const [record] = await this.page(OLDEST_FIRST, index, 1);
			return record !== undefined && timeOf(record) < time;
		};
		let low = 0;
		let step = page;
		while (await isBefore(low + step - 1)) {
			low += step;
			step *= 2;
			if (low > MAX_OFFSET) throw notSteady();
		}
		let high = low + step - 1;
		while (high - low > distance) {
			const middle = Math.floor((low + high) / 2);
			if (await isBefore(middle)) low = middle + 1;
			else high = middle;
		}
		return low;
	}

	/** The platform's time at its last response; ours if it does not say. */
	get clock(): number {
		return this.table.client.servedAt ?? Date.now();
	}

	private async page(sort: string, skip: number, limit: number): Promise<PlatformRecord[]> {
		const reading = { ...this.reading, sort };
		const records = await readPage(this.table, reading, { limit, skip });
		if (records.every((record) => timeOf(record) > 0)) return records;
		throw new ServiceError('The response does not say when records changed', {
			delivery: 'rejected',
			hint: 'Changes are found by the time at which each record was modified.',
		});
	}
}

const versionKey = (record: PlatformRecord) => `${versionOf(record)} ${record.id}`;

/** How far reading got, in the order of changes. */
class ReadUpTo {
	/** The versions with the newest time. */
	private versions = new Set<string>();

	/** @param time the newest time so far */
	constructor(public time: number) {}

	has(record: PlatformRecord): boolean {
		return timeOf(record) < this.time || this.versions.has(versionKey(record));
	}

	add(page: PlatformRecord[]) {
		const last = page.at(-1);
		if (last && timeOf(last) > this.time) {
			this.time = timeOf(last);
			this.versions = new Set();
		}
		for (const record of page) {
			if (timeOf(record) === this.time) this.versions.add(versionKey(record));
		}
	}
}

interface BufferedChange {
	record: PlatformRecord;
	isWanted: boolean;
}

/** The share of what a poll may emit for which it reads no further page. */
const ENOUGH_SHARE = 0.97;

/** The oldest changes that were read, as many as one poll may emit and hold. */
class ChangeBuffer {
	private changes = new Map<string, BufferedChange>();
	/** The last record that fits. Records after it are dropped, now and later. */
	private end?: PlatformRecord;
	/** The number of changes at which to drop those that don't fit. */
	private nextTrim = 0;
	/** Records that changed from this time on are not quiet yet, and not emitted. */
	quietUntil = Infinity;
	/** The new ones among them. */
	readonly held = new Set<string>();

	constructor(
		private readonly emittedIndex: EmittedIndex,
		private readonly options: ChangeOptions,
		private readonly maxBuffered: number,
	) {}

	get isCut(): boolean {
		return this.end !== undefined;
	}

	add(page: PlatformRecord[]) {
		for (const record of page) {
			if (this.emittedIndex.isEmitted(record)) continue;
			const isOut = this.isHeld(record) || (this.end && byPosition(record, this.end) > 0);
			if (isOut) this.changes.delete(record.id);
			else this.changes.set(record.id, this.buffered(record));
		}
		if (this.changes.size > this.nextTrim) this.trim();
	}

	private isHeld(record: PlatformRecord): boolean {
		if (timeOf(record) < this.quietUntil) return false;
		if (this.emittedIndex.kindOf(record) === 'created') this.held.add(record.id);
		return true;
	}

	private trim() {
		const changes = [...this.changes].sort(([, a], [, b]) => byPosition(a.record, b.record));
		let wanted = 0;
		const excess = changes.findIndex(([, { isWanted }], index) => {
			if (isWanted) wanted += 1;
			return wanted > this.options.maximum || index >= this.maxBuffered;
		});
		if (excess >= 0) {
			this.end = changes[excess - 1]![1].record;
			this.changes = new Map(changes.slice(0, excess));
		}
		// Not after each page: that would be quadratic.
		this.nextTrim = 2 * this.changes.size;
	}

	/** The changes before a time. */
	before(time: number): PlatformRecord[] {
		const records = Array.from(this.changes.values(), ({ record }) => record);
		return records.filter((record) => timeOf(record) < time);
	}

	/** The changes before a time are as many as one poll may emit, or hold. */
	isEnoughBefore(time: number): boolean {
		let all = 0;
		let wanted = 0;
		for (const change of this.changes.values()) {
			if (timeOf(change.record) >= time) continue;
			all += 1;
			if (change.isWanted) wanted += 1;
		}
		return wanted >= this.options.maximum * ENOUGH_SHARE || all >= this.maxBuffered;
	}

	/** A change without its fields, if nobody will see them. */
	private buffered(record: PlatformRecord): BufferedChange {
		const { kinds, digest } = this.options;
		const isWanted = kinds.has(this.emittedIndex.kindOf(record));
		const isNeeded = digest !== undefined || isWanted;
		return { record: isNeeded ? record : { ...record, fields: {} }, isWanted };
	}
}

/**
 * Reads the changes that are not emitted yet. One small request is enough if there are few. A
 * backlog is read from its oldest change on: as much as may be emitted and as fits into the time.
 *
 * A part always ends between two times. Records of equal time are emitted in our order of IDs,
 * which takes all of them.
 *
 * @param hasTime false when it is time to finish; the next poll reads the rest
 * @throws {ServiceError}
 */
export async function readChanges(
	pages: ChangePages,
	state: ChangeState,
	options: ChangeOptions,
	hasTime: () => boolean,
): Promise<ReadResult> {
	const { limits } = pages;
	const { quietMs = 0 } = options;
	const emittedIndex = new EmittedIndex(state, options, limits);
	const buffer = new ChangeBuffer(emittedIndex, options, limits.maxBuffered);
	const since = state.watermark?.time ?? -Infinity;
	const startedAt = Date.now();
	// In a backlog, the newest change that was found first will do: later ones are newer.
	let newest = quietMs > 0 ? undefined : state.backlog?.newest;
	let offset: number | undefined;
	const result = (time = Infinity, isWhole = !buffer.isCut): ReadResult => {
		const records = buffer.before(time);
		const { held, quietUntil } = buffer;
		return { records, held, quietUntil, isWhole, newest, offset, startedAt, readAt: Date.now() };
	};
	if (newest === undefined) {
		const isCaughtUp = state.watermark !== undefined && state.backlog === undefined;
		const few = isCaughtUp ? Object.keys(state.emitted).length + limits.expected : Infinity;
		let last = await pages.newest(since, few);
		if (!last.isCovered && !last.isCut && few < limits.page) last = await pages.newest(since);
		const [latest] = last.records;
		newest = latest && timeOf(latest);
		if (newest !== undefined && quietMs > 0) {
			buffer.quietUntil = Math.max(pages.clock, newest) - quietMs;
			// All that is quiet changed before that.
			newest = Math.min(newest, buffer.quietUntil - 1);
		}
		if (last.isCovered) {
			buffer.add(last.records);
			return result();
		}
	}
	for await (const { page, reached, ...read } of pages.from(since, state.backlog?.offset)) {
		offset = read.offset;
		buffer.add(page);
		const isEnough = buffer.isEnoughBefore(reached);
		const isLate = !hasTime() && buffer.before(reached).length > 0;
		if (reached < Infinity && (isEnough || isLate)) return result(reached, false);
	}
	return result();
}

/**
 * The state if watching starts now: what is in the table counts as emitted. It is that after a poll
 * that emits nothing of what changed within the overlap.
 *
 * @param latest the newest change in the whole table, ISO 8601; undefined if it is empty
 * @throws {ServiceError}
 */
export async function startFromNow(
	pages: ChangePages,
	latest: string | undefined,
	overlapMs: number,
): Promise<ChangeState> {
	if (latest === undefined) return { emitted: {} };
	const time = Date.parse(latest);
	const before = startFromTime(time - overlapMs - CREATION_LAG_MS);
	const options = { kinds: new Set<ChangeKind>(), overlapMs, maximum: Infinity };
	const read = await readChanges(pages, before, options, () => true);
	// If they are too many for one poll, all up to the newest change count as emitted.
	if (!read.isWhole) return startFromTime(time + 1);
	return selectChanges(before, read, options, pages.limits).state;
}
