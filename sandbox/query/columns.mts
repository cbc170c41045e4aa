import { codecOf, displayOnly } from '../fields/index.mts';
import type { Comparison } from '../fields/codec.mts';
import type { Field, Table } from '../state/model.mts';
import { invalid } from '../api/errors.mts';

/** A field or a property of records in SQL. `alias` is the alias of the records' table. */
export interface Column {
	name: string;
	as: Comparison['as'] | 'instant';
	/** The value, or one element if the column is a list. */
	expression(alias: string): string;
	/** The rows of a list's elements. */
	list?(alias: string): string;
	field?: Field;
}

const recordColumns: Record<string, Column['as']> = {
	id: 'text',
	created: 'instant',
	modified: 'instant',
};

/** Whether a name in a filter, a sort or a summary is one of the table. */
export const isKnownName = (table: Table, name: string): boolean =>
	Object.hasOwn(recordColumns, name) || table.fields.some((field) => field.name === name);

/** The column with a name in a filter, a sort or a summary. Throws an ApiError (400). */
export function columnOf(table: Table, name: string): Column {
	const field = table.fields.find((entry) => entry.name === name);
	if (!field) {
		const as = Object.hasOwn(recordColumns, name) ? recordColumns[name] : undefined;
		if (as) return { name, as, expression: (alias) => `${alias}.${name}` };
		throw invalid(`Table '${table.internalName}' has no field '${name}'.`);
	}
	const { comparison } = codecOf(field);
	if (!comparison || displayOnly.has(field.type)) {
		throw invalid(`Field '${name}' (${field.type}) cannot be used in filters and sorts.`);
	}
	const { as, path = '', each } = comparison;
	const json = `'$."${name}"'`;
	if (each) {
		return {
			name,
			as,
			field,
			list: (alias) => `json_each(${alias}.fields, ${json})`,
			expression: (alias) => (path ? `json_extract(${alias}.value, '$${path}')` : `${alias}.value`),
		};
	}
	if (field.metadata.importKey && ['text', 'date', 'datetime'].includes(as)) {
		// The key is stored as text in a column of its own, with indexes.
		return { name, as, field, expression: (alias) => `${alias}.key` };
	}
	return {
		name,
		as,
		field,
		expression: (alias) => `json_extract(${alias}.fields, '$."${name}"${path}')`,
	};
}
