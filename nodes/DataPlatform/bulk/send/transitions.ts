/**
 * Writing many records is a queue of work. These functions turn a piece of work and its result into
 * outcomes and more work. Pure: the scheduler in write.ts decides when to send, and how much at
 * once.
 */
import { idKey } from '../../api/idSet';
import type { PlatformRecord, RecordMetadata } from '../../api/types';
import type { ApiResponse } from '../../transport/client';
import { isFromPlatform, ServiceError } from '../../transport/errors';
import { diffEntry, type WriteContext } from '../resolve/compare';
import { asNew, modeOf } from '../entry';
import { failedItem, severalMatch, stoppedItem } from '../outcome';
import { resolveOutcome, unreadItem } from '../resolve/resolveOutcome';
import { parseBulkResponse, readReports, type BulkResponse } from './reports';
import type { Entry, ItemOutcome, Report, Reported, ResolvedEntry } from '../terms';

/** Sends records, in batches by the limits at that time. */
interface SendWork {
	kind: 'send';
	records: Entry[];
}

/** Looks up what is stored, to resolve items that no response confirms. */
export interface ReconcileWork {
	kind: 'reconcile';
	reports: Report[];
	/** How many other records of the request can't be looked up. */
	unread: number;
}

export type Work = SendWork | ReconcileWork;

/** The result of a piece of work. */
export interface WorkResult {
	outcomes: ResolvedEntry[];
	/** What to do next, in this order. */
	work: Work[];
	/** Why nothing more can be sent. */
	stop?: ServiceError;
	/** The rejection of all records, if it does not say that one of them is the cause. */
	rejection?: ServiceError;
}

/**
 * The platform's rejections that a batch's other records would get, too: they are about the token,
 * the table, the request or its rate. Any other 4xx may be about a single record.
 */
const ABOUT_REQUEST = new Set([
	401, 402, 403, 404, 405, 406, 407, 408, 410, 411, 414, 415, 426, 429, 431,
]);

/** Without the platform's errors, a 4xx is a gateway's: it may dislike one text, but not with these. */
const ABOUT_TOKEN = new Set([401, 407]);

const PAYLOAD_TOO_LARGE = 413;
const STORAGE_FULL = 507;

/**
 * A rejection that one bad record of a batch may cause, such as 400 or 422: the halves are sent
 * again. After the platform's 403, each of them would get the same.
 */
function isDivisible(failure: ServiceError) {
	const { status = 0 } = failure;
	const others = isFromPlatform(failure) ? ABOUT_REQUEST : ABOUT_TOKEN;
	return (status >= 400 && status < 500 && !others.has(status)) || status === STORAGE_FULL;
}

export const workResult = (parts: Partial<WorkResult>): WorkResult => ({
	outcomes: [],
	work: [],
	...parts,
});

export const sendAll = (records: Entry[]): Work[] =>
	records.length > 0 ? [{ kind: 'send', records }] : [];

/**
 * Whether an item must be looked up, because its request does not say what became of it. Without an
 * ID or a key, it can't be.
 */
function isLookedUp([{ id, key, attempts }, report]: Report): boolean {
	if (report.as === 'listed' || (id === undefined && key === undefined)) return false;
	return report.as !== 'rejected' || attempts !== undefined;
}

/** An upsert that lists no record changed none: a look-up would only tell the IDs. */
const isUnchanged = ([entry, report]: Report, { mode, withoutIds }: WriteContext) =>
	withoutIds === true &&
	modeOf(entry, mode) === 'upsert' &&
	report.as === 'omitted' &&
	report.listed.size + (entry.attempts?.length ?? 0) === 0;

