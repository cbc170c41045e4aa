/**
 * Writing many records is a queue of work. These functions turn a piece of work and its result into
 * outcomes and more work. Pure: the scheduler in write.ts decides when to send, and how much at
 * once.
 */
import { idKey } from '../../api/idSet';
import type { PlatformRecord, RecordMetadata } from '../../api/types';
import type { ApiResponse } from '../../transport/client';
import { isFromPlatform, ServiceError } from '../../transport/errors';
import type { WriteContext } from '../resolve/compare';
import { diffEntry } from '../resolve/diff';
import { asPlanned, modeOf } from '../entry';
import { failedItem, notSentItem, severalMatch, stoppedItem } from '../outcome';
import { resolveOutcome } from '../resolve/resolveOutcome';
import { parseBulkResponse, readReports, type BulkResponse } from './reports';
import type { Entry, ItemOutcome, Report, Reported, ResolvedEntry } from '../terms';

/** Sends a batch. */
export interface SendWork {
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
	/** Records to send in new batches, by the limits at that time. */
	unsent: Entry[];
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
	unsent: [],
	...parts,
});

const send = (records: Entry[]): Work => ({ kind: 'send', records });

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
	const open: Report[] = [];
	const closed: Report[] = [];
	for (const report of reports) {
		(isLookedUp(report) && !isUnchanged(report, context) ? open : closed).push(report);
	}
	const unread = closed.filter(([, report]) => 'listed' in report).length;
	const outcomeOf = (report: Report): ItemOutcome =>
		isUnchanged(report, context) ? { outcome: 'unchanged' } : resolveOutcome(...report, context);
	return workResult({
		outcomes: closed.map((report) => [report[0], outcomeOf(report)]),
		work: open.length > 0 ? [{ kind: 'reconcile', reports: open, unread }] : [],
	});
}

const rejectAll = (records: Entry[], rejection: ItemOutcome): Report[] =>
	records.map((entry) => [entry, { as: 'rejected', rejection }]);

/**
 * The step for records that are not sent any more, for whatever reason. Those that an earlier attempt
 * may have written are looked up.
 */
function giveUp(records: Entry[], outcome: ItemOutcome, context: WriteContext): WorkResult {
	const unsent: Reported = { as: 'rejected', rejection: outcome };
	const reports = records.map((entry): Report => [entry, entry.attempts ? { as: 'lost' } : unsent]);
	return resolve(reports, context);
}

/** The step for records that are not sent because the run stopped. */
export const afterStop = (
	records: Entry[],
	cause: ServiceError,
	context: WriteContext,
): WorkResult => giveUp(records, notSentItem(cause), context);

/** A request for a batch, and what came back. */
interface Attempt {
	/** Each has the attempts before this one. */
	records: Entry[];
	/** What the body says, also that of a failure. */
	response: BulkResponse;
	failure?: ServiceError;
	context: WriteContext;
	places?: Places;
}

/** The listed records in the order of the entries. */
export type Places = ReadonlyArray<RecordMetadata | undefined>;

const reportsIn = ({ records, response, context, places }: Attempt): Report[] =>
	readReports(records, response, modeOf(records[0]!, context.mode), places).map((report, index) => [
		records[index]!,
		report,
	]);

/** What follows from each way in which the request of a batch can end. */
const TRANSITIONS = {
	/** A response says what was written, whatever its status. */
	responded: (attempt) => resolve(reportsIn(attempt), attempt.context),
	/** It may or may not have written the records. */
	lost: ({ records, failure, context }) => ({
		...resolve(
			withAttempt(records, failure).map((entry) => [entry, { as: 'lost' }]),
			context,
		),
		// Another batch would fail too, and no time is left to retry it.
		stop: failure!.isRetryBudgetSpent ? failure : undefined,
	}),
	/** The next request would fail, too. */
	refused: ({ records, failure, context }) => ({
		...giveUp(records, stoppedItem(failure!), context),
		stop: failure,
	}),
	/** The only record was rejected. */
	rejectedAlone: ({ records, response, failure, context }) => ({
		...resolve(rejectAll(records, failedItem(failure!)), context),
		rejection: response.failed.size === 0 ? failure : undefined,
	}),
	tooLarge: ({ records }) => workResult({ unsent: records }),
	/** Some of the records are the cause, and the response says which. */
	rejectedByName: (attempt) => {
		const reports = reportsIn(attempt);
		const named = resolve(
			reports.filter(([, { as }]) => as === 'rejected'),
			attempt.context,
		);
		const good = reports.flatMap(([entry, { as }]) => (as === 'rejected' ? [] : [entry]));
		if (good.length === 0) return named;
		return { ...named, work: [...named.work, send(good)] };
	},
	/** Any of the records may be the cause. */
	rejectedTogether: ({ records, failure: rejection }) => {
		const half = Math.ceil(records.length / 2);
		const work = [send(records.slice(0, half)), send(records.slice(half))];
		return workResult({ work, rejection });
	},
} satisfies Record<string, (attempt: Attempt) => WorkResult>;

