/**
 * Writing many records is a queue of work. These functions turn a piece of work and its result into
 * outcomes and more work. Pure: the scheduler in write.ts decides when to send, and how much at
 * once.
 */
import type { PlatformRecord } from '../api/types';
import type { ApiResponse } from '../transport/client';
import { isNotFound, ServiceError } from '../transport/errors';
import { isPartial, prepareRecord, type PreparedRecord } from './batches';
import { diffRecord } from './diff';
import { type ItemOutcome, failedItem, notSentItem, rejectedItem } from './outcome';
import type { PlannedRecord } from './plan';
import { withoutAdded, type UnresolvedContext, type WriteContext } from './evidence';
import { confirmedItem } from './judge';
import { pairByPosition } from './pairing';
import { parseBulkResponse, parseSingleResponse, type BulkResponse } from './response';

/** Sends a batch. */
export interface SendWork {
	kind: 'send';
	records: PreparedRecord[];
	/** The other half of a rejected batch. If all of `records` are good, it contains the cause. */
	suspects?: Suspects;
}

interface Suspects {
	records: PreparedRecord[];
	rejection: ServiceError;
}

/** Looks up what is stored, to resolve items that no response confirms. */
export interface ReconcileWork {
	kind: 'reconcile';
	records: PreparedRecord[];
	/** All records of the request that the response does not reject, in order. */
	batch: PreparedRecord[];
	unresolved: UnresolvedContext;
}

/** Looks up what is stored before anything is sent, to send only the differences. */
export interface CompareWork {
	kind: 'compare';
	records: PlannedRecord[];
}

export type Work = SendWork | ReconcileWork | CompareWork;

export type ResolvedItem = [PreparedRecord, ItemOutcome];

/** The result of looking up items that no response confirms. */
export interface Resolution {
	outcomes: ResolvedItem[];
	/** Items whose changes were written, while another writer changed the rest of the record. */
	incomplete: ResolvedItem[];
	/** Items that a look-up proves were not written. Sending them again can't add anything twice. */
	unapplied: PreparedRecord[];
	/**
	 * Items whose outcome neither the response nor the stored record shows. A single write of each
	 * does.
	 */
	unproven: PreparedRecord[];
	/** Why the look-up failed. */
	failure?: ServiceError;
}

/** The result of a piece of work. */
export interface Step {
	outcomes: ResolvedItem[];
	/** What to do next, in this order. */
	work: Array<SendWork | ReconcileWork>;
	/** Records to send in new batches, by the limits at that time. */
	unsent: PreparedRecord[];
	/** Why nothing more can be sent. */
	stop?: ServiceError;
	/** Whether a rejected batch was divided. */
	isDivided?: boolean;
}

/** Rejections of a whole batch that a single record may have caused. */
const DIVISIBLE = new Set([400, 413, 422]);

const PAYLOAD_TOO_LARGE = 413;

const step = (parts: Partial<Step>): Step => ({ outcomes: [], work: [], unsent: [], ...parts });

/** Joins steps; the first reason to stop counts. */
const join = (...steps: Step[]): Step => ({
	outcomes: steps.flatMap(({ outcomes }) => outcomes),
	work: steps.flatMap(({ work }) => work),
	unsent: steps.flatMap(({ unsent }) => unsent),
	stop: steps.find(({ stop }) => stop)?.stop,
	isDivided: steps.some(({ isDivided }) => isDivided),
});

/** The one of two ambiguous attempts that a look-up can't resolve. */
const moreUncertain = (one: ServiceError, other: ServiceError | undefined) =>
	other?.mayStillApply ? other : one;

/** Notes in records an attempt that may have written them. */
const withAttempt = (records: PreparedRecord[], attempt: ServiceError | undefined) =>
	attempt
		? records.map((record) => ({
				...record,
				previousAttempt: moreUncertain(attempt, record.previousAttempt),
			}))
		: records;

const reconcile = (
	records: PreparedRecord[],
	batch: PreparedRecord[],
	unresolved: UnresolvedContext,
): Step =>
	step({ work: records.length > 0 ? [{ kind: 'reconcile', records, batch, unresolved }] : [] });

/**
 * Whether a previous attempt may have written an item. An attempt that was asked to wait counts
 * only if the item is then rejected: the record with its key may be its own. Only items with a key
 * are checked for that, because one request looks up many.
 */
const isOpen = (prepared: PreparedRecord, isRejected: boolean) => {
	const { previousAttempt, wasPostponed, record } = prepared;
	if (previousAttempt !== undefined) return true;
	return isRejected && wasPostponed === true && record.id === undefined && record.key !== undefined;
};

