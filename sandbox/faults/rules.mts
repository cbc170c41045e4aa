import type { Json, JsonObject } from '../state/model.mts';

/** Which records of a bulk request: by position, by a field that is sent, or by its value. */
export interface RecordChoice {
	indexes?: number[];
	field?: string;
	values?: Json[];
}

/** What goes wrong; see the list in docs/sandbox.md. */
export type Fault =
	| ({ kind: 'status'; status: number; body?: Json; contentType?: string } & RetryAfter & Timing)
	| { kind: 'resetUpload'; bytes?: number }
	| { kind: 'resetBefore' }
	| { kind: 'resetAfter' }
	| { kind: 'slowBefore'; ms: number }
	| { kind: 'slowAfter'; ms: number }
	| ({ kind: 'hang' } & Timing)
	| { kind: 'truncate'; bytes?: number }
	| ({ kind: 'html'; status?: number } & Timing)
	| ({ kind: 'empty'; status?: number } & Timing)
	| { kind: 'wrongLength'; by: number }
	| { kind: 'redirect'; location: string; status?: number }
	| ({ kind: 'failRecords'; withIndex?: boolean; message?: string } & RecordChoice)
	| ({ kind: 'skipRecords' } & RecordChoice)
	| ({ kind: 'rejectBatch'; status?: number; withIndex?: boolean } & RecordChoice)
	| { kind: 'rejectAbove'; records: number; status?: number }
	| { kind: 'fewerRecords'; count?: number }
	| { kind: 'moreRecords'; count?: number };

interface RetryAfter {
	/** `Retry-After` in seconds. */
	retryAfterSeconds?: number;
	/** `Retry-After` as the HTTP date this many seconds from now. */
	retryAfterDate?: number;
}

interface Timing {
	/** Serves the request first, so what it writes is stored. */
	afterWrite?: boolean;
}

export interface FaultRule {
	id?: string;
	match?: { method?: string; path?: string; bodyContains?: string };
	/** Which of the matching requests, counted from 1. Default: all of them. */
	when?: {
		nth?: number[];
		every?: number;
		first?: number;
		probability?: number;
		seed?: number;
	};
	fault: Fault;
}

const count: JsonObject = { type: 'integer', minimum: 0 };
const positive: JsonObject = { type: 'integer', minimum: 1 };
const flag: JsonObject = { type: 'boolean' };
const text: JsonObject = { type: 'string' };
const status: JsonObject = { type: 'integer', minimum: 200, maximum: 599 };
const records: JsonObject = {
	indexes: { type: 'array', items: count },
	field: text,
	values: { type: 'array' },
};

const properties: Record<Fault['kind'], { required?: string[]; optional?: JsonObject }> = {
	status: {
		required: ['status'],
		optional: {
			status,
			body: {},
			contentType: text,
			retryAfterSeconds: count,
			retryAfterDate: count,
			afterWrite: flag,
		},
	},
	resetUpload: { optional: { bytes: count } },
	resetBefore: {},
	resetAfter: {},
	slowBefore: { required: ['ms'], optional: { ms: count } },
	slowAfter: { required: ['ms'], optional: { ms: count } },
	hang: { optional: { afterWrite: flag } },
	truncate: { optional: { bytes: count } },
	html: { optional: { status, afterWrite: flag } },
	empty: { optional: { status, afterWrite: flag } },
	wrongLength: { required: ['by'], optional: { by: { type: 'integer' } } },
	redirect: { required: ['location'], optional: { location: text, status } },
	failRecords: { optional: { ...records, withIndex: flag, message: text } },
	skipRecords: { optional: records },
	rejectBatch: { optional: { ...records, status, withIndex: flag } },
	rejectAbove: { required: ['records'], optional: { records: count, status } },
	fewerRecords: { optional: { count: positive } },
	moreRecords: { optional: { count: positive } },
};

/** JSON Schema of the body of PUT /sandbox/faults. */
export const rulesSchema: JsonObject = {
	type: 'array',
	items: {
		type: 'object',
		required: ['fault'],
		properties: {
			id: text,
			match: {
				type: 'object',
				properties: { method: text, path: text, bodyContains: text },
				additionalProperties: false,
			},
			when: {
				type: 'object',
				properties: {
					nth: { type: 'array', items: positive },
					every: positive,
					first: positive,
					probability: { type: 'number', minimum: 0, maximum: 1 },
					seed: { type: 'integer' },
				},
				additionalProperties: false,
			},
			fault: {
				type: 'object',
				required: ['kind'],
				properties: { kind: { enum: Object.keys(properties) } },
				allOf: Object.entries(properties).map(([kind, { required = [], optional = {} }]) => ({
					if: { properties: { kind: { const: kind } } },
					then: {
						required,
						properties: { kind: {}, ...optional },
						additionalProperties: false,
					},
				})),
			},
		},
		additionalProperties: false,
	},
};
