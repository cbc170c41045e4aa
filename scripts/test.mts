/**
 * Runs the project's checks, as many at once as there are processors; their output comes one after
 * the other. The last line of it has the total.
 *
 *   npm test             everything that does not need n8n itself
 *   npm run test:e2e     n8n, its editor in a browser, its queue mode, and n8n's own scan of the
 *                        package
 *
 * Arguments name the checks to run, for example `node scripts/test.mts lint unit`.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';

const ROOT = join(import.meta.dirname, '..');
const BIN = join(ROOT, 'node_modules', '.bin');

interface Count {
	passed: number;
	failed: number;
}

/** Shows a part of a check's output. */
type Print = (text: string | Buffer) => void;

interface Check {
	title: string;
	run(print: Print): Promise<Count>;
	/** Nothing runs beside it: it kills processes at certain moments of their work, or measures. */
	isAlone?: boolean;
}

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
			...(isBuilt && { PACKAGE_IS_BUILT: 'true' }),
		},
	});
	command.all.on('data', print);
	const { exitCode, stdout, shortMessage } = await command;
	if (exitCode === undefined) print(`${shortMessage}\n`);
	return { exitCode: exitCode ?? 1, stdout };
}

/** A command whose exit code is the result. */
const command = (title: string, line: string[]): Check => ({
	title,
	run: async (print) => {
		const { exitCode } = await runCommand(line, print);
		return exitCode === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
	},
});

/** Counts a run as one more failure if it failed without a failed test, or ran no test at all. */
const withRunFailure = (exitCode: number, count: Count): Count => {
	const isCrash = exitCode !== 0 && count.failed === 0;
	const isEmpty = count.passed + count.failed === 0;
	return isCrash || isEmpty ? { ...count, failed: count.failed + 1 } : count;
};

/** Jest, on a folder of `test/`. */
const jest = (folder: string): Check => ({
	title: `test/${folder}`,
	run: async (print) => {
		const results = await mkdtemp(join(tmpdir(), 'jest-'));
		const file = join(results, 'results.json');
		const line = ['jest', '--config=test/jest.config.cjs', '--json', `--outputFile=${file}`];
		const { exitCode } = await runCommand([...line, `test/${folder}/`], print);
		const { numPassedTests = 0, numFailedTests = 0 } = JSON.parse(
			await readFile(file, 'utf8').catch(() => '{}'),
		) as {
			numPassedTests?: number;
			numFailedTests?: number;
		};
		await rm(results, { recursive: true });
		return withRunFailure(exitCode, { passed: numPassedTests, failed: numFailedTests });
	},
});

/** A program whose output ends with a line `N passed, N failed`. */
const program = (title: string, line: string[]): Check => ({
	title,
	run: async (print) => {
		const { exitCode, stdout } = await runCommand(line, print);
		const [, passed = '0', failed = '0'] =
			[...stdout.matchAll(/^(?:\S+: )?(\d+) passed, (\d+) failed/gm)].at(-1) ?? [];
		return withRunFailure(exitCode, { passed: Number(passed), failed: Number(failed) });
	},
});

/** Node's own test runner, on a folder of `test/`. */
const nodeTest = (folder: string): Check => ({
	title: `test/${folder}`,
	run: async (print) => {
		const options = ['--test', '--test-concurrency=1', '--test-reporter=spec'];
		const { exitCode, stdout } = await runCommand(
			['node', ...options, `test/${folder}/**/*.test.mts`],
			print,
		);
		const count = (word: string) =>
			Number(stdout.match(new RegExp(`^\\S* ?${word} (\\d+)$`, 'm'))?.[1] ?? 0);
		return withRunFailure(exitCode, {
			passed: count('pass'),
			failed: count('fail') + count('cancelled'),
		});
	},
});

const alone = (check: Check): Check => ({ ...check, isAlone: true });

