/**
 * Records change in a sandbox while the trigger polls it through n8n's engine, by the rules of each
 * of n8n's schedulers. Polls fail, run in parallel, are dropped and killed, all at random. In the
 * end, each change must have been emitted exactly once. `npm run check -- trigger [--seeds N]
 * [--seed N] [--scheduler memory|durablePolls|durableCursors]`. A seed repeats the actions, but not
 * the exact moments at which the platform performs them, so it may take several runs to reproduce a
 * failure.
 */
import { readOptions } from '../../support/options.mts';
import { startSandboxThread } from '../../support/sandboxThread.mts';
import { SandboxSlot } from '../faults/sandboxSlot.mts';
import { Results, seedsFrom } from '../../support/results.mts';
import { Platform } from './platform.mts';
import { simulate } from './simulate.mts';
import type { Scheduler } from './triggerHost.mts';

const { seeds, slots, seed: first, scheduler } = readOptions({ seeds: 500, slots: 24 }, 'scheduler');
const size = Math.max(1, Math.min(slots, seeds));

const thread = await startSandboxThread(size);
const results = new Results();
console.log(`${seeds} seeds from ${first} on, ${size} at a time`);
await results.runAll(
	thread.sandboxes.map((sandbox) => new Platform(new SandboxSlot(sandbox))),
	seedsFrom(first, seeds),
	async (platform, seed) => {
		const again = `trigger --seeds 1 --seed ${seed}${scheduler && ` --scheduler ${scheduler}`}`;
		await results.run('trigger', again, async () => await simulate(platform, seed, (scheduler || undefined) as Scheduler | undefined));
	},
);
await thread.stop();
results.end();
