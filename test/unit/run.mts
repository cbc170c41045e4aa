/**
 * Runs the unit tests in this process, which takes a third of what Jest takes; support/unitTests.mts.
 *
 *   node --enable-source-maps test/unit/run.mts [--left-out PATTERN]
 */
import { parseArgs } from 'node:util';
import { runsOf } from '../support/part.mts';
import { UnitTests, type UnitTest } from '../support/unitTests.mts';

const ROOT = process.cwd();

/** As in test/jest.config.cjs. */
const MAX_MS = 240_000;

// Taken before a test fakes them.
const { setTimeout, clearTimeout } = globalThis;

const { values } = parseArgs({ options: { 'left-out': { type: 'string', default: '^$' } } });
const tests = new UnitTests(ROOT, { leftOut: new RegExp(values['left-out']), seed: Number(process.env.SEED ?? 1), numRuns: runsOf(100) });

async function failureOf(test: UnitTest): Promise<Error | undefined> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<Error>((resolve) => {
		timer = setTimeout(() => resolve(new Error(`It takes longer than ${MAX_MS} ms`)), MAX_MS);
	});
	return await Promise.race([tests.run(test), late]).finally(() => clearTimeout(timer));
}

let failed = 0;
for (const test of tests.all) {
	const failure = await failureOf(test);
	if (!failure) continue;
	failed += 1;
	console.log(`\n✗ ${test.id}\n${(failure.stack ?? failure.message).replaceAll(`${ROOT}/`, '')}`);
}
console.log(`\n${tests.all.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
