/**
 * Runs the project's checks, as many at once as there are processors; their output comes one after
 * the other. The last line of it has the total.
 *
 *   npm test                 everything that does not need n8n itself; of the random tests a part
 *   npm run test:e2e         n8n, its editor in a browser, its queue mode, and n8n's own scan of the
 *                            package; a part of the longest
 *   npm test -- lint unit    the checks with these names, as in the gate: `all` stands for all of
 *                            it, `withN8n` and `withoutN8n` for its halves
 *   npm run test:weekly      the whole of those that the gate has only a part of
 *
 * The parts are drawn by a number from the commit, which is printed.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { execa } from 'execa';
import { PROGRAMS } from './programs.mts';

const ROOT = join(import.meta.dirname, '..');
const BIN = join(ROOT, 'node_modules', '.bin');

interface Count {
	passed: number;
	failed: number;
}

/** Shows a part of a check's output. */
type Print = (text: string | Buffer) => void;

interface Result extends Count {
	/** What failed, in words. */
	failures: string[];
	/** Runs what failed once more: only tests of n8n itself, whose times are not ours. */
	again?(print: Print): Promise<Result>;
}

interface Check {
	title: string;
	run(print: Print): Promise<Result>;
	/** Nothing runs beside it: it kills processes at certain moments of their work, or measures. */
	isAlone?: boolean;
	/** It mostly waits, so it runs beside as many others as if it were not there. */
	isIdle?: boolean;
}

const { positionals: asked, values } = parseArgs({
	allowPositionals: true,
	options: { whole: { type: 'boolean', default: false } },
});

/** The commit as a number; 1 without git. */
function numberOfCommit(): number {
	try {
		const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' });
		return Number.parseInt(commit.slice(0, 7), 16);
	} catch {
		return 1;
	}
}

/** What draws the parts that are tested; undefined if everything is. */
const part = values.whole ? undefined : Number(process.env.TEST_PART ?? numberOfCommit());

/** One of how many rounds of the random tests to run: `npm test` leaves most to the gate. */
const ONE_IN = asked.length === 0 && !values.whole ? 8 : 1;

/**
 * Options for how many rounds a program at random makes, and from which seed: all of them with new
 * seeds, in the gate half of those with fixed seeds, so that it does not fail by chance.
 */
function rounds(option: string, all: number, seeds = all): string[] {
	if (part === undefined) return [`--${option}=${all}`];
	const parts = Math.max(2, ONE_IN);
	const seed = 1 + Math.floor((part % parts) * (seeds / parts));
	return [`--seed=${seed}`, `--${option}=${Math.ceil(all / parts)}`];
}

/** Test files that take longest: `npm test` runs one of them, drawn by the commit, the gate all. */
const LONGEST = [
	'contract/durability',
	'contract/page',
	'integration/benchProfile',
	'integration/longResponses',
	'integration/pageCap',
	'integration/plainReferences',
	'integration/requests',
	'integration/rowFileMemory',
	'integration/triggerBacklog',
	'unit/scale',
];

/** Those that this run leaves out, without their folder. */
const leftOut = (folder: string) =>
	(ONE_IN === 1 ? [] : LONGEST.filter((_, index) => index !== (part ?? 0) % LONGEST.length))
		.filter((name) => name.startsWith(`${folder}/`))
		.map((name) => name.slice(folder.length + 1));

/** Whether this run has built the package: then no test builds it again under the others' feet. */
let isBuilt = false;

/** Runs a command and shows its output; returns its exit code and standard output. */
async function runCommand([name = '', ...args]: string[], print: Print) {
	const command = execa(name, args, {
		cwd: ROOT,
		stdin: 'ignore',
		all: true,
		reject: false,
		env: {
			// The project's own Node and tools first, however this script was started.
			PATH: [BIN, process.env.PATH].join(delimiter),
			// Many processes load the same modules: sandboxes, n8n's engine, the tools.
			NODE_COMPILE_CACHE: join(ROOT, '.cache', 'compiled'),
			...(isBuilt && { PACKAGE_IS_BUILT: 'true' }),
			...(part !== undefined && { TEST_PART: String(part) }),
			TEST_ONE_IN: String(ONE_IN),
		},
	});
	command.all.on('data', print);
	const { exitCode, stdout, all, shortMessage } = await command;
	if (exitCode === undefined) print(`${shortMessage}\n`);
	return { exitCode: exitCode ?? 1, stdout, all };
}

