/**
 * When a poll looks for deletions, and which ids it watches from then on.
 */
import { packIds, unpackIds } from '../changes/compact';
import { findDeletions, MAX_WATCHED, readWatchedIds, type Deletions } from '../changes/deletions';
import type { Change } from '../changes/tracker';
import type { ApiClient } from '../transport/client';
import type { SavedDeletions } from './savedState';
import type { Watch } from './watch';

/** Ids are no longer added: the table is larger than can be watched, which checks report. */
const MAX_IDS = 2 * MAX_WATCHED;

/** What a poll came to as to deletions. */
interface Found {
	deleted: string[];
	/** Undefined where deletions are not watched. */
	saved?: SavedDeletions;
	/** Whether n8n must store the state, even if nothing is emitted: what was seen is seen once. */
	mustStore: boolean;
}

export class DeletionWatcher {
	constructor(
		private readonly client: ApiClient,
		private readonly watch: Watch,
		private readonly budget: { hasTime(): boolean },
	) {}

	private get check() {
		const { at, query } = this.watch;
		return { client: this.client, at, query, hasTime: () => this.budget.hasTime() };
	}

	/** The state that watching begins with; undefined where deletions are not watched. */
	async begin(): Promise<SavedDeletions | undefined> {
		if (!this.watch.deletions) return undefined;
		return { ids: packIds(await readWatchedIds(this.check)), checkedAt: Date.now() };
	}

	/**
	 * Looks for deletions where it is time to, and watches the records of the changes that are emitted.
	 *
	 * @param isBehind whether changes wait to be emitted: they come first
	 */
	async next(
		known: SavedDeletions | undefined,
		changes: Change[],
		isBehind: boolean,
	): Promise<Found> {
		const { deletions } = this.watch;
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
		const found = mayCheck ? await this.look(ids, changes, room) : undefined;
		if (!found) return { deleted: [], saved: withIds(known, ids, changes), mustStore: false };
		const { deleted, added, isWhole } = found;
		for (const id of added) if (ids.size < MAX_IDS) ids.add(id);
		const checkedAt = isWhole ? now : known.checkedAt;
		return {
			deleted,
			saved: withIds({ ...known, checkedAt }, ids, changes, deleted),
			mustStore: added.length > 0,
		};
	}

	/** A check; undefined where it failed, but there is something to emit: the next poll checks again. */
	private async look(
		watched: Set<string>,
		changes: Change[],
		room: number,
	): Promise<Deletions | undefined> {
		const { deletions, emitsChanges } = this.watch;
		const { maxShare } = deletions!;
		// Of a record that is emitted, the change says that it is there.
		const options = { room, maxShare, addsMatching: !emitsChanges };
		const search = findDeletions(this.check, watched, options);
		return changes.length > 0 ? await search.catch(() => undefined) : await search;
	}
}

/** The state with the ids of what is emitted, less those of what is gone. */
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
