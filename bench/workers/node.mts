/** Ours: the nodes of the built package in n8n's engine. */
import { createItems } from '../benchTable.mts';
import {
	toInput,
	getManyParameters,
	runNode,
	tableParameters,
	upsertParameters,
	type Target,
} from './engine.mts';
import { n8nHttpFloor } from './n8nHttpFloor.mts';
import { installStubNetwork } from './stubNetwork.mts';
import { serveTasks } from './workerProcess.mts';
import { watch, type Watching } from '../../test/property/trigger/engine.mts';

export interface NodeTasks {
	upsert: Target & { size: number; batchSize?: number };
	/** The same batches through n8n's HTTP function, with nothing of ours. */
	helper: Target & { size: number; batchSize: number };
	getMany: Target;
	/** The upsert without a network. */
	overhead: { size: number };
	/** A poll of the trigger; the first one begins. */
	poll: Target;
}

let watching: Watching | undefined;

serveTasks<NodeTasks>({
	async upsert({ size, batchSize, ...target }) {
		const input = toInput(createItems(size));
		const parameters = upsertParameters(batchSize === undefined ? {} : { batchSize });
		return async () => {
			const { items, hints } = await runNode(target, parameters, input);
			if (items.length !== size) throw new Error(`${items.length} items instead of ${size}`);
			return { hint: hints[0] ?? '' };
		};
	},

	helper: async ({ size, batchSize, ...target }) => await n8nHttpFloor(target, { size, batchSize }),

	async getMany(target) {
		return async () => ({ records: (await runNode(target, getManyParameters)).items.length });
	},

	async overhead({ size }) {
		const target = installStubNetwork();
		const input = toInput(createItems(size));
		return async () => {
			const { items } = await runNode(target, upsertParameters(), input);
			if (items.length !== size) throw new Error(`${items.length} items instead of ${size}`);
		};
	},

	async poll(target) {
		watching ??= await watch(target, tableParameters);
		const trigger = watching;
		return async () => ({ items: (await trigger.poll())?.length ?? 0 });
	},
});
