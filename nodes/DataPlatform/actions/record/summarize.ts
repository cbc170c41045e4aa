import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { InputError } from '../../transport/errors';
import { summarizeRecords, type Aggregation } from '../../api/aggregates';
import { TABLE_DEPENDENCIES, loadOptionsFrom } from '../../descriptions/locators';
import type { ItemOperation } from '../../execution/operation';
import { filterParameters } from '../../descriptions/filter';
import { filterOf } from '../../execution/filterInput';
import { callSettings, options, tableParameters } from '../../descriptions/common';

const summaries: INodeProperties = {
	displayName: 'Fields to Summarize',
	name: 'summaries',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Field',
	required: true,
	default: {},
	description:
		'Numbers have an average, a maximum, a minimum and a sum; dates a maximum and a minimum',
	options: [
		{
			displayName: 'Field',
			name: 'summary',
			values: [
				{
					displayName: 'Field Name or ID',
					name: 'field',
					type: 'options',
					typeOptions: loadOptionsFrom('getSummaryFields', ...TABLE_DEPENDENCIES),
					default: '',
					description:
						'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
				},
				{
					displayName: 'Aggregations',
					name: 'aggregations',
					type: 'multiOptions',
					typeOptions: loadOptionsFrom('getAggregations', ...TABLE_DEPENDENCIES, '&field'),
					default: [],
					description: 'What to compute; the list fits the type of the field',
				},
			],
		},
	],
};

interface Entry {
	field: string;
	aggregations: Aggregation[];
}

/** @throws {InputError} where an entry names no field or nothing to compute */
function asked(entries: Entry[]): Record<string, Aggregation[]> {
	for (const { field, aggregations } of entries) {
		if (field && aggregations.length > 0) continue;
		throw new InputError(
			field ? `Nothing is chosen to compute of '${field}'` : 'A field to summarize has no name',
			{ field: 'Fields to Summarize', hint: 'Choose a field and at least one aggregation.' },
		);
	}
	return Object.fromEntries(entries.map(({ field, aggregations }) => [field, aggregations]));
}

export const summarize: ItemOperation = {
	kind: 'item',
	value: 'summarize',
	name: 'Summarize',
	action: 'Summarize records',
	description:
		'Compute the sum, average, minimum or maximum of fields over the records that match a filter',
	fields: [...tableParameters, summaries, ...filterParameters, options(...callSettings)],
	concurrency: 4,
	execute: async (run, index) => {
		const entries = (run.parameter('summaries.summary', index) ?? []) as Entry[];
		const at = run.table(index);
		const filter = filterOf(run.readerOf(index));
		const { count, fields } = await summarizeRecords(run.client, at, filter, asked(entries));
		return { count, fields: fields as IDataObject };
	},
};
