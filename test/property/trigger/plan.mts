/** What a seed determines: options, limits, and the amount of activity. */
import type { FaultRule } from '../../../harness/sandboxAdmin.mts';
import { SeededRandom } from '../../support/seededRandom.mts';
import { POLL_LIMITS, type PollLimits } from './engine.mts';
import type { Scheduler } from './triggerHost.mts';

export type TriggerOn = 'created' | 'updated' | 'createdOrUpdated' | 'createdUpdatedOrDeleted' | 'deleted';
export type StartFrom = 'now' | 'beginning' | 'date';

/** Settings of the sandbox; docs/sandbox.md. */
export interface PlatformSettings extends Record<string, unknown> {
	timePrecisionMs: number;
	maxListedRecords: number | null;
	maxFilteredRecords: number | null;
	newRecordModified: 'created' | 'later';
	lateValuesMs: number;
}

/** A page may have any maximum. */
const pageCap = (random: SeededRandom) => (random.happens(0.5) ? null : random.of(1, 2, 3, random.between(4, 10), random.between(11, 60)));

export interface Plan {
	scheduler: Scheduler;
	/** Processes of n8n that poll in turn. */
	mains: 1 | 2;
	/** Whether another execution stores old copies of the workflow's static data. */
	hasSecondWriter: boolean;
	triggerOn: TriggerOn;
	startFrom: StartFrom;
	/** The time between two checks for deletions, in minutes. */
	deletionCheckInterval: number;
	/** Seconds. */
	overlap: number;
	quietFor: number;
	maximum: number;
	/** Whether only some fields are loaded, which is a different request. */
	isPartial: boolean;
	limits: PollLimits;
	/** The resolution of the platform's times, and its page limits. */
	platform: PlatformSettings;
	/** How many records are in the table at the start. */
	existing: number;
	writes: number;
	/** The largest burst, in records. */
	burst: number;
	polls: number;
}

export function planOf(seed: number, only?: Scheduler): Plan {
	const random = new SeededRandom(seed);
	const scheduler = only ?? random.of('memory', 'durablePolls', 'durableCursors');
	const mains = scheduler !== 'memory' && random.happens(0.2) ? 2 : 1;
	const page = random.of(4, 5, 7, 10, 10, 1000);
	const isSmall = page < 1000;
	const timePrecisionMs = random.of(1, 1, 1, 1, 20, 20, 60, 1000);
	const caps = { maxListedRecords: pageCap(random), maxFilteredRecords: pageCap(random) };
	const isOne = caps.maxListedRecords === 1 || caps.maxFilteredRecords === 1;
	const readings = new SeededRandom(seed + 5e9);
	const times: Pick<PlatformSettings, 'newRecordModified' | 'lateValuesMs'> = {
		newRecordModified: readings.of('created', 'created', 'later'),
		lateValuesMs: readings.of(0, 0, 0, 3, 40),
	};
	const isCut = caps.maxListedRecords !== null || caps.maxFilteredRecords !== null;
	return {
		scheduler,
		mains,
		hasSecondWriter: scheduler !== 'memory' && mains === 1 && random.happens(0.15),
		triggerOn: random.of(
			'createdOrUpdated',
			'createdOrUpdated',
			'created',
			'updated',
			'createdUpdatedOrDeleted',
			'createdUpdatedOrDeleted',
			'deleted',
		),
		startFrom: random.of('now', 'now', 'beginning', 'date'),
		deletionCheckInterval: random.of(0, 0, 0.0005, 0.002),
		// Pages that the platform cuts are read one after the other: changes in the meantime show up
		// late.
		// A page of one record repeats nothing, so it can't show that records moved. The overlap does.
		overlap: isOne ? random.of(60) : isCut ? random.of(0.05, 60) : random.of(0, 0.005, 0.05, 60),
		quietFor: new SeededRandom(seed + 4e9).of(0, 0, 0, 0.02, 0.3),
		maximum: random.of(2, 5, 20, 1000),
		isPartial: random.happens(0.3),
		limits: {
			...POLL_LIMITS,
			page,
			pageOverlap: isSmall ? random.between(1, 3) : 20,
			maxBuffered: isSmall ? random.of(6, 15, 20_000) : 20_000,
			// No more changes may have the same time than are remembered: on a coarse clock, more do. Pages of
			// one record need the whole overlap.
			maxTracked: isSmall ? (timePrecisionMs > 1 || isOne ? 5000 : random.of(6, 12, 5000)) : 5000,
			// A failing poll gives up soon.
			maxRetryWaitS: 0.3,
			holdBackMs: 0,
			settleMs: 2 * timePrecisionMs + 20,
		},
		platform: { timePrecisionMs, ...caps, ...times },
		existing: random.of(0, 0, 3, 12, 25),
		writes: random.between(4, 16),
		burst: random.of(4, 12, 30),
		polls: random.between(3, 8),
	};
}

export const watchesDeletions = ({ triggerOn }: Plan): boolean => triggerOn === 'deleted' || triggerOn === 'createdUpdatedOrDeleted';

type Fault = FaultRule['fault'];

const faultOf = (random: SeededRandom): Fault =>
	random.of<Fault>(
		{ kind: 'status', status: 500 },
		{ kind: 'status', status: 403 },
		{ kind: 'status', status: 429, retryAfterSeconds: 0 },
		{ kind: 'resetBefore' },
		{ kind: 'resetAfter' },
		{ kind: 'truncate' },
		{ kind: 'html', status: 200, afterWrite: true },
		{ kind: 'slowAfter', ms: 8 },
		{ kind: 'slowBefore', ms: 60 },
	);

const rulesFor = (nth: number[], fault: Fault, single: Fault): FaultRule[] => [
	{ match: { method: 'GET', path: '/data$' }, when: { nth }, fault },
	{ match: { method: 'POST', path: '/data/filter$' }, when: { nth }, fault },
	{ match: { method: 'GET', path: '/data/[^/]+$' }, when: { nth }, fault: single },
];

/** A period of trouble for reads, sometimes of two kinds in a row. Writes are left alone. */
export function troubleOf(random: SeededRandom): FaultRule[] {
	const fault = faultOf(random);
	// A gateway's 404 for a single record says nothing about the record.
	const single: Fault = random.happens(0.5) ? { kind: 'html', status: 404 } : fault;
	const nth = Array.from({ length: random.between(1, 4) }, () => random.between(1, 8));
	const first = rulesFor(nth, fault, single);
	if (random.happens(0.5)) return first;
	const next = nth.map((number) => number + 1).filter((number) => !nth.includes(number));
	if (next.length === 0) return first;
	const second = faultOf(random);
	return [...first, ...rulesFor(next, second, second)];
}
