/**
 * Mutation testing: changes the source in thousands of small ways, and counts how many changes the
 * unit tests notice. The last line of the output has the total.
 *
 *   npm run test:mutation                                     all modules
 *   npm run test:mutation -- --files 'nodes/DataPlatform/bulk/steps.ts'
 *   npm run test:mutation -- --incremental                    only what changed since the last run
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { EQUIVALENT } from './equivalent.mts';

const ROOT = join(import.meta.dirname, '..', '..');
const SOURCES = join(ROOT, 'nodes', 'DataPlatform');

/** How many mutants have to be killed, in percent, by the beginning of the path. */
const THRESHOLDS: Array<[path: string, percent: number]> = [
	['api/', 98],
	['bulk/', 94],
	['changes/', 80],
	['execution/', 22],
	['fields/', 99],
	['files/', 98],
	['rows/', 52],
	['transport/', 98],
	['transport/allowedOrigins.ts', 100],
	['transport/retryPolicy.ts', 100],
];

/** A longer text of source is cut in its middle, so that it is the same after small changes there. */
const SHOWN = 120;

const { values } = parseArgs({
	options: {
		files: { type: 'string', multiple: true },
		incremental: { type: 'boolean', default: false },
	},
});

type Result = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

/** A mutant that is not equivalent: its lines before and after. */
interface Mutant {
	file: string;
	line: number;
	from: string;
	to: string;
	status: Result['status'];
}

const plain = (text: string) => {
	const line = text.replace(/\s+/g, ' ').trim();
	const half = SHOWN / 2;
	return line.length <= SHOWN ? line : `${line.slice(0, half)} … ${line.slice(-half)}`;
};

async function describe({ fileName, location, replacement, status }: Result): Promise<Mutant> {
	const { start, end } = location;
	const lines = (await readFile(fileName, 'utf8')).split('\n');
	const touched = lines.slice(start.line - 1, end.line);
	const before = touched[0]!.slice(0, start.column - 1);
	const after = touched.at(-1)!.slice(end.column - 1);
	return {
		file: relative(SOURCES, fileName),
		line: start.line,
		from: plain(touched.join(' ')),
		to: plain(`${before}${replacement}${after}`),
		status,
	};
}

const isEquivalent = ({ file, from, to }: Mutant) =>
	EQUIVALENT[file]?.some((known) => known.from === from && known.to === to) ?? false;

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
	const all = await Promise.all(results.filter(isCounted).map(describe));
	const mutants = all.filter((mutant) => isKilled(mutant) || !isEquivalent(mutant));

	for (const { file, line, from, to, status } of mutants.filter((mutant) => !isKilled(mutant))) {
		const why = status === 'NoCoverage' ? 'without coverage' : 'survived';
		console.log(`\n${file}:${line} ${why}\n  - ${from}\n  + ${to}`);
	}
	console.log();
	let isBelow = false;
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
