import type { Field, Table } from '../state/model.mts';
import { invalid } from '../api/errors.mts';
import type { Sql } from '../store/recordStore.mts';
import { filterTime, type DateRules } from '../fields/time.mts';
import { columnOf, isKnownName, type Column } from './columns.mts';
import type { Condition, Filter, Operator } from './filter.mts';

/** What a filter depends on besides the table. */
export interface FilterScope {
	dateRules: DateRules;
	user: { id: string; email: string };
	/** A condition on a field that does not exist is left out, instead of an error. */
	ignoresUnknownNames: boolean;
	linkedTable(field: Field): Table;
}

/** SQLite rejects expressions nested deeper than 1,000. */
const maxConditions = 400;

type Positive = Exclude<Operator, 'notcontains' | 'neq' | 'notin' | 'empty'>;
const negations: Partial<Record<Operator, Positive>> = {
	notcontains: 'contains',
	neq: 'eq',
	notin: 'in',
	empty: 'notempty',
};

/**
 * A filter as SQL on the row `r`. What the contract leaves open: all operators except `===` ignore the
 * case of ASCII letters, a list matches if one of its values does, and a negated operator is the
 * exact opposite, so it matches empty fields. Throws an ApiError (400).
 */
export function filterToSql(table: Table, filter: Filter, scope: FilterScope): Sql {
	if (countConditions(filter) > maxConditions) {
		throw invalid(`A filter has at most ${maxConditions} conditions and groups.`);
	}
	return new Translation(scope).filter(table, filter);
}

class Translation {
	readonly #scope: FilterScope;
	#aliases = 0;

	constructor(scope: FilterScope) {
		this.#scope = scope;
	}

	filter(table: Table, filter: Filter): Sql {
		if ('members' in filter) {
			const members = filter.members.filter((member) => !this.#isIgnored(table, member));
			if (members.length === 0) return { text: '1', values: [] };
			const parts = members.map((member) => this.filter(table, member));
			return {
				text: parts.map((part) => `(${part.text})`).join(filter.join === 'or' ? ' OR ' : ' AND '),
				values: parts.flatMap((part) => part.values),
			};
		}
		if ('fullText' in filter) {
			return {
				text: `EXISTS (SELECT 1 FROM json_each(r.fields) f
					WHERE f.type = 'text' AND instr(lower(f.value), lower(?)) > 0)`,
				values: [filter.fullText],
			};
		}
		const opposite = negations[filter.operator];
		const positive = opposite ?? (filter.operator as Positive);
		const sql = this.#exists(table, filter.path, { ...filter, operator: positive }, 'r');
		return opposite ? { text: `NOT COALESCE((${sql.text}), 0)`, values: sql.values } : sql;
	}

	/** A condition on an unknown name; a group whose conditions all are, if it has any. */
	#isIgnored(table: Table, filter: Filter): boolean {
		if (!this.#scope.ignoresUnknownNames) return false;
		if ('members' in filter) {
			const { members } = filter;
			return members.length > 0 && members.every((member) => this.#isIgnored(table, member));
		}
		return 'path' in filter && !this.#isKnown(table, filter.path);
	}

	#isKnown(table: Table, [name = '', ...rest]: string[]): boolean {
		if (!isKnownName(table, name)) return false;
		const { field } = columnOf(table, name);
		if (rest.length === 0) return true;
		return field?.type === 'schema_link' && this.#isKnown(this.#scope.linkedTable(field), rest);
	}

	/** Whether a value at the end of the path meets the condition; all steps before it are links. */
	#exists(table: Table, path: string[], condition: Condition, alias: string): Sql {
		const column = columnOf(table, path[0] ?? '');
		const element = column.list && `e${(this.#aliases += 1)}`;
		const value = column.expression(element ?? alias);
		const inner =
			path.length === 1
				? this.#predicate(table, column, value, condition, path)
				: this.#linked(column, path, condition, value);
		if (!element || !column.list) return inner;
		return {
			text: `EXISTS (SELECT 1 FROM ${column.list(alias)} ${element} WHERE ${inner.text})`,
			values: inner.values,
		};
	}

