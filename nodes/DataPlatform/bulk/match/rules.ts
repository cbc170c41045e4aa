/**
 * What to do with each item, by the records that it matches, and which of their fields are written.
 * Pure.
 */
import type { FieldDefinition, JsonValue, PlatformRecord } from '../../api/types';
import { fieldType } from '../../fields';
import { holdsValue } from '../../fields/values';
import { getOwn } from '../../transport/json';
import { asNew } from '../entry';
import { notFoundItem, quoted, severalMatch } from '../outcome';
import type { Entry, FieldRules, ItemOutcome, MatchRules, ResolvedEntry } from '../terms';
import { LABELS } from '../../labels';

/** As many records may always change, or be new: a share of a few is easily exceeded. */
export const ALWAYS_ALLOWED = 10;

const nothingMatches = (key: string): ItemOutcome => ({
	outcome: 'notFound',
	message: `No record matches ${quoted(key)}`,
	hint: `Check the value. '${LABELS.ifMissing}' in the options says what to do with items that have no record.`,
});

/** The outcome of an item whose record was deleted after it was matched. */
export const deletedMeanwhile = (
	{ id, key }: Entry,
	ifMissing: MatchRules['ifMissing'],
): ItemOutcome => {
	if (ifMissing === 'skip') return { outcome: 'skipped' };
	const match = key === undefined ? '' : `, which matched ${quoted(key)},`;
	return {
		outcome: 'notFound',
		id,
		message: `The record '${id}'${match} was deleted meanwhile`,
		hint: 'It is safe to run it again.',
		isRetryable: true,
	};
};

/**
 * Applies the rules to items, given the records that each matches.
 *
 * @param keepsMatches whether entries keep the record that they matched
 * @returns records to update, with their IDs; items without a record, to create; and the others
 */
export function decide(
	matches: Map<Entry, PlatformRecord[]>,
	{ ifFound, ifMissing, multipleMatches }: MatchRules,
	keepsMatches = false,
) {
	const updates: Entry[] = [];
	const creates: Entry[] = [];
	const outcomes: ResolvedEntry[] = [];
	for (const [entry, found] of matches) {
		const [match] = found;
		if (!match && ifMissing === 'create') {
			creates.push(asNew(entry));
		} else if (!match && ifMissing === 'skip') {
			outcomes.push([entry, { outcome: 'skipped', id: entry.id }]);
		} else if (!match) {
			const isById = entry.id !== undefined;
			outcomes.push([entry, isById ? notFoundItem(entry.id) : nothingMatches(entry.key!)]);
		} else if (found.length > 1 && multipleMatches === 'error') {
			outcomes.push([entry, severalMatch(entry, found)]);
		} else if (ifFound === 'skip') {
			outcomes.push([entry, { outcome: 'found', ...match }]);
		} else {
			updates.push({ ...entry, id: match.id, before: keepsMatches ? match : undefined });
		}
	}
	return { updates, creates, outcomes };
}

/**
 * `false` and 0 are values; text of spaces only is empty. A field that the response omits is not: the
 * token may not see its value.
 */
function isBlank(field: FieldDefinition, stored: JsonValue | undefined): boolean {
	if (typeof stored === 'string') return stored.trim() === '';
	return stored !== undefined && fieldType(field).isEmpty(stored) === true;
}

/**
 * What to write to an existing record.
 *
 * @param stored the record as it was read
 */
export function applyFieldRules(
	record: Entry,
	stored: PlatformRecord,
	rules: FieldRules,
	fields: ReadonlyMap<string, FieldDefinition>,
): Entry {
	const isHeld = (name: string) => {
		const rule = rules.get(name);
		if (rule !== 'ifEmpty') return rule === 'whenCreating';
		return !isBlank(fields.get(name)!, getOwn(stored.fields, name));
	};
	const entries = Object.entries(record.fields);
	const held = entries.filter(([name]) => isHeld(name));
	if (held.length === 0) return record;
	const written = entries.filter(([name]) => !isHeld(name));
	const different = held.filter(
		([name, value]) => holdsValue(fields.get(name), getOwn(stored.fields, name), value) !== true,
	);
	const kept = different.length > 0 ? different.map(([name]) => name) : undefined;
	return { ...record, fields: Object.fromEntries(written), kept };
}
