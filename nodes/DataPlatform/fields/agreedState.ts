/**
 * What a record and the other system agreed on (two-way sync), as text in a field of the record, which
 * only this file reads and writes. Pure.
 *
 *     const state = readState(text, () => key);
 *     missingThere(record, 'agreed', fields); // { sendBack: { stage: 'won' } }
 */
import { shortHash } from '../api/packing';
import type { FieldDefinition, FieldValues, JsonValue, PlatformRecord } from '../api/types';
import { getOwn, isObject, parseJson } from '../transport/json';
import { isCleared } from './fieldType';
import { recordKey, toFieldValue } from './values';
import { fieldType } from './index';

/** A value as the state remembers it: a long one, or one with parts, only by its hash and length. */
export type Mark = string | number | boolean | null | [hash: string, length: number];

/** What both sides agreed on in a field. */
export interface Agreed {
	/** The record's value. */
	here: Mark;
	/** The item's, in the form that the other system gives it. */
	item: Mark;
	/** The item's value before that. */
	before?: Mark;
	/** What was sent back since, the last one last: an item that has one of them took it. */
	sent?: Mark[];
	/** An item had the value before again: in the next run, that is a change. */
	again?: boolean;
}

export interface AgreedState {
	/** When it was written. */
	at: string;
	/** The names of the fields that its record is found by; none if that is the ID. */
	on: string[];
	/** The record's version after that write, if nobody else wrote in between. */
	ver?: number;
	/** The fields that it wrote: while the record has that version, it holds what was written. */
	wrote?: string[];
	fields: Record<string, Agreed>;
}

/** How much of a value people can read in the state. */
const READABLE_LENGTH = 40;

/** Moves with the form of the state. */
const VERSION = 1;

/** The platform may reorder a list of texts, and drop duplicates. */
const isTexts = (value: JsonValue): value is string[] =>
	Array.isArray(value) && value.every((entry) => typeof entry === 'string');

export const markOf = (value: JsonValue): Mark => {
	if (typeof value === 'string' && value.length <= READABLE_LENGTH) return value;
	if (typeof value !== 'string' && !isObject(value) && !Array.isArray(value)) return value;
	const text = isObject(value)
		? JSON.stringify(value, Object.keys(value).sort())
		: JSON.stringify(isTexts(value) ? [...new Set(value)].sort() : value);
	return [shortHash(text, 12), text.length];
};

export const isSameMark = (one: Mark | undefined, other: Mark) =>
	JSON.stringify(one) === JSON.stringify(other);

/** A checkbox that is off is not blank: only a person knows which side is right. */
export const isBlank = (field: FieldDefinition, value: JsonValue | undefined) =>
	isCleared(value) || fieldType(field).isEmpty(value) === true;

/** A value in the form in which it is sent, so that both sides can be compared; null if empty. */
export function asSent(field: FieldDefinition, value: JsonValue | undefined): JsonValue {
	if (field.type === 'checkbox') return value === true;
	if (isBlank(field, value)) return null;
	const converted = toFieldValue(field, value, 'clear');
	return typeof converted === 'object' && 'value' in converted ? converted.value : value!;
}

/** The state that a record holds, if it is about this record. */
type ReadState = AgreedState | 'none' | 'foreign' | 'unreadable' | 'other';

/**
 * Reads the state of a record.
 *
 * @param keyOf what the record is found by, with these fields: a copy of the record has another key
 * @returns `other` if the text is no state at all: someone uses the field
 */
export function readState(
	text: JsonValue | undefined,
	keyOf: (on: string[]) => string | undefined,
): ReadState {
	if (isCleared(text)) return 'none';
	if (!String(text).startsWith('{"v":')) return 'other';
	const state = parseJson(String(text));
	if (!isObject(state) || state.v !== VERSION || !isObject(state.fields)) return 'unreadable';
	if (!Array.isArray(state.on) || !isTexts(state.on)) return 'unreadable';
	if (state.key !== shortHash(keyOf(state.on) ?? '', 12)) return 'foreign';
	return state as unknown as AgreedState;
}

export const stateText = (key: string, state: AgreedState) =>
	JSON.stringify({ v: VERSION, key: shortHash(key, 12), ...state });

/** Whether a field holds what the last run wrote, in whatever form the platform stores it. */
export const isAsWritten = (name: string, record: PlatformRecord | null, known?: AgreedState) =>
	known?.ver !== undefined && record?.ver === known.ver && known.wrote?.includes(name) === true;

/**
 * What a record has for the other system, as far as that shows without its item: values that differ
 * from what both sides agreed on and did not go back yet. Undefined if there are none, as after the
 * sync's own writes.
 *
 * @param name the field with the state
 * @param fields of the table
 */
export function missingThere(
	record: PlatformRecord,
	name: string,
	fields: FieldDefinition[],
): FieldValues | undefined {
	const known = readState(getOwn(record.fields, name), (on) => {
		if (on.length === 0) return record.id;
		const keys = on.flatMap((key) => fields.find((field) => field.name === key) ?? []);
		return keys.length === on.length ? recordKey(keys, record.fields)?.text : undefined;
	});
	if (known === 'none' || known === 'foreign') return { isNew: true };
	if (typeof known !== 'object') return { isStateLost: true };
	const changed = fields.filter((field) => {
		const last = getOwn<Agreed>(known.fields, field.name);
		if (!last || isAsWritten(field.name, record, known)) return false;
		const here = markOf(asSent(field, getOwn<JsonValue>(record.fields, field.name)));
		return !isSameMark(last.here, here) && !isSameMark(last.sent?.at(-1), here);
	});
	if (changed.length === 0) return undefined;
	const valueOf = (field: FieldDefinition) => getOwn<JsonValue>(record.fields, field.name) ?? null;
	return { sendBack: Object.fromEntries(changed.map((field) => [field.name, valueOf(field)])) };
}
