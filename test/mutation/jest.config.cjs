const base = require('../jest.config.cjs');

/**
 * The unit tests, for mutation testing: each mutant runs those that reach it. Slow random tests and
 * those of speed are left out; they run in `npm test`.
 *
 * @type {import('jest').Config}
 */
module.exports = {
	...base,
	rootDir: '../..',
	testMatch: ['<rootDir>/test/unit/**/*.test.cts'],
	testPathIgnorePatterns: ['AtRandom', 'scale.test', 'files.test'],
	testEnvironment: require.resolve('./environment.cjs'),
	moduleNameMapper: { '^n8n-workflow$': '<rootDir>/test/mutation/n8nWorkflow.cjs' },
	testTimeout: 5000,
};
