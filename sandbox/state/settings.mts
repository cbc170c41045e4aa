import Type, { type Static } from 'typebox';

const closed = { additionalProperties: false };
const count = Type.Integer({ minimum: 0 });
const pageCap = Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]);

const settings = Type.Object({
	/** Requests per token and window; null for no limit. */
	rateLimitPerMinute: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
	/** A minute; shorter for tests. */
	rateLimitWindowMs: Type.Integer({ minimum: 1 }),
	/** The format of `Retry-After` with 429. */
	retryAfter: Type.Enum(['none', 'seconds', 'date']),
	/** Delay before every response. */
	latencyMs: count,
	/** What an invalid record does to the rest of its batch. */
	batchFailure: Type.Enum(['perRecord', 'wholeBatch400', 'wholeBatch422']),
	/** Whether errors of a batch have `RecordIndex`. */
	recordIndex: Type.Boolean(),
	/** Bulk requests with more records get 413; null for no limit. */
	maxBulkRecords: Type.Union([count, Type.Null()]),
	/** Larger bodies get 413. */
	maxBodyBytes: count,
	/** Larger files get 413; null for no limit. */
	maxFileBytes: Type.Union([count, Type.Null()]),
	/** Whether bulk responses have `updatedCount`. */
	updatedCount: Type.Boolean(),
	/** `created` and `modified` of records are multiples of this; with 1, an update is always later. */
	timePrecisionMs: Type.Integer({ minimum: 1 }),
	/** The most records in a page of GET T/data, whatever its `limit`; null for no cap. */
	maxListedRecords: pageCap,
	/** The same for POST T/data/filter. */
	maxFilteredRecords: pageCap,
	/** Whether written chat messages replace the existing ones or are added to them. */
	chatWrites: Type.Enum(['replace', 'append']),
	/** Whether every version of every record is stored. */
	history: Type.Boolean(),
});

/** What tests can change while the sandbox runs; docs/sandbox.md. */
export type Settings = Static<typeof settings>;

/** The body of PUT /sandbox/settings: any of the settings. */
export const settingsSchema = Type.Partial(settings, closed);

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
	timePrecisionMs: 1,
	maxListedRecords: null,
	maxFilteredRecords: null,
	chatWrites: 'replace',
	history: true,
};
