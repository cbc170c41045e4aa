/** The test engine and the sandbox's administration, outside Jest. */
import { createRequire } from 'node:module';
// Compiles .cts files as Jest does.
import '../faults/engine.mts';
import type * as Engine from '../../support/engine/engine.cts';
import type * as Polls from '../../support/engine/polls.cts';
import type * as Sandbox from '../../support/sandbox.cts';

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
} = require('../../support/engine/engine.cts') as typeof Engine;
export const { watch } = require('../../support/engine/polls.cts') as typeof Polls;
export const { startSandbox } = require('../../support/sandbox.cts') as typeof Sandbox;

export type { RunResult } from '../../support/engine/engine.cts';
export type {
	FaultRule,
	LoggedRequest,
	NewTable,
	RunningSandbox,
	StoredRecord,
	StoredVersion,
} from '../../support/sandbox.cts';
