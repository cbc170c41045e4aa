const { TestEnvironment } = require('jest-environment-node');

/**
 * Loading n8n-workflow takes a second, and Jest loads it for each test file anew: here, once for
 * each process. `n8nWorkflow.cjs` hands it to the tests.
 */
module.exports = class extends TestEnvironment {
	constructor(...args) {
		super(...args);
		this.global.n8nWorkflow = require('n8n-workflow');
	}
};
