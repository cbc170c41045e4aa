import type { JsonObject } from './model.mts';

/** What a test can switch while the sandbox runs: PUT /sandbox/settings; docs/sandbox.md. */
export interface Settings {
	/** Requests for each token and window; null is no limit. */
	rateLimitPerMinute: number | null;
	/** A minute, unless a test cannot wait that long. */
	rateLimitWindowMs: number;
	/** How a 429 says when to come back. */
	retryAfter: 'none' | 'seconds' | 'date';
	/** Before every answer. */
	latencyMs: number;
	/** What a bad record does to its batch. */
	batchFailure: 'perRecord' | 'wholeBatch400' | 'wholeBatch422';
	/** Whether error items tell the record's position. */
	recordIndex: boolean;
	/** Bulk requests with more records get 413; null is no limit. */
	maxBulkRecords: number | null;
	/** Larger bodies get 413. */
	maxBodyBytes: number;
	/** Larger files get 413; null is no limit. */
	maxFileBytes: number | null;
	/** Whether bulk responses have `updatedCount`. */
	updatedCount: boolean;
	/** Whether an update by upsert inserts under the id asked for (if it is a UUID). */
	upsertKeepsId: boolean;
	/** Whether every version of every record is kept. */
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
