/** The faults that a schedule may use: what each does, and what it may excuse. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
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

type Place = 'write' | 'read' | 'any';

interface FaultKind {
	effect: Effect;
	weight: number;
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
const status = (code: number, more: object = {}) => ({ kind: 'status', status: code, ...more });

export const FAULTS = {
	busy429: { effect: 'waits', weight: 4, fault: () => status(429, { retryAfterSeconds: 0 }) },
	busy503: { effect: 'waits', weight: 3, fault: () => status(503, { retryAfterSeconds: 0 }) },
	busyDate: { effect: 'waits', weight: 2, fault: () => status(429, { retryAfterDate: 0 }) },
	silent429: { effect: 'ends', weight: 1, fault: () => status(429) },
	denied401: { effect: 'ends', weight: 1, fault: () => status(401) },
	denied403: { effect: 'ends', weight: 1, isBulk: true, fault: () => status(403) },
	gone404: { effect: 'ends', weight: 1, isBulk: true, fault: () => status(404) },
	down503: { effect: 'ambiguous', weight: 2, fault: () => status(503) },
	error500: { effect: 'ambiguous', weight: 2, fault: () => status(500) },
	gateway502: { effect: 'ambiguous', weight: 1, fault: () => status(502) },
	gateway504: { effect: 'ambiguous', weight: 1, fault: () => status(504) },
	error500After: {
		effect: 'ambiguous',
		weight: 2,
		fault: () => status(500, { afterWrite: true }),
	},
	gateway504After: {
		effect: 'ambiguous',
		weight: 2,
		fault: () => status(504, { afterWrite: true }),
	},
	resetBefore: { effect: 'ambiguous', weight: 3, fault: () => ({ kind: 'resetBefore' }) },
	resetLate: {
		effect: 'ambiguous',
		weight: 2,
		fault: (_: number, number?: number) => ({ kind: 'resetBefore', ...applied(number) }),
	},
	error500Late: {
		effect: 'ambiguous',
		weight: 1,
		fault: (_: number, number?: number) => status(500, applied(number)),
	},
	gateway502Late: {
		effect: 'ambiguous',
		weight: 1,
		fault: (_: number, number?: number) => status(502, applied(number)),
	},
	resetAfter: { effect: 'ambiguous', weight: 4, fault: () => ({ kind: 'resetAfter' }) },
	truncated: { effect: 'ambiguous', weight: 3, fault: () => ({ kind: 'truncate' }) },
	truncatedToNothing: {
		effect: 'ambiguous',
		weight: 1,
		fault: () => ({ kind: 'truncate', bytes: 0 }),
	},
	tooShort: { effect: 'ambiguous', weight: 1, fault: () => ({ kind: 'wrongLength', by: -7 }) },
	tooLong: { effect: 'ambiguous', weight: 1, fault: () => ({ kind: 'wrongLength', by: 7 }) },
	html502: { effect: 'ambiguous', weight: 1, fault: () => ({ kind: 'html' }) },
	html502After: {
		effect: 'ambiguous',
		weight: 2,
		fault: () => ({ kind: 'html', afterWrite: true }),
	},
	html200After: {
		effect: 'ambiguous',
		weight: 3,
		fault: () => ({ kind: 'html', status: 200, afterWrite: true }),
	},
	empty200: { effect: 'ambiguous', weight: 1, fault: () => ({ kind: 'empty' }) },
	empty204After: {
		effect: 'ambiguous',
		weight: 1,
		fault: () => ({ kind: 'empty', status: 204, afterWrite: true }),
	},
	hang: { effect: 'ambiguous', weight: 1, fault: () => ({ kind: 'hang' }) },
	hangAfter: { effect: 'ambiguous', weight: 1, fault: () => ({ kind: 'hang', afterWrite: true }) },
	late: { effect: 'ambiguous', weight: 1, fault: () => ({ kind: 'slowBefore', ms: LATE_MS }) },
	refused400: { effect: 'refuses', weight: 2, isBulk: true, fault: () => status(400) },
	refused413: { effect: 'refuses', weight: 1, isBulk: true, fault: () => status(413) },
	refusedForValue400: {
		effect: 'refuses',
		weight: 3,
		isBulk: true,
		isByValue: true,
		fault: () => ({ kind: 'rejectBatch', ...poisoned }),
	},
	refusedForValue422: {
		effect: 'refuses',
		weight: 2,
		isBulk: true,
		isByValue: true,
		fault: () => ({ kind: 'rejectBatch', status: 422, withIndex: true, ...poisoned }),
	},
	refusedForValue413: {
		effect: 'refuses',
		weight: 1,
		isBulk: true,
		isByValue: true,
		fault: () => ({ kind: 'rejectBatch', status: 413, ...poisoned }),
	},
	refusedAbove: {
		effect: 'refuses',
		weight: 3,
		isBulk: true,
		isByValue: true,
		fault: (size) => ({ kind: 'rejectAbove', records: size }),
	},
	failedByValue: {
		effect: 'records',
		weight: 3,
		isBulk: true,
		isByValue: true,
		fault: () => ({ kind: 'failRecords', ...poisoned }),
	},
	failedWithoutIndex: {
		effect: 'records',
		weight: 3,
		isBulk: true,
		isByValue: true,
		fault: () => ({ kind: 'failRecords', withIndex: false, ...poisoned }),
	},
	failedByPosition: {
		effect: 'records',
		weight: 2,
		isBulk: true,
		fault: (size) => ({ kind: 'failRecords', indexes: [size - 1] }),
	},
	failedByPositionWithoutIndex: {
		effect: 'records',
		weight: 2,
		isBulk: true,
		fault: (size) => ({ kind: 'failRecords', indexes: [size - 1], withIndex: false }),
	},
	skippedByValue: {
		effect: 'records',
		weight: 3,
		isBulk: true,
		isByValue: true,
		fault: () => ({ kind: 'skipRecords', ...poisoned }),
	},
	skippedByPosition: {
		effect: 'records',
		weight: 4,
		isBulk: true,
		fault: (size) => ({ kind: 'skipRecords', indexes: [size - 1] }),
	},
	fewerRecords: {
		effect: 'response',
		weight: 3,
		isBulk: true,
		fault: (size) => ({ kind: 'fewerRecords', count: size }),
	},
	// More than any batch: a client can't notice as many records as it sent, but different ones.
	moreRecords: {
		effect: 'response',
		weight: 2,
		isBulk: true,
		fault: () => ({ kind: 'moreRecords', count: 20 }),
	},
	reordered: {
		effect: 'nothing',
		weight: 8,
		isBulk: true,
		isForUpdates: true,
		fault: () => ({ kind: 'reorderRecords' }),
	},
} satisfies Record<string, FaultKind>;

export type FaultName = keyof typeof FAULTS;

export const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

export interface PlannedFault {
	name: FaultName;
	on: Place;
	/** Which of the matching requests. */
	nth: number[];
	/** How many records are affected, or the position of one, from 1. */
	size: number;
}

