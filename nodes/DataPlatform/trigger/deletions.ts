/**
 * Finds the records of a table that were deleted, by comparing the IDs that were there with those
 * in the list now. An ID that the list lacks is only a candidate: it counts as deleted once the
 * platform, asked for the record itself, reports that there is none. `DeletionWatcher` decides when a
 * poll checks, and which IDs it watches from then on.
 */
import { countRecords } from '../api/aggregates';
import { packIds, unpackIds } from '../api/packing';
import { findRecord } from '../api/records';
import { readLatestChange, readPage, type RecordQuery } from '../api/pages';
import { readRecords } from '../api/readRecords';
import type { Table } from '../api/table';
import type { PlatformRecord } from '../api/types';
import { forEachConcurrent } from '../transport/concurrency';
import { serviceErrorOrThrow, InputError, isForbidden, ServiceError } from '../transport/errors';
import type { Change, Limits } from '../changes/tracker';
import { toProblem } from '../parameters/describeFailure';
import { LABELS } from '../labels';
import type { SavedDeletions } from './savedState';
import type { DeletionLimits, Watch } from './watch';

/** How many records a watched table may have: each check lists them all, and all IDs are stored. */
export const MAX_WATCHED = 50_000;

/** How many records one check looks up by ID; the next check looks up the rest. */
const MAX_LOOKUPS = 500;
const LOOKUPS_AT_ONCE = 4;

/** If the list lacks more records that exist, it is not a list of the whole table. */
const MAX_UNLISTED = 100;

/** This few records may be missing, whatever their share, if they are no more than half of all. */
const FEW_MISSING = 5;

/** What to watch, and how much one check may do. */
export interface DeletionCheck {
	table: Table;
	/** Selects the records to watch: those that match when watching starts. */
	query: Pick<RecordQuery, 'filter' | 'savedView'>;
	/** False when it is time to finish. */
	hasTime: () => boolean;
}

/** Field types with short values. */
const SHORT_TYPES = ['checkbox', 'number', 'date', 'decimal', 'dropdown', 'radio', 'text'];

/**
 * One short field to load if only IDs are needed. None, which loads all, if the definition can't be
 * read.
 */
async function shortField({ table }: DeletionCheck): Promise<string[]> {
	const { fields } = await table.definition().catch(() => ({ fields: [] }));
	const short = SHORT_TYPES.flatMap((type) => fields.filter((field) => field.type === type));
	return short.slice(0, 1).map(({ name }) => name);
}

const tooLarge = (count: string) =>
	new InputError(
		`Deletions are watched in tables of at most ${MAX_WATCHED} records; this one has ${count}`,
		{
			hint: `Use the Data Platform Webhook Trigger, which a workflow of the platform calls when a record is deleted, or choose another event under '${LABELS.triggerOn}'.`,
		},
	);

const notWhole = (missing: number) =>
	new ServiceError(`The platform's list of records is incomplete: it lacks at least ${missing}`, {
		delivery: 'notApplied',
		hint: 'No record was treated as deleted. The next poll reads the list again.',
	});

/**
 * The IDs of all records that match.
 *
 * @param isEnough whether the IDs found so far suffice; called after each page
 * @throws {ServiceError}
 * @throws {InputError} if there are too many records
 */
async function listIds(
	check: DeletionCheck,
	query: DeletionCheck['query'],
	fields: string[],
	isEnough: (page: PlatformRecord[], ids: Set<string>) => boolean = () => false,
): Promise<Set<string>> {
	const { table, hasTime } = check;
	const ids = new Set<string>();
	const wanted = { ...query, fields, untilEmpty: true };
	for await (const page of readRecords(table, wanted, MAX_WATCHED + 1)) {
		for (const { id } of page) ids.add(id);
		if (ids.size > MAX_WATCHED) throw tooLarge(`more than ${MAX_WATCHED}`);
		if (isEnough(page, ids)) break;
		if (hasTime()) continue;
		throw new ServiceError('There was no time to read the whole list of records', {
			delivery: 'notApplied',
			hint: 'The platform responds slowly, or the table is large. No record was treated as deleted.',
		});
	}
	return ids;
}

const isNarrowed = ({ filter, savedView }: DeletionCheck['query']) =>
	Boolean(savedView) || (filter?.filter.length ?? 0) > 0;

