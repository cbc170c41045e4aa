/**
 * n8n's own engine (n8n-core, a development package) with the built package in it. Runs complete
 * workflows as JSON. Only the credential store and the trigger that supplies the items are
 * replaced.
 */
import '../userFolder.cts';
import { resolve } from 'node:path';

process.env.N8N_ENCRYPTION_KEY = 'only-for-this-process';
process.env.N8N_LOG_LEVEL ??= 'silent';
process.env.N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS = 'false';

import 'reflect-metadata';
import { Container } from '@n8n/di';
import {
	BinaryDataConfig,
	BinaryDataService,
	ExecutionLifecycleHooks,
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
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
	type INodeTypes,
	type IRun,
	type IVersionedNodeType,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

const PACKAGE_FOLDER = resolve(__dirname, '../..');
export const NODE_TYPE = 'n8n-nodes-data-platform.dataPlatform';
export const TRIGGER_TYPE = 'n8n-nodes-data-platform.dataPlatformTrigger';
export const WEBHOOK_TRIGGER_TYPE = 'n8n-nodes-data-platform.dataPlatformWebhookTrigger';
export const ITEMS_TYPE = 'test.items';
export const CREDENTIAL_TYPE = 'dataPlatformApi';

/** Returns the items that it was given; a workflow starts here. */
const itemsTrigger: INodeType = {
	description: {
		displayName: 'Items',
		name: 'items',
		group: ['trigger'],
		version: 1,
		description: 'Hands on the items that it is given',
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

/** Types that belong to no package, by their full name. */
export const ownTypes = new Map<string, INodeType | IVersionedNodeType>([
	[ITEMS_TYPE, itemsTrigger],
]);

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
		const { authenticate } = loaded.getCredential(type).type;
		if (typeof authenticate !== 'function') throw new Error(`${type} has no authenticate function`);
		return await authenticate(data, options);
	}

	async preAuthentication() {
		return undefined;
	}

	async runPreAuthentication() {
		return undefined;
	}

	/** With its expressions resolved for an item, as n8n does. */
	async getDecrypted(
		...[, , , mode, executeData, , values]: Parameters<ICredentialsHelper['getDecrypted']>
	): Promise<ICredentialDataDecryptedObject> {
		const data = { ...this.data } as unknown as INodeParameters;
		const { workflow, runExecutionData, runIndex, itemIndex, node, connectionInputData } =
			values ?? {};
		const hasExpression = Object.values(data).some((value) => String(value).startsWith('='));
		if (!hasExpression || !workflow) return data as ICredentialDataDecryptedObject;
		return workflow.expression.getParameterValue(
			data,
			runExecutionData!,
			runIndex!,
			itemIndex!,
			node!.name,
			connectionInputData!,
			mode,
			{},
			executeData,
			false,
			data,
		) as ICredentialDataDecryptedObject;
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

/** The data that n8n passes to everything it runs. */
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

/** The name of the node that most workflows here have. */
export const PLATFORM = 'Data Platform';

/** A complete node as n8n stores it, with the credential if its type takes one. */
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
 * Runs a workflow from its first node, which supplies the items.
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
