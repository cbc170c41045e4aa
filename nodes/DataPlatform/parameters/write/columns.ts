/**
 * The values that items have for a record's fields.
 */
import type { ResourceMapperTypeOptionsBase } from 'n8n-workflow';

import type { FieldDefinition, TableDefinition } from '../../api/types';
import { isWritable } from '../../fields';
import { isBlank, visibleText } from '../../fields/values';
import type { NameOf } from '../../parameterKinds/parameter';
import { choice, custom } from '../../parameterKinds/kinds';
import { plainPath } from '../../parameterKinds/plainReference';
import { InputError } from '../../transport/errors';
import { isObject, membersOf } from '../../transport/json';
import { jsonReader } from '../../input/recordInput';
import type { RunContext } from '../../run/run';
import { nameList } from '../../transport/messageText';
import { TABLE_DEPENDENCIES, UNTIL_TABLE_CHOSEN } from '../select/table';
import type { Plan, PlanOptions } from '../../bulk/terms';
import { IMPORT_KEY_MARK, LABELS } from '../../labels';

type ColumnsMethod = 'getColumnsToCreate' | 'getColumnsToUpsert' | 'getColumnsToUpdate';

/** The mapper from the item's data to the table's fields. `valuesReader` reads its parts. */
const columns = (resourceMapperMethod: ColumnsMethod) =>
	custom(
		'columns',
		'resourceMapper',
		{
			label: 'Fields',
			noDataExpression: true,
			required: true,
			preset: { mappingMode: 'defineBelow', value: null },
			hide: UNTIL_TABLE_CHOSEN,
			aiHint:
				"{ mappingMode: 'autoMapInputData', value: null } if the keys of the items are the names of the fields, else { mappingMode: 'defineBelow', value: { fieldName: value } }. It must include the fields that records are matched on. The method 'getWritableFields' (loadOptions) lists the fields.",
			typeOptions: {
				loadOptionsDependsOn: TABLE_DEPENDENCIES,
				resourceMapper: {
					resourceMapperMethod,
					mode: 'add',
					fieldWords: { singular: 'field', plural: 'fields' },
					addAllFields: resourceMapperMethod !== 'getColumnsToUpdate',
					supportAutoMap: true,
					allowEmptyValues: true,
					// Updates the list after fields were added to or removed from the table. Older n8n offers
					// a button.
					refreshIncompleteSchemaOnOpen: true,
					refreshStaleSchemaOnOpen: true,
					noFieldsError: 'There are no fields to map.',
				} as ResourceMapperTypeOptionsBase & { resourceMapperMethod: string; mode: 'add' },
			},
		},
		(value) => value,
	);

export const columnsToCreate = columns('getColumnsToCreate');
export const columnsToUpsert = columns('getColumnsToUpsert');
export const columnsToUpdate = columns('getColumnsToUpdate');

type ColumnsParameter = NameOf<typeof columnsToCreate>;

const isMappedAutomatically = (run: RunContext<ColumnsParameter>, index: number) =>
	run.value(columnsToCreate, index, { part: 'mappingMode' }) === 'autoMapInputData';

/**
 * Reads values as mapped in the editor, or each item's own if the mapping is automatic.
 *
 * @param index the item to read the mapping mode from, which is the same for all
 * @param isKept whether the definition may be old: a header may belong to another field by now
 */
export function valuesReader(
	run: RunContext<ColumnsParameter>,
	index: number,
	table: TableDefinition,
	isKept = false,
): (index: number) => unknown {
	if (isMappedAutomatically(run, index)) {
		const valuesOf = jsonReader(table, isKept);
		return (at) => valuesOf(run.json(at));
	}
	// n8n's own check uses the table as it was when the workflow was saved; ours uses the current
	// one.
	const reading = { part: 'value', skipValidation: true };
	return (at) => run.value(columnsToCreate, at, reading) ?? {};
}

/**
 * Checks that the fields that records are found by are mapped, if fields are mapped by hand.
 *
 * @param keys the fields that records are found by
 * @throws {InputError} if every item would lack a value
 */
export function requireMapped(
	run: RunContext<ColumnsParameter>,
	index: number,
	keys: FieldDefinition[],
) {
	const { value } = membersOf(run.raw(columnsToCreate));
	if (isMappedAutomatically(run, index) || typeof value === 'string') return;
	const filled = Object.entries(membersOf(value)).filter(
		([, text]) => !isBlank(text) && text !== '=',
	);
	const open = keys.find(({ name }) => !filled.some(([filledIn]) => filledIn === name))?.name;
	if (open === undefined) return;
	const what = `'${open}', by which records are found, has no value under 'Values to Send'`;
	throw new InputError(`Nothing was sent: ${what}`, {
		field: open,
		hint: `Enter it there, or set '${LABELS.mappingMode}' to 'Map Automatically' if the items have the names of the fields.`,
	});
}

