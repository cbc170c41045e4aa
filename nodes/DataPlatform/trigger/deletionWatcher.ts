/**
 * Decides when a poll checks for deletions, and which IDs it watches from then on.
 */
import { countRecords } from '../api/aggregates';
import { packIds, unpackIds } from '../api/packing';
import { readLatestChange } from '../api/pages';
import { toProblem } from '../parameters/describeFailure';
import { findDeletions, MAX_WATCHED, readWatchedIds } from './deletions';
import type { Change } from '../changes/tracker';
import type { SavedDeletions } from './savedState';
import type { Watch } from './watch';

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
		private readonly budget: { hasTime(): boolean },
	) {}

	private get check() {
		const { table, query } = this.watch;
		return { table, query, hasTime: () => this.budget.hasTime() };
	}

	/** The state that watching starts with; undefined if deletions are not watched. */
	async begin(): Promise<SavedDeletions | undefined> {
		if (!this.watch.deletions) return undefined;
		return { ids: packIds(await readWatchedIds(this.check)), checkedAt: Date.now() };
	}

	/**
	 * Checks for deletions if it is time to, and adds the records of emitted changes to those it
	 * watches.
	 *
	 * @param isBehind whether there is a backlog of changes: they come first
	 */
	async next(
		known: SavedDeletions | undefined,
		changes: Change[],
		isBehind: boolean,
	): Promise<Found> {
		const { deletions } = this.watch;
		if (!deletions) return { deleted: [] };
		if (!known) return { deleted: [], saved: withChanges((await this.begin())!, changes) };
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
			added: new Set(known.added && unpackIds(known.added)),
			// An emitted change already shows that its record exists.
			addsMatching: !watch.emitsChanges,
		});
		for (const id of added) if (ids.size < MAX_IDS) ids.add(id);
		for (const id of deleted) ids.delete(id);
		const rest = isWhole ? { checkedAt, ...(isListComplete && { seen }) } : known;
		return { deleted, saved: { ...rest, ids: packIds(ids) }, mustStore: added.length > 0 };
	}
}

/** The state with the IDs of emitted records added. */
function withChanges(saved: SavedDeletions, changes: Change[]): SavedDeletions {
	if (changes.length === 0) return saved;
	const ids = new Set(unpackIds(saved.ids));
	const before = ids.size;
	const added = new Set(saved.added && unpackIds(saved.added));
	for (const { record } of changes) {
		if (ids.has(record.id) || ids.size >= MAX_IDS) continue;
		ids.add(record.id);
		added.add(record.id);
	}
	// The last check may have come after such a record was deleted: a quiet table proves nothing for it.
	const { seen, ...unseen } = saved;
	const rest = ids.size === before && seen !== undefined ? { ...unseen, seen } : unseen;
	return { ...rest, ids: packIds(ids), ...(added.size > 0 && { added: packIds(added) }) };
}
