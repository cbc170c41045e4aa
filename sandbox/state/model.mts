/** Types of what the sandbox stores. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** A property of its own, not an inherited one such as `constructor`. */
export const getOwn = (fields: JsonObject, name: string): Json | undefined =>
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
	/** Marks the table's import key. How a service marks it is open. */
	importKey?: boolean;
	/** `schema_link` to many records. */
	multiple?: boolean;
	/** `schema_link`: the table that it points to (id or internal name). */
	linkTableId?: string;
	/** Nobody may write it. How a service says so is open. */
	readOnly?: boolean;
	/** `calculated`: text with `{field}` in it. */
	template?: string;
	/** `file`: it has at most one. How a service says so is open. */
	oneFile?: boolean;
	/** `number`: the sandbox numbers new records; read-only. */
	series?: boolean;
	/** `system_type`: the property of the record that it shows. */
	source?: 'id' | 'ver' | 'created' | 'modified';
}

export interface Field {
	name: string;
	header: string;
	type: FieldType;
	metadata: FieldMetadata;
	/** With the setting `rejections`: no two records may have the same value. Not in definitions. */
	unique?: boolean;
}

/** A workflow before a change that rejects what a field holds, with its own words. */
export interface Rejection {
	field: string;
	contains?: string;
	equals?: string;
	message: string;
}

export interface SavedView {
	id: string;
	name: string;
	description: string;
	visibility: string;
	/** In the format of the query string. Not part of the table's definition. */
	filter: string;
}

export interface Table {
	id: string;
	/** Identifies the table in the records' SQL table. */
	number: number;
	appId: string;
	shortid: string;
	internalName: string;
	header: string;
	fields: Field[];
	views: SavedView[];
	scripts: JsonObject[];
	/** The property of a field's name in definitions; services use either. */
	fieldNameProperty: 'name' | 'id';
	/** With the setting `rejections`. Not in definitions. */
	rejections: Rejection[];
}

export interface App {
	id: string;
	name: string;
	internalName: string;
	timeZone: string;
}

export const rights = ['structure', 'read', 'create', 'update', 'delete', 'import'] as const;
export type Right = (typeof rights)[number];

export interface Role {
	id: string;
	name: string;
	/** Internal names; `*` stands for all applications or tables. */
	permissions: Array<{ app: string; table: string; allow: Right[] }>;
}

export interface User {
	id: string;
	email: string;
	name: string;
	roleId: string;
}

export const tokenTypes = ['role', 'jwt', 'short', 'workflow', 'form'] as const;
export type TokenType = (typeof tokenTypes)[number];

export interface Token {
	id: string;
	name: string;
	type: TokenType;
	value: string;
	/** Only for type `role`; a JWT has its creator's role. */
	roleId?: string;
	/** The user's id. */
	createdBy: string;
	createdOn: string;
	status: 'valid' | 'revoked';
	/** ISO 8601; null for no expiry. */
	validTo: string | null;
	/** The TEMPLATES badge: an application template uses it. */
	templates: boolean;
}

/** A record in the database. */
export interface StoredRecord {
	seq: number;
	id: string;
	ver: number;
	/** Milliseconds since 1970. */
	created: number;
	modified: number;
	fields: JsonObject;
}

/** Whose rights a workflow's script has. */
export const runAsModes = ['me', 'caller', 'token'] as const;

export const webhookResponses = ['accepted', 'output', 'text', 'empty'] as const;

export interface Workflow {
	id: string;
	name: string;
	/** The last segment of its webhook URL; random. */
	trigger: string;
	runAs: (typeof runAsModes)[number];
	/** Id of the user that "me" stands for. */
	configuredBy: string;
	/** With Run As `token`. */
	tokenId?: string;
	script: string;
	/** What the webhook responds. The contract leaves it open, so there are several kinds. */
	response: (typeof webhookResponses)[number];
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
	/** A description of whose rights it had. */
	actedAs: string;
	payload: Json;
	output: Json;
	log: string[];
	error: string | null;
}
