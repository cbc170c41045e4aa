import { readTables } from '../../api/tables';
import { applicationLocator } from '../../descriptions/locators';
import { tableOutput } from './output';
import { itemOperation } from '../../descriptions/operation';

export const getMany = itemOperation({
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
});
