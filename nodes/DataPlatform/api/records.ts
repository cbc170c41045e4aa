/**
 * Reading and writing single records, and reading many.
 */
import type { IDataObject } from 'n8n-workflow';

import { invalidResponse, toList, toMetadata, toRecord, toWholeRecord } from './decoders';
import { MAX_PAGE_SIZE, paths } from './endpoints';
import { IdSet } from './idSet';
import { pageSizes, type PageSizes } from './pageSizes';
import type { FieldValues, PlatformRecord, RecordMetadata, TableAddress } from './types';
import {
	serviceErrorOrThrow,
	InputError,
	isNotFound,
	ServiceError,
	type Hint,
} from '../transport/errors';
import { asAndConditions, fitsQuery, isEmptyFilter, toBody, toQuery, type Group } from './filters';
import { getOwn } from '../transport/json';
import { MAX_PARALLEL } from '../transport/concurrency';
import type { ApiResponse, ApiRequest, ApiClient } from '../transport/client';

/** A link field of a record, and the ID of the record's table. */
export interface LinkedTo {
	id: string;
	tableId: string;
	field: string;
}

export interface RecordQuery {
	filter?: Group;
	/** Such as `age,surname(desc)`. */
	sort?: string;
	/** The ID of the saved view. */
	savedView?: string;
	/** Only the records that a link field of one record points to. */
	linkedTo?: LinkedTo;
	/** Fields to load; all if empty. */
	fields?: string[];
	/** What the user can do if the platform rejects the query. */
	hint?: Hint;
}

/** @throws {ServiceError} */
export async function readRecord(
	client: ApiClient,
	at: TableAddress,
	id: string,
): Promise<PlatformRecord> {
	const path = paths.record(at, id);
	const { body, status } = await client.request({ method: 'GET', path, retryMode: 'read' });
	const record = toWholeRecord(body.data);
	if (!record || isDifferentRecord(record, id)) throw invalidResponse(`record '${id}'`, status);
	return record;
}

/** A record; null if the platform itself reports that it doesn't exist. @throws {ServiceError} */
export const findRecord = async (
	client: ApiClient,
	at: TableAddress,
	id: string,
): Promise<PlatformRecord | null> =>
	await readRecord(client, at, id).catch((error: unknown) => {
		if (isNotFound(serviceErrorOrThrow(error))) return null;
		throw error;
	});

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Whether the platform returned another record than the requested one. */
export const isDifferentRecord = (record: PlatformRecord, id: string) =>
	UUID.test(id) && record.id.toLowerCase() !== id.toLowerCase();

/**
 * One page of records, which the service may cut to fewer than requested. Drops records beyond the
 * requested number: they come with the next page.
 */
export async function readPage(
	client: ApiClient,
	at: TableAddress,
	reading: RecordQuery,
	{ limit, skip }: { limit: number; skip: number },
): Promise<PlatformRecord[]> {
	return (await requestSelection(client, at, reading, { limit, skip })).page;
}

/** A page of the records that a query selects, in their final format. */
async function requestSelection(
	client: ApiClient,
	at: TableAddress,
	reading: RecordQuery,
	{ limit, skip }: { limit: number; skip: number },
): Promise<{ page: PlatformRecord[]; response: ApiResponse }> {
	const request = pageRequest(at, reading, { limit, skip });
	const { records, response } = await requestPage(client, request, reading.hint);
	const { fields = [] } = reading;
	const cut = records.slice(0, limit);
	const page = needsQuery(reading) && fields.length > 0 ? cut.map(withOnly(fields)) : cut;
	return { page, response };
}

/** Sends a request for a page. */
async function requestPage(
	client: ApiClient,
	request: ApiRequest & { path: string },
	ownHint?: Hint,
): Promise<{ records: PlatformRecord[]; response: ApiResponse }> {
	const response = await client.tryRequest(request);
	if (response instanceof ServiceError) {
		const hint = ownHint ?? response.hint;
		throw response.status === 400
			? new ServiceError(response.message, { ...response, hint })
			: response;
	}
	const records = toList(response.body.data, toWholeRecord);
	if (!records) throw invalidResponse('list of records', response.status);
	pageSizes(client, request.path).note(records.length);
	return { records, response };
}

/** What is known about the pages of the endpoint that a query uses. */
export const pageSizesOf = (client: ApiClient, at: TableAddress, query: RecordQuery): PageSizes =>
	pageSizes(client, isSentInBody(query) ? paths.filter(at) : paths.records(at));

