/**
 * Converts a user's values into what the platform takes, or into a problem in words, and compares
 * stored values with sent ones.
 */
import type { FieldDefinition, FieldValues, JsonValue } from '../api/types';
import { getOwn, isObject } from '../transport/json';
import { isPlainObject, problem } from './convert';
import { isCleared, type Converted } from './fieldType';
import type { Source } from './remedies';
import { fieldType } from './index';
import { unknownType } from './types/text';

/** What to do with an empty value: `''`, `null`, `[]`. `undefined` is never sent. */
export type EmptyPolicy = 'leave' | 'clear' | 'error';

/** No value, also `{}` for a link. */
export const isNothing = ({ type }: FieldDefinition, value: unknown) =>
	isCleared(value) ||
	(type === 'schema_link' && isPlainObject(value) && Object.keys(value).length === 0);

/** A key as people read it: case, invisible characters and how letters are composed don't count. */
export const visibleText = (text: string) =>
	text
		.normalize('NFKC')
		.replace(/\p{Cf}/gu, '')
		.replace(/[\s\p{Cc}]+/gu, ' ')
		.trim()
		.toLowerCase();

/** No value, or a text in which nobody sees anything. */
export const isBlank = (value: unknown) =>
	isCleared(value) || (typeof value === 'string' && /^[\s\p{Cc}\p{Cf}]*$/u.test(value));

/**
 * Converts one value for one field.
 *
 * @returns the value to send, a problem, or `leave` if the field is not sent
 */
export function toFieldValue(
	field: FieldDefinition,
	value: unknown,
	empty: EmptyPolicy,
): Converted | 'leave' {
	if (value === undefined) return 'leave';
	if (isNothing(field, value)) {
		if (empty === 'leave') return 'leave';
		return empty === 'clear' ? { value: null } : problem('is empty');
	}
	return fieldType(field).convert(value, field);
}

/** It changes a list instead of replacing it: `{ add: ['id'], remove: [] }`. */
const isChange = (sent: JsonValue | undefined): sent is { add?: JsonValue; remove?: JsonValue } =>
	isObject(sent) && ('add' in sent || 'remove' in sent);

/** A change that adds no link and no file leaves an empty field empty. */
const addsNothing = (sent: JsonValue | undefined) => isChange(sent) && isCleared(sent.add);

/** A change of links or files that neither adds nor removes any. */
export const changesNothing = (sent: JsonValue | undefined): boolean =>
	isChange(sent) && isCleared(sent.add) && isCleared(sent.remove);

/**
 * True if a field already holds what the platform would store for a converted value.
 *
 * @returns true and false only if certain; undefined if it can't be proven
 */
export function holdsValue(
	field: FieldDefinition | undefined,
	stored: JsonValue | undefined,
	sent: JsonValue | undefined,
): boolean | undefined {
	const type = field ? fieldType(field) : unknownType;
	if (isCleared(sent)) return type.isEmpty(stored);
	if (!isCleared(stored) && type.isEmpty(stored) !== true) return type.equals(stored!, sent!);
	return addsNothing(sent) || type.isEmpty(sent) !== false ? undefined : false;
}

/** The fields whose values in a record are appended: sent twice, they are appended twice. */
export function appendedFields(fields: Iterable<FieldDefinition>, values: FieldValues): string[] {
	const names: string[] = [];
	for (const field of fields) {
		const value = getOwn<JsonValue>(values, field.name);
		if (!isCleared(value) && fieldType(field).appends(value!)) names.push(field.name);
	}
	return names;
}

/** The text of a key's value; undefined if it is empty, or can't be compared. */
export function keyText(field: FieldDefinition, value: JsonValue): string | undefined {
	const { key } = fieldType(field);
	if (key === 'never' || isCleared(value)) return undefined;
	return key(value);
}

/** A record's values in the fields that identify it. */
export interface RecordKey {
	/** Messages show it. Only equal keys have the same text. */
	text: string;
	/** One for each field, as the platform stores it. */
	parts: string[];
}

/** A record's key; undefined if a field has no value, or one that can't be compared. */
export function recordKey(fields: FieldDefinition[], values: FieldValues): RecordKey | undefined {
	const valueOf = ({ name }: FieldDefinition) => getOwn<JsonValue>(values, name) ?? null;
	const parts = fields.map((field) => keyText(field, valueOf(field)));
	if (parts.length === 0 || !parts.every((part) => part !== undefined)) return undefined;
	const text =
		parts.length === 1 ? parts[0]! : parts.map((part) => JSON.stringify(part)).join(', ');
	return { text, parts };
}

/** Why a converted value can't be a key; undefined if it can. Completes the sentence `'name' …`. */
export function keyProblem(
	field: FieldDefinition,
	value: JsonValue,
	source: () => Source,
): string | undefined {
	if (keyText(field, value) !== undefined) return undefined;
	return fieldType(field).keyProblem?.(value, source());
}

/**
 * What turns a value that `toFieldValue` refuses into one that the field takes, after a colon; empty
 * if that is not clear.
 */
export function remedyOf(field: FieldDefinition, value: unknown, source: Source): string {
	const isText = typeof value === 'string' || typeof value === 'number';
	if (source === '' || (!isText && field.type !== 'schema_link')) return '';
	const given = isText ? String(value) : '';
	const text = given.trim();
	const trimmed = text === given ? source : source && `(${source}?.trim?.() ?? ${source})`;
	const remedy = fieldType(field).remedy?.(text, trimmed);
	return remedy === undefined ? '' : `: ${remedy}`;
}

/** Whether a date or time can't be told without the application's time zone. */
export function needsTimeZone(field: FieldDefinition, value: unknown): boolean {
	if (!isDateOrTime(field) || field.metadata.timeZone !== undefined || isCleared(value))
		return false;
	const converted = fieldType(field).convert(value, field);
	return 'value' in converted && keyText(field, converted.value) === undefined;
}

export const isDateOrTime = ({ type }: FieldDefinition) => type === 'date' || type === 'datetime';

/** Equal values have one text: text, a choice, a number, a date; never a list or a file. */
export const canBeKey = (field: FieldDefinition) => fieldType(field).key !== 'never';
