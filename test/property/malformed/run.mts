/**
 * Malformed responses, drawn at random, to every operation, the trigger's poll and the editor's lists,
 * through n8n's engine: nothing crashes or hangs, no outcome is wrong, and errors are messages for users.
 *
 *   npm run check -- malformed [--responses N | --runs N] [--seed N] [--only TEXT] [--slots N]
 *
 * The sandbox serves each request; its response is made malformed on the way back. `--only` takes a
 * part of `what / malformation`; a seed repeats what is drawn.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { runCase, type Verdict } from '../matrix/runCase.mts';
import { SHORT_TIMEOUT_S } from '../matrix/faultCases.mts';
import { startSandboxThread } from '../../support/sandboxThread.mts';
import { EVENTS, runPolls } from '../matrix/runPolls.mts';
import { scenarios } from '../matrix/scenarios/index.mts';
import { SeededRandom } from '../../support/seededRandom.mts';
import { malformations, type Malformation } from './malformations.mts';
import { MalformedSandbox, malformedResponse } from './malformedSandbox.mts';
import { editorMethods, runEditor } from './runEditor.mts';
import { Gateway } from './gateway.mts';
import { Results, seedOf, wholeNumber, within } from '../program.mts';

const { values } = parseArgs({
	options: {
		responses: { type: 'string', default: '1000' },
		runs: { type: 'string' },
		seed: { type: 'string' },
		only: { type: 'string', default: '' },
		slots: { type: 'string', default: '10' },
	},
});

/** One in this many draws has many megabytes or levels. */
const LARGE_EVERY = 40;

/** How much longer than a timeout a busy machine may take. */
const SLACK_MS = 15_000;

const responses = wholeNumber('responses', values.responses);
const runs = values.runs === undefined ? Infinity : wholeNumber('runs', values.runs);
const first = seedOf(values.seed);

interface Row {
	name: string;
	/** Its timeout can't be made short. */
	hasFixedTimeout?: boolean;
	run(slot: MalformedSandbox, seed: number, isLate: boolean): Promise<Verdict>;
}

const plan = (seed: number, isLate: boolean) => ({ faultCase: malformedResponse(isLate), timing: 'every', seed }) as const;

const rows: Row[] = [
	...(await scenarios()).map((scenario) => ({
		name: scenario.operation,
		run: async (slot: MalformedSandbox, seed: number, isLate: boolean) => await runCase(slot, scenario, plan(seed, isLate)),
	})),
	...EVENTS.map((event) => ({
		name: `trigger: ${event}`,
		run: async (slot: MalformedSandbox, seed: number, isLate: boolean) => await runPolls(slot, event, plan(seed, isLate)),
	})),
	...editorMethods().map((name) => ({
		name: `editor: ${name}`,
		hasFixedTimeout: true,
		run: async (slot: MalformedSandbox) => await runEditor(slot, slot.sandbox, name),
	})),
];

interface Job {
	row: Row;
	seed: number;
	malformation: Malformation;
	strikes(number: number, method: string): boolean;
	title: string;
}

/** Which requests: one of the first, the first possible write, or all. */
function chooseRequests(random: SeededRandom): Job['strikes'] {
	const kind = random.of('first', 'write', 'write', 'later', 'every');
	const nth = random.between(2, 5);
	let isStruck = false;
	return (number, method) => {
		if (kind === 'every') return true;
		if (kind !== 'write') return number === (kind === 'first' ? 1 : nth);
		const isFirst = !isStruck && method !== 'GET';
		isStruck ||= isFirst;
		return isFirst;
	};
}

function* jobs(): Generator<Job> {
	const isEnough = () => runs === Infinity && struck >= responses;
	for (let number = 0; number < runs && !isEnough(); number += 1) {
		const seed = first + number;
		const row = rows[seed % rows.length]!;
		const random = new SeededRandom(seed);
		const kind = random.between(1, LARGE_EVERY) === 1 ? malformations.large : malformations.any;
		const [malformation] = fc.sample(fc.noBias(kind), { seed, numRuns: 1 });
		const title = `${row.name} / ${malformation!.name}`;
		if (!title.includes(values.only)) continue;
		if (row.hasFixedTimeout && malformation!.name === 'drip') continue;
		yield { row, seed, malformation: malformation!, strikes: chooseRequests(random), title };
	}
}

const thread = await startSandboxThread(wholeNumber('slots', values.slots));
const slots = await Promise.all(
	thread.sandboxes.map(async (sandbox) => new MalformedSandbox(sandbox, await new Gateway(sandbox.baseUrl).open())),
);

let struck = 0;
const results = new Results();
const sum = { done: 0, failed: 0, unknown: 0 };
const crashes: string[] = [];
process.on('uncaughtException', (error) => crashes.push(error.stack ?? String(error)));
process.on('unhandledRejection', (error) => crashes.push(String((error as Error)?.stack ?? error)));

/**
 * Requests that the node waited for longer than it says. A file may take longer while bytes arrive.
 */
function overdue({ gateway }: MalformedSandbox, isLate: boolean, isFile: boolean): string[] {
	if (isLate && isFile) return [];
	const limit = (isLate ? SHORT_TIMEOUT_S * 1000 : 30_000) + SLACK_MS;
	const waits = gateway.lastRun.map(({ waited, startedAt }) => waited ?? performance.now() - startedAt);
	const longest = Math.max(0, ...waits);
	return longest > limit ? [`a request took ${Math.round(longest)} ms`] : [];
}

async function runJob(slot: MalformedSandbox, job: Job): Promise<void> {
	const { row, seed, malformation, strikes } = job;
	const title = `${job.title} (seed ${seed})`;
	const again = `malformed --runs 1 --seed ${seed}`;
	const isLate = malformation.name === 'drip';
	slot.plan = { malformation, strikes };
	slot.showsTables = /^(table|editor): /.test(row.name);
	try {
		const verdict = await within(row.run(slot, seed, isLate));
		const problems = [...verdict.problems, ...overdue(slot, isLate, row.name.startsWith('attachment: download'))];
		if ('polluted' in {}) problems.push('every object is polluted');
		for (const key of ['done', 'failed', 'unknown'] as const) sum[key] += verdict[key];
		struck += slot.gateway.lastRun.length;
		results.add(title, { ...verdict, problems }, again);
	} catch (error) {
		results.add(title, { problems: [(error as Error).stack ?? String(error)] }, again);
	}
}

const started = Date.now();
const queue = jobs();
console.log(`At least ${responses} malformed responses from seed ${first} on, ${rows.length} kinds, ${slots.length} sandboxes`);
await Promise.all(
	slots.map(async (slot) => {
		for (const job of queue) await runJob(slot, job);
	}),
);
for (const { gateway } of slots) gateway.close();
await thread.stop();

for (const crash of crashes) console.log(`\n✗ An error that nobody caught: ${crash}`);
results.failed += crashes.length;
const seconds = ((Date.now() - started) / 1000).toFixed(1);
console.log(
	`\n${struck} malformed responses: ${sum.done} items succeeded, ${sum.failed} with errors, ${sum.unknown} as unknown, in ${seconds} s`,
);
console.log(`\n${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed > 0 || struck === 0 ? 1 : 0);
