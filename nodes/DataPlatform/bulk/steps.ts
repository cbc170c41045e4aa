/**
 * Writing many records is a queue of work. These functions turn a piece of work and its result into
 * outcomes and more work. Pure: the scheduler in write.ts decides when to send, and how much at
 * once.
 */
import type { PlatformRecord } from '../api/types';
import type { ApiResponse } from '../transport/client';
import { isNotFound, ServiceError } from '../transport/errors';
import { diffEntry } from './diff';
import { isPartial, withSent, type Entry, type Resolved } from './entry';
import { type ItemOutcome, failedItem, notSentItem, rejectedItem } from './outcome';
import {
	holdsWhole,
	isAppending,
	withoutAdded,
	type UnresolvedContext,
	type WriteContext,
} from './evidence';
import { confirmedItem } from './judge';
import { pairByPosition } from './pairing';
import { parseBulkResponse, parseSingleResponse, type BulkResponse } from './response';

/** Sends a batch. */
export interface SendWork {
	kind: 'send';
	records: Entry[];
	/** The other half of a rejected batch. If all of `records` are good, it contains the cause. */
	suspects?: Suspects;
}

interface Suspects {
	records: Entry[];
	rejection: ServiceError;
}

/** Looks up what is stored, to resolve items that no response confirms. */
export interface ReconcileWork {
	kind: 'reconcile';
	records: Entry[];
	/** All records of the request that the response does not reject, in order. */
	batch: Entry[];
	unresolved: UnresolvedContext;
}

export type Work = SendWork | ReconcileWork;

/** The result of a piece of work. */
export interface Step {
	outcomes: Resolved[];
	/** What to do next, in this order. */
	work: Work[];
	/** Records to send in new batches, by the limits at that time. */
	unsent: Entry[];
	/** Why nothing more can be sent. */
	stop?: ServiceError;
	/** Whether a rejected batch was divided. */
	isDivided?: boolean;
}

/**
 * Rejections that a batch's other records would get, too: they are about the token, the table, the
 * request or its rate. Any other 4xx may be about a single record.
 */
const ABOUT_REQUEST = new Set([
	401, 402, 403, 404, 405, 406, 407, 408, 410, 411, 414, 415, 426, 429, 431,
]);

/** Whether a single record may have caused the rejection of a whole batch. */
const isDivisible = (status = 0) => status >= 400 && status < 500 && !ABOUT_REQUEST.has(status);

const PAYLOAD_TOO_LARGE = 413;

export const step = (parts: Partial<Step>): Step => ({
	outcomes: [],
	work: [],
	unsent: [],
	...parts,
});

/** Joins steps; the first reason to stop counts. */
export const join = (...steps: Step[]): Step => ({
	outcomes: steps.flatMap(({ outcomes }) => outcomes),
	work: steps.flatMap(({ work }) => work),
	unsent: steps.flatMap(({ unsent }) => unsent),
	stop: steps.find(({ stop }) => stop)?.stop,
	isDivided: steps.some(({ isDivided }) => isDivided),
});

/** The one of two ambiguous attempts that a look-up can't resolve. */
const moreUncertain = (one: ServiceError, other: ServiceError | undefined) =>
	other?.stillPending ? other : one;

/** Notes in records an attempt that may have written them. */
const withAttempt = (records: Entry[], attempt: ServiceError | undefined) =>
	attempt
		? records.map((record) => ({
				...record,
				previousAttempt: moreUncertain(attempt, record.previousAttempt),
			}))
		: records;

const reconcile = (records: Entry[], batch: Entry[], unresolved: UnresolvedContext): Step =>
	step({ work: records.length > 0 ? [{ kind: 'reconcile', records, batch, unresolved }] : [] });

/**
 * Whether a previous attempt may have written an item. An attempt that was asked to wait counts
 * only if the item is then rejected: the record with its key may be its own. Only items with a key
 * are checked for that, because one request looks up many.
 */
const isOpen = (entry: Entry, isRejected: boolean) => {
	const { previousAttempt, wasPostponed, id, key } = entry;
	if (previousAttempt !== undefined) return true;
	return isRejected && wasPostponed === true && id === undefined && key !== undefined;
};

/** Looks up each item that a previous attempt may have written. The others get an outcome. */
function resolveUnwritten(
	records: Entry[],
	outcomeOf: (record: Entry) => ItemOutcome,
	isRejected: boolean,
): Step {
	const [open, closed] = partition(records, (entry) => isOpen(entry, isRejected));
	const resolve = (entry: Entry): Resolved => [entry, outcomeOf(entry)];
	const rejections = isRejected ? new Map(open.map(resolve)) : undefined;
	return join(step({ outcomes: closed.map(resolve) }), reconcile(open, open, { rejections }));
}

const rejectAll = (records: Entry[], error: ServiceError) =>
	resolveUnwritten(
		records,
		({ isAlone, id }) => ({
			...failedItem(error),
			...(isAlone && isNotFound(error) && { outcome: 'notFound', id }),
		}),
		true,
	);

