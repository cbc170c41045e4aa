/**
 * Reads all records that a query selects, page by page, while the table may change.
 */
import { invalidResponse } from './decoders';
import { MAX_PAGE_SIZE } from './endpoints';
import { and } from './filters';
import { idKey, TextIndex } from './idSet';
import { pageSizesOf, readPage, type PageSizes, type RecordQuery } from './pages';
import type { PlatformRecord, TableAt } from './types';
import { MAX_PARALLEL } from '../transport/concurrency';
import { serviceErrorOrThrow } from '../transport/errors';

/** How many pages to request ahead, at most. */
const MAX_AHEAD = 4;

/** Requests one more page ahead for every so many full pages, so that few requests are wasted. */
const PAGES_PER_AHEAD = 2;

/** How much of a page to repeat at most while records disappear. */
const MAX_OVERLAP = 0.5;

const OVERLAP_GROWTH = 10;

/** Hit when a table changes faster than it can be read, or a service returns pages at random. */
const MAX_STEPS_BACK = 100;

/** This many pages with new records make up for one step back. */
const PAGES_PER_STEP_BACK = 10;

export interface ReadNotes {
	/** The order of the table changed between two pages: records that moved may be missing. */
	hasShifted: boolean;
}

/**
 * Reads records page by page and returns each record once. Each page repeats the last record of the
 * page before, which shows whether anything moved in between:
 *
 * | The repeated record | Meaning | Reaction |
 * |---|---|---|
 * | is in its place | nothing moved | read on |
 * | is another one | the order changed; records that moved back are missed | set `hasShifted` |
 * | and all before it are gone | records disappeared | go back a page, repeat more from now on |
 *
 * It requests the next pages before it returns one, so that they load while the caller works. No
 * request is still running when the reader has ended, for whatever reason. A page shorter than
 * requested is the last one only if something proves it (`PageSizes`); otherwise the reader
 * requests the next one, but not before the caller asks for it.
 *
 * @param limit how many records at most; `Infinity` for all. A promise is their count, requested at
 *   the same time: it ends the reading, and pages up to it are requested at once
 * @param notes collects observations
 * @throws {ServiceError}
 */
export async function* readRecords(
	table: TableAt,
	query: RecordQuery,
	limit: number | Promise<number>,
	notes: ReadNotes = { hasShifted: false },
): AsyncGenerator<PlatformRecord[]> {
	const { offset = 0 } = query;
	const sizes = pageSizesOf(table, query);
	const pages = new PagesAhead(table, query, offset, sizes);
	const isCounted = typeof limit !== 'number';
	// Its failure is thrown when it is awaited.
	const counted = Promise.allSettled([limit]);
	const read = new ReadSoFar(isCounted, isCounted ? Infinity : limit, notes);
	try {
		for (;;) {
			const { skip, size, repeated, page: requested } = pages.take(read.open);
			const page = await requested;
			read.limit = await limit;
			if (!read.isContinuedBy(page, repeated)) {
				await pages.goBackFrom(skip, read.noteStepBack());
				continue;
			}
			const end = skip + page.length;
			const fresh = read.add(page, repeated, pages.hasReached(end));
			const isShort = page.length < size;
			const isLast = isShort && sizes.isWhole(page.length, query.untilEmpty);
			// The whole list came in one page, so nothing can have moved between two.
			if (isLast && skip === offset) notes.hasShifted = false;
			const isOpen = read.open > 0 && !isLast;
			if (isOpen && !isShort) pages.request(read.open, isCounted);
			yield fresh;
			// Another reader may have got a longer page meanwhile.
			if (!isOpen || (isShort && sizes.isWhole(page.length, query.untilEmpty))) return;
			if (isShort) await pages.goOnAt(end);
		}
	} finally {
		await pages.end();
		await counted;
	}
}

/** Those of the records that can be read together: a platform may have no filter by ID. */
export async function readByIds(
	table: TableAt,
	ids: string[],
	fields?: string[],
): Promise<PlatformRecord[]> {
	const keys = new Set(ids.map(idKey));
	const filter = and({ field: 'id', operator: 'in', value: [...new Set(ids)] });
	const records: PlatformRecord[] = [];
	try {
		for await (const page of readRecords(table, { filter, fields }, keys.size)) {
			records.push(...page);
		}
	} catch (error) {
		serviceErrorOrThrow(error);
		return [];
	}
	return records.filter(({ id }) => keys.has(idKey(id)));
}

/** The records that were read, and what the pages show about changes of their order. */
class ReadSoFar {
	/** In an order that the user chose, a record may move to any later page: remember all IDs. */
	private readonly seen = new TextIndex();
	private last?: string;
	private stepsBack = 0;
	private stepsInARow = 0;

	constructor(
		private readonly isCounted: boolean,
		public limit: number,
		private readonly notes: ReadNotes,
	) {}

	/** How many records are still to be read. */
	get open(): number {
		return this.limit - this.seen.size;
	}

