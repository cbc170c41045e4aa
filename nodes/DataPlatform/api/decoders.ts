/**
 * Turns a response's JSON into types without trusting it. What can't be read becomes `undefined`,
 * never a guess. Facts: contract/openapi.yaml.
 */
import type { IDataObject } from 'n8n-workflow';

import { ServiceError } from '../transport/errors';
import { isObject, membersOf } from '../transport/json';
import {
	UNKNOWN_TYPE,
	type Application,
	type Attachment,
	type FieldDefinition,
	type FieldValues,
	type PlatformRecord,
	type RecordMetadata,
	type TableDefinition,
} from './types';

/** The failure of a read whose response lacks what was requested. */
export const invalidResponse = (what: string, status: number) =>
	new ServiceError(`The response contains no ${what}`, {
		delivery: 'notApplied',
		status,
		hint: "Another server may have responded, such as a proxy. Check the 'Base URL' in the credential and the network.",
	});

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
/** Numbers may come as text. */
export const number = (value: unknown) => {
	const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	return typeof read === 'number' && Number.isFinite(read) ? read : undefined;
};
const list = (value: unknown): unknown[] | undefined => (Array.isArray(value) ? value : undefined);

/** Half of a character, or one that was damaged on its way: no request could name that record. */
const DAMAGED = /[\p{Cs}\ufffd]/u;

/** Reads one record's metadata; undefined if the value is something else. */
export function toMetadata(value: unknown): RecordMetadata | undefined {
	const id = isObject(value) ? text(value.id) : undefined;
	if (!isObject(value) || id === undefined || DAMAGED.test(id)) return undefined;
	return {
		id,
		created: text(value.created),
		modified: text(value.modified),
		ver: number(value.ver),
	};
}

/** Reads one record; undefined if the value is not a record. */
export function toRecord(value: unknown): PlatformRecord | undefined {
	const metadata = toMetadata(value);
	const { fields = {} } = membersOf(value);
	if (!metadata || !isObject(fields)) return undefined;
	return { ...metadata, fields: fields as FieldValues };
}

/** Reads a record that must have its fields, as every response to a read does. */
export function toWholeRecord(value: unknown): PlatformRecord | undefined {
	if (membersOf(value).fields === undefined) return undefined;
	return toRecord(value);
}

// It is open how the platform marks the import key and read-only fields: accept every plain
// spelling.
const flag = (source: Record<string, unknown>, ...names: string[]) =>
	names.some((name) => source[name] === true);

/**
 * Reads a field. Null if it has no name and so isn't a field; undefined if it can't be read. A
 * field without a readable type does not affect the other fields of its table.
 */
function toField(value: unknown): FieldDefinition | null | undefined {
	if (!isObject(value)) return undefined;
	const name = text(value.name) ?? text(value.id);
	if (name === undefined) return null;
	const given = value.metadata ?? {};
	const metadata = membersOf(given);
	// Don't assume text: a number or a list of files would then be written wrongly.
	const type = (isObject(given) ? text(value.type) : undefined) ?? UNKNOWN_TYPE;
	const flags = { ...value, ...metadata };
	// A definition may have only documented metadata, which does not say it.
	const isKindKnown =
		type !== 'schema_link' ||
		['multiple', 'isMultiple', 'linkTableId'].some((name) => name in flags);
	return {
		name,
		header: text(value.header) ?? name,
		type,
		metadata: {
			description: text(metadata.description),
			required: flag(flags, 'required'),
			readOnly: flag(flags, 'readOnly', 'readonly', 'isReadOnly'),
			calculated: flag(flags, 'calculated', 'isCalculated'),
			importKey: flag(flags, 'importKey', 'isImportKey', 'importkey'),
			multiple: isKindKnown ? flag(flags, 'multiple', 'isMultiple') : undefined,
			linkTableId: text(metadata.linkTableId),
			filterableFields: list(metadata.filterableFields)?.filter((each) => typeof each === 'string'),
			min: number(metadata.min),
			max: number(metadata.max),
			maxLength: number(metadata.maxLength),
			items: list(metadata.items)
				?.filter(isObject)
				.map(({ value: choice, order }) => ({ value: String(choice), order: number(order) })),
		},
	};
}

/** Reads a list; undefined if the value is not a list, or one of its entries can't be read. */
export function toList<T>(value: unknown, read: (entry: unknown) => T | undefined) {
	if (!Array.isArray(value)) return undefined;
	const entries = value.map(read);
	return entries.every((entry) => entry !== undefined) ? entries : undefined;
}

/** The objects of a list that have a text under this name; empty if the value is not a list. */
const objectsWith = (name: string, value: unknown) =>
	(list(value) ?? []).filter(isObject).filter((entry) => text(entry[name]) !== undefined);

/** Reads a table's definition; undefined if the value is something else. */
export function toTable(value: unknown): TableDefinition | undefined {
	if (!isObject(value)) return undefined;
	const id = text(value.id);
	if (id === undefined) return undefined;
	const settings = membersOf(value.settings);
	const fields = toList(value.items ?? [], toField);
	if (!fields) return undefined;
	return {
		id,
		internalName: text(value.internalNameApi) ?? text(value.internalName) ?? id,
		header: text(value.header) ?? text(value.name) ?? id,
		fields: fields.filter((field) => field !== null),
		savedViews: objectsWith('id', settings.userFilters).map((view) => ({
			id: view.id as string,
			name: text(view.name) ?? (view.id as string),
			description: text(view.description),
			visibility: text(view.visibility),
		})),
	};
}

/** Reads the files in a field's value; empty if it holds none. */
export const toAttachments = (value: unknown): Attachment[] =>
	objectsWith('fileId', value).map((file) => ({
		fileId: file.fileId as string,
		fileName: text(file.fileName) ?? (file.fileId as string),
		fileSize: number(file.fileSize),
		mimetype: text(file.mimetype),
		fileUrl: text(file.fileUrl),
		thumbnailUrl: text(file.thumbnailUrl),
	}));

/** Reads an application; undefined if the value is something else. */
export function toApplication(value: unknown): Application | undefined {
	if (!isObject(value)) return undefined;
	const id = text(value.id);
	if (id === undefined) return undefined;
	const internalName = text(value.internalName) ?? id;
	return { id, name: text(value.name) ?? internalName, internalName };
}

/** Reads the token's user, whose other members stay as they are; undefined for anything else. */
export function toUser(value: unknown): IDataObject | undefined {
	const { id, email } = membersOf(value);
	if (text(id) === undefined || typeof email !== 'string') return undefined;
	return value as IDataObject;
}
