/**
 * Reads what changed in a table since the last poll, in as few requests as it takes and with bounded
 * memory. What of it is emitted is decided in `tracker`.
 */
import {
	byPosition,
	EmittedIndex,
	LIMITS,
	timeOf,
	versionOf,
	type ChangeOptions,
	type ChangeState,
	type Limits,
	type ReadResult,
} from './tracker';
import type { PlatformRecord, TableAddress } from '../api/types';
import { ServiceError } from '../transport/errors';
import { isLastPage, readPage, type RecordQuery } from '../api/records';
import type { ApiClient } from '../transport/client';

const NEWEST_FIRST = 'modified(desc),id(desc)';
const OLDEST_FIRST = 'modified,id';

/** Reads the order of changes of one table. */
export class ChangePages {
	constructor(
		private readonly client: ApiClient,
		private readonly at: TableAddress,
		private readonly reading: RecordQuery,
		private readonly limits: Limits = LIMITS,
	) {}

	/**
	 * The last changes, the newest first.
	 *
	 * @param since whether all that changed from this time on is among them is found out
	 * @param count how many at most; never more than a page
	 * @param isKnown whether a record is read again: a short page of nothing else has nothing new, and
	 *   what a service may have cut from it is older and still read once there is something new
	 */
	async newest(
		since: number,
		count = Infinity,
		isKnown: (record: PlatformRecord) => boolean = () => false,
	): Promise<{ records: PlatformRecord[]; isCovered: boolean }> {
		const size = Math.min(count, this.limits.page);
		const records = await this.page(NEWEST_FIRST, 0, size);
		const oldest = records.at(-1);
		const isCovered =
			!oldest ||
			timeOf(oldest) < since ||
			isLastPage(records, size) ||
			(records.length < size &&
				(records.every(isKnown) || (await this.isLast(oldest, records.length, since))));
		return { records, isCovered };
	}

	/** Whether nothing from a time on comes after a record: the service may have cut the page. */
	private async isLast({ id }: PlatformRecord, count: number, since: number): Promise<boolean> {
		const [same, next] = await this.page(NEWEST_FIRST, count - 1, 2);
		return same?.id === id && (!next || timeOf(next) < since);
	}

	/**
	 * Pages from a time on, oldest first, some records more than once. Records that change while pages
	 * are read move to the end and the others move up: each page therefore repeats a part of what was
	 * read, and goes further back until the two meet. Only the order of times is relied on: among
	 * equal times the platform may order as it likes.
	 *
	 * @param offset how many records changed before that time, or fewer
	 */
	async *from(
		since: number,
		offset: number,
	): AsyncGenerator<{ page: PlatformRecord[]; reached: number }> {
		let next = offset;
		/** The newest time that was read, and the versions read at it. */
		let reached = since;
		let atReached = new Set<string>();
		for (let overlap = this.limits.pageOverlap; ; ) {
			const skip = Math.max(0, next - overlap);
			const page = await this.page(OLDEST_FIRST, skip, this.limits.page);
			const first = page[0];
			const meets = first && (timeOf(first) < reached || atReached.has(versionKey(first)));
			if (skip > 0 && !meets) {
				overlap += this.limits.page;
				continue;
			}
			overlap = this.limits.pageOverlap;
			const last = page.at(-1);
			if (last && timeOf(last) > reached) {
				reached = timeOf(last);
				atReached = new Set();
			}
			for (const record of page) {
				if (timeOf(record) === reached) atReached.add(versionKey(record));
			}
			// One that is only shorter than asked for may have been cut: behind it, there is then more.
			const isLast = isLastPage(page, this.limits.page);
			yield { page, reached: isLast ? Infinity : reached };
			if (isLast) return;
			next = skip + page.length;
		}
	}

	/**
	 * An offset in the order of changes: every record before it changed before a time, and that time is
	 * at most half a page further. Found by halving, one record a request.
	 *
	 * @param guess the offset that was found last
	 */
	async offsetBefore(time: number, guess = 0): Promise<number> {
		if (time === -Infinity) return 0;
		const { page } = this.limits;
		const isBefore = async (index: number) => {
			const [record] = await this.page(OLDEST_FIRST, index, 1);
			return record !== undefined && timeOf(record) < time;
		};
		let low = guess > 0 && (await isBefore(guess - 1)) ? guess : 0;
		let step = page;
		while (await isBefore(low + step - 1)) {
			low += step;
			step *= 2;
		}
		let high = low + step - 1;
		while (high - low > page / 2) {
			const middle = Math.floor((low + high) / 2);
			if (await isBefore(middle)) low = middle + 1;
			else high = middle;
		}
		return low;
	}

	private async page(sort: string, skip: number, limit: number): Promise<PlatformRecord[]> {
		const reading = { ...this.reading, sort };
		const records = await readPage(this.client, this.at, reading, { limit, skip });
		if (records.every((record) => timeOf(record) > 0)) return records;
		throw new ServiceError('The response does not say when records changed', {
			delivery: 'rejected',
			hint: 'Changes are found by the time at which each record was modified.',
		});
	}
}

const versionKey = (record: PlatformRecord) => `${versionOf(record)} ${record.id}`;

