/**
 * Malformed responses, drawn at random, to every operation, the trigger's poll and the editor's lists,
 * through n8n's engine: nothing crashes or hangs, no outcome is wrong, and errors are messages for users.
 *
 *   npm run check -- malformed [--responses N | --runs N] [--seed N] [--only TEXT] [--slots N]
 *
 * The sandbox serves each request; its response is made malformed on the way back. `--only` takes a
 * part of `what / malformation`; a seed repeats what is drawn.
 */
import fc from 'fast-check';
import { runCase } from '../matrix/runCase.mts';
import { SHORT_TIMEOUT_S } from '../matrix/faultCases.mts';
import { startSandboxThread } from '../../support/sandboxThread.mts';
import { EVENTS, runPolls } from '../matrix/runPolls.mts';
import { scenarios } from '../matrix/scenarios/index.mts';
import { SeededRandom } from '../../support/seededRandom.mts';
import { malformations, type Malformation } from './malformations.mts';
import { MalformedSandbox, malformedResponse } from './malformedSandbox.mts';
import { editorMethods, runEditor } from './runEditor.mts';
import { Gateway } from './gateway.mts';
import { readOptions } from '../../support/options.mts';
import { Results, type Verdict } from '../../support/results.mts';

const { responses, runs, slots, seed: first, only } = readOptions({ responses: 1000, runs: Infinity, slots: 10 }, 'only');

/** One in this many draws has many megabytes or levels. */
const LARGE_EVERY = 40;

/** How much longer than a timeout a busy machine may take. */
const SLACK_MS = 15_000;

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
		if (!title.includes(only)) continue;
		if (row.hasFixedTimeout && malformation!.name === 'drip') continue;
		yield { row, seed, malformation: malformation!, strikes: chooseRequests(random), title };
	}
}

const thread = await startSandboxThread(slots);
const sandboxes = await Promise.all(
	thread.sandboxes.map(async (sandbox) => new MalformedSandbox(sandbox, await new Gateway(sandbox.baseUrl).open())),
);

let struck = 0;
const results = new Results();
process.on('uncaughtException', (error) => results.fail(`An error that nobody caught: ${error.stack}`));
process.on('unhandledRejection', (error) => results.fail(`An error that nobody caught: ${String((error as Error)?.stack ?? error)}`));

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

async function runJob(slot: MalformedSandbox, { row, seed, malformation, strikes }: Job): Promise<Verdict> {
	const isLate = malformation.name === 'drip';
	slot.plan = { malformation, strikes };
	slot.showsTables = /^(table|editor): /.test(row.name);
	const verdict = await row.run(slot, seed, isLate);
	const problems = [...verdict.problems, ...overdue(slot, isLate, row.name.startsWith('attachment: download'))];
	if ('polluted' in {}) problems.push('every object is polluted');
	struck += slot.gateway.lastRun.length;
	return { ...verdict, problems };
}

console.log(`At least ${responses} malformed responses from seed ${first} on, ${rows.length} kinds, ${slots} sandboxes`);
await results.runAll(
	sandboxes,
	jobs(),
	async (slot, job) => await results.run(job.title, `malformed --runs 1 --seed ${job.seed}`, async () => await runJob(slot, job)),
);
for (const { gateway } of sandboxes) gateway.close();
await thread.stop();
results.see('malformed responses', struck);
if (struck === 0) results.fail('No response was malformed');
results.end();