/** Resolves the items that need no look-up; the others are looked up. */
function resolve(reports: Report[], context: WriteContext): WorkResult {
	const isOpen = (report: Report) => isLookedUp(report) && !isUnchanged(report, context);
	const open = reports.filter(isOpen);
	const closed = reports.filter((report) => !isOpen(report));
	const unread = closed.filter(([, report]) => 'listed' in report).length;
	const outcomeOf = (report: Report): ItemOutcome =>
		isUnchanged(report, context) ? { outcome: 'unchanged' } : resolveOutcome(...report, context);
	return workResult({
		outcomes: closed.map((report) => [report[0], outcomeOf(report)]),
		work: open.length > 0 ? [{ kind: 'reconcile', reports: open, unread }] : [],
	});
}

/**
 * The step for records that are not sent any more, for whatever reason. Those that an earlier attempt
 * may have written are looked up.
 */
export function giveUp(records: Entry[], outcome: ItemOutcome, context: WriteContext): WorkResult {
	const unsent: Reported = { as: 'rejected', rejection: outcome };
	const reports = records.map((entry): Report => [entry, entry.attempts ? { as: 'lost' } : unsent]);
	return resolve(reports, context);
}

/** The listed records in the order of the entries. */
export type Places = ReadonlyArray<RecordMetadata | undefined>;

const isRejected = ([, { as }]: Report) => as === 'rejected';

/**
 * The step after a batch was rejected.
 *
 * @param reports what the response reports, if it names records
 * @param isNamed whether it does
 */
function afterRejection(
	reports: Report[],
	failure: ServiceError,
	isNamed: boolean,
	context: WriteContext,
): WorkResult {
	const records = reports.map(([entry]) => entry);
	const [first, ...others] = records;
	if (others.length === 0) {
		const report: Report = [first!, { as: 'rejected', rejection: failedItem(failure) }];
		return { ...resolve([report], context), rejection: isNamed ? undefined : failure };
	}
	if (failure.status === PAYLOAD_TOO_LARGE) return workResult({ work: sendAll(records) });
	if (isNamed) {
		const named = resolve(reports.filter(isRejected), context);
		const good = reports.filter((report) => !isRejected(report)).map(([entry]) => entry);
		return { ...named, work: [...named.work, ...sendAll(good)] };
	}
	// Any of the records may be the cause.
	const half = Math.ceil(records.length / 2);
	const work = [...sendAll(records.slice(0, half)), ...sendAll(records.slice(half))];
	return workResult({ work, rejection: failure });
}

export const withAttempt = (records: Entry[], attempt: ServiceError | undefined) =>
	attempt
		? records.map((record) => ({ ...record, attempts: [...(record.attempts ?? []), attempt] }))
		: records;

/** A rejection after an attempt of unknown result says nothing about that attempt. */
const failureIn = (result: ApiResponse | ServiceError) =>
	result instanceof ServiceError ? (result.rejection ?? result) : undefined;

/** What the body says, also that of a failure. */
export const responseIn = (result: ApiResponse | ServiceError, size: number): BulkResponse =>
	parseBulkResponse((failureIn(result) ?? result).body ?? {}, size);

/**
 * The step after a batch was sent.
 *
 * @param places if the response may list the records in another order
 */
export function afterSend(
	sent: Entry[],
	result: ApiResponse | ServiceError,
	context: WriteContext,
	places?: Places,
): WorkResult {
	const failure = failureIn(result);
	const previous =
		result instanceof ServiceError ? result.rejection && result : result.previousAttempt;
	const response = responseIn(result, sent.length);
	const before = withAttempt(sent, previous);
	// A failure may list what was written nevertheless.
	const isListed = response.data.length > 0;
	const records = isListed ? withAttempt(before, failure) : before;
	const mode = modeOf(records[0]!, context.mode);
	const reports = readReports(records, response, mode, places).map(
		(report, index): Report => [records[index]!, report],
	);
	// A response says what was written, whatever its status.
	if (!failure || isListed) return resolve(reports, context);
	if (failure.delivery === 'ambiguous') {
		const lost = withAttempt(records, failure).map((entry): Report => [entry, { as: 'lost' }]);
		// Another batch would fail too, if no time is left to retry it.
		const stop = failure.isRetryBudgetSpent ? failure : undefined;
		return { ...resolve(lost, context), stop };
	}
	if (failure.delivery === 'rejected' && isDivisible(failure)) {
		return afterRejection(reports, failure, response.failed.size > 0, context);
	}
	// The next request would fail, too.
	return { ...giveUp(records, stoppedItem(failure), context), stop: failure };
}

