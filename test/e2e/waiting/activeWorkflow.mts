/**
 * An active workflow with the trigger in a real n8n, the table that it watches, and what it
 * emitted.
 */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { sandboxCredential } from '../../../harness/examples.mts';
import { createOwner, type ExecutionData, type N8nApi, parseExecutionData, signIn, startItems } from '../../../harness/n8nApi.mts';
import { type RunningN8n, startN8n } from '../../../harness/n8nProcess.mts';
import type { TestEnvironment } from '../../../harness/testEnvironment.mts';
import { atSecond, everySeconds, inTable, linearWorkflow, triggerNode } from '../../support/linearWorkflow.mts';
import { listExecutions, PAGE } from '../../support/n8n.mts';
import { type Change, countPolls, isStartStored, nameOf, PollLog } from '../../support/pollLog.mts';
import { createSandboxAdmin, type SandboxAdmin } from '../../../harness/sandboxAdmin.mts';
import { waitUntil } from '../../support/waitUntil.mts';

const DURABLE = {
	N8N_SCHEDULER_ENABLED: 'true',
	N8N_SCHEDULER_POLL_TRIGGERS_ENABLED: 'true',
	N8N_USE_WORKFLOW_PUBLICATION_SERVICE: 'true',
	N8N_SCHEDULER_MATERIALIZATION_INTERVAL: '1',
	N8N_SCHEDULER_EXECUTOR_INTERVAL: '1',
};

/** How n8n can run polls, by the environment variables for it. */
export const SCHEDULERS = {
	'in memory': {},
	'durable polls': DURABLE,
	'durable cursors': { ...DURABLE, N8N_POLLER_DURABLE_CURSORS_ENABLED: 'true' },
} as const;

export type Scheduler = keyof typeof SCHEDULERS;

const TRIGGER = 'Airports that changed';

/** One poll time per minute, the next one this many seconds from now. */
export const onceAMinute = (seconds: number) => [atSecond(new Date(Date.now() + seconds * 1000).getSeconds())];

export const SECONDS_BETWEEN_POLLS = 4;

/** A poll every four seconds, and a second one at the same moment. */
export const manyPollTimes = () =>
	everySeconds(SECONDS_BETWEEN_POLLS).flatMap((time) => [time, { ...time, cronExpression: time.cronExpression.replace('*', '*/1') }]);

interface Row {
	id: string;
	ver: number;
	modified: string;
}

/** What happened to the changes of one situation. */
export interface Verdict {
	written: number;
	/** In no execution. */
	lost: number;
	doubled: number;
	/** Emitted although they existed before. */
	early: number;
	/** The lost and doubled ones that fell between the two writes of an n8n that was killed. */
	lostBetweenWrites: number;
	doubledBetweenWrites: number;
}

/**
 * How n8n ends if it finds an execution that died just as it started. n8n notes the attempt, and
 * its next start leaves that execution alone.
 */
const FAILED_START = /reading 'getTime'\)[^]+ExecutionRecoveryService/;

export class ActiveWorkflow {
	n8n!: RunningN8n;
	n8nApi!: N8nApi;
	id = '';
	readonly #environment: TestEnvironment;
	readonly #scheduler: Scheduler;
	readonly #owner = createOwner();
	/** The changes since the last verdict, which must be emitted. */
	readonly #expected = new Map<string, Change>();
	/**
	 * How often each change was emitted until the last verdict, or never although it was expected.
	 */
	readonly #judged = new Map<string, number>();
	/** The changes, as `id:ver`, of each execution that has ended. */
	readonly #executions = new Map<string, string[]>();
	#codes = 0;
	/** When this n8n was started. */
	#startedAt = 0;
	/** For an n8n with two writes; with durable cursors there is one. */
	#pollLog: PollLog | undefined;
	readonly #admin: SandboxAdmin;

	constructor(environment: TestEnvironment, scheduler: Scheduler) {
		this.#environment = environment;
		this.#scheduler = scheduler;
		this.#admin = createSandboxAdmin(environment.sandbox.baseUrl);
	}

