/**
 * Counts and aggregates over many records (contract.md section 3).
 */
import type { IDataObject } from 'n8n-workflow';

import { paths, type JsonValue, type TableAddress } from './contract';
import { isEmptyFilter, toBody, type Group } from './filters';
import { unreadable } from './records';
import type { Connection } from '../transport/client';

const isCount = (value: unknown): value is number =>
	Number.isSafeInteger(value) && Number(value) >= 0;

const isObject = (value: unknown) =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** How many records match. @throws {ServiceError} */
export async function countRecords(
	connection: Connection,
	at: TableAddress,
	filter?: Group,
): Promise<number> {
	const answer = await connection.request(
		filter && !isEmptyFilter(filter)
			? {
					method: 'POST',
					path: paths.countFilter(at),
					body: toBody(filter) as unknown as IDataObject,
					repeat: 'reads',
				}
			: { method: 'GET', path: paths.count(at), repeat: 'reads' },
	);
	const count = (answer.body.data as IDataObject | undefined)?.count;
	if (!isCount(count)) throw unreadable('count', answer.status);
	return count;
}

export type Aggregation = 'avg' | 'max' | 'min' | 'sum';

export interface Summary {
	count: number;
	fields: Record<string, Partial<Record<Aggregation, JsonValue>>>;
}

/** Aggregates of fields over the records that match. @throws {ServiceError} */
export async function summarizeRecords(
	connection: Connection,
	at: TableAddress,
	filter: Group,
	fields: Record<string, Aggregation[]>,
): Promise<Summary> {
	const entries = Object.entries(fields).map(([name, aggregations]) => [name, { aggregations }]);
	const answer = await connection.request({
		method: 'POST',
		path: paths.summary(at),
		body: {
			...(!isEmptyFilter(filter) && toBody(filter)),
			fields: Object.fromEntries(entries) as IDataObject,
		},
		repeat: 'reads',
	});
	const data = answer.body.data as Partial<Summary> | undefined;
	const told: Partial<Summary['fields']> = isObject(data?.fields) ? data!.fields! : {};
	const isWhole = Object.keys(fields).every((name) => isObject(told[name]));
	if (!isCount(data?.count) || !isWhole) throw unreadable('summary', answer.status);
	return { count: data.count, fields: told as Summary['fields'] };
}
