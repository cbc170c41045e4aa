import type { Field, Json } from '../state/model.mts';
import {
	requireArray,
	requireObject,
	requireOnly,
	quote,
	ValueError,
	type Codec,
	type ParseContext,
} from './codec.mts';

/** `schema_link` to one record: stored as its id. */
export const singleLink: Codec = {
	comparison: { as: 'text' },
	parse(value, field, context) {
		// A value that was read, with its url and fields, can be written back: only the id counts.
		const { id } = requireObject(value, 'an object {id}');
		if (id === null) return null;
		return requireRecord(id ?? null, field, context);
	},
	serialize(value, field, context) {
		const id = String(value);
		const url = `${context.tableUrl(context.linkedTable(field))}/data/${id}`;
		return { ...context.linkedFields(field, id), id, url };
	},
};

/** `schema_link` to many records: stored as a list of ids. */
export const multipleLink: Codec = {
	comparison: { as: 'text', each: true },
	empty: [],
	parse(value, field, context) {
		const change = requireObject(value, 'an object {add, remove}');
		requireOnly(change, ['add', 'remove']);
		const ids = new Set((context.current ?? []) as string[]);
		for (const id of requireArray(change.remove ?? [], 'an object with an array remove')) {
			ids.delete(String(id));
		}
		for (const id of requireArray(change.add ?? [], 'an object with an array add')) {
			ids.add(requireRecord(id, field, context));
		}
		return [...ids];
	},
	serialize(value, field, context) {
		const query = new URLSearchParams({
			linkId: context.record.id,
			linkTableId: context.table.id,
			linkField: field.name,
		});
		const target = context.tableUrl(context.linkedTable(field));
		return { count: (value as Json[]).length, url: `${target}/data?${query.toString()}` };
	},
};

function requireRecord(id: Json, field: Field, context: ParseContext): string {
	if (typeof id !== 'string') {
		throw new ValueError(`must link by an id that is a string, not ${quote(id)}`);
	}
	if (!context.recordExists(context.linkedTable(field), id)) {
		throw new ValueError(`links to a record that does not exist: ${quote(id)}`);
	}
	return id;
}
