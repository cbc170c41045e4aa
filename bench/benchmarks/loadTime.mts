/** How long n8n takes to load the package, beside one node of its own. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Measurement } from '../measure.mts';
import { createRow, type Benchmark } from '../report/row.mts';

const run = promisify(execFile);

/** A process loads a package only once, so each run has a new one. */
async function load(what: 'ours' | 'peer'): Promise<Measurement> {
	const program = join(import.meta.dirname, '..', 'workers', 'loadTime.mts');
	const { stdout } = await run(process.execPath, ['--expose-gc', program, what]);
	return JSON.parse(stdout.trim().split('\n').at(-1)!) as Measurement;
}

export const loadTime: Benchmark = {
	name: 'loadTime',
	async run({ isSmoke, hasPeer }) {
		const runs = isSmoke ? 1 : 9;
		const ours: Measurement[] = [];
		const peer: Measurement[] = [];
		for (let count = 0; count < runs; count += 1) {
			ours.push(await load('ours'));
			if (hasPeer) peer.push(await load('peer'));
		}
		return [
			createRow(
				'load the package (two nodes, a credential)',
				{ ours: { measurements: ours }, peer: { measurements: peer } },
				{ ...(hasPeer && { peerName: "n8n's Airtable node" }) },
			),
		];
	},
};
