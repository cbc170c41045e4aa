/** The test engine and the sandbox's administration, outside Jest. */
import { createRequire } from 'node:module';
// Compiles .cts files as Jest does.
import '../faults/engine.mts';
import type * as Engine from '../engine/engine.cts';
import type * as Polls from '../engine/polls.cts';
import type * as Sandbox from '../sandbox.cts';

const require = createRequire(import.meta.url);

export const {
	runOperation,
	picked,
	automatic,
	nodeTypes,
	prepare,
	searchList,
	loadOptions,
	loadColumns,
	NODE_TYPE,
} = require('../engine/engine.cts') as typeof Engine;
export const { watch } = require('../engine/polls.cts') as typeof Polls;
export const { startSandbox } = require('../sandbox.cts') as typeof Sandbox;

export type { RunResult } from '../engine/engine.cts';
export type {
	FaultRule,
	LoggedRequest,
	NewTable,
	RunningSandbox,
	StoredRecord,
	StoredVersion,
} from '../sandbox.cts';
