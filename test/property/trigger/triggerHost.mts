/**
 * n8n with the trigger, by the rules of one of its schedulers: when it reads and stores the
 * trigger's state, what it drops, which polls run in parallel. It polls, fails, is published again,
 * abandons polls, loses commits and ends without warning.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import { APP, TABLE } from '../faults/constants.mts';
import type { SeededRandom } from '../../support/seededRandom.mts';
import { picked, watch, type Watching } from '../../support/engine/outsideJest.mts';
import { poll, PollCoordinator } from './engine.mts';
import type { Plan } from './plan.mts';

/**
 * | Scheduler | A poll's state | Stored | Dropped |
 * |---|---|---|---|
 * | `memory` | static data of one workflow in memory, shared by all polls | if a poll emits | |
 * | `durablePolls` | a copy of the stored static data | if a poll emits | if it does not |
 * | `durableCursors` | a copy of a stored cursor | with the execution | with the execution; after an activation |
 */
export type Scheduler = 'memory' | 'durablePolls' | 'durableCursors';

/** An item that the trigger emitted; a deletion only has `event` and `id`. */
export interface EmittedItem {
	event: string;
	id: string;
	ver: number;
	created: string;
	modified: string;
	name: string | null;
}

/** How long a poll waits for n8n to store what the previous one emitted. */
const GRACE_MS = 600;

/** The budget of a poll that n8n would abandon. */
const BUDGET_MS = 20_000;

/** The content of n8n's database. */
interface Database {
	/** The static data of the whole workflow. */
	staticData: string;
	cursor?: string;
}

/** A process of n8n. */
interface Main {
	coordinator: PollCoordinator;
	/** The active workflow, if the scheduler is in memory. */
	workflow?: Watching;
}

type Credential = Parameters<typeof watch>[0];

export class TriggerHost {
	/** What executions were started with. */
	readonly executions: EmittedItem[][] = [];
	readonly history: string[] = [];
	/** What was emitted before it was quiet. */
	readonly early: string[] = [];
	readonly seen = { 'polls failed': 0, 'polls at once': 0, kills: 0, 'results dropped': 0, 'polls abandoned': 0 };
	readonly #database: Database = { staticData: '{}' };
	#mains: Main[];
	/** Earlier versions of the static data that n8n stored. */
	readonly #older: string[] = [];
	#running = 0;
	#polls = 0;
	/** When a result was last dropped. */
	#lastDiscard = -Infinity;
	readonly #credential: Credential;
	readonly #plan: Plan;
	readonly #random: SeededRandom;
	readonly #parameters: object;
	readonly #started = Date.now();

