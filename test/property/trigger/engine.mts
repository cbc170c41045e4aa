/** The trigger's poll, with limits small enough to be reached. */
import { createRequire } from 'node:module';
import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';

const require = createRequire(import.meta.url);

/** As in nodes/DataPlatform/trigger/poll.ts. */
export interface PollLimits {
	page: number;
	pageOverlap: number;
	expected: number;
	maxBuffered: number;
	maxTracked: number;
	hashes: number;
	settleMs: number;
	maxRetryWaitS: number;
	holdBackMs: number;
}

/** As in nodes/DataPlatform/trigger/coordinator.ts. */
export type PollCoordinator = object;

interface TriggerPoll {
	poll(context: IPollFunctions, limits: PollLimits, coordinator: PollCoordinator): Promise<INodeExecutionData[][] | null>;
	POLL_LIMITS: PollLimits;
}

interface Coordinator {
	PollCoordinator: new (graceMs: number) => PollCoordinator;
}

const TRIGGER = '../../../dist/nodes/DataPlatform/trigger';

export const { poll, POLL_LIMITS } = require(`${TRIGGER}/poll.js`) as TriggerPoll;
export const { PollCoordinator } = require(`${TRIGGER}/coordinator.js`) as Coordinator;
