/**
 * Every operation of the node, and the trigger's poll, under every fault that the sandbox knows,
 * through n8n's engine against sandboxes: the node's outcomes must agree with the stored records.
 *
 *   npm run check -- matrix [--only TEXT] [--seed N] [--each N] [--one-in N --draw N] [--slots N]
 *
 * `--only` takes a part of `resource: operation / fault / timing`; a seed repeats the choices of
 * every run. `--each` says how many of the five timings each operation meets each fault with; all
 * of them by default. `--pairs` says how many pairs of readings each meets. `--one-in` runs one
 * operation in so many, drawn by `--draw`. `--table` writes which operations have met which readings.
 */
import { runCase, TIMINGS, type CaseVerdict, type Plan } from './runCase.mts';
import { drawPair, variantCases } from './variantCases.mts';
import { VariantCoverage } from './variantCoverage.mts';
import { faultCases, noFault, type FaultCase } from './faultCases.mts';
import { startSandboxThread } from '../../support/sandboxThread.mts';
import { jsonResponse, startStubServer } from '../../support/stubServer.mts';
import { MOMENTS, runBesideOther } from './runBesideOther.mts';
import { MatrixSandbox } from './matrixSandbox.mts';
import { EVENTS, runPolls } from './runPolls.mts';
import { scenarios } from './scenarios/index.mts';
import { SeededRandom } from '../../support/seededRandom.mts';
import { readOptions } from '../../support/options.mts';
import { Results } from '../../support/results.mts';

const {
	seed,
	each,
	pairs,
	'one-in': oneIn,
	draw,
	slots,
	only,
	table,
} = readOptions({ each: 5, pairs: 8, 'one-in': 1, draw: 1, slots: 12 }, 'only', 'table');

/** Another origin, which redirects lead to. Nothing may ever arrive there. */
const elsewhere = await startStubServer(() => jsonResponse({ data: {} }));

interface Row {
	name: string;
	/** Whether a fault about many records in one request can affect it. */
	isBulk: boolean;
	/** Whether another writer may touch the same records. */
	isWrite: boolean;
	run(slot: MatrixSandbox, plan: Plan): Promise<CaseVerdict>;
}

/** Their requests have many records. */
const BULK = ['create', 'sync', 'update', 'upsert'].map((operation) => `record: ${operation}`);

const rows: Row[] = [
	...(await scenarios()).map((scenario) => ({
		name: scenario.variant ? `${scenario.variant}, ${scenario.operation}` : scenario.operation,
		isBulk: BULK.includes(scenario.operation),
		isWrite: scenario.kind !== 'read',
		run: async (slot: MatrixSandbox, plan: Plan) =>
			plan.faultCase.otherWrite ? await runBesideOther(slot, scenario, plan) : await runCase(slot, scenario, plan),
	})),
	...EVENTS.map((event) => ({
		name: `trigger: ${event}`,
		isBulk: false,
		isWrite: false,
		run: async (slot: MatrixSandbox, plan: Plan) => await runPolls(slot, event, plan),
	})),
];
const offset = new SeededRandom(draw).between(0, oneIn - 1);
const drawn = new Set(rows.filter((_, index) => index % oneIn === offset));
const cases = faultCases(`${elsewhere.origin}/elsewhere`);

interface Job extends Plan {
	row: Row;
	title: string;
}

/** Each reading alone, and pairs of them. */
function* variantJobs(): Generator<Job> {
	for (const [at, row] of rows.entries()) {
		if (!drawn.has(row)) continue;
		const random = new SeededRandom(seed + at);
		const drawnPairs = Array.from({ length: pairs }, () => drawPair(random));
		for (const [number, variant] of [...variantCases, ...drawnPairs].entries()) {
			const title = `${row.name} / ${variant.name} / no fault`;
			if (!title.includes(only)) continue;
			const faultCase = noFault(Object.keys(variant.limits).length > 0);
			yield { row, faultCase, timing: 'every', seed: seed + at * 1000 + number, title, variant };
		}
	}
}

function* jobs(): Generator<Job> {
	yield* variantJobs();
	let number = 0;
	for (const row of rows) {
		for (const [slot, faultCase] of cases.entries()) {
			for (const [at, timing] of timingsOf(row, faultCase).entries()) {
				number += 1;
				// A different one for each fault, so that even a few of them cover all.
				const isLeftOut = (at + slot + rows.indexOf(row)) % TIMINGS.length >= each;
				if ((isLeftOut && !faultCase.isByValue) || !drawn.has(row)) continue;
				const title = `${row.name} / ${faultCase.name} / ${timing}`;
				if (!title.includes(only)) continue;
				yield { row, faultCase, timing, seed: seed + number, title };
			}
		}
	}
}

/** A thumbnail has no known length: a shorter one with a matching header can't be noticed. */
const isBeyond = (row: Row, faultCase: FaultCase) => row.name.startsWith('thumbnails') && faultCase.name === 'tooShort';

function timingsOf(row: Row, faultCase: FaultCase) {
	if (isBeyond(row, faultCase)) return [];
	if (faultCase.isBulk && !row.isBulk) return [];
	if (faultCase.isForUpdates && !row.name.endsWith(': update')) return [];
	if (faultCase.otherWrite) return row.isWrite ? MOMENTS : [];
	if (faultCase.then) return row.isWrite ? (['inARow'] as const) : [];
	return faultCase.isByValue ? (['every'] as const) : TIMINGS;
}

const unmet = cases.filter((faultCase) => rows.every((row) => timingsOf(row, faultCase).length === 0));
if (unmet.length > 0) throw new Error(`Faults that no operation meets: ${unmet.map(({ name }) => name).join(', ')}`);

/** Has the table of what was tried. */
const PAGE = 'docs/development/platform.md';

const thread = await startSandboxThread(slots);
const results = new Results();
const coverage = new VariantCoverage();
console.log(`${drawn.size} of ${rows.length} rows × ${cases.length} faults from seed ${seed} on, ${slots} sandboxes`);
await results.runAll(
	thread.sandboxes.map((sandbox) => new MatrixSandbox(sandbox)),
	jobs(),
	async (slot, job) =>
		await results.run(job.title, `matrix --seed ${seed} --only '${job.title}'`, async () => {
			const verdict = await job.row.run(slot, job);
			if (job.variant) coverage.add(job.row.name, job.variant, verdict);
			return verdict;
		}),
);
await thread.stop();
await elsewhere.stop();

const strays = elsewhere.requests.map(
	({ method, target, headers }) => `${method} ${target}${headers.authorization ? ' with the token' : ''}`,
);
if (strays.length > 0) results.fail(`Requests at another origin: ${[...new Set(strays)].join(', ')}`);
const isComplete = ['', 'no fault'].includes(only) && oneIn === 1;
const neverMet = isComplete ? coverage.neverMet() : [];
if (neverMet.length > 0) results.fail(`Readings that no operation meets: ${neverMet.join(', ')}`);
if (table) coverage.writeTable(table);
// Drawn by another seed, an operation may meet others.
else if (isComplete && seed === 1) {
	const stale = coverage.staleRows(PAGE);
	if (stale.length > 0) results.fail(`${PAGE} is not current, write it again as its comment says:\n${stale.join('\n')}`);
}
if (only === '' && results.passed === 0) results.fail('Nothing was tried');
results.end();
