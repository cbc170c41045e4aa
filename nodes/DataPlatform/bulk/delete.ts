/**
 * Deleting what a filter matches: counted first, never more than the maximum, counted again after.
 */
import { paths } from '../api/endpoints';
import type { TableAddress } from '../api/types';
import { InputError, ServiceError } from '../transport/errors';
import { asAndConditions, isEmptyFilter, toQuery, type Group } from '../api/filters';
import { countRecords } from '../api/aggregates';
import { deleteRecord, readRecords } from '../api/records';
import type { ApiClient } from '../transport/client';

export interface DeleteManyOptions {
	/** More matches than this and nothing is deleted. */
	maximum: number;
	/** Whether a filter without conditions may mean all records. */
	allowAll: boolean;
	/** Count, delete nothing. */
	dryRun: boolean;
}

export interface Deletion {
	/** How many records matched before. */
	matched: number;
	deleted: number;
	/** How many match afterwards, deleted too late or added meanwhile. */
	remaining: number;
}

const PARALLEL_DELETES = 4;

const plural = (count: number) => (count === 1 ? '1 record' : `${count} records`);

/** The bulk endpoint's filter only joins by AND; anything else is deleted record by record. */
async function deleteOneByOne(
	client: ApiClient,
	at: TableAddress,
	filter: Group,
	matched: number,
): Promise<number> {
	const ids: string[] = [];
	for await (const page of readRecords(client, at, { filter }, matched)) {
		for (const { id } of page) ids.push(id);
	}
	let deleted = 0;
	const queue = ids.values();
	const work = async () => {
		for (const id of queue) {
			await deleteRecord(client, at, id);
			deleted += 1;
		}
	};
	const results = await Promise.allSettled(Array.from({ length: PARALLEL_DELETES }, work));
	const failed = results.find((result) => result.status === 'rejected');
	if (failed) {
		const cause = failed.reason as ServiceError;
		throw new ServiceError(
			`${cause.message}; ${deleted} of ${plural(matched)} were deleted`,
			cause,
		);
	}
	return deleted;
}

/**
 * Deletes all records that match.
 *
 * @throws {InputError} where more match than the maximum, or the filter is empty and may not be
 * @throws {ServiceError} whose message says how many are known to be deleted
 */
export async function deleteMany(
	client: ApiClient,
	at: TableAddress,
	filter: Group,
	{ maximum, allowAll, dryRun }: DeleteManyOptions,
): Promise<Deletion> {
	if (isEmptyFilter(filter) && !allowAll) {
		throw new InputError('Nothing was deleted: there is no filter', {
			hint: "Add a condition, or turn on 'Delete All Records' if every record is meant.",
		});
	}
	const matched = await countRecords(client, at, filter);
	if (matched > maximum) {
		throw new InputError(
			`Nothing was deleted: ${plural(matched)} match, more than the maximum of ${maximum}`,
			{ hint: "Narrow the filter, or raise 'Maximum' if all of them are meant." },
		);
	}
	if (matched === 0 || dryRun) return { matched, deleted: 0, remaining: matched };

	const conditions = asAndConditions(filter);
	if (!conditions) {
		const deleted = await deleteOneByOne(client, at, filter, matched);
		return { matched, deleted, remaining: await countRecords(client, at, filter) };
	}
	const result = await client.tryRequest({
		method: 'DELETE',
		path: paths.bulk(at),
		query: { limit: matched, filter: toQuery(conditions) },
		retryMode: 'notIdempotent',
		bodyRequirement: 'jsonOrNoContent',
	});
	const isFailure = result instanceof ServiceError;
	if (isFailure && result.delivery !== 'ambiguous') throw result;
	const remaining = await countRecords(client, at, filter).catch((error: ServiceError) => error);
	if (remaining instanceof Error) {
		throw new ServiceError(
			isFailure
				? `${result.message}; how many of ${plural(matched)} were deleted could not be found out: ${remaining.message}`
				: `The platform confirmed the deletion of up to ${plural(matched)}, but counting what is left did not work: ${remaining.message}`,
			{ ...remaining, delivery: 'ambiguous' },
		);
	}
	if (isFailure && remaining > 0) {
		const left = `${result.message}; ${plural(remaining)} of ${matched} still match`;
		throw result.mayStillApply
			? new ServiceError(`${left}, and the platform may still be deleting them`, {
					...result,
					hint: 'Wait a little and count them before you run it again.',
				})
			: new ServiceError(left, { ...result, hint: 'Run it again to delete the rest.' });
	}
	return { matched, deleted: Math.max(0, matched - remaining), remaining };
}
