/**
 * The options of parameters: fields, operators, aggregations and saved views of a table.
 */
import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import type { FieldDefinition } from '../api/types';
import { holdsData, isWritable, typeOf } from '../fields';
import { canBeKey } from '../fields/values';
import { EXACTLY } from '../execution/filterInput';
import { ALL_LINK_FIELDS, isLink } from '../execution/linkInput';
import { chosenTable, inEditor, linkedTables } from './editorContext';

const option = ({ name, header, type }: FieldDefinition): INodePropertyOptions => ({
	name: header,
	value: name,
	description: `${name} (${type})`,
});

async function fieldOptions(
	context: ILoadOptionsFunctions,
	isOffered: (field: FieldDefinition) => boolean,
): Promise<INodePropertyOptions[]> {
	return await inEditor(context, async (client) => {
		const table = await chosenTable(context, client);
		return (table?.fields ?? []).filter(isOffered).map(option);
	});
}

/** The fields that hold data. */
async function getFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await fieldOptions(this, holdsData);
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
	return await inEditor(this, async (client) => {
		const table = await chosenTable(this, client);
		return (table?.fields ?? [])
			.filter(holdsData)
			.flatMap((field) => [option(field), ...linkedOptions(field)]);
	});
}

/** The link fields that can be written, after an entry for all of them. */
async function getLinkFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const fields = await fieldOptions(this, (field) => isLink(field) && isWritable(field));
	const all = { name: 'All Link Fields', value: ALL_LINK_FIELDS };
	return fields.length > 0 ? [all, ...fields] : [];
}

/** The fields of the tables that a link field leads to, or all of them, by which records are found. */
async function getLinkedFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const name = this.getCurrentNodeParameter('&field');
	return await inEditor(this, async (client) => {
		const table = await chosenTable(this, client);
		const links = (table?.fields ?? []).filter(isLink);
		const chosen = links.filter((field) => name === ALL_LINK_FIELDS || field.name === name);
		const options = new Map<string, INodePropertyOptions>();
		for (const target of await linkedTables(this, client, chosen)) {
			for (const field of target.fields) {
				if (holdsData(field) && canBeKey(field)) options.set(field.name, option(field));
			}
		}
		return [...options.values()];
	});
}

/** The fields of which something can be computed. */
async function getSummaryFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await fieldOptions(this, (field) => typeOf(field).aggregations.length > 0);
}

/** The field beside the parameter whose list is loaded, in the same entry of a collection. */
async function fieldBeside(context: ILoadOptionsFunctions): Promise<FieldDefinition | undefined> {
	const name = context.getCurrentNodeParameter('&field');
	return await inEditor(context, async (client) => {
		const table = await chosenTable(context, client);
		return table?.fields.find((field) => field.name === name);
	});
}

const PRESENCE = [
	{ name: 'Is Empty', value: 'empty' },
	{ name: 'Is Not Empty', value: 'notempty' },
];

const EQUALITY = [
	{ name: 'Equal', value: 'eq' },
	{ name: 'Equal, Exactly', value: EXACTLY },
	{ name: 'Has Duplicates', value: 'duplicity' },
	{ name: 'Not Equal', value: 'neq' },
	{ name: 'Not One Of', value: 'notin' },
	{ name: 'One Of', value: 'in' },
];

const ORDER = [
	{ name: 'Greater Than', value: 'gt' },
	{ name: 'Greater Than or Equal', value: 'gte' },
	{ name: 'Less Than', value: 'lt' },
	{ name: 'Less Than or Equal', value: 'lte' },
];

const TEXT = [
	{ name: 'Contains', value: 'contains' },
	{ name: 'Ends With', value: 'endswith' },
	{ name: 'Is Current User', value: 'currentuser' },
	{ name: 'Not Contains', value: 'notcontains' },
	{ name: 'Starts With', value: 'startswith' },
];

/** The operators by how a field's values compare; all of them for a field that is not known. */
const OPERATOR_LISTS = {
	presence: PRESENCE,
	order: [...EQUALITY, ...ORDER, ...PRESENCE],
	text: [...EQUALITY, ...ORDER, ...PRESENCE, ...TEXT],
};

const byName = (a: INodePropertyOptions, b: INodePropertyOptions) => a.name.localeCompare(b.name);

/** The operators that fit the condition's field. */
async function getOperators(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const field = await fieldBeside(this);
	return [...OPERATOR_LISTS[field ? typeOf(field).comparison : 'text']].sort(byName);
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
	return [...SYSTEM_SORTS, ...(await fieldOptions(this, holdsData))];
}

/** The saved views of the chosen table. */
async function getSavedViews(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await inEditor(this, async (client) => {
		const table = await chosenTable(this, client);
		return (table?.savedViews ?? []).map(({ id, name, description }) => ({
			name,
			value: id,
			description,
		}));
	});
}

/** For the nodes' `methods`. */
export const loadOptions = {
	getAggregations,
	getFields,
	getFileFields,
	getFilterFields,
	getLinkFields,
	getLinkedFields,
	getOperators,
	getSavedViews,
	getSortFields,
	getSummaryFields,
};
