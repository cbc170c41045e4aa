/** The benchmark in real n8n: each of its workflows does its work, and is measured. */

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Row } from '../../../bench/report/row.mts';
import { buildPackage, ROOT } from '../../../harness/nodePackage.mts';
import { runCommand } from '../../../harness/processes.mts';

test('every workflow of the benchmark does its work', async () => {
	await buildPackage();
	const folder = await mkdtemp(join(tmpdir(), 'bench-test-'));
	const file = join(folder, 'rows.json');
	const args = ['bench/run.mts', '--only', 'n8n', '--smoke', '--json', file];
	const { code, output } = await runCommand(process.execPath, args, { cwd: ROOT });
	assert.equal(code, 0, output);
	const rows = JSON.parse(await readFile(file, 'utf8')) as Row[];
	await rm(folder, { recursive: true });
	assert.ok(rows.length >= 9, output);
	for (const { name, ours, peers, ratioToPeer } of rows) {
		assert.ok(ratioToPeer! > 0, name);
		for (const [by, { seconds, blockMs, failure }] of Object.entries({ ours, ...peers })) {
			assert.equal(failure, undefined, `${name}, ${by}: ${failure}`);
			assert.ok(seconds! > 0 && blockMs !== null, `${name}, ${by}`);
		}
	}
	// One expression for each field of each item blocks, if the event loop is watched at all.
	const byHand = rows.find(({ name }) => name.includes('mapped by hand'))!;
	const { blockMs } = byHand.peers['Edit Fields, then bodies of 1,000']!;
	assert.ok(blockMs! > 100, `a block of ${blockMs} ms`);
});
