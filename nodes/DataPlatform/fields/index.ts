/**
 * All field types, one entry each, and what depends on a field's type.
 */
import { UNKNOWN_TYPE, type FieldDefinition, type TableDefinition } from '../api/types';
import { nameList } from '../transport/messageText';
import type { FieldType } from './fieldType';
import { checkbox } from './types/checkbox';
import { files } from './types/files';
import { linkOfUnknownKind, linkToMany, linkToOne } from './types/link';
import { decimal, integer, money, percentage } from './types/number';
import { chat, checklist, moneyWithCurrency, urlLink } from './types/structured';
import { choice, displayOnly, readOnly, text, texts, unknownType, untyped } from './types/text';
import { date, datetime } from './types/time';

/** By the platform's name for the type. `schema_link` is for links of unknown kind. */
export const FIELD_TYPES: Readonly<Record<string, FieldType>> = {
	text,
	long_text: text,
	markdown: text,
	radio: choice,
	dropdown: choice,
	number: integer,
	decimal,
	money,
	percentage,
	money_with_currency: moneyWithCurrency,
	checkbox,
	date,
	datetime,
	dropdownmulti: texts,
	chips: texts,
	url_link: urlLink,
	checklist,
	chat,
	schema_link: linkOfUnknownKind,
	picture: files,
	file: files,
	buttonform: displayOnly,
	freehtmlinput: displayOnly,
	system_type: readOnly,
	calculated: readOnly,
};

/** Other names that the platform has for types. */
const OLDER_NAMES = { button: displayOnly, freehtml: displayOnly, calculatedfield: readOnly };

const TYPES = new Map(Object.entries({ ...FIELD_TYPES, ...OLDER_NAMES }));

/** The field's type. One that this node does not know is compared as text, and written if mapped. */
export function fieldType({ type, metadata }: FieldDefinition): FieldType {
	if (type === 'schema_link' && metadata.multiple !== undefined) {
		return metadata.multiple ? linkToMany : linkToOne;
	}
	if (type === UNKNOWN_TYPE) return untyped;
	return TYPES.get(type) ?? unknownType;
}

/** It holds data; a button or a piece of HTML only shows something. */
export const holdsData = (field: FieldDefinition) => fieldType(field).writtenBy !== 'nobody';

/** A client may write it: it is neither calculated, nor read-only for this token, nor a button. */
export const isWritable = (field: FieldDefinition) =>
	fieldType(field).writtenBy === 'clients' &&
	field.metadata.readOnly !== true &&
	field.metadata.calculated !== true;

/** A type that this node does not know: it may hold anything, or be read-only. */
export const isUnknown = (field: FieldDefinition) =>
	[unknownType, untyped].includes(fieldType(field));

/** True for a link to many records as it was read, `{"count":2,"url":"…"}`: it can't be written. */
export const isOnlyRead = (field: FieldDefinition, value: unknown): boolean =>
	fieldType(field).isOnlyRead?.(value) === true;

/** The field that upsert matches by, if the table has one. */
export const importKeyOf = (table: TableDefinition) =>
	table.fields.find((field) => field.metadata.importKey === true);

/** How many of a table's fields a hint lists. */
export const FIELDS_SHOWN = 40;

/** Names the fields that can be written, for an error about an unknown one. */
export const listFields = ({ fields }: TableDefinition) => {
	const names = fields.filter(isWritable).map(({ name }) => name);
	return `The table's fields are: ${nameList(names, FIELDS_SHOWN)}.`;
};