const plannedFault: fc.Arbitrary<PlannedFault> = fc.record({
	name: fc.oneof(...FAULT_NAMES.map((name) => ({ weight: FAULTS[name].weight, arbitrary: fc.constant(name) }))),
	on: fc.constantFrom<Place>('write', 'write', 'write', 'read', 'any'),
	nth: fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
	size: fc.integer({ min: 1, max: 4 }),
});

const constantFault = (name: FaultName, nth: number, size = 1): PlannedFault => ({
	name,
	on: 'write',
	nth: [nth],
	size,
});

/** Faults that matter only one after the other. */
const sequence: fc.Arbitrary<PlannedFault[]> = fc.integer({ min: 1, max: 3 }).chain((nth) =>
	fc.constantFrom<PlannedFault[]>(
		// A lost response, then the same batch is rejected.
		[constantFault('resetAfter', nth), constantFault('refused400', nth + 1)],
		[constantFault('resetBefore', nth), constantFault('refused413', nth + 1)],
		[constantFault('html502After', nth), constantFault('refusedForValue422', 1)],
		// The token expires while a rejected batch is divided.
		[constantFault('refused400', nth), constantFault('denied401', nth + 2)],
		[constantFault('refusedForValue400', 1), constantFault('denied401', nth + 1)],
	),
);

/** Two to six faults of any kind that affect one write after the other. */
const inARow: fc.Arbitrary<PlannedFault[]> = fc
	.record({
		nth: fc.integer({ min: 1, max: 3 }),
		size: fc.integer({ min: 1, max: 4 }),
		names: fc.array(fc.constantFrom(...FAULT_NAMES.filter((name) => !('isByValue' in FAULTS[name]))), {
			minLength: 2,
			maxLength: 6,
			size: 'max',
		}),
	})
	.map(({ nth, size, names }) => names.map((name, at): PlannedFault => ({ name, on: 'write', nth: [nth + at], size })));

export const plannedFaults: fc.Arbitrary<PlannedFault[]> = fc.oneof(
	{ weight: 3, arbitrary: inARow },
	{ weight: 9, arbitrary: fc.array(plannedFault, { maxLength: 4, size: 'max' }) },
	{ weight: 1, arbitrary: sequence },
);

const WRITES = '/data/bulk$';
const READS = '/data$|/data/filter$|/data/(?!bulk$|filter$)[^/]+$';

const ruleId = ({ name }: PlannedFault, index: number) => `${name} ${index}`;

/** The sandbox's rule for a planned fault. */
export function toRule(planned: PlannedFault, index: number): FaultRule {
	const kind: FaultKind = FAULTS[planned.name];
	const path = kind.isBulk || planned.on === 'write' ? WRITES : READS;
	return {
		id: ruleId(planned, index),
		match: kind.isBulk || planned.on !== 'any' ? { path } : {},
		...(!kind.isByValue && { when: { nth: planned.nth } }),
		fault: kind.fault(planned.size, planned.size),
	};
}

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

/** Whether a fault can strike requests of a mode. */
export const canStrike = ({ name }: PlannedFault, isUpdate: boolean) => isUpdate || !('isForUpdates' in FAULTS[name]);

/** Whether a schedule with this fault needs a short request timeout. */
export const needsShortTimeout = ({ name }: PlannedFault) => ['hang', 'hangAfter', 'late'].includes(name);

/** Whether the client must assume that the service is still processing it. */
export const stillPending = (request: LoggedRequest) =>
	request.status === 504 || faultsOf(request).some((name) => ['hang', 'hangAfter', 'late'].includes(name)) || isAppliedLate(request);

/** Whether the service applies it after it has reported that it failed. */
export const isAppliedLate = (request: LoggedRequest) => faultsOf(request).some((name) => name.endsWith('Late'));

/** Waits until requests that met such a fault are applied, so that the next run is not disturbed. */
export const waitForLate = async (rules: FaultRule[]) => {
	const delays = rules.map(({ fault }) => Number(fault.writeAfterMs ?? 0));
	const longest = Math.max(0, ...delays);
	if (longest > 0) await sleep(longest + 250);
};
