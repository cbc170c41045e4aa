/**
 * Deletes the records that a filter matches. It counts them first, never deletes more than that,
 * and counts again afterwards. A record must still match when it is deleted. The service checks
 * this if it can take the filter with the deletion. Otherwise, the matches are read again for every
 * few records.
 *
 *     await deleteRecords(table, filter, { maximum: 100, … });
 *     // { matched: 3, deleted: 3, remaining: 0 }
 */
import { paths } from '../../api/endpoints';
import type { PlatformRecord, TableAt } from '../../api/types';
import { serviceErrorOrThrow, InputError, isForbidden, ServiceError } from '../../transport/errors';
import { asPlainQuery } from '../../api/filterQuery';
import { isEmptyFilter, requireRestrictive, type Group } from '../../api/filters';
import { countRecords } from '../../api/aggregates';
import { readPage } from '../../api/pages';
import { readRecords } from '../../api/readRecords';
import { NO_BULK_NOTICE } from '../send/single';
import { Remover } from './recordRemover';
import { LABELS } from '../../labels';
import { counted } from '../../transport/messageText';

export interface DeleteManyOptions {
	/** If more records match, nothing is deleted. */
	maximum: number;
	/** Whether a filter without conditions may mean all records. */
	allowAll: boolean;
	/** Only count. */
	dryRun: boolean;
	/** Which attempt of Retry On Fail this is, from 1: errors with counts say so. */
	attempt?: number;
}

export interface Deletion {
	/** How many records matched before the deletion. */
	matched: number;
	/** How many of them were certainly deleted. The others that are gone no longer match. */
	deleted: number;
	/** How many records match afterwards, including those added meanwhile. */
	remaining: number;
}

/**
 * Up to this many records are distinguished from those that others add meanwhile. Beyond it, only
 * counts are compared.
 */
const MAX_COMPARED = 10_000;

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
	attempt: number,
): Promise<Deletion> {
	const withCount = (cause: ServiceError, count: number) => {
		const least = cause.delivery === 'ambiguous' ? 'at least ' : '';
		const when = attempt > 1 ? ` in attempt ${attempt}` : '';
		return new ServiceError(
			`${cause.message}; ${least}${count} of ${counted(matched, 'record')} were deleted${when}`,
			cause,
		);
	};
	const remover = new Remover(table);
	const tried = new Set<string>();
	const reading = { filter, sort: 'created,id' };
	let deleted = 0;
	const failures: ServiceError[] = [];
	/** The 404 responses, by record. */
	const gone = new Map<string, ServiceError>();
	while (tried.size < matched) {
		const limit = Math.min(remover.recheckEvery, matched - tried.size);
		const page: PlatformRecord[] = await readPage(table, reading, { limit, skip: 0 }).catch(
			(error: ServiceError) => {
				throw withCount(error, deleted);
			},
		);
		const before = tried.size;
		await remover.removeEach(
			page.filter(({ id }) => !tried.has(id)),
			() => failures.length > 0,
			({ id }, failure) => {
				tried.add(id);
				if (!failure) deleted += 1;
				else if (failure.status === 404) gone.set(id, failure);
				else failures.push(failure);
			},
		);
		// A deletion that may have happened matters more than a rejected one.
		const failure = failures.find(({ delivery }) => delivery === 'ambiguous') ?? failures[0];
		if (failure) throw withCount(failure, deleted);
		if (tried.size === before) break;
	}
	const remaining = await countRecords(table, filter).catch((error: ServiceError) => {
		throw new ServiceError(
			`The platform confirmed the deletion of ${deleted} of ${counted(matched, 'record')}, but counting the rest failed: ${error.message}`,
			{ ...error, delivery: 'ambiguous' },
		);
	});
	if (remaining > 0 && gone.size > 0) {
		const now = await matchingIds(table, filter, Infinity).catch((error: ServiceError) => {
			throw withCount(error, deleted);
		});
		for (const [id, error] of gone) if (now.has(id)) throw withCount(error, deleted);
	}
	return { matched, deleted, remaining };
}

