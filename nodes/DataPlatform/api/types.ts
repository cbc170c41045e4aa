/**
 * What the service's requests and responses are made of, as the nodes use it. Facts:
 * contract/openapi.yaml.
 */
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

/** What every response about one record has; times are ISO 8601 with offset. */
export interface RecordMetadata {
	id: string;
	created?: string;
	modified?: string;
	ver?: number;
}

export interface PlatformRecord extends RecordMetadata {
	fields: FieldValues;
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

/** The type of a field whose definition does not say it in a readable form. */
export const UNKNOWN_TYPE = 'unknown';

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
	visibility?: string;
}

export interface TableDefinition {
	id: string;
	internalName: string;
	header: string;
	fields: FieldDefinition[];
	savedViews: SavedView[];
}

/** A file on a record; sizes in bytes. */
export interface Attachment {
	fileId: string;
	fileName: string;
	fileSize?: number;
	mimetype?: string;
	fileUrl?: string;
	thumbnailUrl?: string;
}

/** A group of an application's tables. */
export interface Module {
	shortId: string;
	header: string;
	tableIds: string[];
}

export interface Application {
	id: string;
	name: string;
	internalName: string;
	/** Not in a list of applications. */
	modules?: Module[];
}
