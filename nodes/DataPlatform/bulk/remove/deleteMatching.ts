/**
 * Deletes the records that a filter matches. It counts them first, never deletes more than that,
 * and counts again afterwards. A record must still match when it is deleted. The service checks
 * this if it can take the filter with the deletion. Otherwise, the matches are read again for every
 * few records.
 *
 *     await deleteRecords(table, filter, { maximum: 100, … });
 *     // { matched: 3, remaining: 0, records: [{ id: 'a…', key: 'Acorn' }, …] }
 */
import { MAX_PAGE_SIZE, paths } from '../../api/endpoints';
import type { FieldDefinition, PlatformRecord, TableAt } from '../../api/types';
import { serviceErrorOrThrow, InputError, isForbidden, ServiceError } from '../../transport/errors';
import { isEmptyFilter, toQuery, type Group } from '../../api/filters';
import { countRecords } from '../../api/aggregates';
import { readPage } from '../../api/pages';
import { readRecords } from '../../api/readRecords';
import { NO_BULK_NOTICE } from '../send/single';
import { DELETED_PER_READING, namedBy, Remover, sortedNames } from './recordRemover';
import type { NamedRecord } from '../terms';
import { LABELS } from '../../labels';
import { counted, nameList } from '../../transport/messageText';

export interface DeleteManyOptions {
	/** If more records match, nothing is deleted. */
	maximum: number;
	/** Whether a filter without conditions may mean all records. */
	allowAll: boolean;
	/** Only count and name, however many match. */
	dryRun: boolean;
	/** The fields that name a record. */
	keys?: FieldDefinition[];
	/** Which attempt of Retry On Fail this is, from 1: errors with counts say so. */
	attempt?: number;
}

export interface Deletion {
	/** How many records matched before the deletion. */
	matched: number;
	/** How many records match afterwards, including those added meanwhile. */
	remaining: number;
	/**
	 * Those that were certainly deleted: the others that are gone no longer match. In a dry run, a page
	 * of those that match.
	 */
	records: NamedRecord[];
}

/** How many of the newest changes are read: more than others make while records are deleted. */
const CHANGES_READ = 100;

/**
 * Deletes records one by one. It reads the first page of matches again and again. Records that were
 * deleted, or no longer match, are not on it any more.
 *
 * @param matched the most to delete
 * @throws {ServiceError} whose message says how many were deleted
 */
async function deleteOneByOne(
	table: TableAt,
	filter: Group,
	matched: number,
	keys: FieldDefinition[],
	attempt: number,
): Promise<Deletion> {
	const records: NamedRecord[] = [];
	const fail = (cause: ServiceError): never => {
		const least = cause.delivery === 'ambiguous' ? 'at least ' : '';
		const when = attempt > 1 ? ` in attempt ${attempt}` : '';
		throw new ServiceError(
			`${cause.message}; ${least}${records.length} of ${counted(matched, 'record')} were deleted${when}${namesOf(records)}`,
			cause,
		);
	};
	const remover = new Remover(table);
	const tried = new Set<string>();
	const reading = { ...queryOf(filter, keys), sort: ORDER };
	const failures: ServiceError[] = [];
	/** The 404 responses, by record. */
	const gone = new Map<string, ServiceError>();
	while (tried.size < matched) {
		const limit = Math.min(DELETED_PER_READING, matched - tried.size);
		const page: PlatformRecord[] = await readPage(table, reading, { limit, skip: 0 }).catch(fail);
		const before = tried.size;
		await remover.removeEach(
			page.filter(({ id }) => !tried.has(id)),
			() => failures.length > 0,
			(record, failure) => {
				const { id } = record;
				tried.add(id);
				if (!failure) records.push(namedBy(keys, record));
				else if (failure.status === 404) gone.set(id, failure);
				else failures.push(failure);
			},
		);
		// A deletion that may have happened matters more than a rejected one.
		const isOpen = ({ delivery }: ServiceError) => delivery === 'ambiguous';
		const [failure] = failures;
		if (failure) fail([...failures, ...gone.values()].find(isOpen) ?? failure);
		if (tried.size === before) break;
	}
	const remaining = await countRecords(table, filter).catch((error: ServiceError) => {
		throw new ServiceError(
			`The platform confirmed the deletion of ${records.length} of ${counted(matched, 'record')}${namesOf(records)}, but counting the rest failed: ${error.message}`,
			{ ...error, delivery: 'ambiguous' },
		);
	});
	if (remaining > 0 && gone.size > 0) {
		const now = await matching(table, filter, keys).catch(fail);
		for (const [id, error] of gone) if (now.has(id)) fail(error);
	}
	return { matched, remaining, records };
}

const namesOf = (records: NamedRecord[]) =>
	records.length > 0 ? ` (${nameList(sortedNames(records))})` : '';

const ORDER = 'created,id';

/** Loads no more than names need. */
const queryOf = (filter: Group, keys: FieldDefinition[]) => ({
	filter,
	fields: keys.map(({ name }) => name),
});

/**
 * The records that match, by ID.
 *
 * @param count how many there were: the list may end there, if that page had room for more
 */
