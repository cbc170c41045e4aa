/**
 * Keys of records: the values of the import key, or of the fields to match on. Pure.
 */
import type { FieldDefinition, JsonValue, PlatformRecord } from '../../api/types';
import { showValue } from '../../fields/convert';
import { keyText, recordKey, type RecordKey } from '../../fields/values';
import { ServiceError } from '../../transport/errors';
import { getOwn } from '../../transport/json';
import type { PlanOptions } from '../terms';

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
