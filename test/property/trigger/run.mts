/**
 * Records change in a sandbox while the trigger polls it through n8n's engine, by the rules of each
 * of n8n's schedulers. Polls fail, run in parallel, are dropped and killed, all at random. In the
 * end, each change must have been emitted exactly once. `npm run check -- trigger [--seeds N]
 * [--seed N] [--scheduler memory|durablePolls|durableCursors]`. A seed repeats the actions, but not
 * the exact moments at which the platform performs them, so it may take several runs to reproduce a
 * failure.
 */
import { parseArgs } from 'node:util';
import { startSandboxThread } from '../../support/sandboxThread.mts';
import { SandboxSlot } from '../faults/sandboxSlot.mts';
import { seedOf, wholeNumber } from '../program.mts';
import { Platform } from './platform.mts';
import { simulate } from './simulate.mts';
import type { Scheduler } from './triggerHost.mts';

const { values } = parseArgs({
	options: { seeds: { type: 'string' }, seed: { type: 'string' }, scheduler: { type: 'string' }, slots: { type: 'string', default: '24' } },
});

/** How many failing seeds to show in full. */
const SHOWN = 3;

const scheduler = values.scheduler as Scheduler | undefined;
/** A seed alone repeats a failure. */
const seeds = wholeNumber('seeds', values.seeds ?? (values.seed === undefined ? '500' : '1'));
const first = seedOf(values.seed);
const size = Math.max(1, Math.min(wholeNumber('slots', values.slots), seeds));

const thread = await startSandboxThread(size);
const started = Date.now();
const failed: number[] = [];
const sum = { emitted: 0, deletions: 0, failures: 0, overlaps: 0, discarded: 0, abandoned: 0, kills: 0 };
let next = 0;

async function runSeed(platform: Platform, seed: number): Promise<void> {
	const outcome = await simulate(platform, seed, scheduler);
	for (const key of Object.keys(sum) as Array<keyof typeof sum>) sum[key] += outcome[key];
	if (outcome.problems.length === 0) return;
	failed.push(seed);
	console.log(`\nSeed ${seed} failed: node test/property/trigger/run.mts --seed ${seed}`);
	console.log(outcome.problems.slice(0, 10).join('\n'));
	if (failed.length > SHOWN) return;
	console.log(`${JSON.stringify(outcome.plan)}\n${outcome.history.join('\n')}`);
}

async function runLane(platform: Platform): Promise<void> {
	while (next < seeds) {
		const seed = first + next;
		next += 1;
		await runSeed(platform, seed);
	}
}

console.log(`${seeds} seeds from ${first} on, ${size} at a time`);
await Promise.all(thread.sandboxes.map(async (sandbox) => await runLane(new Platform(new SandboxSlot(sandbox)))));
await thread.stop();

const seconds = ((Date.now() - started) / 1000).toFixed(1);
const { emitted, deletions, failures, overlaps, discarded, abandoned, kills } = sum;
console.log(
	`\n${emitted} items emitted, ${deletions} of them deletions, ${failures} polls failed, ${overlaps} ran at once, ${discarded} results dropped, ${abandoned} polls abandoned, ${kills} kills, in ${seconds} s`,
);
console.log(`\n${seeds - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);
