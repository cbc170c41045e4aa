/**
 * Mutation testing: changes the source in thousands of small ways, and counts how many changes the
 * unit tests notice. The last line of the output has the total.
 *
 *   npm run test:mutation                                     all modules
 *   npm run test:mutation -- --files 'nodes/DataPlatform/bulk/steps.ts'
 *   npm run test:mutation -- --incremental                    only what changed since the last run
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { changeAt, isEquivalent, outdatedEquivalents, type Change } from './change.mts';

const ROOT = join(import.meta.dirname, '..', '..');

/** How many mutants have to be killed, in percent, by the beginning of the path. */
const THRESHOLDS: Array<[path: string, percent: number]> = [
	['api/', 97],
	['bulk/', 98],
	['changes/', 99],
	['execution/', 97],
	['fields/', 99],
	['files/', 98],
	['rows/', 99],
	['transport/', 99],
	['transport/allowedOrigins.ts', 100],
	['transport/retryPolicy.ts', 100],
];

const { values } = parseArgs({
	options: {
		files: { type: 'string', multiple: true },
		incremental: { type: 'boolean', default: false },
	},
});

type Result = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

interface Mutant extends Change {
	line: number;
	status: Result['status'];
}

function toMutant({ fileName, location, replacement, status }: Result): Mutant {
	const { start, end } = location;
	const place = {
		start: { line: start.line - 1, column: start.column - 1 },
		end: { line: end.line - 1, column: end.column - 1 },
	};
	return { ...changeAt(fileName, place, replacement!), line: start.line, status };
}

const isKilled = ({ status }: Mutant) => status === 'Killed' || status === 'Timeout';

/** One that could not be run, because its process ended twice, counts as one that survived. */
const isCounted = ({ status }: Result) =>
	['Killed', 'Survived', 'Timeout', 'NoCoverage', 'RuntimeError'].includes(status);

const percent = (mutants: Mutant[]) =>
	mutants.length === 0 ? 100 : (100 * mutants.filter(isKilled).length) / mutants.length;

async function main() {
	process.chdir(ROOT);
	// Outside the repository, whose linter reads whatever lies in it.
	const sandbox = await mkdtemp(join(tmpdir(), 'mutation-'));
	const stryker = new Stryker({
		tempDirName: sandbox,
		configFile: join('test', 'mutation', 'stryker.config.mjs'),
		incremental: values.incremental,
		...(values.files && { mutate: values.files }),
	});
	const results = await stryker
		.runMutationTest()
		.finally(() => rm(sandbox, { recursive: true, force: true }));
	const all = results.filter(isCounted).map(toMutant);
	const mutants = all.filter((mutant) => isKilled(mutant) || !isEquivalent(mutant));

	for (const { file, line, from, to, status } of mutants.filter((mutant) => !isKilled(mutant))) {
		const why = status === 'NoCoverage' ? 'without coverage' : 'survived';
		console.log(`\n${file}:${line} ${why}\n  - ${from}\n  + ${to}`);
	}
	const outdated = outdatedEquivalents(all);
	for (const { file, from, to } of outdated) {
		console.log(`\n${file}: no such change any more (equivalent.mts)\n  - ${from}\n  + ${to}`);
	}
	console.log();
	let isBelow = outdated.length > 0;
	for (const [path, threshold] of THRESHOLDS) {
		const group = mutants.filter(({ file }) => file.startsWith(path));
		if (group.length === 0) continue;
		const score = percent(group);
		if (score < threshold) isBelow = true;
		const mark = score < threshold ? '✗' : '✓';
		console.log(
			`${mark} ${path}: ${score.toFixed(1)} % of ${group.length}, at least ${threshold} %`,
		);
	}
	const count = (...statuses: Array<Result['status']>) =>
		mutants.filter(({ status }) => statuses.includes(status)).length;
	console.log(
		`\nmutation score ${percent(mutants).toFixed(1)} % (${count('Killed')} killed, ${count('Survived', 'RuntimeError')} survived, ${count('Timeout')} timeouts, ${count('NoCoverage')} without coverage)`,
	);
	process.exitCode = isBelow ? 1 : 0;
}

await main();
