import { fileURLToPath } from 'node:url';

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
	testRunner: 'in-process',
	plugins: [fileURLToPath(new URL('runner.mts', import.meta.url))],
	// Each mutant runs only the tests that reach it; what runs while a module is loaded reaches all.
	coverageAnalysis: 'perTest',
	ignoreStatic: true,
	mutate: ['api', 'bulk', 'changes', 'execution', 'fields', 'files', 'rows', 'transport'].map(
		(folder) => `nodes/DataPlatform/${folder}/**/*.ts`,
	),
	// Not needed by the unit tests, so not copied.
	ignorePatterns: ['/bench', '/dist', '/docs', '/examples', '/harness', '/.cache', '/test/e2e'],
	concurrency: 2,
	timeoutMS: 4000,
	incrementalFile: '.cache/mutation.json',
	reporters: ['progress-append-only'],
	// A process that is ended because of its mutant is no warning.
	logLevel: 'error',
	disableTypeChecks: false,
	allowEmpty: true,
};