const withOnly = (names: string[]) => (record: PlatformRecord) => ({
	...record,
	fields: Object.fromEntries(names.map((name) => [name, getOwn(record.fields, name) ?? null])),
});

/** Whether the query needs something that only a query string can hold. */
const needsQuery = ({ savedView, linkedTo }: Pick<RecordQuery, 'savedView' | 'linkedTo'>) =>
	Boolean(savedView) || linkedTo !== undefined;

const isFiltered = (filter?: Group): filter is Group =>
	filter !== undefined && !isEmptyFilter(filter);

/**
 * The part of a query string that selects records.
 *
 * @throws {InputError} if it can't hold the filter
 */
function selectionQuery({ filter, savedView, linkedTo }: RecordQuery) {
	const besides = linkedTo ? 'linkedTo' : 'savedView';
	const what = linkedTo ? 'the choice of linked records' : 'a saved view';
	const conditions = isFiltered(filter) ? asAndConditions(filter) : [];
	if (!conditions) {
		throw new InputError(
			`A filter that joins by 'any', or has brackets or backslashes in a list, can't be combined with ${what}`,
			{ hint: { code: 'useAndConditions', besides } },
		);
	}
	const text = conditions.length > 0 ? toQuery(conditions) : undefined;
	if (text !== undefined && !fitsQuery(text)) {
		throw new InputError(`The filter is too long to be combined with ${what}`, {
			hint: { code: 'shortenFilter', besides },
		});
	}
	return {
		filter: text,
		userFilter: savedView || undefined,
		...(linkedTo && {
			linkId: linkedTo.id,
			linkTableId: linkedTo.tableId,
			linkField: linkedTo.field,
		}),
	};
}

/** Saved views and links go into a query string; fields and groups of conditions go into a body. */
const isSentInBody = (query: RecordQuery) =>
	!needsQuery(query) && (isFiltered(query.filter) || (query.fields ?? []).length > 0);

function pageRequest(
	at: TableAddress,
	reading: RecordQuery,
	{ limit, skip }: { limit: number; skip: number },
): ApiRequest & { path: string } {
	const { filter, fields = [], sort } = reading;
	const query = { limit, skip: skip || undefined, sort };
	if (isSentInBody(reading)) {
		const body = {
			...(isFiltered(filter) && toBody(filter)),
			...(fields.length > 0 && { loadFields: fields }),
		} as IDataObject;
		return { method: 'POST', path: paths.filter(at), query, body, retryMode: 'read' };
	}
	return {
		method: 'GET',
		path: paths.records(at),
		query: { ...query, ...selectionQuery(reading) },
		retryMode: 'read',
	};
}

/** Whether a query selects only a part of the table. */
const isNarrowed = (query: RecordQuery) => needsQuery(query) || isFiltered(query.filter);

/** A page of any records of the table, from the endpoint that a query uses. */
async function readSample(
	client: ApiClient,
	at: TableAddress,
	query: RecordQuery,
	limit: number,
): Promise<PlatformRecord[]> {
	const { fields = [] } = query;
	const body = { ...(fields.length > 0 && { loadFields: fields }) };
	const { records } = await requestPage(client, {
		...(isSentInBody(query)
			? { method: 'POST', path: paths.filter(at), body }
			: { method: 'GET', path: paths.records(at) }),
		query: { limit },
		retryMode: 'read',
	});
	return records;
}

/** How many pages to request ahead, at most. */
const MAX_AHEAD = 4;

/** Requests one more page ahead for every so many full pages, so that few requests are wasted. */
const PAGES_PER_AHEAD = 2;

/** How much of a page to repeat at most while records disappear. */
const MAX_OVERLAP = 0.5;

const OVERLAP_GROWTH = 10;

/** Reached if a table changes faster than it can be read, or a service returns pages at random. */
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
 * requested is the last one only if something proves it (`pageSizes`); otherwise the reader
 * requests the next one, but not before the caller asks for it.
 *
 * @param limit how many records at most; `Infinity` for all. A promise is their count, requested at
 *   the same time: it ends the reading, and pages up to it are requested at once
 * @param notes gets what was noticed
 * @param offset how many records to skip
 * @throws {ServiceError}
 */
