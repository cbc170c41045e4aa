/** What an operation does with three items, the middle one of which fails. */
import type { IDataObject } from 'n8n-workflow';
import type { RunResult } from '../support/engine/engine.cts';
import type { StoredRecord } from '../../harness/sandboxAdmin.mts';
import { byId, expectFailed, order, pairedIndexes, UNKNOWN_ID, useHarness, where, type OnError, type Run } from './fixtures.cts';

const harness = useHarness();

interface Case {
	operation: string;
	run: (stored: StoredRecord[]) => Run;
	error: string;
	details: IDataObject;
	/** The buyers that the sandbox has after a run that goes on, and after one that stops, if they differ. */
	after: unknown[];
	afterStopping?: unknown[];
	/** The first and the last output item. */
	good: [IDataObject, IDataObject];
}

const withIds = (stored: StoredRecord[], more: IDataObject = {}) =>
	[stored[0]?.id, UNKNOWN_ID, stored[2]?.id].map((id) => ({ id, ...more }));
const values = (...list: string[]) => list.map((value) => ({ value }));
const old = ['old 1', 'old 2', 'old 3'];
const KEYS = ['x', ' x', 'x '];

test.each(KEYS)('spaces belong to the key %j by which a record is named', async (key) => {
	await harness.fill('orders', ...KEYS.map((number) => order(1, { number })));
	await harness.run('delete', { parameters: { recordId: { __rl: true, mode: 'id', value: key } } });
	expect((await harness.values('number')).sort()).toEqual(KEYS.filter((other) => other !== key).sort());
});

const noRecord = { error: 'There is no record', details: { outcome: 'notFound', status: 404 } };

const updated = (updateMode: string): Case => ({
	operation: 'update',
	run: (stored) => ({ items: withIds(stored, { buyer: 'changed' }), parameters: { ...byId, updateMode } }),
	error: `The table has no record with the ID '${UNKNOWN_ID}'`,
	details: { outcome: 'notFound', id: UNKNOWN_ID },
	after: ['changed', 'old 2', 'changed'],
	good: [{ outcome: 'updated' }, { outcome: 'updated' }],
});

const cases: Case[] = [
	{
		operation: 'get',
		run: (stored) => ({ items: withIds(stored), parameters: byId }),
		...noRecord,
		after: old,
		good: [{ buyer: 'old 1' }, { buyer: 'old 3' }],
	},
	{
		operation: 'getAll',
		run: () => ({
			items: values('1', 'colour', '3'),
			parameters: {
				returnAll: true,
				...where({ field: '={{ $json.value === "colour" ? "colour" : "number" }}', operator: 'eq', value: '={{ $json.value }}' }),
			},
		}),
		error: 'colour',
		details: { outcome: 'failed', field: 'colour' },
		after: old,
		good: [{ buyer: 'old 1' }, { buyer: 'old 3' }],
	},
	{
		operation: 'delete',
		run: (stored) => ({ items: withIds(stored), parameters: byId }),
		...noRecord,
		after: ['old 2'],
		good: [{ deleted: true }, { deleted: true }],
	},
	{
		operation: 'create',
		run: () => ({ items: [order(7), order(1, { state: 'lost' }), order(9)] }),
		error: "'state'",
		details: { outcome: 'failed', key: '1' },
		after: [...old, 'Buyer 7', 'Buyer 9'],
		good: [{ outcome: 'inserted' }, { outcome: 'inserted' }],
	},
	{
		operation: 'upsert',
		run: () => ({ items: [order(1), order(2, { state: 'lost' }), order(9)] }),
		error: "'state'",
		details: { outcome: 'failed', key: '2' },
		after: ['Buyer 1', 'old 2', 'old 3', 'Buyer 9'],
		good: [{ outcome: 'updated' }, { outcome: 'inserted' }],
	},
	updated('partial'),
	updated('replace'),
	{
		operation: 'deleteMany',
		run: () => ({
			items: values('1', 'old', '3'),
			parameters: {
				maxRecordsToDelete: 1,
				...where({
					field: '={{ $json.value === "old" ? "buyer" : "number" }}',
					operator: '={{ $json.value === "old" ? "contains" : "eq" }}',
					value: '={{ $json.value }}',
				}),
			},
		}),
		error: 'more than the maximum of 1',
		details: { outcome: 'failed' },
		after: ['old 2'],
		afterStopping: ['old 2', 'old 3'],
		good: [{ deletedCount: 1 }, { deletedCount: 1 }],
	},
];

