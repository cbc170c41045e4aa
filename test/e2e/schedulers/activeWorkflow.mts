/** An active workflow with the trigger in a real n8n, the table that it watches, what it emitted. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import axios from 'axios';
import { CREDENTIAL_NAME, CREDENTIAL_TYPE, sandboxCredential } from '../../../harness/examples.mts';
import {
	createOwner,
	type Execution,
	type N8nApi,
	outputItems,
	parseExecutionData,
	signIn,
} from '../../../harness/n8nApi.mts';
import { type RunningN8n, startN8n } from '../../../harness/n8nProcess.mts';
import type { TestEnvironment } from '../../../harness/testEnvironment.mts';

/** How n8n may run polls, by the switches that it takes from its environment. */
export const SCHEDULERS = {
	'in memory': {},
	'durable polls': {
		N8N_SCHEDULER_ENABLED: 'true',
		N8N_SCHEDULER_POLL_TRIGGERS_ENABLED: 'true',
		N8N_USE_WORKFLOW_PUBLICATION_SERVICE: 'true',
		N8N_SCHEDULER_MATERIALIZATION_INTERVAL: '1',
		N8N_SCHEDULER_EXECUTOR_INTERVAL: '1',
	},
	'durable cursors': {
		N8N_SCHEDULER_ENABLED: 'true',
		N8N_SCHEDULER_POLL_TRIGGERS_ENABLED: 'true',
		N8N_USE_WORKFLOW_PUBLICATION_SERVICE: 'true',
		N8N_POLLER_DURABLE_CURSORS_ENABLED: 'true',
		N8N_SCHEDULER_MATERIALIZATION_INTERVAL: '1',
		N8N_SCHEDULER_EXECUTOR_INTERVAL: '1',
	},
} as const;

export type Scheduler = keyof typeof SCHEDULERS;

const TRIGGER = 'Airports that changed';
const locator = (value: string) => ({ __rl: true, mode: 'list', value });
const custom = (cronExpression: string) => ({ mode: 'custom', cronExpression });

/** One poll time a minute, the next one so many seconds from now. */
export const onceAMinute = (seconds: number) => [
	custom(`${new Date(Date.now() + seconds * 1000).getSeconds()} * * * * *`),
];

export const SECONDS_BETWEEN_POLLS = 4;

/** A poll every four seconds, and a second one at the same moment. */
export const manyPollTimes = () =>
	Array.from({ length: 60 / SECONDS_BETWEEN_POLLS }, (_, index) => [
		custom(`${index * SECONDS_BETWEEN_POLLS} * * * * *`),
		custom(`${index * SECONDS_BETWEEN_POLLS} */1 * * * *`),
	]).flat();

interface Row {
	id: string;
	ver: number;
}

export interface Verdict {
	written: number;
	lost: number;
	doubled: number;
	/** Emitted although they were there before. */
	early: number;
	executions: number;
	/** Executions without items. */
	empty: number;
}

export class ActiveWorkflow {
	n8n!: RunningN8n;
	n8nApi!: N8nApi;
	id = '';
	readonly #environment: TestEnvironment;
	readonly #env: Record<string, string>;
	readonly #owner = createOwner();
	/** The versions that must be emitted, as `id/ver`. */
	readonly #expected = new Set<string>();
	#codes = 0;
	#read = new Map<string, string[]>();

	constructor(environment: TestEnvironment, env: Record<string, string>) {
		this.#environment = environment;
		this.#env = env;
	}

