/**
 * What became of an item, such as `inserted` or `failed`: the names, their texts, and the outcomes
 * that need no look-up. Pure.
 *
 *     isSuccess({ outcome: 'written' }); // true
 *     outcomeText('notFound'); // 'not found'
 */
import type { PlatformRecord } from '../api/types';
import { LABELS } from '../labels';
import type { ErrorEntry } from '../transport/errorEntries';
import { problemOf, ServiceError } from '../transport/errors';
import type { Entry, ItemOutcome, Outcome, PlanOptions, WriteMode } from './terms';

/**
 * All outcomes, in the order of summaries: the record is as the item wants it, or it is a stored
 * one that no item means, or it is an error.
 */
export const OUTCOMES: Readonly<Record<Outcome, 'success' | 'removal' | 'failure'>> = {
	inserted: 'success',
	updated: 'success',
	unchanged: 'success',
	written: 'success',
	found: 'success',
	skipped: 'success',
	deleted: 'removal',
	marked: 'removal',
	notFound: 'failure',
	failed: 'failure',
	unknown: 'failure',
};

export const OUTCOME_NAMES = Object.keys(OUTCOMES) as Outcome[];

/** How summaries and messages call an outcome. */
export const outcomeText = (outcome: Outcome) => (outcome === 'notFound' ? 'not found' : outcome);

/** Counts by outcome, all 0. @param withRemovals whether records are removed as well */
export const noCounts = (withRemovals: boolean) => {
	const names = OUTCOME_NAMES.filter((name) => withRemovals || OUTCOMES[name] !== 'removal');
	return Object.fromEntries(names.map((name) => [name, 0])) as Record<Outcome, number>;
};

export const isSuccess = ({ outcome }: Pick<ItemOutcome, 'outcome'>) =>
	OUTCOMES[outcome] !== 'failure';

/** What to do about a rejection that names no field. */
export const NAMES_NO_FIELD = 'See what the message asks for, then run it again.';

/** The outcome of an item that the service rejected by name. */
export const rejectedItem = ({ message, id }: ErrorEntry): ItemOutcome => ({
	outcome: 'failed',
	message: message ?? 'The platform rejected the record and gave no reason',
	code: id,
});

/** The outcome of an item in a request that was rejected as a whole, or never sent. */
export const failedItem = (error: ServiceError): ItemOutcome => ({
	...problemOf(error),
	outcome: 'failed',
});

/** The outcome of an item whose request failed for a reason that stops the run. */
export const stoppedItem = (cause: ServiceError): ItemOutcome => ({
	...failedItem(cause),
	stopsRun: true,
});

/** Why an item was not sent. A row's number stands beside the reason. */
export const notSent = (index: number, why: string, unit: PlanOptions['unit']) =>
	unit === 'row' ? why : `Item ${index} was not sent: ${why}`;

/** Why nothing more is sent after an item that did not succeed. */
export const afterFailure = () =>
	new ServiceError('an earlier item did not succeed', { delivery: 'notApplied' });

/** The outcome of an item that was not sent because the run stopped before it. */
export const notSentItem = (cause: ServiceError): ItemOutcome => ({
	...stoppedItem(cause),
	message: `Not sent, the run stopped before: ${cause.message}`,
	notAttempted: true,
});

export const notFoundItem = (id: string | undefined): ItemOutcome => ({
	outcome: 'notFound',
	id,
	message: `The table has no record with the ID '${id}'`,
	hint: `Check the ID; the record may have been deleted. If you meant to match by something else, such as an e-mail address, set '${LABELS.matchOn}' to 'Import Key' or 'Other Fields'.`,
});

/** How many matching records an error names. */
export const MATCHES_SHOWN = 5;

/** A key in quotation marks. A key of several fields has them already. */
export const quoted = (key: string) => (key.startsWith('"') ? key : `'${key}'`);

/** The outcome of an item that matches several records. */
export function severalMatch({ key }: Entry, found: PlatformRecord[]): ItemOutcome {
	const ids = found.slice(0, MATCHES_SHOWN).map(({ id }) => `'${id}'`);
	// If there are many records, not all were read.
	const isCut = found.length > MATCHES_SHOWN;
	const count = isCut ? `More than ${MATCHES_SHOWN}` : String(found.length);
	return {
		outcome: 'failed',
		message: `${count} records match ${quoted(key!)}: ${ids.join(', ')}${isCut ? ' and more' : ''}`,
		hint: `Match on more fields, correct the records, or choose another way under '${LABELS.multipleMatches}' in the options.`,
	};
}

const HINT_IF_UNKNOWN: Record<WriteMode, string> = {
	create:
		"Look for the record in the platform before you send it again. By import key, 'Create or Update' can be repeated without creating duplicates.",
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
