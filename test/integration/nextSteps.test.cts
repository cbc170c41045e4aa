/** Every rejection by the platform says what to do next. */
import type { IDataObject } from 'n8n-workflow';
import { expectFailed, goingOn, numbered, order, UNKNOWN_ID, useHarness, where, type Run } from './fixtures.cts';

const harness = useHarness();

/** One for each kind of request: of a record, of a list, of a batch. */
const ALL = ['get', 'getAll', 'upsert', 'create'];
const READS = ['get', 'getAll'];
const WRITES = ['upsert', 'create'];

const PLAN = "If the account's plan is the reason, make room or extend it.";

test.each<[statuses: number[], operations: string[], next: string]>([
	[[401], ALL, "Check 'Token' in the credential for slips and its 'valid to' in the platform, or create a new token there."],
	[[402, 405, 410, 418, 451], ALL, 'Correct what the message names, then run it again.'],
	[
		[403],
		ALL,
		"If the token's role lacks a right, add it in the platform, or use another token. If the account's plan is the reason, only another plan helps.",
	],
	[[429], ALL, "Set 'Requests per Minute' in the credential, under 'More Settings', to what the platform allows."],
	[[400, 409, 422], READS, 'Correct what the message names, then run it again.'],
	[[400, 409, 422], WRITES, 'See what the message asks for, then run it again.'],
	[[404], ['get'], "Check the record's ID; the record may have been deleted."],
	[
		[404],
		['getAll', ...WRITES],
		'Check the application and the table; they may have been renamed or deleted. Choose them from their lists.',
	],
	[[413], READS, `Send less in one request: shorten its filter, its values or its body. ${PLAN}`],
	[[413], WRITES, `Lower 'Batches, Timeouts and Retries → Batch Size' or send less in one record. ${PLAN}`],
	[[507], ALL, `Correct what the message names, then run it again. ${PLAN}`],
	[[500, 502, 503, 504], READS, 'Check the platform and the network, then run it again.'],
	[[500, 502, 503, 504], ['upsert'], 'It is safe to run it again: with the same import key nothing is doubled.'],
	[
		[500, 502, 503, 504],
		['create'],
		"Look for the record in the platform before you send it again. By import key, 'Create or Update' can be repeated without creating duplicates.",
	],
])('after a status of %j, %j: %s', async (statuses, operations, next) => {
	for (const status of statuses) {
		await harness.faults({ match: { path: '/data' }, fault: { kind: 'status', status, body: { errors: [{ message: 'No.' }] } } });
		for (const operation of operations) {
			const parameters = operation === 'get' ? { recordId: UNKNOWN_ID } : {};
			const result = await harness.run(operation, { ...goingOn, items: numbered(1), parameters, options: { maxRetryWait: 0 } });
			expectFailed(result, 0, /No/);
			expect([status, operation, result.json()[0]!.message]).toEqual([status, operation, next]);
		}
	}
});

test('a 400 without the platform’s errors is from something in between', async () => {
	await harness.faults({ match: { path: '/data/bulk$' }, fault: { kind: 'status', status: 400, body: 'Down for maintenance.' } });
	for (const operation of WRITES) {
		const result = await harness.run(operation, { ...goingOn, items: numbered(1) });
		expectFailed(result, 0, 'Down for maintenance');
		expect(result.json()[0]!.message).toMatch(/^It may dislike a text in the request\. Ask who runs the network/);
	}
});

test.each<[name: string, operations: string[], item: IDataObject, run: Run, error: string, next: string]>([
	['an ID in a link that no record has', WRITES, order(1, { related: UNKNOWN_ID }), {}, "'related'", "Correct the value of 'related'."],
	[
		'no record with the ID',
		['update'],
		order(1),
		{ parameters: { recordId: 'fox@example.com' } },
		"no record with the ID 'fox@example.com'",
		"Check the ID; the record may have been deleted. If you meant to match by something else, such as an e-mail address, set 'Match On' to 'Import Key' or 'Other Fields'.",
	],
	[
		'no ID',
		['update'],
		order(1),
		{ parameters: { recordId: '={{ $json.id }}' } },
		'the record id is missing',
		"Give the record's ID, or set 'Match On' to what the items hold, such as 'Import Key'.",
	],
	[
		'a value in a filter',
		['count'],
		order(1),
		{ parameters: where({ field: 'price', operator: 'gt', value: 'cheap' }) },
		"'price'",
		"Check 'Filter': a value may not fit its field, or what is named there may have been renamed or deleted.",
	],
])('after a rejection of %s', async (_, operations, item, run, error, next) => {
	for (const operation of operations) {
		const result = await harness.run(operation, { ...goingOn, items: [item], ...run });
		expectFailed(result, 0, error);
		expect(result.json()[0]!.message).toBe(next);
	}
});
