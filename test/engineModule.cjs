/** What Jest makes of a module of n8n's engine: the one that Node has loaded; engineEnvironment.cjs. */
module.exports = { process: (_source, path) => ({ code: `module.exports = requireByNode(${JSON.stringify(path)});` }) };
