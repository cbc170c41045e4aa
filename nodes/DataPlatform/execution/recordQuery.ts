/**
 * Which records are read, from the parameters of the operations that read many.
 */
import { isEmptyFilter } from '../api/filters';
import type { RecordQuery } from '../api/records';
import { InputError, type Hint, type QueryPart } from '../transport/errors';
import { readFilter, type FilterParameter } from './filterInput';
import { linkedToOf } from './linkInput';
import { parameterText } from './locator';
import type { RunContext, TableParameter } from './run';

type RecordQueryParameter =
	| TableParameter
	| FilterParameter
	| 'sort'
	| 'options.fieldsToLoad'
	| 'options.linkedTo'
	| 'options.savedView';

/** @throws {InputError} where a field to sort by is no name */
function sortText(entries: unknown): string {
	const wrong = (message: string) =>
		new InputError(message, {
			field: 'Sort',
			hint: "Choose field and direction under 'Sort', or correct the expression in it.",
		});
	return (Array.isArray(entries) ? entries : [])
		.map(({ field: name, direction = 'asc' }: Record<string, unknown>) => {
			const field = parameterText(name, 'sort', 'Sort');
			if (field === '') throw wrong("A field under 'Sort' has no name");
			if (/[(),]/.test(field)) throw wrong(`No field is called '${field}'; nothing was sent`);
			if (direction === 'asc') return field;
			if (direction === 'desc') return `${field}(desc)`;
			throw wrong(`The direction to sort '${field}' is neither 'asc' nor 'desc'`);
		})
		.join(',');
}

/**
 * The records that an operation's parameters mean, their order and their fields.
 *
 * @throws {InputError} where a parameter can't be read
 */
export async function recordQueryOf(
	run: RunContext<RecordQueryParameter>,
	index: number,
): Promise<RecordQuery> {
	const query = {
		fields: run.names('options.fieldsToLoad', 'Output Field Names or IDs', index),
		savedView: run.narrowingText('options.savedView', 'Saved View Name or ID', index),
		sort: sortText(run.parameter('sort.by', index)),
		linkedTo: await linkedToOf(run, index),
		filter: await readFilter(run, index),
	};
	return { ...query, hint: queryHint(query) };
}

/** Where to look if the platform rejects a query: at the parameters that it is made of. */
export function queryHint({ filter, ...query }: Omit<RecordQuery, 'hint'>): Hint | undefined {
	const parts: Array<[QueryPart, boolean]> = [
		['filter', filter !== undefined && !isEmptyFilter(filter)],
		['sort', Boolean(query.sort)],
		['savedView', Boolean(query.savedView)],
		['linkedTo', query.linkedTo !== undefined],
		['fields', (query.fields ?? []).length > 0],
	];
	const given = parts.filter(([, isGiven]) => isGiven).map(([part]) => part);
	return given.length > 0 ? { code: 'correctQuery', parts: given } : undefined;
}

/** Notifies the user that the order of the table changed while it was read. */
export function noticeShift(run: RunContext<never>, count: number) {
	run.context.addExecutionHints({
		message: `The table changed while it was read. All ${count} records are in the output once, but one that moved in the sort order meanwhile may be missing.`,
		type: 'warning',
		location: 'outputPane',
	});
}
