/**
 * The outcome of an item, as the node returns it.
 */
import type { IDataObject } from 'n8n-workflow';

import { simplifiedRecord } from '../../input/recordOutput';
import type { Entry, ItemOutcome } from '../../bulk/terms';
import type { Problem } from '../../transport/errors';

/** Values without that of one field. */
const without = <Values extends object>(name: string | undefined, values: Values): Values =>
	name === undefined
		? values
		: (Object.fromEntries(Object.entries(values).filter(([key]) => key !== name)) as Values);

/** A record of an item, with its outcome. */
export const toOutput = (
	{ outcome, id, created, modified, ver, mergedInto, ...more }: ItemOutcome,
	record: Entry,
): IDataObject => {
	// A record that was not written still has its stored values, not those of the item.
	const { kept, sendBack, conflicts, previous, before, after } = more;
	const hidden = record.twoWay?.state;
	const fields = without(hidden, more.fields ?? record.fields);
	const first = mergedInto === undefined ? { outcome } : { outcome, mergedInto };
	const written = simplifiedRecord({ id, created, modified, ver, fields });
	const json: IDataObject = { ...first, ...written };
	if (kept) json.kept = kept;
	if (sendBack) json.sendBack = sendBack as IDataObject;
	if (conflicts) json.conflicts = conflicts as unknown as IDataObject[];
	if (previous) json.previous = previous as IDataObject;
	if (before) json.before = without(hidden, before) as IDataObject;
	if (after) json.after = without(hidden, after) as IDataObject;
	return json;
};

/** What an outcome that is no success says of its item. */
export const toItemProblem = (outcome: ItemOutcome, record?: Entry): Problem => ({
	...outcome,
	message: outcome.message ?? 'The record was not written',
	id: outcome.id ?? record?.id,
	key: record?.key ?? outcome.key,
	// It may have been written.
	...(outcome.previous && { details: { ...outcome.details, previous: outcome.previous } }),
});
