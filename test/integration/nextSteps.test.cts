/** Every rejection by the platform says what to do next. */
import type { IDataObject } from 'n8n-workflow';
import { expectErrorItem, numbered, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const STATUSES = [400, 401, 402, 403, 404, 405, 409, 410, 413, 418, 422, 429, 451, 500, 502, 503, 504];

const goingOn = { onError: 'continueRegularOutput', items: numbered(1) } as const;

/** One for each kind of request: of a record, of a list, of a batch. */
test.each<[operation: string, run: Run]>([
	['get', { parameters: { recordId: { __rl: true, mode: 'id', value: '5f0c9f0e-3b1a-4f43-9a51-0a9c1df7a1b2' } } }],
	['getAll', { parameters: { returnAll: true } }],
	['upsert', {}],
])('%s: after each status', async (operation, run) => {
	expect.assertions(5 * STATUSES.length);
	for (const status of STATUSES) {
		await harness.faults({ match: { path: '/data' }, fault: { kind: 'status', status, body: { errors: [{ message: 'No.' }] } } });
		const [item] = (await harness.run(operation, { ...goingOn, ...run, options: { maxRetryWait: 0 } })).output('Data Platform');
		expectErrorItem(item!, 0, /./);
		expect(item!.json.message).toMatch(/\w.*[.)]$/);
	}
});

const order = { number: '1', buyer: 'Fox' };

test.each<[name: string, operations: string[], Run & { item: IDataObject }, error: string, next: string]>([
	[
		'a name in a link',
		['create', 'upsert'],
		{ item: { ...order, related: 'Acme' } },
		"'related'",
		"'related' accepts the ID of a linked record. To give a name or another value instead, add 'Link Values' in the options.",
	],
	[
		'no record with the ID',
		['update'],
		{ item: order, parameters: { matchOn: 'recordId', recordId: 'fox@example.com' } },
		"no record with the ID 'fox@example.com'",
		"Check the ID; the record may have been deleted. If you meant to match by something else, such as an e-mail address, set 'Match On' to 'Import Key' or 'Other Fields'.",
	],
	[
		'no ID',
		['update'],
		{ item: order, parameters: { matchOn: 'recordId', recordId: '={{ $json.id }}' } },
		'the record id is missing',
		"Give the record's ID, or set 'Match On' to what the items hold, such as 'Import Key'.",
	],
	[
		'a value in a filter',
		['count'],
		{
			item: order,
			parameters: { filterMode: 'conditions', conditions: { condition: [{ field: 'price', operator: 'gt', value: 'cheap' }] } },
		},
		"'price'",
		"Check 'Filter': a value may not fit its field, or what is named there may have been renamed or deleted.",
	],
])('%s', async (_, operations, { item, ...run }, error, next) => {
	for (const operation of operations) {
		const result = await harness.run(operation, { ...goingOn, items: [item], ...run });
		const [failed] = result.output('Data Platform');
		expectErrorItem(failed!, 0, error);
		expect(failed!.json.message).toBe(next);
	}
});
