/**
 * Random items, options and faults against the sandbox, through n8n's engine: the node's
 * outcome for each item must agree with what is stored. `npm run check -- faults [--schedules N] [--seed N]
 * [--only OPERATION]`.
 */
import fc from 'fast-check';
import { readOptions } from '../../support/options.mts';
import { startSandboxThread } from '../../support/sandboxThread.mts';
import { Results, seedsFrom, within } from '../../support/results.mts';
import { outcomesIn, situationsIn } from './coverage.mts';
import { describeTrial } from './describe.mts';
import { execute } from './execute.mts';
import { SandboxSlot } from './sandboxSlot.mts';
import { type Drawn, drawn, OPERATIONS, toCase } from './schedule.mts';
import { Trial } from './trial.mts';

const { schedules, slots, seed: first, only } = readOptions({ schedules: 2000, slots: 48 }, 'only');
const size = Math.max(1, Math.min(slots, schedules));

/** How long to look for a smaller schedule that fails. */
const SHRINK_TIME_MS = 30_000;

/** In how many of a thousand schedules each situation must have been seen at least. */
const LEAST_PER_THOUSAND = 2;

const thread = await startSandboxThread(size);
const results = new Results();
/** In how many schedules each was seen. */
const situations = new Map<string, number>();

const schedule: fc.Arbitrary<Drawn> = drawn.map((one) => ({
	...one,
	operation: OPERATIONS.find((name) => name === only) ?? one.operation,
}));

function count(trial: Trial): void {
	for (const [name, isSeen] of Object.entries(situationsIn(trial))) situations.set(name, (situations.get(name) ?? 0) + Number(isSeen));
	for (const name of outcomesIn(trial)) results.see(name);
}

/** Runs one schedule. If it fails, runs smaller versions of it. */
async function runSchedule(slot: SandboxSlot, seed: number): Promise<void> {
	let last: Trial | undefined;
	let end = Infinity;
	const property = fc.asyncProperty(schedule, async (one) => {
		// Report the smallest failure so far. A slow machine alone is not one.
		if (Date.now() > end) return;
		const isFirst = end === Infinity;
		end = Math.min(end, Date.now() + SHRINK_TIME_MS);
		const testCase = toCase(one);
		const trial = new Trial(testCase, await within(execute(slot, testCase)));
		const wrong = trial.findErrors();
		if (isFirst) count(trial);
		if (wrong.length === 0) return;
		last = trial;
		throw new Error(wrong.join('\n'));
	});
	const { failed, errorInstance } = await fc.check(property, { seed, numRuns: 1, endOnFailure: results.areMany });
	const problems = failed ? (last?.findErrors() ?? [String(errorInstance)]) : [];
	const again = `faults --schedules 1 --seed ${seed}${only && ` --only ${only}`}`;
	results.add(`${last?.title}: npm run check -- ${again}`, { problems, evidence: last ? describeTrial(last) : [] });
}

console.log(`${schedules} schedules from seed ${first} on, ${size} at a time`);
await results.runAll(
	thread.sandboxes.map((sandbox) => new SandboxSlot(sandbox)),
	seedsFrom(first, schedules),
	runSchedule,
);
await thread.stop();
const least = Math.floor((schedules / 1000) * LEAST_PER_THOUSAND);
for (const [name, times] of situations) {
	results.see(name, times);
	if (times < least) results.fail(`Seen too seldom: ${name}`);
}
results.end();
