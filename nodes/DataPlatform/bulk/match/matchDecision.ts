/** What to do with each item, by the records that it matches. Pure. */
import type { PlatformRecord } from '../../api/types';
import { asPlanned } from '../entry';
import { MATCHES_SHOWN, quoted, severalMatch } from '../outcome';
import type { MatchRules } from '../writeTask';
import type { Entry, ItemOutcome, ResolvedEntry } from '../terms';
import { LABELS } from '../../labels';

/** What to do with items, by the rules. */
export interface Decision {
	/** Records to update, with their IDs; several for an item that matches several. */
	updates: Entry[];
	/** Items without a record, to create. */
	creates: Entry[];
	outcomes: ResolvedEntry[];
}

/** How many matching records of an item matter, by *Multiple Matches*. */
export const MATCHES_NEEDED = { error: MATCHES_SHOWN + 1, first: 1, all: Infinity } as const;

const NOT_FOUND = {
	outcome: 'notFound',
	hint: `Check the value. '${LABELS.ifMissing}' in the options says what to do with items that have no record.`,
} as const;

const nothingMatches = ({ id, key }: Entry): ItemOutcome => ({
	...NOT_FOUND,
	id,
	message:
		id === undefined
			? `No record matches ${quoted(key!)}`
			: `The table has no record with the ID '${id}'`,
});

/** The outcome of an item whose record was deleted after it was matched. */
export const deletedMeanwhile = ({ id, key }: Entry): ItemOutcome => ({
	...NOT_FOUND,
	id,
	message: `The record '${id}', which matched ${quoted(key!)}, was deleted meanwhile`,
});

const foundItem = ({ id, created, modified, ver, fields }: PlatformRecord): ItemOutcome => ({
	outcome: 'found',
	id,
	created,
	modified,
	ver,
	fields,
});

/**
 * Applies the rules to items, given the records that each matches.
 *
 * @param keepsMatches whether entries keep the record that they matched
 */
export function decide(
	matches: Map<Entry, PlatformRecord[]>,
	{ ifFound, ifMissing, multipleMatches }: MatchRules,
	keepsMatches = false,
): Decision {
	const updates: Entry[] = [];
	const creates: Entry[] = [];
	const outcomes: ResolvedEntry[] = [];
	for (const [entry, found] of matches) {
		if (found.length === 0 && ifMissing === 'create') {
			creates.push({ ...asPlanned(entry), id: undefined, before: null });
		} else if (found.length === 0) {
			const skipped = { outcome: 'skipped', id: entry.id } as const;
			outcomes.push([entry, ifMissing === 'skip' ? skipped : nothingMatches(entry)]);
		} else if (found.length > 1 && multipleMatches === 'error') {
			outcomes.push([entry, severalMatch(entry, found)]);
		} else {
			for (const match of multipleMatches === 'all' ? found : found.slice(0, 1)) {
				const before = keepsMatches ? match : undefined;
				if (ifFound === 'skip') outcomes.push([entry, foundItem(match)]);
				else updates.push({ ...asPlanned(entry), id: match.id, before });
			}
		}
	}
	return { updates, creates, outcomes };
}

/** Two items may happen to have the same key. It then can't show which created record is whose. */
export function withoutSharedKeys(records: Entry[]): Entry[] {
	const counts = new Map<string | undefined, number>();
	for (const { key } of records) counts.set(key, (counts.get(key) ?? 0) + 1);
	return records.map((record) =>
		counts.get(record.key)! > 1 ? { ...record, key: undefined } : record,
	);
}
