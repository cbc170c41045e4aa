/**
 * The values that an item has for a record's fields.
 */
import type { IDataObject } from 'n8n-workflow';

import type { FieldDefinition, TableDefinition } from '../api/types';
import { visibleText as plain } from '../fields/values';
import { InputError } from '../transport/errors';
import { isObject } from '../transport/json';
import { OUTCOME_NAMES } from '../bulk/outcome';
import { prefixedName, RECORD_PROPERTIES, RESERVED_NAMES, unprefixedName } from './recordOutput';

type Names = ReadonlySet<string>;

const PROPERTIES: Names = new Set(RECORD_PROPERTIES);
const OUTPUT_KEYS: Names = new Set(RESERVED_NAMES);

/** The keys that an error output's item has in addition to the data of the input item. */
const ERROR_KEYS: Names = new Set(['error', 'message', 'details']);

const isErrorOutput = ({ error, details }: IDataObject) =>
	typeof error === 'string' && isObject(details) && typeof details.outcome === 'string';

/** True for `{ outcome: 'inserted', … }`: a record as this node returns it has keys of the node. */
function isRecordOutput({ id, created, modified, ver, outcome }: IDataObject, isField: Names) {
	if (OUTCOME_NAMES.some((known) => known === outcome) && !isField.has('outcome')) return true;
	return [id, created, modified].every((text) => typeof text === 'string') && Number.isInteger(ver);
}

/** The keys of an item that belong to this node and name no field. */
function ownKeysOf(json: IDataObject, isField: Names, isRecord: boolean) {
	const isError = isErrorOutput(json);
	return (name: string): boolean => {
		if (isError && ERROR_KEYS.has(name)) return true;
		if (isRecord) return OUTPUT_KEYS.has(name);
		if (!isField.has(name)) return PROPERTIES.has(name);
		const prefixed = prefixedName(name);
		return Object.hasOwn(json, prefixed) && !isField.has(prefixed);
	};
}

/** Fields by their texts; undefined if several have one. */
function fieldsBy(fields: FieldDefinition[], textsOf: (field: FieldDefinition) => string[]) {
	const found = new Map<string, FieldDefinition | undefined>();
	for (const field of fields) {
		for (const text of new Set(textsOf(field))) {
			found.set(text, found.has(text) ? undefined : field);
		}
	}
	return found;
}

/** Finds a field by its name, else its header, else either in any case, if it fits only one. */
function fieldFinder({ fields }: TableDefinition, isExact = false) {
	const isField = new Set(fields.map(({ name }) => name));
	const others = isExact ? [] : fields;
	const byHeader = fieldsBy(others, ({ header }) => [header.normalize()]);
	const byText = fieldsBy(others, ({ name, header }) => [plain(name), plain(header)]);
	const nameOf = (given: string) => {
		const exact = given.normalize();
		if (isField.has(exact)) return exact;
		return (byHeader.get(exact) ?? byText.get(plain(given)))?.name;
	};
	return { isField, nameOf };
}

type FieldFinder = ReturnType<typeof fieldFinder>;

type GivenValue = [given: string, field: string, value: unknown];

/** @throws {InputError} if two entries have different values for a field */
function withoutConflicts(entries: GivenValue[]): Record<string, unknown> {
	const values = new Map<string, { given: string; value: unknown }>();
	for (const [given, field, value] of entries) {
		const other = values.get(field);
		if (other && JSON.stringify(other.value) !== JSON.stringify(value)) {
			throw new InputError(
				`'${other.given}' and '${given}' are the same field, but have different values`,
				{ field, hint: 'Remove one of them from the item.' },
			);
		}
		values.set(field, { given, value });
	}
	return Object.fromEntries([...values].map(([field, { value }]) => [field, value]));
}

/** The field that a top-level name refers to, or the name itself if there is none. */
function fieldNameOf(name: string, { isField, nameOf }: FieldFinder, isRecord: boolean): string {
	const field = unprefixedName(name);
	if (isField.has(field) && (isRecord || !isField.has(name))) return field;
	return isField.has(name) ? name : (nameOf(name) ?? name);
}

/**
 * The meaning of a file's column: a field, a column that this node adds, unclear which of the two,
 * or unknown.
 */
type ColumnTarget = { field: string } | { unclear: string } | 'own' | 'unknown';

/** The meaning of each column in a file's table, by name. */
export function columnTargets(header: string[], table: TableDefinition): ColumnTarget[] {
	const finder = fieldFinder(table);
	const json = Object.fromEntries(header.map((name) => [name, null]));
	const isRecord = RECORD_PROPERTIES.every((name) => Object.hasOwn(json, name));
	const isOwnKey = ownKeysOf(json, finder.isField, isRecord);
	const fieldOf = (name: string) => fieldNameOf(name, finder, isRecord);
	/** No other column refers to the field that an ambiguous name may mean. */
	const isOnly = (name: string, field: string) =>
		header.every((other) => other === name || fieldOf(other) !== field);
	return header.map((name) => {
		const field = fieldOf(name);
		const isField = finder.isField.has(field);
		if (isOwnKey(name)) {
			const isUnclear = isField && !PROPERTIES.has(name) && isOnly(name, field);
			return isUnclear ? { unclear: field } : 'own';
		}
		return isField ? { field } : 'unknown';
	});
}

/**
 * True for `{ id, fields: {…} }`, a record as this node returns it without Simplify. If the table has
 * a field called `fields`, the item must have nothing but the node's own keys, and `fields` nothing
 * but fields.
 */
function isNestedRecord(json: IDataObject, isField: Names): boolean {
	if (!isObject(json.fields)) return false;
	if (!isField.has('fields')) return true;
	const { fields, ...others } = json as IDataObject & { fields: IDataObject };
	return (
		isRecordOutput(json, isField) &&
		Object.keys(others).every(ownKeysOf(others, isField, true)) &&
		Object.keys(fields).every((name) => isField.has(name))
	);
}

/**
 * The values by field name of an item: at the top level, or in `fields`, as this node returns a record
 * without Simplify. Then it may have further values next to `fields`.
 *
 * @throws {InputError} if it has different values for a field
 */
function valuesOf(json: IDataObject, finder: FieldFinder): Record<string, unknown> {
	const { isField } = finder;
	const isNested = isNestedRecord(json, isField);
	const nested = isNested ? (json.fields as IDataObject) : {};
	const isRecord = isRecordOutput(json, isField) || (isNested && typeof json.id === 'string');
	const isOwnKey = ownKeysOf(json, isField, isRecord);
	const isValue = (name: string) => !isOwnKey(name) && !(isNested && name === 'fields');
	const fieldOf = (name: string) => fieldNameOf(name, finder, isRecord);
	const names = Object.keys(json);
	// Most items need no copy.
	if (isNested && !names.some(isValue)) return nested;
	if (!isNested && names.every((name) => isValue(name) && fieldOf(name) === name)) return json;
	return withoutConflicts([
		...Object.entries(nested).map(([name, value]): GivenValue => [`fields.${name}`, name, value]),
		...names.filter(isValue).map((name): GivenValue => [name, fieldOf(name), json[name]]),
	]);
}

/**
 * Reads field values from JSON such as an item's: its own keys, or those under `fields` if it is a
 * record as this node returns it without Simplify.
 *
 * @param isExact whether a name in another case, or a header, is unknown
 */
export function jsonReader(table: TableDefinition, isExact = false): (json: unknown) => unknown {
	const finder = fieldFinder(table, isExact);
	return (json) => (isObject(json) ? valuesOf(json as IDataObject, finder) : undefined);
}