	constructor(credential: Credential, plan: Plan, random: SeededRandom, startDate: string) {
		this.#credential = credential;
		this.#plan = plan;
		this.#random = random;
		this.#mains = this.#startMains();
		this.#parameters = {
			triggerOn: plan.triggerOn,
			application: picked(APP),
			table: picked(TABLE),
			startFrom: plan.startFrom,
			startDate,
			options: {
				overlap: plan.overlap,
				quietFor: plan.quietFor,
				deletionCheckInterval: plan.deletionCheckInterval,
				// A table may lose all its records here.
				maxDeletedShare: 100,
				maxRecordsPerPoll: plan.maximum,
				...(plan.isPartial && { fieldsToLoad: ['name'] }),
			},
		};
	}

	note(text: string) {
		this.history.push(`${String(Date.now() - this.#started).padStart(6)} ms  ${text}`);
	}

	/** Publishes the workflow, for the first time or again. Its trigger polls immediately. */
	async activate(): Promise<void> {
		this.note('the workflow is published');
		const [main] = this.#mains;
		const { workflow, cursor } = await this.#load(main!, false);
		main!.workflow = workflow;
		const items = await this.#run(workflow);
		if (items === 'failed') {
			// n8n tries to activate it again.
			await this.activate();
			return;
		}
		if (items) this.#emit(items);
		if (items && cursor) this.#database.cursor = JSON.stringify(cursor);
		this.#database.staticData = workflow.staticData();
	}

	/** Ends n8n without warning; what was not stored is lost. */
	async kill(): Promise<void> {
		this.seen.kills += 1;
		this.note('n8n is killed and started again');
		this.#mains = this.#startMains();
		// Schedules in memory start over, with a poll; those in the database still exist.
		if (this.#plan.scheduler === 'memory') await this.activate();
	}

	/**
	 * Another execution stores the copy of the workflow's static data that it started with. Before
	 * that, a poll sees what the previous one stored, so that it recognizes the copy as old.
	 */
	async overwrite(): Promise<void> {
		if (this.#older.length === 0 || this.hasDiscarded || (await this.poll()) !== 'nothing') return;
		this.note('an execution stores an old copy of the static data');
		this.#database.staticData = this.#older[this.#random.between(0, this.#older.length - 1)]!;
	}

	/**
	 * One scheduled poll. Returns whether it emitted anything, or may have left something.
	 *
	 * @param discard whether n8n drops its result, like a rejected commit
	 * @param budgetMs its budget; n8n may abandon it slightly earlier or later
	 */
	async poll(discard = false, budgetMs = BUDGET_MS): Promise<'nothing' | 'something' | 'failed'> {
		this.#polls += 1;
		const main = this.#mains[this.#polls % this.#mains.length]!;
		this.#running += 1;
		if (this.#running > 1) this.seen['polls at once'] += 1;
		try {
			const isInMemory = this.#plan.scheduler === 'memory';
			const { workflow, cursor } =
				isInMemory && main.workflow ? { workflow: main.workflow, cursor: undefined } : await this.#load(main, true, budgetMs);
			const before = cursor && JSON.stringify(cursor);
			const items = await this.#runWithin(workflow, isInMemory ? Infinity : budgetMs);
			if (items === 'abandoned') return 'something';
			if (items === 'failed') return 'failed';
			// n8n takes a while to store it.
			if (!isInMemory) await sleep(this.#random.between(0, 6));
			const isGone = !this.#mains.includes(main) || (isInMemory && main.workflow !== workflow);
			if (isGone || (discard && !isInMemory)) {
				this.note(isGone ? 'a poll ends that nobody waits for' : 'n8n drops the result of a poll');
				this.seen['results dropped'] += 1;
				this.#lastDiscard = Date.now();
				return 'something';
			}
			const after = cursor && JSON.stringify(cursor);
			if (after !== before) this.#database.cursor = after;
			if (items) {
				this.#older.push(this.#database.staticData);
				this.#database.staticData = workflow.staticData();
				this.#emit(items);
			}
			return items ? 'something' : 'nothing';
		} finally {
			this.#running -= 1;
		}
	}

	/** Waits until a poll no longer waits for a result that n8n dropped. */
	async outwaitDiscarded(): Promise<void> {
		// An abandoned poll may still be running.
		while (this.#lastDiscard === Infinity) await sleep(5);
		await sleep(Math.max(0, this.#lastDiscard + GRACE_MS + 20 - Date.now()));
		this.#lastDiscard = -Infinity;
	}

	get hasDiscarded(): boolean {
		return this.#lastDiscard > -Infinity;
	}

	/** The node's stored static data; undefined if there is none. */
	get stored(): unknown {
		const { staticData, cursor } = this.#database;
		const all = JSON.parse(staticData) as Record<string, unknown>;
		const [own] = Object.entries(all).filter(([key]) => key !== 'global');
		return cursor === undefined ? own?.[1] : (JSON.parse(cursor) as unknown);
	}

	#startMains(): Main[] {
		return Array.from({ length: this.#plan.mains }, () => ({ coordinator: new PollCoordinator(GRACE_MS) }));
	}

	/** The workflow as a process loads it for a poll, with a copy of the stored state. */
	async #load(main: Main, isTask: boolean, budgetMs = BUDGET_MS) {
		const { scheduler, limits } = this.#plan;
		const { staticData, cursor: storedCursor = '{}' } = this.#database;
		const cursor = scheduler === 'durableCursors' ? (JSON.parse(storedCursor) as IDataObject) : undefined;
		// Other polls may store theirs before this one runs.
		if (isTask && scheduler !== 'memory') await sleep(this.#random.between(0, 6));
		const workflow = await watch(this.#credential, this.#parameters, {
			staticData,
			workflowId: 'watched',
			cursor,
			...(isTask && scheduler !== 'memory' && { pollBudgetMs: budgetMs }),
			run: (context) => poll(context, limits, main.coordinator),
		});
		return { workflow, cursor };
	}

	/** A poll that n8n abandons if it does not end in time. It may continue and end later. */
	async #runWithin(workflow: Watching, budgetMs: number) {
		if (budgetMs === Infinity) return await this.#run(workflow);
		const run = this.#run(workflow);
		const patienceMs = this.#random.between(Math.ceil(budgetMs / 3), budgetMs + 10);
		const result = await Promise.race([run, sleep(patienceMs, 'abandoned' as const)]);
		if (result !== 'abandoned') return result;
		this.note('n8n abandons a poll');
		this.seen['polls abandoned'] += 1;
		this.#lastDiscard = Infinity;
		void run.finally(() => (this.#lastDiscard = Date.now()));
		return result;
	}

	async #run(workflow: Watching) {
		try {
			return await workflow.poll();
		} catch (error) {
			this.seen['polls failed'] += 1;
			this.note(`poll fails: ${(error as Error).message}`);
			return 'failed';
		}
	}

	#emit(items: Array<{ json: unknown }>) {
		const emitted = items.map(({ json }) => json as EmittedItem);
		this.executions.push(emitted);
		const quietSince = Date.now() - this.#plan.quietFor * 1000;
		const early = emitted.filter(({ event, modified }) => event !== 'deleted' && Date.parse(modified) > quietSince);
		this.early.push(...early.map(({ id, ver }) => `${id}/${ver} was emitted before it was quiet`));
		const ids = emitted.map(({ event, id, ver }) => `${event[0]} ${id.slice(0, 4)}/${ver}`);
		this.note(`an execution starts with ${ids.length}: ${ids.join(', ')}`);
	}
}
