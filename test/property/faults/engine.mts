/** The test engine (test/support/engine/engine.cts) outside Jest: compiled by what Jest compiles it with. */
import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';
import type * as Engine from '../../support/engine/engine.cts';

// Node strips types but leaves `import` in place, which a CommonJS file can't have.
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

export const {
	runOperation,
	runWorkflow,
	ownTypes,
	ownCredentials,
	ITEMS_TYPE,
	picked,
	automatic,
} = createRequire(import.meta.url)('../../support/engine/engine.cts') as typeof Engine;

export type { RunResult } from '../../support/engine/engine.cts';
