/** Ours: the nodes of the built package in n8n's engine. */
import { itemsOf } from '../people.mts';
import { asInput, getAll, operate, place, upsert, type Target } from './engine.mts';
import { helperAlone } from './helper.mts';
import { answerInProcess } from './inProcess.mts';
import { serve } from './serve.mts';
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

serve<NodeTasks>({
	async upsert({ size, batchSize, ...target }) {
		const input = asInput(itemsOf(size));
		const parameters = upsert(batchSize === undefined ? {} : { batchSize });
		return async () => {
			const { items, hints } = await operate(target, parameters, input);
			if (items.length !== size) throw new Error(`${items.length} items instead of ${size}`);
			return { hint: hints[0] ?? '' };
		};
	},

	helper: async ({ size, batchSize, ...target }) => await helperAlone(target, { size, batchSize }),

	async getMany(target) {
		return async () => ({ records: (await operate(target, getAll)).items.length });
	},

	async overhead({ size }) {
		const target = answerInProcess();
		const input = asInput(itemsOf(size));
		return async () => {
			const { items } = await operate(target, upsert(), input);
			if (items.length !== size) throw new Error(`${items.length} items instead of ${size}`);
		};
	},

	async poll(target) {
		watching ??= await watch(target, place);
		const trigger = watching;
		return async () => ({ items: (await trigger.poll())?.length ?? 0 });
	},
});
