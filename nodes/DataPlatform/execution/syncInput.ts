/**
 * What Sync Many does with records that are missing from the input, from the parameters of
 * `descriptions/sync`.
 */
import { isEmptyFilter, requireRestrictive, type Group } from '../api/filters';
import type { FieldDefinition, FieldValues, TableDefinition } from '../api/types';
import type { Removal, SyncOptions } from '../bulk/sync';
import { isWritable } from '../fields';
import { isCleared } from '../fields/fieldType';
import { toFieldValue } from '../fields/values';
import { InputError } from '../transport/errors';
import { isObject } from '../transport/json';
import { filterOf, requireChoices, type FilterParameter } from './filterInput';
import { parameterText } from './locator';
import { requireNumber, type RunContext } from './run';

/** Enough for what changes in a day, too few for an input that went wrong. */
export const DEFAULT_MAXIMUM = 100;
export const DEFAULT_MAXIMUM_SHARE = 20;

export type SyncParameter =
	| FilterParameter
	| 'missingRecords'
	| 'fieldsToSet'
	| 'maxRecordsToRemove'
	| 'maxShareToRemove'
	| 'allowEmptyInput'
	| 'removeDespiteFailures';

/** Those that hold for all items of a run, and what the editor calls them. */
export const SHARED_SYNC_LABELS = {
	missingRecords: 'Records Missing From Input',
	filterMode: 'Filter',
	matchType: 'Match',
	conditions: 'Conditions',
	groups: 'Groups',
	filterTree: 'Filter Tree',
	maxRecordsToRemove: 'Max Records to Remove',
	maxShareToRemove: 'Max Share to Remove (%)',
	allowEmptyInput: 'Allow Empty Input',
	removeDespiteFailures: 'Remove Despite Failed Items',
} satisfies Partial<Record<SyncParameter, string>>;

const LABEL = 'Fields to Set';

const wrong = (message: string, hint: string, field = LABEL) =>
	new InputError(`Nothing was written or removed: ${message}`, { field, hint });

/** How missing records are removed; undefined where they are left. @throws {InputError} */
function removalOf(
	run: RunContext<SyncParameter | 'options.emptyValues'>,
	index: number,
	table: TableDefinition,
	keys: FieldDefinition[],
): Removal | undefined {
	const label = SHARED_SYNC_LABELS.missingRecords;
	const choices = ['leave', 'setFields', 'delete'] as const;
	const kind = run.choice('missingRecords', label, index, choices, 'leave');
	if (kind === 'leave') return undefined;
	return kind === 'delete' ? kind : { set: fieldsToSet(run, index, table, keys) };
}

/** @throws {InputError} where a value can't be written, or nothing is set */
function fieldsToSet(
	run: RunContext<SyncParameter | 'options.emptyValues'>,
	index: number,
	table: TableDefinition,
	keys: FieldDefinition[],
): FieldValues {
	const given = run.parameter('fieldsToSet.entry', index);
	const entries: unknown[] = Array.isArray(given) ? given : [];
	if (entries.length === 0) {
		throw wrong(`'${LABEL}' names no field`, 'Add a field and the value to set.');
	}
	const isClearing = run.option<unknown>('options.emptyValues', index, 'leave') === 'clear';
	const set = new Map<string, FieldValues[string]>();
	for (const entry of entries) {
		const { field: given, value } = isObject(entry) ? entry : {};
		const name = parameterText(given, 'field', LABEL);
		const field = table.fields.find((known) => known.name === name);
		if (!field || !isWritable(field)) {
			const why =
				name === '' ? 'is empty' : field ? `'${name}' is read-only` : `the table has no '${name}'`;
			throw wrong(`a field under '${LABEL}': ${why}`, 'Choose it from the list.');
		}
		if (keys.includes(field)) {
			throw wrong(
				`'${name}' under '${LABEL}' is what records are matched on`,
				'Set another field: with the same value, records could not be told apart.',
			);
		}
		if (set.has(name)) throw wrong(`'${LABEL}' names '${name}' twice`, 'Remove one of the two.');
		if (isCleared(value) && !isClearing) {
			throw wrong(
				`the value of '${name}' under '${LABEL}' is empty`,
				"Give it a value. To clear the field, set the option 'Empty Values' to 'Clear the Field'.",
			);
		}
		const converted = toFieldValue(field, value ?? null, 'clear');
		if (converted === 'leave') continue;
		if ('problem' in converted) {
			throw wrong(`'${name}' under '${LABEL}' ${converted.problem}`, 'Correct the value.');
		}
		set.set(name, converted.value);
	}
	return Object.fromEntries(set);
}

/** @throws {InputError} where a filter that is there restricts nothing, or compares with no choice */
function scopeOf(run: RunContext<SyncParameter>, index: number, table: TableDefinition): Group {
	const filter = filterOf(run.readerOf(index));
	requireRestrictive(filter);
	requireChoices(filter, table);
	if (!isEmptyFilter(filter) || run.parameter('filterMode', index) === 'none') return filter;
	throw wrong(
		'the filter has no condition',
		"Add one. To compare the input with all of the table, set 'Filter' to 'None'.",
		'Filter',
	);
}

/**
 * What to do with records that are missing from the input; undefined where they are left.
 *
 * @param keys the fields that records are matched on
 * @throws {InputError}
 */
export function syncOptionsOf(
	run: RunContext<SyncParameter | 'options.emptyValues'>,
	index: number,
	table: TableDefinition,
	keys: FieldDefinition[],
	{ dryRun, stopAtFailure }: Pick<SyncOptions, 'dryRun' | 'stopAtFailure'>,
): SyncOptions | undefined {
	const removal = removalOf(run, index, table, keys);
	if (!removal) return undefined;
	const number = (
		name: 'maxRecordsToRemove' | 'maxShareToRemove',
		bounds: { max?: number; isWhole?: boolean },
	) => requireNumber(run.parameter(name, index), SHARED_SYNC_LABELS[name], { min: 0, ...bounds });
	return {
		removal,
		scope: scopeOf(run, index, table),
		maximum: number('maxRecordsToRemove', { isWhole: true }),
		maximumShare: number('maxShareToRemove', { max: 100 }),
		dryRun,
		stopAtFailure,
	};
}
