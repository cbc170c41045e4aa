/**
 * Every operation as a tool of n8n's Agents, which run a node outside any execution. The executor,
 * the node types and the credential's `authenticate` are n8n's own, loaded into this process; only
 * what n8n reads from its database is replaced.
 */

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { IDataObject, INodeParameters, INodeTypeDescription } from 'n8n-workflow';
import { CREDENTIAL_TYPE, sandboxCredential } from '../../../harness/examples.mts';
import { N8N_FOLDER, N8N_VERSION } from '../../../harness/install.mts';
import { readRecords } from '../../support/apiClient.mts';
import { byId, inTable, mapped, NODE_TYPE } from '../../support/linearWorkflow.mts';
import { type SharedN8n, useN8n } from '../sharedN8n.mts';

type Class<T> = new (...args: object[]) => T;

interface NodeTypes {
	getByNameAndVersion(type: string, version: number): { description: INodeTypeDescription };
}

interface Executor {
	executeInline(request: object): Promise<{ status: 'success' | 'error'; data: Array<{ json: IDataObject }>; error?: string }>;
}

const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const TOOL = `${NODE_TYPE}Tool`;
/** n8n adds it to each resource. */
const CUSTOM_API_CALL = '__CUSTOM_API_CALL__';
const CREDENTIAL = { id: '1', name: 'Data Platform account' };

/** n8n's executor with the installed package. */
async function loadExecutor({ userFolder, sandbox }: SharedN8n) {
	Object.assign(process.env, { N8N_USER_FOLDER: userFolder, N8N_LOG_LEVEL: 'silent' });
	const n8n = createRequire(join(N8N_FOLDER, 'node_modules/n8n/package.json'));
	n8n('reflect-metadata');
	/** A class of n8n, by its file. */
	const load = <T,>(file: string, name: string) => (n8n(`./dist/${file}.js`) as Record<string, Class<T>>)[name]!;
	const { Container } = n8n('@n8n/di') as { Container: { get<T>(type: Class<T>): T; set<T>(type: Class<T>, value: object): void } };
	interface Loader {
		init(): Promise<void>;
		loadPackage(name: string): Promise<unknown>;
		postProcessLoaders(): Promise<void>;
	}
	const loader = Container.get(load<Loader>('load-nodes-and-credentials', 'LoadNodesAndCredentials'));
	await loader.init();
	await loader.loadPackage('n8n-nodes-data-platform');
	await loader.postProcessLoaders();

	const variables = { getAllCached: async () => [] };
	Container.set(load('environments.ee/variables/variables.service.ee', 'VariablesService'), variables);
	const helper = load<object>('credentials-helper', 'CredentialsHelper');
	const types = Container.get(load<object>('credential-types', 'CredentialTypes'));
	const getDecrypted = async () => sandboxCredential(sandbox).data;
	Container.set(helper, Object.assign(new helper(types), { getDecrypted }));

	const nodeTypes = Container.get(load<NodeTypes>('node-types', 'NodeTypes'));
	const credentials = { ...CREDENTIAL, type: CREDENTIAL_TYPE };
	const shared = { findOne: async () => ({ credentials }) };
	const Executor = load<Executor>('node-execution/ephemeral-node-executor', 'EphemeralNodeExecutor');
	return { nodeTypes, executor: new Executor(nodeTypes, {}, shared, { debug() {} }) };
}

const skip = N8N_VERSION.startsWith('1.') && 'n8n 1 has no Agents module';

const shared = await useN8n();

