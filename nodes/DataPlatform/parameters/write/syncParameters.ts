/**
 * What Sync does with records that are missing from the input.
 */
import { isEmptyFilter, type Group } from '../../api/filters';
import type { FieldDefinition, FieldValues, TableDefinition } from '../../api/types';
import type { SyncOptions } from '../../bulk/remove/sync';
import type { NameOf } from '../../parameterKinds/parameter';
import { anyValue, choice, flag, list, number, wholeNumber } from '../../parameterKinds/kinds';
import type { RunContext } from '../../run/run';
import { isCleared } from '../../fields/fieldType';
import { resolveTimeZone } from '../../fields/timeZone';
import { toFieldValue } from '../../fields/values';
import { InputError } from '../../transport/errors';
import {
	checkedToRemove,
	filterMode,
	filterOf,
	filterWith,
	TEXT_ONLY,
	type FilterParameter,
} from '../select/filter';
import { fieldPart, tableOf, type TableParameter } from '../select/table';
import { emptyValues, writableField } from './columns';
import { LABELS } from '../../labels';

/** Hints for n8n's AI about what removes records. */
export const ON_REQUEST = 'Only if the user asks for exactly this.';
export const GUARD = 'A guard, not a page size. Keep the default unless the user gives a number.';

export const missingRecords = choice('missingRecords', {
	label: 'Records Missing From Input',
	choices: {
		leave: ['Leave', 'Only create and update'],
		setFields: ['Set Fields', 'Mark them, such as archived = true'],
		delete: ['Delete', 'Permanently delete them'],
	},
	preset: 'leave',
	description: 'What to do with records of the table that are missing from the input',
	aiHint:
		"'delete': only if the user asks for exactly this. With 'setFields' or 'delete', filter to the part of the table that the input stands for.",
});

const IF_REMOVED = { missingRecords: ['setFields', 'delete'] };

const fieldToSet = fieldPart('getWritableFields');

const valueToSet = anyValue('value', {
	label: 'Value',
	description:
		'Such as true, archived or an expression, which is evaluated once, with the first item',
	aiHint: TEXT_ONLY,
});

export const fieldsToSet = list('fieldsToSet', {
	label: 'Fields to Set',
	add: 'Add Field',
	entry: ['entry', 'Field'],
	show: { missingRecords: ['setFields'] },
	description: 'What to write to each record that is missing from the input',
	parts: [fieldToSet, valueToSet],
});

/** Enough for the changes of a day, too few for an input that went wrong. */
export const maxRecordsToRemove = wholeNumber('maxRecordsToRemove', {
	label: LABELS.maxRecordsToRemove,
	min: 0,
	required: true,
	preset: 100,
	show: IF_REMOVED,
	description:
		'Max number of records to delete or to set fields of. If more are missing, nothing is written or removed.',
	aiHint: GUARD,
});

export const maxShareToRemove = number('maxShareToRemove', {
	label: LABELS.maxShareToRemove,
	min: 0,
	max: 100,
	required: true,
	preset: 20,
	show: IF_REMOVED,
	description:
		'The same as a share of the records that match the filter. It protects against an incomplete input.',
	aiHint: 'A guard in percent. Keep the default unless the user gives a number.',
});

export const allowEmptyInput = flag('allowEmptyInput', {
	label: 'Allow Empty Input',
	preset: false,
	show: IF_REMOVED,
	description:
		'Whether an input without any data may remove records, up to the maximum and the maximum share',
	aiHint: ON_REQUEST,
});

export const removeDespiteFailures = flag('removeDespiteFailures', {
	label: 'Remove Despite Failed Items',
	preset: false,
	show: IF_REMOVED,
	description:
		'Whether to remove records even if the platform rejected some items. An item without a key still prevents it.',
	aiHint: ON_REQUEST,
});

/** What to do with records that are missing from the input, and how many at most. */
export const syncParameters = [
	missingRecords,
	fieldsToSet,
	// Selects the records to compare with the input. Not needed if missing records are left as they are.
	...filterWith({
		show: IF_REMOVED,
		description:
			'The part of the table that the input stands for: only records that match can be missing from it. With None, all of the table.',
	}),
	maxRecordsToRemove,
	maxShareToRemove,
	allowEmptyInput,
	removeDespiteFailures,
];

