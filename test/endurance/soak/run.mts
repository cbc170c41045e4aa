/**
 * All kinds of work for a long time, through n8n's engine with the sandbox, which sometimes
 * responds 429, breaks connections or is slow. The node's outcomes must be true, and the memory,
 * sockets and files of its process and the sandbox's must not grow. `npm run check -- soak [--minutes N]
 * [--seed N]`.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startProcess } from '../../../harness/processes.mts';
import { startSandbox } from '../../../harness/sandboxProcess.mts';
import { createSandboxAdmin, type FaultRule } from '../../../harness/sandboxAdmin.mts';
import type { Message, LoadSettings } from './load.mts';
import { countOpen, residentMemory } from './processMetrics.mts';
import { assessTrends, type Sample } from './trends.mts';

const { values } = parseArgs({
	options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string' }, workers: { type: 'string', default: '6' } },
});

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

const positive = (name: string, text: string) => {
	const number = Number(text);
	if (!(number > 0)) throw new Error(`--${name} ${text}: no number above 0`);
	return number;
};

const minutes = positive('minutes', values.minutes);
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : positive('seed', values.seed);
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
	workers: positive('workers', values.workers),
	seconds,
	every: Math.max(LEAST_SECONDS_BETWEEN, seconds / SAMPLES),
};
const load = startProcess(process.execPath, ['--expose-gc', join(import.meta.dirname, 'load.mts'), JSON.stringify(settings)], {
	env: { ...process.env, N8N_USER_FOLDER: folder },
});
const samples: Sample[] = [];
let end: Extract<Message, { kind: 'end' }> | undefined;
const columns = ['at', 'heap', 'external', 'resident', 'sockets', 'files', 'resources'];
console.log([...columns, 'sandbox:', 'resident', 'sockets', 'files'].map((name) => name.padStart(9)).join(' '));
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
	samples.push(sample);
	const { at, heap, external, resident, sockets, files, resources } = sample;
	console.log(
		[at, heap, external, resident, sockets, files, resources, '']
			.concat([sample.sandboxResident, sample.sandboxSockets, sample.sandboxFiles])
			.map((value) => String(typeof value === 'number' ? Math.round(value * 10) / 10 : value))
			.map((text) => text.padStart(9))
			.join(' '),
	);
});
const code = await load.exited;
await sandbox.stop();
await rm(folder, { recursive: true, force: true });

let passed = 0;
let failed = 0;
const check = (isGood: boolean, what: string) => {
	if (isGood) passed += 1;
	else failed += 1;
	console.log(`${isGood ? '✓' : '✗'} ${what}`);
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
	for (const text of end.wrong) console.log(`  ${text}`);
	check(end.seen.wrong === 0, `${end.seen.wrong} wrong results in ${all} runs of the node`);
	check(withErrors <= all * MOST_ERRORS, `${withErrors} runs of the node had an error for an item, which is not too many`);
	for (const [mapping, blockMs] of Object.entries(end.blockMs)) {
		check(blockMs <= LONGEST_BLOCK_MS, `100,000 items ${mapping} block the process for ${Math.round(blockMs)} ms at most`);
	}
	const entries = (counts: Record<string, number>) =>
		Object.entries(counts)
			.map(([name, times]) => `${name} ${times}`)
			.join(' · ');
	console.log(`\nRuns: ${entries(end.done)}\nOutcomes: ${entries(end.seen)}`);
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