/** The step for records that are not sent any more. */
export const afterStop = (records: Entry[], cause: ServiceError): Step =>
	resolveUnwritten(records, () => notSentItem(cause), false);

/**
 * The step after a batch was sent.
 *
 * @param canDivide whether the run may still spend requests on dividing rejected batches
 */
export function afterSend(
	{ records, suspects }: SendWork,
	result: ApiResponse | ServiceError,
	context: WriteContext,
	canDivide: boolean,
): Step {
	const done = afterAttempt(records, result, context, canDivide);
	if (!suspects) return done;
	const areAllGood = done.outcomes.length === records.length && done.outcomes.every(isConfirmed);
	// The cause is then in the other half. Sent whole, it would only be rejected again.
	const isCauseKnown = areAllGood && canDivide && suspects.records.length > 1;
	return join(
		done,
		isCauseKnown
			? divide(suspects.records, suspects.rejection)
			: step({ work: [{ kind: 'send', records: suspects.records }] }),
	);
}

const isConfirmed = ([, { outcome }]: Resolved) => outcome !== 'failed';

/** A request for a batch, and what came back. */
interface Attempt {
	/** What previous attempts left open is noted in them. */
	records: Entry[];
	/** What the body says, also that of a failure. */
	response: BulkResponse;
	failure?: ServiceError;
	context: WriteContext;
}

/** What follows from each way in which the request of a batch can end. */
const TRANSITIONS = {
	/** A response says what was written, whatever its status. */
	responded: ({ records, response, failure, context }) =>
		afterResponse(withAttempt(records, failure), response, context),
	/** It may or may not have written the records. */
	lost: ({ records, failure }) => {
		const open = withAttempt(records, failure);
		// The next batch would fare no better, and no time is left to retry it.
		const stop = failure!.isRetryBudgetSpent ? failure : undefined;
		return { ...reconcile(open, open, {}), stop };
	},
	/** The next request would fail, too. */
	refused: ({ records, failure }) => ({
		...resolveUnwritten(records, () => failedItem(failure!), false),
		stop: failure,
	}),
	/** The only record was rejected. */
	rejectedAlone: ({ records, failure }) => rejectAll(records, failure!),
	/** Several records were rejected, and no more requests may be spent on finding the cause. */
	rejectedForGood: ({ records, failure }) => {
		const why = `${failure!.message}; it was rejected together with other items, and too many batches were rejected to find out which item is the cause`;
		return rejectAll(records, new ServiceError(why, failure!));
	},
	tooLarge: ({ records }) => step({ unsent: records, isDivided: true }),
	/** Some of the records are the cause, and the response says which. */
	rejectedByName: ({ records, response }) => {
		const good = records.filter((_, index) => !response.failed.has(index));
		return join(
			rejectNamed(records, response),
			step({ work: [{ kind: 'send', records: good }], isDivided: true }),
		);
	},
	/** Any of the records may be the cause. */
	rejectedTogether: ({ records, failure }) => divide(records, failure!),
} satisfies Record<string, (attempt: Attempt) => Step>;

export type Ending = keyof typeof TRANSITIONS;

function endingOf({ records, response, failure }: Attempt, canDivide: boolean): Ending {
	if (!failure || response.data.length > 0) return 'responded';
	if (failure.delivery === 'ambiguous') return 'lost';
	const isAboutRecords = records[0]!.isAlone ?? isDivisible(failure.status);
	if (failure.delivery !== 'rejected' || !isAboutRecords) return 'refused';
	if (records.length === 1) return 'rejectedAlone';
	if (!canDivide) return 'rejectedForGood';
	if (failure.status === PAYLOAD_TOO_LARGE) return 'tooLarge';
	const named = response.failed.size;
	return named > 0 && named < records.length ? 'rejectedByName' : 'rejectedTogether';
}

function afterAttempt(
	records: Entry[],
	result: ApiResponse | ServiceError,
	context: WriteContext,
	canDivide: boolean,
): Step {
	const { body = {}, previousAttempt, wasPostponed } = result;
	const failure = result instanceof ServiceError ? result : undefined;
	const isSingle = !failure && records[0]!.isAlone;
	const attempt: Attempt = {
		records: withAttempt(
			wasPostponed ? records.map((record) => ({ ...record, wasPostponed })) : records,
			previousAttempt,
		),
		response: isSingle ? parseSingleResponse(body) : parseBulkResponse(body, records.length),
		failure,
		context,
	};
	return TRANSITIONS[endingOf(attempt, canDivide)](attempt);
}

/** Divides a rejected batch until each bad record is alone. The good ones are written. */
function divide(records: Entry[], rejection: ServiceError): Step {
	const half = Math.ceil(records.length / 2);
	const suspects = { records: records.slice(half), rejection };
	return step({
		work: [{ kind: 'send', records: records.slice(0, half), suspects }],
		isDivided: true,
	});
}

