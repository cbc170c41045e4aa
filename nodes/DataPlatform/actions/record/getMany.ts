import type { IDataObject } from 'n8n-workflow';

import { readRecords } from '../../api/records';
import { fieldsToLoad, savedView, sort } from '../../descriptions/readOptions';
import type { Parameter } from '../../execution/operation';
import { requireNumber, type RunContext } from '../../execution/run';
import { filterParameters } from '../../descriptions/filter';
import { linkedRecords, linkedTo } from '../../descriptions/linkOptions';
import { inclusionsOf, linkedRecordsReader, noticeOmissions } from '../../execution/linkInput';
import { noticeShift, recordQueryOf } from '../../execution/recordQuery';
import { MAX_AGENT_RECORDS, outputOf } from '../../execution/recordOutput';
import { requestSettings, simple, tableParameters } from '../../descriptions/common';
import { itemOperation } from '../../descriptions/operation';

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
	return requireNumber(value, 'Offset', { min: 0, max: Number.MAX_SAFE_INTEGER, isWhole: true });
}

const MORE_RECORDS = `Only the first ${MAX_AGENT_RECORDS} records are listed, and there are more: use a filter.`;

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
	options: [fieldsToLoad, linkedRecords, linkedTo, offset, savedView, ...requestSettings],
	execute: async (run, index) => {
		const all = run.isTool ? MAX_AGENT_RECORDS + 1 : Infinity;
		const limit = run.flag('returnAll', 'Return All', index)
			? all
			: requireNumber(run.parameter('limit', index), 'Limit', { min: 1, isWhole: true });
		const reading = await recordQueryOf(run, index);
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
		if (notes.hasShifted) noticeShift(run, records.length);
		if (limit !== all || records.length < all) return records;
		return [...records.slice(0, MAX_AGENT_RECORDS), { notice: MORE_RECORDS }];
	},
});