/** How many lines of its output show why a check failed. */
const LINES_SHOWN = 40;

/** The last lines of a check's output. */
const tail = (output: string) => output.trimEnd().split('\n').slice(-LINES_SHOWN).join('\n');

/** A command whose exit code is the result. */
const command = (title: string, line: string[]): Check => ({
	title,
	run: async (print) => {
		const { exitCode, all } = await runCommand(line, print);
		return exitCode === 0
			? { passed: 1, failed: 0, failures: [] }
			: { passed: 0, failed: 1, failures: [tail(all)] };
	},
});

/** One of the programs of `npm run check`, with options. */
const checkProgram = (title: string, name: keyof typeof PROGRAMS, ...options: string[]) =>
	command(title, ['node', PROGRAMS[name], ...options]);

/**
 * The result of a run. One that failed without a failed test, or ran no test at all, has one failure
 * more.
 */
function resultOf(exitCode: number, count: Count, output: string): Result {
	const isCrash = exitCode !== 0 && count.failed === 0;
	const isEmpty = count.passed + count.failed === 0;
	const failed = isCrash || isEmpty ? count.failed + 1 : count.failed;
	return { passed: count.passed, failed, failures: failed > 0 ? [tail(output)] : [] };
}

/** The part of Jest's results that is read. */
interface JestResults {
	numPassedTests: number;
	numFailedTests: number;
	testResults: Array<{
		name: string;
		status: string;
		message: string;
		assertionResults: Array<{ status: string; fullName: string; failureMessages: string[] }>;
	}>;
}

/** Why a test file failed: each failed test with the beginning of its message. */
function jestFailures({ name, message, assertionResults }: JestResults['testResults'][number]) {
	const failed = assertionResults.filter(({ status }) => status === 'failed');
	const beginning = (text: string) =>
		stripVTControlCharacters(text).split('\n').slice(0, LINES_SHOWN).join('\n');
	if (failed.length === 0) return [`${relative(ROOT, name)}\n${beginning(message)}`];
	return failed.map(
		({ fullName, failureMessages }) =>
			`${relative(ROOT, name)}: ${fullName}\n${beginning(failureMessages.join('\n'))}`,
	);
}

/** A program that prints how much passed and failed, as the pattern says; none of it is a failure. */
const counting = (title: string, line: string[], pattern: RegExp): Check => ({
	title,
	run: async (print) => {
		const { exitCode, all } = await runCommand(line, print);
		const [, passed = 0, failed = 0] = pattern.exec(all) ?? [];
		return resultOf(exitCode, { passed: Number(passed), failed: Number(failed) }, all);
	},
});

/** Our own runner, on a folder of `test/` that needs no n8n. */
const inProcess = (folder: string): Check =>
	counting(
		`test/${folder}`,
		[
			...['node', '--enable-source-maps', 'test/run.mts', folder],
			`--left-out=^(?:${['$', ...leftOut(folder)].join('|')})`,
		],
		/(\d+) passed, (\d+) failed\s*$/,
	);

/** Jest, on a folder of `test/`. */
const jest = (folder: string): Check => ({
	title: `test/${folder}`,
	run: async (print) => {
		const results = await mkdtemp(join(tmpdir(), 'jest-'));
		const file = join(results, 'results.json');
		const line = ['jest', '--config=test/jest.config.cjs', '--json', `--outputFile=${file}`];
		const [first, ...others] = leftOut(folder);
		const ignored = first ? `(?!${[first, ...others].join('|')})` : '';
		const { exitCode, all } = await runCommand([...line, `test/${folder}/${ignored}`], print);
		const { numPassedTests, numFailedTests, testResults } = JSON.parse(
			await readFile(file, 'utf8').catch(
				() => '{"numPassedTests":0,"numFailedTests":0,"testResults":[]}',
			),
		) as JestResults;
		await rm(results, { recursive: true });
		const result = resultOf(exitCode, { passed: numPassedTests, failed: numFailedTests }, all);
		const failed = testResults.filter(({ status }) => status === 'failed');
		return failed.length > 0 ? { ...result, failures: failed.flatMap(jestFailures) } : result;
	},
});

