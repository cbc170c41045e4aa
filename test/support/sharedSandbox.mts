/** Sandboxes that a process starts once: its test files use them one after the other, and empty them first. */

import { startSandbox, type RunningSandbox } from '../../harness/sandboxProcess.mts';

const started = new Map<boolean, Promise<RunningSandbox>>();

/** Starts it with or without demo data if it does not run yet; it ends with the process. */
export async function sharedSandbox({ seeded = false } = {}): Promise<RunningSandbox> {
	const sandbox = started.get(seeded) ?? startSandbox({ seeded, isUnreferenced: true });
	started.set(seeded, sandbox);
	return await sandbox;
}
