/**
 * Tests at random begin at a fixed seed, so that the gate does not fail by chance; SEED=<number>
 * begins elsewhere.
 */
require('fast-check').configureGlobal({ seed: Number(process.env.SEED ?? 1) });

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
