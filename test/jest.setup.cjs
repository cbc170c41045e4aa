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
