import type { IDataObject } from 'n8n-workflow';

import { readRecords } from '../../api/records';
import { InputError } from '../../transport/errors';
import { parameterText } from '../../execution/locator';
import { TABLE_DEPENDENCIES, loadOptionsFrom } from '../../descriptions/locators';
import { fieldsToLoad, savedView } from '../../descriptions/readOptions';
import type { Parameter } from '../../execution/operation';
import type { RunContext } from '../../execution/run';
import { filterParameters } from '../../descriptions/filter';
import { linkedRecords, linkedTo } from '../../descriptions/linkOptions';
import {
	inclusionsOf,
	linkedRecordsReader,
	linkedToOf,
	noticeOmissions,
} from '../../execution/linkInput';
import { filterOf } from '../../execution/filterInput';
import { outputOf, simple } from '../../execution/recordOutput';
import { callSettings, tableParameters } from '../../descriptions/common';
import { itemOperation } from '../../descriptions/operation';

const sort: Parameter<'sort'> = {
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

const offset: Parameter<'offset'> = {
	displayName: 'Offset',
	name: 'offset',
	type: 'number',
	typeOptions: { minValue: 0, numberPrecision: 0 },
	default: 0,
	description:
		'How many records to skip before the first one that is returned, to read a table in portions',
};

/** An expression in it that returned nothing is no 0: a loop would read its first portion for ever. */
function offsetOf(run: RunContext<'options.offset'>, index: number): number {
	const value = run.parameter('options.offset', index);
	if (value === undefined && !run.isExpression('options.offset')) return 0;
	return Math.floor(run.numberWithin(value, 'Offset', { min: 0, max: Number.MAX_SAFE_INTEGER }));
}

/** @throws {InputError} where a field to sort by is no name */
function sortText(entries: unknown): string {
	return (Array.isArray(entries) ? entries : [])
		.map(({ field: name, direction = 'asc' }: Record<string, unknown>) => {
			const field = parameterText(name, 'sort', 'Sort');
			if (field === '') throw new InputError("A field under 'Sort' has no name", { field: 'Sort' });
			if (/[(),]/.test(field)) {
				throw new InputError(`No field is called '${field}'; nothing was sent`, { field: 'Sort' });
			}
			if (direction === 'asc') return field;
			if (direction === 'desc') return `${field}(desc)`;
			throw new InputError(`The direction to sort '${field}' is neither 'asc' nor 'desc'`, {
				field: 'Sort',
			});
		})
		.join(',');
}

export const getMany = itemOperation({
	value: 'getAll',
	name: 'Get Many',
	action: 'Get many records',
	description: 'Retrieve a list of records from a table, filtered and sorted',
	fields: [
		...tableParameters,
		...filterParameters,
		sort,
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
		simple,
	],
	options: [fieldsToLoad, linkedRecords, linkedTo, offset, savedView, ...callSettings],
	execute: async (run, index) => {
		const limit = run.flag('returnAll', 'Return All', index)
			? Infinity
			: Math.floor(run.numberWithin(run.parameter('limit', index), 'Limit', { min: 1 }));
		const reading = {
			filter: filterOf(run.readerOf(index)),
			fields: run.names('options.fieldsToLoad', 'Output Field Names or IDs', index),
			savedView: run.narrowingText('options.savedView', 'Saved View Name or ID', index),
			sort: sortText(run.parameter('sort.by', index)),
			linkedTo: await linkedToOf(run, index),
		};
		const inclusions = await inclusionsOf(run, index);
		const linked = linkedRecordsReader(run);
		const notes = { hasShifted: false };
		const records: IDataObject[] = [];
		const at = run.table(index);
		const toOutput = outputOf(run, index);
		const pages = readRecords(run.client, at, reading, limit, notes, offsetOf(run, index));
		for await (const page of pages) {
			const whole = inclusions.length > 0 ? await linked.include(page, inclusions) : page;
			for (const record of whole) records.push(toOutput(record));
		}
		noticeOmissions(run, linked);
		if (notes.hasShifted) {
			run.context.addExecutionHints({
				message: `The table changed while it was read. All ${records.length} records are in the output once, but one that moved in the sort order meanwhile may be missing.`,
				type: 'warning',
				location: 'outputPane',
			});
		}
		return records;
	},
});