/** Looks up each item that a previous attempt may have written. The others get an outcome. */
function resolveUnwritten(
	records: PreparedRecord[],
	outcomeOf: (record: PreparedRecord) => ItemOutcome,
	isRejected: boolean,
): Step {
	const open = records.filter((prepared) => isOpen(prepared, isRejected));
	const rejections = isRejected
		? new Map(open.map((record) => [record, outcomeOf(record)]))
		: undefined;
	return join(
		step({
			outcomes: records
				.filter((prepared) => !isOpen(prepared, isRejected))
				.map((record) => [record, outcomeOf(record)]),
		}),
		reconcile(open, open, { rejections }),
	);
}

const rejectAll = (records: PreparedRecord[], error: ServiceError) =>
	resolveUnwritten(
		records,
		({ isAlone, record: { id } }) => ({
			...failedItem(error),
			...(isAlone && isNotFound(error) && { outcome: 'notFound', id }),
		}),
		true,
	);

/** The step for records that are not sent any more. */
export const afterStop = (records: PreparedRecord[], cause: ServiceError): Step =>
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

const isConfirmed = ([, { outcome }]: ResolvedItem) => outcome !== 'failed';

function afterAttempt(
	records: PreparedRecord[],
	result: ApiResponse | ServiceError,
	context: WriteContext,
	canDivide: boolean,
): Step {
	const { previousAttempt, wasPostponed } = result;
	const attempted = withAttempt(
		wasPostponed ? records.map((record) => ({ ...record, wasPostponed })) : records,
		previousAttempt,
	);
	if (!(result instanceof ServiceError)) {
		const response = records[0]!.isAlone
			? parseSingleResponse(result.body)
			: parseBulkResponse(result.body, records.length);
		return afterResponse(attempted, response, context);
	}
	const partial = result.body && parseBulkResponse(result.body, records.length);
	if (partial && partial.data.length > 0) {
		return afterResponse(withAttempt(attempted, result), partial, context);
	}
	if (result.delivery === 'ambiguous') {
		const open = withAttempt(attempted, result);
		// The next batch would fare no better, and no time is left to retry it.
		const stop = result.isRetryBudgetSpent ? result : undefined;
		return { ...reconcile(open, open, {}), stop };
	}
	const isAboutRecords = records[0]!.isAlone ?? DIVISIBLE.has(result.status ?? 0);
	if (result.delivery === 'rejected' && isAboutRecords) {
		return afterRejection(attempted, result, partial, canDivide);
	}
	const rest = resolveUnwritten(attempted, () => failedItem(result), false);
	return { ...rest, stop: result };
}

/** Divides a rejected batch until each bad record is alone. The good ones are written. */
function afterRejection(
	records: PreparedRecord[],
	rejection: ServiceError,
	partial: BulkResponse | undefined,
	canDivide: boolean,
): Step {
	if (records.length === 1) return rejectAll(records, rejection);
	if (!canDivide) {
		const why = `${rejection.message}; it was rejected together with other items, and too many batches were rejected to find out which item is the cause`;
		return rejectAll(records, new ServiceError(why, rejection));
	}
	if (rejection.status === PAYLOAD_TOO_LARGE) return step({ unsent: records, isDivided: true });
	const failed = partial?.failed ?? new Map<number, never>();
	if (failed.size > 0 && failed.size < records.length) {
		const good = records.filter((_, index) => !failed.has(index));
		return join(
			rejectNamed(records, partial!),
			step({ work: [{ kind: 'send', records: good }], isDivided: true }),
		);
	}
	return divide(records, rejection);
}

function divide(records: PreparedRecord[], rejection: ServiceError): Step {
	const half = Math.ceil(records.length / 2);
	const suspects = { records: records.slice(half), rejection };
	return step({
		work: [{ kind: 'send', records: records.slice(0, half), suspects }],
		isDivided: true,
	});
}

/** The items that the service rejected by name. */
function rejectNamed(records: PreparedRecord[], { failed }: BulkResponse): Step {
	const rejections = new Map(
		[...failed].map(([index, entry]) => [records[index]!, rejectedItem(entry)]),
	);
	return resolveUnwritten([...rejections.keys()], (record) => rejections.get(record)!, true);
}

