/**
 * Which records are read, from the parameters of the operations that read many.
 */
import type { RecordQuery } from '../api/records';
import { InputError } from '../transport/errors';
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
	return (Array.isArray(entries) ? entries : [])
		.map(({ field: name, direction = 'asc' }: Record<string, unknown>) => {
			const field = parameterText(name, 'sort', 'Sort');
			if (field === '') throw new InputError("A field under 'Sort' has no name", { field: 'Sort' });
			if (/[(),]/.test(field)) {
				throw new InputError(`No field is called '${field}'; nothing was sent`, { field: 'Sort' });
			}
			if (direction === 'asc') return field;
			if (direction === 'desc') return `${field}(desc)`;
			throw new InputError(`The direction to sort '${field}' is neither 'asc' nor 'desc'`, {
				field: 'Sort',
			});
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
	return {
		fields: run.names('options.fieldsToLoad', 'Output Field Names or IDs', index),
		savedView: run.narrowingText('options.savedView', 'Saved View Name or ID', index),
		sort: sortText(run.parameter('sort.by', index)),
		linkedTo: await linkedToOf(run, index),
		filter: await readFilter(run, index),
	};
}

/** Notifies the user that the order of the table changed while it was read. */
export function noticeShift(run: RunContext<never>, count: number) {
	run.context.addExecutionHints({
		message: `The table changed while it was read. All ${count} records are in the output once, but one that moved in the sort order meanwhile may be missing.`,
		type: 'warning',
		location: 'outputPane',
	});
}