/** The same for the rows of a file that is imported. */
export const fileSyncParameters = syncParameters.map((parameter) => {
	const { show } = parameter.property.displayOptions ?? {};
	return parameter.with({
		show: { ...(show as Record<string, string[]>), importMode: ['upsert'] },
	});
});

export type SyncParameter = NameOf<typeof syncParameters>;

export type RemovalParameter = TableParameter | SyncParameter | NameOf<typeof emptyValues>;

const wrong = (message: string, hint: string, { label } = fieldsToSet as { label: string }) =>
	new InputError(`Nothing was written or removed: ${message}`, { field: label, hint });

/** @throws {InputError} if nothing may be removed because of an empty input */
export function requireInput(run: RunContext<SyncParameter>, index: number) {
	if (allowEmptyInput.of(run, index)) return;
	throw allowEmptyInput.error(
		'Nothing was written or removed: the input is empty',
		`Check the nodes before this one. If records may be removed because of it, turn on ${allowEmptyInput}.`,
	);
}

/** @throws {InputError} if a value can't be written, or none is set */
async function valuesToSet(
	run: RunContext<RemovalParameter>,
	index: number,
	table: TableDefinition,
	keys: FieldDefinition[],
): Promise<FieldValues> {
	const entries = fieldsToSet.of(run, index);
	if (entries.length === 0) {
		throw wrong(`${fieldsToSet} names no field`, 'Add a field and the value to set.');
	}
	const target = tableOf(run, index).with(table);
	const isClearing = emptyValues.of(run, index) === 'clear';
	const set = new Map<string, FieldValues[string]>();
	for (const entry of entries) {
		const field = writableField(table, fieldToSet.in(entry, fieldsToSet), (why) =>
			wrong(`${fieldsToSet}: ${why}`, 'Choose the field from the list.'),
		);
		const { name } = field;
		const value = valueToSet.in(entry, fieldsToSet);
		if (keys.includes(field)) {
			throw wrong(
				`'${name}' under ${fieldsToSet} is a field that records are matched on`,
				'Set another field: with the same value, records could not be told apart.',
			);
		}
		if (set.has(name))
			throw wrong(`${fieldsToSet} names '${name}' twice`, 'Remove one of the two.');
		if (isCleared(value) && !isClearing) {
			throw wrong(
				`the value of '${name}' under ${fieldsToSet} is empty`,
				`Give it a value. To clear the field, set the option ${emptyValues} to 'Clear the Field'.`,
			);
		}
		await resolveTimeZone(target, [{ [name]: value }]);
		const converted = toFieldValue(field, value ?? null, 'clear');
		if (converted === 'leave') continue;
		if ('problem' in converted) {
			throw wrong(`'${name}' under ${fieldsToSet} ${converted.problem}`, 'Correct the value.');
		}
		set.set(name, converted.value);
	}
	return Object.fromEntries(set);
}

/**
 * @throws {InputError} if the filter has no condition, names a field that does not exist, or compares
 * one with a value that it can't have
 */
async function scopeOf(
	run: RunContext<TableParameter | FilterParameter>,
	index: number,
	table: TableDefinition,
): Promise<Group> {
	const filter = filterOf(run, index);
	const checked = await checkedToRemove(tableOf(run, index).with(table), filter);
	if (!isEmptyFilter(filter) || filterMode.of(run, index) === 'none') return checked;
	throw wrong(
		'the filter has no condition',
		`Add one. To compare the input with all of the table, set ${filterMode} to 'None'.`,
		filterMode,
	);
}

/**
 * What to do with records that are missing from the input; undefined to leave them.
 *
 * @param keys the fields that records are matched on
 * @throws {InputError}
 */
export async function syncOptionsOf(
	run: RunContext<RemovalParameter>,
	index: number,
	{ table, keys }: { table: TableDefinition; keys: FieldDefinition[] },
	{ dryRun, stopAtFailure }: Pick<SyncOptions, 'dryRun' | 'stopAtFailure'>,
): Promise<SyncOptions | undefined> {
	const kind = missingRecords.of(run, index);
	if (kind === 'leave') return undefined;
	return {
		removal: kind === 'delete' ? kind : { set: await valuesToSet(run, index, table, keys) },
		scope: await scopeOf(run, index, table),
		maximum: maxRecordsToRemove.of(run, index),
		maximumShare: maxShareToRemove.of(run, index),
		dryRun,
		stopAtFailure,
	};
}
