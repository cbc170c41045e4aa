/**
 * n8n's AI builds workflows from the nodes' descriptions. Checks what it reads of them, and that
 * the expected workflows pass n8n's own validator and do what was asked.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { IDataObject, INodeParameters, INodePropertyOptions, INodeTypeDescription } from 'n8n-workflow';
import { ensureN8n, N8N_FOLDER, N8N_VERSION } from '../../../harness/install.mts';
import type { WorkflowJson } from '../../../harness/n8nApi.mts';
import { buildPackage } from '../../../harness/nodePackage.mts';
import { type RunningSandbox, startSandbox } from '../../../harness/sandboxProcess.mts';
import { linearWorkflow, NODE_TYPE } from '../../support/linearWorkflow.mts';
import { type Request, requests, STEP, triggerRequest } from './builderRequests.mts';

interface Issue {
	code: string;
	message: string;
	nodeName?: string;
}

/** The parts of n8n's `@n8n/workflow-sdk` that are used. */
interface WorkflowSdk {
	generateNodeTypeFile(node: unknown): string;
	orchestrateGeneration(options: { nodes: unknown[]; outputDir: string }): Promise<unknown>;
	setSchemaBaseDirs(folders: string[]): void;
	validateWorkflow(workflow: WorkflowJson, options: object): { errors: Issue[]; warnings: Issue[] };
	buildNodeSchemaSection(context: object): string[];
	buildSchemaPlaceholderItem(context: object, options: { now: Date }): IDataObject;
}

const MANUAL_TRIGGER = 'n8n-nodes-base.manualTrigger';

const skip = N8N_VERSION.startsWith('1.') && 'n8n 1 has no workflow SDK';