	async start(env: Record<string, string> = {}): Promise<void> {
		this.n8n = await startN8n({
			userFolder: this.#environment.userFolder,
			env: { ...this.#env, ...env },
		});
		this.n8nApi = await signIn(this.n8n.url, this.#owner);
	}

	async kill(): Promise<void> {
		process.kill(this.n8n.pid, 'SIGKILL');
		await this.n8n.exited;
	}

	async stop(): Promise<void> {
		await this.n8n.stop();
	}

	/** A new workflow, active and past its first poll; the one before is switched off. */
	async activate(pollTimes: object[], parameters: Record<string, unknown> = {}): Promise<void> {
		if (this.id !== '') await this.n8nApi.unpublish(this.id);
		this.#expected.clear();
		this.#read.clear();
		const id = await this.n8nApi.createCredential(sandboxCredential(this.#environment.sandbox));
		this.id = await this.n8nApi.createWorkflow({
			name: 'Watch airports',
			nodes: [
				{
					id: '0b8c6f0e-52c0-4a0e-9a6e-000000000001',
					name: TRIGGER,
					type: 'n8n-nodes-data-platform.dataPlatformTrigger',
					typeVersion: 1,
					position: [0, 0],
					parameters: {
						pollTimes: { item: pollTimes },
						triggerOn: 'createdOrUpdated',
						application: locator('geo'),
						table: locator('airports'),
						...parameters,
					},
					credentials: { [CREDENTIAL_TYPE]: { id, name: CREDENTIAL_NAME } },
				},
			],
			connections: {},
		});
		const requests = `${this.#environment.sandbox.baseUrl}/sandbox/requests`;
		await axios.delete(requests);
		await this.n8nApi.publish(this.id);
		const end = Date.now() + 40_000;
		while ((await axios.get<{ data: unknown[] }>(requests)).data.data.length < 2) {
			assert.ok(Date.now() < end, 'n8n does not poll');
			await sleep(50);
		}
		// For n8n to store where it began.
		await sleep(1000);
	}

	/** Creates records in one request; they must be emitted. */
	async create(count: number): Promise<string[]> {
		const bulk = Array.from({ length: count }, () => {
			this.#codes += 1;
			return { fields: { iata: this.#codes.toString(36), name: `Airport ${this.#codes}` } };
		});
		const { data } = await this.#request<{ data: Row[] }>(
			'POST',
			'/bulk?dataResponseType=MetadataOnly',
			{ bulk },
		);
		for (const { id, ver } of data) this.#expected.add(`${id}/${ver}`);
		return data.map(({ id }) => id);
	}

	/** Changes a record that was emitted before; the change must be emitted unless it is irrelevant. */
	async update(id: string, isRelevant = true): Promise<void> {
		this.#codes += 1;
		const { data } = await this.#request<{ data: Row }>('PATCH', `/${id}`, {
			fields: { name: `Airport ${this.#codes}` },
		});
		if (isRelevant) this.#expected.add(`${id}/${data.ver}`);
	}

	/** From now on so many requests for data take so long. */
	async slowDown(ms: number, count: number): Promise<void> {
		const when = { nth: Array.from({ length: count }, (_, index) => index + 1) };
		const fault = { kind: 'slowBefore', ms };
		await axios.put(`${this.#environment.sandbox.baseUrl}/sandbox/faults`, [
			{ match: { method: 'GET', path: '/data$' }, when, fault },
			{ match: { method: 'POST', path: '/data/filter$' }, when, fault },
		]);
	}

	/** Waits until all is emitted, and for some more polls, in which nothing may come again. */
	async verdict(patienceMs: number, afterMs = 2 * SECONDS_BETWEEN_POLLS * 1000): Promise<Verdict> {
		const end = Date.now() + patienceMs;
		for (;;) {
			const emitted = new Set((await this.#emitted()).flat());
			const isAll = [...this.#expected].every((key) => emitted.has(key));
			if (isAll || Date.now() > end) break;
			await sleep(1000);
		}
		await sleep(afterMs);
		const executions = await this.#emitted();
		const counts = new Map<string, number>();
		for (const key of executions.flat()) counts.set(key, (counts.get(key) ?? 0) + 1);
		const expected = [...this.#expected];
		return {
			written: expected.length,
			lost: expected.filter((key) => !counts.has(key)).length,
			doubled: [...counts.values()].filter((count) => count > 1).length,
			early: [...counts.keys()].filter((key) => !this.#expected.has(key)).length,
			executions: executions.length,
			empty: executions.filter((keys) => keys.length === 0).length,
		};
	}

	/** What each execution was started with, as `id/ver`. */
	async #emitted(): Promise<string[][]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId: this.id }));
		let last = '';
		for (;;) {
			const { results } = await this.n8nApi.request<{
				results: Array<{ id: string; status: string }>;
			}>('GET', `/executions?filter=${filter}&limit=50${last && `&lastId=${last}`}`);
			for (const { id, status } of results) {
				if (this.#read.has(id) || ['new', 'running'].includes(status)) continue;
				const execution = await this.n8nApi.request<{ data: string }>('GET', `/executions/${id}`);
				const data = parseExecutionData(execution.data) as Execution['data'];
				const items = data.resultData?.runData ? outputItems({ data }, TRIGGER) : [];
				if (status !== 'error') {
					this.#read.set(
						id,
						items.map(({ json }) => `${String(json.id)}/${String(json.ver)}`),
					);
				}
			}
			if (results.length < 50) return [...this.#read.values()];
			last = results.at(-1)!.id;
		}
	}

	async #request<T>(method: string, path: string, data: unknown): Promise<T> {
		const response = await axios.request<T>({
			method,
			url: `${this.#environment.sandbox.baseUrl}/api/v2/apps/geo/tables/airports/data${path}`,
			data,
			headers: { Authorization: `Bearer ${this.#environment.sandbox.tokens.role}` },
		});
		return response.data;
	}
}