const DELETED = new ServiceError(
	'the response lists a record that no look-up finds: it may have been deleted since',
	{ delivery: 'ambiguous' },
);

/**
 * A record that the response lists was deleted meanwhile: the look-up found fewer of the listed
 * records than it should. Nobody can tell which item's record that was.
 */
function isListedRecordGone({ reports, unread }: ReconcileWork, found: PlatformRecord[]) {
	const ids = new Set(found.map(({ id }) => idKey(id)));
	// All are reports on one response.
	const listed = reports.flatMap(([, report]) => ('listed' in report ? [report.listed] : []))[0];
	return [...(listed?.keys() ?? [])].filter((id) => !ids.has(id)).length > unread;
}

/**
 * The step after records were looked up.
 *
 * @param found the records with the ID or the key of each entry, or why they can't be read
 */
export function afterLookUp(
	lookup: ReconcileWork,
	found: Map<Entry, PlatformRecord[]> | ServiceError,
	context: WriteContext,
): WorkResult {
	if (found instanceof ServiceError) {
		return workResult({
			outcomes: lookup.reports.map(([entry, report]) => [
				entry,
				unreadItem(entry, report, found, context),
			]),
			// The token may lack the right to read. Any other failure would hit the next request, too.
			stop: found.delivery === 'rejected' ? undefined : found,
		});
	}
	const outcomes: ResolvedEntry[] = [];
	const unsent: Entry[] = [];
	const hasDeleted = isListedRecordGone(lookup, [...found.values()].flat());
	for (const [entry, report] of lookup.reports) {
		const records = found.get(entry);
		// That record may have been this one's.
		const isOpen = hasDeleted && entry.id === undefined && records?.length === 0;
		const outcome = isOpen
			? resolveOutcome(withAttempt([entry], DELETED)[0]!, { as: 'lost' }, context, records)
			: resolveOutcome(entry, report, context, records);
		// Another item is to blame: the platform may stop at the first bad record. That one is not sent
		// again, so this ends.
		const isSentAgain = report.as === 'unclear' && report.namesOthers;
		if (isSentAgain && outcome.outcome === 'failed') unsent.push(entry);
		// It was found before and deleted since, so it is missing.
		else if (outcome.outcome === 'notFound' && context.mode === 'upsert') {
			unsent.push(asNew(entry));
		} else outcomes.push([entry, outcome]);
	}
	return workResult({ outcomes, work: sendAll(unsent) });
}

/**
 * The step after reading what is stored, before anything is sent.
 *
 * @param stored the records of those that were not read before
 * @returns also the records to send
 */
export function afterCompare(
	entries: Entry[],
	stored: Map<Entry, PlatformRecord[]> | ServiceError,
	context: WriteContext,
	isDryRun: boolean,
): WorkResult & { differing: Entry[] } {
	if (stored instanceof ServiceError) {
		const outcomes = entries.map((entry): ResolvedEntry => [entry, stoppedItem(stored)]);
		return { ...workResult({ outcomes, stop: stored }), differing: [] };
	}
	const outcomes: ResolvedEntry[] = [];
	const differing: Entry[] = [];
	for (const entry of entries) {
		const found = stored.get(entry);
		if (found && found.length > 1 && context.mode === 'upsert') {
			outcomes.push([entry, severalMatch(entry, found)]);
			continue;
		}
		const before = found ? (found[0] ?? null) : entry.before;
		const diff = diffEntry({ ...entry, before }, context, isDryRun);
		if ('outcome' in diff) outcomes.push([entry, diff]);
		else differing.push(diff);
	}
	return { ...workResult({ outcomes }), differing };
}
