/** Starting workflows of the platform: each start is a run in its log. */
import { itemsOf, unlessRight, type Prepared, type Scenario } from './scenario.mts';

/** @param count how many items; an execution waits for one workflow at a time */
const starting = (operation: string, count: number): Scenario => ({
	operation: `workflow: ${operation}`,
	kind: 'once',
	isUnverifiable: true,
	async prepare(slot): Promise<Prepared> {
		await slot.createTable([]);
		const webhookUrl = await slot.createWorkflow();
		const indexes = Array.from({ length: count }, (_, index) => index);
		return {
			parameters: { resource: 'workflow', operation, webhookUrl },
			items: itemsOf(indexes.map((index) => ({ mark: `start ${index}` }))),
			main: { method: 'POST', path: '/webhooks/' },
			traces: indexes.map((index) => ({ body: `"start ${index}"` })),
			effect(index, { workflowRuns }) {
				const runs = workflowRuns.filter(({ payload }) => payload.mark === `start ${index}`);
				if (runs.length > 1) return { wrong: `workflow ${index} ran ${runs.length} times` };
				return runs.length === 1 ? 'done' : 'none';
			},
			// The contract leaves a webhook's response open: any 2xx is a success.
			checkOutput: (_index, outputs) => unlessRight(outputs.length === 1 && 'body' in outputs[0]!.json, outputs),
		};
	},
});

export const trigger = starting('trigger', 3);
export const triggerAndWait = starting('triggerAndWait', 1);
