/**
 * Decides when a poll checks for deletions, and which IDs it watches from then on.
 */
import { packIds, unpackIds } from '../api/packing';
import { toFailure } from '../parameters/describeFailure';
import { findDeletions, MAX_WATCHED, readWatchedIds } from './deletions';
import type { Change } from '../changes/tracker';
import type { ApiClient } from '../transport/client';
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
	mustStore: boolean;
}

export class DeletionWatcher {
	constructor(
		private readonly client: ApiClient,
		private readonly watch: Watch,
		private readonly budget: { hasTime(): boolean },
	) {}

	private get check() {
		const { address, query } = this.watch;
		return { client: this.client, address, query, hasTime: () => this.budget.hasTime() };
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
		const { deletions, emitsChanges } = this.watch;
		if (!deletions) return { deleted: [], mustStore: false };
		if (!known) {
			const saved = (await this.begin())!;
			const ids = new Set(unpackIds(saved.ids));
			return { deleted: [], saved: withIds(saved, ids, changes), mustStore: false };
		}
		const now = Date.now();
		const isDue = now < known.checkedAt || now - known.checkedAt >= deletions.intervalMs;
		const room = this.watch.changes.maximum - changes.length;
		const mayCheck = isDue && !isBehind && room > 0 && this.budget.hasTime();
		if (!mayCheck && changes.length === 0) return { deleted: [], saved: known, mustStore: false };
		const ids = new Set(unpackIds(known.ids));
		// An emitted change already shows that its record exists.
		const options = { room, maxShare: deletions.maxShare, addsMatching: !emitsChanges };
		const unchecked = () => ({
			deleted: [],
			saved: withIds(known, ids, changes),
			mustStore: false,
		});
		if (!mayCheck) return unchecked();
		const found = await findDeletions(this.check, ids, options).catch((error: unknown) => {
			if (changes.length === 0) throw error;
			// The next poll checks again. If each one has changes to emit, only the log says why nothing
			// is deleted.
			const { message, hint } = toFailure(error);
			const text = [`The check for deletions failed: ${message}`, hint].filter(Boolean).join('. ');
			this.client.logger.warn(`Data Platform Trigger: ${text}`);
		});
		if (!found) return unchecked();
		const { deleted, added, isWhole } = found;
		for (const id of added) if (ids.size < MAX_IDS) ids.add(id);
		const checkedAt = isWhole ? now : known.checkedAt;
		return {
			deleted,
			saved: withIds({ ...known, checkedAt }, ids, changes, deleted),
			mustStore: added.length > 0,
		};
	}
}

/** The state with the IDs of emitted records added and those of deleted ones removed. */
function withIds(
	saved: SavedDeletions,
	ids: Set<string>,
	changes: Change[],
	deleted: string[] = [],
): SavedDeletions {
	for (const { record } of changes) if (ids.size < MAX_IDS) ids.add(record.id);
	for (const id of deleted) ids.delete(id);
	return { ...saved, ids: packIds(ids) };
}
