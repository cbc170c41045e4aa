/** The faults that a schedule may use: what each does, and what it may excuse. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultRule, LoggedRequest } from '../../../harness/sandboxAdmin.mts';
import { POISON } from './constants.mts';

/** Longer than a request may take in a schedule with such faults. */
export const LATE_MS = 1500;
export const SHORT_TIMEOUT_S = 1;

/** How much later a failed request is applied: before the node looks, or long after. */
const APPLIED_AFTER_MS = [100, 250, 1000, 5000];

const applied = (number = 1) => ({ writeAfterMs: APPLIED_AFTER_MS[number % APPLIED_AFTER_MS.length]! });

/**
 * What a fault leaves open:
 * - `waits`: nothing, the service asked to come back
 * - `ends`: nothing, the service did not do it and the run stops there
 * - `ambiguous`: whether it was done
 * - `refuses`: nothing, the service rejects the whole batch
 * - `records`: the service did not write some of the records
 * - `response`: the response lists fewer or more records than were written
 * - `nothing`: nothing, the response is as good as the right one
 */
export type Effect = 'waits' | 'ends' | 'ambiguous' | 'refuses' | 'records' | 'response' | 'nothing';

interface FaultKind {
	effect: Effect;
	/** Only on requests that write. */
	isBulk?: boolean;
	/** Depends on the content of a record, so it affects every request. */
	isByValue?: boolean;
	/** Only in responses to updates is it clear whose record an entry is, whatever the order. */
	isForUpdates?: boolean;
	/** @param number of the request, which decides how late it is applied */
	fault(size: number, number?: number): FaultRule['fault'];
}

const poisoned = { field: 'name', values: [POISON] };
const byValue = { isBulk: true, isByValue: true };
const status = (code: number, more: object = {}) => ({ kind: 'status', status: code, ...more });

