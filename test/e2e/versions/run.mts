/**
 * The end-to-end tests on other versions of n8n than the pinned one, each in a folder of its own
 * (.cache/n8n/<version>, about 2 GB, installed when it is not there).
 *
 *   npm run test:versions                  the versions below
 *   npm run test:versions -- 2.41.1        these versions
 *   npm run test:versions -- latest        what npm installs today
 *
 * `TEST_N8N=1.123.81 node --test test/e2e/n8n/token.test.mts` runs one file on one of them.
 */
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';

/**
 * The newest version that the registry has completely, and the last and first release of the n8n 1
 * line.
 */
const VERSIONS = ['2.41.1', '1.123.81', '1.123.0'];

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** The version itself, or the one that a tag of the registry refers to now. */
function resolveTag(version: string): string {
	if (/^\d/.test(version)) return version;
	const args = ['view', `n8n@${version}`, 'version'];
	return execFileSync('npm', args, { encoding: 'utf8' }).trim();
}

/** Runs the tests on a version, with their output shown. */
async function run(version: string) {
	const child = spawn(process.execPath, ['scripts/test.mts', 'e2e'], {
		cwd: ROOT,
		stdio: ['ignore', 'pipe', 'inherit'],
		env: { ...process.env, TEST_N8N: version },
	});
	let printed = '';
	child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
		printed += chunk;
		process.stdout.write(chunk);
	});
	await new Promise((resolve) => child.on('close', resolve));
	const [, passed = '0', failed = '1'] =
		[...printed.matchAll(/^(\d+) passed, (\d+) failed$/gm)].at(-1) ?? [];
	return { version, passed: Number(passed), failed: Number(failed) };
}

const asked = process.argv.slice(2).map(resolveTag);
const rows: Array<Awaited<ReturnType<typeof run>>> = [];
for (const version of asked.length > 0 ? asked : VERSIONS) {
	console.log(`\n── n8n ${version}`);
	rows.push(await run(version));
}
console.log();
for (const { version, passed, failed } of rows) {
	console.log(`${failed ? '✗' : '✓'} n8n ${version}: ${passed} passed, ${failed} failed`);
}
const sum = (key: 'passed' | 'failed') => rows.reduce((total, row) => total + row[key], 0);
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
process.exit(sum('failed') === 0 ? 0 : 1);