describe.each(cases)('$operation', ({ operation, run: runOf, error, details, after, afterStopping = after, good }) => {
	let stored: StoredRecord[];

	const run = async (onError: OnError): Promise<RunResult> => {
		stored = await harness.fill('orders', ...[1, 2, 3].map((number) => order(number, { buyer: `old ${number}`, comment: 'kept' })));
		return await harness.run(operation, { ...runOf(stored), onError });
	};

	test('the node stops at the item that fails, and names it', async () => {
		const result = await run('stopWorkflow');
		expect(result.run.status).toBe('error');
		expect(result.error?.message).toContain(error);
		expect(result.error?.context?.itemIndex).toBe(1);
		expect(result.output('Data Platform')).toEqual([]);
		const buyers = await harness.values('buyer');
		// It processes several items at a time, so the last one may be done as well.
		if (operation === 'delete') expect(buyers).toContain('old 2');
		else expect(buyers).toEqual(afterStopping);
	});

	test('the node continues, with an error item in its place', async () => {
		const result = await run('continueRegularOutput');
		expect(result.error).toBeUndefined();
		expect(pairedIndexes(result.output('Data Platform'))).toEqual([0, 1, 2]);
		expectFailed(result, 1, error, details);
		const [first, , last] = result.json();
		expect([first, last]).toMatchObject(good);
		expect(await harness.values('buyer')).toEqual(after);
	});

	test('the node continues, with the error on the other output', async () => {
		const result = await run('continueErrorOutput');
		expect(pairedIndexes(result.output('Data Platform', 0))).toEqual([0, 2]);
		expect(result.json('Data Platform', 0)).toMatchObject(good);
		const failed = result.output('Data Platform', 1);
		expect(pairedIndexes(failed)).toEqual([1]);
		// n8n adds the input's own data to the items of the error output.
		const expected = { ...runOf(stored).items![1], error: expect.stringContaining(error), details: { item: 1, ...details } };
		expect(failed[0]!.json).toMatchObject(expected);
		expect(await harness.values('buyer')).toEqual(after);
	});
});

test.each([
	['update', { ...byId, updateMode: 'abc' }, {}, "'Fields Not Sent'"],
	['update', { updateMode: '' }, {}, "'Fields Not Sent'"],
	['create', {}, { output: 'abc' }, "'Output'"],
	['upsert', {}, { output: 5 }, "'Output'"],
])('%s: a choice that is not in the list is an error before anything is sent: %j %j', async (operation, parameters, options, label) => {
	const { error } = await harness.run(operation, { items: [{ id: 'x', number: '1', buyer: 'a' }], parameters, options });
	expect(error!.message).toContain(`${label} must be`);
	expect(await harness.writes()).toEqual([]);
});

test.each([
	[400, 'Correct what the message names, then run it again.'],
	[409, 'Correct what the message names, then run it again.'],
	[500, 'Check the platform and the network, then run it again.'],
])('an error with the status %i says what the platform says, and what to do', async (status, description) => {
	await harness.faults({ match: { method: 'GET' }, fault: { kind: 'status', status, body: { errors: [{ message: 'Not now' }] } } });
	const { error } = await harness.run('get', { items: [{ id: UNKNOWN_ID }], parameters: byId, options: { maxRetryWait: 0 } });
	expect(error).toMatchObject({ message: expect.stringContaining('Not now'), description });
});
