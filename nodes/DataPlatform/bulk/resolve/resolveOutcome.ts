/**
 * The outcome of each item, from what its request reports and what look-ups before and after it
 * show. Nothing else counts: no clock, and no arithmetic with versions. Pure.
 */
import { idKey } from '../../api/idSet';
import type { PlatformRecord } from '../../api/types';
import { showValue } from '../../fields/convert';
import { joinedMessages } from '../../transport/errorEntries';
import type { ServiceError } from '../../transport/errors';
import { getOwn } from '../../transport/json';
import { firstDifference, isAppending, isSameVersion, type WriteContext } from './compare';
import { modeOf } from '../entry';
import { notFoundItem, unknownItem } from '../outcome';
import type { Entry, ItemOutcome, Listed, Reported } from '../terms';

/** The facts that decide an item's outcome. */
export interface Situation {
	kind: 'create' | 'upsert' | 'update';
	reported: Reported['as'];
	/** Whether the response says that the record is new; undefined if it does not say. */
	isNew: boolean | undefined;
	/** Whether an attempt got no response, so that it may have been applied. */
	wasLost: boolean;
	/** Whether such an attempt may be applied later: the service did not respond in time. */
	isPending: boolean;
	/** Whether the response says why records were not written. */
	hasReasons: boolean;
	/** What a look-up before the write found. */
	before: 'unread' | 'missing' | 'found';
	/**
	 * What a look-up after it found: a record with the values that were sent, or another one, or one
	 * that does not show whether it has them. A record that was counted without being listed has
	 * them: the service compared them.
	 */
	after: 'unread' | 'missing' | 'same' | 'different' | 'unproven';
	/** Whether both look-ups found the same version. */
	isSameVersion: boolean;
	/** Whether the record has not been changed since it was created. */
	isFirstVersion: boolean;
}

/** All that is known about an item. */
interface Evidence extends Situation {
	entry: Entry;
	context: WriteContext;
	report: Reported;
	/** The attempt of unknown result. */
	lost?: ServiceError;
	/** The item's record after the write. */
	stored?: PlatformRecord;
	/** A field in which it differs from what was sent. */
	field?: string;
	listed?: Listed;
}

type Verdict = (evidence: Evidence) => ItemOutcome;

/** A row of the table: the verdict on all situations with these facts. */
export type Row = readonly [facts: Partial<Situation>, verdict: Verdict];

/** What an outcome says about its record. */
const recordOf = ({ stored, listed }: Evidence) => {
	const record = listed?.record?.modified ? listed.record : (stored ?? listed?.record);
	if (!record) return {};
	const { id, created, modified, ver } = record;
	return { id, created, modified, ver };
};

const inserted: Verdict = (evidence) => ({ outcome: 'inserted', ...recordOf(evidence) });
const updated: Verdict = (evidence) => ({ outcome: 'updated', ...recordOf(evidence) });
const unchanged: Verdict = (evidence) => ({ outcome: 'unchanged', ...recordOf(evidence) });
const written: Verdict = (evidence) => ({ outcome: 'written', ...recordOf(evidence) });

const rejected: Verdict = ({ report }) => (report as { rejection: ItemOutcome }).rejection;

/** The rejection, with what the record holds. */
const rejectedRecord: Verdict = (evidence) => ({
	...rejected(evidence),
	id: evidence.stored!.id,
	message: `${rejected(evidence).message!}; ${heldValue(evidence)}`,
});

const notFound: Verdict = ({ entry }) => notFoundItem(entry.id);

const countedWithoutRecord: Verdict = ({ entry }) => ({
	outcome: 'failed',
	message: `The platform counted this record as written, but no record has the import key '${entry.key}': it may have been deleted since`,
});

const heldValue = ({ stored, field }: Evidence) =>
	`the record holds ${showValue(getOwn(stored!.fields, field!) ?? null)} in '${field}'`;

/** What a look-up after the write found. */
function findings(evidence: Evidence): string | undefined {
	const { entry, after } = evidence;
	if (after === 'different') return heldValue(evidence);
	if (after === 'unproven') {
		return `whether '${evidence.field}' holds what was sent can't be seen from the record`;
	}
	if (after === 'same') {
		return `the table has a record '${evidence.stored!.id}' with its values, which may have been there before`;
	}
	if (after !== 'missing') return undefined;
	return `a look-up did not find the key '${entry.key}'`;
}

