/**
 * The options about links: how their values are given, whose linked records are read, and what is read
 * of linked records. `execution/linkInput` reads them.
 */
import { TABLE_DEPENDENCIES, loadOptionsFrom } from './locators';
import { ALL_LINK_FIELDS, MAX_LINKED_RECORDS } from '../execution/linkInput';
import type { Parameter } from '../execution/operation';

/** One of the table's link fields, or all of them. */
const linkField: Parameter<'field'> = {
	displayName: 'Field Name or ID',
	name: 'field',
	type: 'options',
	typeOptions: loadOptionsFrom('getLinkFields', ...TABLE_DEPENDENCIES),
	default: ALL_LINK_FIELDS,
	description:
		'The link field. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
};

export const linkValues: Parameter<'linkValues'> = {
	displayName: 'Link Values',
	name: 'linkValues',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Link Field',
	default: {},
	description:
		'By default, the values of link fields are record IDs. Add a field if its values are names or keys of the linked records.',
	options: [
		{
			displayName: 'Link Field',
			name: 'link',
			values: [
				linkField,
				{
					displayName: 'Link Values Are',
					name: 'valueType',
					type: 'options',
					options: [
						{
							name: 'Import Key of the Linked Table',
							value: 'importKey',
							description: "Values of the linked table's import key field",
						},
						{
							name: 'Other Field of the Linked Table',
							value: 'field',
							description: 'Values of a field that you choose; they must be unique',
						},
						{ name: 'Record IDs', value: 'recordIds', description: 'IDs of the linked records' },
					],
					default: 'importKey',
					description: 'What the items hold in the link field',
				},
				{
					displayName: 'Linked Field Name or ID',
					name: 'linkedField',
					type: 'options',
					typeOptions: loadOptionsFrom('getLinkedFields', ...TABLE_DEPENDENCIES, '&field'),
					default: '',
					displayOptions: { show: { valueType: ['field'] } },
					description:
						'The field of the linked table. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
				},
				{
					displayName: 'If Not Found',
					name: 'ifNotFound',
					type: 'options',
					options: [
						{
							name: 'Create the Linked Record',
							value: 'create',
							description: 'Create it with its import key, many in one request',
						},
						{
							name: 'Leave the Link Empty',
							value: 'leaveEmpty',
							description: 'Treat the value as empty, as the option Empty Values says',
						},
						{
							name: 'Treat as an Error',
							value: 'error',
							description: 'Do not write the item and name the value',
						},
					],
					default: 'error',
					displayOptions: { hide: { valueType: ['recordIds'] } },
					description: 'What to do if no linked record has the value',
				},
			],
		},
	],
};

export const linkedTo: Parameter<'linkedTo'> = {
	displayName: 'Linked To',
	name: 'linkedTo',
	type: 'fixedCollection',
	placeholder: 'Add Record',
	default: {},
	description: 'Only include the records that one record of another table links to',
	options: [
		{
			displayName: 'Record',
			name: 'record',
			values: [
				{
					displayName: 'Link Field Name or ID',
					name: 'linkField',
					type: 'options',
					typeOptions: loadOptionsFrom('getIncomingLinks', ...TABLE_DEPENDENCIES),
					default: '',
					description:
						'The link field of that table, such as deals.people. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
				},
				{
					displayName: 'Record ID',
					name: 'recordId',
					type: 'string',
					default: '',
					placeholder: 'e.g. 5f0c9f0e-3b1a-4f43-9a51-0a9c1df7a1b2',
					description: 'The ID of the record that has the link',
				},
			],
		},
	],
};

export const linkedRecords: Parameter<'linkedRecords'> = {
	displayName: 'Include Linked Records',
	name: 'linkedRecords',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Link Field',
	default: {},
	description:
		'Return linked records in place of links. A link to several records takes a request for each record that has it.',
	options: [
		{
			displayName: 'Link Field',
			name: 'link',
			values: [
				linkField,
				{
					displayName: 'Include',
					name: 'include',
					type: 'options',
					options: [
						{ name: 'Fields', value: 'fields', description: 'IDs and fields that you choose' },
						{ name: 'Record IDs', value: 'recordIds', description: 'Only the IDs' },
					],
					default: 'recordIds',
					description: 'What to return of each linked record',
				},
				{
					displayName: 'Linked Field Names or IDs',
					name: 'linkedFields',
					type: 'multiOptions',
					typeOptions: loadOptionsFrom('getLinkedDataFields', ...TABLE_DEPENDENCIES, '&field'),
					default: [],
					displayOptions: { show: { include: ['fields'] } },
					description:
						'The fields of the linked table. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
				},
				{
					displayName: 'Limit',
					name: 'limit',
					type: 'number',
					typeOptions: { minValue: 1, maxValue: MAX_LINKED_RECORDS },
					default: 50,
					description: 'Max number of results to return',
				},
			],
		},
	],
};
