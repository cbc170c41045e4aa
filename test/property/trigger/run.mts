/**
 * Records change in a sandbox while the trigger polls it through n8n's engine, by the rules of each
 * of n8n's schedulers. Polls fail, run in parallel, are dropped and killed, all at random. In the
 * end, each change must have been emitted exactly once. `npm run check -- trigger [--seeds N]
 * [--seed N] [--scheduler memory|durablePolls|durableCursors]`. A seed repeats the actions, but not
 * the exact moments at which the platform performs them, so it may take several runs to reproduce a
 * failure.
 */
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { SandboxAddress } from '../faults/sandboxes.mts';
import { Platform } from './platform.mts';
import { simulate } from './simulate.mts';
import type { Scheduler } from './triggerHost.mts';

const { values } = parseArgs({
	options: { seeds: { type: 'string' }, seed: { type: 'string' }, scheduler: { type: 'string' }, slots: { type: 'string', default: '24' } },
});

/** How many failing seeds to show in full. */
const SHOWN = 3;

const whole = (name: string, text: string) => {
	const number = Number(text);
	if (!Number.isSafeInteger(number) || number < 0) throw new Error(`--${name} ${text}: no number`);
	return number;
};

const scheduler = values.scheduler as Scheduler | undefined;
/** A seed alone repeats a failure. */
const seeds = whole('seeds', values.seeds ?? (values.seed === undefined ? '500' : '1'));
const first = values.seed === undefined ? Math.floor(Math.random() * 1e9) : whole('seed', values.seed);
const size = Math.max(1, Math.min(whole('slots', values.slots), seeds));

const worker = new Worker(new URL('../faults/sandboxes.mts', import.meta.url), { workerData: size });
const [addresses] = (await once(worker, 'message')) as [SandboxAddress[]];
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

async function runLane(address: SandboxAddress): Promise<void> {
	const platform = new Platform(address);
	while (next < seeds) {
		const seed = first + next;
		next += 1;
		await runSeed(platform, seed);
	}
}

console.log(`${seeds} seeds from ${first} on, ${size} at a time`);
await Promise.all(addresses.map(runLane));
await worker.terminate();

const seconds = ((Date.now() - started) / 1000).toFixed(1);
const { emitted, deletions, failures, overlaps, discarded, abandoned, kills } = sum;
console.log(
	`\n${emitted} items emitted, ${deletions} of them deletions, ${failures} polls failed, ${overlaps} ran at once, ${discarded} results dropped, ${abandoned} polls abandoned, ${kills} kills, in ${seconds} s`,
);
console.log(`\n${seeds - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);
