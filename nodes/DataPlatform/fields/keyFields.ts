/**
 * The fields that identify a record if its ID does not.
 */
import type { FieldDefinition, TableDefinition } from '../api/types';
import { LABELS } from '../labels';
import { InputError } from '../transport/errors';
import { importKeyOf, isWritable } from './index';
import { canBeKey } from './values';

export const noImportKey = ({ header, fields: [first] }: TableDefinition, parameter?: string) =>
	new InputError(`The definition of table '${header}' does not say which field is its import key`, {
		field: parameter,
		hint: `Choose it under '${LABELS.importKey}' in the options; unless it was changed in the platform, it is the first field${first ? `, '${first.name}'` : ''}. To find records by other fields, set '${LABELS.matchOn}' to 'Other Fields'.`,
	});

/**
 * The table with its import key marked: the one that its definition marks, because the platform uses
 * no other. If it marks none, the named one.
 *
 * @throws {InputError} if another field is named, or one that the table does not have
 */
export function withImportKey(table: TableDefinition, named?: string): TableDefinition {
	const marked = importKeyOf(table);
	if (!named || named === marked?.name) return table;
	if (marked) {
		throw new InputError(
			`The import key of table '${table.header}' is '${marked.name}', not '${named}'`,
			{
				field: named,
				hint: `The platform finds records by the field that the table marks. Leave '${LABELS.importKey}' empty in the options, or mark the other field in the platform.`,
			},
		);
	}
	const key = table.fields.find(({ name }) => name === named);
	const mark = (field: FieldDefinition) =>
		field === key ? { ...field, metadata: { ...field.metadata, importKey: true } } : field;
	if (key) return { ...table, fields: table.fields.map(mark) };
	throw new InputError(`Table '${table.header}' has no field '${named}'`, {
		field: named,
		hint: `Correct '${LABELS.importKey}' in the options, or leave it empty.`,
	});
}

/**
 * The fields that identify a record if its ID does not: the import key, or those to match on.
 *
 * @throws {InputError} if the table does not have one of these, or records can't be found by it
 */
export function keyFields(
	table: TableDefinition,
	{ matchOn }: { matchOn?: 'recordId' | string[] },
): FieldDefinition[] {
	if (!Array.isArray(matchOn)) return [importKeyOf(table)].filter((key) => key !== undefined);
	const wrong = (message: string) =>
		new InputError(message, {
			hint: `Choose one or several fields under '${LABELS.matchFields}': text, choices, numbers, dates or times that the table lets you write.`,
		});
	return [...new Set(matchOn)].map((name) => {
		const field = table.fields.find((known) => known.name === name);
		if (!field) throw wrong(`Table '${table.header}' has no field '${name}' to match on`);
		if (!isWritable(field)) throw wrong(`Records can't be matched on '${name}': it is read-only`);
		if (canBeKey(field)) return field;
		throw wrong(`Records can't be matched on '${name}': its type is '${field.type}'`);
	});
}

export function requireKey(table: TableDefinition, key: FieldDefinition | undefined) {
	if (!key) throw noImportKey(table);
	if (canBeKey(key)) return;
	throw new InputError(
		`The import key '${key.name}' of table '${table.header}' has the type '${key.type}', which can't be a key`,
		{
			field: key.name,
			hint: 'Nothing was sent. Mark a field in the platform that holds text, a choice, a number, a date or a time.',
		},
	);
}
