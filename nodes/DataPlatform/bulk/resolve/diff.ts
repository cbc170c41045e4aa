/**
 * How a record differs from the stored one, to write only the differences, and for a dry run. Pure.
 */
import type { FieldValues, PlatformRecord } from '../../api/types';
import { getOwn } from '../../transport/json';
import { compareFields, type WriteContext } from './compare';
import { notFoundItem } from './resolveOutcome';
import type { Entry, ItemOutcome } from '../terms';

/** The fields that a write changes, with their values before and after. */
export function changesOf(fields: FieldValues, before: PlatformRecord, context: WriteContext) {
	const compared = compareFields(fields, {}, before, context);
	// Any value is written unless proven equal.
	const changed = compared.filter(({ isHeld }) => isHeld !== true);
	const stored = changed.map(({ name }) => [name, getOwn(before.fields, name) ?? null]);
	return {
		previous: Object.fromEntries(stored) as FieldValues,
		after: Object.fromEntries(changed.map(({ name, value }) => [name, value])),
	};
}

/**
 * Compares an entry with the record that is stored, `before`.
 *
 * @returns what is left to send, or the outcome if nothing is
 */
export function diffEntry(
	entry: Entry,
	context: WriteContext,
	isDryRun: boolean,
): Entry | ItemOutcome {
	const { mode } = context;
	const { before, fields } = entry;
	// Only a dry run checks for an existing key before creating. Otherwise, the service decides.
	if (mode === 'create' && (before || entry.sharedKey?.isFirst === false)) {
		return duplicateKeyOutcome(entry);
	}
	if (!before) {
		if (mode === 'update' || mode === 'replace') return notFoundItem(entry.id);
		return isDryRun ? { outcome: 'inserted', after: fields } : { ...entry, before: null };
	}
	const { id, created, modified, ver } = before;
	const { previous, after } = changesOf(fields, before, context);
	if (Object.keys(after).length === 0) return { outcome: 'unchanged', id, created, modified, ver };
	if (isDryRun) return { outcome: 'updated', id, before: previous, after };
	// A full update clears the fields that it omits, so all are sent.
	return mode === 'replace' ? entry : { ...entry, id, before, sent: after };
}

function duplicateKeyOutcome({ key, sharedKey, before }: Entry): ItemOutcome {
	const name = `'${key ?? sharedKey?.text}'`;
	const why = before ? 'A record with the' : 'A previous item has the same';
	return {
		outcome: 'unknown',
		id: before?.id,
		message: `${why} import key ${name}${before ? ' already exists' : ''}: the platform would create a second record, or reject it`,
		hint: "Use 'Create or Update' to update it.",
	};
}
