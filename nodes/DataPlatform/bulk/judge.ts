/**
 * Each item's outcome. Pure. What a response lists, it confirms. Bulk responses leave records out and
 * count them all the same (contract/openapi.yaml): for what no response confirms, what is known of it
 * is looked up in a table.
 */
import type { PlatformRecord, RecordMetadata } from '../api/types';
import { show } from '../fields/convert';
import { joinedMessages } from '../transport/errorEntries';
import type { ServiceError } from '../transport/errors';
import { getOwn } from '../transport/json';
import type { PreparedRecord } from './batches';
import {
	gatherEvidence,
	isAppending,
	type Evidence,
	type Situation,
	type UnresolvedContext,
	type WriteContext,
} from './evidence';
import {
	isFirstVersion,
	isSameTime,
	isSameVersion,
	wasChangedSince,
	wasCreatedSince,
	type LastChange,
} from './lastChange';
import { asAppended, failure, unknownItem, type ItemOutcome } from './outcome';
import type { WriteMode } from './plan';
import type { BulkResponse } from './response';

type Counts = Pick<BulkResponse, 'allInserted' | 'allUpdated'>;

/** The outcome of an item whose record the response lists. */
export function confirmedItem(
	prepared: PreparedRecord,
	metadata: RecordMetadata,
	context: WriteContext,
	counts: Counts,
): ItemOutcome {
	const written = asWritten(metadata, context);
	const { before } = prepared;
	if (context.mode === 'create') return { outcome: 'inserted', ...written };
	if (prepared.isAlone && before) {
		const isSame = metadata.ver !== undefined && metadata.ver === before.ver;
		return { outcome: isSame ? 'unchanged' : 'updated', ...written };
	}
	if (context.mode !== 'upsert') return { outcome: 'updated', ...written };
	const isInserted = prepared.isInserted ?? wasInserted(prepared, metadata, context, counts);
	return { outcome: isInserted ? 'inserted' : 'updated', ...written };
}

/** What an outcome says of its record; all that it holds if it is the result of the operation. */
const asWritten = (record: RecordMetadata, { isSingle }: WriteContext) => {
	const { id, created, modified, ver, fields } = record as PlatformRecord;
	return { id, created, modified, ver, ...(isSingle && { fields }) };
};

/** Whether it is the record that was read before, and not one that took its place. */
const isStillThere = (before: PlatformRecord, { id, created, ver = Infinity }: RecordMetadata) =>
	before.id === id &&
	!(before.created && !isSameTime(before.created, created)) &&
	(before.ver ?? 0) <= ver;

/**
 * Whether an upsert inserted the record that the response lists for it. What was read before may
 * be out of date: another writer may have inserted or deleted the record since.
 */
function wasInserted(
	{ before, previousAttempt }: PreparedRecord,
	record: RecordMetadata,
	{ lastChangeBefore }: WriteContext,
	{ allInserted, allUpdated }: Counts,
): boolean {
	// The counts are about the last attempt; an earlier one may have inserted the record.
	if (previousAttempt === undefined && allInserted) return true;
	if (previousAttempt === undefined && allUpdated) return false;
	if (before && isStillThere(before, record)) return false;
	const isRecent = wasCreatedSince(record, lastChangeBefore);
	const isFirst = isFirstVersion(record);
	if (isFirst === undefined) {
		return isRecent ?? (before !== undefined ? before === null : record.ver === 0);
	}
	if (isFirst) return isRecent ?? true;
	// Modified after it was created: by this attempt, unless an earlier one created it.
	return previousAttempt !== undefined && (isRecent ?? before === null);
}

/**
 * What a single upsert did to the record that it returned; undefined where that can't be known.
 *
 * @param earlier the record as this run last wrote it, where it did
 */
export function upsertOutcome(
	record: RecordMetadata,
	lastChangeBefore: LastChange,
	earlier: RecordMetadata | undefined,
): 'inserted' | 'updated' | 'unchanged' | undefined {
	if (earlier) {
		const isSame = isSameVersion(record, earlier);
		return isSame === undefined ? undefined : isSame ? 'unchanged' : 'updated';
	}
	const isChanged = wasChangedSince(record, lastChangeBefore);
	if (isChanged === false) return 'unchanged';
	const isNew = wasCreatedSince(record, lastChangeBefore);
	if (isChanged === undefined || isNew === undefined) return undefined;
	return isNew && isFirstVersion(record) ? 'inserted' : 'updated';
}

const written = ({ stored, context }: Evidence) => asWritten(stored!, context);

/** Why the outcome is open. */
const cause = ({ lostAttempt }: Evidence) =>
	lostAttempt?.message ?? 'the response did not mention it';

/** The value that a record holds instead of what was sent. */
const heldValue = ({ stored, field }: Evidence) =>
	`the record holds ${show(getOwn(stored!.fields, field!) ?? null)} in '${field}'`;

