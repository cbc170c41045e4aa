/**
 * All kinds of work for a long time, through n8n's engine with the sandbox, which sometimes
 * responds 429, breaks connections or is slow. The node's outcomes must be true, and the memory,
 * sockets and files of its process and the sandbox's must not grow. `npm run check -- soak [--minutes N]
 * [--seed N]`.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '../../../harness/processes.mts';
import { startSandbox } from '../../../harness/sandboxProcess.mts';
import { createSandboxAdmin, type FaultRule } from '../../../harness/sandboxAdmin.mts';
import type { Message, LoadSettings } from './load.mts';
import { readOptions } from '../../support/options.mts';
import { Results } from '../../support/results.mts';
import { countOpen, residentMemory } from './processMetrics.mts';
import { assessTrends, type Sample } from './trends.mts';

const { minutes, workers, seed } = readOptions({ minutes: 60, workers: 6 });

/** How many measurements: enough for a line of best fit. */
const SAMPLES = 40;
const LEAST_SECONDS_BETWEEN = 3;
const LEAST_SAMPLES = 10;
/** A node that only returned errors would return nothing wrong. */
const MOST_ERRORS = 0.05;
/**
 * The longest that n8n's process may answer nobody, in ms: no webhook and no health check. On a slow
 * machine; bench/ measures it. A node that does not give way blocks for ten times as long.
 */
const LONGEST_BLOCK_MS = 2000;

const seconds = minutes * 60;

/** Mild, so that the node's own retries nearly always suffice. */
const faults: FaultRule[] = [
	{ kind: 'status', status: 429, retryAfterSeconds: 1 },
	{ kind: 'status', status: 503, retryAfterSeconds: 1 },
	{ kind: 'status', status: 500 },
	{ kind: 'resetUpload', bytes: 1000 },
	{ kind: 'resetBefore' },
	{ kind: 'resetAfter' },
	{ kind: 'truncate' },
	{ kind: 'slowBefore', ms: 200 },
	{ kind: 'slowAfter', ms: 200 },
].map((fault, index) => ({
	id: `${fault.kind} ${fault.status ?? ''}`.trim(),
	when: { probability: fault.kind.startsWith('slow') ? 0.02 : 0.005, seed: seed + index },
	fault,
}));

console.log(`${minutes} minutes from seed ${seed}: npm run check -- soak --minutes ${minutes} --seed ${seed}`);
const folder = await mkdtemp(join(tmpdir(), 'data-platform-soak-'));
// On a file, so that what it stores does not count as its memory. It collects its garbage often, so that
// what it holds shows, and not when Node happened to collect.
const sandbox = await startSandbox({
	db: join(folder, 'sandbox.sqlite'),
	nodeArgs: ['--expose-gc', '--import', 'data:text/javascript,setInterval(gc, 2000).unref()'],
});
const admin = createSandboxAdmin(sandbox.baseUrl);
await admin.settings({ history: false });
await admin.faults(faults);

const settings: LoadSettings = {
	baseUrl: sandbox.baseUrl,
	token: sandbox.tokens.role,
	seed,
	workers,
	seconds,
	every: Math.max(LEAST_SECONDS_BETWEEN, seconds / SAMPLES),
};
const load = startProcess(process.execPath, ['--expose-gc', join(import.meta.dirname, 'load.mts'), JSON.stringify(settings)], {
	env: { ...process.env, N8N_USER_FOLDER: folder },
});
const samples: Sample[] = [];
let end: Extract<Message, { kind: 'end' }> | undefined;
const printRow = (cells: Array<string | number>) => console.log(cells.map((cell) => String(cell).padStart(15)).join(' '));
load.onLine((line) => {
	if (!line.startsWith('{')) {
		console.log(line);
		return;
	}
	const message = JSON.parse(line) as Message;
	if (message.kind === 'end') {
		end = message;
		return;
	}
	const there = countOpen(sandbox.pid);
	const sample: Sample = {
		at: message.at,
		...message.memory,
		...message.open,
		resources: message.resources,
		sandboxResident: residentMemory(sandbox.pid),
		sandboxSockets: there.sockets,
		sandboxFiles: there.files,
	};
	if (samples.length === 0) printRow(Object.keys(sample));
	samples.push(sample);
	printRow(Object.values<number>({ ...sample }).map((value) => Math.round(value * 10) / 10));
});
const code = await load.exited;
await sandbox.stop();
await rm(folder, { recursive: true, force: true });

const results = new Results();
const check = (isGood: boolean, what: string) => {
	results.check(what, isGood ? [] : ['no']);
	if (isGood) console.log(`✓ ${what}`);
};

console.log();
check(code === 0 && end !== undefined, 'the load came to its end');
if (!end) console.log(load.output());
check(samples.length >= LEAST_SAMPLES, `${samples.length} measurements`);
for (const { measure, from, to, isFlat } of samples.length > 1 ? assessTrends(samples) : []) {
	check(isFlat, `${measure} is flat: ${from.toFixed(1)} → ${to.toFixed(1)} in the second half`);
}
if (end) {
	const { all, withErrors } = end.runs;
	results.check(`${end.seen.wrong} wrong results in ${all} runs of the node`, end.wrong);
	check(withErrors <= all * MOST_ERRORS, `${withErrors} runs of the node had an error for an item, which is not too many`);
	for (const [mapping, blockMs] of Object.entries(end.blockMs)) {
		check(blockMs <= LONGEST_BLOCK_MS, `100,000 items ${mapping} block the process for ${Math.round(blockMs)} ms at most`);
	}
	for (const [name, times] of Object.entries({ ...end.done, ...end.seen })) results.see(name, times);
}
results.end();
