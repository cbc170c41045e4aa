import type { Field, Json, JsonObject } from '../state/model.mts';
import {
	requireArray,
	requireObject,
	requireOnly,
	quote,
	ValueError,
	type Codec,
	type ParseContext,
	type SerializeContext,
} from './codec.mts';

/** `schema_link` to one record: stored as its id. */
export const singleLink: Codec = {
	comparison: { as: 'text' },
	parse(value, field, context) {
		// A value that was read, with its url and fields, can be written back: only the id counts.
		const link = requireObject(value, 'an object {id}');
		if (link.id === null || Object.keys(link).length === 0) return null;
		return requireRecord(link.id ?? null, field, context);
	},
	serialize(value, field, context) {
		const id = String(value);
		const url = `${context.tableUrl(context.linkedTable(field))}/data/${id}`;
		const fields = context.linkedFields(field, id);
		if (context.settings.links === 'flat') return { ...fields, id, url };
		const record = context.linkedRecord(field, id);
		const { created, modified, ver } = record ?? { created: 0, modified: 0, ver: 0 };
		const times = { created: context.time(created), modified: context.time(modified) };
		return { id, ...(record && { ...times, ver }), fields, url };
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
		const ids = value as string[];
		const url = `${context.tableUrl(context.linkedTable(field))}/data?${query.toString()}`;
		return {
			count: ids.length,
			...(context.settings.linkLists === 'withUrl' && { url }),
			...(field.metadata.filterableFields && {
				ver: context.record.ver,
				fields: summaries(field, ids, context),
			}),
		};
	},
};

/** What a link to many shows of its records: their values as text, and the sum of numbers. */
function summaries(field: Field, ids: string[], context: SerializeContext): JsonObject {
	const records = ids.map((id) => context.linkedFields(field, id));
	return Object.fromEntries(
		(field.metadata.filterableFields ?? []).map((name) => {
			const values = records.map((fields) => fields[name] ?? null).filter((one) => one !== null);
			const numbers = values.filter((one) => typeof one === 'number');
			const sum = numbers.length > 0 && { _$$sum: numbers.reduce((all, one) => all + one, 0) };
			return [name, { _$$list: values.join(', '), ...sum }];
		}),
	);
}

function requireRecord(id: Json, field: Field, context: ParseContext): string {
	if (typeof id !== 'string') {
		throw new ValueError(`must link by an id that is a string, not ${quote(id)}`);
	}
	if (!context.recordExists(context.linkedTable(field), id)) {
		throw new ValueError(`links to a record that does not exist: ${quote(id)}`);
	}
	return id;
}
