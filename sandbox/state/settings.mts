import Type, { type Static } from 'typebox';

const closed = { additionalProperties: false };
const count = Type.Integer({ minimum: 0 });
const pageCap = Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]);
const limit = Type.Union([count, Type.Null()]);

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
	/** Which URLs in file fields are fetched: only the sandbox's own, or all of this machine. */
	fileUrls: Type.Enum(['own', 'loopback']),
	/** Whether every version of every record is stored. */
	history: Type.Boolean(),

	// What is unknown about the platform: variants.mts says what each reading means.
	dates: Type.Enum(['current', 'older']),
	dateForms: Type.Enum(['four', 'iso']),
	definition: Type.Enum(['full', 'documented']),
	shortAddress: Type.Enum(['served', 'notFound']),
	createStatus: Type.Enum([201, 200]),
	bulkRight: Type.Enum(['write', 'import']),
	bulkOrder: Type.Enum(['request', 'other']),
	errorPosition: Type.Enum(['RecordIndex', 'recordIndex', 'none']),
	filterNames: Type.Enum(['validated', 'ignored']),
	importKey: Type.Enum(['notUnique', 'unique']),
	rejections: Type.Enum(['none', 'byField']),
	links: Type.Enum(['nested', 'flat']),
	linkLists: Type.Enum(['withUrl', 'withoutUrl']),
	newRecordModified: Type.Enum(['created', 'later']),
	lateValuesMs: count,
	/** Requests a day, of all tokens; null for no limit. */
	dailyQuota: limit,
	quotaRetryAfter: Type.Enum(['none', 'short', 'long', 'date']),
	/** Records in an application; null for no limit. */
	maxRecords: limit,
	/** Bytes of all files; null for no limit. */
	maxStorageBytes: limit,
	limitErrors: Type.Enum(['perRecord', 'wholeBatch']),
	attachmentRules: Type.Enum(['documented', 'none']),
	fileSize: Type.Enum(['number', 'text', 'absent']),
	fileAddresses: Type.Enum(['plain', 'withToken']),
	emptyFields: Type.Enum(['null', 'absent']),
	typeNames: Type.Enum(['today', 'older']),
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
	maxBulkRecords: null,
	maxBodyBytes: 1024 ** 3,
	maxFileBytes: null,
	updatedCount: true,
	timePrecisionMs: 1,
	maxListedRecords: null,
	maxFilteredRecords: null,
	chatWrites: 'replace',
	fileUrls: 'own',
	history: true,
	dates: 'current',
	dateForms: 'four',
	definition: 'full',
	shortAddress: 'served',
	createStatus: 201,
	bulkRight: 'write',
	bulkOrder: 'request',
	errorPosition: 'RecordIndex',
	filterNames: 'validated',
	importKey: 'notUnique',
	rejections: 'none',
	links: 'nested',
	linkLists: 'withUrl',
	newRecordModified: 'created',
	lateValuesMs: 0,
	dailyQuota: null,
	quotaRetryAfter: 'none',
	maxRecords: null,
	maxStorageBytes: null,
	limitErrors: 'perRecord',
	attachmentRules: 'documented',
	fileSize: 'number',
	fileAddresses: 'plain',
	emptyFields: 'null',
	typeNames: 'today',
};
