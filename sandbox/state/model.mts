/** What the sandbox keeps: the shapes that the rest of it talks about. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** What fields hold under a name: one called `constructor` is none that every object inherits. */
export const held = (fields: JsonObject, name: string): Json | undefined =>
	Object.hasOwn(fields, name) ? fields[name] : undefined;

export const fieldTypes = [
	'text',
	'long_text',
	'markdown',
	'radio',
	'dropdown',
	'number',
	'decimal',
	'money',
	'percentage',
	'money_with_currency',
	'checkbox',
	'date',
	'datetime',
	'dropdownmulti',
	'chips',
	'url_link',
	'checklist',
	'chat',
	'schema_link',
	'picture',
	'file',
	'buttonform',
	'freehtmlinput',
	'system_type',
	'calculated',
] as const;
export type FieldType = (typeof fieldTypes)[number];

export interface FieldMetadata {
	description?: string;
	required?: boolean;
	min?: number;
	max?: number;
	maxLength?: number;
	items?: Array<{ value: string; order?: number }>;
	filterableFields?: string[];
	/** Marks the table's import key. How it is marked is open; this is our choice. */
	importKey?: boolean;
	/** `schema_link` to many records. */
	multiple?: boolean;
	/** `schema_link`: the table that it points to (id or internal name). */
	linkTableId?: string;
	/** `calculated`: text with `{field}` in it. */
	template?: string;
	/** `system_type`: the property of the record that it shows. */
	source?: 'id' | 'ver' | 'created' | 'modified';
}

export interface Field {
	name: string;
	header: string;
	type: FieldType;
	metadata: FieldMetadata;
}

export interface SavedView {
	id: string;
	name: string;
	description: string;
	visibility: string;
	/** In the query string's form. Not part of a table's definition. */
	filter: string;
}

export interface Table {
	id: string;
	/** The number that records are stored under. */
	number: number;
	appId: string;
	shortid: string;
	internalName: string;
	header: string;
	fields: Field[];
	views: SavedView[];
	scripts: JsonObject[];
	/** Under which property answers tell a field's name: both are seen in the wild. */
	fieldNameProperty: 'name' | 'id';
}

export interface App {
	id: string;
	name: string;
	internalName: string;
	timeZone: string;
}

export type Right = 'structure' | 'read' | 'create' | 'update' | 'delete';

export interface Role {
	id: string;
	name: string;
	/** `*` stands for every application or table; others are internal names. */
	permissions: Array<{ app: string; table: string; allow: Right[] }>;
}

export interface User {
	id: string;
	email: string;
	name: string;
	roleId: string;
}

export type TokenType = 'role' | 'jwt' | 'short' | 'workflow' | 'form';

export interface Token {
	id: string;
	name: string;
	type: TokenType;
	value: string;
	/** Type `role` alone; a JWT has its creator's role. */
	roleId?: string;
	/** The user's id. */
	createdBy: string;
	createdOn: string;
	status: 'valid' | 'revoked';
	/** ISO 8601, or null for no end. */
	validTo: string | null;
	/** The TEMPLATES badge: an application template uses it. */
	templates: boolean;
}

/** A record as it lies in the database. */
export interface StoredRecord {
	seq: number;
	id: string;
	ver: number;
	/** Milliseconds since 1970. */
	created: number;
	modified: number;
	fields: JsonObject;
}

/** Whose rights a workflow's script has; contract.md, section 4. */
export type RunAs = 'me' | 'caller' | 'token';

export interface Workflow {
	id: string;
	name: string;
	/** The last part of its webhook's URL; nobody can guess it. */
	trigger: string;
	runAs: RunAs;
	/** The user's id: "me" in Run As. */
	configuredBy: string;
	/** With Run As `token`. */
	tokenId?: string;
	script: string;
	/** What the webhook answers. This is open, so all kinds can be had. */
	answer: 'accepted' | 'output' | 'text' | 'empty';
	timeLimitMs: number;
}

export interface Run {
	id: string;
	workflowId: string;
	/** The number of the request that started it. */
	request: number;
	startedAt: string;
	durationMs: number | null;
	status: 'running' | 'succeeded' | 'failed' | 'timedOut';
	/** Whose rights it had, in words. */
	actedAs: string;
	payload: Json;
	output: Json;
	log: string[];
	error: string | null;
}

export interface Form {
	id: string;
	name: string;
	tableId: string;
	/** The token that is embedded in its URL. */
	tokenId: string;
	/** The fields that it asks for. */
	fields: string[];
}
