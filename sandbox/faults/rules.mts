import Type, { type Static } from 'typebox';
import type { Json } from '../state/model.mts';

const closed = { additionalProperties: false };
const count = Type.Integer({ minimum: 0 });
const positive = Type.Integer({ minimum: 1 });
const status = Type.Optional(Type.Integer({ minimum: 200, maximum: 599 }));
const withIndex = Type.Optional(Type.Boolean());

const recordChoiceProperties = {
	indexes: Type.Optional(Type.Array(count)),
	field: Type.Optional(Type.String()),
	values: Type.Optional(Type.Array(Type.Unsafe<Json>({}))),
};
const recordChoice = Type.Object(recordChoiceProperties);
/** Which records of a bulk request: by position, by a field that is sent, or by its value. */
export type RecordChoice = Static<typeof recordChoice>;

/** Serves the request first, so what it writes is stored. */
const timing = { afterWrite: Type.Optional(Type.Boolean()) };

const fault = <Kind extends string, Options extends Type.TProperties>(
	kind: Kind,
	options: Options,
) => Type.Object({ kind: Type.Literal(kind), ...options }, closed);

/** Serves the request that much later, although the client was told that it failed. */
const later = { writeAfterMs: Type.Optional(count) };

/** docs/sandbox.md describes them. */
const faults = [
	fault('status', {
		status: Type.Integer({ minimum: 200, maximum: 599 }),
		body: Type.Optional(Type.Unsafe<Json>({})),
		contentType: Type.Optional(Type.String()),
		/** `Retry-After` in seconds. */
		retryAfterSeconds: Type.Optional(count),
		/** `Retry-After` as the HTTP date this many seconds from now. */
		retryAfterDate: Type.Optional(count),
		...timing,
		...later,
	}),
	fault('resetUpload', { bytes: Type.Optional(count) }),
	fault('resetBefore', later),
	fault('resetAfter', {}),
	fault('slowBefore', { ms: count }),
	fault('slowAfter', { ms: count }),
	fault('hang', timing),
	fault('truncate', { bytes: Type.Optional(count) }),
	fault('html', { status, ...timing }),
	fault('empty', { status, ...timing }),
	fault('wrongLength', { by: Type.Integer() }),
	fault('redirect', { location: Type.String(), status }),
	fault('failRecords', {
		withIndex,
		message: Type.Optional(Type.String()),
		...recordChoiceProperties,
	}),
	fault('skipRecords', recordChoiceProperties),
	fault('rejectBatch', { status, withIndex, ...recordChoiceProperties }),
	fault('rejectAbove', { records: count, status }),
	fault('fewerRecords', { count: Type.Optional(positive) }),
	fault('moreRecords', { count: Type.Optional(positive) }),
	fault('reorderRecords', {}),
] as const;

/** What goes wrong. */
export type Fault = Static<(typeof faults)[number]>;

export const faultKinds: readonly string[] = faults.map(({ properties }) => properties.kind.const);

const rule = Type.Object(
	{
		id: Type.Optional(Type.String()),
		match: Type.Optional(
			Type.Object(
				{
					method: Type.Optional(Type.String()),
					path: Type.Optional(Type.String()),
					bodyContains: Type.Optional(Type.String()),
				},
				closed,
			),
		),
		/** Which of the matching requests, counted from 1. Default: all of them. */
		when: Type.Optional(
			Type.Object(
				{
					nth: Type.Optional(Type.Array(positive)),
					every: Type.Optional(positive),
					first: Type.Optional(positive),
					probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
					seed: Type.Optional(Type.Integer()),
				},
				closed,
			),
		),
		// With a discriminator, validation only reports errors of the kind that was sent.
		fault: Type.Unsafe<Fault>({
			type: 'object',
			required: ['kind'],
			properties: { kind: { enum: faultKinds } },
			discriminator: { propertyName: 'kind' },
			oneOf: faults,
		}),
	},
	closed,
);
export type FaultRule = Static<typeof rule>;

/** The body of PUT /sandbox/faults. */
export const rulesSchema = Type.Array(rule);
