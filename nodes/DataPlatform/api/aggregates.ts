/**
 * Counts and aggregates over many records (contract.md section 3).
 */
import type { IDataObject } from 'n8n-workflow';
import { isObject } from '../transport/json';

import { paths } from './endpoints';
import type { JsonValue, TableAddress } from './types';
import { isEmptyFilter, toBody, type Group } from './filters';
import { invalidResponse } from './records';
import type { ApiClient } from '../transport/client';

const isCount = (value: unknown): value is number =>
	Number.isSafeInteger(value) && Number(value) >= 0;

/** How many records match. @throws {ServiceError} */
export async function countRecords(
	client: ApiClient,
	at: TableAddress,
	filter?: Group,
): Promise<number> {
	const answer = await client.request(
		filter && !isEmptyFilter(filter)
			? {
					method: 'POST',
					path: paths.countFilter(at),
					body: toBody(filter) as unknown as IDataObject,
					retryMode: 'read',
				}
			: { method: 'GET', path: paths.count(at), retryMode: 'read' },
	);
	const count = (answer.body.data as IDataObject | undefined)?.count;
	if (!isCount(count)) throw invalidResponse('count', answer.status);
	return count;
}

export type Aggregation = 'avg' | 'max' | 'min' | 'sum';

export interface Summary {
	count: number;
	fields: Record<string, Partial<Record<Aggregation, JsonValue>>>;
}

/** Aggregates of fields over the records that match. @throws {ServiceError} */
export async function summarizeRecords(
	client: ApiClient,
	at: TableAddress,
	filter: Group,
	fields: Record<string, Aggregation[]>,
): Promise<Summary> {
	const entries = Object.entries(fields).map(([name, aggregations]) => [name, { aggregations }]);
	const answer = await client.request({
		method: 'POST',
		path: paths.summary(at),
		body: {
			...(!isEmptyFilter(filter) && toBody(filter)),
			fields: Object.fromEntries(entries) as IDataObject,
		},
		retryMode: 'read',
	});
	const data = answer.body.data as Partial<Summary> | undefined;
	const told: Partial<Summary['fields']> = isObject(data?.fields) ? data!.fields! : {};
	const isWhole = Object.keys(fields).every((name) => isObject(told[name]));
	if (!isCount(data?.count) || !isWhole) throw invalidResponse('summary', answer.status);
	return { count: data.count, fields: told as Summary['fields'] };
}