/** The import key that the mapper marked when the fields were mapped by hand. */
export function mappedKeyOf(run: RunContext<ColumnsParameter>, index: number): string | undefined {
	if (isMappedAutomatically(run, index)) return undefined;
	const { schema } = membersOf(run.raw(columnsToCreate));
	const isKey = (column: unknown) =>
		String(membersOf(column).displayName).endsWith(`(${IMPORT_KEY_MARK})`);
	const { id } = membersOf([schema].flat().find(isKey));
	return typeof id === 'string' ? id : undefined;
}

export const emptyValues = choice('emptyValues', {
	label: LABELS.emptyValues,
	choices: {
		clear: ['Clear the Field', 'Clear the field in the platform'],
		leave: ['Leave the Field as It Is', 'Do not send the value'],
		error: ['Treat as an Error', 'Write nothing'],
	},
	preset: 'leave',
	description: 'What to do with an empty text, an empty list or null',
});

export const unknownFields = choice('unknownFields', {
	label: LABELS.unknownFields,
	choices: {
		ignore: ['Ignore', 'Write the fields that the table has'],
		error: ['Treat as an Error', 'Write nothing and name them'],
	},
	preset: 'error',
	description:
		'What to do with input fields that the table does not have, when fields are mapped automatically. Read-only fields are always left out.',
});

export type FieldOptions = NameOf<typeof emptyValues | typeof unknownFields>;

/** What to do with empty values and unknown fields. @throws {InputError} */
export const valuePoliciesOf = (run: RunContext<FieldOptions>, index: number) => ({
	empty: emptyValues.of(run, index),
	unknownFields: unknownFields.of(run, index),
});

/** A member in an expression, such as `$json["Birth Date"]`. */
const memberOf = (of: string, name: string) =>
	/^[A-Za-z_$][\w$]*$/.test(name) ? `${of}.${name}` : `${of}[${JSON.stringify(name)}]`;

/** What an expression for a field's value begins with: what the mapping has, or the item's key. */
function sourceOf(
	run: RunContext<ColumnsParameter>,
	index: number,
	{ name, header }: FieldDefinition,
): string {
	if (isMappedAutomatically(run, index)) {
		const json = run.json(index) ?? {};
		if (isObject(json.fields) && Object.hasOwn(json.fields, name)) {
			return memberOf('$json.fields', name);
		}
		const isSame = (key: string) =>
			[name, header].some((one) => visibleText(one) === visibleText(key));
		const exact = [name, header].find((one) => Object.hasOwn(json, one));
		const key = exact ?? Object.keys(json).find(isSame);
		return key === undefined ? 'your column' : memberOf('$json', key);
	}
	const mapped = membersOf(membersOf(run.raw(columnsToCreate)).value)[name];
	if (typeof mapped !== 'string') return 'your column';
	if (!mapped.startsWith('=')) return JSON.stringify(mapped);
	// One expression and nothing beside it.
	const code = /^=\s*\{\{((?:(?!\}\}|\{\{)[^])*)\}\}\s*$/.exec(mapped)?.[1]?.trim();
	if (code === undefined) return 'your column';
	return plainPath(`={{${code}}}`) ? code : `(${code})`;
}

export type PlanningParameter = ColumnsParameter | FieldOptions;

/** @throws {InputError} if an option has an invalid value */
export const planOptions = (
	run: RunContext<PlanningParameter>,
	index: number,
	{ mode, duplicates }: Pick<PlanOptions, 'mode' | 'duplicates'>,
): PlanOptions => ({
	mode,
	duplicates,
	...valuePoliciesOf(run, index),
	isFromInput: isMappedAutomatically(run, index),
	sourceOf: (at, field) => (run.isTool ? '' : sourceOf(run, at, field)),
});

/** The field that a parameter names. @param wrong makes the error that says why it can't be written */
export function writableField(
	table: TableDefinition,
	name: string,
	wrong: (why: string) => InputError,
): FieldDefinition {
	const field = table.fields.find((known) => known.name === name);
	if (name === '') throw wrong('no field is chosen');
	if (!field) throw wrong(`table '${table.header}' has no field '${name}'`);
	if (!isWritable(field)) throw wrong(`'${name}' is read-only`);
	return field;
}

/** Tells the user, once per run, which fields of the input are not written. */
export function hintIgnored(run: RunContext<never>, { ignored }: Pick<Plan, 'ignored'>) {
	if (ignored.size === 0) return;
	run.hintOnce(
		`Not written, because these fields are read-only, have an unknown type, or hold files or links as they were read: ${nameList([...ignored])}.`,
	);
}
