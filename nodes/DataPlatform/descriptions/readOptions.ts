/**
 * Options of whatever reads many records.
 */

import { TABLE_DEPENDENCIES, loadOptionsFrom } from './locators';
import type { Parameter } from '../execution/operation';

export const fieldsToLoad: Parameter<'fieldsToLoad'> = {
	displayName: 'Output Field Names or IDs',
	name: 'fieldsToLoad',
	type: 'multiOptions',
	typeOptions: loadOptionsFrom('getFields', ...TABLE_DEPENDENCIES),
	default: [],
	description:
		'The fields to return, all if none is chosen. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
};

export const savedView: Parameter<'savedView'> = {
	displayName: 'Saved View Name or ID',
	name: 'savedView',
	type: 'options',
	typeOptions: loadOptionsFrom('getSavedViews', ...TABLE_DEPENDENCIES),
	default: '',
	description:
		'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
};
