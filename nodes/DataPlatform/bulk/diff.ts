/**
 * How a record differs from the stored one, to write only the differences, and for a dry run. Pure.
 */
import { getOwn } from '../transport/json';
import { withSent, type Entry } from './entry';
import { compareFields, type WriteContext } from './evidence';
import { notFound } from './judge';
import type { ItemOutcome } from './outcome';

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
	const { mode, key, isSingle } = context;
	const { before, fields } = entry;
	// Only a dry run checks for an existing key before creating. Otherwise, the service decides.
	if (mode === 'create' && (before || entry.sharedKey?.isFirst === false)) {
		return duplicateKeyOutcome(entry);
	}
	if (!before) {
		if (mode === 'update' || mode === 'replace') return notFound({ entry, context });
		return isDryRun ? { outcome: 'inserted', after: fields } : { ...entry, before: null };
	}
	const { id, created, modified, ver } = before;
	// Any value is written unless proven equal.
	const changed = compareFields(fields, {}, before, context).filter(
		({ isHeld }) => isHeld !== true,
	);
	const after = Object.fromEntries(changed.map(({ name, value }) => [name, value]));
	// Another item may have the same key, written differently, and change the record first.
	if (changed.length === 0 && (isDryRun || !entry.hasUncertainKey)) {
		const unchanged = { outcome: 'unchanged', id, created, modified, ver } as const;
		return isSingle ? { ...unchanged, fields: before.fields } : unchanged;
	}
	if (isDryRun) {
		const now = changed.map(({ name }) => [name, getOwn(before.fields, name) ?? null]);
		return { outcome: 'updated', id, before: Object.fromEntries(now), after };
	}
	// A full update clears the fields that it omits, so all are sent. An upsert needs its key.
	if (mode === 'replace') return entry;
	if (mode === 'upsert' && key !== undefined) after[key] = fields[key]!;
	return withSent(entry, after, before);
}

function duplicateKeyOutcome({ key, sharedKey, before }: Entry): ItemOutcome {
	const name = `'${key ?? sharedKey?.text}'`;
	return {
		outcome: 'failed',
		id: before?.id,
		message: before
			? `A record with the import key ${name} already exists`
			: `A previous item has the same import key ${name}`,
		hint: { code: 'updateInstead' },
	};
}
