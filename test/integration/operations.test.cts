import type { IDataObject } from 'n8n-workflow';
import type { RunResult } from '../support/engine/engine.cts';
import type { StoredRecord } from '../../harness/sandboxAdmin.mts';
import { expectErrorItem, pairedIndexes, useHarness, type OnError, type Run } from './fixtures.cts';

const harness = useHarness();
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** An operation that gets three items, the middle one of which fails. */
interface Case {
	operation: string;
	run: (stored: StoredRecord[]) => Run;
	error: string;
	details: IDataObject;
	/** What the sandbox stores after a run that continues, and after one that stops. */
	afterGoingOn: unknown[];
	afterStopping: unknown[];
	/** The values of the first and last output items. */
	good: (json: IDataObject) => unknown;
	ends: [unknown, unknown];
}

const byId = (stored: StoredRecord[], more: IDataObject = {}): IDataObject[] =>
	[stored[0]?.id, UNKNOWN_ID, stored[2]?.id].map((id) => ({ id, ...more }));

const buyerOf = ({ buyer }: IDataObject) => buyer;
const fresh = (bad: IDataObject): IDataObject[] => [
	{ number: '7', buyer: 'new 7' },
	{ number: '8', buyer: 'new 8', ...bad },
	{ number: '9', buyer: 'new 9' },
];
const old = ['old 1', 'old 2', 'old 3'];
const idParameter = { recordId: '={{ $json.id }}' };

const cases: Case[] = [
	{
		operation: 'get',
		run: (stored) => ({ items: byId(stored), parameters: idParameter }),
		error: 'There is no record',
		details: { outcome: 'failed', status: 404 },
		afterGoingOn: old,
		afterStopping: old,
		good: buyerOf,
		ends: ['old 1', 'old 3'],
	},
	{
		operation: 'getAll',
		run: () => ({
			items: ['1', 'colour', '3'].map((value) => ({ value })),
			parameters: {
				returnAll: true,
				filterMode: 'conditions',
				conditions: {
					condition: [{ field: '={{ $json.value === "colour" ? "colour" : "number" }}', operator: 'eq', value: '={{ $json.value }}' }],
				},
			},
		}),
		error: 'colour',
		details: { outcome: 'failed', status: 400 },
		afterGoingOn: old,
		afterStopping: old,
		good: buyerOf,
		ends: ['old 1', 'old 3'],
	},
	{
		operation: 'delete',
		run: (stored) => ({ items: byId(stored), parameters: idParameter }),
		error: 'There is no record',
		details: { outcome: 'failed', status: 404 },
		afterGoingOn: ['old 2'],
		afterStopping: ['old 2'],
		good: ({ deleted }) => deleted,
		ends: [true, true],
	},
	{
		operation: 'create',
		run: () => ({ items: fresh({ number: '1' }) }),
		error: "Field 'number' must be unique",
		details: { outcome: 'failed', key: '1' },
		afterGoingOn: [...old, 'new 7', 'new 9'],
		afterStopping: [...old, 'new 7', 'new 9'],
		good: ({ outcome }) => outcome,
		ends: ['inserted', 'inserted'],
	},
	{
		operation: 'upsert',
		run: () => ({
			items: [
				{ number: '1', buyer: 'new 1' },
				{ number: '2', buyer: 'new 2', state: 'lost' },
				{ number: '9', buyer: 'new 9' },
			],
		}),
		error: "'state'",
		details: { outcome: 'failed', key: '2' },
		afterGoingOn: ['new 1', 'old 2', 'old 3', 'new 9'],
		afterStopping: ['new 1', 'old 2', 'old 3', 'new 9'],
		good: ({ outcome }) => outcome,
		ends: ['updated', 'inserted'],
	},
	...(['partial', 'replace'] as const).map(
		(updateMode): Case => ({
			operation: 'update',
			run: (stored) => ({ items: byId(stored, { buyer: 'changed' }), parameters: { ...idParameter, updateMode } }),
			error: `The table has no record with the ID '${UNKNOWN_ID}'`,
			details: { outcome: 'notFound', id: UNKNOWN_ID },
			afterGoingOn: ['changed', 'old 2', 'changed'],
			afterStopping: ['changed', 'old 2', 'changed'],
			good: ({ outcome }) => outcome,
			ends: ['updated', 'updated'],
		}),
	),
	{
		operation: 'deleteMany',
		run: () => ({
			items: ['1', 'old', '3'].map((value) => ({ value })),
			parameters: {
				maxRecordsToDelete: 1,
				filterMode: 'conditions',
				conditions: {
					condition: [
						{
							field: '={{ $json.value === "old" ? "buyer" : "number" }}',
							operator: '={{ $json.value === "old" ? "contains" : "eq" }}',
							value: '={{ $json.value }}',
						},
					],
				},
			},
		}),
		error: 'more than the maximum of 1',
		details: { outcome: 'failed' },
		afterGoingOn: ['old 2'],
		afterStopping: ['old 2', 'old 3'],
		good: ({ deletedCount }) => deletedCount,
		ends: [1, 1],
	},
];

