/**
 * A record as the node returns it: its fields at the top level, or nested as the platform has them.
 */
import type { IDataObject } from 'n8n-workflow';

import type { FieldValues, PlatformRecord } from '../api/types';
import { omitUndefined } from './itemResults';

/** An agent reads every record that it gets: all of a large table would be more than it can hold. */
export const MAX_AGENT_RECORDS = 200;

/** What every record has beside its fields. */
export const RECORD_PROPERTIES = ['id', 'created', 'modified', 'ver'] as const;

/**
 * The keys of all operations' outputs: no field takes one at the top level, so that a field is called
 * the same after each of them. `error` would send the item to the error output.
 */
export const RESERVED_NAMES: readonly string[] = [
	...RECORD_PROPERTIES,
	...['error', 'event', 'outcome', 'mergedInto', 'before', 'after', 'uploaded'],
];

const PREFIX = 'field_';

/** What is prefixed once more too: `field_id` may be a field beside `id`. */
const PREFIXED = new RegExp(`^(?:${PREFIX})*(?:${RESERVED_NAMES.join('|')})$`);

/** What a field is called at the top level. */
export const prefixedName = (field: string): string =>
	PREFIXED.test(field) ? PREFIX + field : field;

/** The field that a name at the top level stands for. */
export const unprefixedName = (name: string): string =>
	name.startsWith(PREFIX) && PREFIXED.test(name) ? name.slice(PREFIX.length) : name;

function withPrefixes(fields: FieldValues): FieldValues {
	const names = Object.keys(fields);
	// Most records have none of them: they need no copy.
	if (!names.some((name) => PREFIXED.test(name))) return fields;
	return Object.fromEntries(names.map((name) => [prefixedName(name), fields[name]!]));
}

/** What is known of a record that was written. */
export type RecordParts = Partial<PlatformRecord>;

export type RecordOutput = (record: RecordParts) => IDataObject;

/** The fields nested, so that none can be taken for something else. */
const nested: RecordOutput = ({ id, created, modified, ver, fields }) =>
	omitUndefined({ id, created, modified, ver, fields: fields as IDataObject });

/** The fields at the top level; one of a reserved name gets a prefix. */
const simplified: RecordOutput = ({ id, created, modified, ver, fields = {} }) =>
	omitUndefined({ id, ...(withPrefixes(fields) as IDataObject), created, modified, ver });

/** What records look like in the output. */
export const recordOutput = (isSimple: boolean): RecordOutput => (isSimple ? simplified : nested);
