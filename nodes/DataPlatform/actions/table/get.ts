import { itemOperation } from '../../parameters/defineOperation';
import { tableOf, tableParameters } from '../../parameters/select/table';
import { tableOutput } from './output';

export const get = itemOperation({
	concurrency: 4,
	value: 'get',
	name: 'Get',
	action: 'Get table',
	description:
		'Retrieve one table with its fields, their types, limits, choices and links, and its saved views',
	fields: tableParameters,
	execute: async (run, index) => ({
		json: tableOutput(await tableOf(run, index).definition()),
	}),
});
