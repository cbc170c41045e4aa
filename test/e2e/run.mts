/** Runs workflows that must succeed. */

import assert from 'node:assert/strict';
import {
	describeFailure,
	type Execution,
	type ExecutionItem,
	type JsonObject,
	type N8nApi,
	outputItems,
	type WorkflowJson,
} from '../../harness/n8nApi.mts';

/** Runs a workflow, a new or a stored one. */
export async function run(api: N8nApi, workflow: WorkflowJson | string, trigger = 'Start', items?: ExecutionItem[]): Promise<Execution> {
	const id = typeof workflow === 'string' ? workflow : await api.createWorkflow(workflow);
	const execution = await api.runWorkflow(id, trigger, items);
	assert.equal(describeFailure(execution), undefined);
	return execution;
}

/** What a node returned. */
export const jsonOf = (execution: Execution, node: string): JsonObject[] => outputItems(execution, node).map(({ json }) => json);
