import Type, { type Static } from 'typebox';
import { tableInputSchema } from '../catalog/tableInput.mts';
import {
	rights,
	runAsModes,
	tokenTypes,
	webhookResponses,
	type JsonObject,
} from '../state/model.mts';

const closed = { additionalProperties: false };
const text = Type.String({ minLength: 1 });

/** POST /sandbox/tables. */
export const newTableSchema = Type.Object(
	{
		/** An application's internal name; it is created if it does not exist. */
		app: text,
		/** Of a new application; an IANA name. */
		timeZone: Type.Optional(text),
		table: tableInputSchema,
		/** Validated like any write; their request number in the history is 0. */
		records: Type.Optional(
			Type.Array(
				Type.Object(
					{
						id: Type.Optional(text),
						fields: Type.Unsafe<JsonObject>({ type: 'object' }),
					},
					closed,
				),
			),
		),
	},
	closed,
);
export type NewTable = Static<typeof newTableSchema>;

const validTo = Type.Optional(Type.Union([text, Type.Null()]));

/** POST /sandbox/tokens. */
export const newTokenSchema = Type.Object(
	{
		name: Type.String({ pattern: '^[A-Za-z0-9_-]+$' }),
		type: Type.Enum([...tokenTypes]),
		/** The permissions of a `role` token; the token gets a new role with them. */
		permissions: Type.Optional(
			Type.Array(
				Type.Object({ app: text, table: text, allow: Type.Array(Type.Enum([...rights])) }, closed),
			),
		),
		/** The e-mail address of the user who creates it; a JWT has that user's rights. */
		createdBy: Type.Optional(text),
		validTo,
		templates: Type.Optional(Type.Boolean()),
	},
	closed,
);
export type NewToken = Static<typeof newTokenSchema>;

/** PATCH /sandbox/tokens/{name}. */
export const tokenChangeSchema = Type.Object(
	{ status: Type.Optional(Type.Enum(['valid', 'revoked'])), validTo },
	closed,
);

/** POST and PUT /sandbox/workflows. */
export const newWorkflowSchema = Type.Object(
	{
		name: text,
		/** The body of an async function; `svc` is in scope. */
		script: Type.String(),
		runAs: Type.Optional(Type.Enum([...runAsModes])),
		/** The e-mail address of the user that "me" stands for. */
		configuredBy: Type.Optional(text),
		/** The token's name, with `runAs: "token"`. */
		token: Type.Optional(text),
		response: Type.Optional(Type.Enum([...webhookResponses])),
		timeLimitMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 60_000 })),
	},
	closed,
);
export type NewWorkflow = Static<typeof newWorkflowSchema>;
