/**
 * The faults of the table: every kind that the sandbox supports, and every status that a client may
 * meet. Those of the random schedules (test/property/faults) are reused.
 */
import { faultKinds } from '../../../sandbox/faults/rules.mts';
import { FAULTS } from '../faults/faults.mts';
import type { OtherAction } from './scenarios/scenario.mts';
import type { FaultRule } from '../../../harness/sandboxAdmin.mts';

/**
 * What a fault leaves open: see test/property/faults/faults.mts. `nothing` does no harm; `stops`
 * says that nothing was done.
 */
export type Effect = 'waits' | 'stops' | 'ambiguous' | 'refuses' | 'records' | 'response' | 'nothing';

export const FAMILIES = [
	'asked to wait',
	'refused (4xx)',
	'failed (5xx)',
	'connection broke',
	'no response in time',
	'response unreadable',
	'sent elsewhere',
	'some records refused or left out',
	'slow',
	'two in a row',
	'three in a row',
	'another writer',
] as const;

export type Family = (typeof FAMILIES)[number];

export interface FaultCase {
	name: string;
	family: Family;
	effect: Effect;
	fault: FaultRule['fault'];
	/** Only on requests with many records. */
	isBulk: boolean;
	/** Depends on the content of a record, so it affects every request. */
	isByValue: boolean;
	/** Only on updates. */
	isForUpdates: boolean;
	/** Responses come after the node has given up, or never. */
	isLate: boolean;
	/** Affect the next requests for the same item, one after the other. */
	then?: Array<{ effect: Effect; fault: FaultRule['fault'] }>;
	/** Not a fault of the platform, but an action of another writer. */
	otherWrite?: OtherAction;
}

/** The timeout for responses that come late or never. */
export const SHORT_TIMEOUT_S = 0.3;
const LATE_MS = 600;

/** How many records a fault affects, or which one. */
const SIZE = 2;

type Entry = { family: Family; effect: Effect; fault: FaultRule['fault'] } & Partial<FaultCase>;

const status = (code: number, more: object = {}): FaultRule['fault'] => ({ kind: 'status', status: code, ...more });

const refused = (code: number): [string, Entry] => [`status${code}`, { family: 'refused (4xx)', effect: 'refuses', fault: status(code) }];

const redirected = (code: number, elsewhere: string): [string, Entry] => [
	`redirect${code}`,
	{ family: 'sent elsewhere', effect: 'stops', fault: { kind: 'redirect', status: code, location: elsewhere } },
];

