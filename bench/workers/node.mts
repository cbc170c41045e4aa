/** Ours: the nodes of the built package in n8n's engine. */
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createItems } from '../benchTable.mts';
import type { Batching } from './bareClient.mts';
import {
	getManyParameters,
	runNode,
	syncParameters,
	toInput,
	upsertMappedParameters,
	upsertParameters,
	type Target,
} from './engine.mts';
import { n8nHttpFloor } from './n8nHttpFloor.mts';
import { installStubNetwork } from './stubNetwork.mts';
import { serveTasks } from './workerProcess.mts';

export interface NodeTasks {
	/** Create or Update, with the default options unless others are given. */
	upsert: Target & { size: number; options?: INodeParameters };
	/** Sync of the table, where this many items are new, changed, and missing from the input. */
	sync: Target & { size: number; part: number };
	/** The same records through n8n's HTTP function, without the node. */
	floor: Target & Batching;
	getMany: Target;
	/** The upsert without a network, of new items, or of unchanged ones with Skip Unchanged. */
	overhead: { size: number; isMapped?: boolean; isUnchanged?: boolean };
}

/** The result of an upsert or a sync. */
export interface UpsertDetails {
	/** How many items had each outcome; `failed` are those with an error. */
	outcomes: Record<string, number>;
	/** What the node shows below its output. */
	hint: string;
}

async function countOutcomes(
	target: Target,
	parameters: INodeParameters,
	input: INodeExecutionData[],
): Promise<UpsertDetails> {
	const { items, hints } = await runNode(target, parameters, input);
	const outcomes: Record<string, number> = {};
	for (const { json } of items) {
		const outcome = json.error === undefined ? String(json.outcome) : 'failed';
		outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
	}
	return { outcomes, hint: hints[0] ?? '' };
}

serveTasks<NodeTasks>({
	async upsert({ size, options, ...target }) {
		const input = toInput(createItems(size));
		const parameters = upsertParameters(options);
		return async (): Promise<UpsertDetails> => {
			const details = await countOutcomes(target, parameters, input);
			const count = Object.values(details.outcomes).reduce((sum, some) => sum + some, 0);
			if (count !== size) throw new Error(`${count} items instead of ${size}`);
			return details;
		};
	},

	async sync({ size, part, ...target }) {
		const items = createItems(size + part).slice(part);
		for (const item of items.slice(0, part)) item.city = 'Changed';
		const input = toInput(items);
		return async () => await countOutcomes(target, syncParameters(part), input);
	},

	floor: async ({ size, batchSize, concurrency, ...target }) =>
		await n8nHttpFloor(target, { size, batchSize, concurrency }),

	async getMany(target) {
		return async () => ({ records: (await runNode(target, getManyParameters)).items.length });
	},

	async overhead({ size, isMapped, isUnchanged = false }) {
		const target = installStubNetwork();
		const input = toInput(createItems(size));
		const parameters = isMapped
			? upsertMappedParameters()
			: upsertParameters({ skipUnchanged: isUnchanged });
		return async () => {
			const delay = monitorEventLoopDelay({ resolution: 5 });
			delay.enable();
			// The first delay is measured from the first check, not from the start.
			await sleep(20);
			const { items } = await runNode(target, parameters, input);
			await sleep(20);
			delay.disable();
			const expected = isUnchanged ? 'unchanged' : 'inserted';
			const { length } = items.filter(({ json }) => json.outcome === expected);
			if (length !== size) throw new Error(`${length} of ${size} items are ${expected}`);
			return { blockMs: delay.max / 1e6 };
		};
	},
});
