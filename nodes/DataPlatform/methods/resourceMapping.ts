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
import type { LinkRule, LinkRules } from '../bulk/links';
import { toLinkRules } from '../execution/linkInput';
import { chosenTable, inEditor } from './editorContext';

/** What a link field takes, where the option Link Values says that it is no record ID. */
function linkHint({ metadata }: FieldDefinition, { linkedField }: LinkRule): string {
	const one = linkedField
		? `'${linkedField}' of the linked record`
		: 'import key of the linked record';
	const many = linkedField
		? `'${linkedField}' of linked records to add`
		: 'import keys of linked records to add';
	return metadata.multiple ? many : one;
}

function label(field: FieldDefinition, isKey: boolean, rule?: LinkRule): string {
	const hint = isKey ? 'import key' : rule ? linkHint(field, rule) : typeOf(field).editor.hint;
	return hint ? `${field.header} (${hint})` : field.header;
}

function column(
	field: FieldDefinition,
	required: boolean,
	isKey: boolean,
	rule?: LinkRule,
): ResourceMapperField {
	const { type, choices } = typeOf(field).editor;
	const options = choices(field);
	return {
		id: field.name,
		displayName: label(field, isKey, rule),
		required,
		defaultMatch: false,
		canBeUsedToMatch: false,
		display: true,
		type: options ? 'options' : type,
		...(options && { options }),
	};
}

/** None where the option holds an expression, or an entry that is not complete yet. */
function chosenLinkRules(context: ILoadOptionsFunctions, table: TableDefinition): LinkRules {
	const given = context.getCurrentNodeParameter('options.linkValues.link');
	try {
		return toLinkRules(given, table);
	} catch {
		return new Map();
	}
}

async function columns(
	context: ILoadOptionsFunctions,
	isRequired: (field: FieldDefinition) => boolean,
): Promise<ResourceMapperFields> {
	return await inEditor(context, async (client) => {
		const table = await chosenTable(context, client);
		if (!table) return { fields: [] };
		const key = importKeyOf(table);
		const rules = chosenLinkRules(context, table);
		const fields = table.fields
			.filter(isWritable)
			.map((field) => column(field, isRequired(field), field === key, rules.get(field.name)));
		return { fields };
	});
}

/** The fields of a new record. */
export async function getColumnsToCreate(
	this: ILoadOptionsFunctions,
): Promise<ResourceMapperFields> {
	return await columns(this, ({ metadata }) => metadata.required === true);
}

/** The fields of a record that may exist already; which it is found by is another parameter. */
export async function getColumnsToUpsert(
	this: ILoadOptionsFunctions,
): Promise<ResourceMapperFields> {
	return await columns(this, () => false);
}

/** The fields to change in a record that exists. */
export async function getColumnsToUpdate(
	this: ILoadOptionsFunctions,
): Promise<ResourceMapperFields> {
	return await columns(this, () => false);
}