// Random tests have a fixed seed here, so that the gate does not fail by chance. Run by themselves
// (`npm run test:faults`, `npm run test:trigger`) they choose one.
const checks: Record<string, Check> = {
	build: command('Build', ['npm', 'run', '--silent', 'build']),
	// It takes longest, and waits most of the time.
	integration: jest('integration'),
	lint: command('Lint with the rules of n8n', ['n8n-node', 'lint']),
	openapi: command('Lint of the contract', [
		'redocly',
		'lint',
		'contract/openapi.yaml',
		'--config=contract/redocly.yaml',
	]),
	format: command('Format', ['prettier', '--check', '.']),
	types: command('Types', ['npm', 'run', '--silent', 'types']),
	boundaries: command('Import boundaries', [
		'depcruise',
		'nodes',
		'credentials',
		'sandbox',
		'--config=.dependency-cruiser.cjs',
	]),
	licences: program('Licences', ['node', 'scripts/licences.mts']),
	unit: jest('unit'),
	contract: jest('contract'),
	package: jest('package'),
	faults: program('Faults, at random', ['node', 'test/property/faults/run.mts', '--seed=1']),
	trigger: program('The trigger, at random', [
		'node',
		'test/property/trigger/run.mts',
		'--seeds',
		'500',
		'--seed',
		'1',
	]),
	bench: program('Every benchmark runs', ['node', 'bench/run.mts', '--smoke']),
	matrix: program('Every operation under every fault', [
		'node',
		'test/property/matrix/run.mts',
		'--seed=1',
		'--each=1',
	]),
	malformed: program('Malformed responses, at random', [
		'node',
		'test/property/malformed/run.mts',
		'--seed=1',
	]),
	scan: program("n8n's scan of community packages", ['node', 'test/package/scan/scan.mts']),
	e2e: nodeTest('e2e/n8n'),
	schedulers: nodeTest('e2e/schedulers'),
	browser: nodeTest('e2e/browser'),
	queue: alone(nodeTest('e2e/queue')),
	crash: alone(
		program('n8n and the sandbox, killed', [
			'node',
			'test/endurance/crash/run.mts',
			'--rounds',
			'2',
			'--seed',
			'1',
		]),
	),
	soak: program('Mixed load, for three minutes', [
		'node',
		'test/endurance/soak/run.mts',
		'--minutes',
		'3',
		'--seed',
		'1',
	]),
};

/** Checks that run only by name: they need n8n itself, or take minutes. */
const HEAVY = ['scan', 'e2e', 'schedulers', 'browser', 'queue', 'crash', 'soak'];

type Row = Count & { title: string; seconds: number };

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
	const [first] = asked;
	const most = first === checks.build ? availableParallelism() : 1;
	const output = new OrderedOutput(asked.length);
	const rows: Row[] = [];
	const running = new Set<Promise<void>>();
	const runOne = async ({ title, run }: Check, number: number) => {
		const print: Print = (part) => output.print(number, part);
		print(`\n── ${title}\n`);
		const start = Date.now();
		const count = await run(print);
		rows[number] = { title, ...count, seconds: Math.round((Date.now() - start) / 100) / 10 };
		output.close(number);
	};
	for (const [number, check] of asked.entries()) {
		const room = check.isAlone ? 1 : most;
		while (running.size >= room) await Promise.race(running);
		const run: Promise<void> = runOne(check, number).finally(() => running.delete(run));
		running.add(run);
		if (check.isAlone || check === checks.build) {
			await run;
			isBuilt ||= check === checks.build && rows[number]!.failed === 0;
		}
	}
	await Promise.all(running);
	return rows;
}

async function main() {
	const asked = process.argv.slice(2);
	const names =
		asked.length > 0 ? asked : Object.keys(checks).filter((name) => !HEAVY.includes(name));
	const unknown = names.filter((name) => !checks[name]);
	if (unknown.length > 0) {
		console.error(
			`No such check: ${unknown.join(', ')}. There are: ${Object.keys(checks).join(', ')}`,
		);
		process.exit(2);
	}
	const rows = await runAll(names.map((name) => checks[name]!));
	console.log();
	for (const { title, passed, failed, seconds } of rows) {
		console.log(
			`${failed ? '✗' : '✓'} ${title}: ${passed} passed, ${failed} failed (${seconds} s)`,
		);
	}
	const sum = (key: keyof Count) => rows.reduce((total, row) => total + row[key], 0);
	console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
	process.exit(sum('failed') === 0 ? 0 : 1);
}

await main();
