/**
 * The process that is measured: n8n's engine with the built package in it, under a load of all kinds
 * of work. Works for a while, rests, collects its garbage, measures, and goes on. Prints a line of
 * JSON for each rest and one at the end.
 */

import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Platform, Lane } from './loadWorker.mts';
import { memoryNow, openOf } from './processMetrics.mts';
import { WORKS } from './workloads.mts';

export interface Task extends Platform {
	seed: number;
	lanes: number;
	/** How long in all, and how long between two measurements, in seconds. */
	seconds: number;
	every: number;
}

export type Message =
	| {
			kind: 'sample';
			at: number;
			memory: ReturnType<typeof memoryNow>;
			open: { files: number; sockets: number };
			resources: number;
	  }
	| {
			kind: 'end';
			done: Record<string, number>;
			runs: { all: number; withErrors: number };
			seen: Record<string, number>;
			wrong: string[];
	  };

const task = JSON.parse(process.argv[2] ?? '') as Task;
const load = createRequire(import.meta.url);
const { Container } = load('@n8n/di') as typeof import('@n8n/di');
const { BinaryDataConfig } = load('n8n-core') as typeof import('n8n-core');

const WRONG_SHOWN = 20;
const LETTING_GO_MS = 300;

const started = Date.now();
const done = new Map<string, number>();
const seen = new Map<string, number>();
const wrong: string[] = [];
const add = (counts: Map<string, number>, name: string) =>
	counts.set(name, (counts.get(name) ?? 0) + 1);
const say = (message: Message) => console.log(JSON.stringify(message));
const total = WORKS.reduce((sum, { weight }) => sum + weight, 0);

function pick(lane: Lane) {
	let left = lane.chance.between(1, total);
	return WORKS.find(({ weight }) => (left -= weight) <= 0)!;
}

async function workUntil(lane: Lane, end: number): Promise<void> {
	while (Date.now() < end) {
		const work = pick(lane);
		const found = await work
			.run(lane, (what) => add(seen, what))
			.catch((error: Error) => [`threw ${error.message}`]);
		add(done, work.name);
		wrong.push(...found.map((text) => `${lane.table}, ${work.name}: ${text}`));
	}
}

/** What the test itself piles up goes: n8n prunes the files of executions as well. */
async function tidy(lanes: Lane[]): Promise<void> {
	for (const lane of lanes) await lane.forget();
	const files = join(Container.get(BinaryDataConfig).localStoragePath, 'workflows');
	if (existsSync(files)) await rm(files, { recursive: true });
	await fetch(`${task.baseUrl}/sandbox/requests`, { method: 'DELETE' });
	await fetch(`${task.baseUrl}/sandbox/runs`, { method: 'DELETE' });
}

const lanes = Array.from({ length: task.lanes }, (_, index) => new Lane(task, index, task.seed));
for (const lane of lanes) await lane.prepare();
while (Date.now() - started < task.seconds * 1000) {
	const end = Date.now() + task.every * 1000;
	await Promise.all(lanes.map((lane) => workUntil(lane, end)));
	await tidy(lanes);
	await sleep(LETTING_GO_MS);
	const at = (Date.now() - started) / 1000;
	const resources = process.getActiveResourcesInfo().length;
	say({ kind: 'sample', at, memory: memoryNow(), open: openOf('self'), resources });
}

await fetch(`${task.baseUrl}/sandbox/faults`, { method: 'DELETE' });
for (const lane of lanes) wrong.push(...(await lane.untold()).map((text) => `trigger: ${text}`));
say({
	kind: 'end',
	done: Object.fromEntries(done),
	runs: {
		all: lanes.reduce((sum, lane) => sum + lane.runs.all, 0),
		withErrors: lanes.reduce((sum, lane) => sum + lane.runs.withErrors, 0),
	},
	seen: { ...Object.fromEntries(seen), wrong: wrong.length },
	wrong: wrong.slice(0, WRONG_SHOWN),
});
process.exit(0);
