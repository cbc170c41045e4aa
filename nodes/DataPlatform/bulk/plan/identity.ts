/**
 * Keys of records: the values of the import key, or of the fields to match on. Pure.
 */
import type { FieldDefinition, FieldValues, JsonValue, PlatformRecord } from '../../api/types';
import { showValue } from '../../fields/convert';
import { keyText } from '../../fields/values';
import { ServiceError } from '../../transport/errors';
import { getOwn } from '../../transport/json';
import type { PlanOptions } from '../terms';

/** A record's values in the fields that identify it. */
export interface RecordKey {
	/** Messages show it. Only equal keys have the same text. */
	text: string;
	/** One for each field, as the platform stores it. */
	parts: string[];
}

/** A record's key; undefined if a field has no value, or one that can't be compared. */
export function recordKey(fields: FieldDefinition[], values: FieldValues): RecordKey | undefined {
	const parts: string[] = [];
	for (const field of fields) {
		const part = keyText(field, getOwn<JsonValue>(values, field.name) ?? null);
		if (part === undefined) return undefined;
		parts.push(part);
	}
	if (parts.length === 0) return undefined;
	return {
		text: parts.length === 1 ? parts[0]! : parts.map((part) => JSON.stringify(part)).join(', '),
		parts,
	};
}

/**
 * The key of a record that was found by its key.
 *
 * @throws {ServiceError} if it can't be compared: it could be any of those that were sought
 */
export function storedRecordKey(
	fields: FieldDefinition[],
	{ id, fields: values }: PlatformRecord,
): RecordKey {
	const key = recordKey(fields, values);
	if (key) return key;
	const valueOf = ({ name }: FieldDefinition) => getOwn<JsonValue>(values, name) ?? null;
	const field = fields.find((each) => keyText(each, valueOf(each)) === undefined)!;
	throw new ServiceError(
		`The platform returned ${showValue(valueOf(field))} in '${field.name}' of the record '${id}', which can't be compared with other values`,
		{ delivery: 'notApplied', hint: 'Find records by another field, or by their IDs.' },
	);
}

export type Identity = Pick<PlanOptions, 'mode' | 'matchOn' | 'unit'>;

/** What an item needs so that its record can be found: a key, an ID, or neither. */
export function identifiedBy({ mode, matchOn }: Identity): 'key' | 'id' | undefined {
	if (matchOn !== undefined) return matchOn === 'recordId' ? 'id' : 'key';
	if (mode === 'create') return undefined;
	return mode === 'upsert' ? 'key' : 'id';
}
