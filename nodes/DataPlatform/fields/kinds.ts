/**
 * What kinds of fields there are, and what each can do. Facts: contract/openapi.yaml.
 */
import type { FieldDefinition, TableDefinition } from '../api/types';

/** Field types that only show something in a form and never hold data. */
const DISPLAY_ONLY = new Set(['buttonform', 'freehtmlinput']);

/** Field types that the platform fills in itself. */
const READ_ONLY = new Set(['system_type', 'calculated']);

const MULTIPLE_CHOICE = new Set(['dropdownmulti', 'chips']);

/** Whether the field holds data at all. */
export const holdsData = (field: FieldDefinition) => !DISPLAY_ONLY.has(field.type);

/** Whether a client may write the field. */
export const isWritable = (field: FieldDefinition) =>
	holdsData(field) &&
	!READ_ONLY.has(field.type) &&
	field.metadata.readOnly !== true &&
	field.metadata.calculated !== true;

/** Whether the field holds several choices. */
export const isMultipleChoice = (field: FieldDefinition) => MULTIPLE_CHOICE.has(field.type);

const NUMERIC = new Set(['number', 'decimal', 'money', 'percentage']);
const TEMPORAL = new Set(['date', 'datetime']);

/** What can be computed of a field's values (contract.md section 3, `summary`). */
export function aggregationsOf({ type }: FieldDefinition): string[] {
	if (NUMERIC.has(type)) return ['avg', 'max', 'min', 'sum'];
	return TEMPORAL.has(type) ? ['max', 'min'] : [];
}

/** How a field's values compare, for the operators that fit it. */
export function comparisonOf({ type }: FieldDefinition): 'order' | 'text' | 'presence' {
	if (NUMERIC.has(type) || TEMPORAL.has(type)) return 'order';
	return ['picture', 'file', 'chat', 'checklist'].includes(type) ? 'presence' : 'text';
}

/** The field that upsert matches by (contract.md "Upsert"), if the table marks one. */
export const importKeyOf = (table: TableDefinition) =>
	table.fields.find((field) => field.metadata.importKey === true);

const FILE_TYPES = new Set(['picture', 'file']);

/** Whether the field holds files. */
export const holdsFiles = (field: FieldDefinition) => FILE_TYPES.has(field.type);

/** The pictures that a `picture` field takes: file name endings and media types. */
export const PICTURES: Record<string, string[]> = {
	avif: ['image/avif'],
	bmp: ['image/bmp', 'image/x-ms-bmp'],
	heic: ['image/heic', 'image/heif'],
	ico: ['image/x-icon', 'image/vnd.microsoft.icon'],
	jfif: ['image/jpeg', 'image/jfif'],
	jpeg: ['image/jpeg'],
	jpg: ['image/jpeg'],
	png: ['image/png'],
	svg: ['image/svg+xml'],
	webp: ['image/webp'],
};
