import { countRecords } from '../../api/aggregates';
import { filterParameters, readFilter } from '../../parameters/filter';
import { linkedTo, linkedToOf } from '../../parameters/linkedRecords';
import { itemOperation } from '../../parameters/operation';
import { requestSettings } from '../../parameters/requests';
import { tableOf, tableParameters } from '../../parameters/table';

export const count = itemOperation({
	value: 'count',
	name: 'Count',
	action: 'Count records',
	description: 'Count the records of a table that match a filter',
	fields: [...tableParameters, ...filterParameters],
	options: [linkedTo, ...requestSettings],
	concurrency: 4,
	execute: async (run, index) => ({
		count: await countRecords(
			run.client,
			tableOf(run, index),
			await readFilter(run, index),
			await linkedToOf(run, index),
		),
	}),
});
