/** Writes a record by a request of its own, if the platform forbids bulk requests. Pure. */
import type { IDataObject } from 'n8n-workflow';

import { paths } from '../../api/endpoints';
import { METHODS, writeBody } from '../../api/records';
import type { TableAt } from '../../api/types';
import type { ApiResponse } from '../../transport/client';
import { isNotFound, ServiceError } from '../../transport/errors';
import { isObject } from '../../transport/json';
import { sentFields } from '../entry';
import type { Entry, ResolvedEntry, WriteMode } from '../terms';

export const NO_BULK_NOTICE =
	"The token may not send bulk requests to this table, so each record took a request of its own. With the right to import, up to 1,000 records go into one: add it to the token's role.";

export const singleRequest = ({ client, at }: TableAt, record: Entry, mode: WriteMode) => ({
	method: METHODS[mode],
	path: record.id === undefined ? paths.records(at) : paths.record(at, record.id),
	query: { dataResponseType: 'MetadataOnly' },
	body: {
		...writeBody(client, sentFields(record)),
		...(mode === 'upsert' && { useUpsert: true }),
	},
});

/** Its response, as that of a bulk request. */
export function asBulk({ id }: Entry, response: ApiResponse | ServiceError) {
	if (response instanceof ServiceError) {
		// Without a count, a look-up shows whether the record is missing.
		const errors = [{ message: response.message }];
		return id !== undefined && isNotFound(response) ? { status: 200, body: { errors } } : response;
	}
	const { status, body } = response;
	if (!isObject(body.data)) return { ...response, body: {} };
	const insertedCount = status === 201 ? 1 : undefined;
	const data = [body.data] as IDataObject[];
	return { ...response, body: { bulk: { successCount: 1, insertedCount }, data } };
}

/** The response to an update does not say whether it changed anything. */
export function asSingle([entry, item]: ResolvedEntry): ResolvedEntry {
	const { before } = entry;
	if (item.outcome !== 'updated' || (before && item.ver !== before.ver)) return [entry, item];
	return [entry, { ...item, outcome: before ? 'unchanged' : 'written' }];
}