async function matchingIds(table: TableAt, filter: Group, limit: number): Promise<Set<string>> {
	const ids = new Set<string>();
	for await (const page of readRecords(table, { filter, untilEmpty: true }, limit)) {
		for (const { id } of page) ids.add(id);
	}
	return ids;
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
): Promise<Deletion | undefined> {
	const before = expected > MAX_COMPARED ? undefined : await matchingIds(table, filter, expected);
	const matched = before?.size ?? expected;
	if (matched === 0) return { matched, deleted: 0, remaining: 0 };
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
	const left = await countAfter(table, filter, matched, before).catch(serviceErrorOrThrow);
	if (left instanceof ServiceError) {
		throw new ServiceError(
			isFailure
				? `${result.message}; it is unknown how many of ${counted(matched, 'record')} were deleted: ${left.message}`
				: `The platform confirmed the deletion of up to ${counted(matched, 'record')}, but counting the rest failed: ${left.message}`,
			{ ...left, delivery: 'ambiguous' },
		);
	}
	const { remaining, survivors, changed } = left;
	if (isFailure && survivors > 0) {
		const message = `${result.message}; ${counted(survivors, 'record')} of ${matched} still match`;
		throw result.stillPending
			? new ServiceError(`${message}, and the platform may still be deleting them`, {
					...result,
					hint: 'Wait a little and count them before you run it again.',
				})
			: new ServiceError(message, { ...result, hint: 'Run it again to delete the rest.' });
	}
	return { matched, deleted: matched - survivors - changed, remaining };
}

/**
 * How many records match now, how many of them also matched before, and how many did but were
 * changed since.
 */
async function countAfter(
	table: TableAt,
	filter: Group,
	matched: number,
	before: ReadonlySet<string> | undefined,
) {
	const remaining = await countRecords(table, filter);
	if (!before) return { remaining, survivors: Math.min(remaining, matched), changed: 0 };
	const now = remaining > 0 ? await matchingIds(table, filter, Infinity) : new Set<string>();
	const isKept = (id: string) => before.has(id) && !now.has(id);
	// Without a filter, nothing can stop matching.
	const newest = isEmptyFilter(filter)
		? []
		: await readPage(table, { sort: 'modified(desc),id' }, { limit: CHANGES_READ, skip: 0 });
	return {
		remaining: now.size,
		survivors: [...now].filter((id) => before.has(id)).length,
		changed: newest.filter(({ id }) => isKept(id)).length,
	};
}

/**
 * Deletes all records that match.
 *
 * @throws {InputError} if more records match than the maximum, or if the filter or a part of it is
 *   empty and must not be
 * @throws {ServiceError} whose message says how many are known to be deleted
 */
export async function deleteMany(
	table: TableAt,
	filter: Group,
	{ maximum, allowAll, dryRun, attempt = 1 }: DeleteManyOptions,
): Promise<Deletion> {
	requireRestrictive(filter);
	if (isEmptyFilter(filter) && !allowAll) {
		throw new InputError('Nothing was deleted: there is no filter', {
			hint: `Add a condition. To delete every record of the table, set '${LABELS.filterMode}' to 'None' and turn on '${LABELS.allowAll}'.`,
		});
	}
	const matched = await countRecords(table, filter);
	if (matched > maximum) {
		throw new InputError(
			`Nothing was deleted: ${counted(matched, 'record')} match, more than the maximum of ${maximum}`,
			{ hint: `Narrow the filter, or raise '${LABELS.maxRecordsToDelete}' to delete all of them.` },
		);
	}
	if (matched === 0 || dryRun) return { matched, deleted: 0, remaining: matched };
	const query = asPlainQuery(filter);
	const deletion =
		query === undefined ? undefined : await deleteByQuery(table, filter, query, matched);
	return deletion ?? (await deleteOneByOne(table, filter, matched, attempt));
}
