/** The outcome of an item, and those that need no look-up. Pure. */
import type { FieldValues } from '../api/types';
import type { ErrorEntry } from '../transport/errorEntries';
import type { ServiceError, Hint } from '../transport/errors';
import type { PlanOptions, WriteMode } from './plan/plan';

interface OutcomeKind {
	/** Whether the record is as the item wants it. The other outcomes are errors. */
	isSuccess: boolean;
	/** Whether it is about a stored record that no item means. */
	isRemoval?: boolean;
	/** How summaries and messages call it. */
	text: string;
}

/**
 * All outcomes. An outcome claims only what a response reports, or what a look-up proved.
 * - `inserted` · `updated` · `unchanged`: the record holds what was sent,
 * - `written`: it does, too, but it is not known whether this run changed it: a response was lost, or
 *   does not say so,
 * - `found`: the record exists and was returned unchanged, because existing ones are skipped,
 * - `skipped`: no record matched, and missing ones are skipped; or it was to be removed, but no
 *   longer matches,
 * - `deleted` · `marked`: a record that is missing from the input was deleted, or some of its
 *   fields were set,
 * - `notFound`: no record has this ID, or none matches,
 * - `failed`: it was not written,
 * - `unknown`: it may or may not have been written.
 */
const KINDS = {
	inserted: { isSuccess: true, text: 'inserted' },
	updated: { isSuccess: true, text: 'updated' },
	unchanged: { isSuccess: true, text: 'unchanged' },
	written: { isSuccess: true, text: 'written' },
	found: { isSuccess: true, text: 'found' },
	skipped: { isSuccess: true, text: 'skipped' },
	deleted: { isSuccess: true, isRemoval: true, text: 'deleted' },
	marked: { isSuccess: true, isRemoval: true, text: 'marked' },
	notFound: { isSuccess: false, text: 'not found' },
	failed: { isSuccess: false, text: 'failed' },
	unknown: { isSuccess: false, text: 'unknown' },
} satisfies Record<string, OutcomeKind>;

export type Outcome = keyof typeof KINDS;

export const OUTCOMES = KINDS as Readonly<Record<Outcome, OutcomeKind>>;

/** In the order of summaries. */
export const OUTCOME_NAMES = Object.keys(KINDS) as Outcome[];

/** How summaries and messages call an outcome. */
export const outcomeText = (outcome: Outcome) => OUTCOMES[outcome].text;

export interface ItemOutcome {
	outcome: Outcome;
	id?: string;
	created?: string;
	modified?: string;
	ver?: number;
	/** The record's values, if it was returned or written by itself. */
	fields?: FieldValues;
	/** Why it was not written, or why that is unknown. */
	message?: string;
	/** What the user can do. */
	hint?: Hint;
	field?: string;
	/** The service's own code and the HTTP status of the rejection. */
	code?: string;
	status?: number;
	/** How long the service asked to wait. */
	retryAfterMs?: number;
	/** Not sent because of other items' outcomes, which are the ones to report. */
	notAttempted?: boolean;
	/** The later item with the same key or ID, into which it was merged. */
	mergedInto?: number;
	/** Doing it again could do it twice, so the node's next attempt skips it. */
	noRetry?: boolean;
	/** Sending the same item again does no harm and may succeed. */
	isRetryable?: boolean;
	/** The fields that kept a value other than the item's, because of field rules. */
	kept?: string[];
	/** Dry run: the values that would change, before and after. */
	before?: Record<string, unknown>;
	after?: Record<string, unknown>;
}

/** Counts by outcome, all 0. @param withRemovals whether records are removed as well */
export const noCounts = (withRemovals: boolean) =>
	Object.fromEntries(
		OUTCOME_NAMES.filter((name) => withRemovals || !OUTCOMES[name].isRemoval).map((name) => [
			name,
			0,
		]),
	) as Record<Outcome, number>;

export const isSuccess = ({ outcome }: Pick<ItemOutcome, 'outcome'>) => OUTCOMES[outcome].isSuccess;

/** The outcome of an item that was not written, with the service's reason if it gave one. */
export const failure = (entry: ErrorEntry | undefined, fallback: string): ItemOutcome => ({
	outcome: 'failed',
	message: entry?.message ?? fallback,
	code: entry?.id,
});

/** The outcome of an item that the service rejected by name. */
export const rejectedItem = (entry: ErrorEntry) =>
	failure(entry, 'The platform rejected the record and gave no reason');

/** The outcome of an item in a request that was rejected as a whole, or never sent. */
export const failedItem = (error: ServiceError): ItemOutcome => ({
	outcome: 'failed',
	message: error.message,
	hint: error.hint,
	code: error.code,
	status: error.status,
	isRetryable: error.delivery !== 'rejected',
	retryAfterMs: error.retryAfterMs,
});

/** Why an item was not sent. A row's number stands beside the reason. */
export const notSent = (index: number, why: string, unit: PlanOptions['unit']) =>
	unit === 'row' ? why : `Item ${index} was not sent: ${why}`;

/** The outcome of an item that was not sent because the run stopped before it. */
export const notSentItem = (cause: ServiceError): ItemOutcome => ({
	...failedItem(cause),
	message: `Not sent, the run stopped before: ${cause.message}`,
	notAttempted: true,
});

const HINT_IF_UNKNOWN: Record<WriteMode, Hint> = {
	create: { code: 'lookBeforeCreatingAgain' },
	upsert: 'It is safe to run it again: with the same import key nothing is doubled.',
	update: 'It is safe to run it again.',
	replace: 'It is safe to run it again.',
};

/** The outcome of an item that may or may not have been written. */
export const unknownItem = (mode: WriteMode, why: string): ItemOutcome => ({
	outcome: 'unknown',
	message: `Unknown whether this record was written: ${why}`,
	hint: HINT_IF_UNKNOWN[mode],
	isRetryable: mode !== 'create',
});

/** Marks an item that may have added something: another attempt could add it again. */
export const asAppended = (item: ItemOutcome): ItemOutcome => ({
	...item,
	noRetry: true,
	hint: { code: 'lookBeforeAddingAgain' },
});