/** The files of a folder. */
const oneByOne = ['--test-concurrency=1'];

/** Node's own test runner, on a folder of `test/`, or some files. */
const nodeTest = (
	folder: string,
	options = oneByOne,
	paths = [`test/${folder}/**/*.test.mts`],
): Check => ({
	title: `test/${folder}`,
	run: async (print) => {
		const line = ['node', '--test', '--test-reporter=spec', ...options, ...paths];
		const { exitCode, stdout, all } = await runCommand(line, print);
		const count = (word: string) =>
			Number(stdout.match(new RegExp(`^\\S* ?${word} (\\d+)$`, 'm'))?.[1] ?? 0);
		const counted = { passed: count('pass'), failed: count('fail') + count('cancelled') };
		const result = resultOf(exitCode, counted, all);
		const files = new Set(
			[...stdout.matchAll(/^test at (\S+\.test\.mts):/gm)].map(([, file]) => file!),
		);
		if (result.failed === 0) return result;
		// None of them, if what they share did not start.
		const failed = files.size > 0 ? [...files] : paths;
		return { ...result, again: nodeTest(folder, options, failed).run };
	},
});

/** The files use one n8n, which the runner starts before them. */
const withSharedN8n = [...oneByOne, '--test-global-setup=test/e2e/sharedN8n.mts'];

const alone = (check: Check): Check => ({ ...check, isAlone: true });

/** A check of n8n itself, which is tried again if it fails. */
const withAnotherTry = (check: Check): Check => ({
	...check,
	run: async (print) => {
		const result = await check.run(print);
		return result.failed > 0 ? { ...result, again: check.run } : result;
	},
});

const idle = (check: Check): Check => ({ ...check, isIdle: true });

/** Permissive licences: they require a notice at most. */
const PERMISSIVE = [
	'0BSD',
	'Apache-2.0',
	'BSD-2-Clause',
	'BSD-3-Clause',
	'BlueOak-1.0.0',
	'CC-BY-4.0',
	'CC0-1.0',
	'ISC',
	'MIT',
	'MIT-0',
	'Python-2.0',
	'Unlicense',
	'Apache-2.0 AND MIT',
	'(AFL-2.1 OR BSD-3-Clause)',
	'(MIT OR CC0-1.0)',
].map((licence) => `[license="${licence}"]`);

/** Other development packages that are accepted, as selectors of `npm query`. */
const ACCEPTED = [
	// An older way to state a licence.
	':attr(licenses, [type=MIT])',
	// n8n's own: users have n8n already.
	':is([name^=n8n-], [name^="@n8n/"])[license="SEE LICENSE IN LICENSE.md"]',
	'[name^="@n8n_io/"][license^=LicenseRef-n8n-]',
	// libvips, which sharp loads, unchanged.
	'[name^="@img/sharp-libvips-"][license="LGPL-3.0-or-later"]',
];

const OTHER_LICENCES = `:not(${[...PERMISSIVE, ...ACCEPTED].join(', ')})`;

