/**
 * The newest change in the table before this execution wrote anything, in the platform's time, and
 * comparisons with it. The contract leaves open how precise the platform's clock is
 * (contract/openapi.yaml), so equal times alone prove nothing.
 */
import { MAX_PAGE_SIZE } from '../api/endpoints';
import { readNewestChanges } from '../api/pages';
import type { PlatformRecord, RecordMetadata, TableAddress, TableDefinition } from '../api/types';
import { holdsData } from '../fields';
import type { ApiClient } from '../transport/client';
import { serviceErrorOrThrow, ServiceError } from '../transport/errors';

/** The newest versions in a table. */
export interface NewestVersions {
	time: string;
	/** The IDs of the records that were changed at that time, with their versions. */
	versions: ReadonlyMap<string, number | undefined>;
	/** Whether other records with that time were changed later; undefined if unknown. */
	areOthersLater: boolean | undefined;
}

/** `none` for an empty table, undefined if it could not be read. */
export type LastChange = NewestVersions | 'none' | undefined;

/**
 * No new change can get a time in whole seconds that is this old, even if servers' clocks differ.
 */
const PAST_MS = 60_000;

/**
 * The same for times with hundredths of a second. The service's own time has whole seconds only.
 */
const FINE_PAST_MS = 2_000;

/** How many of the newest changes to read: few, but usually more than share one time. */
const FIRST_READ = 10;

/** Limits for reading more of them: how many changes, and how many requests if pages are short. */
const MOST_READ = 3 * MAX_PAGE_SIZE;
const MOST_PAGES = 12;

/**
 * The newest change in the table before anything is written. Undefined if the token may not read:
 * then the counts and times of each response must do. Returns any other failure.
 *
 * @param table its definition, awaited only if a second request is needed
 */
export async function readLastChange(
	client: ApiClient,
	at: TableAddress,
	table: TableDefinition | Promise<TableDefinition>,
): Promise<LastChange | ServiceError> {
	const result = await readChanges(client, at, table).catch(serviceErrorOrThrow);
	if (!(result instanceof ServiceError)) return result;
	return result.delivery === 'rejected' && result.status !== 401 ? undefined : result;
}

async function readChanges(
	client: ApiClient,
	at: TableAddress,
	table: TableDefinition | Promise<TableDefinition>,
): Promise<LastChange> {
	const { records, now } = await readNewestChanges(client, at, { limit: FIRST_READ, skip: 0 });
	if (records.length === 0) return 'none';
	const time = records[0]!.modified;
	if (time === undefined) return undefined;
	const newest = (all: PlatformRecord[]) =>
		all.filter(({ modified }) => isSameTime(modified, time));
	const versions = new Map(newest(records).map(({ id, ver }) => [id, ver]));
	if (versions.size < records.length) return { time, versions, areOthersLater: true };
	if (isOver(time, now)) return { time, versions, areOthersLater: false };
	// Any field will do. If none is named, the platform returns all of them.
	const field = (await table).fields.find(holdsData);
	let skip = records.length;
	for (let page = 0; page < MOST_PAGES && skip < MOST_READ; page++) {
		const part = { limit: MAX_PAGE_SIZE, skip };
		const { records: more } = await readNewestChanges(client, at, part, field && [field.name]);
		for (const { id, ver } of newest(more)) versions.set(id, ver);
		// A short page need not be the last one.
		const areAll = more.length === 0 || newest(more).length < more.length;
		if (areAll) return { time, versions, areOthersLater: true };
		skip += more.length;
	}
	return { time, versions, areOthersLater: undefined };
}

/** Whether no new change can get this time any more. */
function isOver(time: string, now: number | undefined): boolean {
	// On a clock with milliseconds, it is over before the response arrives.
	if (Date.parse(time) % 10 !== 0) return true;
	const age = now === undefined ? -Infinity : now - Date.parse(time);
	return age >= (isWholeSecond(time) ? PAST_MS : FINE_PAST_MS);
}

/** An unknown time equals no other. */
export const isSameTime = (one = '', other = '') => Date.parse(one) === Date.parse(other);

/** Whether a time is after the last change; undefined if they are equal, or one is unknown. */
function isLater(time: string, { time: last }: NewestVersions) {
	const difference = Date.parse(time) - Date.parse(last);
	return difference === 0 || Number.isNaN(difference) ? undefined : difference > 0;
}

/** Whether a record was created after the last change; undefined if unknown. */
export function wasCreatedSince(
	{ id, created }: RecordMetadata,
	lastChange: LastChange,
): boolean | undefined {
	if (lastChange === 'none') return true;
	if (lastChange === undefined || created === undefined) return undefined;
	const { versions, areOthersLater } = lastChange;
	return isLater(created, lastChange) ?? (versions.has(id) ? false : areOthersLater);
}

/** Whether a record was changed after the last change; undefined if unknown. */
export function wasChangedSince(
	{ id, modified, ver }: RecordMetadata,
	lastChange: LastChange,
): boolean | undefined {
	if (lastChange === 'none') return true;
	if (lastChange === undefined || modified === undefined) return undefined;
	const { versions, areOthersLater } = lastChange;
	const later = isLater(modified, lastChange);
	if (later !== undefined || !versions.has(id)) return later ?? areOthersLater;
	const before = versions.get(id);
	return ver === undefined || before === undefined ? undefined : ver !== before;
}

/** Whether a time has whole seconds: the clock may be no finer. */
const isWholeSecond = (time: string) => Date.parse(time) % 1000 === 0;

/** Whether a record was never changed after it was created; undefined if unknown. */
export function isFirstVersion({ created, modified, ver }: RecordMetadata): boolean | undefined {
	if (created === undefined || modified === undefined) return undefined;
	if (!isSameTime(created, modified)) return false;
	// If it was changed within that second, its version is no longer the first.
	return isWholeSecond(created) && ver !== undefined ? ver === 0 : true;
}

/** Whether two readings of a record show the same version; undefined if unknown. */
export function isSameVersion(one: RecordMetadata, other: RecordMetadata): boolean | undefined {
	if (one.ver !== undefined && other.ver !== undefined) return one.ver === other.ver;
	if (one.modified === undefined || !isSameTime(one.modified, other.modified)) return false;
	return isWholeSecond(one.modified) ? undefined : true;
}
