/**
 * Proves that the platform finds records by the import key that the user named: an upsert with the key
 * of a stored record, and nothing else, changes nothing. By another field it would insert a record, or
 * be rejected because that field has no value.
 */
import type { DefinedTable, FieldDefinition } from '../../api/types';
import { showValue } from '../../fields/convert';
import { LABELS } from '../../labels';
import { ServiceError } from '../../transport/errors';
import { membersOf } from '../../transport/json';
import { singleRequest } from './single';
import type { Entry } from '../terms';

/** Statuses of rejections that are about the record. */
const ABOUT_RECORD = [400, 409, 422];

interface KeyProof {
	key: FieldDefinition;
	/** One whose key stored records have. */
	record: Entry;
	/** The IDs of these. */
	ids: string[];
	/** Whether nothing was written before. */
	isFirst: boolean;
}

/** @returns why nothing may be sent, unless it is proven */
export async function proveKey(
	target: DefinedTable,
	{ key: { name }, record: { index, fields }, ids, isFirst }: KeyProof,
): Promise<ServiceError | undefined> {
	// Of its own: a token may have no right to bulk requests.
	const result = await target.client.tryRequest({
		...singleRequest(target, { index, fields: { [name]: fields[name]! } }, 'upsert'),
		retryMode: 'notIdempotent',
	});
	const isFailure = result instanceof ServiceError;
	if (isFailure && !ABOUT_RECORD.includes(result.status ?? 0)) return result;
	const { id } = membersOf(membersOf(result.body).data);
	if (!isFailure && ids.includes(String(id))) return undefined;
	const nothing = isFailure ? 'Nothing' : 'Nothing else';
	const done = isFirst ? `${nothing} was written.` : `Only items up to ${index} were written.`;
	if (!isFailure && id === undefined) {
		return new ServiceError(
			`Unknown whether the platform finds records of table '${target.table.header}' by '${name}': its response to an upsert with the value ${showValue(fields[name])} names no record. ${done}`,
			{
				delivery: 'ambiguous',
				hint: 'Look whether a second record has this value, and delete it.',
			},
		);
	}
	const what = isFailure
		? `did not take it: ${result.message}`
		: `inserted another record, '${String(id)}': delete it`;
	return new ServiceError(
		`The platform does not find records of table '${target.table.header}' by '${name}': of an upsert with the value ${showValue(fields[name])}, which a record has, it ${what}. ${done}`,
		{
			delivery: 'rejected',
			hint: `Choose the field that the platform uses under '${LABELS.importKey}' in the options, or set '${LABELS.matchOn}' to 'Other Fields' and choose '${name}'.`,
		},
	);
}