const notWritten: Verdict = (evidence) => {
	const { report, stored, field } = evidence;
	const reasons = (report as { reasons: Array<{ message?: string; id?: string }> }).reasons;
	const text = joinedMessages(reasons) ?? 'no reason given';
	return {
		outcome: 'failed',
		message: `The platform did not write this record; its response does not say which item it means: ${text}; ${findings(evidence)}`,
		code: reasons.length === 1 ? reasons[0]!.id : undefined,
		id: stored?.id,
		field,
	};
};

const unknown: Verdict = (evidence) => {
	const { report, lost, stored, context, kind } = evidence;
	const rejection = report.as === 'rejected' ? report.rejection : undefined;
	const reasons = report.as === 'unclear' ? joinedMessages(report.reasons) : undefined;
	const unmentioned = `the response did not mention it${reasons ? ` (${reasons})` : ''}`;
	const reason = lost?.message ?? unmentioned;
	const isSaid = rejection === undefined || reason.includes(rejection.message!);
	const why = [reason, !isSaid && `a retry was rejected: ${rejection.message}`, findings(evidence)];
	return {
		...unknownItem(context.mode, why.filter(Boolean).join('; ')),
		// A record that was found by its key may be another writer's.
		...(kind === 'update' && { id: stored?.id }),
		status: rejection?.status ?? lost?.status,
		retryAfterMs: rejection?.retryAfterMs ?? lost?.retryAfterMs,
	};
};

/** The first row that fits decides. */
export const ROWS: readonly Row[] = [
	// A response confirms what it lists.
	[{ reported: 'listed', kind: 'update' }, updated],
	[{ reported: 'listed', kind: 'create' }, inserted],
	[{ reported: 'listed', isNew: true }, inserted],
	[{ reported: 'listed', isNew: false, wasLost: false }, updated],
	[{ reported: 'listed', before: 'missing', isFirstVersion: true }, inserted],
	[{ reported: 'listed' }, written],

	// A rejection counts unless an earlier attempt may have been applied.
	[{ reported: 'rejected', wasLost: false }, rejected],

	// All records to create were counted as inserted.
	[{ reported: 'omitted', kind: 'create' }, inserted],

	// There is nothing to update, whatever happened to the request.
	[{ after: 'missing', kind: 'update' }, notFound],

	// What is counted as a success without being listed was not changed.
	[{ reported: 'omitted', wasLost: false, after: 'missing' }, countedWithoutRecord],
	[{ reported: 'omitted', wasLost: false, after: 'same' }, unchanged],
	// If that can't be looked up, it may be one of the records that are listed.
	[{ reported: 'omitted', wasLost: false, kind: 'upsert' }, written],

	// It may have been there before: then it was rejected.
	[
		{ reported: 'unclear', kind: 'create', hasReasons: true, wasLost: false, after: 'same' },
		unknown,
	],

	// No key is unique: the record may have been there before.
	[{ kind: 'create', after: 'same', before: 'unread' }, unknown],

	// The record holds what was sent. Only a look-up before the write can show since when. An upsert
	// may have updated another writer's new record.
	[{ after: 'same', before: 'missing', kind: 'create' }, inserted],
	[{ after: 'same', before: 'missing', isFirstVersion: true }, inserted],
	[{ after: 'same', isSameVersion: true }, unchanged],
	[{ after: 'same', before: 'found' }, updated],
	[{ after: 'same' }, written],

	// The earlier attempt left no trace. If the record has changed since, that may hide one.
	[
		{ reported: 'rejected', after: 'different', isPending: false, before: 'unread' },
		rejectedRecord,
	],
	[
		{ reported: 'rejected', after: 'different', isPending: false, isSameVersion: true },
		rejectedRecord,
	],

	// The response is complete, and says that records were not written.
	[{ reported: 'unclear', wasLost: false, hasReasons: true, after: 'missing' }, notWritten],
	[{ reported: 'unclear', wasLost: false, hasReasons: true, after: 'different' }, notWritten],

	[{}, unknown],
];

