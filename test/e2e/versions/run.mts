/**
 * The end-to-end tests on other versions of n8n than the pinned one, each in a folder of its own
 * (.cache/n8n/<version>, about 2 GB, installed when it is not there).
 *
 *   npm run check -- versions              the versions below
 *   npm run check -- versions 2.41.1       these versions
 *   npm run check -- versions latest       what npm installs today
 *
 * `TEST_N8N=1.123.81 npx node --test test/e2e/n8n/token.test.mts` runs one file on one of them.
 */
import { execFileSync, spawnSync } from 'node:child_process';
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

/** Runs the tests on a version, with their output shown; whether all passed. */
function run(version: string): boolean {
	console.log(`\n── n8n ${version}`);
	const { status } = spawnSync(process.execPath, ['scripts/test.mts', '--whole', 'e2e', 'waiting'], {
		cwd: ROOT,
		stdio: ['ignore', 'inherit', 'inherit'],
		env: { ...process.env, TEST_N8N: version },
	});
	return status === 0;
}

const asked = process.argv.slice(2).map(resolveTag);
const versions = asked.length > 0 ? asked : VERSIONS;
const failed = versions.filter((version) => !run(version));
console.log();
for (const version of versions) console.log(`${failed.includes(version) ? '✗' : '✓'} n8n ${version}`);
process.exit(failed.length === 0 ? 0 : 1);
