import type { Field, Json } from '../state/model.mts';
import {
	arrayOf,
	objectOf,
	onlyProperties,
	quote,
	ValueProblem,
	type Codec,
	type StoreContext,
} from './codec.mts';

/** `schema_link` to one record: stored as its id. */
export const singleLink: Codec = {
	comparison: { as: 'text' },
	store(value, field, context) {
		// What was read (with url and the shown fields) can be written back: only the id counts.
		const { id } = objectOf(value, 'an object {id}');
		if (id === null) return null;
		return existing(id ?? null, field, context);
	},
	show(value, field, context) {
		const id = String(value);
		const url = `${context.tableUrl(context.linkedTable(field))}/data/${id}`;
		return { ...context.linkedFields(field, id), id, url };
	},
};

/** `schema_link` to many records: stored as a list of ids. */
export const multipleLink: Codec = {
	comparison: { as: 'text', each: true },
	empty: [],
	store(value, field, context) {
		const change = objectOf(value, 'an object {add, remove}');
		onlyProperties(change, ['add', 'remove']);
		const ids = new Set((context.current ?? []) as string[]);
		for (const id of arrayOf(change.remove ?? [], 'an object with an array remove')) {
			ids.delete(String(id));
		}
		for (const id of arrayOf(change.add ?? [], 'an object with an array add')) {
			ids.add(existing(id, field, context));
		}
		return [...ids];
	},
	show(value, field, context) {
		const query = new URLSearchParams({
			linkId: context.record.id,
			linkTableId: context.table.id,
			linkField: field.name,
		});
		const target = context.tableUrl(context.linkedTable(field));
		return { count: (value as Json[]).length, url: `${target}/data?${query.toString()}` };
	},
};

function existing(id: Json, field: Field, context: StoreContext): string {
	if (typeof id !== 'string') {
		throw new ValueProblem(`must link by an id that is a string, not ${quote(id)}`);
	}
	if (!context.recordExists(context.linkedTable(field), id)) {
		throw new ValueProblem(`links to a record that does not exist: ${quote(id)}`);
	}
	return id;
}
