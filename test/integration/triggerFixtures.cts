/** A trigger that watches the orders of the shop, and another client that creates some. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { picked } from '../support/engine/engine.cts';
import { watch, type WatchOptions } from '../support/engine/polls.cts';
import { APP, nextMillisecond, type TestHarness } from './fixtures.cts';

/** The budget of a poll with the durable scheduler. */
export const TASK: WatchOptions = { pollBudgetMs: 36_000 };

export const ordersPath = (rest = '') => `/apps/${APP}/tables/orders/data${rest}`;

export const watchOrders = (harness: TestHarness, more: IDataObject = {}, options?: WatchOptions) =>
	watch(
		harness.credential,
		{ application: picked(APP), table: picked('orders'), triggerOn: 'createdOrUpdated', ...more } as INodeParameters,
		options,
	);

/** Creates orders with these numbers, each at a time of its own. */
export async function createOrders(harness: TestHarness, ...numbers: string[]) {
	await nextMillisecond();
	for (const number of numbers) {
		const { status } = await harness.sandbox.client().post(ordersPath(), { fields: { number, buyer: 'Fox' } });
		expect(status).toBe(201);
		await nextMillisecond();
	}
}