describe("n8n's Agents", { skip }, () => {
	let n8n: Awaited<ReturnType<typeof loadExecutor>>;
	/** IDs of contacts. */
	let ids: string[];
	let webhookUrl: string;

	before(async () => {
		n8n = await loadExecutor(shared);
		const { sandbox } = shared;
		ids = (await readRecords(sandbox, 'crm', 'contacts')).map(({ id }) => id);
		const workflow = { name: 'Called', script: 'return 1;', response: 'accepted' } as const;
		const photo = [{ filename: 'me.png', mimetype: 'image/png', filedata: PIXEL }];
		const path = `/apps/crm/tables/contacts/data/${ids[0]}`;
		await sandbox.client().patch(path, { fields: { photo } });
		({ webhookUrl } = await sandbox.admin.createWorkflow(workflow));
	});

	const contacts = inTable('crm', 'contacts');
	const record = { ...contacts, recordId: byId("={{ $fromAI('id') }}") };
	const columns = mapped({ email: "={{ $fromAI('email') }}", surname: "={{ $fromAI('surname') }}" }) as INodeParameters;
	const bySurname = {
		filterMode: 'conditions',
		conditions: { condition: [{ field: 'surname', operator: 'eq', value: "={{ $fromAI('surname') }}" }] },
	};
	const age = { summary: [{ field: 'age', aggregations: ['max'] }] };

	/** What the model passes, and what it gets: the first item's members, or the error. */
	type Row = [operation: string, parameters: () => INodeParameters, passed: () => IDataObject, result: IDataObject | RegExp];

	const ada = () => ({ email: 'ada.agent@example.com', surname: 'Agent' });
	const first = () => ({ id: ids[0]! });
	const second = () => ({ id: ids[1]! });
	const nothing = () => ({});
	const writing = () => ({ ...contacts, columns });
	const finding = () => ({ ...contacts, ...bySurname });
	const filing = () => ({ ...record, fileField: 'photo' });
	const calling = () => ({ webhookUrl });
	const summing = () => ({ ...contacts, summaries: age });
	const rows: Row[] = [
		['record: create', writing, ada, { outcome: 'inserted' }],
		['record: upsert', writing, ada, { outcome: 'unchanged' }],
		['record: update', () => ({ ...writing(), matchOn: 'importKey' }), ada, { ver: 0 }],
		['record: get', () => record, first, { surname: 'Fox' }],
		['record: getAll', finding, ada, { surname: 'Agent' }],
		['record: count', finding, ada, { count: 1 }],
		['record: summarize', summing, nothing, { fields: { age: { max: 73 } } }],
		['record: getChanges', () => contacts, nothing, { hasMore: false }],
		['record: deleteMany', finding, ada, { deletedCount: 1 }],
		['record: delete', () => record, second, { deleted: true }],
		['record: sync', writing, ada, { outcome: 'inserted' }],
		['record: importFromFile', () => contacts, nothing, /can't hand over files/],
		['record: exportToFile', () => contacts, nothing, /get no file contents/],
		['attachment: upload', filing, first, /hand over files.*workflow that the agent calls/],
		['attachment: download', filing, first, /get no file contents.*Use 'Get'/],
		['attachment: remove', () => ({ ...filing(), removeMode: 'all' }), first, { remaining: 0 }],
		['workflow: trigger', calling, nothing, { body: {} }],
		['workflow: triggerAndWait', calling, nothing, /tool can't wait\. Nothing was sent/],
		['table: get', () => contacts, nothing, { importKey: 'email' }],
		['table: getAll', () => ({ application: byId('crm') }), nothing, { importKey: 'name' }],
		['application: getAll', nothing, nothing, { internalName: 'crm' }],
	];

	test('the rows below are all operations', () => {
		const { properties } = n8n.nodeTypes.getByNameAndVersion(TOOL, 1).description;
		const offered = [...properties]
			.filter(({ name }) => name === 'operation')
			.flatMap(({ displayOptions, options = [] }) =>
				options.map((option) => {
					const operation = 'value' in option ? String(option.value) : '';
					return `${String(displayOptions?.show?.resource?.[0])}: ${operation}`;
				}),
			)
			.filter((name) => !name.endsWith(CUSTOM_API_CALL));
		assert.deepEqual(rows.map(([operation]) => operation).sort(), offered.sort());
	});

	for (const [name, parameters, passed, expected] of rows) {
		test(name, async () => {
			const [resource, operation] = name.split(': ');
			const { status, data, error } = await n8n.executor.executeInline({
				projectId: 'project',
				nodeType: TOOL,
				nodeTypeVersion: 1,
				nodeParameters: { resource, operation, ...parameters() },
				credentialDetails: { [CREDENTIAL_TYPE]: CREDENTIAL },
				inputData: [{ json: passed() }],
			});
			const result = error ?? data[0]?.json ?? status;
			if (expected instanceof RegExp) assert.match(String(result), expected);
			else assert.partialDeepStrictEqual(result, expected);
		});
	}
});