	async start(env: Record<string, string> = {}): Promise<void> {
		const options = { userFolder: this.#environment.userFolder, isBare: true, env: { ...SCHEDULERS[this.#scheduler], ...env } };
		this.#startedAt = Date.now();
		this.n8n = await startN8n(options).catch(async (error: unknown) => {
			if (!FAILED_START.test(String(error))) throw error;
			return await startN8n(options);
		});
		this.n8nApi = await signIn(this.n8n.url, this.#owner);
	}

	async kill(): Promise<void> {
		process.kill(this.n8n.pid, 'SIGKILL');
		await this.n8n.exited;
		this.#pollLog?.read();
	}

	async stop(): Promise<void> {
		await this.n8n.stop();
	}

	/** A new workflow, active and past its first poll. The previous one is deactivated. */
	async activate(pollTimes: object[], parameters: Record<string, unknown> = {}): Promise<void> {
		if (this.id !== '') await this.n8nApi.unpublish(this.id);
		this.#expected.clear();
		this.#judged.clear();
		this.#executions.clear();
		const credential = await this.n8nApi.createCredential(sandboxCredential(this.#environment.sandbox));
		const trigger = triggerNode(TRIGGER, pollTimes, { triggerOn: 'createdOrUpdated', ...inTable('geo', 'airports'), ...parameters });
		this.id = await this.n8nApi.createWorkflow(linearWorkflow('Watch airports', credential, [], trigger));
		const hasGap = this.#scheduler !== 'durable cursors';
		this.#pollLog = hasGap ? new PollLog(this.#environment.userFolder, this.id, TRIGGER) : undefined;
		await this.n8nApi.publish(this.id);
		// Changes after it must be emitted.
		await waitUntil('n8n stores where watching begins', () => isStartStored(this.#environment.userFolder, this.id));
	}

	/** Waits until n8n has started this many more polls. */
	async polls(count: number): Promise<void> {
		const before = await countPolls(this.#admin);
		await waitUntil('n8n polls', async () => (await countPolls(this.#admin)) >= before + count);
	}

	/** Creates records in one request, which must be emitted. */
	async create(count: number): Promise<string[]> {
		const bulk = Array.from({ length: count }, () => {
			this.#codes += 1;
			return { fields: { iata: this.#codes.toString(36), name: `Airport ${this.#codes}` } };
		});
		const { data } = await this.#request<{ data: Row[] }>('POST', '/bulk?dataResponseType=MetadataOnly', { bulk });
		for (const row of data) this.#expect(row);
		return data.map(({ id }) => id);
	}

	/** Changes a record. The change must be emitted unless it is irrelevant. */
	async update(id: string, isRelevant = true): Promise<void> {
		this.#codes += 1;
		const { data } = await this.#request<{ data: Row }>('PATCH', `/${id}`, { fields: { name: `Airport ${this.#codes}` } });
		if (isRelevant) this.#expect(data);
	}

	/**
	 * Waits until everything was emitted, except what n8n lost between its two writes: only the latest version of a
	 * record ever is.
	 */
	async emitted(timeoutMs: number): Promise<boolean> {
		const end = Date.now() + timeoutMs;
		for (;;) {
			const counts = await this.#emittedTimes();
			const isDone = ([name, change]: [string, Change]) => counts.has(name) || this.#pollLog?.isInGap(change);
			if ([...this.#expected].every(isDone)) return true;
			if (Date.now() > end) return false;
			await sleep(500);
		}
	}

	/** From now on, this many requests for data take this long. */
	async slowDown(ms: number, count: number): Promise<void> {
		const when = { nth: Array.from({ length: count }, (_, index) => index + 1) };
		const fault = { kind: 'slowBefore', ms } as const;
		await this.#admin.faults([
			{ match: { method: 'GET', path: '/data$' }, when, fault },
			{ match: { method: 'POST', path: '/data/filter$' }, when, fault },
		]);
	}

	/**
	 * Waits until everything was emitted, and for some more polls, which must not repeat anything.
	 * Later writes count for the next verdict.
	 */
	async verdict(patienceMs: number, afterMs = 2 * SECONDS_BETWEEN_POLLS * 1000): Promise<Verdict> {
		await this.emitted(patienceMs);
		await sleep(afterMs);
		const counts = await this.#emittedTimes();
		const expected = [...this.#expected.entries()];
		const missing = expected.filter(([name]) => !counts.has(name));
		const lost = missing.filter(([, change]) => !this.#pollLog?.isInGap(change));
		const more = [...counts].filter(([name, count]) => count > Math.max(1, this.#judged.get(name) ?? 0));
		const doubled = more.filter(([name]) => {
			const change = this.#expected.get(name);
			return !change || !this.#pollLog?.isInOtherGap(change);
		});
		const isKnown = (name: string) => this.#expected.has(name) || this.#judged.has(name);
		const verdict = {
			written: expected.length,
			lost: lost.length,
			doubled: doubled.length,
			early: [...counts.keys()].filter((name) => !isKnown(name)).length,
			lostBetweenWrites: missing.length - lost.length,
			doubledBetweenWrites: more.length - doubled.length,
		};
		for (const [name] of expected) this.#judged.set(name, 0);
		for (const [name, count] of counts) this.#judged.set(name, count);
		this.#expected.clear();
		return verdict;
	}

	#expect({ id, ver, modified }: Row): void {
		this.#expected.set(nameOf({ id, ver }), { id, ver, at: modified });
	}

	async #emittedTimes(): Promise<Map<string, number>> {
		await this.#readExecutions();
		const counts = new Map<string, number>();
		for (const name of [...this.#executions.values()].flat()) {
			counts.set(name, (counts.get(name) ?? 0) + 1);
		}
		return counts;
	}

	/** Reads the items of executions that have ended, or that died with a previous n8n. */
	async #readExecutions(): Promise<void> {
		for (let before: string | undefined; ; ) {
			const results = await listExecutions(this.n8nApi, this.id, { before });
			for (const { id, status, mode, startedAt } of results) {
				if (mode !== 'trigger' || status === 'error' || this.#executions.has(id)) continue;
				const isOpen = ['new', 'running'].includes(status);
				// n8n leaves it like that if its log only says that it was started.
				const isDead = status === 'running' && Date.parse(startedAt ?? '') < this.#startedAt;
				if (isOpen && !isDead) continue;
				const names = await this.#startedWith(id);
				// An execution that died with n8n can be run again with the same items.
				if (status === 'crashed' || isDead) {
					const retry = await this.n8nApi.request<{ id: string }>('POST', `/executions/${id}/retry`, {});
					assert.deepEqual(await this.#startedWith(retry.id), names);
				}
				this.#executions.set(id, names);
			}
			if (results.length < PAGE) return;
			before = results.at(-1)!.id;
		}
	}

	async #startedWith(executionId: string): Promise<string[]> {
		const { data } = await this.n8nApi.request<{ data: string }>('GET', `/executions/${executionId}`);
		const items = startItems(parseExecutionData(data) as ExecutionData, TRIGGER);
		return items.map(({ json }) => nameOf(json as unknown as Change));
	}

	async #request<T>(method: string, path: string, data: unknown): Promise<T> {
		const url = `/apps/geo/tables/airports/data${path}`;
		const response = await this.#environment.sandbox.client().request<T>({ method, url, data });
		assert.ok(response.status < 300, JSON.stringify(response.data));
		return response.data;
	}
}
