/**
 * The process that is measured: n8n's engine with the built package, under a load of all kinds of
 * work. It works for a while, rests, collects its garbage, measures, and continues. Prints a line
 * of JSON for each rest and one at the end.
 */

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SandboxAddress, LoadWorker } from './loadWorker.mts';
import { automatic, defined } from '../../support/engine/outsideJest.mts';
import { memoryNow, countOpen } from './processMetrics.mts';
import { createSandboxAdmin } from '../../../harness/sandboxAdmin.mts';
import { WORKLOADS } from './workloads.mts';

export interface LoadSettings extends SandboxAddress {
	seed: number;
	workers: number;
	/** How long in all, and how long between two measurements, in seconds. */
	seconds: number;
	every: number;
}

export type Message =
	| { kind: 'sample'; at: number; memory: ReturnType<typeof memoryNow>; open: { files: number; sockets: number }; resources: number }
	| {
			kind: 'end';
			done: Record<string, number>;
			runs: { all: number; withErrors: number };
			seen: Record<string, number>;
			wrong: string[];
			/** The longest that the process answered nobody during a write of many items, in ms. */
			blockMs: Record<keyof typeof MAPPINGS, number>;
	  };

const settings = JSON.parse(process.argv[2] ?? '') as LoadSettings;
const admin = createSandboxAdmin(settings.baseUrl);
const load = createRequire(import.meta.url);
const { Container } = load('@n8n/di') as typeof import('@n8n/di');
const { BinaryDataConfig } = load('n8n-core') as typeof import('n8n-core');

/** The two ways to map items to fields. */
const MAPPINGS = {
	'mapped automatically': automatic,
	'mapped by hand': defined({ key: '={{ $json.key }}', amount: '={{ $json.amount }}' }),
};
const MANY_ITEMS = 100_000;

const WRONG_SHOWN = 20;
const COOL_DOWN_MS = 300;

const started = Date.now();
const done = new Map<string, number>();
const seen = new Map<string, number>();
const wrong: string[] = [];
const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
const report = (message: Message) => console.log(JSON.stringify(message));
const total = WORKLOADS.reduce((sum, { weight }) => sum + weight, 0);

function pickWorkload(worker: LoadWorker) {
	let left = worker.random.between(1, total);
	return WORKLOADS.find(({ weight }) => (left -= weight) <= 0)!;
}

async function workUntil(worker: LoadWorker, end: number): Promise<void> {
	while (Date.now() < end) {
		const work = pickWorkload(worker);
		const found = await work.run(worker, (what) => add(seen, what)).catch((error: Error) => [`threw ${error.message}`]);
		add(done, work.name);
		wrong.push(...found.map((text) => `${worker.table}, ${work.name}: ${text}`));
	}
}

/** Removes what the test itself accumulates: n8n prunes the files of executions as well. */
async function tidy(workers: LoadWorker[]): Promise<void> {
	for (const worker of workers) await worker.forgetDeleted();
	const files = join(Container.get(BinaryDataConfig).localStoragePath, 'workflows');
	if (existsSync(files)) await rm(files, { recursive: true });
	await admin.clearRequests();
	await admin.clearWorkflowRuns();
}

/** The processor time of this thread, in ms: it does not grow when another process takes the processor. */
const ownTime = () => {
	const { user, system } = process.threadCpuUsage();
	return (user + system) / 1000;
};

/** Writes many items, and returns the longest time in ms that nothing else could run. */
async function longestBlock(columns: object): Promise<number> {
	const items = Array.from({ length: MANY_ITEMS }, (_, amount) => ({ json: { key: `many ${amount}`, amount } }));
	let longest = 0;
	let isWriting = true;
	const watch = async () => {
		while (isWriting) {
			const before = ownTime();
			await sleep(1);
			longest = Math.max(longest, ownTime() - before);
		}
	};
	const watching = watch();
	// n8n itself takes more than half a second to sort so many items into two outputs.
	const { succeeded } = await workers[0]!.run('record', 'upsert', { columns }, items, 'continueRegularOutput');
	isWriting = false;
	await watching;
	if (succeeded.length !== MANY_ITEMS) wrong.push(`${succeeded.length} of ${MANY_ITEMS} items`);
	return longest;
}

const workers = Array.from({ length: settings.workers }, (_, index) => new LoadWorker(settings, index, settings.seed));
for (const worker of workers) await worker.prepare();
while (Date.now() - started < settings.seconds * 1000) {
	const end = Date.now() + settings.every * 1000;
	await Promise.all(workers.map((worker) => workUntil(worker, end)));
	await tidy(workers);
	await sleep(COOL_DOWN_MS);
	const at = (Date.now() - started) / 1000;
	const resources = process.getActiveResourcesInfo().length;
	report({ kind: 'sample', at, memory: memoryNow(), open: countOpen('self'), resources });
}

await admin.faults([]);
for (const worker of workers) wrong.push(...(await worker.unemittedChanges()).map((text) => `trigger: ${text}`));
const blockMs = {} as Record<keyof typeof MAPPINGS, number>;
for (const mapping of Object.keys(MAPPINGS) as Array<keyof typeof MAPPINGS>) {
	blockMs[mapping] = await longestBlock(MAPPINGS[mapping]);
}
report({
	kind: 'end',
	done: Object.fromEntries(done),
	runs: {
		all: workers.reduce((sum, worker) => sum + worker.runs.all, 0),
		withErrors: workers.reduce((sum, worker) => sum + worker.runs.withErrors, 0),
	},
	seen: { ...Object.fromEntries(seen), wrong: wrong.length },
	wrong: wrong.slice(0, WRONG_SHOWN),
	blockMs,
});
process.exit(0);
