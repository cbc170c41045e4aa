const { availableParallelism } = require('node:os');
const { dirname } = require('node:path');

const swc = ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } }];

/** @type {import('jest').Config} */
const common = {
	rootDir: dirname(__dirname),
	// Otherwise Jest looks through all packages before it starts.
	roots: ['<rootDir>/test'],
	moduleFileExtensions: ['cts', 'mts', 'ts', 'js', 'cjs', 'mjs', 'json', 'node'],
	setupFilesAfterEnv: ['<rootDir>/test/jest.setup.cjs'],
	transform: { '\\.(cts|mts|ts)$': swc },
};

/** @type {import('jest').Config} */
module.exports = {
	// Some suites wait more than they compute, such as for a timeout.
	maxWorkers: Math.max(3, availableParallelism() - 1),
	// A sandbox starts in a second, and in many on a machine that does much else.
	testTimeout: 240_000,
	projects: [
		{ ...common, testMatch: ['<rootDir>/test/{unit,contract,package}/**/*.test.cts'] },
		{
			...common,
			testMatch: ['<rootDir>/test/integration/**/*.test.cts'],
			testEnvironment: '<rootDir>/test/engineEnvironment.cjs',
			transform: {
				'/node_modules/(@n8n|n8n-core|n8n-workflow)/': '<rootDir>/test/engineModule.cjs',
				'/engine/[^/]*\\.cts$|/(sharedSandbox|virtualClock)\\.mts$': '<rootDir>/test/engineModule.cjs',
				...common.transform,
			},
			transformIgnorePatterns: ['/node_modules/(?!(@n8n|n8n-core|n8n-workflow)/)'],
		},
	],
};
