import { readTables } from '../../api/tables';
import { applicationLocator } from '../../descriptions/locators';
import type { ItemOperation } from '../../execution/operation';
import { tableOutput } from './output';

export const getMany: ItemOperation = {
	kind: 'item',
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many tables',
	description: 'Retrieve a list of the tables of an application, with their fields',
	fields: [
		{
			...applicationLocator,
			required: true,
			description: 'The application whose tables to list',
		},
	],
	execute: async (run, index) => {
		const application = run.text('application', 'Application', index);
		return (await readTables(run.client, application)).map(tableOutput);
	},
};
