import type { IDataObject } from 'n8n-workflow';

import { AGGREGATIONS, summarizeRecords, type Aggregation } from '../../api/aggregates';
import { list } from '../../parameterKinds/kinds';
import { filterParameters, readFilter } from '../../parameters/select/filter';
import { namesAt } from '../../parameters/select/fieldNames';
import { itemOperation } from '../../parameters/defineOperation';
import { withQueryHint } from '../../parameters/select/reading';
import { requestSettings } from '../../parameters/requests';
import { fieldPart, tableChoices, tableOf, tableParameters } from '../../parameters/select/table';

const summaryField = fieldPart('getSummaryFields');

const aggregations = tableChoices('aggregations', {
	label: 'Aggregations',
	list: ['getAggregations', '&field'],
	description: 'What to compute. The list depends on the type of the field.',
});

const summaries = list('summaries', {
	label: 'Fields to Summarize',
	add: 'Add Field',
	entry: ['summary', 'Field'],
	required: true,
	description:
		'Numbers have an average, a maximum, a minimum and a sum; dates a maximum and a minimum',
	parts: [summaryField, aggregations],
});

const isAggregation = (value: unknown): value is Aggregation =>
	(AGGREGATIONS as readonly unknown[]).includes(value);

/** @throws {InputError} if there is no entry, or an entry lacks a field or an aggregation */
function aggregationsByField(
	entries: ReturnType<typeof summaries.of>,
): Record<string, Aggregation[]> {
	const wrong = (message: string) =>
		summaries.error(message, 'Choose a field and at least one aggregation.');
	if (entries.length === 0) throw wrong('No field to summarize is chosen');
	const result = new Map<string, Aggregation[]>();
	for (const entry of entries) {
		const field = summaryField.in(entry, summaries);
		if (field === '') throw wrong('A field to summarize has no name');
		const chosen = aggregations.in(entry, summaries);
		if (chosen.length === 0) throw wrong(`No aggregation is chosen for '${field}'`);
		if (!chosen.every(isAggregation)) {
			throw wrong(`'${field}' allows only ${AGGREGATIONS.join(', ')}`);
		}
		result.set(field, [...new Set([...(result.get(field) ?? []), ...chosen])]);
	}
	return Object.fromEntries(result);
}

export const summarize = itemOperation({
	value: 'summarize',
	name: 'Summarize',
	action: 'Summarize records',
	description:
		'Read the sum, average, minimum or maximum of fields over the records that match a filter',
	fields: [...tableParameters, summaries, ...filterParameters],
	options: requestSettings,
	concurrency: 4,
	execute: async (run, index) => {
		const wanted = aggregationsByField(summaries.of(run, index));
		const filter = await readFilter(run, index, [], namesAt(summaries, Object.keys(wanted)));
		const { count, fields } = await withQueryHint(
			{ filter },
			async () => await summarizeRecords(tableOf(run, index), filter, wanted),
		);
		return { json: { count, fields: fields as IDataObject } };
	},
});
