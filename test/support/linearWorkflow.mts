/** Workflows whose steps run one after the other. */

import { CREDENTIAL_NAME, CREDENTIAL_TYPE } from '../../harness/examples.mts';
import type { JsonObject, WorkflowJson, WorkflowNode } from '../../harness/n8nApi.mts';

/** The package of n8n's own nodes. */
export const BASE_NODES = 'n8n-nodes-base';

/** Our node, as n8n names it. */
export const NODE_TYPE = 'n8n-nodes-data-platform.dataPlatform';

export type Step = Pick<WorkflowNode, 'name' | 'type' | 'typeVersion' | 'parameters'> & {
	/** Other settings of a node, such as `retryOnFail`. */
	[setting: string]: unknown;
};

/** A step of n8n's own. */
export const baseNode = (name: string, type: string, typeVersion: number, parameters: JsonObject = {}): Step => {
	return { name, type: `${BASE_NODES}.${type}`, typeVersion, parameters };
};

/** A step of ours: the operation is one such as `record: upsert`. */
export function platformNode(name: string, operation: string, parameters: JsonObject): Step {
	const [resource, action] = operation.split(': ');
	return { name, type: NODE_TYPE, typeVersion: 1, parameters: { resource, operation: action, ...parameters } };
}

/** What a parameter with a list has if an ID is given. */
export const byId = (value: string) => ({ __rl: true, mode: 'id', value });

/** The parameters that choose a table. */
export const inTable = (application: string, table: string) => ({ application: byId(application), table: byId(table) });

/** The mapper's value if the fields are named as in the items. */
export const AUTOMATIC = { mappingMode: 'autoMapInputData', value: null, matchingColumns: [], schema: [] };

/** The mapper's value for fields set by hand. */
export const mapped = (value: JsonObject) => ({ ...AUTOMATIC, mappingMode: 'defineBelow', value });

/** A poll time in each minute, at this second. */
export const atSecond = (second: number) => ({ mode: 'custom', cronExpression: `${second} * * * * *` });

/** Poll times this many seconds apart: n8n itself polls at most once a minute for each. */
export const everySeconds = (seconds: number) => Array.from({ length: 60 / seconds }, (_, index) => atSecond(index * seconds));

/** Our trigger, as a workflow's first node. */
export const triggerNode = (name: string, pollTimes: object[], parameters: JsonObject): Step => {
	return { name, type: `${NODE_TYPE}Trigger`, typeVersion: 1, parameters: { pollTimes: { item: pollTimes }, ...parameters } };
};

/** n8n's webhook, as a workflow's first node. */
export const webhookNode = (path: string): Step => {
	return { ...baseNode('Start', 'webhook', 2, { httpMethod: 'POST', path, options: {} }), webhookId: path };
};

const manualStart = baseNode('Start', 'manualTrigger', 1);

/**
 * A workflow that starts at a trigger, `Start` unless another one is given, and runs all steps. Those of an array get
 * the same items; the last of them goes on.
 */
export function linearWorkflow(name: string, credentialId: string, steps: Array<Step | Step[]>, start: Step = manualStart): WorkflowJson {
	const levels = [start, ...steps].map((level) => [level].flat());
	const nodes = levels
		.flat()
		.map((step, index) => ({
			...step,
			id: `node-${index}`,
			position: [index * 200, 0] as [number, number],
			...(step.type.startsWith(NODE_TYPE) && { credentials: { [CREDENTIAL_TYPE]: { id: credentialId, name: CREDENTIAL_NAME } } }),
		}));
	const connections = Object.fromEntries(
		levels.slice(1).map((level, index) => {
			return [levels[index]!.at(-1)!.name, { main: [level.map((step) => ({ node: step.name, type: 'main', index: 0 }))] }];
		}),
	);
	return { name, nodes, connections };
}
