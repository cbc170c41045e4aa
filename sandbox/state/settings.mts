import type { JsonObject } from './model.mts';

/** What tests can change while the sandbox runs; docs/sandbox.md. */
export interface Settings {
	/** Requests per token and window; null for no limit. */
	rateLimitPerMinute: number | null;
	/** A minute; shorter for tests. */
	rateLimitWindowMs: number;
	/** The form of `Retry-After` with 429. */
	retryAfter: 'none' | 'seconds' | 'date';
	/** Delay before every response. */
	latencyMs: number;
	/** What an invalid record does to its batch. */
	batchFailure: 'perRecord' | 'wholeBatch400' | 'wholeBatch422';
	/** Whether errors of a batch have `RecordIndex`. */
	recordIndex: boolean;
	/** Bulk requests with more records get 413; null for no limit. */
	maxBulkRecords: number | null;
	/** Larger bodies get 413. */
	maxBodyBytes: number;
	/** Larger files get 413; null for no limit. */
	maxFileBytes: number | null;
	/** Whether bulk responses have `updatedCount`. */
	updatedCount: boolean;
	/** Whether an upsert of an unknown id inserts the record with that id (if it is a UUID). */
	upsertKeepsId: boolean;
	/** Whether every version of every record is stored. */
	history: boolean;
}

export const defaultSettings: Readonly<Settings> = {
	rateLimitPerMinute: null,
	rateLimitWindowMs: 60_000,
	retryAfter: 'seconds',
	latencyMs: 0,
	batchFailure: 'perRecord',
	recordIndex: true,
	maxBulkRecords: null,
	maxBodyBytes: 1024 ** 3,
	maxFileBytes: null,
	updatedCount: true,
	upsertKeepsId: true,
	history: true,
};

const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: 'null' }] });
const count: JsonObject = { type: 'integer', minimum: 0 };

/** JSON Schema of the body of PUT /sandbox/settings: any part of the settings. */
export const settingsSchema: JsonObject = {
	type: 'object',
	properties: {
		rateLimitPerMinute: orNull({ type: 'integer', minimum: 1 }),
		rateLimitWindowMs: { type: 'integer', minimum: 1 },
		retryAfter: { enum: ['none', 'seconds', 'date'] },
		latencyMs: count,
		batchFailure: { enum: ['perRecord', 'wholeBatch400', 'wholeBatch422'] },
		recordIndex: { type: 'boolean' },
		maxBulkRecords: orNull(count),
		maxBodyBytes: count,
		maxFileBytes: orNull(count),
		updatedCount: { type: 'boolean' },
		upsertKeepsId: { type: 'boolean' },
		history: { type: 'boolean' },
	},
	additionalProperties: false,
};
