/**
 * Mutation tests, one folder of the nodes after the other: `npm run test:mutation -- bulk rows`, or all of
 * them. What is mutated counts its steps, so everything at once would take hours. Fails if a folder
 * is below the threshold.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import config from './stryker.config.mjs';

const ROOT = join(import.meta.dirname, '..', '..');

interface Report {
	files: Record<string, { mutants: Array<{ status: string }> }>;
}

/** How many mutants of the last run have each status. */
function countMutants(): Record<string, number> {
	const file = join(ROOT, config.jsonReporter!.fileName!);
	const { files } = JSON.parse(readFileSync(file, 'utf8')) as Report;
	const counts: Record<string, number> = {};
	for (const { status } of Object.values(files).flatMap(({ mutants }) => mutants)) {
		counts[status] = (counts[status] ?? 0) + 1;
	}
	return counts;
}

const known = config.mutate.map((pattern) => pattern.split('/')[2]!);
const chosen = process.argv.length > 2 ? process.argv.slice(2) : known;
let isFailed = false;
const lines: string[] = [];
for (const folder of chosen) {
	const pattern = config.mutate[known.indexOf(folder)];
	if (pattern === undefined) throw new Error(`No such folder: '${folder}'. There are: ${known.join(', ')}`);
	console.log(`\n── ${folder}\n`);
	const args = ['run', join(import.meta.dirname, 'stryker.config.mjs'), '--mutate', pattern];
	const { status } = spawnSync('stryker', args, { cwd: ROOT, stdio: 'inherit' });
	isFailed ||= status !== 0;
	const { Killed = 0, Timeout = 0, Survived = 0, NoCoverage = 0 } = countMutants();
	const all = Killed + Timeout + Survived + NoCoverage;
	const score = ((100 * (Killed + Timeout)) / all).toFixed(1);
	lines.push(`${status === 0 ? '✓' : '✗'} ${folder}: ${score} % of ${all} (${Survived} survived, ${NoCoverage} not reached)`);
}
console.log(`\n${lines.join('\n')}`);
process.exit(isFailed ? 1 : 0);
