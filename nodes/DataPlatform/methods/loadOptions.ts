/**
 * The options of parameters: fields, operators, aggregations and saved views of a table.
 */
import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import type { FieldDefinition, TableDefinition } from '../api/types';
import type { ApiClient } from '../transport/client';
import { holdsData, isWritable, typeOf } from '../fields';
import { canBeKey } from '../fields/values';
import type { FieldType } from '../fields/fieldType';
import { readApplications, readTables } from '../api/tables';
import { CHOICE_OPERATORS, EXACTLY } from '../parameters/filter';
import { ALL_LINK_FIELDS, isLink } from '../parameters/links';
import { applicationIn, chosenTable, inEditor, linkedTables } from './editorContext';

const option = ({ name, header, type }: FieldDefinition): INodePropertyOptions => ({
	name: header,
	value: name,
	description: `${name} (${type})`,
});

/** Says in a list why it has no entries; to choose it leaves the parameter empty. */
const CHOOSE_TABLE: INodePropertyOptions[] = [{ name: 'Choose a Table First', value: '' }];

/** A list that depends on the chosen table. */
async function tableOptions(
	context: ILoadOptionsFunctions,
	list: (
		table: TableDefinition,
		client: ApiClient,
	) => INodePropertyOptions[] | Promise<INodePropertyOptions[]>,
): Promise<INodePropertyOptions[]> {
	return await inEditor(context, async (client) => {
		const table = await chosenTable(context, client);
		return table ? await list(table, client) : CHOOSE_TABLE;
	});
}

async function fieldOptions(
	context: ILoadOptionsFunctions,
	isOffered: (field: FieldDefinition) => boolean,
): Promise<INodePropertyOptions[]> {
	return await tableOptions(context, ({ fields }) => fields.filter(isOffered).map(option));
}

/** The fields that hold data. */
async function getFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await fieldOptions(this, holdsData);
}

/** The fields that records can be matched on. */
async function getMatchFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await fieldOptions(this, (field) => isWritable(field) && canBeKey(field));
}

/** The picture and file fields. */
async function getFileFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await fieldOptions(this, (field) => typeOf(field).holdsFiles);
}

/** The fields of linked records that a filter can reach, written as link.field. */
const linkedOptions = ({ name, header, metadata }: FieldDefinition): INodePropertyOptions[] =>
	(metadata.filterableFields ?? []).map((field) => ({
		name: `${header}: ${field}`,
		value: `${name}.${field}`,
		description: `${name}.${field} (of the linked record)`,
	}));

/** The fields that a filter can compare, those of linked records among them. */
async function getFilterFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await tableOptions(this, ({ fields }) =>
		fields.filter(holdsData).flatMap((field) => [option(field), ...linkedOptions(field)]),
	);
}

/** The link fields, after an entry for all of them. */
async function getLinkFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const all = { name: 'All Link Fields', value: ALL_LINK_FIELDS };
	return await tableOptions(this, ({ fields }) => {
		const links = fields.filter(isLink).map(option);
		return links.length > 0 ? [all, ...links] : [];
	});
}

/** Fields of the tables that the link field beside leads to, or all link fields. */
async function linkedFieldOptions(
	context: ILoadOptionsFunctions,
	isOffered: (field: FieldDefinition) => boolean,
): Promise<INodePropertyOptions[]> {
	const name = context.getCurrentNodeParameter('&field');
	return await tableOptions(context, async (table, client) => {
		const links = table.fields.filter(isLink);
		const chosen = links.filter((field) => name === ALL_LINK_FIELDS || field.name === name);
		const fields = (await linkedTables(context, client, chosen)).flatMap((target) => target.fields);
		const offered = fields.filter((field) => holdsData(field) && isOffered(field));
		return [...new Map(offered.map((field) => [field.name, option(field)])).values()];
	});
}

/** The fields of a linked table by which its records are found. */
async function getLinkedFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await linkedFieldOptions(this, canBeKey);
}

/** The fields of a linked table that hold data. */
async function getLinkedDataFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await linkedFieldOptions(this, () => true);
}

/** The link fields of all tables of the application that lead to the chosen table. */
async function getIncomingLinks(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await tableOptions(this, async (chosen, client) => {
		const application = applicationIn(this);
		const applications =
			application === undefined
				? (await readApplications(client)).map(({ id }) => id)
				: [application];
		const lists = await Promise.all(
			applications.map(async (name) => await readTables(client, name)),
		);
		return lists.flat().flatMap((table) =>
			table.fields
				.filter((field) => isLink(field) && field.metadata.linkTableId === chosen.id)
				.map(({ name, header }) => ({
					name: `${table.header}: ${header}`,
					value: `${table.internalName}.${name}`,
					description: `${table.internalName}.${name}`,
				})),
		);
	});
}

/** The fields of which something can be computed. */
async function getSummaryFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await fieldOptions(this, (field) => typeOf(field).aggregations.length > 0);
}

/** The fields that a client may write. */
async function getWritableFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await fieldOptions(this, isWritable);
}

