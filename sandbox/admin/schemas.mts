import { fieldTypes, type JsonObject, type Right, type TokenType } from '../state/model.mts';
import type { TableInput } from '../catalog/create.mts';

const text: JsonObject = { type: 'string', minLength: 1 };

/** POST /sandbox/tables. */
export interface NewTable {
	/** An application's internal name; it is created if it does not exist. */
	app: string;
	/** Of a new application; an IANA name. */
	timeZone?: string;
	table: TableInput;
	/** Validated like any write; their request number in the history is 0. */
	records?: Array<{ id?: string; fields: JsonObject }>;
}

export const newTableSchema: JsonObject = {
	type: 'object',
	required: ['app', 'table'],
	properties: {
		app: text,
		timeZone: text,
		table: {
			type: 'object',
			required: ['internalName', 'fields'],
			properties: {
				internalName: text,
				header: text,
				fieldNameProperty: { enum: ['name', 'id'] },
				fields: {
					type: 'array',
					items: {
						type: 'object',
						required: ['name', 'type'],
						properties: {
							name: text,
							header: text,
							type: { enum: [...fieldTypes] },
							metadata: { type: 'object' },
						},
						additionalProperties: false,
					},
				},
				views: {
					type: 'array',
					items: {
						type: 'object',
						required: ['name', 'filter'],
						properties: { name: text, description: {}, visibility: {}, filter: text },
						additionalProperties: false,
					},
				},
			},
			additionalProperties: false,
		},
		records: {
			type: 'array',
			items: {
				type: 'object',
				required: ['fields'],
				properties: { id: text, fields: { type: 'object' } },
				additionalProperties: false,
			},
		},
	},
	additionalProperties: false,
};

/** POST /sandbox/tokens. */
export interface NewToken {
	name: string;
	type: TokenType;
	/** Of a `role` token; they become a role of its own. */
	permissions?: Array<{ app: string; table: string; allow: Right[] }>;
	/** The e-mail address of the user who creates it; a JWT has that user's rights. */
	createdBy?: string;
	validTo?: string | null;
	templates?: boolean;
}

export const newTokenSchema: JsonObject = {
	type: 'object',
	required: ['name', 'type'],
	properties: {
		name: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' },
		type: { enum: ['role', 'jwt', 'short', 'workflow', 'form'] },
		permissions: {
			type: 'array',
			items: {
				type: 'object',
				required: ['app', 'table', 'allow'],
				properties: {
					app: text,
					table: text,
					allow: {
						type: 'array',
						items: { enum: ['structure', 'read', 'create', 'update', 'delete'] },
					},
				},
				additionalProperties: false,
			},
		},
		createdBy: text,
		validTo: { anyOf: [text, { type: 'null' }] },
		templates: { type: 'boolean' },
	},
	additionalProperties: false,
};

/** PATCH /sandbox/tokens/{name}. */
export interface TokenChange {
	status?: 'valid' | 'revoked';
	validTo?: string | null;
}

export const tokenChangeSchema: JsonObject = {
	type: 'object',
	properties: {
		status: { enum: ['valid', 'revoked'] },
		validTo: { anyOf: [text, { type: 'null' }] },
	},
	additionalProperties: false,
};

/** POST and PUT /sandbox/workflows. */
export interface NewWorkflow {
	name: string;
	/** The body of an async function; `svc` is in scope. */
	script: string;
	runAs?: 'me' | 'caller' | 'token';
	/** The e-mail address of the user that "me" stands for. */
	configuredBy?: string;
	/** The token's name, with `runAs: "token"`. */
	token?: string;
	response?: 'accepted' | 'output' | 'text' | 'empty';
	timeLimitMs?: number;
}

export const newWorkflowSchema: JsonObject = {
	type: 'object',
	required: ['name', 'script'],
	properties: {
		name: text,
		script: { type: 'string' },
		runAs: { enum: ['me', 'caller', 'token'] },
		configuredBy: text,
		token: text,
		response: { enum: ['accepted', 'output', 'text', 'empty'] },
		timeLimitMs: { type: 'integer', minimum: 1, maximum: 60_000 },
	},
	additionalProperties: false,
};

/** POST /sandbox/forms. */
export interface NewForm {
	name: string;
	app: string;
	table: string;
	fields: string[];
	/** The name of a token of type `form`. */
	token?: string;
}

export const newFormSchema: JsonObject = {
	type: 'object',
	required: ['name', 'app', 'table', 'fields'],
	properties: {
		name: text,
		app: text,
		table: text,
		fields: { type: 'array', minItems: 1, items: text },
		token: text,
	},
	additionalProperties: false,
};
