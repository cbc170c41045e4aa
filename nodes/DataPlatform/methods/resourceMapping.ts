/**
 * The fields that the mapper offers, typed from the table's definition.
 */
import type {
	FieldType,
	ILoadOptionsFunctions,
	INodePropertyOptions,
	ResourceMapperField,
	ResourceMapperFields,
} from 'n8n-workflow';

import type { FieldDefinition, TableDefinition } from '../api/types';
import { importKeyOf, isWritable } from '../fields/kinds';
import { getOwn } from '../transport/json';
import { chosenTable, inEditor } from './editorContext';

// Lists and objects are written as JSON text: n8n's own editor for them begins with an error mark.
const TYPES: Record<string, FieldType> = {
	number: 'number',
	decimal: 'number',
	money: 'number',
	percentage: 'number',
	date: 'dateTime',
	datetime: 'dateTime',
};

// n8n's own switch has no third state: a field that nobody touched would be written as false.
const YES_OR_NO = [
	{ name: 'True', value: true },
	{ name: 'False', value: false },
];

/** The choices of a field that has some; undefined for any other. */
function choices({ type, metadata }: FieldDefinition): INodePropertyOptions[] | undefined {
	if (type === 'checkbox') return YES_OR_NO;
	if ((type !== 'radio' && type !== 'dropdown') || !metadata.items?.length) return undefined;
	return [...metadata.items]
		.sort((a, b) => (a.order ?? 0) - (b.order ?? 0))
		.map(({ value }) => ({ name: value, value }));
}

/** What the label says beside the field's name, where the type asks for a certain form. */
const LABEL_HINTS: Record<string, string> = {
	percentage: '0.1 is 10 %',
	money_with_currency: 'JSON with amount and currency',
	dropdownmulti: 'JSON list',
	chips: 'JSON list',
	checklist: 'JSON',
	chat: 'JSON',
	url_link: 'web address',
	picture: 'web address of a file',
	file: 'web address of a file',
};

const linkHint = ({ type, metadata }: FieldDefinition) =>
	type === 'schema_link' ? (metadata.multiple ? 'record IDs to add' : 'record ID') : undefined;

function label(field: FieldDefinition, isKey: boolean): string {
	const hint = isKey ? 'import key' : (linkHint(field) ?? getOwn(LABEL_HINTS, field.type));
	return hint ? `${field.header} (${hint})` : field.header;
}

function column(field: FieldDefinition, required: boolean, isKey: boolean): ResourceMapperField {
	const options = choices(field);
	return {
		id: field.name,
		displayName: label(field, isKey),
		required,
		defaultMatch: false,
		canBeUsedToMatch: false,
		display: true,
		type: options ? 'options' : (getOwn(TYPES, field.type) ?? 'string'),
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