	/**
	 * Whether a page that repeats records begins with one that was read. If not, records before it
	 * disappeared.
	 *
	 * @throws {ServiceError} if there were too many steps back
	 */
	isContinuedBy(page: PlatformRecord[], repeated: number): boolean {
		if (this.stepsBack > MAX_STEPS_BACK) throw invalidResponse('stable list of records', 200);
		if (repeated === 0) return true;
		if (page[repeated - 1]?.id !== this.last) this.notes.hasShifted = true;
		return page[0] !== undefined && this.seen.has(idKey(page[0].id));
	}

	/** @returns how many steps back this makes in a row */
	noteStepBack(): number {
		this.stepsBack += 1;
		this.stepsInARow += 1;
		return this.stepsInARow;
	}

	/**
	 * @param isFurthest whether no other page reached as far
	 * @returns the records of the page that were not read before
	 */
	add(page: PlatformRecord[], repeated: number, isFurthest: boolean): PlatformRecord[] {
		this.stepsInARow = 0;
		const mayRead = () => this.isCounted || this.open > 0;
		const fresh = page.filter(({ id }) => mayRead() && this.seen.add(idKey(id)) === undefined);
		this.last = page.at(-1)?.id;
		// All records that were read before have moved, except those that are repeated.
		if (page.length - fresh.length > repeated) this.notes.hasShifted = true;
		// A service that repeats its pages would never end.
		if (isFurthest && fresh.length === 0) this.stepsBack += 1;
		if (fresh.length > 0) this.stepsBack -= Math.min(this.stepsBack, 1 / PAGES_PER_STEP_BACK);
		return fresh;
	}
}

interface RequestedPage {
	skip: number;
	size: number;
	/** How many records at its start were already read, if nothing moved. */
	repeated: number;
	page: Promise<PlatformRecord[]>;
}

/** Requests pages before they are needed: the longer the read, the more pages ahead. */
class PagesAhead {
	private requested: RequestedPage[] = [];
	/** The offset of the first record that is not requested yet. */
	private next: number;
	/** The offset of the end of the page that reached furthest. */
	private reached: number;
	private fullPages = 0;
	/** How many records of the page before each page repeats, if pages are large enough. */
	private overlap = 1;
	private readonly query: RecordQuery;

	constructor(
		private readonly table: TableAt,
		query: RecordQuery,
		private readonly offset: number,
		private readonly sizes: PageSizes,
	) {
		this.next = offset;
		this.reached = offset;
		// In order of creation new records come last, so they don't shift the pages.
		this.query = { ...query, sort: query.sort ? `${query.sort},id` : 'created,id' };
	}

	/** The page to read now. @param open how many records are still to be read */
	take(open: number): RequestedPage {
		if (this.requested.length === 0) this.requestOne(open);
		return this.requested.shift()!;
	}

	/**
	 * Requests the pages after a full one.
	 *
	 * @param open how many records are still to be read
	 * @param isCounted whether there are that many
	 */
	request(open: number, isCounted: boolean) {
		this.fullPages += 1;
		const ahead = Math.min(MAX_AHEAD, Math.ceil(this.fullPages / PAGES_PER_AHEAD));
		const most = isCounted ? MAX_PARALLEL : ahead;
		let left = open - this.requested.reduce((sum, page) => sum + page.size - page.repeated, 0);
		while (this.requested.length < most && left > 0) left -= this.requestOne(left);
	}

	/** Notes the end of a page; returns whether it is the furthest so far. */
	hasReached(end: number): boolean {
		const isFurther = end > this.reached;
		if (isFurther) this.reached = end;
		return isFurther;
	}

	/** Goes on at another offset than the one after the requested pages. */
	async goOnAt(next: number) {
		await this.end();
		this.next = next;
		this.fullPages = 0;
	}

	/**
	 * Records disappeared: reads what came before an offset again, and repeats more from now on.
	 *
	 * @param times how often in a row; each time goes back twice as far
	 */
	async goBackFrom(skip: number, times: number) {
		this.overlap = Math.min(MAX_PAGE_SIZE, this.overlap * OVERLAP_GROWTH);
		const distance = this.sizes.atLeast * 2 ** (times - 1);
		await this.goOnAt(Math.max(this.offset, skip + 1 - distance));
	}

	/** Waits for the running requests and drops their pages. */
	async end() {
		const pages = this.requested.map(({ page }) => page);
		this.requested = [];
		await Promise.allSettled(pages);
	}

	/** @returns how many records the page adds to those before it */
	private requestOne(open: number): number {
		// A page that only repeats records would make no progress.
		const overlap = Math.min(this.overlap, Math.floor(this.sizes.atLeast * MAX_OVERLAP));
		const skip = Math.max(this.offset, this.next - overlap);
		const repeated = this.next - skip;
		// After a step back, what was reached before comes again.
		const size = Math.min(MAX_PAGE_SIZE, open + Math.max(this.next, this.reached) - skip);
		const page = readPage(this.table, this.query, { limit: size, skip });
		// Its failure is thrown when the page is awaited, which may never happen.
		page.catch(() => undefined);
		this.requested.push({ skip, size, repeated, page });
		this.next = skip + size;
		return size - repeated;
	}
}
