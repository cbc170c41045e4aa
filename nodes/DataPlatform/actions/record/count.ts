import { countRecords } from '../../api/aggregates';
import type { ItemOperation } from '../../execution/operation';
import { filterOf, filterParameters } from '../../descriptions/filter';
import { callSettings, options, tableParameters } from '../../descriptions/common';

export const count: ItemOperation = {
	kind: 'item',
	value: 'count',
	name: 'Count',
	action: 'Count records',
	description: 'Count the records of a table that match a filter',
	fields: [...tableParameters, ...filterParameters, options(...callSettings)],
	parallel: 4,
	execute: async (run, index) => ({
		count: await countRecords(run.connection, run.table(index), filterOf(run.readerOf(index))),
	}),
};
