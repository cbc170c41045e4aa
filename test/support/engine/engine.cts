/**
 * Runs one operation of the node in n8n's engine (harness/engine), the editor's lists, the
 * credential's test.
 */
// First: it sets n8n's environment variables before n8n-core is loaded.
import {
	additionalData,
	CREDENTIAL_TYPE,
	fullNode,
	ITEMS_TYPE,
	NODE_TYPE,
	nodeTypes,
	PLATFORM,
	prepare,
	runWorkflow,
	type Credential,
	type RunResult,
	type WorkflowJson,
} from '../../../harness/engine/engine.cts';
import { CredentialTestContext, LoadOptionsContext } from 'n8n-core';
import {
	NodeConnectionTypes,
	Workflow,
	type ICredentialDataDecryptedObject,
	type IDataObject,
	type INode,
	type INodeCredentialTestResult,
	type INodeExecutionData,
	type INodeListSearchResult,
	type INodeParameters,
	type INodePropertyOptions,
	type ResourceMapperFields,
} from 'n8n-workflow';
import { inSubCollections, knownParameters, unknownParameters } from './knownParameters.cts';

export * from '../../../harness/engine/engine.cts';

export interface OperationRun extends Pick<WorkflowJson, 'timezone'> {
	/** The operation's own parameters. Any other one is an error. */
	parameters: object;
	/** Set if the operation has them, for tests of several operations. */
	defaults?: INodeParameters;
	items?: object[];
	/** Complete items, with binary data, instead of `items`. */
	input?: INodeExecutionData[];
	onError?: INode['onError'];
	/** n8n's Retry On Fail. */
	retry?: { maxTries: number; waitBetweenTries?: number };
	onStart?: (cancel: () => void) => void;
	/** Whether definitions of tables, and what a platform has shown, are kept from the run before. */
	isWarm?: boolean;
	/** Whether bulk responses have shown before that they list records in order. */
	isOrderShown?: boolean;
}

/** A module of the built node, as far as tests need it. */
const built = <Module = Record<string, Map<string, unknown>>,>(path: string) =>
	require(`../../../dist/nodes/DataPlatform/${path}.js`) as Module;

interface Connecting {
	clientSettings(credential: object): { account: string };
}

/** Deletes what the process knows by account. */
function forget(credential: Credential, memories: Record<string, string>) {
	const { account } = built<Connecting>('run/createClient').clientSettings({ baseUrl: credential.baseUrl, token: credential.token });
	for (const [name, path] of Object.entries(memories)) {
		const memory = built(path)[name]!;
		for (const key of memory.keys()) if (key.startsWith(account)) memory.delete(key);
	}
}

/** As a minute later. Other platforms' runs at the same time go on. */
export const forgetTables = (credential: Credential) => forget(credential, { keptTables: 'api/table' });

/** As in a new process. */
export function forgetAll(credential: Credential, isOrderShown = false) {
	forgetTables(credential);
	forget(credential, { learnedFacts: 'api/table', tokenQueues: 'transport/tokenQueue' });
	const recordsInPlace = built('bulk/send/order').recordsInPlace!;
	const { origin } = new URL(credential.baseUrl);
	recordsInPlace.delete(origin);
	if (isOrderShown) recordsInPlace.set(origin, Infinity);
}

/**
 * Runs one operation of the node in its own workflow: items in, items out.
 *
 * @throws if the operation does not have one of the parameters
 */
export async function runOperation(
	credential: Credential,
	{
		parameters: given,
		defaults = {},
		items = [{}],
		input,
		onError,
		retry,
		timezone,
		onStart,
		isWarm = false,
		isOrderShown = false,
	}: OperationRun,
): Promise<RunResult> {
	await prepare();
	if (!isWarm) forgetAll(credential, isOrderShown);
	const { properties } = nodeTypes.getByNameAndVersion(NODE_TYPE, 1).description;
	const parameters = inSubCollections(properties, given as INodeParameters);
	const { resource, operation } = parameters;
	const preset = inSubCollections(properties, { ...defaults, resource, operation });
	const unknown = unknownParameters(properties, parameters);
	if (unknown.length > 0) {
		throw new Error(`The operation has no parameter '${unknown.join("', '")}'`);
	}
	const platform = {
		name: PLATFORM,
		type: NODE_TYPE,
		parameters: { ...knownParameters(properties, parameters, preset), ...parameters },
		onError,
		...(retry && { retryOnFail: true, waitBetweenTries: 1, ...retry }),
	};
	const workflow: WorkflowJson = {
		timezone,
		nodes: [{ name: 'Items', type: ITEMS_TYPE }, platform],
		connections: { Items: { main: [[{ node: PLATFORM, type: NodeConnectionTypes.Main, index: 0 }]] } },
	};
	const handed = input ?? items.map((json) => ({ json: json as IDataObject }));
	return await runWorkflow(workflow, handed, credential, onStart);
}

async function editor(credential: Credential, given: object, path: string) {
	await prepare();
	const parameters = given as INodeParameters;
	const node = fullNode({ name: PLATFORM, type: NODE_TYPE, parameters }, 0);
	const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
	const data = { ...additionalData(credential), currentNodeParameters: parameters };
	return { type: nodeTypes.getByNameAndVersion(NODE_TYPE, 1), context: new LoadOptionsContext(workflow, node, data, path) };
}

/** What the editor shows in the list of a resource locator. */
export async function searchList(
	credential: Credential,
	method: string,
	parameters: object,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	const { type, context } = await editor(credential, parameters, '');
	return await type.methods!.listSearch![method]!.call(context, filter, paginationToken);
}

/** What the editor shows as options of a parameter. */
export async function loadOptions(credential: Credential, method: string, parameters: object, path = ''): Promise<INodePropertyOptions[]> {
	const { type, context } = await editor(credential, parameters, path);
	return await type.methods!.loadOptions![method]!.call(context);
}

/** The fields that the mapper offers. */
export async function loadColumns(credential: Credential, method: string, parameters: object): Promise<ResourceMapperFields> {
	const { type, context } = await editor(credential, parameters, '');
	return await type.methods!.resourceMapping![method]!.call(context);
}

/** A resource locator's value, as picked from its list. */
export const picked = (value: string) => ({ __rl: true, mode: 'list', value });

/** The mapper's value for automatic mapping. */
export const automatic = { mappingMode: 'autoMapInputData', value: null, matchingColumns: [], schema: [] };

/** The mapper's value for fields set by hand. */
export const defined = (value: IDataObject) => ({ mappingMode: 'defineBelow', value, matchingColumns: [], schema: [] });

/** The result of a credential's test. */
export async function checkCredential(credential: Credential): Promise<INodeCredentialTestResult> {
	await prepare();
	const { credentials = [] } = nodeTypes.getByNameAndVersion(NODE_TYPE, 1).description;
	const { testedBy } = credentials[0]!;
	const test = nodeTypes.getByNameAndVersion(NODE_TYPE, 1).methods!.credentialTest![String(testedBy)]!;
	const data = { ...credential } as unknown as ICredentialDataDecryptedObject;
	return await test.call(new CredentialTestContext(additionalData(credential)), {
		id: '1',
		name: 'Data Platform account',
		type: CREDENTIAL_TYPE,
		data,
	});
}
