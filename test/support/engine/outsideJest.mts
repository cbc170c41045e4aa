/** n8n's engine with the built package in it (engine.cts, polls.cts), outside Jest. */
import { createRequire } from 'node:module';
import '../../../harness/compileCommonJs.mts';
import type * as Engine from './engine.cts';
import type * as Polls from './polls.cts';

const require = createRequire(import.meta.url);

export const {
	forgetAll,
	runOperation,
	runWorkflow,
	prepare,
	nodeTypes,
	ownTypes,
	searchList,
	loadOptions,
	loadColumns,
	picked,
	automatic,
	defined,
	ITEMS_TYPE,
	NODE_TYPE,
	TRIGGER_TYPE,
	WEBHOOK_TRIGGER_TYPE,
} = require('./engine.cts') as typeof Engine;

export const { unknownParameters } = require('./knownParameters.cts') as typeof import('./knownParameters.cts');

export const { watch } = require('./polls.cts') as typeof Polls;

export type { OperationRun, RunResult } from './engine.cts';
export type { Watching } from './polls.cts';