async function matching(
	table: TableAt,
	filter: Group,
	keys: FieldDefinition[],
	count = Infinity,
): Promise<Map<string, NamedRecord>> {
	const found = new Map<string, NamedRecord>();
	const query = { ...queryOf(filter, keys), untilEmpty: true };
	for await (const page of readRecords(table, query, count + 1)) {
		for (const record of page) found.set(record.id, namedBy(keys, record));
		if (found.size === count && page.length < MAX_PAGE_SIZE) break;
	}
	// Of those that were added since the count, the deletion may reach any.
	return found.size > count ? await matching(table, filter, keys) : found;
}

/**
 * Deletes with one request. The service applies it to the records that match at that moment, and
 * does not say which those were. A record that another writer changed may no longer match either: it
 * is among the newest changes of the table, and does not count as deleted.
 *
 * @returns undefined if the platform forbids it, so that nothing was deleted
 */
async function deleteByQuery(
	table: TableAt,
	filter: Group,
	query: string,
	expected: number,
	keys: FieldDefinition[],
): Promise<Deletion | undefined> {
	const before = await matching(table, filter, keys, expected);
	const matched = Math.min(before.size, expected);
	if (matched === 0) return { matched, remaining: 0, records: [] };
	const result = await table.client.tryRequest({
		method: 'DELETE',
		path: paths.bulk(table.at),
		query: { limit: matched, filter: query },
		retryMode: 'notIdempotent',
		bodyRequirement: 'nothing',
	});
	const isFailure = result instanceof ServiceError;
	// The right to bulk requests may be one of its own.
	if (isFailure && isForbidden(result)) {
		table.client.notices.add(NO_BULK_NOTICE);
		return undefined;
	}
	if (isFailure && result.delivery !== 'ambiguous') throw result;
	const left = await countAfter(table, filter, before).catch(serviceErrorOrThrow);
	if (left instanceof ServiceError) {
		throw new ServiceError(
			isFailure
				? `${result.message}; it is unknown how many of ${counted(matched, 'record')} were deleted: ${left.message}`
				: `The platform confirmed the deletion of up to ${counted(matched, 'record')}, but counting the rest failed: ${left.message}`,
			{ ...left, delivery: 'ambiguous' },
		);
	}
	const { gone, remaining, records } = left;
	if (isFailure && gone < matched) {
		const message = `${result.message}; ${counted(matched - gone, 'record')} of ${matched} still match`;
		throw result.stillPending
			? new ServiceError(`${message}, and the platform may still be deleting them`, {
					...result,
					hint: 'Wait a little and count them before you run it again.',
				})
			: new ServiceError(message, { ...result, hint: 'Run it again to delete the rest.' });
	}
	return { matched, remaining, records };
}

/**
 * How many records match now, how many that matched before no longer do, and which of these were not
 * changed since: those are deleted.
 */
async function countAfter(table: TableAt, filter: Group, before: ReadonlyMap<string, NamedRecord>) {
	const remaining = await countRecords(table, filter);
	const now = remaining > 0 ? await matching(table, filter, []) : new Map<string, never>();
	// Without a filter, nothing can stop matching.
	const newest = isEmptyFilter(filter)
		? []
		: await readPage(table, { sort: 'modified(desc),id' }, { limit: CHANGES_READ, skip: 0 });
	const gone = [...before.values()].filter(({ id }) => !now.has(id));
	const changed = new Set(newest.map(({ id }) => id));
	const records = gone.filter(({ id }) => !changed.has(id));
	return { remaining: now.size, gone: gone.length, records };
}

/**
 * Deletes all records that match.
 *
 * @throws {InputError} if more records match than the maximum, or if the filter is empty and must not
 *   be
 * @throws {ServiceError} whose message says how many are known to be deleted
 */
export async function deleteMany(
	table: TableAt,
	filter: Group,
	{ maximum, allowAll, dryRun, keys = [], attempt = 1 }: DeleteManyOptions,
): Promise<Deletion> {
	if (isEmptyFilter(filter) && !allowAll) {
		throw new InputError('Nothing was deleted: there is no filter', {
			hint: `Add a condition. To delete every record of the table, set '${LABELS.filterMode}' to 'None' and turn on '${LABELS.allowAll}'.`,
		});
	}
	const matched = await countRecords(table, filter);
	if (matched === 0) return { matched, remaining: 0, records: [] };
	if (dryRun || matched > maximum) {
		const page = { limit: MAX_PAGE_SIZE, skip: 0 };
		const read = await readPage(table, { ...queryOf(filter, keys), sort: ORDER }, page);
		const records = read.map((record) => namedBy(keys, record));
		if (dryRun) return { matched, remaining: matched, records };
		const names = nameList(sortedNames(records), undefined, matched);
		throw new InputError(
			`Nothing was deleted: ${counted(matched, 'record')} match, more than the maximum of ${maximum}`,
			{
				hint: `Matching: ${names}. Narrow the filter, or raise '${LABELS.maxRecordsToDelete}' to delete all of them. '${LABELS.dryRun}' lists them.`,
			},
		);
	}
	const query = toQuery(filter);
	const deletion =
		typeof query === 'string'
			? await deleteByQuery(table, filter, query, matched, keys)
			: undefined;
	return deletion ?? (await deleteOneByOne(table, filter, matched, keys, attempt));
}
