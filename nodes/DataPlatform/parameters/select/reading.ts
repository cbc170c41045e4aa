/**
 * Which records to read, in which order, and what to return of them.
 */
import { isEmptyFilter } from '../../api/filters';
import type { RecordQuery } from '../../api/pages';
import type { Entry, NameOf, ParameterReader } from '../../parameterKinds/parameter';
import { choice, flag, list } from '../../parameterKinds/kinds';
import { rawRecord, simplifiedRecord, type RecordOutput } from '../../input/recordOutput';
import type { RunContext } from '../../run/run';
import { ServiceError } from '../../transport/errors';
import { namesAt } from './fieldNames';
import { filterMode, readFilter, type FilterParameter } from './filter';
import { linkedTo, linkedToOf } from './readingLinks';
import { fieldPart, tableChoice, tableChoices, type TableParameter } from './table';

export const simple = flag('simple', {
	label: 'Simplify',
	preset: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
});

/** The shape of records in the output. @throws {InputError} */
export const outputOf = (
	reader: ParameterReader<NameOf<typeof simple>>,
	index: number,
): RecordOutput => (simple.of(reader, index) ? simplifiedRecord : rawRecord);

export const fieldsToLoad = tableChoices('fieldsToLoad', {
	label: 'Output Field Names or IDs',
	list: 'getFields',
	about: 'The fields to return, all if none is chosen',
});

export const savedView = tableChoice('savedView', {
	label: 'Saved View Name or ID',
	list: 'getSavedViews',
	about: 'A filter that the platform stores with the table',
	narrows: true,
});

const sortField = fieldPart('getSortFields');

const direction = choice('direction', {
	label: 'Direction',
	choices: { asc: 'Ascending', desc: 'Descending' },
	preset: 'asc',
});

export const sort = list('sort', {
	label: 'Sort',
	add: 'Add Field to Sort By',
	entry: ['by', 'Field'],
	isSortable: true,
	parts: [sortField, direction],
});

/** @throws {InputError} if a sort field is not a valid name */
function sortText(entry: Entry<NameOf<typeof sortField | typeof direction>>): string {
	const wrong = (message: string) =>
		sort.error(
			message,
			`Choose field and direction under ${sort}, or correct the expression in it.`,
		);
	const field = sortField.in(entry, sort);
	if (field === '') throw wrong(`A field under ${sort} has no name`);
	if (/[(),]/.test(field)) throw wrong(`No field is called '${field}'. Nothing was sent`);
	return direction.in(entry, sort) === 'asc' ? field : `${field}(desc)`;
}

type RecordQueryParameter =
	| TableParameter
	| FilterParameter
	| NameOf<typeof sort | typeof fieldsToLoad | typeof linkedTo | typeof savedView>;

/**
 * The query for the records that the parameters select, with their order and fields.
 *
 * @throws {InputError} if a parameter can't be read
 */
export async function recordQueryOf(
	run: RunContext<RecordQueryParameter>,
	index: number,
): Promise<RecordQuery> {
	const fields = fieldsToLoad.of(run, index);
	const terms = sort.of(run, index).map(sortText);
	const sorted = terms.map((term) => term.replace(/\(desc\)$/, ''));
	const query = {
		fields,
		savedView: savedView.of(run, index),
		sort: terms.join(','),
		linkedTo: await linkedToOf(run, index),
		filter: await readFilter(run, index, namesAt(sort, sorted), namesAt(fieldsToLoad, fields)),
	};
	return { ...query, hint: queryHint(query) };
}

/** Which parameters to check if the platform rejects a query. */
export function queryHint({ filter, ...query }: Omit<RecordQuery, 'hint'>): string | undefined {
	const isFiltered = filter !== undefined && !isEmptyFilter(filter);
	const used = [
		isFiltered && filterMode,
		Boolean(query.sort) && sort,
		Boolean(query.savedView) && savedView,
		query.linkedTo !== undefined && linkedTo,
		(query.fields ?? []).length > 0 && fieldsToLoad,
	].filter((parameter) => parameter !== false);
	if (used.length === 0) return undefined;
	const aboutValues = isFiltered ? 'a value may not fit its field, or ' : '';
	return `Check ${used.join(', ')}: ${aboutValues}what is named there may have been renamed or deleted.`;
}

/** Sends a query. If the platform rejects it, the error says which parameters to check. */
export async function withQueryHint<T>(
	query: Omit<RecordQuery, 'hint'>,
	send: () => Promise<T>,
): Promise<T> {
	return await send().catch((error: unknown) => {
		if (!(error instanceof ServiceError) || error.status !== 400) throw error;
		throw new ServiceError(error.message, { ...error, hint: queryHint(query) ?? error.hint });
	});
}

/** Warns the user that the order of the table changed while it was read. */
export function warnAboutShift(run: RunContext<never>, count: number) {
	run.hint(
		`The table changed while it was read. All ${count} records are in the output once; with a sort order, one that moved in it meanwhile may be missing.`,
		'warning',
	);
}
