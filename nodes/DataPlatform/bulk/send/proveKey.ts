/**
 * Proves that the platform finds records by the import key that the user named: an upsert with the key
 * of a stored record, and nothing else, changes nothing. By another field it would insert a record, or
 * be rejected because that field has no value.
 */
import { paths } from '../../api/endpoints';
import { METHODS } from '../../api/records';
import type { FieldDefinition } from '../../api/types';
import { showValue } from '../../fields/convert';
import { LABELS } from '../../labels';
import { joinedMessages } from '../../transport/errorEntries';
import { ServiceError } from '../../transport/errors';
import { parseBulkResponse } from './reports';
import type { Entry } from '../terms';
import type { WriteTarget } from '../writeTask';

/** Statuses of rejections that are about the record. */
const ABOUT_RECORD = [200, 400, 409, 422];

/**
 * @param record one whose key a stored record has
 * @param isFirst whether nothing was written before
 * @returns why nothing may be sent, unless it is proven
 */
export async function proveKey(
	{ client, at, table }: WriteTarget,
	{ name }: FieldDefinition,
	{ index, fields }: Entry,
	isFirst: boolean,
): Promise<ServiceError | undefined> {
	const result = await client.tryRequest({
		method: METHODS.upsert,
		path: paths.bulk(at),
		query: { dataResponseType: 'MetadataOnly' },
		body: JSON.stringify({
			bulk: [{ fields: { [name]: fields[name] } }],
			useUpsert: true,
			...(client.skipAudit && { skipAudit: true }),
		}),
		retryMode: 'notIdempotent',
	});
	const isFailure = result instanceof ServiceError;
	const { failed, unattributedErrors, data, successCount, insertedCount } = parseBulkResponse(
		result.body ?? {},
		1,
	);
	const reason = joinedMessages([...failed.values(), ...unattributedErrors]);
	const isInserted = (insertedCount ?? 0) > 0;
	if (!isFailure && !isInserted && successCount === 1 && reason === undefined) return undefined;
	if (isFailure && !isInserted && !ABOUT_RECORD.includes(result.status ?? 0)) return result;
	const [added] = data;
	const nothing = isInserted ? 'Nothing else' : 'Nothing';
	const done = isFirst ? `${nothing} was written.` : `Only items up to ${index} were written.`;
	const what = isInserted
		? `inserted another record${added ? `, '${added.id}'` : ''}: delete it`
		: `did not take it${reason === undefined ? '' : `: ${reason}`}`;
	return new ServiceError(
		`The platform does not find records of table '${table.header}' by '${name}': of an upsert with the value ${showValue(fields[name])}, which a record has, it ${what}. ${done}`,
		{
			delivery: 'rejected',
			hint: `Choose the field that the platform uses under '${LABELS.importKey}' in the options, or set '${LABELS.matchOn}' to 'Other Fields' and choose '${name}'.`,
		},
	);
}
