/** Every rejection by the platform says what to do next. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDataObject } from 'n8n-workflow';
import { expectErrorItem, numbered, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

const SANDBOX = join(__dirname, '../../sandbox');

/** The codes of all errors that the sandbox responds with. */
const codes = new Set(
	readdirSync(SANDBOX, { recursive: true, encoding: 'utf8' })
		.filter((path) => path.endsWith('.mts'))
		.flatMap((path) => [...readFileSync(join(SANDBOX, path), 'utf8').matchAll(/\bid: '(\w+Exception)'/g)])
		.map(([, code]) => code!),
);

const STATUS: Record<string, number[]> = {
	authenticationFailedException: [401],
	faultException: [400, 402, 405, 409, 410, 418, 451, 500, 502, 503, 504],
	fieldValidationException: [400, 422],
	internalException: [500],
	notFoundException: [404],
	parameterParseFailedException: [400],
	permissionDeniedException: [403],
	requestTooLargeException: [413],
	tooManyRequestsException: [429],
	workflowFailedException: [500],
};

const RECORD = { __rl: true, mode: 'id', value: '5f0c9f0e-3b1a-4f43-9a51-0a9c1df7a1b2' };

const OPERATIONS: Record<string, Run> = {
	count: {},
	create: {},
	delete: { parameters: { recordId: RECORD } },
	get: { parameters: { recordId: RECORD } },
	getAll: { parameters: { returnAll: true } },
	update: { parameters: { recordId: RECORD } },
	upsert: {},
};

const goingOn = { onError: 'continueRegularOutput', items: numbered(1) } as const;

test('all codes of the sandbox are covered', () => {
	expect(Object.keys(STATUS).sort()).toEqual([...codes].sort());
});

describe.each(Object.keys(OPERATIONS))('%s', (operation) => {
	test.each(Object.entries(STATUS).flatMap(([code, all]) => all.map((status) => ({ code, status }))))(
		'$status $code',
		async ({ code, status }) => {
			await harness.faults({
				match: { path: '/data' },
				fault: { kind: 'status', status, body: { errors: [{ id: code, message: 'No.' }] } },
			});
			const run = { ...goingOn, ...OPERATIONS[operation], options: { maxRetryWait: 0 } };
			const [item] = (await harness.run(operation, run)).output('Data Platform');
			expectErrorItem(item!, 0, /./);
			expect(item!.json.message).toMatch(/\w.*[.)]$/);
		},
	);
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
