/**
 * The parameters that say which application, table and record to work on.
 */
import type { INodePropertyTypeOptions } from 'n8n-workflow';
import type { Parameter } from '../execution/operation';

/**
 * What the editor checks in a pasted address; `execution/locator` takes the name out of it. They
 * look like `…/apps/<application>/tables/<table>/data/<record>`.
 */
const addressWith = (part: string) => ({
	validation: [
		{
			type: 'regex' as const,
			properties: {
				regex: `https?://[^/]+/(?:.*/)?${part}/[^/?#]+.*`,
				errorMessage: `This address has no part /${part}/… in it`,
			},
		},
	],
});

export const applicationLocator: Parameter<'application'> = {
	displayName: 'Application',
	name: 'application',
	type: 'resourceLocator',
	default: { mode: 'list', value: '' },
	description:
		'The application the table belongs to. Leave it empty to address the table directly by its name.',
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			typeOptions: { searchListMethod: 'searchApplications', searchable: true },
		},
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. crm',
			hint: "The application's internal name or ID",
		},
		{
			displayName: 'By URL',
			name: 'url',
			type: 'string',
			placeholder: 'e.g. https://platform.example.com/apps/crm',
			...addressWith('apps'),
		},
	],
};

export const tableLocator: Parameter<'table'> = {
	displayName: 'Table',
	name: 'table',
	type: 'resourceLocator',
	default: { mode: 'list', value: '' },
	required: true,
	description: 'The table to work on',
	typeOptions: { loadOptionsDependsOn: ['application.value'] },
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			typeOptions: { searchListMethod: 'searchTables', searchable: true },
		},
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. contacts',
			hint: "The table's internal name or ID",
		},
		{
			displayName: 'By URL',
			name: 'url',
			type: 'string',
			placeholder: 'e.g. https://platform.example.com/apps/crm/tables/contacts',
			...addressWith('tables'),
		},
	],
};

/** Hides what makes no sense without a table. */
export const UNTIL_TABLE_CHOSEN = { table: [''] };

/** What lists of fields depend on. */
export const TABLE_DEPENDENCIES = ['application.value', 'table.value'];

/** A list that the node loads; `&name` is a parameter beside it in the same collection. */
export const loadOptionsFrom = (
	loadOptionsMethod: string,
	...loadOptionsDependsOn: string[]
): INodePropertyTypeOptions => ({ loadOptionsMethod, loadOptionsDependsOn });

export const recordId: Parameter<'recordId'> = {
	displayName: 'Record',
	name: 'recordId',
	type: 'resourceLocator',
	default: { mode: 'list', value: '' },
	required: true,
	description: 'The record to work on',
	typeOptions: { loadOptionsDependsOn: TABLE_DEPENDENCIES },
	modes: [
		{
			displayName: 'From List',
			name: 'list',
			type: 'list',
			typeOptions: { searchListMethod: 'searchRecords', searchable: true },
		},
		{
			displayName: 'By ID',
			name: 'id',
			type: 'string',
			placeholder: 'e.g. 5f0c9f0e-3b1a-4f43-9a51-0a9c1df7a1b2',
		},
		{
			displayName: 'By URL',
			name: 'url',
			type: 'string',
			placeholder: 'e.g. https://platform.example.com/apps/crm/tables/contacts/data/5f0c9f0e…',
			...addressWith('data'),
		},
	],
};
