/**
 * Decides each item's outcome. Pure. A response confirms the records that it lists. Bulk responses
 * omit records, yet count them (contract/openapi.yaml). So if no response confirms an item, a table
 * gives the outcome for the facts about it.
 */
import type { PlatformRecord, RecordMetadata } from '../api/types';
import { show } from '../fields/convert';
import { joinedMessages } from '../transport/errorEntries';
import type { ServiceError } from '../transport/errors';
import { getOwn } from '../transport/json';
import type { Entry } from './entry';
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
	entry: Entry,
	metadata: RecordMetadata,
	context: WriteContext,
	counts: Counts,
): ItemOutcome {
	const written = asWritten(metadata, context);
	const { before } = entry;
	if (context.mode === 'create') return { outcome: 'inserted', ...written };
	if (entry.isAlone && before) {
		const isSame = metadata.ver !== undefined && metadata.ver === before.ver;
		return { outcome: isSame ? 'unchanged' : 'updated', ...written };
	}
	if (context.mode !== 'upsert') return { outcome: 'updated', ...written };
	const isInserted = entry.isInserted ?? wasInserted(entry, metadata, context, counts);
	return { outcome: isInserted ? 'inserted' : 'updated', ...written };
}

/** What an outcome says about its record, with all values if it is the operation's result. */
const asWritten = (record: RecordMetadata, { isSingle }: WriteContext) => {
	const { id, created, modified, ver, fields } = record as PlatformRecord;
	return { id, created, modified, ver, ...(isSingle && { fields }) };
};

/** Whether it is still the record that was read before, not one that replaced it. */
const isStillThere = (before: PlatformRecord, { id, created, ver = Infinity }: RecordMetadata) =>
	before.id === id &&
	!(before.created && !isSameTime(before.created, created)) &&
	(before.ver ?? 0) <= ver;

/**
 * Whether an upsert inserted the record that the response lists for it. The state that was read
 * before may be out of date: another writer may have inserted or deleted the record since.
 */
function wasInserted(
	{ before, previousAttempt }: Entry,
	record: RecordMetadata,
	{ lastChangeBefore, inserted }: WriteContext,
	{ allInserted, allUpdated }: Counts,
): boolean {
	if (inserted?.has(record.id)) return false;
	// The counts are those of the last attempt. A previous one may have inserted the record.
	if (previousAttempt === undefined && allInserted) return true;
	if (previousAttempt === undefined && allUpdated) return false;
	if (before && isStillThere(before, record)) return false;
	const isRecent = wasCreatedSince(record, lastChangeBefore);
	const isFirst = isFirstVersion(record);
	if (isFirst === undefined) {
		return isRecent ?? (before !== undefined ? before === null : record.ver === 0);
	}
	if (isFirst) return isRecent ?? true;
	// It was changed after its creation: this attempt updated it, unless a previous one created it.
	return previousAttempt !== undefined && (isRecent ?? before === null);
}

/**
 * What a single upsert did to the record that it returned; undefined if unknown.
 *
 * @param earlier the record as this run last wrote it, if it did
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

/** Why the outcome is unknown. */
const cause = ({ lostAttempt }: Evidence) =>
	lostAttempt?.message ?? 'the response did not mention it';

/** The value that a record holds instead of what was sent. */
const heldValue = ({ stored, field }: Evidence) =>
	`the record holds ${show(getOwn(stored!.fields, field!) ?? null)} in '${field}'`;

/** The response's reason, if it has only one. */
const onlyReason = ({ response }: Evidence) =>
	response?.unattributedErrors.length === 1 ? response.unattributedErrors[0] : undefined;

const unknown = ({ context }: Evidence, why: string) => unknownItem(context.mode, why);

type Verdict = (evidence: Evidence) => ItemOutcome;

const inserted: Verdict = (evidence) => ({ outcome: 'inserted', ...written(evidence) });
const updated: Verdict = (evidence) => ({ outcome: 'updated', ...written(evidence) });
const unchanged: Verdict = (evidence) => ({ outcome: 'unchanged', ...written(evidence) });

const rejected: Verdict = ({ rejection }) => rejection!;
/** A record that was found is not missing, whatever a 404 says. */
const rejectedRecord: Verdict = ({ rejection, stored }) => ({
	...rejection!,
	...(rejection!.outcome === 'notFound' && { outcome: 'failed' }),
	id: stored!.id,
});

const listedByResponse: Verdict = ({ entry, stored, listed, response, context }) =>
	// Another writer may have changed the stored record since.
	confirmedItem(entry, listed!.modified ? listed! : stored!, context, response!);

/** What a single operation says about a record that is missing. */
export const NO_SUCH_RECORD = {
	status: 404,
	hint: 'Check the ID; the record may have been deleted.',
} as const;

export const notFound = ({
	entry: { id },
	context,
}: Pick<Evidence, 'entry' | 'context'>): ItemOutcome => ({
	outcome: 'notFound',
	id,
	message: `The table has no record with the ID '${id}'`,
	...(context.isSingle ? NO_SUCH_RECORD : { hint: { code: 'checkRecordId' } }),
});

const unknownIfCreated: Verdict = (evidence) => {
	const { entry, found, context } = evidence;
	const key = `the ${context.isMatched ? 'match values' : 'import key'} '${entry.key}'`;
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
			? `The platform did not write this record; its reasons do not say which item they mean: ${reasons}`
			: 'The response did not mention this item, and the table has no such record',
	);
};

/** Without the ID, because the record may be another writer's. */
const unknownOfOther: Verdict = (evidence) =>
	unknown(evidence, `${cause(evidence)}; ${heldValue(evidence)}`);

