/** Table: Get with Expected Fields, through n8n's engine. */
import { picked, runOperation } from '../support/engine/engine.cts';
import { APP, useHarness } from './fixtures.cts';

const harness = useHarness();

const check = async (expected: unknown[], onError?: 'continueRegularOutput') =>
	await runOperation(harness.credential, {
		parameters: {
			resource: 'table',
			operation: 'get',
			application: picked(APP),
			table: picked('orders'),
			options: { expectedFields: '={{ $json.expected }}' },
		} as never,
		items: expected.map((value) => ({ expected: value })) as never,
		onError,
	});

test('each item is checked against what it expects; the table is read once', async () => {
	const result = await check([
		['number', 'buyer'],
		'phone, number',
		[{ name: 'price', type: 'text' }],
	]);
	expect(result.json()).toMatchObject([
		{ matches: true, differences: [], internalName: 'orders' },
		{ matches: false, differences: [{ field: 'phone', difference: 'missing' }] },
		{ matches: false, differences: [{ field: 'price', difference: 'type' }] },
	]);
	expect(await harness.requests()).toHaveLength(1);
});

test('an expression that returns nothing is an error of its item, not a table that matches', async () => {
	const result = await check([['number'], null, ' ', 'number,', [], '{}'], 'continueRegularOutput');
	const [good, ...bad] = result.json();
	expect(good?.matches).toBe(true);
	for (const json of bad) expect(json.error).toMatch(/'Expected Fields' names no fields/);
});

test('without the option nothing is compared', async () => {
	const result = await runOperation(harness.credential, {
		parameters: {
			resource: 'table',
			operation: 'get',
			application: picked(APP),
			table: picked('orders'),
			options: {},
		} as never,
	});
	expect(result.json()[0]).not.toHaveProperty('matches');
});
