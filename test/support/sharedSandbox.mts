/** The sandbox of a process of Jest's: its test files use one after the other, which empties it first. */

import { startSandbox, type RunningSandbox } from '../../harness/sandboxProcess.mts';

let started: Promise<RunningSandbox> | undefined;

/** Starts it without demo data if it does not run yet; it ends with the process. */
export const sharedSandbox = async (): Promise<RunningSandbox> =>
	await (started ??= startSandbox({ seeded: false, isUnreferenced: true }));
