/** The sandbox of sandbox.cts and its administration, outside Jest. */
import { createRequire } from 'node:module';
import './compileCommonJs.mts';
import type * as Sandbox from './sandbox.cts';

export const { startSandbox, createSandboxAdmin } = createRequire(import.meta.url)(
	'./sandbox.cts',
) as typeof Sandbox;

export type {
	FaultRule,
	LoggedRequest,
	NewTable,
	RunningSandbox,
	SandboxAdmin,
	StoredRecord,
	StoredVersion,
	WorkflowRun,
} from './sandbox.cts';
