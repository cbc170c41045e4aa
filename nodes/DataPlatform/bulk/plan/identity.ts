/**
 * Keys of records: the values of the import key, or of the fields to match on. Pure.
 */
import type {
	FieldDefinition,
	FieldValues,
	JsonValue,
	PlatformRecord,
	TableDefinition,
} from '../../api/types';
import { importKeyOf, isWritable, noImportKey } from '../../fields';
import { show } from '../../fields/convert';
import { canBeKey, keyText } from '../../fields/values';
import { InputError, ServiceError } from '../../transport/errors';
import { getOwn } from '../../transport/json';
import type { PlanOptions } from '../terms';
import { LABELS } from '../../labels';

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
		`The platform returned ${show(valueOf(field))} in '${field.name}' of the record '${id}', which can't be compared with other values`,
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

/**
 * The field that records are found by. It is the one that the table marks, because the platform
 * uses no other. If the table marks none, it is the named one.
 *
 * @throws {InputError} if another field is named, or one that the table does not have
 */
export function keyField(table: TableDefinition, named?: string): FieldDefinition | undefined {
	const marked = importKeyOf(table);
	if (!named || named === marked?.name) return marked;
	if (marked) {
		throw new InputError(
			`The import key of table '${table.header}' is '${marked.name}', not '${named}'`,
			{
				field: named,
				hint: `The platform finds records by the field that the table marks. Leave '${LABELS.importKey}' empty in the options, or mark the other field in the platform.`,
			},
		);
	}
	const field = table.fields.find(({ name }) => name === named);
	if (field) return field;
	throw new InputError(`Table '${table.header}' has no field '${named}'`, {
		field: named,
		hint: `Correct '${LABELS.importKey}' in the options, or leave it empty.`,
	});
}

/**
 * The fields to match on.
 *
 * @throws {InputError} if the table does not have one of them, or records can't be found by it
 */
export function matchFields(table: TableDefinition, names: string[]): FieldDefinition[] {
	const wrong = (message: string) =>
		new InputError(message, {
			hint: `Choose one or several fields under '${LABELS.matchFields}': text, choices, numbers, dates or times that the table lets you write.`,
		});
	return [...new Set(names)].map((name) => {
		const field = table.fields.find((known) => known.name === name);
		if (!field || !isWritable(field)) {
			throw wrong(
				field
					? `Records can't be matched on '${name}': it is read-only`
					: `Table '${table.header}' has no field '${name}' to match on`,
			);
		}
		if (canBeKey(field)) return field;
		throw wrong(`Records can't be matched on '${name}': its type is '${field.type}'`);
	});
}

/** The fields that identify a record if its ID does not: the import key, or those to match on. */
export function keyFields(
	table: TableDefinition,
	{ importKey, matchOn }: Pick<PlanOptions, 'importKey' | 'matchOn'>,
): FieldDefinition[] {
	if (Array.isArray(matchOn)) return matchFields(table, matchOn);
	const key = keyField(table, importKey);
	return key ? [key] : [];
}

export function requireKey(table: TableDefinition, key: FieldDefinition | undefined) {
	if (!key) throw noImportKey(table);
	if (canBeKey(key)) return;
	throw new InputError(
		`The import key '${key.name}' of table '${table.header}' has the type '${key.type}', which can't be a key`,
		{
			field: key.name,
			hint: 'Nothing was sent. Mark a field in the platform that holds text, a choice, a number, a date or a time.',
		},
	);
}
