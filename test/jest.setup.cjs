/**
 * Tests at random begin at a fixed seed, so that the gate does not fail by chance; SEED=<number>
 * begins elsewhere. `npm test` makes a part of their rounds.
 */
const { SEED = '1', TEST_ONE_IN = '1' } = process.env;
require('fast-check').configureGlobal({ seed: Number(SEED), numRuns: Math.ceil(100 / Number(TEST_ONE_IN)) });

/**
 * Jest runs each test file in a realm of its own, in which errors made by Node itself are not
 * `instanceof Error`; n8n's error classes then lose their message. Here they count as errors.
 */
const { isNativeError } = require('node:util').types;

const isInstance = Function.prototype[Symbol.hasInstance];

Object.defineProperty(Error, Symbol.hasInstance, {
	configurable: true,
	value(candidate) {
		return (this === Error && isNativeError(candidate)) || isInstance.call(this, candidate);
	},
});

/** A test that asserts nothing can't fail: one without `expect`, or with it in a loop over nothing. */
beforeEach(() => expect.hasAssertions());
