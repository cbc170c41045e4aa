/** Field rules: which fields of an existing record are written. Pure. */
import type { FieldDefinition, JsonValue, PlatformRecord } from '../../api/types';
import { fieldType } from '../../fields';
import { files } from '../../fields/types/files';
import { linkToMany } from '../../fields/types/link';
import { texts } from '../../fields/types/list';
import { holdsValue } from '../../fields/values';
import { getOwn } from '../../transport/json';
import type { Entry, ItemOutcome } from '../terms';
import type { FieldRules } from '../writeTask';

const LISTS = new Set([texts, files, linkToMany]);

/**
 * `false` and 0 are values; text of spaces only is empty. If in doubt, a field is not empty: if the
 * response omits it, or shows a list although its type is not one.
 */
function isBlank(field: FieldDefinition, stored: JsonValue | undefined): boolean {
	if (typeof stored === 'string') return stored.trim() === '';
	const type = fieldType(field);
	if (stored === undefined || (Array.isArray(stored) && !LISTS.has(type))) return false;
	return type.isEmpty(stored) === true;
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
	const held: string[] = [];
	for (const name of Object.keys(record.fields)) {
		const rule = rules.get(name);
		if (rule === undefined) continue;
		const isFilled = rule === 'ifEmpty' && isBlank(fields.get(name)!, getOwn(stored.fields, name));
		if (!isFilled) held.push(name);
	}
	if (held.length === 0) return record;
	const isHeld = new Set(held);
	const entries = Object.entries(record.fields);
	const kept = held.filter(
		(name) =>
			holdsValue(fields.get(name), getOwn(stored.fields, name), record.fields[name]) !== true,
	);
	return {
		...record,
		fields: Object.fromEntries(entries.filter(([name]) => !isHeld.has(name))),
		ruled: {
			held: Object.fromEntries(entries.filter(([name]) => isHeld.has(name))),
			kept,
		},
	};
}

/** The record with all its fields, because it turns out not to exist. */
export const withoutFieldRules = ({ ruled, ...record }: Entry): Entry =>
	ruled ? { ...record, fields: { ...record.fields, ...ruled.held } } : record;

/** Adds to an outcome the fields that kept a value other than the item's. */
export const withKept = (outcome: ItemOutcome, { ruled }: Entry): ItemOutcome =>
	ruled && ruled.kept.length > 0 ? { ...outcome, kept: ruled.kept } : outcome;
