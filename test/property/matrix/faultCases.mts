/**
 * The faults of the table: every kind that the sandbox supports, and every status that a client may
 * meet. Those of the random schedules (test/property/faults) are reused.
 */
import { faultKinds } from '../../../sandbox/faults/rules.mts';
import { FAULTS, type Effect } from '../faults/faults.mts';
import type { OtherAction } from './scenarios/scenario.mts';
import type { FaultRule } from '../../../harness/sandboxAdmin.mts';

export interface FaultCase {
	name: string;
	effect: Effect;
	fault: FaultRule['fault'];
	/** Only on requests with many records. */
	isBulk?: boolean;
	/** Depends on the content of a record, so it affects every request. */
	isByValue?: boolean;
	/** Only on updates. */
	isForUpdates?: boolean;
	/** Responses come after the node has given up, or never. */
	isLate?: boolean;
	/** Affect the next requests for the same item, one after the other. */
	then?: Array<Pick<FaultCase, 'effect' | 'fault'>>;
	/** The platform's own limit: the run can't succeed as a whole. */
	isLimit?: boolean;
	/** Not a fault of the platform, but an action of another writer. */
	otherWrite?: OtherAction;
}

/** For runs under a reading of what is unknown about the platform, without a fault. */
export const noFault = (isLimit: boolean): FaultCase => ({ name: 'no fault', effect: 'nothing', fault: { kind: 'none' }, isLimit });

/** The timeout for responses that come late or never. */
export const SHORT_TIMEOUT_S = 0.3;
const LATE_MS = 600;

/** How many records a fault affects, or which one. */
const SIZE = 2;

type Entry = Omit<FaultCase, 'name'>;

const status = (code: number, more: object = {}): FaultRule['fault'] => ({ kind: 'status', status: code, ...more });

const refused = (code: number): [string, Entry] => [`status${code}`, { effect: 'refuses', fault: status(code) }];

const redirected = (code: number, elsewhere: string): [string, Entry] => [
	`redirect${code}`,
	{ effect: 'ends', fault: { kind: 'redirect', status: code, location: elsewhere } },
];

/** Faults that the random schedules don't use. */
const more = (elsewhere: string): Record<string, Entry> => ({
	...Object.fromEntries([400, 403, 404, 409, 410, 413, 415, 422].map(refused)),
	...Object.fromEntries([301, 302, 303, 307, 308].map((code) => redirected(code, elsewhere))),
	// A run's clock skips the minute that this asks for.
	silent429: { effect: 'waits', fault: status(429) },
	long429: { effect: 'waits', fault: status(429, { retryAfterSeconds: 20 }) },
	busy503Date: { effect: 'waits', fault: status(503, { retryAfterDate: 2 }) },
	// A gateway may report this although it passed everything on.
	status408: { effect: 'ambiguous', fault: status(408) },
	status408After: { effect: 'ambiguous', fault: status(408, { afterWrite: true }) },
	gateway502After: { effect: 'ambiguous', fault: status(502, { afterWrite: true }) },
	down503After: { effect: 'ambiguous', fault: status(503, { afterWrite: true }) },
	resetUpload: { effect: 'ambiguous', fault: { kind: 'resetUpload', bytes: 8 } },
	late: { effect: 'ambiguous', fault: { kind: 'slowBefore', ms: LATE_MS }, isLate: true },
	lateAfter: { effect: 'ambiguous', fault: { kind: 'slowAfter', ms: LATE_MS }, isLate: true },
	slowBefore: { effect: 'nothing', fault: { kind: 'slowBefore', ms: 15 } },
	slowAfter: { effect: 'nothing', fault: { kind: 'slowAfter', ms: 15 } },
});

/**
 * Responses that are lost after the write: what comes next decides how the node interprets them.
 */
const LOST = ['resetAfter', 'html502After', 'gateway504After', 'error500After', 'truncated'];

/** What comes next. */
const NEXT = [
	...['status400', 'denied401', 'status403', 'status404', 'status409', 'status413', 'status422'],
	...['busy429', 'silent429', 'busy503', 'down503', 'error500', 'resetBefore', 'html502', 'hang'],
];

/** The second of three in a row, which leaves the item open as well. */
const BETWEEN = ['resetAfter', 'busy503', 'resetBefore', 'gateway504After'];

/** Different faults that affect the requests for one item, one after the other. */
function inARow(entries: Record<string, Entry>): Record<string, Entry> {
	const row = (...names: string[]): [string, Entry] => {
		const [first, ...then] = names.map((name) => entries[name]!);
		const isLate = [first!, ...then].some((entry) => entry.isLate);
		return [names.join(' + '), { ...first!, isLate, then }];
	};
	const two = LOST.flatMap((first) => NEXT.map((next) => row(first, next)));
	const three = LOST.flatMap((first, at) => NEXT.map((next, number) => row(first, BETWEEN[(at + number) % BETWEEN.length]!, next)));
	return Object.fromEntries([...two, ...three]);
}

const besideOther = (otherWrite: OtherAction): [string, Entry] => [
	`other ${otherWrite}`,
	{ effect: 'nothing', fault: { kind: 'none' }, otherWrite },
];

const known = (): Record<string, Entry> =>
	Object.fromEntries(
		Object.entries(FAULTS).map(([name, kind]): [string, Entry] => {
			const fault: FaultRule['fault'] = kind.fault(SIZE);
			return [name, { ...kind, fault, isLate: fault.kind === 'hang' }];
		}),
	);

/**
 * @param elsewhere a URL at another origin
 * @throws {Error} if the sandbox supports a fault that has no case here
 */
export function faultCases(elsewhere: string): FaultCase[] {
	const single = { ...known(), ...more(elsewhere) };
	const beside = Object.fromEntries((['update', 'insert', 'delete'] as const).map(besideOther));
	const cases = Object.entries({ ...single, ...inARow(single), ...beside }).map(([name, entry]) => ({ ...entry, name }));
	const tried = new Set(cases.map(({ fault }) => fault.kind));
	const missing = faultKinds.filter((kind) => !tried.has(kind));
	if (missing.length > 0) {
		throw new Error(`The sandbox has faults that have no case here: ${missing.join(', ')}`);
	}
	return cases;
}
