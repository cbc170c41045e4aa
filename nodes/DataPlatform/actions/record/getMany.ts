import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { readRecords } from '../../api/records';
import { TABLE_DEPENDENCIES, loadOptionsFrom } from '../../descriptions/locators';
import { fieldsToLoad, savedView } from '../../descriptions/readOptions';
import type { ItemOperation } from '../../execution/operation';
import { filterParameters } from '../../descriptions/filter';
import { filterOf } from '../../execution/filterInput';
import { outputOf, simple } from '../../execution/recordOutput';
import { callSettings, options, tableParameters } from '../../descriptions/common';

const sort: INodeProperties = {
	displayName: 'Sort',
	name: 'sort',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add Field to Sort By',
	default: {},
	options: [
		{
			displayName: 'Field',
			name: 'by',
			values: [
				{
					displayName: 'Field Name or ID',
					name: 'field',
					type: 'options',
					typeOptions: loadOptionsFrom('getSortFields', ...TABLE_DEPENDENCIES),
					default: '',
					description:
						'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
				},
				{
					displayName: 'Direction',
					name: 'direction',
					type: 'options',
					options: [
						{ name: 'Ascending', value: 'asc' },
						{ name: 'Descending', value: 'desc' },
					],
					default: 'asc',
				},
			],
		},
	],
};

interface SortEntry {
	field: string;
	direction?: 'asc' | 'desc';
}

const sortText = (entries: SortEntry[]) =>
	entries
		.filter(({ field }) => field !== '')
		.map(({ field, direction }) => (direction === 'desc' ? `${field}(desc)` : field))
		.join(',');

export const getMany: ItemOperation = {
	kind: 'item',
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many records',
	description: 'Retrieve a list of records from a table, filtered and sorted',
	fields: [
		...tableParameters,
		{
			displayName: 'Return All',
			name: 'returnAll',
			type: 'boolean',
			default: false,
			description: 'Whether to return all results or only up to a given limit',
		},
		{
			displayName: 'Limit',
			name: 'limit',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 50,
			displayOptions: { show: { returnAll: [false] } },
			description: 'Max number of results to return',
		},
		...filterParameters,
		simple,
		options(fieldsToLoad, savedView, sort, ...callSettings),
	],
	execute: async (run, index) => {
		const limit = run.parameter('returnAll', index)
			? Infinity
			: run.numberWithin(run.parameter('limit', index), 'Limit', { min: 1 });
		const reading = {
			filter: filterOf(run.readerOf(index)),
			fields: run.option<string[]>('options.fieldsToLoad', index, []),
			savedView: run.option('options.savedView', index, ''),
			sort: sortText(run.option<SortEntry[]>('options.sort.by', index, [])),
		};
		const notes = { hasShifted: false };
		const records: IDataObject[] = [];
		const at = run.table(index);
		const toOutput = outputOf(run, index);
		for await (const page of readRecords(run.client, at, reading, limit, notes)) {
			for (const record of page) records.push(toOutput(record));
		}
		if (notes.hasShifted) {
			run.context.addExecutionHints({
				message: `The table changed while it was read. All ${records.length} records are in the output once, but one that moved in the sort order meanwhile may be missing.`,
				type: 'warning',
				location: 'outputPane',
			});
		}
		return records;
	},
};
