/**
 * Runs the tests of a folder in this process, which takes a third of what Jest takes; support/testsInProcess.mts.
 *
 *   node --enable-source-maps test/run.mts unit [--left-out PATTERN]
 */
import { parseArgs } from 'node:util';
import { runsOf } from './support/part.mts';
import { TestsInProcess, type LoadedTest } from './support/testsInProcess.mts';

const ROOT = process.cwd();

/** As in jest.config.cjs. */
const MAX_MS = 240_000;

// Taken before a test fakes them.
const { setTimeout, clearTimeout } = globalThis;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { 'left-out': { type: 'string', default: '^$' } } });
const tests = new TestsInProcess(ROOT, positionals[0]!, {
	leftOut: new RegExp(values['left-out']),
	seed: Number(process.env.SEED ?? 1),
	numRuns: runsOf(100),
});

async function failureOf(test: LoadedTest): Promise<Error | undefined> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<Error>((resolve) => {
		timer = setTimeout(() => resolve(new Error(`It takes longer than ${MAX_MS} ms`)), MAX_MS);
	});
	const ended = tests.enter(test).then(
		async () => await tests.run(test),
		(error: Error) => error,
	);
	return await Promise.race([ended, late]).finally(() => clearTimeout(timer));
}

let failed = 0;
for (const test of tests.all) {
	const failure = await failureOf(test);
	if (!failure) continue;
	failed += 1;
	console.log(`\n✗ ${test.id}\n${(failure.stack ?? failure.message).replaceAll(`${ROOT}/`, '')}`);
}
await tests.enter();
console.log(`\n${tests.all.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
