/**
 * Reads bulk responses without trusting them. Pure. The facts are in contract/openapi.yaml.
 */
import type { RecordMetadata } from '../api/types';
import { joinedMessages, toErrorEntries, type ErrorEntry } from '../transport/errorEntries';
import { toList, toMetadata, toRecord } from '../api/decoders';
import { isObject } from '../transport/json';

export interface BulkResponse {
	/** Error entries by the position of their record in the request. */
	failed: Map<number, ErrorEntry>;
	/** Error entries that don't say which record they mean. */
	unattributedErrors: ErrorEntry[];
	/** Confirmed records, in the order of the request. */
	data: RecordMetadata[];
	byId: ReadonlyMap<string, RecordMetadata>;
	/**
	 * How many it says were inserted and updated. Some services also count records that they skipped.
	 */
	insertedCount?: number;
	updatedCount?: number;
	/** Whether it says that all of `data` were inserted, or all updated. */
	allInserted: boolean;
	allUpdated: boolean;
}

/** A record may have several errors, one for each wrong field. */
const joined = (known: ErrorEntry | undefined, entry: ErrorEntry): ErrorEntry => ({
	...entry,
	...known,
	message: joinedMessages(known ? [known, entry] : [entry]),
});

/** Reads a bulk response, or the body of an error that lists what was written nevertheless. */
export function parseBulkResponse(body: Record<string, unknown>, size: number): BulkResponse {
	const failed = new Map<number, ErrorEntry>();
	const unattributedErrors: ErrorEntry[] = [];
	for (const entry of toErrorEntries(body.errors)) {
		const index = entry.recordIndex;
		if (index === undefined || index < 0 || index >= size) unattributedErrors.push(entry);
		else failed.set(index, joined(failed.get(index), entry));
	}
	const bulk = isObject(body.bulk) ? body.bulk : {};
	const { insertedCount, updatedCount } = bulk;
	const data = toList(body.data, toMetadata) ?? [];
	return {
		failed,
		unattributedErrors,
		data,
		byId: new Map(data.map((metadata) => [metadata.id, metadata])),
		insertedCount: typeof insertedCount === 'number' ? insertedCount : undefined,
		updatedCount: typeof updatedCount === 'number' ? updatedCount : undefined,
		allInserted: typeof insertedCount === 'number' && insertedCount > 0 && updatedCount === 0,
		allUpdated: typeof updatedCount === 'number' && updatedCount > 0 && insertedCount === 0,
	};
}

/** Reads the response to a single write as if it were a bulk response. */
export function parseSingleResponse(body: Record<string, unknown>): BulkResponse {
	const response = parseBulkResponse({}, 1);
	const data = [toRecord(body.data)!];
	return { ...response, data, byId: new Map(data.map((record) => [record.id, record])) };
}

/** Whether the response says that all records were inserted, whichever of them it lists. */
export const countsAll = ({ insertedCount, unattributedErrors }: BulkResponse, size: number) =>
	insertedCount === size && unattributedErrors.length === 0;

/** Whether the list has every record that is counted as inserted or updated. */
export const listsAllChanges = ({ data, insertedCount, updatedCount }: BulkResponse) =>
	// If a count is unknown, the sum is NaN, which equals nothing.
	(insertedCount ?? NaN) + (updatedCount ?? NaN) === data.length;

/**
 * Whether the list of records contradicts the counts, or is longer than the request.
 *
 * @param size how many of the sent records the response does not reject
 */
export function contradictsItself(
	{ data, insertedCount, updatedCount }: BulkResponse,
	size: number,
): boolean {
	if (data.length > size) return true;
	if (insertedCount === undefined) return false;
	return data.length < insertedCount || data.length > insertedCount + (updatedCount ?? Infinity);
}
