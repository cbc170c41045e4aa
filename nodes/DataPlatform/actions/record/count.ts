import { countLinked, countRecords } from '../../api/aggregates';
import { filterParameters } from '../../descriptions/filter';
import { linkedTo } from '../../descriptions/linkOptions';
import { linkedToOf } from '../../execution/linkInput';
import { readFilter } from '../../execution/filterInput';
import { requestSettings, tableParameters } from '../../descriptions/common';
import { itemOperation } from '../../descriptions/operation';

export const count = itemOperation({
	value: 'count',
	name: 'Count',
	action: 'Count records',
	description: 'Count the records of a table that match a filter',
	fields: [...tableParameters, ...filterParameters],
	options: [linkedTo, ...requestSettings],
	concurrency: 4,
	execute: async (run, index) => {
		const at = run.table(index);
		const filter = await readFilter(run, index);
		const link = await linkedToOf(run, index);
		const count = link
			? await countLinked(run.client, at, link, filter)
			: await countRecords(run.client, at, filter);
		return { count };
	},
});
