/**
 * The outcomes of an item's records, as the node returns them.
 */
import type { IDataObject } from 'n8n-workflow';

import { isSuccess } from '../../bulk/outcome';
import type { Failure, ItemResult } from '../../run/itemResults';
import type { RecordOutput } from '../../input/recordOutput';
import type { Entry, ItemOutcome } from '../../bulk/terms';
import { omitUndefined } from '../../transport/json';

/** Fields by which people know a record come first. */
export const withKeysFirst =
	(keys: string[], shape: RecordOutput): RecordOutput =>
	(record, first) => {
		const { fields = {} } = record;
		// Most items have them first and need no copy.
		const names = Object.keys(fields);
		if (keys.every((key, position) => names[position] === key)) return shape(record, first);
		const given = keys.filter((key) => Object.hasOwn(fields, key));
		const known = Object.fromEntries(given.map((key) => [key, fields[key]!]));
		return shape({ ...record, fields: { ...known, ...fields } }, first);
	};

/** A record of an item, with its outcome. */
export const toOutput = (
	{ outcome, id, created, modified, ver, mergedInto, kept, before, after, ...stored }: ItemOutcome,
	record: Entry,
	shape: RecordOutput,
): IDataObject => {
	// A record that was not written still has its stored values, not those of the item.
	const fields = stored.fields ?? record.fields;
	const first = mergedInto === undefined ? { outcome } : { outcome, mergedInto };
	const json = shape({ id, created, modified, ver, fields }, first);
	if (kept) json.kept = kept;
	if (before) json.before = before as IDataObject;
	if (after) json.after = after as IDataObject;
	return json;
};

export const toItemFailure = (outcome: ItemOutcome, record?: Entry): Failure => {
	const { message = 'The record was not written', hint, status, code, field, id } = outcome;
	return {
		message,
		hint,
		status,
		notAttempted: outcome.notAttempted,
		noRetry: outcome.noRetry,
		isRetryable: outcome.isRetryable,
		retryAfterMs: outcome.retryAfterMs,
		details: omitUndefined({
			outcome: outcome.outcome,
			id: id ?? record?.id,
			key: record?.key,
			field,
			status,
			code,
		}),
	};
};

/** The result of an item from the outcomes of its records; a failure if one of them failed. */
export function toResult(
	outcomes: ItemOutcome[],
	record: Entry | undefined,
	shape: RecordOutput,
): ItemResult {
	const failed = outcomes.find((outcome) => !isSuccess(outcome));
	if (failed) return toItemFailure(failed, record);
	return outcomes.map((outcome) => ({ json: toOutput(outcome, record!, shape) }));
}
