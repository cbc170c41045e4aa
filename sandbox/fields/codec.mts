import type { Field, Json, JsonObject, StoredRecord, Table } from '../state/model.mts';

/** How filters, sorting and aggregates see a stored value. */
export interface Comparison {
	as: 'text' | 'number' | 'boolean' | 'date' | 'datetime';
	/** Where in a stored object the comparable part lies, as a JSON path after the field. */
	path?: string;
	/** The stored value is a list and a condition holds when it does for one element. */
	each?: boolean;
}

/** What a value's way into the database may need to know. */
export interface StoreContext {
	timeZone: string;
	user: { id: string; name: string };
	/** What the record holds in this field now. */
	current: Json | undefined;
	/** The table that a link points to, and whether a record is there. */
	linkedTable(field: Field): Table;
	recordExists(table: Table, id: string): boolean;
	/** Stores an attachment's bytes and returns its entry. */
	keepFile(field: Field, input: JsonObject): JsonObject;
}

/** What a value's way out may need to know. */
export interface ShowContext {
	timeZone: string;
	/** Origin and prefix of the table's addresses, without a slash at the end. */
	apiUrl: string;
	table: Table;
	record: StoredRecord;
	tableUrl(table: Table): string;
	linkedTable(field: Field): Table;
	/** The linked record's fields that the link shows. */
	linkedFields(field: Field, id: string): JsonObject;
}

/** One field type: contract.md, "Field types". Without `store` it is read-only. */
export interface Codec {
	comparison?: Comparison;
	/** Checks and normalises. Throws a ValueProblem. Never sees null, which clears. */
	store?(value: Json, field: Field, context: StoreContext): Json;
	show?(value: Json, field: Field, context: ShowContext): Json;
	/** What an empty field shows and is stored as. */
	empty?: Json;
}

/** What is wrong with a value; the message goes on from the field's name ("must be …"). */
export class ValueProblem extends Error {}

/** A value in an error message: short, whatever the client sent. */
export function quote(value: Json): string {
	const text = JSON.stringify(value) ?? 'nothing';
	return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** The value if it is a JSON object, else a ValueProblem that says what was expected. */
export function objectOf(value: Json, expected: string): JsonObject {
	if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value;
	throw new ValueProblem(`must be ${expected}, not ${quote(value)}`);
}

/** The value if it is an array, else a ValueProblem that says what was expected. */
export function arrayOf(value: Json | undefined, expected: string): Json[] {
	if (Array.isArray(value)) return value;
	throw new ValueProblem(`must be ${expected}, not ${quote(value ?? null)}`);
}

/** Refuses properties that the type does not know. */
export function onlyProperties(value: JsonObject, names: readonly string[]): void {
	const unknown = Object.keys(value).find((name) => !names.includes(name));
	if (unknown !== undefined) throw new ValueProblem(`has an unknown property '${unknown}'`);
}
