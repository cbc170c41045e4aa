/** One sandbox per Jest process: its test files use it one after the other, and empty it first. */

import { startSandbox, type RunningSandbox } from '../../harness/sandboxProcess.mts';

let started: Promise<RunningSandbox> | undefined;

/** Starts it without demo data if it does not run yet; it ends with the process. */
export const sharedSandbox = async (): Promise<RunningSandbox> => await (started ??= startSandbox({ seeded: false, isUnreferenced: true }));
