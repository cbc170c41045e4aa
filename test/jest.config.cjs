const { availableParallelism } = require('node:os');

/** @type {import('jest').Config} */
module.exports = {
	rootDir: '..',
	testMatch: ['<rootDir>/test/{unit,contract,integration,package}/**/*.test.cts'],
	moduleFileExtensions: ['cts', 'mts', 'ts', 'js', 'cjs', 'mjs', 'json', 'node'],
	modulePathIgnorePatterns: [
		'<rootDir>/harness/n8n/node_modules',
		'<rootDir>/.cache',
		'<rootDir>/dist/package.json',
	],
	setupFiles: ['<rootDir>/test/jest.setup.cjs'],
	// A sandbox starts in a second, and in many on a machine that does much else.
	testTimeout: 60_000,
	// Suites wait more than they compute: for a sandbox to start, and for retries. With four on two
	// cores the integration tests take about half as long as with Jest's default of one.
	maxWorkers: Math.max(4, availableParallelism() - 1),
	transform: {
		'\\.(cts|mts|ts)$': [
			'@swc/jest',
			{
				jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
				module: { type: 'commonjs' },
			},
		],
	},
};
