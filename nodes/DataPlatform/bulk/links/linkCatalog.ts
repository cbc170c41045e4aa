/** What a run knows of linked tables: the values that were looked up, and the records to create. */
import type { DefinedTable, FieldDefinition, JsonValue, TableDefinition } from '../../api/types';
import { importKeyOf, isWritable } from '../../fields';
import { resolveTimeZone } from '../../fields/timeZone';
import { canBeKey } from '../../fields/values';
import { LABELS } from '../../labels';
import { copyOfText } from '../../transport/messageText';
import { toSoughtValue, type SoughtValue } from './linkValues';
import { lookUpValues, type ValueMatch } from '../resolve/lookup';
import type { LinkRule } from '../writeTask';

/** A record to create because a link needs it; `id` is set once it exists. */
export interface MissingRecord {
	text: string;
	value: JsonValue;
	id?: string;
	problem?: string;
}

/** The values of one field of a linked table that were looked up in this run. */
export interface Catalog {
	target: DefinedTable;
	field: FieldDefinition;
	/** By the value's text. */
	lookedUp: Map<string, ValueMatch>;
	/**
	 * The records to create for this portion, by the placeholder for their ID. `similar` has their
	 * values regardless of case and spaces.
	 */
	missing: Map<string, MissingRecord>;
	similar: Map<string, string>;
}

/** The field that holds the values of links; or, in words, why they can't be resolved by it. */
function linkKey(
	table: TableDefinition,
	{ linkedField, ifNotFound }: LinkRule,
): FieldDefinition | string {
	const marked = importKeyOf(table);
	const key = linkedField ? table.fields.find(({ name }) => name === linkedField) : marked;
	if (!key) {
		return linkedField
			? `the linked table '${table.header}' has no field '${linkedField}'`
			: `the linked table '${table.header}' does not say which field is its import key: set '${LABELS.linkValueType}' to 'Other Field of the Linked Table', and choose it`;
	}
	if (!canBeKey(key)) return `records can't be found by '${key.name}' (${key.type})`;
	if (ifNotFound === 'create') {
		if (marked && key !== marked) {
			return `records of '${table.header}' are created only by their import key '${marked.name}'`;
		}
		const required = table.fields.filter(
			(other) => other !== key && other.metadata.required && isWritable(other),
		);
		if (required.length > 0) {
			return `records of '${table.header}' can't be created by '${key.name}' alone: it also requires '${required.map(({ name }) => name).join("', '")}'`;
		}
	}
	return key;
}

/** The catalog for a link field, with one catalog for each field of a linked table. */
export function catalogOf(
	catalogs: Map<string, Catalog>,
	target: DefinedTable,
	rule: LinkRule,
): Catalog | string {
	const key = linkKey(target.table, rule);
	if (typeof key === 'string') return key;
	const name = JSON.stringify([target.at.application, target.table.id, key.name]);
	const catalog = catalogs.get(name) ?? {
		target,
		field: key,
		lookedUp: new Map(),
		missing: new Map(),
		similar: new Map(),
	};
	catalogs.set(name, catalog);
	return catalog;
}

/** How many values of a linked table to remember from one portion to the next. */
export const MAX_REMEMBERED = 100_000;

/**
 * Looks up the values that are not known yet, many per request.
 *
 * @param isGrowing whether a record may have been created since for a value that had none
 */
export async function lookUpMissing(
	{ target, field, lookedUp }: Catalog,
	raw: unknown[],
	isGrowing: boolean,
) {
	const rows = raw.map((value) => ({ [field.name]: value }));
	await resolveTimeZone(target, rows);
	const entries = raw
		.map((value) => toSoughtValue(field, value))
		.filter((entry): entry is SoughtValue => 'text' in entry);
	const open = new Map<string, SoughtValue>();
	for (const entry of entries) {
		const match = lookedUp.get(entry.text);
		if (match && (match.ids.length > 0 || !isGrowing)) continue;
		open.set(entry.text, entry);
	}
	const found = await lookUpValues(target, field, [...open.keys()]);
	for (const [text, match] of found) lookedUp.set(copyOfText(text), match);
}
