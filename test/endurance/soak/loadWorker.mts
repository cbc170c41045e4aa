/** One worker of the load: its own table, the node that runs on it, and the truth about it. */

import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { IBinaryData, IDataObject, INodeExecutionData, OnError } from 'n8n-workflow';
import { automatic, picked, runOperation, watch, type Watching } from '../../support/engine/outsideJest.mts';
import { createSandboxAdmin, type SandboxAdmin, type StoredRecord } from '../../../harness/sandboxAdmin.mts';
import { SeededRandom } from '../../support/seededRandom.mts';

const load = createRequire(import.meta.url);
const { Container } = load('@n8n/di') as typeof import('@n8n/di');
const { BinaryDataService } = load('n8n-core') as typeof import('n8n-core');

export const APP = 'soak';
const NODE = 'Data Platform';

/** Few different contents, because the sandbox keeps each one for as long as it runs. */
export const FILES = [300_000, 700_000, 1, 40_000].map((bytes, index) => ({
	name: `file ${index}.bin`,
	bytes: Buffer.alloc(bytes, createHash('sha256').update(String(index)).digest()),
}));

export interface SandboxAddress {
	baseUrl: string;
	token: string;
}

/** The output of a node. */
export interface NodeOutput {
	succeeded: INodeExecutionData[];
	failed: INodeExecutionData[];
}

export class LoadWorker {
	readonly table: string;
	readonly random: SeededRandom;
	readonly #address: SandboxAddress;
	readonly #admin: SandboxAdmin;
	#watching: Watching | undefined;
	/** The version of each record that the trigger last emitted. */
	readonly #versions = new Map<string, number>();
	/** How often the node was run, and how often with an error for an item. */
	readonly runs = { all: 0, withErrors: 0 };
	#workflow = { id: '', webhookUrl: '' };
	#fresh = 0;

	constructor(address: SandboxAddress, number: number, seed: number) {
		this.#address = address;
		this.#admin = createSandboxAdmin(address.baseUrl);
		this.table = `load${number}`;
		this.random = new SeededRandom(seed * 1000 + number);
	}

	get webhookUrl(): string {
		return this.#workflow.webhookUrl;
	}

	async prepare(): Promise<void> {
		const fields = [
			{ name: 'key', type: 'text', metadata: { importKey: true } },
			{ name: 'name', type: 'text' },
			{ name: 'amount', type: 'number' },
			{ name: 'papers', type: 'file' },
		];
		await this.#admin.createTable({ app: APP, table: { internalName: this.table, fields } });
		this.#workflow = await this.#admin.createWorkflow({
			name: this.table,
			script: 'return { echo: svc.workflow.payloadRequest.call };',
			response: 'output',
		});
		this.#watching = await watch(this.#address, {
			triggerOn: 'createdOrUpdated',
			startFrom: 'beginning',
			application: picked(APP),
			table: picked(this.table),
		});
	}

	/** A key that has never been used. */
	freshKey(): string {
		this.#fresh += 1;
		return `fresh ${this.#fresh}`;
	}

	/** The records in the sandbox's database. */
	async storedRecords(): Promise<StoredRecord[]> {
		return await this.#admin.records(APP, this.table);
	}

	/** How often the platform's workflow was started with this `call`. */
	async countStarts(call: string): Promise<number> {
		const runs = await this.#admin.workflowRuns(this.#workflow.id);
		return runs.filter(({ payload }) => payload.call === call).length;
	}

	/** Runs an operation of the node on the worker's table. */
	async run(
		resource: string,
		operation: string,
		parameters: IDataObject,
		input: INodeExecutionData[] = [{ json: {} }],
		onError: OnError = 'continueErrorOutput',
	): Promise<NodeOutput> {
		const result = await runOperation(this.#address, {
			input,
			onError,
			parameters: { resource, operation, ...parameters },
			defaults: { application: picked(APP), table: picked(this.table), columns: automatic, options: {} },
		});
		if (result.error) throw new Error(`${resource} ${operation}: ${result.error.message}`);
		const output = { succeeded: result.output(NODE), failed: result.output(NODE, 1) };
		this.runs.all += 1;
		if (output.failed.length > 0) this.runs.withErrors += 1;
		return output;
	}

	/** A file in n8n's store, as a previous node would have left it. */
	async storeFile(file: (typeof FILES)[number]): Promise<IBinaryData> {
		const location = { type: 'execution' as const, workflowId: 'workflow', executionId: 'given' };
		return await Container.get(BinaryDataService).store(location, file.bytes, {
			fileName: file.name,
			mimeType: 'application/octet-stream',
			data: '',
		});
	}

	async contentOf(file: IBinaryData): Promise<Buffer> {
		return await Container.get(BinaryDataService).getAsBuffer(file);
	}

	/** One poll of the worker's trigger. Returns wrong items, or undefined if the poll failed. */
	async poll(): Promise<string[] | undefined> {
		const items = await this.#watching!.poll().catch(() => undefined);
		if (items === undefined) return undefined;
		const wrong: string[] = [];
		for (const { json } of items ?? []) {
			const { id, ver } = json as { id: string; ver: number };
			if (ver <= (this.#versions.get(id) ?? -1)) wrong.push(`${id} version ${ver} is emitted again`);
			this.#versions.set(id, ver);
		}
		return wrong;
	}

	/**
	 * With faults off, polls until nothing is new, and returns the changes that were never emitted.
	 */
	async unemittedChanges(): Promise<string[]> {
		const wrong: string[] = [];
		for (let polls = 0; polls < 20; polls += 1) wrong.push(...((await this.poll()) ?? []));
		const missing = (await this.storedRecords())
			.filter(({ id, ver }) => this.#versions.get(id) !== ver)
			.map(({ id, ver }) => `${id} version ${ver} was not emitted`);
		return [...wrong, ...missing];
	}

	/** Forgets what this test, rather than the node, would accumulate. */
	async forgetDeleted(): Promise<void> {
		const there = new Set((await this.storedRecords()).map(({ id }) => id));
		for (const id of this.#versions.keys()) if (!there.has(id)) this.#versions.delete(id);
	}
}
