/**
 * The options of parameters: fields, operators, aggregations and saved views of a table.
 */
import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import type { Aggregation } from '../api/aggregates';
import type { FieldDefinition, TableDefinition } from '../api/types';
import { holdsData, isWritable, fieldType } from '../fields';
import { canBeKey } from '../fields/values';
import type { FieldType } from '../fields/fieldType';
import { files } from '../fields/types/files';
import { readApplications, readTables } from '../api/structure';
import { CHOICE_OPERATORS, EXACTLY } from '../parameters/select/filter';
import { ALL_LINK_FIELDS, isLink, linkedTable } from '../parameters/write/writingLinks';
import { editorList, type Editor } from './editorContext';

const option = ({ name, header, type }: FieldDefinition): INodePropertyOptions => ({
	name: header,
	value: name,
	description: `${name} (${type})`,
});

/** An entry that says why a list is empty. Choosing it leaves the parameter empty. */
const CHOOSE_TABLE: INodePropertyOptions[] = [{ name: 'Choose a Table First', value: '' }];

type Options = INodePropertyOptions[];
type List = (this: ILoadOptionsFunctions) => Promise<Options>;

/** A list that depends on the chosen table. */
const tableList = (
	list: (table: TableDefinition, editor: Editor) => Options | Promise<Options>,
): List =>
	editorList(async (editor) => {
		const table = await editor.table();
		if (!table) return CHOOSE_TABLE;
		return await list(table, editor);
	});

/**
 * A list to choose one entry from. The editor marks an empty value in red unless the list has an
 * entry for it.
 *
 * @param empty the text of the entry for the empty value
 */
const withEmpty = (list: List, empty = 'Choose a Field'): List =>
	async function load() {
		const entries = await list.call(this);
		if (entries.some(({ value }) => value === '')) return entries;
		return [{ name: empty, value: '' }, ...entries];
	};

/** The fields of the chosen table that the list offers. */
const fieldList = (isOffered: (field: FieldDefinition) => boolean): List =>
	tableList(({ fields }) => fields.filter(isOffered).map(option));

/**
 * Fields of the tables that the link field in the same entry points to, or those of all link
 * fields.
 */
const linkedFieldList = (isOffered: (field: FieldDefinition) => boolean): List =>
	tableList(async (chosen, editor) => {
		const name = editor.fieldBeside;
		const links = chosen.fields
			.filter(isLink)
			.filter((field) => name === ALL_LINK_FIELDS || field.name === name);
		const toEachTable = new Map(links.map((field) => [field.metadata.linkTableId, field])).values();
		const targets = await Promise.all(
			[...toEachTable].map(async (field) => await linkedTable(editor.handle, field)),
		);
		const fields = targets.flatMap(({ table }) => table.fields);
		const offered = fields.filter((field) => holdsData(field) && isOffered(field));
		return [...new Map(offered.map((field) => [field.name, option(field)])).values()];
	});

/** A list that depends on the field in the same entry; undefined if that is not known. */
const besideList = (list: (field: FieldDefinition | undefined) => Options): List =>
	editorList(async (editor) => {
		const table = await editor.table();
		return list(table?.fields.find(({ name }) => name === editor.fieldBeside));
	});

/** The fields of linked records that a filter can use, written as link.field. */
const linkedOptions = ({ name, header, metadata }: FieldDefinition): Options =>
	(metadata.filterableFields ?? []).map((field) => ({
		name: `${header}: ${field}`,
		value: `${name}.${field}`,
		description: `${name}.${field} (of the linked record)`,
	}));

/** The link fields, in any table of the application, that point to the chosen table. */
const incomingLinks = tableList(async (chosen, { application, client }) => {
	const all = async () => (await readApplications(client)).map(({ id }) => id);
	const names = application === undefined ? await all() : [application];
	const lists = await Promise.all(names.map(async (name) => await readTables(client, name)));
	return lists.flat().flatMap(({ header, internalName, fields }) =>
		fields
			.filter(
				(field) => isLink(field) && [undefined, chosen.id].includes(field.metadata.linkTableId),
			)
			.map((field) => ({
				name: `${header}: ${field.header}`,
				value: `${internalName}.${field.name}`,
				description: `${internalName}.${field.name}`,
			})),
	);
});

const choices = <Value extends string>(names: Record<Value, string>) =>
	Object.entries<string>(names).map(([value, name]) => ({ name, value: value as Value }));

