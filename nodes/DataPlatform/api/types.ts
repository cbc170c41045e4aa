/**
 * The parts of the service's requests and responses that the nodes use. Facts:
 * contract/openapi.yaml.
 */
import type { ApiClient } from '../transport/client';

export type JsonValue =
	| string
	| number
	| boolean
	| null
	| JsonValue[]
	| { [key: string]: JsonValue | undefined };

export type FieldValues = Record<string, JsonValue>;

/** How to address a table; the application may be left out. */
export interface TableAddress {
	/** UUID or internal name. */
	application?: string;
	/** UUID or internal name. */
	table: string;
}

/** A table, and the client that asks for it. `api/table` has its definition, too. */
export interface TableAt {
	client: ApiClient;
	at: TableAddress;
}

/** What every response about one record has. Times are ISO 8601. */
export interface RecordMetadata {
	id: string;
	created?: string;
	modified?: string;
	ver?: number;
}

export interface PlatformRecord extends RecordMetadata {
	fields: FieldValues;
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
	/** Of a date or time: the application's, once a value needs it; '' if it is unknown. */
	timeZone?: string;
	/** Of a link: whether it points to many records; undefined if unknown (`learnLinks`). */
	multiple?: boolean;
	/**
	 * Of a link: the table it points to, its application if known, and the fields of that table that
	 * a filter can use.
	 */
	linkTableId?: string;
	linkApplication?: string;
	filterableFields?: string[];
	/** The choices. */
	items?: Array<{ value: string; order?: number }>;
}

/** The type of a field whose definition has no readable type. */
export const UNKNOWN_TYPE = 'unknown';

export interface FieldDefinition {
	name: string;
	header: string;
	type: string;
	metadata: FieldMetadata;
}

interface SavedView {
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

/** A table whose definition was read. */
export interface DefinedTable extends TableAt {
	table: TableDefinition;
}

/** A file on a record. Sizes are in bytes. */
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
