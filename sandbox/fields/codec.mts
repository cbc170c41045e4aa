import type { Field, Json, JsonObject, StoredRecord, Table } from '../state/model.mts';
import type { Settings } from '../state/settings.mts';
import type { DateRules, DateSettings } from './time.mts';

/** How filters, sorts and aggregations compare stored values. */
export interface Comparison {
	as: 'text' | 'number' | 'boolean' | 'date' | 'datetime';
	/** The part of a stored object that is compared, as a JSON path such as `.amount`. */
	path?: string;
	/** The stored value is a list; a condition is met if one element meets it. */
	each?: boolean;
}

/** What parsing a value may depend on. */
export interface ParseContext {
	dateRules: DateRules;
	user: { id: string; name: string };
	/** The field's stored value. */
	current: Json | undefined;
	/** The table that a link points to. */
	linkedTable(field: Field): Table;
	recordExists(table: Table, id: string): boolean;
	/** Whether messages written to a chat are added to the existing ones. */
	appendsMessages: boolean;
	/** Whether a field has no more files than documented. */
	limitsFiles(): boolean;
	/** Stores an attachment's bytes and returns its entry. */
	storeFile(field: Field, input: JsonObject): JsonObject;
}

/** What serializing a value may depend on. */
export interface SerializeContext {
	/** A record's `created` or `modified` in the API's format. */
	time(instant: number): string;
	settings: DateSettings & Pick<Settings, 'links' | 'linkLists'>;
	/** The table's URL, without a trailing slash. */
	apiUrl: string;
	fileSize(): Settings['fileSize'];
	/** What follows the address of a file. */
	fileQuery(): string;
	table: Table;
	record: StoredRecord;
	tableUrl(table: Table): string;
	linkedTable(field: Field): Table;
	/** The linked record's fields that are part of the link. */
	linkedFields(field: Field, id: string): JsonObject;
	linkedRecord(field: Field, id: string): StoredRecord | undefined;
}

/** One field type, as `x-field-values` in the contract describes it; read-only without `parse`. */
export interface Codec {
	comparison?: Comparison;
	/** Whether an import key can have this type: a single value, compared as it is stored. */
	canBeKey?: boolean;
	/** Validates and normalizes. Never gets null, which clears the field. Throws a ValueError. */
	parse?(value: Json, field: Field, context: ParseContext): Json;
	serialize?(value: Json, field: Field, context: SerializeContext): Json;
	/** What is serialized for a field without a value; null by default. */
	empty?: Json;
}

/** An invalid value. The message continues a sentence that begins with the field's name. */
export class ValueError extends Error {}

/** A value for an error message, shortened. */
export function quote(value: Json): string {
	const text = JSON.stringify(value) ?? 'nothing';
	return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** The value, if it is a JSON object. Throws a ValueError. */
export function requireObject(value: Json, expected: string): JsonObject {
	if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value;
	throw new ValueError(`must be ${expected}, not ${quote(value)}`);
}

/** The value, if it is an array. Throws a ValueError. */
export function requireArray(value: Json | undefined, expected: string): Json[] {
	if (Array.isArray(value)) return value;
	throw new ValueError(`must be ${expected}, not ${quote(value ?? null)}`);
}

/** Throws a ValueError if the object has any other property. */
export function requireOnly(value: JsonObject, names: readonly string[]): void {
	const unknown = Object.keys(value).find((name) => !names.includes(name));
	if (unknown !== undefined) throw new ValueError(`has an unknown property '${unknown}'`);
}