export const FAULTS = {
	busy429: { effect: 'waits', fault: () => status(429, { retryAfterSeconds: 0 }) },
	busy503: { effect: 'waits', fault: () => status(503, { retryAfterSeconds: 0 }) },
	busyDate: { effect: 'waits', fault: () => status(429, { retryAfterDate: 0 }) },
	silent429: { effect: 'ends', fault: () => status(429) },
	denied401: { effect: 'ends', fault: () => status(401) },
	denied403: { effect: 'ends', isBulk: true, fault: () => status(403) },
	gone404: { effect: 'ends', isBulk: true, fault: () => status(404) },
	down503: { effect: 'ambiguous', fault: () => status(503) },
	error500: { effect: 'ambiguous', fault: () => status(500) },
	gateway502: { effect: 'ambiguous', fault: () => status(502) },
	gateway504: { effect: 'ambiguous', fault: () => status(504) },
	error500After: { effect: 'ambiguous', fault: () => status(500, { afterWrite: true }) },
	gateway504After: { effect: 'ambiguous', fault: () => status(504, { afterWrite: true }) },
	resetBefore: { effect: 'ambiguous', fault: () => ({ kind: 'resetBefore' }) },
	resetLate: { effect: 'ambiguous', fault: (_: number, number?: number) => ({ kind: 'resetBefore', ...applied(number) }) },
	error500Late: { effect: 'ambiguous', fault: (_: number, number?: number) => status(500, applied(number)) },
	gateway502Late: { effect: 'ambiguous', fault: (_: number, number?: number) => status(502, applied(number)) },
	resetAfter: { effect: 'ambiguous', fault: () => ({ kind: 'resetAfter' }) },
	truncated: { effect: 'ambiguous', fault: () => ({ kind: 'truncate' }) },
	truncatedToNothing: { effect: 'ambiguous', fault: () => ({ kind: 'truncate', bytes: 0 }) },
	tooShort: { effect: 'ambiguous', fault: () => ({ kind: 'wrongLength', by: -7 }) },
	tooLong: { effect: 'ambiguous', fault: () => ({ kind: 'wrongLength', by: 7 }) },
	html502: { effect: 'ambiguous', fault: () => ({ kind: 'html' }) },
	html502After: { effect: 'ambiguous', fault: () => ({ kind: 'html', afterWrite: true }) },
	html200After: { effect: 'ambiguous', fault: () => ({ kind: 'html', status: 200, afterWrite: true }) },
	empty200: { effect: 'ambiguous', fault: () => ({ kind: 'empty' }) },
	empty204After: { effect: 'ambiguous', fault: () => ({ kind: 'empty', status: 204, afterWrite: true }) },
	hang: { effect: 'ambiguous', fault: () => ({ kind: 'hang' }) },
	hangAfter: { effect: 'ambiguous', fault: () => ({ kind: 'hang', afterWrite: true }) },
	late: { effect: 'ambiguous', fault: () => ({ kind: 'slowBefore', ms: LATE_MS }) },
	refused400: { effect: 'refuses', isBulk: true, fault: () => status(400) },
	refused413: { effect: 'refuses', isBulk: true, fault: () => status(413) },
	refusedForValue400: { effect: 'refuses', ...byValue, fault: () => ({ kind: 'rejectBatch', ...poisoned }) },
	refusedForValue422: { effect: 'refuses', ...byValue, fault: () => ({ kind: 'rejectBatch', status: 422, withIndex: true, ...poisoned }) },
	refusedForValue413: { effect: 'refuses', ...byValue, fault: () => ({ kind: 'rejectBatch', status: 413, ...poisoned }) },
	refusedAbove: { effect: 'refuses', ...byValue, fault: (size) => ({ kind: 'rejectAbove', records: size }) },
	failedByValue: { effect: 'records', ...byValue, fault: () => ({ kind: 'failRecords', ...poisoned }) },
	failedWithoutIndex: { effect: 'records', ...byValue, fault: () => ({ kind: 'failRecords', withIndex: false, ...poisoned }) },
	failedByPosition: { effect: 'records', isBulk: true, fault: (size) => ({ kind: 'failRecords', indexes: [size - 1] }) },
	failedByPositionWithoutIndex: {
		effect: 'records',
		isBulk: true,
		fault: (size) => ({ kind: 'failRecords', indexes: [size - 1], withIndex: false }),
	},
	skippedByValue: { effect: 'records', ...byValue, fault: () => ({ kind: 'skipRecords', ...poisoned }) },
	skippedByPosition: { effect: 'records', isBulk: true, fault: (size) => ({ kind: 'skipRecords', indexes: [size - 1] }) },
	fewerRecords: { effect: 'response', isBulk: true, fault: (size) => ({ kind: 'fewerRecords', count: size }) },
	// More than any batch: a client can't notice as many records as it sent, but different ones.
	moreRecords: { effect: 'response', isBulk: true, fault: () => ({ kind: 'moreRecords', count: 20 }) },
	reordered: { effect: 'nothing', isBulk: true, isForUpdates: true, fault: () => ({ kind: 'reorderRecords' }) },
} satisfies Record<string, FaultKind>;

export type FaultName = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

/** Marks requests in the log that contain a text, and does nothing else. */
export const mark = (id: string, bodyContains: string): FaultRule => ({
	id,
	match: { bodyContains },
	fault: { kind: 'failRecords', indexes: [] },
});

/** The faults that a logged request met. */
export const faultsOf = ({ faults }: LoggedRequest): FaultName[] =>
	faults.map((id) => id.split(' ')[0] as FaultName).filter((name) => Object.hasOwn(FAULTS, name));

export const hasEffect = (request: LoggedRequest, ...effects: Effect[]) =>
	faultsOf(request).some((name) => effects.includes(FAULTS[name].effect));

/** Whether it was rejected before any other fault could strike. */
const isRefused = ({ status }: LoggedRequest) => status !== null && status >= 400 && status < 500;

/** Whether its response leaves open what the request did. */
export const isAmbiguous = (request: LoggedRequest) =>
	!isRefused(request) &&
	(hasEffect(request, 'ambiguous') || request.outcome !== 'completed' || ((request.status ?? 0) >= 500 && !hasEffect(request, 'waits')));

/** Whether the service applies it after it has reported that it failed. */
export const isAppliedLate = (request: LoggedRequest) => faultsOf(request).some((name) => name.endsWith('Late'));

/** Waits until requests that met such a fault are applied, so that the next run is not disturbed. */
export const waitForLate = async (rules: FaultRule[]) => {
	const delays = rules.map(({ fault }) => Number(fault.writeAfterMs ?? 0));
	const longest = Math.max(0, ...delays);
	if (longest > 0) await sleep(longest + 250);
};