const EQUAL = choices({ eq: 'Equal', neq: 'Not Equal' });
const LISTED = choices({ in: 'One Of', notin: 'Not One Of' });
const PRESENCE = choices({ empty: 'Is Empty', notempty: 'Is Not Empty' });
const ORDER = choices({
	gt: 'Greater Than',
	gte: 'Greater Than or Equal',
	lt: 'Less Than',
	lte: 'Less Than or Equal',
});
const CONTAINS = choices({ contains: 'Contains', notcontains: 'Not Contains' });
const TEXT = [...CONTAINS, ...choices({ startswith: 'Starts With', endswith: 'Ends With' })];
const USER = choices({ currentuser: 'Is Current User' });
const DUPLICITY = choices({ duplicity: 'Has Duplicates' });
const RARE = [...choices({ [EXACTLY]: 'Equal (Case-Sensitive)' }), ...DUPLICITY];

/** Operators that take their values from a list. */
const CHOICE = choices<keyof typeof CHOICE_OPERATORS>({
	is: 'Is (From List)',
	isNot: 'Is Not (From List)',
	isOneOf: 'Is One Of (From List)',
	isNoneOf: 'Is None Of (From List)',
});
const ONE_CHOICE = CHOICE.slice(0, 2);

/** The operators for each kind of comparison, the most common ones first. */
const OPERATOR_LISTS: Record<FieldType['comparison'], Options> = {
	any: [...EQUAL, ...TEXT, ...ORDER, ...LISTED, ...PRESENCE, ...USER, ...RARE],
	boolean: [...ONE_CHOICE, ...EQUAL, ...PRESENCE],
	choice: [...CHOICE, ...EQUAL, ...CONTAINS, ...LISTED, ...PRESENCE],
	order: [
		...EQUAL,
		...ORDER,
		...LISTED,
		...PRESENCE,
		...choices({ [EXACTLY]: 'Equal (Exactly)' }),
		...DUPLICITY,
	],
	presence: PRESENCE,
	text: [...EQUAL, ...TEXT, ...LISTED, ...PRESENCE, ...RARE],
};

const AGGREGATE = choices<Aggregation>({
	avg: 'Average',
	max: 'Maximum',
	min: 'Minimum',
	sum: 'Sum',
});

/** What a record has besides its fields. */
const SYSTEM_FIELDS: Options = [
	{ name: 'Created', value: 'created', description: 'When the record was created' },
	{ name: 'ID', value: 'id', description: "The record's ID" },
	{ name: 'Modified', value: 'modified', description: 'When the record was changed last' },
];

/** The possible values of a dropdown or a checkbox. */
const getChoices = besideList((field) =>
	((field && fieldType(field).editor.choices?.(field)) ?? []).map(({ name, value }) => {
		return { name, value: String(value) };
	}),
);

const getMatchFields = fieldList((field) => isWritable(field) && canBeKey(field));

const getFields = fieldList(holdsData);

/** The nodes' `methods`. */
export const loadOptions = {
	getAggregations: besideList((field) =>
		AGGREGATE.filter(({ value }) => !field || fieldType(field).aggregations.includes(value)),
	),
	getChoice: withEmpty(getChoices, 'Choose a Value'),
	getChoices,
	getField: withEmpty(getFields),
	getFields,
	getFileField: withEmpty(fieldList((field) => fieldType(field) === files)),
	getFilterFields: withEmpty(
		tableList(({ fields }) => [
			...fields.filter(holdsData).flatMap((field) => [option(field), ...linkedOptions(field)]),
			...SYSTEM_FIELDS,
		]),
	),
	getImportKeyFields: withEmpty(getMatchFields),
	getIncomingLinks: withEmpty(incomingLinks, 'Choose a Link Field'),
	getLinkFields: tableList(({ fields }) => {
		const links = fields.filter(isLink).map(option);
		if (links.length > 0) links.unshift({ name: 'All Link Fields', value: ALL_LINK_FIELDS });
		return links;
	}),
	getLinkedDataFields: linkedFieldList(() => true),
	/** The fields by which linked records can be found. */
	getLinkedFields: withEmpty(linkedFieldList(canBeKey)),
	getMatchFields,
	getOperators: besideList((field) => OPERATOR_LISTS[field ? fieldType(field).comparison : 'any']),
	getSavedViews: withEmpty(
		tableList(({ savedViews }) =>
			savedViews.map(({ id, name, description }) => ({ name, value: id, description })),
		),
		'None',
	),
	getSortFields: withEmpty(
		tableList(({ fields }) => [...SYSTEM_FIELDS, ...fields.filter(holdsData).map(option)]),
	),
	getSummaryFields: withEmpty(fieldList((field) => fieldType(field).aggregations.length > 0)),
	getWritableFields: withEmpty(fieldList(isWritable)),
};
