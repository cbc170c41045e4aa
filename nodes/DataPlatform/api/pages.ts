/**
 * Requests for a page of the records that a query selects.
 */
import type { IDataObject } from 'n8n-workflow';

import { invalidResponse, toList, toWholeRecord } from './decoders';
import { paths } from './endpoints';
import { and, isEmptyFilter, toBody, toQuery, type Group } from './filters';
import type { PlatformRecord, TableAddress, TableAt } from './types';
import { InputError, ServiceError } from '../transport/errors';
import { getOwn } from '../transport/json';
import type { ApiRequest } from '../transport/exchange';
import { LABELS } from '../labels';

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
	hint?: string;
	/** How many records to skip. */
	offset?: number;
	/** Read on after a short page in any case: something rests on what is missing. */
	untilEmpty?: boolean;
}

/** How many records the platform returns without a limit. contract/openapi.yaml, `limit`. */
const DEFAULT_PAGE_SIZE = 25;

/**
 * What an execution has learned about the pages of one endpoint. A platform may cut pages to some
 * length, so a short page does not prove that it is the last one. Three things do: the next page is
 * empty, another page of the same endpoint had more records, or it has fewer than the platform
 * returns without a limit.
 */
export class PageSizes {
	/** The largest page so far: the platform returns at least this many records in one. */
	atLeast = 0;

	/**
	 * Whether a page of this length, shorter than requested, was not cut.
	 *
	 * @param isCertain whether only what this execution has seen counts
	 */
	isWhole(count: number, isCertain = false): boolean {
		if (count === 0 || count < this.atLeast) return true;
		return !isCertain && count < DEFAULT_PAGE_SIZE;
	}
}

interface Part {
	limit: number;
	skip: number;
}

/** A saved view or a link to records: only a query string can hold these. */
const needsQuery = ({ savedView, linkedTo }: RecordQuery) =>
	Boolean(savedView) || linkedTo !== undefined;

const isFiltered = (filter?: Group): filter is Group =>
	filter !== undefined && !isEmptyFilter(filter);

/** Saved views and links go into a query string; fields and groups of conditions go into a body. */
const isSentInBody = (query: RecordQuery) =>
	!needsQuery(query) && (isFiltered(query.filter) || (query.fields ?? []).length > 0);

/**
 * The part of a query string that selects records.
 *
 * @throws {InputError} if it can't hold the filter
 */
function selectionQuery({ filter, savedView, linkedTo }: RecordQuery) {
	const query = toQuery(filter ?? and());
	if (typeof query !== 'string') {
		const { problem, instead, field } = query;
		const what = linkedTo ? 'the choice of linked records' : 'a saved view';
		const leaveOut = linkedTo ? `Leave '${LABELS.linkedTo}' out` : 'Leave the saved view out';
		throw new InputError(`The filter can't be combined with ${what}: ${problem}`, {
			field,
			hint: `${leaveOut}, or ${instead}.`,
		});
	}
	return {
		filter: query,
		userFilter: savedView || undefined,
		...(linkedTo && {
			linkId: linkedTo.id,
			linkTableId: linkedTo.tableId,
			linkField: linkedTo.field,
		}),
	};
}

const endpoint = (address: TableAddress, query: RecordQuery) =>
	isSentInBody(query) ? paths.filter(address) : paths.records(address);

/** What is known about the pages of the endpoint that a query uses: each may have its own limit. */
export const pageSizesOf = ({ client, at }: TableAt, query: RecordQuery): PageSizes =>
	client.remember(`pages of ${endpoint(at, query)}`, () => new PageSizes());

function pageRequest(address: TableAddress, query: RecordQuery, { limit, skip }: Part): ApiRequest {
	const { filter, fields = [] } = query;
	const path = endpoint(address, query);
	const part = { limit, skip: skip || undefined, sort: query.sort };
	if (!isSentInBody(query)) {
		return { method: 'GET', path, query: { ...part, ...selectionQuery(query) }, retryMode: 'read' };
	}
	const body: IDataObject = {
		...(isFiltered(filter) && toBody(filter)),
		...(fields.length > 0 && { loadFields: fields }),
	};
	return { method: 'POST', path, query: part, body, retryMode: 'read' };
}

/**
 * One page of records, which the service may cut to fewer than requested. Drops records beyond the
 * requested number: they come with the next page.
 */
export async function readPage(
	{ client, at }: TableAt,
	query: RecordQuery,
	part: Part,
): Promise<PlatformRecord[]> {
	const response = await client.tryRequest(pageRequest(at, query, part));
	if (response instanceof ServiceError) {
		if (response.status !== 400) throw response;
		const hint = query.hint ?? response.hint;
		throw new ServiceError(response.message, { ...response, hint });
	}
	const records = toList(response.body.data, toWholeRecord);
	if (!records) throw invalidResponse('list of records', response.status);
	const sizes = pageSizesOf({ client, at }, query);
	sizes.atLeast = Math.max(sizes.atLeast, records.length);
	const { fields = [] } = query;
	const cut = records.slice(0, part.limit);
	if (!needsQuery(query) || fields.length === 0) return cut;
	return cut.map((record) => ({
		...record,
		fields: Object.fromEntries(fields.map((name) => [name, getOwn(record.fields, name) ?? null])),
	}));
}

/** The newest `modified` in the table, by the platform's clock; undefined if the table is empty. */
export async function readLatestChange(table: TableAt): Promise<string | undefined> {
	const [latest] = await readPage(table, { sort: 'modified(desc)' }, { limit: 1, skip: 0 });
	if (latest && !(Date.parse(latest.modified ?? '') > 0)) {
		throw invalidResponse('time of the newest change', 200);
	}
	return latest?.modified;
}