/**
 * The IDs of the records to watch when watching starts.
 *
 * @throws {InputError} if the table is too large
 * @throws {ServiceError}
 */
export async function readWatchedIds(check: DeletionCheck): Promise<Set<string>> {
	const { table, query } = check;
	const before = await countRecords(table);
	if (before > MAX_WATCHED) throw tooLarge(String(before));
	const fields = await shortField(check);
	if (isNarrowed(query)) return await listIds(check, query, fields);
	const ids = await listIds(check, query, fields, (_, { size }) => size >= before);
	if (ids.size >= before) return ids;
	// Some records may have been deleted in the meantime.
	const missing = Math.min(before, await countRecords(table)) - ids.size;
	if (missing > 0) throw notWhole(missing);
	return ids;
}

/**
 * True if a look-up gets the platform's own 404. One from a gateway in front of it says nothing about
 * the record.
 *
 * @throws {ServiceError}
 */
async function isGone({ table }: DeletionCheck, id: string): Promise<boolean> {
	const found = await findRecord(table, id).catch(serviceErrorOrThrow);
	if (!(found instanceof ServiceError)) return found === null;
	// It exists, but this token may not read it.
	if (isForbidden(found)) return false;
	throw found;
}

const tooMany = (missing: number, size: number, limit: string, option: string) =>
	new InputError(
		`${missing} of ${size} records are missing at once, more than ${limit}; none was treated as deleted`,
		{
			hint: `Check the table, and what the token may read. If they were deleted, raise '${option}' in the options.`,
		},
	);

interface DeletionOptions extends Omit<DeletionLimits, 'intervalMs'> {
	/** How many deletions there is room for. */
	room: number;
	addsMatching: boolean;
}

/** The deletions that a check found. */
export interface Deletions {
	deleted: string[];
	/** Records that match now and were not watched before. */
	added: string[];
	/** Every record that the list lacks was looked up, and all deletions are returned. */
	isWhole: boolean;
	/** The list lacks no record that exists. */
	isListComplete: boolean;
}

/**
 * Finds the watched records that were deleted.
 *
 * @param addsMatching whether to also return the records that match now
 * @throws {InputError} if more are missing, or the table is too large
 * @throws {ServiceError}
 */
export async function findDeletions(
	check: DeletionCheck,
	watched: ReadonlySet<string>,
	{ room, maxShare, maximum, addsMatching }: DeletionOptions,
): Promise<Deletions> {
	const { table, query, hasTime } = check;
	const fields = await shortField(check);
	const mustBeWhole = addsMatching && !isNarrowed(query);
	let left = watched.size;
	const listed = await listIds(check, {}, fields, (page) => {
		left -= page.filter(({ id }) => watched.has(id)).length;
		return left === 0 && !mustBeWhole;
	});
	const missing = [...watched].filter((id) => !listed.has(id));
	const { size } = watched;
	const few = Math.min(FEW_MISSING, Math.ceil(size / 2));
	if (missing.length > few && missing.length > (size * maxShare) / 100) {
		throw tooMany(missing.length, size, `${maxShare} %`, LABELS.maxDeletedShare);
	}
	if (missing.length > maximum) {
		throw tooMany(missing.length, size, String(maximum), LABELS.maxDeletions);
	}
	const deleted: string[] = [];
	let unlisted = 0;
	let asked = 0;
	await forEachConcurrent(missing.slice(0, MAX_LOOKUPS), LOOKUPS_AT_ONCE, async (id) => {
		if (!hasTime() || unlisted > MAX_UNLISTED || deleted.length >= room) return;
		asked += 1;
		if (await isGone(check, id)) deleted.push(id);
		else unlisted += 1;
	});
	if (unlisted > MAX_UNLISTED) throw notWhole(unlisted);
	// Look-ups that ran at the same time may find more.
	const excess = deleted.splice(room);
	// If the table disappeared or the token lost its rights, all records would look deleted.
	if (deleted.length > 0) await readPage(table, {}, { limit: 1, skip: 0 });
	const readMatching = async () => {
		if (!addsMatching) return [];
		return [...(isNarrowed(query) ? await listIds(check, query, fields) : listed)];
	};
	return {
		deleted,
		added: (await readMatching()).filter((id) => !watched.has(id)),
		isWhole: asked - excess.length === missing.length,
		isListComplete: unlisted === 0,
	};
}

