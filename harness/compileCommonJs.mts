/**
 * Lets Node load the test support that it shares with Jest (`.cts`), compiled as Jest compiles it:
 * Node strips types but keeps `import`, which a CommonJS file can't have.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

registerHooks({
	load(url, context, nextLoad) {
		if (!url.endsWith('.cts')) return nextLoad(url, context);
		const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), {
			jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
			module: { type: 'commonjs' },
		});
		return { format: 'commonjs', source: code, shortCircuit: true };
	},
});
