/**
 * n8n's own engine (n8n-core) with the built package in it: runs whole workflow JSON, fills the
 * editor's lists, polls. Nothing of n8n is replaced but the credential store and the trigger that
 * hands over a test's items.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

process.env.N8N_USER_FOLDER ??= mkdtempSync(join(tmpdir(), 'data-platform-engine-'));
process.env.N8N_ENCRYPTION_KEY = 'only-for-tests';
process.env.N8N_LOG_LEVEL = 'silent';
process.env.N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS = 'false';

import 'reflect-metadata';
import { Container } from '@n8n/di';
import {
	BinaryDataConfig,
	BinaryDataService,
	CredentialTestContext,
	ExecutionLifecycleHooks,
	LoadOptionsContext,
	PackageDirectoryLoader,
	WorkflowExecute,
} from 'n8n-core';
import {
	ICredentialsHelper,
	NodeConnectionTypes,
	NodeHelpers,
	Workflow,
	createRunExecutionData,
	type IConnections,
	type ICredentialDataDecryptedObject,
	type IDataObject,
	type IHttpRequestOptions,
	type INode,
	type INodeCredentialTestResult,
	type INodeExecutionData,
	type INodeListSearchResult,
	type INodeParameters,
	type INodePropertyOptions,
	type INodeType,
	type INodeTypes,
	type IRun,
	type IVersionedNodeType,
	type IWorkflowExecuteAdditionalData,
	type ResourceMapperFields,
} from 'n8n-workflow';

import { knownParameters, unknownParameters } from './knownParameters.cts';

const PACKAGE_FOLDER = resolve(__dirname, '../../..');
export const NODE_TYPE = 'n8n-nodes-data-platform.dataPlatform';
export const TRIGGER_TYPE = 'n8n-nodes-data-platform.dataPlatformTrigger';
export const WEBHOOK_TRIGGER_TYPE = 'n8n-nodes-data-platform.dataPlatformWebhookTrigger';
export const ITEMS_TYPE = 'test.items';
const CREDENTIAL_TYPE = 'dataPlatformApi';

/** Hands on the items that a test puts in; where a workflow starts. */
const itemsTrigger: INodeType = {
	description: {
		displayName: 'Items',
		name: 'items',
		group: ['trigger'],
		version: 1,
		description: 'Hands on the items of the test',
		defaults: { name: 'Items' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	},
	async trigger() {
		return {};
	},
	async execute() {
		return [this.getInputData()];
	},
};

/** Types that no package brings, by their full name. */
export const ownTypes = new Map<string, INodeType | IVersionedNodeType>([
	[ITEMS_TYPE, itemsTrigger],
]);

type Authenticate = (
	data: ICredentialDataDecryptedObject,
	options: IHttpRequestOptions,
) => Promise<IHttpRequestOptions>;

/** How credential types of other packages authenticate a request, by their name. */
export const ownCredentials = new Map<string, Authenticate>();

const loaded = new PackageDirectoryLoader(PACKAGE_FOLDER);
const loading = loaded.loadAll();

/** The types of the built package. */
export const nodeTypes: INodeTypes = {
	getByName: (type) => loaded.getNode(type.replace(/^.*\./, '')).type,
	getByNameAndVersion: (type, version) =>
		NodeHelpers.getVersionedNodeType(
			ownTypes.get(type) ?? loaded.getNode(type.replace(/^.*\./, '')).type,
			version,
		),
	getKnownTypes: () => ({}),
};

export interface Credential {
	baseUrl: string;
	token: string;
	accessType?: string;
	webhookOrigins?: string;
	webhookSecret?: string;
	requestsPerMinute?: number;
	ignoreSslIssues?: boolean;
}

class Credentials extends ICredentialsHelper {
	private readonly data: Credential;

	constructor(data: Credential) {
		super();
		this.data = data;
	}

	getParentTypes() {
		return [];
	}

	isCredentialUsableByNode() {
		return true;
	}

	async authenticate(
		data: ICredentialDataDecryptedObject,
		type: string,
		options: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const authenticate = ownCredentials.get(type) ?? loaded.getCredential(type).type.authenticate;
		if (typeof authenticate !== 'function') throw new Error(`${type} has no authenticate function`);
		return await authenticate(data, options);
	}

	async preAuthentication() {
		return undefined;
	}

	async runPreAuthentication() {
		return undefined;
	}

	async getDecrypted() {
		return { ...this.data } as unknown as ICredentialDataDecryptedObject;
	}

	async getCredentials(): Promise<never> {
		throw new Error('not used by the engine');
	}

	async updateCredentials() {}

	async updateCredentialsOauthTokenData() {}

	getCredentialsProperties() {
		return [];
	}
}

let binaryReady: Promise<void> | undefined;

/** Waits until workflows can run. */
export async function prepare() {
	await loading;
	binaryReady ??= (async () => {
		Container.get(BinaryDataConfig).mode = 'filesystem';
		await Container.get(BinaryDataService).init();
	})();
	await binaryReady;
}

let executions = 0;

/** What n8n hands to everything that it runs. */
export function additionalData(credential: Credential): IWorkflowExecuteAdditionalData {
	const executionId = String((executions += 1));
	const base = 'http://127.0.0.1:1';
	const data: Partial<IWorkflowExecuteAdditionalData> = {
		credentialsHelper: new Credentials(credential),
		executionId,
		currentNodeExecutionIndex: 0,
		variables: {},
		restApiUrl: base,
		instanceBaseUrl: base,
		webhookBaseUrl: base,
		webhookWaitingBaseUrl: `${base}/waiting`,
		formWaitingBaseUrl: `${base}/form-waiting`,
		hooks: new ExecutionLifecycleHooks('manual', executionId, {} as never),
	};
	return data as IWorkflowExecuteAdditionalData;
}

export interface WorkflowJson {
	nodes: Array<Partial<INode> & { name: string; type: string }>;
	connections: IConnections;
	timezone?: string;
}

export interface RunResult {
	run: IRun;
	/** The items of an output of a node in its last run. */
	output(node: string, output?: number): INodeExecutionData[];
	/** The JSON of the node's first output. */
	json(node?: string, output?: number): IDataObject[];
	error:
		| { message: string; description?: string | null; context?: IDataObject; stack?: string }
		| undefined;
	/** The hints that the node gave. */
	hints: string[];
}

const PLATFORM = 'Data Platform';

/** A node as n8n has it, with the credential where it takes one. */
export const fullNode = (node: WorkflowJson['nodes'][number], index: number): INode => ({
	id: `node-${index}`,
	typeVersion: 1,
	position: [index * 200, 0],
	parameters: {},
	...node,
	...([NODE_TYPE, TRIGGER_TYPE, WEBHOOK_TRIGGER_TYPE].includes(node.type) && {
		credentials: { [CREDENTIAL_TYPE]: { id: '1', name: 'Data Platform' } },
	}),
});

/**
 * Runs a workflow from its first node, which hands on the items.
 *
 * @param onStart gets a function that cancels the execution
 */
export async function runWorkflow(
	{ nodes, connections, timezone }: WorkflowJson,
	items: INodeExecutionData[],
	credential: Credential,
	onStart?: (cancel: () => void) => void,
): Promise<RunResult> {
	await prepare();
	const workflow = new Workflow({
		id: 'workflow',
		nodes: nodes.map(fullNode),
		connections,
		active: false,
		nodeTypes,
		settings: { executionOrder: 'v1', timezone },
	});
	const start = workflow.getNode(nodes[0]!.name)!;
	const runData = createRunExecutionData({
		executionData: {
			nodeExecutionStack: [{ node: start, data: { main: [items] }, source: null }],
		},
	});
	const execute = new WorkflowExecute(additionalData(credential), 'manual', runData);
	const running = execute.processRunExecutionData(workflow);
	onStart?.(() => running.cancel());
	const run = await running;
	const { resultData } = run.data;
	const last = (node: string) => resultData.runData[node]?.at(-1);
	const output = (node: string, index = 0) => last(node)?.data?.main?.[index] ?? [];
	const error = resultData.error as RunResult['error'];
	return {
		run,
		output,
		json: (node = PLATFORM, index = 0) => output(node, index).map(({ json }) => json),
		error,
		hints: (last(PLATFORM)?.hints ?? []).map(({ message }) => message),
	};
}

export interface OperationRun extends Pick<WorkflowJson, 'timezone'> {
	/** The operation's own; another is an error. */
	parameters: INodeParameters;
	/** Set where the operation has them, for tests of several operations. */
	defaults?: INodeParameters;
	items?: IDataObject[];
	/** Whole items, with binary data, in place of `items`. */
	input?: INodeExecutionData[];
	onError?: INode['onError'];
	/** n8n's Retry On Fail. */
	retry?: { maxTries: number; waitBetweenTries?: number };
	onStart?: (cancel: () => void) => void;
}

/**
 * Runs one operation of the node in a workflow of its own: items in, items out.
 *
 * @throws where it is given a parameter that the operation does not have
 */
export async function runOperation(
	credential: Credential,
	{
		parameters,
		defaults = {},
		items = [{}],
		input,
		onError,
		retry,
		timezone,
		onStart,
	}: OperationRun,
): Promise<RunResult> {
	await prepare();
	const { properties } = nodeTypes.getByNameAndVersion(NODE_TYPE, 1).description;
	const unknown = unknownParameters(properties, parameters);
	if (unknown.length > 0) {
		throw new Error(`The operation has no parameter '${unknown.join("', '")}'`);
	}
	const platform = {
		name: PLATFORM,
		type: NODE_TYPE,
		parameters: { ...knownParameters(properties, parameters, defaults), ...parameters },
		onError,
		...(retry && { retryOnFail: true, waitBetweenTries: 1, ...retry }),
	};
	const workflow: WorkflowJson = {
		timezone,
		nodes: [{ name: 'Items', type: ITEMS_TYPE }, platform],
		connections: {
			Items: { main: [[{ node: PLATFORM, type: NodeConnectionTypes.Main, index: 0 }]] },
		},
	};
	const handed = input ?? items.map((json) => ({ json }));
	return await runWorkflow(workflow, handed, credential, onStart);
}

async function editor(credential: Credential, parameters: INodeParameters, path: string) {
	await prepare();
	const node = fullNode({ name: PLATFORM, type: NODE_TYPE, parameters }, 0);
	const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	const data = { ...additionalData(credential), currentNodeParameters: parameters };
	return {
		type: nodeTypes.getByNameAndVersion(NODE_TYPE, 1),
		context: new LoadOptionsContext(workflow, node, data, path),
	};
}

/** What the editor shows in the list of a resource locator. */
export async function searchList(
	credential: Credential,
	method: string,
	parameters: INodeParameters,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	const { type, context } = await editor(credential, parameters, '');
	return await type.methods!.listSearch![method]!.call(context, filter, paginationToken);
}

/** What the editor shows as options of a parameter. */
export async function loadOptions(
	credential: Credential,
	method: string,
	parameters: INodeParameters,
	path = '',
): Promise<INodePropertyOptions[]> {
	const { type, context } = await editor(credential, parameters, path);
	return await type.methods!.loadOptions![method]!.call(context);
}

/** The fields that the mapper offers. */
export async function loadColumns(
	credential: Credential,
	method: string,
	parameters: INodeParameters,
): Promise<ResourceMapperFields> {
	const { type, context } = await editor(credential, parameters, '');
	return await type.methods!.resourceMapping![method]!.call(context);
}

/** A resource locator's value, as picked from its list. */
export const picked = (value: string) => ({ __rl: true, mode: 'list', value });

/** The mapper's value for automatic mapping. */
export const automatic = {
	mappingMode: 'autoMapInputData',
	value: null,
	matchingColumns: [],
	schema: [],
};

/** The mapper's value for fields set by hand. */
export const defined = (value: IDataObject) => ({
	mappingMode: 'defineBelow',
	value,
	matchingColumns: [],
	schema: [],
});

/** What the test of a credential says. */
export async function checkCredential(credential: Credential): Promise<INodeCredentialTestResult> {
	await prepare();
	const { credentials = [] } = nodeTypes.getByNameAndVersion(NODE_TYPE, 1).description;
	const { testedBy } = credentials[0]!;
	const test = nodeTypes.getByNameAndVersion(NODE_TYPE, 1).methods!.credentialTest![
		String(testedBy)
	]!;
	const data = { ...credential } as unknown as ICredentialDataDecryptedObject;
	return await test.call(new CredentialTestContext(additionalData(credential)), {
		id: '1',
		name: 'Data Platform account',
		type: CREDENTIAL_TYPE,
		data,
	});
}
