/**
 * Polls through n8n's engine, as n8n polls an active workflow.
 */
import { randomUUID } from 'node:crypto';
import { PollContext } from 'n8n-core';
import { Workflow, type IDataObject, type INodeExecutionData, type INodeParameters, type IPollFunctions } from 'n8n-workflow';
import { additionalData, forgetAll, forgetTables, fullNode, nodeTypes, prepare, TRIGGER_TYPE, type Credential } from './engine.cts';

export interface WatchOptions {
	/** What n8n stored of the workflow's static data. */
	staticData?: string;
	/** Each workflow has its own by default. It connects what polls know about each other. */
	workflowId?: string;
	/** The workflow's time zone. */
	timezone?: string;
	/** How long a poll of the durable scheduler may take. */
	pollBudgetMs?: number;
	/** The node's static data, if n8n stores it apart from the workflow's: a durable cursor. */
	cursor?: IDataObject;
	/** Called instead of the node's `poll`. */
	run?(context: IPollFunctions): Promise<INodeExecutionData[][] | null>;
}

export interface Watching {
	/** One poll: its items; null if it starts no execution. */
	poll(mode?: 'trigger' | 'manual'): Promise<INodeExecutionData[] | null>;
	/** The workflow's static data as n8n would store it now. */
	staticData(): string;
}

/** The context as a scheduler other than the in-memory one makes it. */
const withScheduler = (context: IPollFunctions, { pollBudgetMs, cursor }: WatchOptions): IPollFunctions =>
	Object.assign(Object.create(context) as IPollFunctions, {
		...(pollBudgetMs !== undefined && { getPollBudgetMs: () => pollBudgetMs }),
		...(cursor && { getWorkflowStaticData: (type: string) => (type === 'node' ? cursor : context.getWorkflowStaticData(type)) }),
	});

/** A workflow with the trigger, whose static data lives on from poll to poll. */
export async function watch(credential: Credential, parameters: object, options: WatchOptions = {}): Promise<Watching> {
	const { staticData = '{}', workflowId = randomUUID(), timezone, run } = options;
	await prepare();
	forgetAll(credential);
	const node = fullNode({ name: 'Trigger', type: TRIGGER_TYPE, parameters: parameters as INodeParameters }, 0);
	const workflow = new Workflow({
		id: workflowId,
		nodes: [node],
		connections: {},
		active: true,
		nodeTypes,
		staticData: JSON.parse(staticData) as IDataObject,
		settings: { executionOrder: 'v1', timezone },
	});
	const type = nodeTypes.getByNameAndVersion(TRIGGER_TYPE, 1);
	// Adds the defaults of parameters that are left out.
	const complete = workflow.getNode(node.name)!;
	return {
		async poll(mode = 'trigger') {
			forgetTables(credential);
			const data = additionalData(credential);
			const context = new PollContext(workflow, complete, data, mode, 'activate');
			const ofScheduler = withScheduler(context, options);
			const outputs = await (run ? run(ofScheduler) : type.poll!.call(ofScheduler));
			return outputs && (outputs[0] ?? []);
		},
		staticData: () => JSON.stringify(workflow.staticData),
	};
}
