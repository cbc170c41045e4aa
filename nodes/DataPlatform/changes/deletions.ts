/**
 * Which records of a table are gone: the ids that were there are compared with those that are. What
 * the list lacks is only a candidate; a record counts as deleted once the platform, asked for it by
 * its id, says that it has none.
 */
import { countRecords } from '../api/aggregates';
import { findRecord, readPage, readRecords, type RecordQuery } from '../api/records';
import { readTable } from '../api/tables';
import type { PlatformRecord, TableAddress } from '../api/types';
import type { ApiClient } from '../transport/client';
import { forEachConcurrent } from '../transport/concurrency';
import { failureAsValue, InputError, ServiceError } from '../transport/errors';

/** As many records as a watched table may have: each check lists them all, and all ids are stored. */
export const MAX_WATCHED = 50_000;

/** How many records one check asks for by id; the rest are asked for by the next one. */
const MAX_LOOKUPS = 500;
const LOOKUPS_AT_ONCE = 4;

/** With more records that a list lacks although they are there, it is no list of the table. */
const MAX_UNLISTED = 100;

/** So few records may be missing whatever their share is. */
const FEW = 10;

/** How often a list for the start is read that turns out not to be whole. */
const MAX_LISTINGS = 3;

/** What is watched, and how much one check may do. */
export interface DeletionCheck {
	client: ApiClient;
	at: TableAddress;
	/** Which records are watched: those that match at the start. */
	query: Pick<RecordQuery, 'filter' | 'savedView'>;
	/** False when it is time to come to an end. */
	hasTime: () => boolean;
}

/** Types of fields whose values are short. */
const SHORT_TYPES = ['checkbox', 'number', 'date', 'decimal', 'dropdown', 'radio', 'text'];

/** A field to load where only ids are wanted; none, which loads all, where the definition is not readable. */
async function shortField({ client, at }: DeletionCheck): Promise<string[]> {
	const table = await readTable(client, at).catch(() => undefined);
	const types = SHORT_TYPES.filter((type) => table?.fields.some((field) => field.type === type));
	const field = table?.fields.find(({ type }) => type === types[0]);
	return field ? [field.name] : [];
}

const tooLarge = (count: string) =>
	new InputError(
		`Deletions are watched in tables of at most ${MAX_WATCHED} records; this one has ${count}`,
		{
			hint: { code: 'useWebhookTrigger' },
		},
	);

const notWhole = (missing: number) =>
	new ServiceError(`The platform's list of records is not whole: it lacks at least ${missing}`, {
		delivery: 'notApplied',
		hint: 'Nothing was taken for deleted. The next poll reads the list again.',
	});

/**
 * The ids of all records that match.
 *
 * @param isEnough whether no others are needed, once those of a page were found
 * @throws {ServiceError}
 * @throws {InputError} if they are too many
 */
async function listIds(
	check: DeletionCheck,
	query: DeletionCheck['query'],
	fields: string[],
	isEnough: (page: PlatformRecord[], ids: Set<string>) => boolean = () => false,
): Promise<Set<string>> {
	const { client, at, hasTime } = check;
	const ids = new Set<string>();
	for await (const page of readRecords(client, at, { ...query, fields }, MAX_WATCHED + 1)) {
		for (const { id } of page) ids.add(id);
		if (ids.size > MAX_WATCHED) throw tooLarge(`more than ${MAX_WATCHED}`);
		if (isEnough(page, ids)) break;
		if (hasTime()) continue;
		throw new ServiceError('There was no time to read the whole list of records', {
			delivery: 'notApplied',
			hint: 'The platform responds slowly, or the table is large. Nothing was taken for deleted.',
		});
	}
	return ids;
}

const isNarrowed = ({ filter, savedView }: DeletionCheck['query']) =>
	Boolean(savedView) || (filter?.filter.length ?? 0) > 0;

/**
 * The ids of the records to watch, where watching begins.
 *
 * @throws {InputError} where the table is too large
 * @throws {ServiceError}
 */
export async function readWatchedIds(check: DeletionCheck): Promise<Set<string>> {
	const { client, at, query } = check;
	let missing = 0;
	for (let listings = 0; listings < MAX_LISTINGS; listings += 1) {
		const before = await countRecords(client, at);
		if (before > MAX_WATCHED) throw tooLarge(String(before));
		const fields = await shortField(check);
		if (isNarrowed(query)) return await listIds(check, query, fields);
		const ids = await listIds(check, query, fields, (_, { size }) => size >= before);
		missing = before - ids.size;
		// Some may have been deleted meanwhile.
		if (missing > 0) missing = Math.min(before, await countRecords(client, at)) - ids.size;
		if (missing <= 0) return ids;
	}
	throw notWhole(missing);
}

/**
 * Whether a record is gone, asked for by its id. Only the platform's own words say that it is gone:
 * a 404 of a gateway in front of it says nothing of the record.
 *
 * @throws {ServiceError}
 */
async function isGone({ client, at }: DeletionCheck, id: string): Promise<boolean> {
	const found = await findRecord(client, at, id).catch(failureAsValue);
	if (!(found instanceof ServiceError)) return found === null;
	// There, but not for this token.
	if (found.status === 403) return false;
	throw found;
}

/** What a check came to. */
export interface Deletions {
	deleted: string[];
	/** Records that match and were not watched before. */
	added: string[];
	/** Whether every record that the list lacks was asked for. */
	isWhole: boolean;
}

/**
 * Looks which of the watched records are gone.
 *
 * @param room how many deletions there is room for
 * @param maxShare of the watched records, in percent, that may be missing at once
 * @param addsMatching whether to return the records that match now, too
 * @throws {InputError} where more are missing, or the table is too large
 * @throws {ServiceError}
 */
export async function findDeletions(
	check: DeletionCheck,
	watched: ReadonlySet<string>,
	{ room, maxShare, addsMatching }: { room: number; maxShare: number; addsMatching: boolean },
): Promise<Deletions> {
	const { client, at, query, hasTime } = check;
	const fields = await shortField(check);
	const mustBeWhole = addsMatching && !isNarrowed(query);
	let left = watched.size;
	const listed = await listIds(check, {}, fields, (page) => {
		left -= page.filter(({ id }) => watched.has(id)).length;
		return left === 0 && !mustBeWhole;
	});
	const missing = [...watched].filter((id) => !listed.has(id));
	if (missing.length > FEW && missing.length > (watched.size * maxShare) / 100) {
		throw new InputError(
			`${missing.length} of ${watched.size} records are missing at once, more than ${maxShare} %; none was taken for deleted`,
			{ hint: { code: 'raiseDeletedShare' } },
		);
	}
	const deleted: string[] = [];
	let unlisted = 0;
	let asked = 0;
	const candidates = missing.slice(0, Math.min(room, MAX_LOOKUPS));
	await forEachConcurrent(candidates, LOOKUPS_AT_ONCE, async (id) => {
		if (!hasTime() || unlisted > MAX_UNLISTED) return;
		asked += 1;
		if (await isGone(check, id)) deleted.push(id);
		else unlisted += 1;
	});
	if (unlisted > MAX_UNLISTED) throw notWhole(unlisted);
	// A table that went away, or a token that lost its rights, would make all records look deleted.
	if (deleted.length > 0) await readPage(client, at, {}, { limit: 1, skip: 0 });
	const matching = addsMatching
		? isNarrowed(query)
			? await listIds(check, query, fields)
			: listed
		: new Set<string>();
	return {
		deleted,
		added: [...matching].filter((id) => !watched.has(id)),
		isWhole: asked === missing.length,
	};
}
