// Tests with fake timers need a `sleep` of their own.
module.exports = { ...globalThis.n8nWorkflow, sleep: require('@n8n/utils/sleep').sleep };
