import type { Table } from '../state/model.mts';
import { invalid } from '../api/errors.mts';
import { columnOf } from './columns.mts';

/** `age,surname(desc)` as SQL on the row `r`; contract.md, "Filters". Throws a Problem (400). */
export function orderOf(table: Table, sort: string | undefined): string {
	if (sort === undefined) return 'r.seq';
	const terms = sort.split(',').map((entry) => {
		const match = /^([^()]+?)(?:\((asc|desc)\))?$/.exec(entry.trim());
		if (!match?.[1]) throw invalid(`The sort '${entry}' cannot be read: name or name(desc).`);
		const column = columnOf(table, match[1]);
		if (column.list) throw invalid(`Field '${column.name}' cannot be sorted by.`);
		const collation = column.as === 'text' && column.name !== 'id' ? ' COLLATE NOCASE' : '';
		return { sql: `${column.expression('r')}${collation}`, direction: match[2] ?? 'asc' };
	});
	// The last word in the first term's direction: an index on (modified, seq) serves both.
	terms.push({ sql: 'r.seq', direction: terms[0]?.direction ?? 'asc' });
	return terms.map((term) => `${term.sql} ${term.direction}`).join(', ');
}
