/**
 * What a request reports about each of its records. Responses are not trusted: what they leave open
 * stays open. Pure. The facts are in contract/openapi.yaml.
 */
import { number, toList, toMetadata } from '../../api/decoders';
import { idKey } from '../../api/idSet';
import type { RecordMetadata } from '../../api/types';
import { joinedMessages, toErrorEntries, type ErrorEntry } from '../../transport/errorEntries';
import { isObject } from '../../transport/json';
import { rejectedItem } from '../outcome';
import type { Entry, Reported, WriteMode } from '../terms';

export interface BulkResponse {
	/** Errors by the position of their record in the request. */
	failed: Map<number, ErrorEntry>;
	/** Errors that don't say which record they mean. */
	unattributedErrors: ErrorEntry[];
	/** The records that were inserted or changed. */
	data: RecordMetadata[];
	/** Whether there was a list at all, also an empty one. */
	isListed: boolean;
	successCount?: number;
	insertedCount?: number;
	updatedCount?: number;
}

/** A record may have several errors, one for each wrong field. */
const joined = (first: ErrorEntry | undefined, entry: ErrorEntry): ErrorEntry => ({
	...entry,
	...first,
	message: joinedMessages(first ? [first, entry] : [entry]),
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
	const data = toList(body.data, toMetadata);
	return {
		failed,
		unattributedErrors,
		data: data ?? [],
		isListed: data !== undefined,
		successCount: number(bulk.successCount),
		insertedCount: number(bulk.insertedCount),
		updatedCount: number(bulk.updatedCount),
	};
}

/**
 * Whether the list has as many records as the counts say, each of them once. Counts may be missing.
 *
 * @param size of the accepted part
 */
function isListComplete({ data, insertedCount, updatedCount }: BulkResponse, size: number) {
	if (data.length > size || new Set(data.map(({ id }) => id)).size < data.length) return false;
	const counted = (insertedCount ?? 0) + (updatedCount ?? 0);
	const isCounted = insertedCount !== undefined && updatedCount !== undefined;
	return isCounted ? counted === data.length : counted <= data.length;
}

const isVersionZero = ({ ver }: RecordMetadata) => ver === 0;

/** Whether a listed record was inserted, as far as the counts say. */
function newnessIn(
	{ data, insertedCount }: BulkResponse,
	size: number,
	isComplete: boolean,
): (record: RecordMetadata | undefined) => boolean | undefined {
	if (insertedCount === 0) return () => false;
	if (insertedCount === size) return () => true;
	if (insertedCount === undefined || !isComplete) return () => undefined;
	if (insertedCount === data.length) return () => true;
	// If as many records have the first version as were inserted, these are the new ones.
	const areTold = data.filter(isVersionZero).length === insertedCount;
	return (record) => (areTold && record ? isVersionZero(record) : undefined);
}

/**
 * Whether a response lists all records that it does not reject, so that nothing but their order tells
 * which is whose.
 */
const areAllListed = (response: BulkResponse, accepted: number) =>
	response.unattributedErrors.length === 0 &&
	isListComplete(response, accepted) &&
	(response.successCount ?? accepted) === accepted &&
	response.data.length === accepted;

const areUpdates = (mode: WriteMode) => mode === 'update' || mode === 'replace';

/** A creation lists all that it wrote, and rejects others without saying which. */
const areOthersRejected = ({ unattributedErrors, data, successCount }: BulkResponse) =>
	unattributedErrors.length > 0 && data.length > 0 && data.length === successCount;

/**
 * The entries whose records nothing but the order of the list tells, or not even that; empty if the
 * response tells them.
 */
export function entriesToPair(entries: Entry[], response: BulkResponse, mode: WriteMode): Entry[] {
	const accepted = entries.filter((_, index) => !response.failed.has(index));
	if (areUpdates(mode) || accepted.length < 2) return [];
	const isOpen = mode === 'create' && areOthersRejected(response);
	return isOpen || areAllListed(response, accepted.length) ? accepted : [];
}

/**
 * What a response reports about each record of its request, in the request's order.
 *
 * - Updates are listed by ID, others by position, which is certain only if none is omitted.
 * - A record that is not listed is accounted for if the counts include it and there is no error
 *   without a position.
 *
 * @param pairs the listed records in the entries' order, as far as it could be told, if the list may
 *   have another one
 */
export function readReports(
	entries: Entry[],
	response: BulkResponse,
	mode: WriteMode,
	pairs?: ReadonlyArray<RecordMetadata | undefined>,
): Reported[] {
	const { failed, unattributedErrors, data, successCount, insertedCount } = response;
	const accepted = entries.length - failed.size;
	const isComplete = isListComplete(response, accepted);
	const isNew = newnessIn(response, accepted, isComplete);
	const listed = new Map(
		data.map((record) => [idKey(record.id), { record, isNew: isNew(record) }]),
	);
	const areAllCounted = successCount === accepted && unattributedErrors.length === 0;
	const areListed = areAllListed(response, accepted);
	// Without a list and counts, nobody says that a record was not changed.
	const isCounted = response.isListed || response.updatedCount !== undefined;
	// A creation inserts every record that it counts, listed or not.
	const isConsistent =
		mode === 'create' ? (insertedCount ?? accepted) === accepted : isComplete && isCounted;
	const places = pairs ?? data;
	const arePaired = pairs !== undefined;
	const areAllPaired = arePaired && places.filter(Boolean).length === data.length;
	const unlisted = (): Reported => {
		// Errors without a position are about all that are not listed.
		const isNoneListed = successCount === 0 && data.length === 0;
		if ((isNoneListed || areAllPaired) && unattributedErrors.length > 0) {
			const reason = unattributedErrors.reduce(joined);
			const isVague = areAllPaired && accepted > data.length + 1;
			const vague = `${reason.message}; it does not say which item it means`;
			const message = isVague ? vague : reason.message;
			return { as: 'rejected', rejection: rejectedItem({ ...reason, message }) };
		}
		if (areAllCounted && isConsistent) return { as: 'omitted', listed };
		const namesOthers = failed.size > 0 && unattributedErrors.length === 0;
		return { as: 'unclear', reasons: reasonsIn(response, accepted), namesOthers, listed };
	};
	const others = unlisted();
	let position = 0;
	return entries.map(({ id }, index) => {
		const error = failed.get(index);
		if (error) return { as: 'rejected', rejection: rejectedItem(error) };
		if (areUpdates(mode)) {
			const record = listed.get(idKey(id!));
			return record ? { as: 'listed', ...record } : others;
		}
		const record = areListed || arePaired ? places[position++] : undefined;
		if (areListed || record) return { as: 'listed', record, isNew: isNew(record) };
		return others;
	});
}

/** Why records were not written. Fewer successes than records are a reason, too. */
function reasonsIn(
	{ unattributedErrors, successCount }: BulkResponse,
	accepted: number,
): ErrorEntry[] {
	if (unattributedErrors.length > 0 || successCount === undefined || successCount >= accepted) {
		return unattributedErrors;
	}
	return [{ message: `it counted ${successCount} of ${accepted} records as written` }];
}
