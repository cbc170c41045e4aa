/**
 * Random items, options and faults against the sandbox, through n8n's engine: the node's
 * outcome for each item must agree with what is stored. `npm run check -- faults [--schedules N] [--seed N]`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { startSandboxThread } from '../../support/sandboxThread.mts';
import { LONGEST_RUN_MS, seedOf, wholeNumber } from '../program.mts';
import { Coverage } from './coverage.mts';
import { describeTrial } from './describe.mts';
import { execute } from './execute.mts';
import { SandboxSlot } from './sandboxSlot.mts';
import { type Drawn, drawn, OPERATIONS, toCase } from './schedule.mts';
import { Trial } from './trial.mts';

const { values } = parseArgs({
	options: {
		schedules: { type: 'string', default: '2000' },
		seed: { type: 'string' },
		slots: { type: 'string', default: '48' },
		shrink: { type: 'string', default: '3' },
		/** One of the operations, such as `deleteMany`. */
		only: { type: 'string' },
	},
});

/** How many failing schedules to shrink; the others are only counted. */
const SHRUNK = wholeNumber('shrink', values.shrink);
const SHRINK_TIME_MS = 30_000;

const schedules = wholeNumber('schedules', values.schedules);
const firstSeed = seedOf(values.seed);
const size = Math.max(1, Math.min(wholeNumber('slots', values.slots), schedules));

const thread = await startSandboxThread(size);
const coverage = new Coverage();
const started = Date.now();
const failed: number[] = [];
let next = 0;
let passed = 0;

const schedule: fc.Arbitrary<Drawn> = drawn.map((one) => ({
	...one,
	operation: OPERATIONS.find((name) => name === values.only) ?? one.operation,
}));

/** Runs one schedule. If it fails, runs smaller versions of it. */
async function runSchedule(slot: SandboxSlot, seed: number): Promise<void> {
	let isFirst = true;
	let last: { trial: Trial; wrong: string[] } | undefined;
	let shrunkBy = Infinity;
	// A run that does not end continues, and must not affect the next schedule.
	let running: Promise<unknown> = Promise.resolve();
	const runOnce = async (one: Drawn) => {
		const testCase = toCase(one);
		const run = execute(slot, testCase);
		running = run.catch(() => undefined);
		const evidence = await Promise.race([
			run,
			sleep(LONGEST_RUN_MS, undefined, { ref: false }).then(() => {
				throw new Error(`It does not end: ${JSON.stringify(one)}`);
			}),
		]);
		const trial = new Trial(testCase, evidence);
		const wrong = trial.findErrors();
		if (isFirst) coverage.add(trial);
		isFirst = false;
		if (wrong.length === 0) return;
		last = { trial, wrong };
		throw new Error(wrong.join('\n'));
	};
	const property = fc.asyncProperty(schedule, async (one) => {
		// Report the smallest failure so far. A slow machine alone is not one.
		if (Date.now() > shrunkBy) return;
		try {
			await runOnce(one);
		} catch (error) {
			shrunkBy = Math.min(shrunkBy, Date.now() + SHRINK_TIME_MS);
			throw error;
		}
	});
	const result = await fc.check(property, { seed, numRuns: 1, endOnFailure: failed.length >= SHRUNK });
	await Promise.race([running, sleep(LONGEST_RUN_MS, undefined, { ref: false })]);
	if (!result.failed) {
		passed += 1;
		return;
	}
	failed.push(seed);
	const only = values.only ? ` --only ${values.only}` : '';
	const again = `npm run check -- faults --schedules 1 --seed ${seed}${only}`;
	if (failed.length > SHRUNK) {
		const wrong = last?.wrong.join('; ') ?? String(result.errorInstance);
		console.log(`\nSeed ${seed} failed (${last?.trial.title ?? 'no run'}): ${wrong}`);
		console.log(`  ${again}`);
		return;
	}
	console.log(`\nSeed ${seed} failed: ${again}`);
	if (last) console.log(describeTrial(last.trial));
	else console.log(result.errorInstance);
}

async function runSlot(slot: SandboxSlot): Promise<void> {
	while (next < schedules) {
		const seed = firstSeed + next;
		next += 1;
		await runSchedule(slot, seed);
	}
}

console.log(`${schedules} schedules from seed ${firstSeed} on, ${size} at a time`);
await Promise.all(thread.sandboxes.map(async (sandbox) => await runSlot(new SandboxSlot(sandbox))));
await thread.stop();

const seconds = ((Date.now() - started) / 1000).toFixed(1);
console.log(`\n${coverage.toString()} in ${seconds} s`);
const { missing } = coverage;
if (missing.length > 0) console.log(`\nSeen too seldom: ${missing.join(', ')}`);
if (failed.length > SHRUNK) console.log(`\nSeeds that failed: ${failed.join(', ')}`);
console.log(`\n${passed} passed, ${failed.length} failed`);
process.exit(failed.length + missing.length > 0 ? 1 : 0);
