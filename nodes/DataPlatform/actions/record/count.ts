import { countLinked, countRecords } from '../../api/aggregates';
import { filterParameters, readFilter } from '../../parameters/select/filter';
import { linkedTo, linkedToOf } from '../../parameters/select/readingLinks';
import { itemOperation } from '../../parameters/defineOperation';
import { withQueryHint } from '../../parameters/select/reading';
import { requestSettings } from '../../parameters/requests';
import { tableOf, tableParameters } from '../../parameters/select/table';

export const count = itemOperation({
	value: 'count',
	name: 'Count',
	action: 'Count records',
	description: 'Count the records of a table that match a filter',
	fields: [...tableParameters, ...filterParameters],
	options: [linkedTo, ...requestSettings],
	concurrency: 4,
	execute: async (run, index) => {
		const table = tableOf(run, index);
		const filter = await readFilter(run, index);
		const link = await linkedToOf(run, index);
		const send = async () => {
			if (link) return await countLinked(table, link, filter);
			return await countRecords(table, filter);
		};
		return { count: await withQueryHint({ filter, linkedTo: link }, send) };
	},
});
