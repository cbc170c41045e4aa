import { codecOf, displayOnly } from '../fields/index.mts';
import type { Field, Table } from '../state/model.mts';
import { invalid } from '../api/errors.mts';
import { columnOf, isKnownName } from './columns.mts';

/** `age,surname(desc)` as SQL on the row `r`. Throws an ApiError (400). */
export function sortToSql(
	table: Table,
	sort: string | undefined,
	ignoresUnknownNames = false,
): string {
	if (sort === undefined) return 'r.seq';
	const terms = sort.split(',').flatMap((entry) => {
		const match = /^([^()]+?)(?:\((asc|desc)\))?$/.exec(entry.trim());
		if (!match?.[1]) throw invalid(`Cannot parse the sort '${entry}'; use name or name(desc).`);
		if (ignoresUnknownNames && !isKnownName(table, match[1])) return [];
		const column = columnOf(table, match[1]);
		if (column.list) throw invalid(`Records cannot be sorted by '${column.name}'.`);
		const collation = column.as === 'text' && column.name !== 'id' ? ' COLLATE NOCASE' : '';
		return { sql: `${column.expression('r')}${collation}`, direction: match[2] ?? 'asc' };
	});
	// Ties follow the first term's direction, so that one index on (modified, seq) serves both.
	terms.push({ sql: 'r.seq', direction: terms[0]?.direction ?? 'asc' });
	return terms.map((term) => `${term.sql} ${term.direction}`).join(', ');
}

/** Whether `sortToSql` accepts the field. */
export function canSortBy(field: Field): boolean {
	const { comparison } = codecOf(field);
	return comparison !== undefined && !comparison.each && !displayOnly.has(field.type);
}