const unknownIfUpdated: Verdict = (evidence) => ({
	...unknownOfOther(evidence),
	id: evidence.stored!.id,
});

const unknownIfApplied: Verdict = (evidence) => {
	const { rejection, stored, entry } = evidence;
	const { message, stillPending } = entry.previousAttempt!;
	const earlier = `an earlier attempt may ${stillPending ? 'still be applied' : 'have been applied'}: ${message}`;
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
	const why = `${cause(evidence)}; the record holds what was sent, but it is unknown since when`;
	return { ...unknown(evidence, why), id, ver };
};

/** A row of the table: the verdict on all situations with these facts. */
export type Judgement = readonly [facts: Partial<Situation>, verdict: Verdict];

/** Items that may have created a record, but have none. */
const MISSING: Judgement[] = [
	// No attempt wrote it, so the rejection stands.
	[{ record: 'missing', answer: 'rejected' }, rejected],
	// The platform may still create it.
	[{ record: 'missing', answer: 'lost' }, unknownIfCreated],
	// It may have been written, then deleted by another writer.
	[{ record: 'missing', listsGoneRecord: true }, unknownIfGone],
	// The request has ended and left no record.
	[{ record: 'missing' }, notWritten],
];

/** A response confirms what it lists, in any order. */
const LISTED: Judgement = [{ record: 'listed' }, listedByResponse];

/** Items that have a new record. */
const NEW: Judgement[] = [
	// The new record with its key is another writer's.
	[{ record: 'different', answer: 'rejected' }, rejected],
	// It may have been written, then deleted by another writer.
	[{ record: 'different', answer: 'reasons', listsGoneRecord: true }, unknownIfGone],
	// The platform says why it did not write it, so the new record is another writer's.
	[{ record: 'different', answer: 'reasons' }, notWritten],
	// Another writer inserted it, or changed the one that this run inserted.
	[{ record: 'different' }, unknownOfOther],
	// As far as its values show, it holds what was sent, and it is new.
	[{}, inserted],
];

/** Items whose record holds something else, whether or not it existed before. */
const DIFFERENT: Judgement[] = [
	// A previous attempt may have written it, and another writer changed it since.
	[
		{ record: 'different', answer: 'rejected', wasLost: true, isUntouched: false },
		unknownIfApplied,
	],
	// No attempt wrote it, so the rejection stands.
	[{ record: 'different', answer: 'rejected' }, rejectedRecord],
	// The platform may still write it.
	[{ record: 'different', answer: 'lost' }, unknownIfUpdated],
	// The platform says why it did not write it.
	[{ record: 'different', answer: 'reasons' }, notUpdated],
	// Another writer may have changed it, whether or not this run wrote it.
	[{ record: 'different', mayBeChanged: true }, unknownIfChanged],
	// Nobody changed the record.
	[{ record: 'different' }, notUpdated],
];

/** Neither its values nor its time show whether it was written. */
const UNPROVEN: Judgement = [{ record: 'unproven', isWritten: false }, unknownIfUnproven];

/** It holds what was sent, is new, and no other writer inserted it. */
const INSERTED: Judgement = [{ isInserted: true }, inserted];

/** Items whose record holds what was sent. */
const HELD: Judgement[] = [
	// It was changed during the run.
	[{ isWritten: true }, updated],
	// It may have been changed: its previous state could not be read.
	[{ mayBeWritten: true }, unknownIfWritten],
	// It already held what was sent.
	[{}, unchanged],
];

/** There is nothing to update, whatever happened to the request. */
const GONE: Judgement = [{ record: 'missing' }, notFound];

const UPDATE = [GONE, LISTED, ...DIFFERENT, UNPROVEN, ...HELD];

/**
 * The outcome of an item, by the facts about it. The first row that fits counts; the last one fits
 * all.
 */
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
 * The outcome of an item that the response does not mention, or that got no response, from the
 * records that a look-up found by its ID or import key.
 */
export function judge(
	entry: Entry,
	found: PlatformRecord[],
	unresolved: UnresolvedContext,
	context: WriteContext,
): ItemOutcome {
	const evidence = gatherEvidence(entry, found, unresolved, context);
	const [, verdict] = judgementOn(context.mode, evidence);
	const item = verdict(evidence);
	const { previousAttempt } = entry;
	if (item.outcome !== 'failed' || !previousAttempt?.stillPending) {
		return asFinal(item, entry, context);
	}
	// The last attempt was rejected, but the service may still apply the previous one.
	const why = `${item.message}; an earlier attempt may still be applied: ${previousAttempt.message}`;
	return asFinal({ ...item, ...unknownItem(context.mode, why) }, entry, context);
}

/** Completes an unknown outcome: says how the attempt ended, and warns if another attempt would add values a second time. */
function asFinal(item: ItemOutcome, entry: Entry, context: WriteContext): ItemOutcome {
	if (item.outcome !== 'unknown') return item;
	const { status, retryAfterMs } = entry.previousAttempt ?? {};
	const open = {
		...item,
		status: item.status ?? status,
		retryAfterMs: item.retryAfterMs ?? retryAfterMs,
	};
	return context.mode !== 'create' && isAppending(entry, context) ? asAppended(open) : open;
}

/** The outcome of an item that could not be looked up. @param why why it had to be looked up */
export const unreadItem = (
	entry: Entry,
	why: string,
	{ message, retryAfterMs }: ServiceError,
	context: WriteContext,
): ItemOutcome => {
	const item = unknownItem(context.mode, `${why}; looking it up failed: ${message}`);
	return asFinal({ ...item, retryAfterMs }, entry, context);
};
