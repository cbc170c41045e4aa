/** One seed: people write while n8n polls, in the same time and without regard for each other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from '../../support/seededRandom.mts';
import { problemsOf } from './check.mts';
import { planOf, troubleOf, type Plan } from './plan.mts';
import type { Platform } from './platform.mts';
import { Watcher } from './watcher.mts';

/** More polls than any backlog here takes. */
const MOST_POLLS = 600;

export interface Outcome {
	plan: Plan;
	problems: string[];
	history: string[];
	told: number;
	failures: number;
	overlaps: number;
	crashes: number;
}

export async function simulate(platform: Platform, seed: number): Promise<Outcome> {
	const plan = planOf(new Chance(seed));
	await platform.prepare(plan.existing);
	// What is written from here on has a later time than what is there.
	await sleep(3);
	const watcher = new Watcher(platform.address, plan, new Date().toISOString());
	await sleep(1);
	await watcher.start();
	if (plan.startFrom === 'now') {
		await watcher.poll();
		await sleep(3);
	}
	await Promise.all([write(platform, watcher, plan, seed), poll(platform, watcher, plan, seed)]);
	await platform.faults([]);
	const problems: string[] = [];
	for (let polls = 0; (await watcher.poll()) !== 'nothing'; polls += 1) {
		if (polls < MOST_POLLS) continue;
		problems.push(`there is no end after ${MOST_POLLS} polls`);
		break;
	}
	const truth = await platform.truth();
	const requests = await platform.countRequests(async () => void (await watcher.poll()));
	if (requests !== 1) problems.push(`a poll with nothing to tell took ${requests} requests`);
	problems.push(...problemsOf(plan, watcher.told, truth), ...sizeProblems(watcher, plan));
	const { history, failures, overlaps, crashes } = watcher;
	return { plan, problems, history, failures, overlaps, crashes, told: watcher.told.flat().length };
}

async function write(platform: Platform, watcher: Watcher, plan: Plan, seed: number) {
	const chance = new Chance(seed + 1e9);
	for (let writes = 0; writes < plan.writes; writes += 1) {
		watcher.note(await platform.write(chance, plan));
		// Where few are remembered, a moment must not be split by a poll.
		await sleep(chance.between(plan.limits.maxTracked < 1000 ? 2 : 0, 12));
	}
}

async function poll(platform: Platform, watcher: Watcher, plan: Plan, seed: number) {
	const chance = new Chance(seed + 2e9);
	for (let polls = 0; polls < plan.polls; polls += 1) {
		const what = chance.of('poll', 'poll', 'trouble', 'overlap', 'overlap', 'kill', 'save');
		if (what === 'trouble') {
			const rules = troubleOf(chance);
			watcher.note(`trouble: ${JSON.stringify(rules[0]?.fault)} ${rules[0]?.when?.nth?.join()}`);
			await platform.faults(rules);
		}
		if (what === 'save') await watcher.save();
		const first = watcher.poll();
		if (what === 'overlap') {
			await sleep(chance.between(0, 6));
			await watcher.poll();
		}
		if (what === 'kill') {
			await sleep(chance.between(0, 10));
			await watcher.crash();
		}
		await first;
		await sleep(chance.between(0, 25));
	}
}

interface KeptState {
	watch: { state: { emitted: object; backlog?: object } };
}

function sizeProblems({ stored }: Watcher, { limits }: Plan): string[] {
	const [kept] = Object.values(JSON.parse(stored) as Record<string, KeptState>);
	const state = kept?.watch.state;
	if (!state) return ['nothing is kept'];
	const size = Object.keys(state.emitted).length;
	return [
		...(size > limits.maxTracked ? [`${size} records are remembered`] : []),
		...(state.backlog ? ['the state still says that there is more'] : []),
	];
}
