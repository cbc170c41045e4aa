/**
 * The environment of tests with n8n's engine: Jest's own, except that the engine is loaded by Node,
 * once in each of Jest's processes. In Jest's realm it takes two seconds for each test file. The
 * package and the test support around the engine are loaded anew for each file.
 */
const { join, sep } = require('node:path');
const { TestEnvironment } = require('jest-environment-node');

const ANEW = ['dist', 'harness/engine', 'test/support/engine'].map((folder) => join(__dirname, '..', folder) + sep);

module.exports = class extends TestEnvironment {
	async setup() {
		await super.setup();
		// Here and not above: Jest transforms what the loading of this file loads.
		require('../harness/compileCommonJs.mts');
		// Before the listeners are noted: it outlives this file.
		require('../harness/userFolder.cts');
		// For engineModule.cjs.
		this.global.requireByNode = require;
		this.exitListeners = new Set(process.listeners('exit'));
	}

	async teardown() {
		for (const file of Object.keys(require.cache)) {
			if (ANEW.some((folder) => file.startsWith(folder))) delete require.cache[file];
		}
		require('@n8n/di').Container.reset();
		// The engine adds a listener with each container.
		for (const listener of process.listeners('exit')) {
			if (!this.exitListeners.has(listener)) process.off('exit', listener);
		}
		await super.teardown();
	}
};