/** The field beside the parameter whose list is loaded, in the same entry of a collection. */
async function fieldBeside(context: ILoadOptionsFunctions): Promise<FieldDefinition | undefined> {
	const name = context.getCurrentNodeParameter('&field');
	return await inEditor(context, async (client) => {
		const table = await chosenTable(context, client);
		return table?.fields.find((field) => field.name === name);
	});
}

const EQUAL = [
	{ name: 'Equal', value: 'eq' },
	{ name: 'Not Equal', value: 'neq' },
];

const LISTED = [
	{ name: 'One Of', value: 'in' },
	{ name: 'Not One Of', value: 'notin' },
];

const PRESENCE = [
	{ name: 'Is Empty', value: 'empty' },
	{ name: 'Is Not Empty', value: 'notempty' },
];

const ORDER = [
	{ name: 'Greater Than', value: 'gt' },
	{ name: 'Greater Than or Equal', value: 'gte' },
	{ name: 'Less Than', value: 'lt' },
	{ name: 'Less Than or Equal', value: 'lte' },
];

const CONTAINS = [
	{ name: 'Contains', value: 'contains' },
	{ name: 'Not Contains', value: 'notcontains' },
];

const TEXT = [
	...CONTAINS,
	{ name: 'Starts With', value: 'startswith' },
	{ name: 'Ends With', value: 'endswith' },
];

type ChoiceOperator = { name: string; value: keyof typeof CHOICE_OPERATORS };

/** Their values come from a list. */
const ONE_CHOICE: ChoiceOperator[] = [
	{ name: 'Is (Choose From List)', value: 'is' },
	{ name: 'Is Not (Choose From List)', value: 'isNot' },
];

const CHOICE: ChoiceOperator[] = [
	...ONE_CHOICE,
	{ name: 'Is One Of (Choose From List)', value: 'isOneOf' },
	{ name: 'Is None Of (Choose From List)', value: 'isNoneOf' },
];

const RARE = [
	{ name: 'Equal, Exactly', value: EXACTLY },
	{ name: 'Has Duplicates', value: 'duplicity' },
];

const USER = [{ name: 'Is Current User', value: 'currentuser' }];

/** The operators by how a field's values compare, the usual ones first. */
const OPERATOR_LISTS: Record<FieldType['comparison'], INodePropertyOptions[]> = {
	any: [...EQUAL, ...TEXT, ...ORDER, ...LISTED, ...PRESENCE, ...USER, ...RARE],
	boolean: [...ONE_CHOICE, ...EQUAL, ...PRESENCE],
	choice: [...CHOICE, ...EQUAL, ...CONTAINS, ...LISTED, ...PRESENCE],
	order: [...EQUAL, ...ORDER, ...LISTED, ...PRESENCE, ...RARE],
	presence: PRESENCE,
	text: [...EQUAL, ...TEXT, ...LISTED, ...PRESENCE, ...RARE],
};

/** The operators that fit the condition's field; all for one that is not known. */
async function getOperators(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const field = await fieldBeside(this);
	return OPERATOR_LISTS[field ? typeOf(field).comparison : 'any'];
}

/** What the condition's field can hold, where it is a dropdown or a checkbox. */
async function getChoices(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const field = await fieldBeside(this);
	const choices = (field && typeOf(field).editor.choices(field)) ?? [];
	return choices.map(({ name, value }) => ({ name, value: String(value) }));
}

const AGGREGATION_NAMES: Record<string, string> = {
	avg: 'Average',
	max: 'Maximum',
	min: 'Minimum',
	sum: 'Sum',
};

/** What can be computed of the field. */
async function getAggregations(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const field = await fieldBeside(this);
	const values = field ? typeOf(field).aggregations : Object.keys(AGGREGATION_NAMES);
	return values.map((value) => ({ name: AGGREGATION_NAMES[value] ?? value, value }));
}

const SYSTEM_SORTS: INodePropertyOptions[] = [
	{ name: 'Created', value: 'created', description: 'When the record was created' },
	{ name: 'ID', value: 'id', description: "The record's ID" },
	{ name: 'Modified', value: 'modified', description: 'When the record was changed last' },
];

/** The fields to sort by, the record's own times among them. */
async function getSortFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await tableOptions(this, ({ fields }) => [
		...SYSTEM_SORTS,
		...fields.filter(holdsData).map(option),
	]);
}

/** The saved views of the chosen table. */
async function getSavedViews(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await tableOptions(this, ({ savedViews }) =>
		savedViews.map(({ id, name, description }) => ({ name, value: id, description })),
	);
}

/** For the nodes' `methods`. */
export const loadOptions = {
	getAggregations,
	getChoices,
	getFields,
	getFileFields,
	getFilterFields,
	getIncomingLinks,
	getLinkFields,
	getLinkedDataFields,
	getLinkedFields,
	getMatchFields,
	getOperators,
	getSavedViews,
	getSortFields,
	getSummaryFields,
	getWritableFields,
};