/** The row that decides a situation. */
export function rowFor(situation: Situation): Row {
	const isFact = ([name, fact]: [string, unknown]) => situation[name as keyof Situation] === fact;
	return ROWS.find(([facts]) => Object.entries(facts).every(isFact))!;
}

const kindOf = (entry: Entry, context: WriteContext) => {
	const mode = modeOf(entry, context.mode);
	return mode === 'replace' ? 'update' : mode;
};

/**
 * The item's record among those with its ID or key: a listed one, else one with its values. Those of
 * a record that was only counted are not read.
 */
function recordOfEntry(
	entry: Entry,
	found: PlatformRecord[],
	report: Reported,
	context: WriteContext,
): PlatformRecord | undefined {
	const listed = 'listed' in report ? report.listed : undefined;
	const inList = found.find(({ id }) => listed?.has(idKey(id)));
	if (inList || found.length < 2) return inList ?? found[0];
	if (report.as === 'omitted') return undefined;
	const differences = found.map((record) => firstDifference(entry, record, context));
	const same = differences.indexOf(undefined);
	const unproven = differences.findIndex((one) => one?.isHeld === undefined);
	return found[same >= 0 ? same : Math.max(unproven, 0)];
}

/**
 * Resolves an item.
 *
 * @param found the records that a look-up found by its ID or key; undefined if none was made
 */
export function resolveOutcome(
	entry: Entry,
	report: Reported,
	context: WriteContext,
	found?: PlatformRecord[],
): ItemOutcome {
	const stored = found && recordOfEntry(entry, found, report, context);
	const inList = stored && 'listed' in report ? report.listed.get(idKey(stored.id)) : undefined;
	const listed = report.as === 'listed' ? report : inList;
	const { before, attempts = [] } = entry;
	const isCompared = stored && !listed && report.as !== 'omitted';
	const difference = isCompared ? firstDifference(entry, stored, context) : undefined;
	const evidence: Evidence = {
		...{ entry, context, report, stored, listed },
		lost: attempts.find(({ stillPending }) => stillPending) ?? attempts.at(-1),
		field: difference?.name,
		kind: kindOf(entry, context),
		reported: listed ? 'listed' : report.as,
		isNew: listed?.isNew,
		wasLost: attempts.length > 0,
		isPending: attempts.some(({ stillPending }) => stillPending),
		hasReasons: report.as === 'unclear' && report.reasons.length > 0,
		before: beforeOf(entry),
		after: afterOf(found, stored, difference),
		isFirstVersion: (stored ?? listed?.record)?.ver === 0,
		isSameVersion: !!before && before.id === stored?.id && isSameVersion(before, stored) === true,
	};
	const [, verdict] = rowFor(evidence);
	return asFinal(verdict(evidence), entry, context);
}

function beforeOf({ before }: Entry): Situation['before'] {
	if (before === undefined) return 'unread';
	return before === null ? 'missing' : 'found';
}

function afterOf(
	found: PlatformRecord[] | undefined,
	stored: PlatformRecord | undefined,
	difference: { isHeld: boolean | undefined } | undefined,
): Situation['after'] {
	if (!found) return 'unread';
	// Of several that have the key, the platform counted one as it is.
	if (!stored) return found.length > 0 ? 'same' : 'missing';
	if (!difference) return 'same';
	return difference.isHeld === false ? 'different' : 'unproven';
}

const LOOK_BEFORE_RETRY =
	'Look at the record before you run it again: files and messages that it already has would be added again.';

/** Warns, if the outcome is unknown, that another attempt could add values a second time. */
const asFinal = (item: ItemOutcome, entry: Entry, context: WriteContext): ItemOutcome =>
	item.outcome === 'unknown' &&
	context.mode !== 'create' &&
	isAppending(entry, context.fields.values())
		? { ...item, noRetry: true, hint: LOOK_BEFORE_RETRY }
		: item;

/** The outcome of an item that could not be looked up. */
export function unreadItem(
	entry: Entry,
	report: Reported,
	failed: ServiceError,
	context: WriteContext,
): ItemOutcome {
	const item = resolveOutcome(entry, report, context);
	if (item.outcome !== 'unknown') return item;
	const { message, retryAfterMs } = failed;
	return { ...item, message: `${item.message!}; looking it up failed: ${message}`, retryAfterMs };
}
