/**
 * Parameters that attachment operations share.
 */
import { TABLE_DEPENDENCIES, loadOptionsFrom, recordId } from '../../descriptions/locators';
import { tableParameters } from '../../descriptions/common';
import type { Parameter } from '../../execution/operation';

export const recordParameters = [...tableParameters, recordId];

export const fileField: Parameter<'fileField'> = {
	displayName: 'File Field Name or ID',
	name: 'fileField',
	type: 'options',
	typeOptions: loadOptionsFrom('getFileFields', ...TABLE_DEPENDENCIES),
	required: true,
	default: '',
	description:
		'The picture or file field. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
};

export const fileId: Parameter<'fileId'> = {
	displayName: 'File ID',
	name: 'fileId',
	type: 'string',
	default: '',
	placeholder: 'e.g. 9b2f64c0-0f0e-4f6e-8a53-2f1f6b7f6a10',
	description: 'The ID of one file in the field. Leave empty for all files.',
};

export const outputField: Parameter<'outputField'> = {
	displayName: 'Put Output File in Field',
	name: 'outputField',
	type: 'string',
	required: true,
	default: 'data',
	description:
		'The name of the output field for the file. More files get the same name with _1, _2 and so on, skipping names that the item already has.',
};
