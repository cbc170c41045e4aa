/**
 * Reads and writes single records.
 */
import type { IDataObject } from 'n8n-workflow';

import { invalidResponse, toRecord, toWholeRecord } from './decoders';
import { paths } from './endpoints';
import { UUID } from './idSet';
import type { FieldValues, PlatformRecord, TableAt } from './types';
import { serviceErrorOrThrow, isNotFound, ServiceError } from '../transport/errors';
import type { ApiClient } from '../transport/client';
import type { ApiRequest } from '../transport/exchange';
import { resolveByLookUp } from './resolve';

/** A failure of a request to one record, which may not exist. */
const ofRecord = (error: ServiceError) =>
	isNotFound(error) ? new ServiceError(error.message, { ...error, outcome: 'notFound' }) : error;

/** @throws {ServiceError} */
export async function readRecord(
	{ client, at }: TableAt,
	id: string,
	options: Pick<ApiRequest, 'keepsFileTokens'> = {},
): Promise<PlatformRecord> {
	const path = paths.record(at, id);
	const request = { method: 'GET', path, retryMode: 'read', ...options } as const;
	const response = await client.tryRequest(request);
	if (response instanceof ServiceError) throw ofRecord(response);
	const { body, status } = response;
	const record = toWholeRecord(body.data);
	if (!record || isDifferentRecord(record, id)) throw invalidResponse(`record '${id}'`, status);
	return record;
}

/** A record; null if the platform itself reports that it doesn't exist. @throws {ServiceError} */
export const findRecord = async (table: TableAt, id: string): Promise<PlatformRecord | null> =>
	await readRecord(table, id).catch((error: unknown) => {
		if (isNotFound(serviceErrorOrThrow(error))) return null;
		throw error;
	});

/** The platform returned another record. Only UUIDs are compared, in any letter case. */
const isDifferentRecord = (record: PlatformRecord, id: string) =>
	UUID.test(id) && record.id.toLowerCase() !== id.toLowerCase();

/**
 * The record in the response to a write; undefined if there is none, or another one.
 *
 * @param id undefined if the record is new
 */
export function writtenRecord(data: unknown, id: string | undefined): PlatformRecord | undefined {
	const record = toRecord(data);
	if (record && id !== undefined && isDifferentRecord(record, id)) return undefined;
	return record;
}

/** The body of a request that writes one record. */
export const writeBody = ({ skipAudit }: ApiClient, fields: FieldValues) =>
	({ fields, ...(skipAudit && { skipAudit }) }) as IDataObject;

export const METHODS = { create: 'POST', upsert: 'POST', update: 'PATCH', replace: 'PUT' } as const;

/**
 * Deletes a record. Returns a failure instead of throwing it, with status 404 if there is no such
 * record. If the result is unknown, a look-up shows whether it worked.
 */
export async function tryDeleteRecord(
	table: TableAt,
	id: string,
	onRetry?: (failure: ServiceError) => void,
): Promise<ServiceError | undefined> {
	const result = await table.client.tryRequest({
		method: 'DELETE',
		path: paths.record(table.at, id),
		retryMode: 'idempotent',
		bodyRequirement: 'nothing',
		onRetry,
	});
	if (!(result instanceof ServiceError)) return undefined;
	const resolved = await resolveByLookUp(result, {
		what: 'the record was deleted',
		lookUp: async () => ((await findRecord(table, id)) ? undefined : id),
		unless: () => 'it is still there',
		hint: 'It is safe to run it again.',
	}).catch(serviceErrorOrThrow);
	return resolved instanceof ServiceError ? ofRecord(resolved) : undefined;
}
