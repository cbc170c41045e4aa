import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
	testRunner: 'in-process',
	plugins: [fileURLToPath(new URL('runner.mts', import.meta.url))],
	// Each mutant runs only the tests that reach it. Code that runs while a module is loaded is reached
	// by all of them, so it is not mutated.
	coverageAnalysis: 'perTest',
	ignoreStatic: true,
	// A score below `break` fails the run. Some mutants behave like the source, so 100 is out of reach.
	thresholds: { high: 98, low: 95, break: 95 },
	// The unit tests don't need these, so they are not copied.
	ignorePatterns: ['/bench', '/dist', '/examples', '/harness/n8n', '/.cache', '/test/e2e'],
	// Outside the repository, whose linter reads every file in it.
	tempDirName: join(tmpdir(), 'data-platform-mutation'),
	cleanTempDir: 'always',
	concurrency: 2,
	timeoutMS: 4000,
	dryRunTimeoutMinutes: 15,
	reporters: ['progress-append-only', 'clear-text', 'json'],
	// run.mts reads it.
	jsonReporter: { fileName: '.cache/mutation.json' },
	clearTextReporter: { allowColor: false, reportTests: false },
	// A process that is ended because of its mutant is no warning.
	logLevel: 'error',
	disableTypeChecks: false,
};
