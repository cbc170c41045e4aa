/** Workflows whose steps run one after the other. */

import { CREDENTIAL_NAME, CREDENTIAL_TYPE } from '../../harness/examples.mts';
import type { WorkflowJson, WorkflowNode } from '../../harness/n8nApi.mts';

/** The package of n8n's own nodes. */
export const BASE_NODES = 'n8n-nodes-base';

/** Our node, as n8n names it. */
export const NODE_TYPE = 'n8n-nodes-data-platform.dataPlatform';

export type Step = Pick<WorkflowNode, 'name' | 'type' | 'typeVersion' | 'parameters'> & {
	/** Other settings of a node, such as `retryOnFail`. */
	[setting: string]: unknown;
};

const manualStart: Step = { name: 'Start', type: `${BASE_NODES}.manualTrigger`, typeVersion: 1, parameters: {} };

/** A workflow that starts at a trigger, `Start` unless another one is given, and runs all steps. */
export function linearWorkflow(name: string, credentialId: string, steps: Step[], start: Step = manualStart): WorkflowJson {
	const nodes = [start, ...steps].map((step, index) => ({
		...step,
		id: `node-${index}`,
		position: [index * 200, 0] as [number, number],
		...(step.type.startsWith(NODE_TYPE) && { credentials: { [CREDENTIAL_TYPE]: { id: credentialId, name: CREDENTIAL_NAME } } }),
	}));
	const connections = Object.fromEntries(
		nodes.slice(0, -1).map((node, index) => [node.name, { main: [[{ node: nodes[index + 1]!.name, type: 'main', index: 0 }]] }]),
	);
	return { name, nodes, connections };
}
