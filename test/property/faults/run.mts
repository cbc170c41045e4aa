/**
 * Random items, options and faults against the sandbox, through n8n's engine: the node's
 * outcome for each item must agree with what is stored. `npm run test:faults -- [--schedules N] [--seed N]`.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { Trial } from './trial.mts';
import { Coverage } from './coverage.mts';
import { execute } from './execute.mts';
import { SandboxSlot } from './sandboxSlot.mts';
import { describeTrial } from './describeTrial.mts';
import type { SandboxAddress } from './sandboxes.mts';
import { type Drawn, drawn, toCase } from './schedule.mts';

const { values } = parseArgs({
	options: {
		schedules: { type: 'string', default: '2000' },
		seed: { type: 'string' },
		slots: { type: 'string', default: '48' },
	},
});

/** How many failing schedules are made smaller; the others are only counted. */
const SHRUNK = 3;
const SHRINK_TIME_MS = 30_000;

/** No schedule has so many waits in it. */
const LONGEST_RUN_MS = 120_000;

const whole = (name: string, text: string) => {
	const number = Number(text);
	if (!Number.isSafeInteger(number) || number < 0) throw new Error(`--${name} ${text}: no number`);
	return number;
};

const schedules = whole('schedules', values.schedules);
const firstSeed =
	values.seed === undefined ? Math.floor(Math.random() * 1e9) : whole('seed', values.seed);
const size = Math.max(1, Math.min(whole('slots', values.slots), schedules));

const worker = new Worker(new URL('./sandboxes.mts', import.meta.url), { workerData: size });
const [addresses] = (await once(worker, 'message')) as [SandboxAddress[]];
const coverage = new Coverage();
const started = Date.now();
const failed: number[] = [];
let next = 0;
let passed = 0;

/** Runs one schedule; where it fails, again and again with less in it. */
async function runSchedule(slot: SandboxSlot, seed: number): Promise<void> {
	let isFirst = true;
	let last: Trial | undefined;
	let shrunkBy = Infinity;
	// A run that does not end goes on: it must not get into the way of the next schedule.
	let running: Promise<unknown> = Promise.resolve();
	const runOnce = async (schedule: Drawn) => {
		const testCase = toCase(schedule);
		const run = execute(slot, testCase);
		running = run.catch(() => undefined);
		const evidence = await Promise.race([
			run,
			sleep(LONGEST_RUN_MS, undefined, { ref: false }).then(() => {
				throw new Error(`It does not end: ${JSON.stringify(testCase)}`);
			}),
		]);
		if (isFirst) coverage.add(testCase, evidence);
		isFirst = false;
		const trial = new Trial(testCase, evidence);
		const wrong = trial.findErrors();
		if (wrong.length === 0) return;
		last = trial;
		throw new Error(wrong.join('\n'));
	};
	const property = fc.asyncProperty(drawn, async (schedule) => {
		// The failure stays as small as it is by then. A slow machine alone is none.
		if (Date.now() > shrunkBy) return;
		try {
			await runOnce(schedule);
		} catch (error) {
			shrunkBy = Math.min(shrunkBy, Date.now() + SHRINK_TIME_MS);
			throw error;
		}
	});
	const result = await fc.check(property, {
		seed,
		numRuns: 1,
		endOnFailure: failed.length >= SHRUNK,
	});
	await Promise.race([running, sleep(LONGEST_RUN_MS, undefined, { ref: false })]);
	if (!result.failed) {
		passed += 1;
		return;
	}
	failed.push(seed);
	if (failed.length > SHRUNK) {
		console.log(`\nSeed ${seed} failed: ${last?.findErrors().join('; ') ?? 'no run'}`);
		return;
	}
	console.log(`\nSeed ${seed} failed: npm run test:faults -- --schedules 1 --seed ${seed}`);
	if (last) console.log(describeTrial(last));
	else console.log(result.errorInstance);
}

async function runSlot(address: SandboxAddress): Promise<void> {
	const slot = new SandboxSlot(address);
	while (next < schedules) {
		const seed = firstSeed + next;
		next += 1;
		await runSchedule(slot, seed);
	}
}

console.log(`${schedules} schedules from seed ${firstSeed} on, ${size} at a time`);
await Promise.all(addresses.map(runSlot));
await worker.terminate();

const seconds = ((Date.now() - started) / 1000).toFixed(1);
console.log(`\n${coverage.toString()} in ${seconds} s`);
const { missing } = coverage;
if (missing.length > 0) console.log(`\nSeen too seldom: ${missing.join(', ')}`);
if (failed.length > SHRUNK) console.log(`\nSeeds that failed: ${failed.join(', ')}`);
console.log(`\n${passed} passed, ${failed.length} failed`);
process.exit(failed.length + missing.length > 0 ? 1 : 0);