const checks: Record<string, Check> = {
	n8n: idle(command('Installation of n8n', ['node', 'harness/install.mts'])),
	build: command('Build', ['npm', 'run', '--silent', 'build']),
	// The longest first, so that none runs alone in the end.
	matrix: checkProgram(
		'Every operation under every reading and every fault',
		'matrix',
		...(part === undefined ? [] : ['--seed=1', '--each=1', '--pairs=4']),
		...(ONE_IN > 1 ? [`--one-in=${ONE_IN}`, `--draw=${part}`, '--pairs=2'] : []),
	),
	integration: jest('integration'),
	malformed: checkProgram(
		'Malformed responses, at random',
		'malformed',
		// Some damage several responses.
		...rounds('responses', 1000, 800),
	),
	trigger: checkProgram('The trigger, at random', 'trigger', ...rounds('seeds', 120)),
	faults: checkProgram('Faults, at random', 'faults', ...rounds('schedules', 2000)),
	contract: inProcess('contract'),
	bench: command('Benchmarks run', [
		...['node', 'bench/run.mts', '--smoke'],
		...(part === undefined ? [] : [`--draw=${part}`]),
	]),
	unit: inProcess('unit'),
	// The score of all files, that of covered ones, and how many mutants were killed. Stryker succeeds
	// if there is nothing to mutate.
	mutation: counting(
		'Mutation tests of one file',
		[
			...['stryker', 'run', 'test/mutation/stryker.config.mjs'],
			'--mutate=nodes/DataPlatform/bulk/resolve/compare.ts',
		],
		/^All files +\| +[\d.]+ +\| +[\d.]+ +\| +(\d+)/m,
	),
	types: command('Types', ['npm', 'run', '--silent', 'types']),
	twoWay: checkProgram('Two-way sync, at random', 'twoWay', ...rounds('schedules', 200)),
	sync: checkProgram('Sync, at random', 'sync', ...rounds('schedules', 500)),
	import: checkProgram(
		'Imports, killed and continued',
		'import',
		'--rows=20000',
		...rounds('rounds', 4),
	),
	format: command('Format', [
		'prettier',
		'--check',
		'--cache',
		'--cache-location=.cache/prettier',
		'.',
	]),
	lint: command('Lint with the rules of n8n', ['n8n-node', 'lint']),
	boundaries: command('Import boundaries', [
		'depcruise',
		'nodes',
		'credentials',
		'sandbox',
		'harness',
		'--config=.dependency-cruiser.cjs',
	]),
	package: inProcess('package'),
	licences: command('Licences', ['npm', 'query', OTHER_LICENCES, '--expect-result-count=0']),
	openapi: command('Lint of the contract', [
		'redocly',
		'lint',
		'contract/openapi.yaml',
		'--config=contract/redocly.yaml',
	]),
	// While n8n may still be installed.
	soak: withAnotherTry(
		checkProgram(
			'Mixed load for some minutes',
			'soak',
			`--minutes=${part === undefined ? 10 : 1}`,
			'--seed=1',
		),
	),
	// It mostly installs.
	scan: idle(command("n8n's scan of community packages", ['node', 'test/package/scan/scan.mts'])),
	waiting: idle(
		nodeTest('e2e/waiting', ['--test-concurrency=2', '--test-global-setup=test/e2e/build.mts']),
	),
	browser: nodeTest('e2e/browser', oneByOne, [
		'test/e2e/browser/all.mts',
		'test/e2e/browser/firstContact.test.mts',
	]),
	queue: nodeTest('e2e/queue', oneByOne, [
		'test/e2e/queue/all.mts',
		'test/e2e/queue/compose.test.mts',
	]),
	e2e: nodeTest('e2e/n8n', withSharedN8n),
	benchInN8n: nodeTest('e2e/bench'),
	crash: alone(
		withAnotherTry(checkProgram('n8n and the sandbox, killed', 'crash', '--rounds=2', '--seed=1')),
	),
};

/** Checks that need n8n itself, or what runs beside it. */
const WITH_N8N = ['n8n', 'waiting', 'browser', 'queue', 'e2e', 'soak', 'scan', 'crash'];

/** Checks that `npm test` leaves to the gate. */
const HEAVY = ['bench', 'import', 'mutation', ...WITH_N8N];

/** Checks that run every week only. */
const WEEKLY = ['benchInN8n'];

/** Names for several checks. */
const GROUPS: Record<string, (name: string) => boolean> = {
	'': (name) => !HEAVY.includes(name),
	all: () => true,
	withN8n: (name) => name === 'build' || WITH_N8N.includes(name),
	withoutN8n: (name) => !WITH_N8N.includes(name),
};

type Row = Result & { title: string; seconds: number };

/** Shows what the first one that is not closed prints, and of the others what they have printed. */
class OrderedOutput {
	#open = 0;
	readonly #waiting: Array<{ parts: Array<string | Buffer>; isClosed: boolean }>;

	constructor(count: number) {
		this.#waiting = Array.from({ length: count }, () => ({ parts: [], isClosed: false }));
	}

