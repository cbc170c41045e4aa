/**
 * The service's contract as the nodes use it: paths, bodies and types. When the platform
 * changes, this file changes. Facts: contract.md sections 2 and 3, contract/openapi.yaml.
 */
import { segment } from '../transport/urlEncoding';

export type JsonValue =
	| string
	| number
	| boolean
	| null
	| JsonValue[]
	| { [key: string]: JsonValue | undefined };

export type FieldValues = Record<string, JsonValue>;

/** Where a table is found; without an application it is addressed directly. */
export interface TableAddress {
	/** UUID or internal name. */
	application?: string;
	/** UUID or internal name. */
	table: string;
}

/** What every answer about one record tells; times are ISO 8601 with offset. */
export interface RecordMetadata {
	id: string;
	created?: string;
	modified?: string;
	ver?: number;
}

export interface PlatformRecord extends RecordMetadata {
	fields: FieldValues;
}

/** One entry of `errors`; `RecordIndex` is optional and its case is not promised. */
export interface ErrorEntry {
	type?: string;
	id?: string;
	message?: string;
	recordIndex?: number;
}

export interface FieldChoice {
	value: string;
	order?: number;
}

export interface FieldMetadata {
	description?: string;
	required?: boolean;
	readOnly?: boolean;
	calculated?: boolean;
	importKey?: boolean;
	min?: number;
	max?: number;
	maxLength?: number;
	multiple?: boolean;
	/** Of a link: the table it leads to, and the fields there that a filter can reach. */
	linkTableId?: string;
	filterableFields?: string[];
	items?: FieldChoice[];
}

export interface FieldDefinition {
	name: string;
	header: string;
	type: string;
	metadata: FieldMetadata;
}

export interface SavedView {
	id: string;
	name: string;
	description?: string;
}

export interface TableDefinition {
	id: string;
	internalName: string;
	header: string;
	fields: FieldDefinition[];
	savedViews: SavedView[];
}

/** A file on a record (contract.md "Attachments"); sizes in bytes. */
export interface Attachment {
	fileId: string;
	fileName: string;
	fileSize?: number;
	mimetype?: string;
	fileUrl?: string;
	thumbnailUrl?: string;
}

export interface Application {
	id: string;
	name: string;
	internalName: string;
}

const API = '/api/v2';

const tablePath = ({ application, table }: TableAddress) =>
	application
		? `${API}/apps/${segment(application)}/tables/${segment(table)}`
		: `${API}/${segment(table)}`;

/** Every path of the service (contract.md section 3); each segment is percent-encoded. */
export const paths = {
	ping: () => `${API}/ping`,
	currentUser: () => `${API}/users/me`,
	applications: () => `${API}/apps`,
	application: (application: string) => `${API}/apps/${segment(application)}`,
	tables: (application: string) => `${API}/apps/${segment(application)}/tables`,
	table: (application: string, table: string) => tablePath({ application, table }),
	records: (at: TableAddress) => `${tablePath(at)}/data`,
	record: (at: TableAddress, id: string) => `${tablePath(at)}/data/${segment(id)}`,
	filter: (at: TableAddress) => `${tablePath(at)}/data/filter`,
	count: (at: TableAddress) => `${tablePath(at)}/data/count`,
	countFilter: (at: TableAddress) => `${tablePath(at)}/data/count/filter`,
	summary: (at: TableAddress) => `${tablePath(at)}/data/summary`,
	bulk: (at: TableAddress) => `${tablePath(at)}/data/bulk`,
	file: (at: TableAddress, id: string) => `${tablePath(at)}/files/${segment(id)}`,
	thumbnail: (at: TableAddress, id: string) => `${tablePath(at)}/files/${segment(id)}/thumbnail`,
};

/** The largest page of records that may be asked for. */
export const MAX_PAGE_SIZE = 1000;

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

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
const number = (value: unknown) => (typeof value === 'number' ? value : undefined);

/** Reads one record's metadata; undefined where the value is no such thing. */
export function toMetadata(value: unknown): RecordMetadata | undefined {
	if (!isObject(value) || text(value.id) === undefined) return undefined;
	return {
		id: value.id as string,
		created: text(value.created),
		modified: text(value.modified),
		ver: number(value.ver),
	};
}

/** Reads one record; undefined where the value is no record. */
export function toRecord(value: unknown): PlatformRecord | undefined {
	if (!isObject(value) || text(value.id) === undefined) return undefined;
	const { id, created, modified, ver, fields = {} } = value;
	if (!isObject(fields)) return undefined;
	return {
		id: id as string,
		created: text(created),
		modified: text(modified),
		ver: number(ver),
		fields: fields as FieldValues,
	};
}

