/** One seed: records are written while n8n polls, independently and at the same time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '../../support/seededRandom.mts';
import type { Verdict } from '../../support/results.mts';
import { problemsOf } from './check.mts';
import { planOf, troubleOf, watchesDeletions, type Plan } from './plan.mts';
import type { Platform } from './platform.mts';
import { TriggerHost, type Scheduler } from './triggerHost.mts';

/** More polls than any backlog here takes. */
const MAX_POLLS = 600;

export async function simulate(platform: Platform, seed: number, scheduler?: Scheduler): Promise<Verdict> {
	const plan = planOf(seed, scheduler);
	const last = await platform.prepare(plan.existing, plan.platform);
	// A start at a date only knows times. Any other start knows the existing records, unless more of
	// them have the newest time than it remembers: then changes at that time count as existing
	// before.
	const { maxTracked, maxBuffered } = plan.limits;
	const isAfter = plan.startFrom === 'date' || plan.existing > Math.min(maxTracked, maxBuffered);
	const startTime = isAfter ? await platform.waitUntilAfter(Math.max(last, Date.now())) : Date.now();
	const { maxListedRecords: most = null } = plan.platform;
	const isAllRead = plan.existing < Math.min(plan.limits.page, most ?? Infinity);
	// With a short overlap, that takes until the trigger has seen 2 s of changes.
	const unsureMs = plan.overlap < 2 ? 2000 : 0;
	const unsureBefore = plan.startFrom === 'date' || !isAllRead ? startTime + unsureMs : -Infinity;
	const startDate = new Date(startTime).toISOString();
	const host = new TriggerHost(platform.slot.credential, plan, new SeededRandom(seed + 3e9), startDate);
	await host.activate();
	await Promise.all([write(platform, host, plan, seed), poll(platform, host, plan, seed)]);
	const { admin } = platform.slot.sandbox;
	await admin.faults([]);
	await sleep(2 * plan.platform.lateValuesMs);
	const problems: string[] = [];
	// The platform says its time in whole seconds.
	const quietMs = plan.quietFor * 1000 && plan.quietFor * 1000 + 1000;
	const isAtOnce = !watchesDeletions(plan) && quietMs === 0;
	let isChecked = isAtOnce;
	for (let polls = 0; ; polls += 1) {
		const isDone = (await host.poll()) === 'nothing';
		if (isDone && !host.hasDiscarded && isChecked) break;
		if (isDone && !host.hasDiscarded) {
			// Between two checks for deletions, a poll finds none; nor what is not quiet yet.
			await sleep(Math.max(plan.deletionCheckInterval * 60_000, quietMs) + 5);
			isChecked = true;
		} else if (isDone) await host.outwaitDiscarded();
		else isChecked = isAtOnce;
		if (polls < MAX_POLLS) continue;
		problems.push(`there is no end after ${MAX_POLLS} polls`);
		break;
	}
	// An idle poll is one request if the overlap has passed. If what changed in it fits into a page, a
	// second one asks whether that is all.
	const { settleMs, page, expected } = plan.limits;
	const overlapMs = (plan.overlap + plan.quietFor) * 1000;
	const isPassed = overlapMs < 1000;
	// A check for deletions proves nothing before; the platform says its time in whole seconds.
	const idleMs = watchesDeletions(plan) ? settleMs + 1000 : settleMs;
	const isShort = plan.existing + plan.writes * plan.burst + expected < page;
	for (let idle = 0, polls = 0; idle < 2 * plan.mains && polls < MAX_POLLS; polls += 1) {
		// Before that, more may change at the time of the last change.
		await sleep(isPassed ? Math.max(idleMs, overlapMs) : idleMs);
		// What is found only then may take several polls.
		idle = (await host.poll()) === 'nothing' ? idle + 1 : 0;
	}
	const truth = await platform.slot.truth();
	await admin.clearRequests();
	await host.poll();
	const { length: requests } = await admin.requests();
	// Two processes don't know about each other's idle polls, and small pages take more requests.
	const { maxListedRecords, maxFilteredRecords } = plan.platform;
	const isWhole = (maxListedRecords ?? maxFilteredRecords) === null;
	const isOrdinary = plan.mains === 1 && isWhole && (isPassed || isShort);
	const mostIdle = isPassed ? 1 : 2;
	const isIdle = requests <= (watchesDeletions(plan) ? mostIdle + 3 : mostIdle);
	if (!isIdle && isOrdinary) problems.push(`an idle poll took ${requests} requests`);
	problems.push(
		...problemsOf(plan, host.executions, truth, { existing: platform.existing, unsureBefore }),
		...sizeProblems(host, plan),
		...host.early,
	);
	const items = host.executions.flat();
	const deletions = items.filter(({ event }) => event === 'deleted').length;
	const seen = { ...host.seen, 'items emitted': items.length, 'of them deletions': deletions };
	return { problems, evidence: [JSON.stringify(plan), ...host.history], seen };
}

async function write(platform: Platform, host: TriggerHost, plan: Plan, seed: number) {
	const random = new SeededRandom(seed + 1e9);
	for (let writes = 0; writes < plan.writes; writes += 1) {
		host.note(await platform.write(random, plan));
		// If few records are remembered, a poll must not split a moment.
		await sleep(random.between(plan.limits.maxTracked < 1000 ? 2 : 0, 12));
	}
}

const KINDS = [
	'poll',
	'poll',
	'trouble',
	'trouble again',
	'overlap',
	'overlap',
	'kill',
	'publish',
	'drop',
	'abandon',
	'abandon',
	'overwrite',
] as const;

async function poll(platform: Platform, host: TriggerHost, plan: Plan, seed: number) {
	const random = new SeededRandom(seed + 2e9);
	for (let polls = 0; polls < plan.polls; polls += 1) {
		const kind = random.of(...KINDS);
		const isTrouble = kind === 'trouble' || kind === 'trouble again';
		if (isTrouble || (kind === 'abandon' && random.happens(0.5))) {
			const rules = troubleOf(random);
			const kinds = rules.map(({ fault, when }) => `${fault.kind} ${when?.nth?.join()}`);
			host.note(`trouble: ${[...new Set(kinds)].join(', ')}`);
			await platform.slot.sandbox.admin.faults(rules);
		}
		if (kind === 'publish') await host.activate();
		if (kind === 'overwrite' && plan.hasSecondWriter) await host.overwrite();
		const first = host.poll(kind === 'drop', kind === 'abandon' ? random.between(5, 80) : undefined);
		// Several processes with one poll time take turns.
		if (kind === 'overlap' && plan.mains === 1) {
			await sleep(random.between(0, 6));
			await Promise.all([host.poll(), host.poll()]);
		}
		// Without old copies of the state: after a restart, nothing shows that they are old.
		if (kind === 'kill' && !plan.hasSecondWriter) {
			await sleep(random.between(0, 10));
			await host.kill();
		}
		await first;
		if (kind === 'trouble again') await host.poll(random.happens(0.3));
		await sleep(random.between(0, 25));
	}
}

function sizeProblems({ stored }: TriggerHost, { limits }: Plan): string[] {
	const watch = (stored as { watch?: string } | undefined)?.watch ?? '{}';
	// A checksum stands before it.
	const { state } = JSON.parse(watch.slice(watch.indexOf('{'))) as { state?: { emitted: object } };
	const size = Object.keys(state?.emitted ?? {}).length;
	return size > limits.maxTracked ? [`${size} records are remembered`] : [];
}