	print(number: number, part: string | Buffer): void {
		this.#waiting[number]!.parts.push(part);
		this.#flush();
	}

	close(number: number): void {
		this.#waiting[number]!.isClosed = true;
		this.#flush();
	}

	#flush(): void {
		for (; this.#open < this.#waiting.length; this.#open += 1) {
			const { parts, isClosed } = this.#waiting[this.#open]!;
			for (const part of parts.splice(0)) process.stdout.write(part);
			if (!isClosed) return;
		}
	}
}

/** Runs the checks, begun in their order. Without a build before them they may build: one by one then. */
async function runAll(asked: Check[]): Promise<Row[]> {
	const first = asked.find(({ isIdle }) => !isIdle);
	const most = first === checks.build ? availableParallelism() : 1;
	const output = new OrderedOutput(asked.length);
	const rows: Row[] = [];
	const running = new Map<Promise<void>, Check>();
	const runOne = async ({ title, run }: Check, number: number) => {
		const print: Print = (part) => output.print(number, part);
		print(`\n── ${title}\n`);
		const start = Date.now();
		const result = await run(print);
		rows[number] = { title, ...result, seconds: Math.round((Date.now() - start) / 100) / 10 };
		output.close(number);
	};
	for (const [number, check] of asked.entries()) {
		const isInTheWay = check.isAlone ? () => true : ({ isIdle }: Check) => !isIdle;
		const room = check.isAlone ? 1 : check.isIdle ? Infinity : most;
		while ([...running.values()].filter(isInTheWay).length >= room) {
			await Promise.race(running.keys());
		}
		const run: Promise<void> = runOne(check, number).finally(() => running.delete(run));
		running.set(run, check);
		if (check.isAlone || check === checks.build) {
			await run;
			isBuilt ||= check === checks.build && rows[number]!.failed === 0;
		}
	}
	await Promise.all(running.keys());
	return rows;
}

/**
 * Runs the files of `test/e2e` that failed once more, with nothing beside them: on a busy machine
 * a test may miss its moment. What passes then is counted as passed, and listed.
 *
 * @returns what failed at first only, by check
 */
async function runFailedAgain(rows: Row[]): Promise<Row[]> {
	const mended: Row[] = [];
	for (const row of rows) {
		if (!row.again) continue;
		const print: Print = (part) => process.stdout.write(part);
		print(`\n── ${row.title}, once more, what failed\n`);
		const { failed, failures } = await row.again(print);
		if (failed === 0) mended.push({ ...row });
		row.passed += Math.max(0, row.failed - failed);
		row.failed = failed;
		row.failures = failures;
	}
	return mended;
}

/** Shows why checks failed, under a heading. */
function showFailures(heading: string, rows: Row[]) {
	if (rows.length > 0) console.log(`\n── ${heading}`);
	for (const { title, failures } of rows) {
		for (const failure of failures) console.log(`\n✗ ${title}\n${failure}`);
	}
}

async function main() {
	const all = Object.keys(checks);
	const gate = all.filter((name) => !WEEKLY.includes(name));
	const group = GROUPS[asked.join(' ')];
	const names = group ? gate.filter(group) : asked;
	const unknown = names.filter((name) => !checks[name]);
	if (unknown.length > 0) {
		console.error(
			`No such check: ${unknown.join(', ')}. There are: ${[...all, 'all', 'withN8n', 'withoutN8n'].join(', ')}`,
		);
		process.exit(2);
	}
	if (part !== undefined) console.log(`Parts are drawn by TEST_PART=${part}`);
	const rows = await runAll(names.map((name) => checks[name]!));
	const mended = await runFailedAgain(rows);
	console.log();
	for (const { title, passed, failed, seconds } of rows) {
		console.log(
			`${failed ? '✗' : '✓'} ${title}: ${passed} passed, ${failed} failed (${seconds} s)`,
		);
	}
	const failing = rows.filter(({ failed }) => failed > 0);
	showFailures('Failed beside other tests, passed alone', mended);
	showFailures('Failed', failing);
	const sum = (key: keyof Count) => rows.reduce((total, row) => total + row[key], 0);
	console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
	process.exit(sum('failed') === 0 ? 0 : 1);
}

await main();
