/** Triggers that watch the orders of the shop, and another client that changes orders. */
import type { IDataObject } from 'n8n-workflow';
import { picked } from '../support/engine/engine.cts';
import { watch, type Watching, type WatchOptions } from '../support/engine/polls.cts';
import { APP, nextMillisecond, withoutWaits, type ShopHarness } from './fixtures.cts';

/** The budget of a poll with the durable scheduler. */
export const TASK: WatchOptions = { pollBudgetMs: 36_000 };

/** @param usual parameters of the triggers, if a test gives no others */
export function watchedOrders(harness: ShopHarness, usual: IDataObject = {}) {
	/** The numbers of deleted orders, by ID: a trigger emits only the ID. */
	const deleted = new Map<unknown, string>();
	return {
		start: async (more: IDataObject = {}, options?: WatchOptions) => {
			const place = { application: picked(APP), table: picked('orders'), triggerOn: 'createdOrUpdated' };
			const merged = { ...(usual.options as object), ...(more.options as object) };
			return await watch(harness.credential, { ...place, ...usual, ...more, options: merged }, options);
		},
		/** Creates orders with these numbers, each at a time of its own. */
		create: async (...numbers: string[]) => {
			await nextMillisecond();
			for (const number of numbers) {
				await harness.insert({ number, buyer: 'Fox' });
				await nextMillisecond();
			}
		},
		change: async (number: string, fields: IDataObject = { buyer: 'Hare' }) => {
			await harness.change(await harness.idOf(number), fields);
			await nextMillisecond();
		},
		remove: async (...numbers: string[]) => {
			for (const number of numbers) {
				const id = await harness.idOf(number);
				deleted.set(id, number);
				await harness.remove(id);
			}
		},
		/** What a poll emits, such as `created 1`; null if it starts no execution. */
		emitted: async (watching: Watching) =>
			(await watching.poll())?.map(({ json }) => `${json.event as string} ${(json.number as string) ?? deleted.get(json.id)}`) ?? null,
	};
}

interface Failure extends Error {
	description?: string;
	httpCode?: string;
	failure?: IDataObject;
}

/** The error of a poll. */
export const failureOf = async (watching: Watching, mode?: 'manual') =>
	await withoutWaits(async () => await watching.poll(mode)).then(
		() => undefined,
		(error: Failure) => error,
	);

/** The state that a poll stored for its node. */
export const storedState = (watching: Watching) =>
	(JSON.parse(watching.staticData()) as Record<string, { watch: string }>)['node:Trigger']!.watch;

/** What n8n stored, if the node's state is this. */
export const withState = (state: unknown): WatchOptions => ({ staticData: JSON.stringify({ 'node:Trigger': { watch: state } }) });
