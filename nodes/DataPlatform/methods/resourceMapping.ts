/**
 * The fields that the mapper offers, typed from the table's definition.
 */
import type {
	ILoadOptionsFunctions,
	ResourceMapperField,
	ResourceMapperFields,
} from 'n8n-workflow';

import type { FieldDefinition, TableDefinition } from '../api/types';
import { importKeyOf, isWritable, typeOf } from '../fields';
import { chosenTable, inEditor } from './editorContext';

function label(field: FieldDefinition, isKey: boolean): string {
	const hint = isKey ? 'import key' : typeOf(field).editor.hint;
	return hint ? `${field.header} (${hint})` : field.header;
}

function column(field: FieldDefinition, required: boolean, isKey: boolean): ResourceMapperField {
	const { type, choices } = typeOf(field).editor;
	const options = choices(field);
	return {
		id: field.name,
		displayName: label(field, isKey),
		required,
		defaultMatch: false,
		canBeUsedToMatch: false,
		display: true,
		type: options ? 'options' : type,
		...(options && { options }),
	};
}

async function columns(
	context: ILoadOptionsFunctions,
	isRequired: (field: FieldDefinition, table: TableDefinition) => boolean,
): Promise<ResourceMapperFields> {
	return await inEditor(context, async (client) => {
		const table = await chosenTable(context, client);
		if (!table) return { fields: [] };
		const key = importKeyOf(table);
		const fields = table.fields
			.filter(isWritable)
			.map((field) => column(field, isRequired(field, table), field === key));
		return { fields };
	});
}

/** The fields of a new record. */
export async function getColumnsToCreate(
	this: ILoadOptionsFunctions,
): Promise<ResourceMapperFields> {
	return await columns(this, ({ metadata }) => metadata.required === true);
}

/** The fields of a record that may exist already: its import key must have a value. */
export async function getColumnsToUpsert(
	this: ILoadOptionsFunctions,
): Promise<ResourceMapperFields> {
	return await columns(this, (field, table) => field === importKeyOf(table));
}

/** The fields to change in a record that exists. */
export async function getColumnsToUpdate(
	this: ILoadOptionsFunctions,
): Promise<ResourceMapperFields> {
	return await columns(this, () => false);
}