/** The items that the service rejected by name. */
function rejectNamed(records: Entry[], { failed }: BulkResponse): Step {
	const rejections = new Map(
		[...failed].map(([index, entry]) => [records[index]!, rejectedItem(entry)]),
	);
	return resolveUnwritten([...rejections.keys()], (record) => rejections.get(record)!, true);
}

function afterResponse(records: Entry[], response: BulkResponse, context: WriteContext): Step {
	const pairs = pair(records, response, context);
	const confirmed = new Set(pairs.map(([entry]) => entry));
	const accepted = records.filter((_, index) => !response.failed.has(index));
	const unreported = accepted.filter((record) => !confirmed.has(record));
	const outcomes = pairs.map(
		([entry, metadata]): Resolved => [entry, confirmedItem(entry, metadata, context, response)],
	);
	const [whole, incomplete] = partition(outcomes, ([entry, outcome]) =>
		isProvenWhole(entry, outcome, response, context),
	);
	return join(
		step({ outcomes: whole }),
		rejectNamed(records, response),
		sendWhole(incomplete, context),
		reconcile(unreported, accepted, { response }),
	);
}

export const partition = <T>(all: T[], isFirst: (entry: T) => boolean): [T[], T[]] => [
	all.filter(isFirst),
	all.filter((entry) => !isFirst(entry)),
];

/**
 * Whether it is proven that the record holds all of an item's values after the write. If only
 * changes were sent, another writer may have changed the record since it was compared. Every change
 * raises `ver`, so a write that raised it by one came right after the look-up. The response to a
 * single write also shows the other fields: another writer may have written the same changes, and
 * more.
 */
function isProvenWhole(
	entry: Entry,
	item: ItemOutcome,
	{ byId }: BulkResponse,
	context: WriteContext,
): boolean {
	const { outcome, id, ver } = item;
	if (!isPartial(entry)) return true;
	const before = entry.before!;
	const changes = outcome === 'unchanged' ? 0 : 1;
	const isNext = before.ver !== undefined && ver === before.ver + changes;
	if (outcome === 'inserted' || !isNext || id !== before.id) return false;
	if (!entry.isAlone) return true;
	const stored = byId.get(id) as PlatformRecord;
	// The platform may store what was sent in another form.
	return holdsWhole(entry, item, stored, context, entry.sent) !== false;
}

const CHANGED_MEANWHILE: Record<'inserted' | 'updated', string> = {
	inserted: 'The record was deleted meanwhile and inserted again with its changed fields only',
	updated: 'Another writer changed the record between its comparison and its update',
};

/** Writes records again with all their fields, except values that were already added. */
export function sendWhole(items: Resolved[], context: WriteContext): Step {
	const outcomes: Resolved[] = [];
	const records: Entry[] = [];
	for (const [entry, item] of items) {
		const isInserted = item.outcome === 'inserted';
		const sent = withoutAdded(entry, context, isInserted);
		if (Object.keys(sent).every((name) => name === context.key)) {
			outcomes.push([entry, item]);
			continue;
		}
		const message = CHANGED_MEANWHILE[isInserted ? 'inserted' : 'updated'];
		const previousAttempt = new ServiceError(message, { delivery: 'ambiguous' });
		const { isAlone } = entry;
		records.push({ ...withSent(entry, sent), isAlone, isInserted, previousAttempt });
	}
	// What adds something is not sent with what is retried blindly.
	const parts = partition(records, (entry) => isAppending(entry, context));
	const work = parts.filter((part) => part.length > 0);
	return step({ outcomes, work: work.map((part) => ({ kind: 'send', records: part })) });
}

/** The items that the response itself confirms: updates by ID, others by position. */
function pair(records: Entry[], response: BulkResponse, { mode }: WriteContext) {
	if (mode === 'create' || mode === 'upsert') {
		return pairByPosition(records, response) ?? [];
	}
	const { byId } = response;
	return records.flatMap((record, index) => {
		const metadata = response.failed.has(index) ? undefined : byId.get(record.id!);
		return metadata ? [[record, metadata] as const] : [];
	});
}

/**
 * The step after reading what is stored, before anything is sent.
 *
 * @param stored the records of those that were not read before
 */
export function afterCompare(
	entries: Entry[],
	stored: Map<Entry, PlatformRecord[]> | ServiceError,
	context: WriteContext,
	isDryRun: boolean,
): Step {
	if (stored instanceof ServiceError) {
		const outcomes = entries.map((entry): Resolved => [entry, failedItem(stored)]);
		return step({ outcomes, stop: stored });
	}
	const outcomes: Resolved[] = [];
	const unsent: Entry[] = [];
	for (const entry of entries) {
		const before = stored.has(entry) ? (stored.get(entry)![0] ?? null) : entry.before;
		const diff = diffEntry({ ...entry, before }, context, isDryRun);
		if ('outcome' in diff) outcomes.push([entry, diff]);
		else unsent.push(context.isSingle ? { ...diff, isAlone: true } : diff);
	}
	return step({ outcomes, unsent });
}
