/** The triggers in a fake n8n, on a fake platform. */
import {
	NodeHelpers,
	type IDataObject,
	type IGetNodeParameterOptions,
	type IHttpRequestOptions,
	type INode,
	type INodeParameters,
	type INodeProperties,
	type INodeTypeDescription,
	type IPollFunctions,
	type IWebhookFunctions,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { triggerProperties, webhookProperties } from '../../nodes/DataPlatform/trigger/parameters.ts';
import { locator } from './fakeNode.cts';
import { streamed, type Serve } from './stubPlatform.cts';

export interface Watched {
	serve: Serve;
	/** The given parameters; the others have their defaults. */
	parameters?: INodeParameters;
	/** What expressions return. */
	resolved?: Record<string, unknown>;
	credential?: IDataObject;
	/** The static data of the workflow: what n8n stored, and what it would store. */
	staticData?: Record<string, IDataObject>;
	workflowId?: string;
	nodeId?: string;
	/** The IDs of the workflow's nodes, which not every version of n8n provides. */
	nodeIds?: string[];
	mode?: WorkflowExecuteMode;
}

const valueAt = (parameters: unknown, path: string): unknown =>
	path.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], parameters);

/** What n8n passes to both triggers. */
function fakeContext(
	properties: INodeProperties[],
	{
		serve,
		parameters = {},
		resolved = {},
		credential = {},
		staticData = {},
		workflowId = 'workflow',
		nodeId = 'node',
		nodeIds,
		mode,
	}: Watched,
) {
	const node: INode = {
		...{ id: nodeId, name: nodeId, type: 'trigger', typeVersion: 1, position: [0, 0] },
		parameters: { application: locator('sales'), table: locator('people'), ...parameters },
	};
	const type = { properties, defaults: {} } as unknown as INodeTypeDescription;
	const values = NodeHelpers.getNodeParameters(properties, node.parameters, true, false, node, type);
	let requests = 0;
	const log = () => undefined;
	return {
		helpers: {
			httpRequestWithAuthentication: async (_: string, options: IHttpRequestOptions) => {
				requests += 1;
				const result = await serve(options, requests);
				if (result instanceof Error) throw result;
				return streamed(result);
			},
		},
		...(nodeIds && { workflow: { nodes: Object.fromEntries(nodeIds.map((id) => [`Node ${id}`, { id }])) } }),
		logger: { debug: log, info: log, warn: log, error: log },
		getCredentials: async () => ({ ...{ baseUrl: 'https://platform.example.com', token: 'secret', accessType: 'role' }, ...credential }),
		getMode: () => mode,
		getNode: () => node,
		getNodeParameter: (name: string, fallback: unknown, { rawExpressions }: IGetNodeParameterOptions = {}) => {
			const value = valueAt(values, name) ?? fallback;
			return rawExpressions ? value : (resolved[String(value)] ?? value);
		},
		getTimezone: () => 'UTC',
		getWorkflow: () => ({ id: workflowId, name: 'Workflow', active: true }),
		getWorkflowStaticData: (type: string) => (staticData[type] ??= {}),
	};
}

/** A poll, as n8n passes it to the trigger. */
export const fakePoll = ({ pollBudgetMs, ...watched }: Watched & { pollBudgetMs?: number }) =>
	({
		...fakeContext(triggerProperties, { mode: 'trigger', ...watched }),
		...(pollBudgetMs !== undefined && { getPollBudgetMs: () => pollBudgetMs }),
	}) as unknown as IPollFunctions;

export interface Delivered extends Watched {
	headers: Record<string, unknown>;
	body: unknown;
	/** Called with the response to the sender. */
	onResponse?(status: number, body: unknown): void;
}

/** A request to the webhook trigger, as n8n passes it on. */
export function fakeWebhook({ headers, body, onResponse, ...watched }: Delivered) {
	let status = 0;
	const response = {
		status: (code: number) => {
			status = code;
			return response;
		},
		json: (sent: unknown) => {
			onResponse?.(status, sent);
			return response;
		},
	};
	return {
		...fakeContext(webhookProperties, { mode: 'webhook', ...watched }),
		getHeaderData: () => headers,
		getBodyData: () => body,
		getResponseObject: () => response,
	} as unknown as IWebhookFunctions;
}