/** Reads a record of an answer to a read, which has to hold its fields. */
export const toWholeRecord = (value: unknown): PlatformRecord | undefined =>
	isObject(value) && value.fields !== undefined ? toRecord(value) : undefined;

/** Reads the `errors` of an envelope, whatever is in it. */
export function toErrorEntries(value: unknown): ErrorEntry[] {
	if (!Array.isArray(value)) return [];
	return value.filter(isObject).map((entry) => {
		const indexKey = Object.keys(entry).find((key) => key.toLowerCase() === 'recordindex');
		const index = indexKey === undefined ? undefined : entry[indexKey];
		return {
			type: text(entry.type),
			id: text(entry.id),
			message: text(entry.message),
			recordIndex: typeof index === 'number' && Number.isInteger(index) ? index : undefined,
		};
	});
}

// How the platform marks the import key and read-only fields is open: every plain spelling counts.
const flag = (source: Record<string, unknown>, ...names: string[]) =>
	names.some((name) => source[name] === true);

/** Reads a field; null for what has no name and so is none, undefined for what can't be read. */
function toField(value: unknown): FieldDefinition | null | undefined {
	if (!isObject(value)) return undefined;
	const name = text(value.name) ?? text(value.id);
	const { metadata = {}, type } = value;
	if (!isObject(metadata) || (type !== undefined && !text(type))) return undefined;
	if (name === undefined) return null;
	const flags = { ...value, ...metadata };
	return {
		name,
		header: text(value.header) ?? name,
		type: text(value.type) ?? 'text',
		metadata: {
			description: text(metadata.description),
			required: flag(flags, 'required'),
			readOnly: flag(flags, 'readOnly', 'readonly', 'isReadOnly'),
			calculated: flag(flags, 'calculated', 'isCalculated'),
			importKey: flag(flags, 'importKey', 'isImportKey', 'importkey'),
			multiple: flag(flags, 'multiple', 'isMultiple'),
			linkTableId: text(metadata.linkTableId),
			filterableFields: Array.isArray(metadata.filterableFields)
				? metadata.filterableFields.filter((name) => typeof name === 'string')
				: undefined,
			min: number(metadata.min),
			max: number(metadata.max),
			maxLength: number(metadata.maxLength),
			items: Array.isArray(metadata.items)
				? metadata.items
						.filter(isObject)
						.map(({ value: choice, order }) => ({ value: String(choice), order: number(order) }))
				: undefined,
		},
	};
}

const present = <T>(value: T | undefined): value is T => value !== undefined;

/** Reads a list of which each entry must be readable; undefined where it is no such list. */
export function toList<T>(value: unknown, read: (entry: unknown) => T | undefined) {
	if (!Array.isArray(value)) return undefined;
	const entries = value.map(read);
	return entries.every(present) ? entries : undefined;
}

/** Reads a table's definition; undefined where the value is none. */
export function toTable(value: unknown): TableDefinition | undefined {
	if (!isObject(value)) return undefined;
	const id = text(value.id) ?? text(value.shortid);
	if (id === undefined) return undefined;
	const settings = isObject(value.settings) ? value.settings : {};
	const fields = toList(value.items ?? [], toField);
	if (!fields) return undefined;
	return {
		id,
		internalName: text(value.internalNameApi) ?? text(value.internalName) ?? id,
		header: text(value.header) ?? text(value.name) ?? id,
		fields: fields.filter((field) => field !== null),
		savedViews: (Array.isArray(settings.userFilters) ? settings.userFilters : [])
			.filter(isObject)
			.filter((view) => text(view.id) !== undefined)
			.map((view) => ({
				id: view.id as string,
				name: text(view.name) ?? (view.id as string),
				description: text(view.description),
			})),
	};
}

/** Reads the files in a field's value; none where it holds none. */
export function toAttachments(value: unknown): Attachment[] {
	if (!Array.isArray(value)) return [];
	return value
		.filter(isObject)
		.filter(({ fileId }) => text(fileId) !== undefined)
		.map(({ fileId, fileName, fileSize, mimetype, fileUrl, thumbnailUrl }) => ({
			fileId: fileId as string,
			fileName: text(fileName) ?? (fileId as string),
			fileSize: number(fileSize),
			mimetype: text(mimetype),
			fileUrl: text(fileUrl),
			thumbnailUrl: text(thumbnailUrl),
		}));
}

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

/** Reads an application; undefined where the value is none. */
export function toApplication(value: unknown): Application | undefined {
	if (!isObject(value)) return undefined;
	const id = text(value.id);
	if (id === undefined) return undefined;
	const internalName = text(value.internalName) ?? id;
	return { id, name: text(value.name) ?? internalName, internalName };
}
