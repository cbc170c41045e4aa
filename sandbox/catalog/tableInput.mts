import Type, { type Static } from 'typebox';
import { fieldTypes, type FieldMetadata } from '../state/model.mts';

const closed = { additionalProperties: false };
const text = Type.String({ minLength: 1 });

const field = Type.Object(
	{
		name: text,
		header: Type.Optional(text),
		type: Type.Enum([...fieldTypes]),
		metadata: Type.Optional(Type.Unsafe<FieldMetadata>({ type: 'object' })),
		unique: Type.Optional(Type.Boolean()),
	},
	closed,
);
const view = Type.Object(
	{
		name: text,
		description: Type.Optional(Type.String()),
		visibility: Type.Optional(Type.String()),
		filter: text,
	},
	closed,
);

/** The definition of a new table. */
export const tableInputSchema = Type.Object(
	{
		internalName: text,
		header: Type.Optional(text),
		fields: Type.Array(field),
		views: Type.Optional(Type.Array(view)),
		/** The property of a field's name in definitions; services use either. */
		/** Workflows before a change; the message is what they say. */
		rejections: Type.Optional(
			Type.Array(
				Type.Object(
					{
						field: text,
						contains: Type.Optional(text),
						equals: Type.Optional(text),
						message: text,
					},
					closed,
				),
			),
		),
		fieldNameProperty: Type.Optional(Type.Enum(['name', 'id'])),
	},
	closed,
);
export type TableInput = Static<typeof tableInputSchema>;
