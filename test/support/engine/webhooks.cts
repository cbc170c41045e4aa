/**
 * Requests to the webhook trigger through n8n's engine, as n8n hands them to an active workflow.
 */
import { randomUUID } from 'node:crypto';
import { HookContext, WebhookContext } from 'n8n-core';
import {
	Workflow,
	type IDataObject,
	type INodeParameters,
	type IWebhookData,
	type IWorkflowExecuteAdditionalData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { additionalData, fullNode, nodeTypes, prepare, WEBHOOK_TRIGGER_TYPE, type Credential } from './engine.cts';

export interface WebhookResult {
	/** What the caller gets. */
	status: number;
	/** What an execution starts with; undefined if none starts. */
	items?: IDataObject[];
}

export interface ListeningWorkflow {
	/** Activates it. */
	activate(): Promise<void>;
	/** One request to its production URL, or to the test URL of the editor. */
	receive(body: unknown, headers: Record<string, string | string[] | undefined>, mode?: 'webhook' | 'manual'): Promise<WebhookResult>;
	/** The workflow's static data as n8n would store it now. */
	staticData(): string;
}

/** A workflow with the webhook trigger. n8n gives each request a copy of the static data. */
export async function listen(
	credential: Credential,
	parameters: object,
	options: { staticData?: string; workflowId?: string } = {},
): Promise<ListeningWorkflow> {
	await prepare();
	const workflowId = options.workflowId ?? randomUUID();
	let stored = options.staticData ?? '{}';
	const node = fullNode({ name: 'Trigger', type: WEBHOOK_TRIGGER_TYPE, parameters: parameters as INodeParameters }, 0);
	const load = () =>
		new Workflow({
			id: workflowId,
			nodes: [node],
			connections: {},
			active: true,
			nodeTypes,
			staticData: JSON.parse(stored) as IDataObject,
			settings: { executionOrder: 'v1' },
		});
	const type = nodeTypes.getByNameAndVersion(WEBHOOK_TRIGGER_TYPE, 1);
	const contextData = (workflow: Workflow) => [workflow, workflow.getNode(node.name)!, additionalData(credential)] as const;
	return {
		async activate() {
			const context = new HookContext(...contextData(load()), 'internal', 'activate');
			const methods = (type as { webhookMethods: Record<string, Record<string, () => unknown>> }).webhookMethods.default!;
			if ((await methods.checkExists!.call(context)) !== true) await methods.create!.call(context);
		},
		async receive(body, headers, mode = 'webhook') {
			const workflow = load();
			const [, own, data] = contextData(workflow);
			let status = 0;
			const response = {
				status: (code: number) => {
					status = code;
					return response;
				},
				json: () => response,
			};
			const withRequest = {
				...data,
				httpRequest: { body, headers, params: {}, query: {} },
				httpResponse: response,
			} as unknown as IWorkflowExecuteAdditionalData;
			const executionMode: WorkflowExecuteMode = mode;
			const webhook = {} as IWebhookData;
			const context = new WebhookContext(workflow, own, withRequest, executionMode, webhook, [], null);
			const { workflowData } = await type.webhook!.call(context);
			if (mode === 'webhook' && workflow.staticData.__dataChanged === true) {
				stored = JSON.stringify(workflow.staticData);
			}
			return { status, items: workflowData?.[0]?.map(({ json }) => json) };
		},
		staticData: () => stored,
	};
}
