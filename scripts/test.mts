/**
 * Runs the project's checks one after the other and closes with a line that counts them all.
 *
 *   npm test             everything that needs no n8n of its own
 *   npm run test:e2e     real n8n, its editor in a real browser, its queue mode, and n8n's own scan of
 *                        the package
 *
 * Arguments name the checks to run, such as `node scripts/test.mts lint unit`.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const BIN = join(ROOT, 'node_modules', '.bin');

interface Count {
	passed: number;
	failed: number;
}

interface Check {
	title: string;
	run(): Promise<Count>;
}

/** Runs a command with its output shown; resolves with its exit code and what it printed. */
async function command(line: string[]) {
	const [name = '', ...rest] = line;
	const child = spawn(name, rest, {
		cwd: ROOT,
		stdio: ['ignore', 'pipe', 'inherit'],
		// The project's own Node and tools come first, however this file was started.
		env: { ...process.env, PATH: [BIN, process.env.PATH].join(delimiter) },
	});
	let printed = '';
	child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
		printed += chunk;
		process.stdout.write(chunk);
	});
	const code = await new Promise<number>((resolve) => {
		child.on('error', (error) => {
			console.error(`${name} could not be started: ${error.message}`);
			resolve(1);
		});
		child.on('close', (exit) => resolve(exit ?? 1));
	});
	return { code, printed };
}

/** A command that is one check by itself. */
const single = (title: string, line: string[]): Check => ({
	title,
	run: async () => {
		const { code } = await command(line);
		return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
	},
});

/** A test run that failed without telling a failed test has failed as a whole. */
const settle = (code: number, count: Count): Count => {
	const isSilentFailure = code !== 0 && count.failed === 0;
	const ranNothing = count.passed + count.failed === 0;
	return isSilentFailure || ranNothing ? { ...count, failed: count.failed + 1 } : count;
};

/** Jest on a folder of `test/`. */
const jest = (folder: string): Check => ({
	title: `test/${folder}`,
	run: async () => {
		const results = await mkdtemp(join(tmpdir(), 'jest-'));
		const file = join(results, 'results.json');
		const { code } = await command([
			'jest',
			'--config=test/jest.config.cjs',
			'--json',
			`--outputFile=${file}`,
			`test/${folder}/`,
		]);
		const told = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as {
			numPassedTests?: number;
			numFailedTests?: number;
		};
		await rm(results, { recursive: true });
		return settle(code, { passed: told.numPassedTests ?? 0, failed: told.numFailedTests ?? 0 });
	},
});

/** A program that closes with a line `N passed, N failed` of its own. */
const counting = (title: string, line: string[]): Check => ({
	title,
	run: async () => {
		const { code, printed } = await command(line);
		const [, passed = '0', failed = '0'] =
			[...printed.matchAll(/^(?:\S+: )?(\d+) passed, (\d+) failed/gm)].at(-1) ?? [];
		return settle(code, { passed: Number(passed), failed: Number(failed) });
	},
});

/** Node's own test runner on a folder of `test/`. */
const nodeTest = (folder: string): Check => ({
	title: `test/${folder}`,
	run: async () => {
		const { code, printed } = await command([
			'node',
			'--test',
			'--test-concurrency=1',
			'--test-reporter=spec',
			`test/${folder}/**/*.test.mts`,
		]);
		const told = (word: string) =>
			Number(printed.match(new RegExp(`^\\S* ?${word} (\\d+)$`, 'm'))?.[1] ?? 0);
		return settle(code, { passed: told('pass'), failed: told('fail') + told('cancelled') });
	},
});

// The random ones begin at a fixed seed here: a gate must not fail by chance. By themselves they
// begin anywhere (`npm run test:faults`, `npm run test:trigger`).
const checks: Record<string, Check> = {
	lint: single('Lint, as n8n wants it', ['n8n-node', 'lint']),
	openapi: single('Lint of the contract', [
		'redocly',
		'lint',
		'contract/openapi.yaml',
		'--config=contract/redocly.yaml',
	]),
	format: single('Format', ['prettier', '--check', '.']),
	types: single('Types', ['npm', 'run', '--silent', 'types']),
	licences: counting('Licences', ['node', 'scripts/licences.mts']),
	build: single('Build', ['npm', 'run', '--silent', 'build']),
	unit: jest('unit'),
	contract: jest('contract'),
	package: jest('package'),
	integration: jest('integration'),
	faults: counting('Faults, at random', ['node', 'test/property/faults/run.mts', '--seed=1']),
	trigger: counting('The trigger, at random', [
		'node',
		'test/property/trigger/run.mts',
		'--seeds',
		'500',
		'--seed',
		'1',
	]),
	bench: counting('Every measurement runs (no word on time)', ['node', 'bench/run.mts', '--smoke']),
	matrix: counting('Every operation under every fault', [
		'node',
		'test/property/matrix/run.mts',
		'--seed=1',
		'--each=1',
	]),
	malformed: counting('Malformed answers, at random', [
		'node',
		'test/property/malformed/run.mts',
		'--seed=1',
	]),
	scan: counting("n8n's scan of community packages", ['node', 'test/package/scan/scan.mts']),
	e2e: nodeTest('e2e/n8n'),
	browser: nodeTest('e2e/browser'),
	queue: nodeTest('e2e/queue'),
	crash: counting('n8n and the sandbox, killed', [
		'node',
		'test/endurance/crash/run.mts',
		'--rounds',
		'2',
		'--seed',
		'1',
	]),
	soak: counting('All kinds of work, for three minutes', [
		'node',
		'test/endurance/soak/run.mts',
		'--minutes',
		'3',
		'--seed',
		'1',
	]),
};

/** Checks that install hundreds of megabytes first. */
const HEAVY = ['scan', 'e2e', 'browser', 'queue', 'crash', 'soak'];

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
	const rows: Array<Count & { title: string; seconds: number }> = [];
	for (const name of names) {
		const { title, run } = checks[name]!;
		console.log(`\n── ${title}`);
		const start = Date.now();
		rows.push({ title, ...(await run()), seconds: Math.round((Date.now() - start) / 100) / 10 });
	}
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
