import type { IDataObject } from 'n8n-workflow';

import { InputError } from '../../transport/errors';
import { AGGREGATIONS, summarizeRecords, type Aggregation } from '../../api/aggregates';
import { TABLE_DEPENDENCIES, loadOptionsFrom } from '../../descriptions/locators';
import { parameterText } from '../../execution/locator';
import type { Parameter } from '../../execution/operation';
import { filterParameters } from '../../descriptions/filter';
import { readFilter } from '../../execution/filterInput';
import { requestSettings, simple, tableParameters } from '../../descriptions/common';
import { prefixedName } from '../../execution/recordOutput';
import { itemOperation } from '../../descriptions/operation';

const summaries: Parameter<'summaries'> = {
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

const isAggregation = (value: unknown): value is Aggregation =>
	(AGGREGATIONS as readonly unknown[]).includes(value);

/** @throws {InputError} where there is no entry, or one that names no field or nothing to compute */
function aggregationsByField(entries: unknown): Record<string, Aggregation[]> {
	const wrong = (message: string) =>
		new InputError(message, {
			field: 'Fields to Summarize',
			hint: 'Choose a field and at least one aggregation.',
		});
	if (!Array.isArray(entries) || entries.length === 0)
		throw wrong('No field to summarize is chosen');
	const result = new Map<string, Aggregation[]>();
	for (const { field: name, aggregations } of entries as Array<Record<string, unknown>>) {
		const field = parameterText(name, 'summaries', 'Fields to Summarize');
		if (field === '') throw wrong('A field to summarize has no name');
		const list: unknown[] =
			typeof aggregations === 'string'
				? aggregations.split(',').map((entry) => entry.trim())
				: Array.isArray(aggregations)
					? aggregations
					: [];
		if (list.length === 0) throw wrong(`Nothing is chosen to compute of '${field}'`);
		if (!list.every(isAggregation)) {
			throw wrong(`Of '${field}' only ${AGGREGATIONS.join(', ')} can be computed`);
		}
		result.set(field, [...new Set([...(result.get(field) ?? []), ...list])]);
	}
	return Object.fromEntries(result);
}

/** A field that is called like the count is `field_count`, as such fields of records are. */
const withPrefixes = (fields: IDataObject): IDataObject =>
	Object.fromEntries(
		Object.entries(fields).map(([name, value]) => [
			/^(?:field_)*count$/.test(name) ? `field_${name}` : prefixedName(name),
			value,
		]),
	);

export const summarize = itemOperation({
	value: 'summarize',
	name: 'Summarize',
	action: 'Summarize records',
	description:
		'Compute the sum, average, minimum or maximum of fields over the records that match a filter',
	fields: [...tableParameters, summaries, ...filterParameters, simple],
	options: [...requestSettings],
	concurrency: 4,
	execute: async (run, index) => {
		const wanted = aggregationsByField(run.parameter('summaries.summary', index));
		const at = run.table(index);
		const filter = await readFilter(run, index);
		const { count, fields } = await summarizeRecords(run.client, at, filter, wanted);
		if (!run.flag('simple', 'Simplify', index)) return { count, fields: fields as IDataObject };
		return { count, ...withPrefixes(fields as IDataObject) };
	},
});