export type Ending = keyof typeof TRANSITIONS;

function endingOf({ records, response, failure }: Attempt): Ending {
	if (!failure || response.data.length > 0) return 'responded';
	if (failure.delivery === 'ambiguous') return 'lost';
	if (failure.delivery !== 'rejected' || !isDivisible(failure)) return 'refused';
	if (records.length === 1) return 'rejectedAlone';
	if (failure.status === PAYLOAD_TOO_LARGE) return 'tooLarge';
	return response.failed.size > 0 ? 'rejectedByName' : 'rejectedTogether';
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
	{ records }: SendWork,
	result: ApiResponse | ServiceError,
	context: WriteContext,
	places?: Places,
): WorkResult {
	const failure = failureIn(result);
	const previous =
		result instanceof ServiceError ? result.rejection && result : result.previousAttempt;
	const response = responseIn(result, records.length);
	const before = withAttempt(records, previous);
	const attempt: Attempt = {
		// A failure may list what was written nevertheless.
		records: response.data.length > 0 ? withAttempt(before, failure) : before,
		response,
		failure,
		context,
		places,
	};
	return TRANSITIONS[endingOf(attempt)](attempt);
}

const DELETED = new ServiceError(
	'the response lists a record that no look-up finds: it may have been deleted since',
	{ delivery: 'ambiguous' },
);

type Lookup = Omit<ReconcileWork, 'kind'>;

/**
 * A record that the response lists was deleted meanwhile: the look-up found fewer of the listed
 * records than it should. Nobody can tell which item's record that was.
 */
function isListedRecordGone({ reports, unread }: Lookup, found: Map<Entry, PlatformRecord[]>) {
	const ids = new Set([...found.values()].flat().map(({ id }) => idKey(id)));
	// All are reports on one response.
	const listed = reports.flatMap(([, report]) => ('listed' in report ? [report.listed] : []))[0];
	return [...(listed?.keys() ?? [])].filter((id) => !ids.has(id)).length > unread;
}

/**
 * The step after records were looked up.
 *
 * @param found the records with the ID or the key of each entry
 */
export function afterLookUp(
	lookup: Lookup,
	found: Map<Entry, PlatformRecord[]>,
	context: WriteContext,
): WorkResult {
	const outcomes: ResolvedEntry[] = [];
	const unsent: Entry[] = [];
	const hasDeleted = isListedRecordGone(lookup, found);
	for (const [entry, report] of lookup.reports) {
		const records = found.get(entry);
		// That record may have been this one's.
		const isOpen = hasDeleted && entry.id === undefined && records?.length === 0;
		const outcome = isOpen
			? resolveOutcome(withAttempt([entry], DELETED)[0]!, { as: 'lost' }, context, records)
			: resolveOutcome(entry, report, context, records);
		if (isSentAgain(report, outcome)) unsent.push(entry);
		// It was found before and deleted since, so it is missing.
		else if (outcome.outcome === 'notFound' && context.mode === 'upsert') {
			unsent.push({ ...asPlanned(entry), id: undefined, before: null });
		} else outcomes.push([entry, outcome]);
	}
	return workResult({ outcomes, unsent });
}

/**
 * Whether to send an item again: it was not written, and another item is to blame. The platform may
 * stop at the first bad record. That one is not sent again, so this ends.
 */
const isSentAgain = (report: Reported, { outcome }: ItemOutcome) =>
	report.as === 'unclear' && report.namesOthers && outcome === 'failed';

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
): WorkResult {
	if (stored instanceof ServiceError) {
		const outcomes = entries.map((entry): ResolvedEntry => [entry, stoppedItem(stored)]);
		return workResult({ outcomes, stop: stored });
	}
	const outcomes: ResolvedEntry[] = [];
	const unsent: Entry[] = [];
	for (const entry of entries) {
		const found = stored.get(entry);
		if (found && found.length > 1 && context.mode === 'upsert') {
			outcomes.push([entry, severalMatch(entry, found)]);
			continue;
		}
		const before = found ? (found[0] ?? null) : entry.before;
		const diff = diffEntry({ ...entry, before }, context, isDryRun);
		if ('outcome' in diff) outcomes.push([entry, diff]);
		else unsent.push(diff);
	}
	return workResult({ outcomes, unsent });
}