/** Above this, no IDs are added: the table is too large to watch, which the checks report. */
const MAX_IDS = 2 * MAX_WATCHED;

/** The deletions that a poll found. */
interface Found {
	deleted: string[];
	/** Undefined if deletions are not watched. */
	saved?: SavedDeletions;
	/**
	 * n8n must store the state even if nothing is emitted. Without it, newly watched records would be
	 * forgotten, and their deletion missed.
	 */
	mustStore?: boolean;
	/** Why the check failed, if the poll has no changes to emit. The state holds nevertheless. */
	failure?: unknown;
}

export class DeletionWatcher {
	constructor(
		private readonly watch: Watch,
		private readonly budget: { hasTime(): boolean; limits: Pick<Limits, 'settleMs'> },
	) {}

	private get check() {
		const { table, query } = this.watch;
		return { table, query, hasTime: () => this.budget.hasTime() };
	}

	/**
	 * Checks for deletions if it is time to, and adds the records of emitted changes to those it
	 * watches.
	 *
	 * @param known undefined when watching starts
	 * @param isBehind whether there is a backlog of changes: they come first
	 */
	async next(
		known: SavedDeletions | undefined,
		changes: Change[],
		isBehind: boolean,
	): Promise<Found> {
		const { deletions } = this.watch;
		if (!deletions) return { deleted: [] };
		if (!known) {
			const start = { ids: packIds(await readWatchedIds(this.check)), checkedAt: Date.now() };
			return { deleted: [], saved: withChanges(start, changes) };
		}
		const now = Date.now();
		const isDue = now < known.checkedAt || now - known.checkedAt >= deletions.intervalMs;
		const room = this.watch.changes.maximum - changes.length;
		const mayCheck = isDue && !isBehind && room > 0 && this.budget.hasTime();
		if (!mayCheck) return { deleted: [], saved: withChanges(known, changes) };
		try {
			const { saved, ...found } = await this.find(known, room);
			// A record may be deleted between the reading of its change and the check.
			const gone = new Set<string>(found.deleted);
			const left = changes.filter(({ record }) => !gone.has(record.id));
			return { ...found, saved: withChanges(saved, left) };
		} catch (error) {
			// The next check is not sooner than after one that succeeds.
			const saved = withChanges({ ...known, checkedAt: now }, changes);
			if (changes.length === 0) return { deleted: [], saved, failure: error };
			// If each poll has changes to emit, only the log says why nothing is deleted.
			const { message, hint } = toProblem(error);
			const text = [`The check for deletions failed: ${message}`, hint].filter(Boolean).join('. ');
			this.watch.table.client.logger.warn(`Data Platform Trigger: ${text}`);
			return { deleted: [], saved };
		}
	}

	private async find(known: SavedDeletions, room: number) {
		const { watch, check } = this;
		const checkedAt = Date.now();
		const latest = await readLatestChange(watch.table);
		const seen = `${await countRecords(watch.table)} ${latest}`;
		if (seen === known.seen) return { deleted: [], saved: { ...known, checkedAt } };
		const ids = new Set(unpackIds(known.ids));
		const { deleted, added, isWhole, isListComplete } = await findDeletions(check, ids, {
			...{ room, ...watch.deletions! },
			// An emitted change already shows that its record exists.
			addsMatching: !watch.emitsChanges,
		});
		for (const id of added) ids.add(id);
		for (const id of deleted) ids.delete(id);
		// At the time of the latest change, a new record may yet make up for a deleted one.
		const clock = watch.table.client.servedAt ?? checkedAt;
		const isRecent = clock - Date.parse(latest ?? '') < this.budget.limits.settleMs;
		const rest = isWhole ? { checkedAt, ...(isListComplete && !isRecent && { seen }) } : known;
		return { deleted, saved: { ...rest, ids: packIds(ids) }, mustStore: added.length > 0 };
	}
}

/** The state with the IDs of emitted records added. */
function withChanges(saved: SavedDeletions, changes: Change[]): SavedDeletions {
	if (changes.length === 0) return saved;
	const ids = new Set(unpackIds(saved.ids));
	const before = ids.size;
	for (const { record } of changes) if (ids.size < MAX_IDS) ids.add(record.id);
	if (ids.size === before) return saved;
	// The last check may have come after such a record was deleted: a quiet table proves nothing for it.
	return { ...saved, ids: packIds(ids), seen: undefined };
}
