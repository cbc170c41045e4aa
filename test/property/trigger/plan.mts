/** What a seed stands for: options, limits, and how much is going on. */
import type { FaultRule } from '../../../harness/sandboxAdmin.mts';
import { SeededRandom } from '../../support/seededRandom.mts';
import { POLL_LIMITS, type PollLimits } from './engine.mts';
import type { Scheduler } from './triggerHost.mts';

export type TriggerOn =
	| 'created'
	| 'updated'
	| 'createdOrUpdated'
	| 'createdUpdatedOrDeleted'
	| 'deleted';
export type StartFrom = 'now' | 'beginning' | 'date';

export interface Plan {
	scheduler: Scheduler;
	/** Processes of n8n that poll in turn. */
	mains: 1 | 2;
	triggerOn: TriggerOn;
	startFrom: StartFrom;
	/** How much time lies between two checks for deletions, in minutes. */
	deletionCheckInterval: number;
	/** Seconds. */
	overlap: number;
	maximum: number;
	/** Whether some fields are loaded, which is another request than for all. */
	isPartial: boolean;
	limits: PollLimits;
	/** How many records are in the table before. */
	existing: number;
	writes: number;
	/** How many records a burst has at most. */
	burst: number;
	polls: number;
}

export function planOf(random: SeededRandom, only?: Scheduler): Plan {
	const scheduler = only ?? random.of('memory', 'durablePolls', 'durableCursors');
	const page = random.of(4, 5, 7, 10, 10, 1000);
	const isSmall = page < 1000;
	return {
		scheduler,
		mains: scheduler !== 'memory' && random.happens(0.2) ? 2 : 1,
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
		overlap: random.of(0, 0.005, 0.05, 60),
		maximum: random.of(2, 5, 20, 1000),
		isPartial: random.happens(0.3),
		limits: {
			...POLL_LIMITS,
			page,
			pageOverlap: isSmall ? random.between(1, 3) : 20,
			maxBuffered: isSmall ? random.of(6, 15, 20_000) : 20_000,
			maxTracked: isSmall ? random.of(6, 12, 5000) : 5000,
			// The sandbox's clock distinguishes milliseconds.
			settleMs: 5,
			// A failing poll gives up soon.
			maxRetryWaitS: 0.3,
		},
		existing: random.of(0, 0, 3, 12, 25),
		writes: random.between(4, 16),
		burst: random.of(4, 12, 30),
		polls: random.between(3, 8),
	};
}

export const watchesDeletions = ({ triggerOn }: Plan): boolean =>
	triggerOn === 'deleted' || triggerOn === 'createdUpdatedOrDeleted';

/** A stretch of trouble for reads; writes are left alone. */
export function troubleOf(random: SeededRandom): FaultRule[] {
	const fault: FaultRule['fault'] = random.of<FaultRule['fault']>(
		{ kind: 'status', status: 500 },
		{ kind: 'status', status: 403 },
		{ kind: 'status', status: 429, retryAfterSeconds: 0 },
		{ kind: 'resetBefore' },
		{ kind: 'resetAfter' },
		{ kind: 'truncate' },
		{ kind: 'html', status: 200, afterWrite: true },
		{ kind: 'slowAfter', ms: 8 },
	);
	// A gateway's 404 for a single record says nothing of the record.
	const single: FaultRule['fault'] = random.happens(0.5) ? { kind: 'html', status: 404 } : fault;
	const nth = Array.from({ length: random.between(1, 4) }, () => random.between(1, 8));
	return [
		{ match: { method: 'GET', path: '/data$' }, when: { nth }, fault },
		{ match: { method: 'POST', path: '/data/filter$' }, when: { nth }, fault },
		{ match: { method: 'GET', path: '/data/[^/]+$' }, when: { nth }, fault: single },
	];
}
