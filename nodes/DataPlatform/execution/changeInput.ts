/**
 * What the trigger and Get Changes share: where to start, which records are meant, and the form of a
 * change.
 */
import { tryToParseDateTime, type IDataObject } from 'n8n-workflow';

import { readLatestChange } from '../api/records';
import type { TableAddress } from '../api/types';
import { startFromNow, startFromTime, type ChangePages } from '../changes/reader';
import type { Change, ChangeState } from '../changes/tracker';
import type { ApiClient } from '../transport/client';
import { InputError } from '../transport/errors';
import { getOwn } from '../transport/json';
import type { FilterParameter } from './filterInput';
import type { RecordOutput } from './recordOutput';

export const START_FROM = ['now', 'beginning', 'date'] as const;

/** The parameters that say which records of a table are meant. */
const SELECTION: ReadonlyArray<FilterParameter | 'options.savedView'> = [
	'filterMode',
	'matchType',
	'conditions',
	'groups',
	'filterTree',
	'options.savedView',
];

/**
 * The filter and the saved view as they stand in the workflow. Expressions are left unresolved: a
 * filter that says `today` is the same filter tomorrow.
 *
 * @param read reads a parameter without resolving it
 */
export const selectionValues = (read: (name: (typeof SELECTION)[number]) => unknown): unknown[] =>
	SELECTION.map((name) => read(name) || null);

function parseTime(value: unknown, zone: string): number | undefined {
	try {
		return tryToParseDateTime(value, zone).toMillis();
	} catch {
		return undefined;
	}
}

/** A time as ms since 1970; one without a zone is of the zone given. @throws {InputError} */
export function requireDate(value: unknown, zone: string): number {
	const time = parseTime(value, zone);
	if (time !== undefined) return time;
	throw new InputError("'Date' is not a date", {
		field: 'Date',
		hint: 'Choose a date, or write it as 2026-11-21T00:00:00Z.',
	});
}

/** The state of watching that begins. @throws {ServiceError} */
export async function startState(
	client: ApiClient,
	at: TableAddress,
	pages: ChangePages,
	overlapMs: number,
	start: 'now' | 'beginning' | number,
): Promise<ChangeState> {
	if (start === 'beginning') return { emitted: {} };
	if (typeof start === 'number') return startFromTime(start);
	return await startFromNow(pages, await readLatestChange(client, at), overlapMs);
}

/** @param outputFields the fields in the output; all where none is named */
export const changeOutput =
	(shape: RecordOutput, outputFields: string[]) =>
	({ kind, record }: Change): IDataObject => {
		const fields =
			outputFields.length === 0
				? record.fields
				: Object.fromEntries(
						outputFields.map((name) => [name, getOwn(record.fields, name) ?? null]),
					);
		return { event: kind, ...shape({ ...record, fields }) };
	};