/** Faults that the random schedules don't use. */
const more = (elsewhere: string): Record<string, Entry> => ({
	...Object.fromEntries([400, 403, 404, 409, 410, 413, 415, 422].map(refused)),
	...Object.fromEntries([301, 302, 303, 307, 308].map((code) => redirected(code, elsewhere))),
	// A run's clock skips the minute that this asks for.
	silent429: { family: 'asked to wait', effect: 'waits', fault: status(429) },
	long429: { family: 'asked to wait', effect: 'waits', fault: status(429, { retryAfterSeconds: 20 }) },
	busy503Date: { family: 'asked to wait', effect: 'waits', fault: status(503, { retryAfterDate: 2 }) },
	// A gateway may report this although it passed everything on.
	status408: { family: 'no response in time', effect: 'ambiguous', fault: status(408) },
	status408After: { family: 'no response in time', effect: 'ambiguous', fault: status(408, { afterWrite: true }) },
	gateway502After: { family: 'failed (5xx)', effect: 'ambiguous', fault: status(502, { afterWrite: true }) },
	down503After: { family: 'failed (5xx)', effect: 'ambiguous', fault: status(503, { afterWrite: true }) },
	resetUpload: { family: 'connection broke', effect: 'ambiguous', fault: { kind: 'resetUpload', bytes: 8 } },
	late: { family: 'no response in time', effect: 'ambiguous', fault: { kind: 'slowBefore', ms: LATE_MS }, isLate: true },
	lateAfter: { family: 'no response in time', effect: 'ambiguous', fault: { kind: 'slowAfter', ms: LATE_MS }, isLate: true },
	slowBefore: { family: 'slow', effect: 'nothing', fault: { kind: 'slowBefore', ms: 15 } },
	slowAfter: { family: 'slow', effect: 'nothing', fault: { kind: 'slowAfter', ms: 15 } },
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
	const row = (family: Family, names: string[]): [string, Entry] => {
		const [first, ...others] = names.map((name) => entries[name]!);
		const then = others.map(({ effect, fault }) => ({ effect, fault }));
		const isLate = names.some((name) => entries[name]!.isLate);
		return [names.join(' + '), { ...first!, family, isLate, then }];
	};
	const two = LOST.flatMap((first) => NEXT.map((next) => row('two in a row', [first, next])));
	const three = LOST.flatMap((first, at) =>
		NEXT.map((next, number) => {
			const between = BETWEEN[(at + number) % BETWEEN.length]!;
			return row('three in a row', [first, between, next]);
		}),
	);
	return Object.fromEntries([...two, ...three]);
}

const besideOther = (otherWrite: OtherAction): [string, Entry] => [
	`other ${otherWrite}`,
	{ family: 'another writer', effect: 'nothing', fault: { kind: 'none' }, otherWrite },
];

const FAMILY_OF: Record<string, Family> = {
	resetBefore: 'connection broke',
	resetAfter: 'connection broke',
	hang: 'no response in time',
	slowBefore: 'no response in time',
	truncate: 'response unreadable',
	wrongLength: 'response unreadable',
	html: 'response unreadable',
	empty: 'response unreadable',
	rejectBatch: 'some records refused or left out',
	rejectAbove: 'some records refused or left out',
	failRecords: 'some records refused or left out',
	skipRecords: 'some records refused or left out',
	fewerRecords: 'some records refused or left out',
	moreRecords: 'some records refused or left out',
	reorderRecords: 'some records refused or left out',
};

function familyOf(fault: FaultRule['fault'], effect: Effect): Family {
	if (effect === 'waits') return 'asked to wait';
	const code = Number(fault.status);
	if (fault.kind === 'status') return code >= 500 ? 'failed (5xx)' : 'refused (4xx)';
	const family = FAMILY_OF[fault.kind];
	if (family) return family;
	throw new Error(`The fault '${fault.kind}' belongs to no family yet: test/property/matrix/faultCases.mts`);
}

function known(): Record<string, Entry> {
	const entries = Object.entries(FAULTS).map(([name, kind]): [string, Entry] => {
		const effect: Effect = kind.effect === 'ends' ? 'stops' : kind.effect;
		const fault: FaultRule['fault'] = kind.fault(SIZE);
		return [
			name,
			{
				family: familyOf(fault, effect),
				effect,
				fault,
				isBulk: 'isBulk' in kind,
				isByValue: 'isByValue' in kind,
				isForUpdates: 'isForUpdates' in kind,
				isLate: fault.kind === 'hang',
			},
		];
	});
	return Object.fromEntries(entries);
}

/**
 * @param elsewhere a URL at another origin
 * @throws {Error} if the sandbox supports a fault that has no case here
 */
export function faultCases(elsewhere: string): FaultCase[] {
	const single = { ...known(), ...more(elsewhere) };
	const cases = Object.entries({
		...single,
		...inARow(single),
		...Object.fromEntries((['update', 'insert', 'delete'] as const).map(besideOther)),
	}).map(([name, entry]) => ({ isBulk: false, isByValue: false, isForUpdates: false, isLate: false, ...entry, name }));
	const tried = new Set(cases.map(({ fault }) => fault.kind));
	const missing = faultKinds.filter((kind) => !tried.has(kind));
	if (missing.length > 0) {
		throw new Error(`The sandbox has faults that have no case here: ${missing.join(', ')}`);
	}
	return cases.sort((a, b) => FAMILIES.indexOf(a.family) - FAMILIES.indexOf(b.family));
}
