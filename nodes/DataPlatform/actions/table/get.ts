import type { ItemOperation } from '../../execution/operation';
import { tableParameters } from '../../descriptions/common';
import { tableOutput } from './output';

export const get: ItemOperation = {
	kind: 'item',
	value: 'get',
	name: 'Get',
	action: 'Get table',
	description: 'Retrieve one table with its fields, their types and choices, and its saved views',
	fields: tableParameters,
	execute: async (run, index) => tableOutput(await run.definition(run.table(index))),
};
