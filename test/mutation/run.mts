/**
 * Mutation tests, one folder of the nodes after the other: `npm run test:mutation -- bulk rows`, or all of
 * them. What is mutated counts its steps, so everything at once would take hours. Fails if a folder
 * is below the threshold.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** The folders whose rules unit tests state, or one file of them. */
const FOLDERS = {
	...{ api: '**/*', bulk: '**/*', changes: '**/*', fields: '**/*', files: '**/*', import: '**/*', input: '**/*' },
	...{ parameterKinds: '**/*', rows: '**/*', run: '**/*', transport: '**/*', trigger: 'deletions' },
};

interface Report {
	files: Record<string, { mutants: Array<{ status: string }> }>;
}

const REPORT = join(ROOT, '.cache', 'mutation.json');

/** How many mutants of the last run have each status. */
function countMutants(): Record<string, number> {
	const { files } = JSON.parse(readFileSync(REPORT, 'utf8')) as Report;
	const counts: Record<string, number> = {};
	for (const { status } of Object.values(files).flatMap(({ mutants }) => mutants)) {
		counts[status] = (counts[status] ?? 0) + 1;
	}
	return counts;
}

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(FOLDERS);
let isFailed = false;
const lines: string[] = [];
for (const folder of chosen) {
	const files = FOLDERS[folder as keyof typeof FOLDERS];
	if (files === undefined) throw new Error(`No such folder: '${folder}'. There are: ${Object.keys(FOLDERS).join(', ')}`);
	console.log(`\n── ${folder}\n`);
	// A run that breaks off writes none.
	rmSync(REPORT, { force: true });
	const args = ['run', 'test/mutation/stryker.config.mjs', `--mutate=nodes/DataPlatform/${folder}/${files}.ts`];
	const { status } = spawnSync('stryker', args, { cwd: ROOT, stdio: 'inherit' });
	isFailed ||= status !== 0;
	const { Killed = 0, Timeout = 0, Survived = 0, NoCoverage = 0 } = countMutants();
	const all = Killed + Timeout + Survived + NoCoverage;
	const score = ((100 * (Killed + Timeout)) / all).toFixed(1);
	lines.push(`${status === 0 ? '✓' : '✗'} ${folder}: ${score} % of ${all} (${Survived} survived, ${NoCoverage} not reached)`);
}
console.log(`\n${lines.join('\n')}`);
process.exit(isFailed ? 1 : 0);