export async function* readRecords(
	client: ApiClient,
	at: TableAddress,
	reading: RecordQuery,
	limit: number | Promise<number>,
	notes: ReadNotes = { hasShifted: false },
	offset = 0,
): AsyncGenerator<PlatformRecord[]> {
	const isCounted = typeof limit !== 'number';
	let most = isCounted ? Infinity : limit;
	// Its failure is thrown when it is awaited.
	const counted = Promise.allSettled([limit]);
	// In an order that the user chose, a record may move to any later page: remember all IDs.
	const seen = new IdSet();
	const sizes = pageSizesOf(client, at, reading);
	const pages = new PagesAhead(client, at, reading, offset, sizes);
	let last: string | undefined;
	let stepsBack = 0;
	let stepsInARow = 0;
	let wasShort = false;
	try {
		for (;;) {
			const { skip, size, repeated, page: requested } = pages.take(most - seen.size);
			const page = await requested;
			most = await limit;
			const first = page[0];
			if (stepsBack > MAX_STEPS_BACK) throw invalidResponse('stable list of records', 200);
			if (repeated > 0 && page[repeated - 1]?.id !== last) notes.hasShifted = true;
			if (repeated > 0 && (!first || !seen.has(first.id))) {
				stepsBack += 1;
				await pages.goBackFrom(skip, (stepsInARow += 1));
				continue;
			}
			stepsInARow = 0;
			const fresh = page.filter(({ id }) => (isCounted || seen.size < most) && seen.add(id));
			last = page.at(-1)?.id;
			// All records that were read before have moved, except those that are repeated.
			if (page.length - fresh.length > repeated) notes.hasShifted = true;
			// A service that repeats its pages would never end.
			if (pages.hasReached(skip + page.length) && fresh.length === 0) stepsBack += 1;
			if (wasShort && fresh.length === 0) sizes.noteVainRequest();
			if (fresh.length > 0) stepsBack -= Math.min(stepsBack, 1 / PAGES_PER_STEP_BACK);
			const isShort = page.length < size;
			const isLast = isShort && sizes.isWhole(page.length);
			// The whole list came in one page, so nothing can have moved between two.
			if (isLast && skip === offset) notes.hasShifted = false;
			const isOpen = seen.size < most && !isLast;
			if (isOpen && !isShort) pages.request(most - seen.size, isCounted);
			yield fresh;
			if (!isOpen || (isShort && (await pages.isWhole(page.length)))) return;
			if (isShort) await pages.goOnAt(skip + page.length);
			wasShort = isShort;
		}
	} finally {
		await pages.end();
		await counted;
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
		private readonly client: ApiClient,
		private readonly at: TableAddress,
		reading: RecordQuery,
		private readonly offset: number,
		private readonly sizes: PageSizes,
	) {
		this.next = offset;
		this.reached = offset;
		// In order of creation new records come last, so they don't shift the pages.
		this.query = { ...reading, sort: reading.sort ? `${reading.sort},id` : 'created,id' };
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

	/** Finds out whether a page that is shorter than requested was not cut. */
	async isWhole(count: number): Promise<boolean> {
		const { client, at, query, sizes } = this;
		if (!isNarrowed(query)) return false;
		await sizes.learn(count, async (size) => await readSample(client, at, query, size));
		return sizes.isWhole(count);
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
		const page = readPage(this.client, this.at, this.query, { limit: size, skip });
		// Its failure is thrown when the page is awaited, which may never happen.
		page.catch(() => undefined);
		this.requested.push({ skip, size, repeated, page });
		this.next = skip + size;
		return size - repeated;
	}
}

/** The newest `modified` in the table, by the platform's clock; undefined if the table is empty. */
export async function readLatestChange(
	client: ApiClient,
	at: TableAddress,
): Promise<string | undefined> {
	const [latest] = await readPage(client, at, { sort: 'modified(desc)' }, { limit: 1, skip: 0 });
	return latest?.modified;
}

/**
 * The newest changes of a table, newest first.
 *
 * @param fields to load; all if not set
 * @returns `now` is when the service sent the response, by its clock and in whole seconds, if it
 * says so
 */
export async function readNewestChanges(
	client: ApiClient,
	at: TableAddress,
	part: { limit: number; skip: number },
	fields?: string[],
): Promise<{ records: PlatformRecord[]; now?: number }> {
	const query = { sort: 'modified(desc),id', fields };
	const { page: records, response } = await requestSelection(client, at, query, part);
	const now = Date.parse(String(response.headers?.date));
	return { records, now: Number.isNaN(now) ? undefined : now };
}

export interface WriteOptions {
	/** Keeps the write out of the platform's audit log. */
	skipAudit?: boolean;
}

const writeBody = (fields: FieldValues, options: WriteOptions, useUpsert = false) =>
	({
		fields,
		...(useUpsert && { useUpsert }),
		...(options.skipAudit && { skipAudit: true }),
	}) as IDataObject;

/** The import key's value in a record that is about to be created. */
export interface RecordKey {
	field: string;
	value: string;
}

/** After a creation with an unknown result: what a look-up by import key adds to the message. */
export async function describeExisting(
	client: ApiClient,
	at: TableAddress,
	{ field, value }: RecordKey,
): Promise<string> {
	const filter = {
		filter: [{ field, operator: '===', value }],
		filterOperator: 'and' as const,
	};
	const found = await readPage(
		client,
		at,
		{ filter, fields: [field] },
		{ limit: 1, skip: 0 },
	).catch(() => undefined);
	if (found === undefined) return '';
	return found[0]
		? `; the table has a record '${found[0].id}' with '${value}' in '${field}', which may be this one`
		: `; the table has no record with '${value}' in '${field}' yet`;
}

/** One record to write: to create, to create or update by its import key, or by its ID. */
export interface RecordWrite {
	mode: 'create' | 'upsert' | 'update' | 'replace';
	id?: string;
	fields: FieldValues;
}

export const METHODS = { create: 'POST', upsert: 'POST', update: 'PATCH', replace: 'PUT' } as const;

/**
 * Writes one record; the response holds it, whether or not it changed. Its failure as a value, a response
 * without the record among them.
 *
 * @param request how it is repeated
 */
export async function tryWriteRecord(
	client: ApiClient,
	at: TableAddress,
	{ mode, id, fields }: RecordWrite,
	options: WriteOptions,
	request: Pick<ApiRequest, 'retryMode' | 'isUnapplied' | 'onRetry'>,
): Promise<ApiResponse | ServiceError> {
	const result = await client.tryRequest({
		...request,
		method: METHODS[mode],
		path: id === undefined ? paths.records(at) : paths.record(at, id),
		body: writeBody(fields, options, mode === 'upsert'),
	});
	if (result instanceof ServiceError) return result;
	const { body, status, previousAttempt, wasPostponed } = result;
	const record = toRecord(body.data);
	if (record && (id === undefined || !isDifferentRecord(record, id))) return result;
	const what = id === undefined ? 'record' : `record '${id}'`;
	const details = { delivery: 'ambiguous', status, previousAttempt, wasPostponed } as const;
	return new ServiceError(`The response contains no ${what}`, details);
}

/**
 * Deletes a record. Returns a failure instead of throwing it, with status 404 if there is no such
 * record. After an attempt without a response, a look-up shows whether it worked.
 */
export async function tryDeleteRecord(
	client: ApiClient,
	at: TableAddress,
	id: string,
	onRetry?: (failure: ServiceError) => void,
): Promise<ServiceError | undefined> {
	const result = await client.tryRequest({
		method: 'DELETE',
		path: paths.record(at, id),
		retryMode: 'idempotent',
		bodyRequirement: 'nothing',
		alreadyDoneStatus: 404,
		onRetry,
	});
	if (!(result instanceof ServiceError)) return undefined;
	const open = result.delivery === 'ambiguous' ? result : result.previousAttempt;
	if (!open) return result;
	const left = await findRecord(client, at, id).catch(serviceErrorOrThrow);
	if (left === null) return undefined;
	if (left instanceof ServiceError) {
		return unknownDeletion(`${result.message}; looking it up failed: ${left.message}`, result);
	}
	// If the platform rejected it, only an earlier attempt that still runs can delete it.
	if (result !== open && !open.stillPending) return result;
	return unknownDeletion(`${result.message}; it is still there`, result);
}

const unknownDeletion = (why: string, { status }: ServiceError) =>
	new ServiceError(`Unknown whether the record was deleted: ${why}`, {
		delivery: 'ambiguous',
		status,
		hint: 'It is safe to run it again.',
	});

/** Deletes a record. @throws {ServiceError} */
export async function deleteRecord(client: ApiClient, at: TableAddress, id: string): Promise<void> {
	const failure = await tryDeleteRecord(client, at, id);
	if (failure) throw failure;
}

/** The metadata in a bulk response's `data`, in the same order. */
export const metadataList = (data: unknown): RecordMetadata[] | undefined =>
	toList(data, toMetadata);