/** The oldest changes that were read, as many as one poll may emit and hold. */
class ChangeBuffer {
	private records = new Map<string, PlatformRecord>();
	/** The last record that there was room for; what comes after it is left out, now and later. */
	private end?: PlatformRecord;

	constructor(
		private readonly emittedIndex: EmittedIndex,
		private readonly options: Pick<ChangeOptions, 'kinds' | 'maximum' | 'digest'>,
		private readonly maxBuffered: number,
	) {}

	/** Whether something was left out. */
	get isCut(): boolean {
		return this.end !== undefined;
	}

	add(page: PlatformRecord[]) {
		for (const record of page) {
			if (this.emittedIndex.isEmitted(record)) continue;
			const isOut = this.end && byPosition(record, this.end) > 0;
			if (isOut) this.records.delete(record.id);
			else this.records.set(record.id, this.dropFields(record));
		}
		const records = [...this.records.values()].sort(byPosition);
		let wanted = 0;
		const excess = records.findIndex((record, index) => {
			if (this.isWanted(record)) wanted += 1;
			return wanted > this.options.maximum || index >= this.maxBuffered;
		});
		if (excess < 0) return;
		this.end = records[excess - 1];
		this.records = new Map(records.slice(0, excess).map((record) => [record.id, record]));
	}

	/** What changed before a time. */
	before(time: number): PlatformRecord[] {
		return [...this.records.values()].filter((record) => timeOf(record) < time);
	}

	/** Whether as much as one poll may emit changed before a time. */
	isEnoughBefore(time: number): boolean {
		const records = this.before(time);
		const wanted = records.filter((record) => this.isWanted(record));
		return wanted.length >= this.options.maximum || records.length >= this.maxBuffered;
	}

	private isWanted(record: PlatformRecord): boolean {
		const { kinds } = this.options;
		return kinds.has(this.emittedIndex.kindOf(record, kinds));
	}

	/** Without its fields, if nobody will see them. */
	private dropFields(record: PlatformRecord): PlatformRecord {
		const isNeeded = this.options.digest !== undefined || this.isWanted(record);
		return isNeeded ? record : { ...record, fields: {} };
	}
}

/**
 * Reads what changed and is not emitted yet. One small request if there is little; a backlog is read
 * from its oldest change on, as much of it as may be emitted and as fits into the time.
 *
 * A part always ends between two times: records of equal time are emitted in our order of ids, so
 * all of them must be known.
 *
 * @param hasTime false when it is time to come to an end; the rest is read by the next poll
 * @throws {ServiceError}
 */
export async function readChanges(
	pages: ChangePages,
	state: ChangeState,
	options: Pick<ChangeOptions, 'kinds' | 'maximum' | 'digest'>,
	hasTime: () => boolean,
	limits: Limits = LIMITS,
): Promise<ReadResult> {
	const emittedIndex = new EmittedIndex(state);
	const { since, trackedCount } = emittedIndex;
	const isCaughtUp = state.watermark !== undefined && state.backlog === undefined;
	const few = isCaughtUp ? trackedCount + limits.expected : Infinity;
	let last = await pages.newest(since, few, (record) => emittedIndex.isEmitted(record));
	if (!last.isCovered && few < limits.page) last = await pages.newest(since);
	const [latest] = last.records;
	const newest = latest && timeOf(latest);
	if (last.isCovered) {
		const fresh = last.records.filter((record) => !emittedIndex.isEmitted(record));
		return { records: fresh, isWhole: true, newest };
	}
	const offset = await pages.offsetBefore(since, state.backlog?.offset);
	const buffer = new ChangeBuffer(emittedIndex, options, limits.maxBuffered);
	const part = (time: number, isWhole: boolean): ReadResult => {
		return { records: buffer.before(time), isWhole, newest, offset };
	};
	for await (const { page, reached } of pages.from(since, offset)) {
		buffer.add(page);
		const isEnough = buffer.isEnoughBefore(reached);
		const isLate = !hasTime() && buffer.before(reached).length > 0;
		if (reached < Infinity && (isEnough || isLate)) return part(reached, false);
	}
	return part(Infinity, !buffer.isCut);
}

/**
 * The state of watching that begins now: what is in the table counts as emitted.
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
	const begins = Date.parse(latest);
	const { records: newest, isCovered } = await pages.newest(begins - overlapMs);
	const cursor = Math.max(begins, ...newest.map(timeOf));
	const oldest = newest.at(-1);
	// Not all records with the oldest time of a full page are known: they count as emitted.
	const time = isCovered || !oldest ? cursor - overlapMs : timeOf(oldest) + 1;
	const emitted = newest
		.filter((record) => timeOf(record) >= time)
		.map((record) => [record.id, [versionOf(record), timeOf(record)]]);
	return {
		cursor,
		watermark: { time, id: '' },
		emitted: Object.fromEntries(emitted) as ChangeState['emitted'],
	};
}

/** The state of watching that begins at a time, ms since 1970; earlier changes count as emitted. */
export const startFromTime = (time: number): ChangeState => ({
	watermark: { time, id: '' },
	emitted: {},
});
