/**
 * Counts and aggregates over many records.
 */
import type { IDataObject } from 'n8n-workflow';
import { isObject, membersOf } from '../transport/json';

import { paths } from './endpoints';
import type { JsonValue, TableAt } from './types';
import { isEmptyFilter, toBody, type Group } from './filters';
import { invalidResponse } from './decoders';

const isCount = (value: unknown): value is number =>
	Number.isSafeInteger(value) && Number(value) >= 0;

/** How many records match. @throws {ServiceError} */
export async function countRecords({ client, at }: TableAt, filter?: Group): Promise<number> {
	const isFiltered = filter && !isEmptyFilter(filter);
	const { body, status } = await client.request({
		method: isFiltered ? 'POST' : 'GET',
		path: isFiltered ? paths.countFilter(at) : paths.count(at),
		body: isFiltered ? toBody(filter) : undefined,
		retryMode: 'read',
	});
	const { count } = membersOf(body.data);
	if (!isCount(count)) throw invalidResponse('count', status);
	return count;
}

export const AGGREGATIONS = ['avg', 'max', 'min', 'sum'] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

interface Summary {
	count: number;
	fields: Record<string, Partial<Record<Aggregation, JsonValue>>>;
}

/** Aggregates of fields over the matching records. @throws {ServiceError} */
export async function summarizeRecords(
	{ client, at }: TableAt,
	filter: Group,
	fields: Record<string, Aggregation[]>,
): Promise<Summary> {
	const entries = Object.entries(fields).map(([name, aggregations]) => [name, { aggregations }]);
	const response = await client.request({
		method: 'POST',
		path: paths.summary(at),
		body: {
			...(!isEmptyFilter(filter) && toBody(filter)),
			fields: Object.fromEntries(entries) as IDataObject,
		},
		retryMode: 'read',
	});
	const data = response.body.data as Partial<Summary> | undefined;
	const computed = membersOf(data?.fields);
	const missing = Object.keys(fields).find((name) => !isObject(computed[name]));
	const what = missing === undefined ? 'summary' : `summary of '${missing}'`;
	if (!isCount(data?.count) || missing !== undefined) throw invalidResponse(what, response.status);
	return { count: data.count, fields: computed as Summary['fields'] };
}
