/**
 * Compares values to send, or that were sent, with what is stored: to write only the differences,
 * for a dry run, and to find out what became of a write. Pure.
 */
import type {
	FieldDefinition,
	FieldValues,
	JsonValue,
	PlatformRecord,
	RecordMetadata,
} from '../../api/types';
import { fieldType, isWritable } from '../../fields';
import { appendedFields, holdsValue } from '../../fields/values';
import { getOwn, isObject } from '../../transport/json';
import { modeOf, sentFields } from '../entry';
import { notFoundItem } from '../outcome';
import type { Entry, ItemOutcome, WriteMode } from '../terms';

/** What must be known about a table to compare its records. */
export interface WriteContext {
	mode: WriteMode;
	/** Nobody asks for their IDs. */
	withoutIds?: boolean;
	fields: ReadonlyMap<string, FieldDefinition>;
}

/**
 * A record that must be sent only once: it adds to what is stored, such as
 * `{ papers: { add: [file] } }` or a chat message. Setting `{ age: 7 }` twice does no harm.
 */
export const isAppending = (
	entry: Pick<Entry, 'fields' | 'sent'>,
	fields: Iterable<FieldDefinition>,
): boolean => appendedFields(fields, sentFields(entry)).length > 0;

/** The fields that a full update clears because it omits them, each with the value null. */
function omittedFields(
	sent: FieldValues,
	stored: PlatformRecord,
	fields: WriteContext['fields'],
): FieldValues {
	const names = Object.keys(stored.fields).filter((name) => {
		const field = fields.get(name);
		return field !== undefined && isWritable(field) && !Object.hasOwn(sent, name);
	});
	return Object.fromEntries(names.map((name) => [name, null]));
}

/** The stored files of a field, without those that it had before. */
function newFiles(stored: JsonValue | undefined, before: JsonValue | undefined) {
	if (!Array.isArray(stored) || !Array.isArray(before)) return stored;
	const idsBefore = new Set(before.map((file) => isObject(file) && file.fileId));
	return stored.filter((file) => !isObject(file) || !idsBefore.has(file.fileId));
}

/** The values of a record that can prove an addition. Those that were there before can't. */
function asAdded(
	sent: FieldValues,
	before: Entry['before'],
	stored: PlatformRecord,
	{ fields }: WriteContext,
): FieldValues {
	const names = before && before.id === stored.id ? appendedFields(fields.values(), sent) : [];
	if (names.length === 0) return stored.fields;
	const added = names.map((name) => [
		name,
		newFiles(getOwn(stored.fields, name), getOwn(before!.fields, name)),
	]);
	return { ...stored.fields, ...Object.fromEntries(added) };
}

/**
 * The fields that are written, each with its value, and whether the stored record holds it;
 * undefined if that can't be seen.
 */
function compareFields(
	sent: FieldValues,
	{ id, before }: Pick<Entry, 'id' | 'before'>,
	stored: PlatformRecord,
	context: WriteContext,
) {
	const { fields } = context;
	const mode = modeOf({ id }, context.mode);
	// A record holds the key that it was found by.
	const isKey = (name: string) =>
		mode === 'upsert' && fields.get(name)?.metadata.importKey === true;
	const held = asAdded(sent, before, stored, context);
	const cleared = mode === 'replace' ? omittedFields(sent, stored, fields) : {};
	return Object.entries({ ...cleared, ...sent }).map(([name, value]) => ({
		name,
		value,
		isHeld: isKey(name) || holdsValue(fields.get(name), getOwn(held, name), value),
	}));
}

/**
 * The first sent field whose value a record lacks, else the first for which that can't be seen;
 * undefined if it has all values. The platform may store links some time after the rest.
 */
export function firstDifference(entry: Entry, stored: PlatformRecord, context: WriteContext) {
	const isLate = (name: string) => {
		const field = context.fields.get(name);
		const isLink = field?.type === 'schema_link';
		return isLink && fieldType(field).isEmpty(getOwn(stored.fields, name)) === true;
	};
	const compared = compareFields(sentFields(entry), entry, stored, context).map((one) =>
		one.isHeld === false && isLate(one.name) ? { ...one, isHeld: undefined } : one,
	);
	return (
		compared.find(({ isHeld }) => isHeld === false) ??
		compared.find(({ isHeld }) => isHeld === undefined)
	);
}

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
	if (!before) {
		if (mode === 'update' || mode === 'replace') return notFoundItem(entry.id);
		return isDryRun ? { outcome: 'inserted', after: fields } : { ...entry, before: null };
	}
	const { id, created, modified, ver } = before;
	// Only a dry run checks for an existing key before creating. Otherwise, the service decides.
	if (mode === 'create') return duplicateKeyOutcome(entry, id);
	const { previous, after } = changesOf(fields, before, context);
	if (Object.keys(after).length === 0) return { outcome: 'unchanged', id, created, modified, ver };
	if (isDryRun) return { outcome: 'updated', id, before: previous, after };
	// A full update clears the fields that it omits, so all are sent.
	return mode === 'replace' ? entry : { ...entry, id, before, sent: after };
}

const duplicateKeyOutcome = ({ key }: Entry, id: string): ItemOutcome => ({
	outcome: 'unknown',
	id,
	message: `A record with the import key '${key}' already exists: the platform would create a second record, or reject it`,
	hint: "Use 'Create or Update' to update it.",
});

/**
 * Whether two readings of a record show the same version; undefined if unknown: a clock with whole
 * seconds may show the same time for two versions.
 */
export function isSameVersion(one: RecordMetadata, other: RecordMetadata): boolean | undefined {
	if (one.ver !== undefined && other.ver !== undefined) return one.ver === other.ver;
	const time = Date.parse(one.modified ?? '');
	// An unknown time equals no other.
	if (time !== Date.parse(other.modified ?? '')) return false;
	return time % 1000 === 0 ? undefined : true;
}