describe.each(cases.map((entry) => [`${entry.operation}`, entry] as const))('%s', (_, entry) => {
	let stored: StoredRecord[];

	const run = async (onError: OnError): Promise<RunResult> => {
		stored = await harness.fill('orders', ...[1, 2, 3].map((n) => ({ number: String(n), buyer: `old ${n}`, comment: 'kept' })));
		return await harness.run(entry.operation, { ...entry.run(stored), onError });
	};

	test('stops at the item that fails, and names it', async () => {
		const result = await run('stopWorkflow');
		expect(result.run.status).toBe('error');
		expect(result.error?.message).toContain(entry.error);
		expect(result.error?.context?.itemIndex).toBe(1);
		expect(result.output('Data Platform')).toEqual([]);
		const values = await harness.values('buyer');
		// It processes several items at a time, so the last one may be done as well.
		if (entry.operation === 'delete') expect(values).toContain('old 2');
		else expect(values).toEqual(entry.afterStopping);
	});

	test('continues, with an error item in its place', async () => {
		const result = await run('continueRegularOutput');
		expect(result.error).toBeUndefined();
		const items = result.output('Data Platform');
		expect(pairedIndexes(items)).toEqual([0, 1, 2]);
		expectErrorItem(items[1]!, 1, entry.error, entry.details);
		const ends = [items[0], items[2]];
		expect(ends.map((item) => entry.good(item!.json))).toEqual(entry.ends);
		expect(await harness.values('buyer')).toEqual(entry.afterGoingOn);
	});

	test('continues, with the error on the other output', async () => {
		const result = await run('continueErrorOutput');
		const [good, bad] = [0, 1].map((output) => result.output('Data Platform', output));
		expect(pairedIndexes(bad!)).toEqual([1]);
		expect(bad![0]?.json.error).toContain(entry.error);
		expect(bad![0]?.json.details).toMatchObject({ item: 1, ...entry.details });
		const input = entry.run(stored).items!;
		expect(pairedIndexes(good!)).toEqual([0, 2]);
		expect(good!.some(({ json }) => 'error' in json)).toBe(false);
		// n8n adds the input's own data to the items of the error output.
		expect(bad![0]?.json).toMatchObject(input[1]!);
		expect(await harness.values('buyer')).toEqual(entry.afterGoingOn);
	});
});

test.each([
	['update', { recordId: { __rl: true, mode: 'id', value: 'x' }, updateMode: 'abc' }, {}, "'Fields Not Sent'"],
	['update', { updateMode: '' }, {}, "'Fields Not Sent'"],
	['create', {}, { output: 'abc' }, "'Output'"],
	['upsert', {}, { output: 5 }, "'Output'"],
])('%s: a choice that is not in the list is an error before anything is sent: %j %j', async (operation, parameters, options, label) => {
	const { error } = await harness.run(operation, { items: [{ id: 'x', number: '1', buyer: 'a' }], parameters, options });
	expect(error!.message).toContain(`${label} must be`);
	expect(await harness.writes()).toEqual([]);
});