describe("n8n's AI", { skip }, () => {
	let sdk: WorkflowSdk;
	let engine: typeof import('../../support/engine/outsideJest.mts');
	let sandbox: RunningSandbox;
	let definitions: string;

	const credential = () => ({ baseUrl: sandbox.baseUrl, token: sandbox.tokens.role });

	const description = (type: string): INodeTypeDescription => ({
		...engine.nodeTypes.getByNameAndVersion(type, 1).description,
		name: type,
	});

	/** What the model reads about a node. */
	const definition = (type: string) => sdk.generateNodeTypeFile(description(type));

	before(async () => {
		await ensureN8n();
		await buildPackage();
		const n8n = createRequire(join(N8N_FOLDER, 'node_modules/n8n/package.json'));
		sdk = n8n('@n8n/workflow-sdk') as WorkflowSdk;
		// Imported after the build, because it loads the package.
		engine = await import('../../support/engine/outsideJest.mts');
		await engine.prepare();
		engine.ownTypes.set(MANUAL_TRIGGER, engine.ownTypes.get(engine.ITEMS_TYPE)!);
		const types = [NODE_TYPE, engine.TRIGGER_TYPE, engine.WEBHOOK_TRIGGER_TYPE];
		definitions = await mkdtemp(join(tmpdir(), 'definitions-'));
		await sdk.orchestrateGeneration({ nodes: types.map(description), outputDir: definitions });
		sdk.setSchemaBaseDirs([definitions]);
		sandbox = await startSandbox();
	});

	beforeEach(() => sandbox.admin.reset());

	after(async () => {
		await sandbox?.stop();
		if (definitions) await rm(definitions, { recursive: true, force: true });
	});

	/** The type that n8n makes of an operation, with the comment before it. */
	function typeOf(resource: string, operation: string): string {
		const types = definition(NODE_TYPE).split('\n/** ');
		const isIts = (text: string) => text.includes(`  resource: '${resource}';\n  operation: '${operation}';`);
		const found = types.find(isIts);
		assert.ok(found, `${resource}: ${operation}`);
		return found;
	}

	/** Every operation, with its resource and its description. */
	function operations() {
		const { properties } = description(NODE_TYPE);
		return properties
			.filter(({ name }) => name === 'operation')
			.flatMap(({ options = [], displayOptions }) =>
				(options as INodePropertyOptions[]).map(({ value, description: text = '' }) => ({
					resource: String(displayOptions?.show?.resource?.[0]),
					operation: String(value),
					text,
				})),
			);
	}

	/** The comment above the first occurrence of a parameter. */
	function commentOn(parameter: string, type: string): string {
		const [before = '', rest] = type.split(`${parameter}?:`, 2);
		assert.ok(rest !== undefined, parameter);
		return before.slice(before.lastIndexOf('/**'));
	}

	test('reads what every operation does, those of Record first', () => {
		assert.ok(operations().length > 20);
		for (const { resource, operation, text } of operations()) {
			const type = typeOf(resource, operation);
			assert.ok(type.includes(text), `${resource}: ${operation}`);
			if (resource === 'record') assert.ok(type.startsWith(text), operation);
		}
	});

	test('reads which values a filter may have', async () => {
		const comment = commentOn('operator', typeOf('record', 'getAll'));
		const words = new Set(comment.match(/\w+/g));
		for (const field of ['', 'stage', 'signed', 'title', 'due', 'notes']) {
			const condition = [{ field }];
			const parameters = { ...requests[2]!.parameters, conditions: { condition } };
			const path = 'parameters.conditions.condition[0].operator';
			const list = await engine.loadOptions(credential(), 'getOperators', parameters, path);
			assert.ok(list.length > 0);
			for (const { value } of list) assert.ok(words.has(String(value)), String(value));
		}
	});

	test('reads that a table is required, and how it is given', () => {
		const comment = commentOn('table', typeOf('record', 'getAll'));
		assert.match(comment, /Required/);
		assert.match(typeOf('record', 'getAll'), /__rl: true, mode: 'id'/);
		for (const type of [engine.TRIGGER_TYPE, engine.WEBHOOK_TRIGGER_TYPE]) {
			assert.match(definition(type), /@builderHint Required/);
		}
	});

	test('simulates a write with an item that a workflow goes on with, and reads that it has fields', () => {
		const file = 'dist/nodes/DataPlatform/__schema__/v1.0.0/record/upsert.json';
		const schema = JSON.parse(readFileSync(join(import.meta.dirname, '../../..', file), 'utf8')) as object;
		const now = new Date('2026-11-28T09:00:00Z');
		const [created, rare] = [now.toISOString(), null];
		assert.deepEqual(sdk.buildSchemaPlaceholderItem({ nodeType: NODE_TYPE, schema }, { now }), {
			...{ outcome: 'inserted', id: 'sample', created, modified: created, ver: 1 },
			...{ mergedInto: rare, kept: rare, previous: rare, notRead: rare },
		});
		const section = sdk.buildNodeSchemaSection({ nodeType: NODE_TYPE, schema }).join('\n');
		assert.match(section, /by their internal names, such as 'email'/);
		assert.match(section, /"additionalProperties": true/);
	});

	/** What n8n's validator says about a workflow. */
	function issues(workflow: WorkflowJson): string[] {
		const { errors, warnings } = sdk.validateWorkflow(workflow, { nodeTypesProvider: engine.nodeTypes });
		return [...errors, ...warnings].map(({ code, message }) => `${code}: ${message}`);
	}

	function workflowFor({ words, parameters, errorOutput }: Omit<Request, 'check'>): WorkflowJson {
		const step = { name: STEP, type: NODE_TYPE, typeVersion: 1, parameters };
		const onError = errorOutput && { onError: 'continueErrorOutput' };
		return linearWorkflow(words, '1', [{ ...step, ...onError } as never]);
	}

	for (const request of requests) {
		test(request.words, async () => {
			const workflow = workflowFor(request);
			assert.deepEqual(issues(workflow), []);
			// The validator ignores a misspelt parameter.
			const { properties } = description(NODE_TYPE);
			assert.deepEqual(engine.unknownParameters(properties, request.parameters), []);
			const { items = [{}], binary } = request;
			const list = typeof items === 'function' ? await items(sandbox) : items;
			const input = list.map((json) => ({ json, binary }));
			const result = await engine.runWorkflow(workflow as never, input, credential());
			assert.equal(result.error, undefined);
			await request.check(result, sandbox);
		});
	}

	test(triggerRequest.words, async () => {
		const { words, parameters } = triggerRequest;
		const start = { name: 'Start', type: engine.TRIGGER_TYPE, typeVersion: 1, parameters };
		assert.deepEqual(issues(linearWorkflow(words, '1', [], start)), []);
		const trigger = await engine.watch(credential(), parameters);
		await trigger.poll();
		const api = sandbox.client();
		for (const [firstname, age] of [
			['Old', 70],
			['Young', 12],
		] as const) {
			const fields = { firstname, surname: 'New', age, email: `${firstname}@example.com` };
			await api.post('/apps/crm/tables/contacts/data', { fields });
		}
		const found = await trigger.poll();
		assert.deepEqual(
			found?.map(({ json }) => json.firstname),
			['Old'],
		);
	});

	/** Typical mistakes of a model, and the parameter that the validator names. */
	const wrong: Array<[string, INodeParameters, RegExp]> = [
		['a table as a plain text', { table: 'contacts' }, /table/],
		['an operation that the resource does not have', { operation: 'search' }, /operation/],
		['a filter that is no mode', { filterMode: 'simple' }, /filterMode/],
	];
	for (const [mistake, change, named] of wrong) {
		test(`the validator finds ${mistake}`, () => {
			const [first] = requests;
			const workflow = workflowFor({ ...first!, parameters: { ...first!.parameters, ...change } });
			assert.match(issues(workflow).join('\n'), named);
		});
	}
});