	#linked(column: Column, path: string[], condition: Condition, id: string): Sql {
		if (column.field?.type !== 'schema_link') {
			throw invalid(`'${path.join('.')}' is not a path: '${column.name}' is not a link.`);
		}
		const target = this.#scope.linkedTable(column.field);
		const alias = `l${(this.#aliases += 1)}`;
		const inner = this.#exists(target, path.slice(1), condition, alias);
		return {
			text: `EXISTS (SELECT 1 FROM records ${alias}
				WHERE ${alias}.tbl = ? AND ${alias}.id = ${id} AND ${inner.text})`,
			values: [target.number, ...inner.values],
		};
	}

	#predicate(
		table: Table,
		column: Column,
		expression: string,
		{ operator, values, path: fullPath }: Condition,
		path: string[],
	): Sql {
		const any = column.as === 'text' ? ' COLLATE NOCASE' : '';
		if (operator === 'notempty') {
			return { text: `(${expression} IS NOT NULL AND ${expression} <> '')`, values: [] };
		}
		if (operator === 'duplicity') {
			if (fullPath.length > path.length || column.list || path.length > 1) {
				throw invalid(`duplicity is not possible on '${fullPath.join('.')}'.`);
			}
			const other = column.expression('d');
			return {
				text: `${expression} IN (SELECT ${other} FROM records d WHERE d.tbl = ?
					AND ${other} <> '' GROUP BY ${other} HAVING COUNT(*) > 1)`,
				values: [table.number],
			};
		}
		if (operator === 'currentuser') {
			if (column.as !== 'text') throw invalid(`currentuser is not possible on '${column.name}'.`);
			const { id, email } = this.#scope.user;
			return { text: `${expression}${any} IN (?, ?)`, values: [id, email] };
		}
		const text = values[0] ?? '';
		if (operator === 'contains') {
			return { text: `instr(lower(${expression}), lower(?)) > 0`, values: [text] };
		}
		if (operator === 'startswith') {
			return {
				text: `substr(lower(${expression}), 1, length(?)) = lower(?)`,
				values: [text, text],
			};
		}
		if (operator === 'endswith') {
			return {
				text: `substr(lower(${expression}), -max(length(?), 1)) = lower(?)`,
				values: [text, text],
			};
		}
		const compared = values.map((value) => this.#value(column, value));
		if (operator === 'in') {
			return {
				text: `${expression}${any} IN (SELECT value FROM json_each(?))`,
				values: [JSON.stringify(compared)],
			};
		}
		const sign = { eq: '=', '===': '=', gt: '>', gte: '>=', lt: '<', lte: '<=' }[
			operator as 'eq' | '===' | 'gt' | 'gte' | 'lt' | 'lte'
		];
		const collation = operator === '===' ? '' : any;
		return { text: `${expression} ${sign} ?${collation}`, values: [compared[0] ?? null] };
	}

	/** A filter's value in the format in which the column stores it. */
	#value({ name, as }: Column, text: string): string | number {
		const mismatch = (expected: string) =>
			invalid(`The filter on '${name}' needs ${expected}, not '${text.slice(0, 40)}'.`);
		if (as === 'text') return text;
		if (as === 'number') {
			if (text.trim() === '' || Number.isNaN(Number(text))) throw mismatch('a number');
			return Number(text);
		}
		if (as === 'boolean') {
			if (text === 'true' || text === '1') return 1;
			if (text === 'false' || text === '0') return 0;
			throw mismatch('true or false');
		}
		const time = filterTime(text, as, this.#scope.dateRules);
		if (time === undefined) throw mismatch('a date or a time in UTC, such as 2026-11-21T09:30:00Z');
		return time;
	}
}

function countConditions(filter: Filter): number {
	if (!('members' in filter)) return 1;
	return filter.members.reduce((sum, member) => sum + countConditions(member), 1);
}
