import { countRecords } from '../../api/aggregates';
import { filterParameters, readFilter } from '../../parameters/select/filter';
import { itemOperation } from '../../parameters/defineOperation';
import { withQueryHint } from '../../parameters/select/reading';
import { requestSettings } from '../../parameters/requests';
import { tableOf, tableParameters } from '../../parameters/select/table';

export const count = itemOperation({
	value: 'count',
	name: 'Count',
	action: 'Count records',
	description: 'Read how many records of a table match a filter',
	fields: [...tableParameters, ...filterParameters],
	options: requestSettings,
	concurrency: 4,
	execute: async (run, index) => {
		const filter = await readFilter(run, index);
		const send = async () => await countRecords(tableOf(run, index), filter);
		return { json: { count: await withQueryHint({ filter }, send) } };
	},
});
