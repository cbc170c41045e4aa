/**
 * How the values of link fields are given; `execution/linkInput` reads it.
 */
import { TABLE_DEPENDENCIES, loadOptionsFrom } from './locators';
import { ALL_LINK_FIELDS } from '../execution/linkInput';
import type { Parameter } from '../execution/operation';

export const linkValues: Parameter<'linkValues'> = {
	displayName: 'Link Values',
	name: 'linkValues',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Link Field',
	default: {},
	description:
		'What the values of link fields are: record IDs unless you say here that they are names or keys of the linked records',
	options: [
		{
			displayName: 'Link Field',
			name: 'link',
			values: [
				{
					displayName: 'Field Name or ID',
					name: 'field',
					type: 'options',
					typeOptions: loadOptionsFrom('getLinkFields', ...TABLE_DEPENDENCIES),
					default: ALL_LINK_FIELDS,
					description:
						'The link field. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
				},
				{
					displayName: 'Link Values Are',
					name: 'valuesAre',
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
					displayOptions: { show: { valuesAre: ['field'] } },
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
					displayOptions: { hide: { valuesAre: ['recordIds'] } },
					description: 'What to do if no linked record has the value',
				},
			],
		},
	],
};
