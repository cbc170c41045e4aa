/**
 * Values of a field: what a user's item holds becomes what the platform takes, or a problem in
 * words; what the platform holds is compared with what was sent.
 */
import type { FieldDefinition, FieldValues, JsonValue } from '../api/types';
import { getOwn, isObject } from '../transport/json';
import { problem } from './convert';
import { isCleared, type Converted, type KeyForm } from './fieldType';
import { typeOf } from './index';
import { unknownType } from './types/text';

/** What to do with a value that is empty: `''`, `null`, `[]`. `undefined` is always left out. */
export type EmptyPolicy = 'leave' | 'clear' | 'error';

/**
 * Converts one value for one field.
 *
 * @returns the value to send, what is wrong with it, or `leave` where the field is not to be sent
 */
export function toFieldValue(
	field: FieldDefinition,
	value: unknown,
	empty: EmptyPolicy,
): Converted | 'leave' {
	if (value === undefined) return 'leave';
	if (isCleared(value)) {
		if (empty === 'leave') return 'leave';
		return empty === 'clear' ? { value: null } : problem('is empty');
	}
	return typeOf(field).convert(value, field);
}

/** Whether a value adds to what is stored, or takes away from it. */
export const isChange = (
	sent: JsonValue | undefined,
): sent is { add?: JsonValue; remove?: JsonValue } =>
	isObject(sent) && ('add' in sent || 'remove' in sent);

/** A change that adds no link and no file leaves an empty field empty. */
const addsNothing = (sent: JsonValue | undefined) => isChange(sent) && isCleared(sent.add);

/** A change of links or files that adds and removes none. */
export const changesNothing = (sent: JsonValue | undefined): boolean =>
	isChange(sent) && isCleared(sent.add) && isCleared(sent.remove);

/**
 * Whether a field already holds what the platform would store for a converted value.
 *
 * @returns true and false only where that is certain; undefined where it can't be proven
 */
export function holdsValue(
	field: FieldDefinition | undefined,
	stored: JsonValue | undefined,
	sent: JsonValue | undefined,
): boolean | undefined {
	const type = field ? typeOf(field) : unknownType;
	if (isCleared(sent)) return type.isEmpty(stored);
	if (!isCleared(stored) && type.isEmpty(stored) !== true) return type.equals(stored!, sent!);
	return addsNothing(sent) || type.isEmpty(sent) !== false ? undefined : false;
}

/** The fields of a table whose values may add something that sending them again adds once more. */
export const appendableFields = (fields: Iterable<FieldDefinition>): FieldDefinition[] =>
	[...fields].filter((field) => typeOf(field).appends !== 'never');

/** The fields of a record whose converted values do so. @param appendable those of its table */
export const appendedFields = (appendable: FieldDefinition[], values: FieldValues): string[] =>
	appendable.flatMap((field) => {
		const { appends } = typeOf(field);
		const value = getOwn<JsonValue>(values, field.name);
		return appends !== 'never' && !isCleared(value) && appends(value!) ? [field.name] : [];
	});

/** The form of an import key's value; undefined where it can't be one. */
export function keyForm(field: FieldDefinition, value: JsonValue): KeyForm | undefined {
	const { key } = typeOf(field);
	return key === 'never' || isCleared(value) ? undefined : key(value);
}

/** Whether a field of this type can be an import key. */
export const canBeKey = (field: FieldDefinition) => typeOf(field).key !== 'never';

/**
 * The one value that does what two converted values do, written one after the other.
 *
 * @returns undefined where no single value does
 */
export const mergeValues = (field: FieldDefinition, earlier: JsonValue, later: JsonValue) =>
	typeOf(field).merge(earlier, later);
