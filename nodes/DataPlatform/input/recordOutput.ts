/**
 * A record as the node returns it: with its fields at the top level, or nested as on the platform.
 */
import type { IDataObject } from 'n8n-workflow';

import type { FieldValues, JsonValue, PlatformRecord } from '../api/types';
import { isObject, omitUndefined } from '../transport/json';

/** An agent reads every record that it gets, and can't take all of a large table. */
export const MAX_AGENT_RECORDS = 200;

/** What every record has besides its fields. */
export const RECORD_PROPERTIES = ['id', 'created', 'modified', 'ver'] as const;

/**
 * The keys that the outputs of operations use. No field may use one at the top level, so that a
 * field has the same name after every operation. `error` would send the item to the error output.
 */
export const RESERVED_NAMES: readonly string[] = [
	...RECORD_PROPERTIES,
	...[
		'error',
		'event',
		'outcome',
		'mergedInto',
		'kept',
		'sendBack',
		'conflicts',
		'previous',
		'before',
		'after',
		'notRead',
		'changed',
		'isNew',
		'isStateLost',
		'uploaded',
	],
];

const PREFIX = 'field_';

/** Names that get another prefix: `field_id` may be a field next to `id`. */
const PREFIXED = new RegExp(`^(?:${PREFIX})*(?:${RESERVED_NAMES.join('|')})$`);

/** The name of a field at the top level. */
export const prefixedName = (field: string): string =>
	PREFIXED.test(field) ? PREFIX + field : field;

/** The field that a top-level name means. */
export const unprefixedName = (name: string): string =>
	name.startsWith(PREFIX) && PREFIXED.test(name) ? name.slice(PREFIX.length) : name;

/** A link that has its record's fields in `fields`, with them beside its ID. */
function flatLink(value: JsonValue): JsonValue {
	if (!isObject(value) || typeof value.id !== 'string' || !isObject(value.fields)) return value;
	return { ...(value.fields as FieldValues), id: value.id, url: value.url };
}

const flatFields = (fields: FieldValues): FieldValues =>
	Object.fromEntries(
		Object.entries(fields).map(([name, value]) => [prefixedName(name), flatLink(value)]),
	);

/** Takes what is known about a record. */
export type RecordOutput = (record: Partial<PlatformRecord>) => IDataObject;

/** With nested fields, so that a field's name can't clash with another key. */
export const rawRecord: RecordOutput = ({ id, created, modified, ver, fields }) =>
	omitUndefined({ id, created, modified, ver, fields: fields as IDataObject });

/**
 * With the fields at the top level, first: people read a record by its key, not by its ID. A field
 * with a reserved name gets a prefix.
 */
export const simplifiedRecord: RecordOutput = ({ id, created, modified, ver, fields = {} }) => ({
	...(flatFields(fields) as IDataObject),
	...omitUndefined({ id, created, modified, ver }),
});