/** The response's reason, if it can only be the item's. */
const onlyReason = ({ response }: Evidence) =>
	response?.unattributedErrors.length === 1 ? response.unattributedErrors[0] : undefined;

const unknown = ({ context }: Evidence, why: string) => unknownItem(context.mode, why);

type Verdict = (evidence: Evidence) => ItemOutcome;

const inserted: Verdict = (evidence) => ({ outcome: 'inserted', ...written(evidence) });
const updated: Verdict = (evidence) => ({ outcome: 'updated', ...written(evidence) });
const unchanged: Verdict = (evidence) => ({ outcome: 'unchanged', ...written(evidence) });

const rejected: Verdict = ({ rejection }) => rejection!;
const rejectedRecord: Verdict = ({ rejection, stored }) => ({ ...rejection!, id: stored!.id });

const listedByResponse: Verdict = ({ prepared, stored, listed, response, context }) =>
	// What is stored now may have been changed by somebody else since.
	confirmedItem(prepared, listed!.modified ? listed! : stored!, context, response!);

const notFound: Verdict = ({ prepared: { record }, context }) => ({
	outcome: 'notFound',
	id: record.id,
	message: `The table has no record with the ID '${record.id}'`,
	...(context.isSingle
		? { status: 404, hint: 'Check the ID; the record may have been deleted.' }
		: { hint: { code: 'checkRecordId' } }),
});

const unknownIfCreated: Verdict = (evidence) => {
	const { prepared, found, context } = evidence;
	const key = `the ${context.isMatched ? 'match values' : 'import key'} '${prepared.record.key}'`;
	if (found.length === 0) {
		return unknown(evidence, `${cause(evidence)}; a look-up did not find ${key} yet`);
	}
	const state =
		context.lastChangeBefore === undefined
			? `the record '${found[0]!.id}' has ${key}, and may be this one`
			: `only an older record has ${key} yet`;
	return unknown(evidence, `${cause(evidence)}; ${state}`);
};

const unknownIfGone: Verdict = (evidence) =>
	unknown(evidence, 'the response lists a record that is gone, without saying whose it was');

const notWritten: Verdict = (evidence) => {
	const reasons = joinedMessages(evidence.response?.unattributedErrors ?? []);
	return failure(
		onlyReason(evidence),
		reasons
			? `The platform did not write this record; its reasons, without saying for which item: ${reasons}`
			: 'The response did not mention this item, and the table has no such record',
	);
};

/** Without its ID: the record may be another writer's. */
const unknownOfOther: Verdict = (evidence) =>
	unknown(evidence, `${cause(evidence)}; ${heldValue(evidence)}`);

const unknownIfUpdated: Verdict = (evidence) => ({
	...unknownOfOther(evidence),
	id: evidence.stored!.id,
});

const unknownIfApplied: Verdict = (evidence) => {
	const { rejection, stored, prepared } = evidence;
	const { message, mayStillApply } = prepared.previousAttempt!;
	const earlier = `an earlier attempt may ${mayStillApply ? 'still be applied' : 'have been applied'}: ${message}`;
	const why = `${rejection!.message}; ${earlier}; ${heldValue(evidence)}`;
	return { ...unknown(evidence, why), id: stored!.id, status: rejection!.status };
};

const unknownIfChanged: Verdict = (evidence) => ({
	...unknown(
		evidence,
		`${cause(evidence)}, and the record was changed during the run; ${heldValue(evidence)}`,
	),
	id: evidence.stored!.id,
	field: evidence.field,
});

const notUpdated: Verdict = (evidence) => ({
	...failure(
		onlyReason(evidence),
		`The response did not mention this item, and ${heldValue(evidence)}`,
	),
	id: evidence.stored!.id,
	field: evidence.field,
});

const unknownIfUnproven: Verdict = (evidence) => {
	const { stored, field } = evidence;
	const open = `whether '${field}' holds what was sent can't be seen from the record`;
	const { id, ver } = stored!;
	return { ...unknown(evidence, `${cause(evidence)}; ${open}`), id, ver, field };
};

const unknownIfWritten: Verdict = (evidence) => {
	const { id, ver } = evidence.stored!;
	const why = `${cause(evidence)}; the record holds what was sent, but not since when`;
	return { ...unknown(evidence, why), id, ver };
};

/** A row of the table: the verdict on all situations that have these facts. */
export type Judgement = readonly [facts: Partial<Situation>, verdict: Verdict];

/** Items that may have created a record, and have none. */
const MISSING: Judgement[] = [
	// No attempt wrote it, so the rejection is the whole story.
	[{ record: 'missing', answer: 'rejected' }, rejected],
	// The platform may still be about to create it.
	[{ record: 'missing', answer: 'lost' }, unknownIfCreated],
	// It may have been written, and deleted by another writer.
	[{ record: 'missing', listsGoneRecord: true }, unknownIfGone],
	// The request came to its end, and left no record.
	[{ record: 'missing' }, notWritten],
];