function afterResponse(
	records: PreparedRecord[],
	response: BulkResponse,
	context: WriteContext,
): Step {
	const pairs = pair(records, response, context);
	const confirmed = new Set(pairs.map(([prepared]) => prepared));
	const accepted = records.filter((_, index) => !response.failed.has(index));
	const unreported = accepted.filter((record) => !confirmed.has(record));
	const outcomes = pairs.map(
		([prepared, metadata]): ResolvedItem => [
			prepared,
			confirmedItem(prepared, metadata, context, response),
		],
	);
	const [whole, incomplete] = partition(outcomes, ([prepared, outcome]) =>
		isProvenWhole(prepared, outcome),
	);
	return join(
		step({ outcomes: whole }),
		rejectNamed(records, response),
		sendWhole(incomplete, context),
		reconcile(unreported, accepted, { response }),
	);
}

const partition = <T>(all: T[], isFirst: (entry: T) => boolean): [T[], T[]] => [
	all.filter(isFirst),
	all.filter((entry) => !isFirst(entry)),
];

/**
 * Whether it is proven that the record holds all of an item's values after the write. If only
 * changes were sent, another writer may have changed the record since it was compared. Every change
 * raises `ver`, so a write that raised it by one came right after the look-up.
 */
const isProvenWhole = (prepared: PreparedRecord, { outcome, id, ver }: ItemOutcome) => {
	if (!isPartial(prepared)) return true;
	const before = prepared.before!;
	const isNext = before.ver !== undefined && ver === before.ver + 1;
	return outcome !== 'inserted' && id === before.id && isNext;
};

const CHANGED_MEANWHILE: Record<'inserted' | 'updated', string> = {
	inserted: 'The record was deleted meanwhile and inserted again with its changed fields only',
	updated: 'Another writer changed the record between its comparison and its update',
};

/** Writes records again with all their fields, except values that were already added. */
function sendWhole(items: ResolvedItem[], context: WriteContext): Step {
	const records = items.map((item): [ResolvedItem, PreparedRecord] => [
		item,
		asWholeRecord(item, context),
	]);
	const isWorthIt = ({ fields }: PreparedRecord) =>
		Object.keys(fields).some((name) => name !== context.key);
	const [open, done] = partition(records, ([, record]) => isWorthIt(record));
	return step({
		outcomes: done.map(([item]) => item),
		work: open.length > 0 ? [{ kind: 'send', records: open.map(([, record]) => record) }] : [],
	});
}

function asWholeRecord(
	[prepared, { outcome }]: ResolvedItem,
	context: WriteContext,
): PreparedRecord {
	const isInserted = outcome === 'inserted';
	const message = CHANGED_MEANWHILE[isInserted ? 'inserted' : 'updated'];
	return {
		...prepareRecord(prepared.record, withoutAdded(prepared, context)),
		isInserted,
		previousAttempt: new ServiceError(message, { delivery: 'ambiguous' }),
	};
}

/** The items that the response itself confirms: updates by ID, others by position. */
function pair(records: PreparedRecord[], response: BulkResponse, { mode }: WriteContext) {
	if (mode === 'create' || mode === 'upsert') {
		return pairByPosition(records, response) ?? [];
	}
	const { byId } = response;
	return records.flatMap((record, index) => {
		const metadata = response.failed.has(index) ? undefined : byId.get(record.record.id!);
		return metadata ? [[record, metadata] as const] : [];
	});
}

/** The step after looking up what no response confirmed. */
export const afterReconcile = (
	{ outcomes, incomplete, unapplied, unproven, failure }: Resolution,
	context: WriteContext,
): Step =>
	join(
		step({
			outcomes,
			work: unproven.map((record) => ({ kind: 'send', records: [record] })),
			unsent: unapplied.map((prepared) => ({
				...prepared,
				previousAttempt: undefined,
				isSentAgain: true,
			})),
			// The token may lack the right to read. Any other failure would hit the next request, too.
			stop: failure?.delivery === 'rejected' ? undefined : failure,
		}),
		sendWhole(incomplete, context),
	);

/** The step after reading what is stored, before anything is sent. */
export function afterCompare(
	{ records }: CompareWork,
	stored: Map<PlannedRecord, PlatformRecord[]> | ServiceError,
	context: WriteContext,
	isDryRun: boolean,
): Step {
	if (stored instanceof ServiceError) {
		const outcomes = records.map(
			(record): ResolvedItem => [prepareRecord(record), failedItem(stored)],
		);
		return step({ outcomes, stop: stored });
	}
	const outcomes: ResolvedItem[] = [];
	const unsent: PreparedRecord[] = [];
	for (const record of records) {
		const before = stored.get(record)?.[0];
		const { change, outcome } = diffRecord(record, before, context, isDryRun);
		if (outcome) outcomes.push([change, outcome]);
		else unsent.push(change);
	}
	return step({ outcomes, unsent });
}
