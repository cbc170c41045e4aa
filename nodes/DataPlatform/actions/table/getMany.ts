import { readTables } from '../../api/structure';
import { itemOperation } from '../../parameters/defineOperation';
import { application } from '../../parameters/select/table';
import { tableOutput } from './get';

const chosen = application.with({
	required: true,
	description: 'The application whose tables to list',
});

export const getMany = itemOperation({
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many tables',
	description: 'Retrieve a list of the tables of an application, with their fields',
	fields: [chosen],
	execute: async (run, index) => {
		const tables = await readTables(run.client, chosen.of(run, index));
		return tables.map((table) => ({ json: tableOutput(table) }));
	},
});