/** What a response lists, it confirms, in whatever order. */
const LISTED: Judgement = [{ record: 'listed' }, listedByResponse];

/** Items that have a new record. */
const NEW: Judgement[] = [
	// The new record with its key is another writer's.
	[{ record: 'different', answer: 'rejected' }, rejected],
	// It may have been written, and deleted by another writer.
	[{ record: 'different', answer: 'reasons', listsGoneRecord: true }, unknownIfGone],
	// The platform says why it did not write it: the new record is another writer's.
	[{ record: 'different', answer: 'reasons' }, notWritten],
	// Either another writer inserted it, or one changed what this run inserted.
	[{ record: 'different' }, unknownOfOther],
	// It holds what was sent, as far as can be seen, and was not there before.
	[{}, inserted],
];

/** Items whose record, there before or not, holds something else. */
const DIFFERENT: Judgement[] = [
	// An earlier attempt may have written it, and another writer since.
	[
		{ record: 'different', answer: 'rejected', wasLost: true, isUntouched: false },
		unknownIfApplied,
	],
	// No attempt wrote it, so the rejection is the whole story.
	[{ record: 'different', answer: 'rejected' }, rejectedRecord],
	// The platform may still be about to write it.
	[{ record: 'different', answer: 'lost' }, unknownIfUpdated],
	// The platform says why it did not write it.
	[{ record: 'different', answer: 'reasons' }, notUpdated],
	// Another writer may have changed what this run wrote, or what it left as it was.
	[{ record: 'different', mayBeChanged: true }, unknownIfChanged],
	// Nobody changed the record.
	[{ record: 'different' }, notUpdated],
];

/** Neither its values nor its time say whether it was written. */
const UNPROVEN: Judgement = [{ record: 'unproven', isWritten: false }, unknownIfUnproven];

/** It holds what was sent, is new, and no other writer inserted it. */
const INSERTED: Judgement = [{ isInserted: true }, inserted];

/** Items whose record holds what was sent. */
const HELD: Judgement[] = [
	// It was changed since.
	[{ isWritten: true }, updated],
	// Nobody knows whether it was: what was there before could not be read.
	[{ mayBeWritten: true }, unknownIfWritten],
	// It held it before.
	[{}, unchanged],
];

/** There is nothing to update, whatever became of the request. */
const GONE: Judgement = [{ record: 'missing' }, notFound];

const UPDATE = [GONE, LISTED, ...DIFFERENT, UNPROVEN, ...HELD];

/** The outcome of an item, by what is known of it: the first row that fits counts, the last one fits all. */
export const JUDGEMENTS: Readonly<Record<WriteMode, readonly Judgement[]>> = {
	create: [...MISSING, LISTED, ...NEW],
	upsert: [...MISSING, LISTED, ...DIFFERENT, UNPROVEN, INSERTED, ...HELD],
	update: UPDATE,
	replace: UPDATE,
};

/** The row that decides a situation. */
export const judgementOn = (mode: WriteMode, situation: Situation): Judgement =>
	JUDGEMENTS[mode].find(([facts]) =>
		Object.entries(facts).every(([name, fact]) => situation[name as keyof Situation] === fact),
	)!;

/**
 * The outcome of an item that the response does not mention, or that got none, from the records
 * that a look-up found under its id or import key.
 */
export function judge(
	prepared: PreparedRecord,
	found: PlatformRecord[],
	unresolved: UnresolvedContext,
	context: WriteContext,
): ItemOutcome {
	const evidence = gatherEvidence(prepared, found, unresolved, context);
	const [, verdict] = judgementOn(context.mode, evidence);
	const item = verdict(evidence);
	const { previousAttempt } = prepared;
	if (item.outcome !== 'failed' || !previousAttempt?.mayStillApply) {
		return asFinal(item, prepared, context);
	}
	// A later attempt was rejected, but the service may still apply the earlier one.
	const why = `${item.message}; an earlier attempt may still be applied: ${previousAttempt.message}`;
	return asFinal({ ...item, ...unknownItem(context.mode, why) }, prepared, context);
}

/** An item of unknown outcome whose values would be added a second time says so. */
function asFinal(item: ItemOutcome, prepared: PreparedRecord, context: WriteContext): ItemOutcome {
	if (item.outcome !== 'unknown') return item;
	const status = item.status ?? prepared.previousAttempt?.status;
	const open = context.isSingle ? { ...item, status } : item;
	return context.mode !== 'create' && isAppending(prepared, context) ? asAppended(open) : open;
}

/** The outcome of an item that could not be looked up. @param why it had to be */
export const unreadItem = (
	prepared: PreparedRecord,
	why: string,
	{ message }: ServiceError,
	context: WriteContext,
): ItemOutcome =>
	asFinal(unknownItem(context.mode, `${why}; looking it up failed: ${message}`), prepared, context);
