/**
 * Proves that the platform finds records by the import key that the user named: an upsert with the key
 * of a stored record, and nothing else, changes nothing. By another field it would insert a record, or
 * be rejected because that field has no value.
 */
import type { DefinedTable } from '../../api/types';
import { showValue } from '../../fields/convert';
import { LABELS } from '../../labels';
import { ServiceError } from '../../transport/errors';
import { membersOf } from '../../transport/json';
import { outcomeText, stoppedItem } from '../outcome';
import { singleRequest } from './single';
import type { Entry, ItemOutcome, PlanOptions } from '../terms';

/** Statuses of rejections that are about the record. */
const ABOUT_RECORD = [400, 409, 422];

/** A record, and those that are stored with its key. */
export type Proof = readonly [record: Entry, stored: Array<{ id: string }>];

/**
 * @param written what became of the record, if it was written before
 * @returns why nothing may be sent, unless it is proven
 */
export async function proveKey(
	target: DefinedTable,
	name: string,
	[{ index, fields }, stored]: Proof,
	written?: ItemOutcome,
	unit: PlanOptions['unit'] = 'item',
): Promise<ServiceError | undefined> {
	// Of its own: a token may have no right to bulk requests.
	const result = await target.client.tryRequest({
		...singleRequest(target, { index, fields: { [name]: fields[name]! } }, 'upsert'),
		retryMode: 'notIdempotent',
	});
	const isFailure = result instanceof ServiceError;
	if (isFailure && !ABOUT_RECORD.includes(result.status ?? 0)) return result;
	const { id } = membersOf(membersOf(result.body).data);
	if (!isFailure && stored.some((record) => record.id === String(id))) return undefined;
	const nothing = isFailure ? 'Nothing' : 'Nothing else';
	const done = written ? `Only ${unit}s up to ${index} were written.` : `${nothing} was written.`;
	const isUnknown = !isFailure && id === undefined;
	const finds = isUnknown ? 'Unknown whether the platform finds' : 'The platform does not find';
	let answer = isUnknown
		? 'named no record in its response: look whether a second one has this value, and delete it'
		: `inserted another record, '${String(id)}': delete it`;
	if (isFailure) answer = `was rejected: ${result.message}`;
	return new ServiceError(
		`${finds} records of table '${target.table.header}' by '${name}': an upsert with the value ${showValue(fields[name])}, which a record has, ${answer}. ${done}`,
		{
			delivery: isUnknown ? 'ambiguous' : 'rejected',
			hint: `Choose the field that the platform uses under '${LABELS.importKey}' in the options, or set '${LABELS.matchOn}' to 'Other Fields' and choose '${name}'.`,
		},
	);
}

/** What the proof says of the record that was written before it. One that was inserted is right. */
export function afterProof(item: ItemOutcome, why?: ServiceError, wasNew = false, isLast = true) {
	const { outcome, id } = item;
	const isOther = wasNew && (outcome === 'updated' || outcome === 'unchanged');
	// Those after it, if there are any, report the failure.
	const isWrong = why?.delivery === 'rejected' && (outcome !== 'inserted' || isLast);
	if (!why || !(isOther || isWrong)) return { outcome: item, stopped: why };
	const though = isOther ? ', although none had this key before' : '';
	const message = `Record '${id}' was ${outcomeText(outcome)}${though}. ${why.message}`;
	const stopped = new ServiceError(message, { ...why });
	const problem = { ...stoppedItem(stopped), outcome: 'unknown', id, noRetry: true } as const;
	return { outcome: problem, stopped };
}
