/** n8n with the trigger in it: polls, fails, overlaps itself, is saved again, ends without warning. */
import type { INodeParameters } from 'n8n-workflow';
import { APP, TABLE } from '../faults/constants.mts';
import type { SandboxAddress } from '../faults/sandboxes.mts';
import { poll, watch, type Watching } from './engine.mts';
import type { Plan } from './plan.mts';

/** An item that the trigger gave. */
export interface Told {
	event: string;
	id: string;
	ver: number;
	created: string;
	modified: string;
	fields: { name: string | null };
}

const picked = (value: string) => ({ __rl: true, mode: 'list', value });

export class Watcher {
	/** What reached executions, one list for each poll. */
	readonly told: Told[][] = [];
	readonly history: string[] = [];
	failures = 0;
	overlaps = 0;
	crashes = 0;
	/** The static data as n8n has stored it. */
	stored = '{}';
	/** The workflow in memory; n8n that has ended is no longer listened to. */
	#watching: Watching | undefined;
	#running = 0;
	readonly #address: SandboxAddress;
	readonly #plan: Plan;
	readonly #parameters: INodeParameters;
	readonly #started = Date.now();

	constructor(address: SandboxAddress, plan: Plan, startDate: string) {
		this.#address = address;
		this.#plan = plan;
		this.#parameters = {
			triggerOn: plan.triggerOn,
			application: picked(APP),
			table: picked(TABLE),
			startFrom: plan.startFrom,
			startDate,
			options: {
				overlap: plan.overlap,
				maximum: plan.maximum,
				...(plan.isPartial && { fieldsToLoad: ['name'] }),
			},
		};
	}

	note(text: string) {
		this.history.push(`${String(Date.now() - this.#started).padStart(6)} ms  ${text}`);
	}

	/** Starts n8n, or has the workflow saved again: with what was stored. */
	async start(): Promise<void> {
		const { baseUrl, token } = this.#address;
		this.#watching = await watch({ baseUrl, token }, this.#parameters, {
			staticData: this.stored,
			run: (context) => poll(context, this.#plan.limits),
		});
	}

	/** n8n ends without warning; what was not stored is gone. */
	async crash(): Promise<void> {
		this.crashes += 1;
		this.note('n8n is killed and started again');
		await this.start();
	}

	/** The workflow is saved: n8n stores what it has and starts it anew. */
	async save(): Promise<void> {
		this.stored = this.#watching!.staticData();
		this.note('the workflow is saved again');
		await this.start();
	}

	/** One poll; whether it moved or told anything, or failed. */
	async poll(): Promise<'nothing' | 'something' | 'failed'> {
		const watching = this.#watching!;
		this.#running += 1;
		if (this.#running > 1) this.overlaps += 1;
		const before = watching.staticData();
		try {
			const items = await watching.poll();
			if (watching !== this.#watching) {
				this.note('a poll came to its end that nobody waits for');
				return 'nothing';
			}
			const told = (items ?? []).map(({ json }) => json as unknown as Told);
			this.stored = watching.staticData();
			if (told.length > 0) this.told.push(told);
			const ids = told.map(({ event, id, ver }) => `${event[0]} ${id.slice(0, 4)}/${ver}`);
			this.note(`poll tells ${told.length}: ${ids.join(', ')}`);
			return told.length > 0 || this.stored !== before ? 'something' : 'nothing';
		} catch (error) {
			this.failures += 1;
			this.note(`poll fails: ${(error as Error).message}`);
			return 'failed';
		} finally {
			this.#running -= 1;
		}
	}
}
