import type { IDataObject } from 'n8n-workflow';
import { numbered, outcomes, pairedIndexes, useHarness, type OnError, type Run } from './fixtures.cts';

/** n8n's Retry On Fail runs the whole node again: after an error, or after an error item first. */
const harness = useHarness();

const retry = { maxTries: 3, waitBetweenTries: 1 };
const refused = { number: 'bad', buyer: 'x', state: 'lost' };
const firstBad = [refused, ...numbered(3)];
const middleBad = [...numbered(2), refused, { number: '3', buyer: 'Buyer 3' }];
const versions = async () => (await harness.records()).map(({ ver }) => ver);

/** `notes` has no import key: only the node itself can know what it has written. */
const texts = (...values: Array<string | null>): IDataObject[] => values.map((text) => ({ text }));

describe.each(['create', 'upsert'])('%s', (operation) => {
	test('that throws writes nothing twice', async () => {
		const result = await harness.run(operation, { items: middleBad, retry });
		expect(result.error?.message).toContain("'state'");
		expect(result.error?.context?.itemIndex).toBe(2);
		expect(await harness.values('number')).toEqual(['1', '2', '3']);
		expect(await versions()).toEqual([0, 0, 0]);
	});

	test.each(['continueRegularOutput', 'continueErrorOutput'] as OnError[])(
		'whose first item fails writes nothing twice (%s)',
		async (onError) => {
			const result = await harness.run(operation, { items: firstBad, retry, onError });
			expect(await harness.values('number')).toEqual(['1', '2', '3']);
			expect(await versions()).toEqual([0, 0, 0]);
			const [good, bad] = [0, 1].map((output) => pairedIndexes(result.output('Data Platform', output)));
			const isApart = onError === 'continueErrorOutput';
			expect(good).toEqual(isApart ? [1, 2, 3] : [0, 1, 2, 3]);
			expect(bad).toEqual(isApart ? [0] : []);
		},
	);
});

describe('create without an import key', () => {
	// The platform rejects a record with this text in every attempt.
	beforeEach(() => harness.faults({ match: { path: '/data/bulk$' }, fault: { kind: 'failRecords', field: 'text', values: ['bad'] } }));

	test('that throws writes nothing twice', async () => {
		const items = texts('a', 'b', 'bad');
		const result = await harness.run('create', { table: 'notes', items, retry });
		expect(result.error?.context?.itemIndex).toBe(2);
		expect(await harness.values('text', 'notes')).toEqual(['a', 'b']);
	});

	test('that succeeds on the second attempt returns every item once', async () => {
		await harness.faults({
			match: { path: '/data/bulk$', bodyContains: '"bad"' },
			when: { first: 1 },
			fault: { kind: 'failRecords', field: 'text', values: ['bad'] },
		});
		const result = await harness.run('create', { table: 'notes', items: texts('a', 'bad', 'b'), retry });
		expect(result.error).toBeUndefined();
		expect(pairedIndexes(result.output('Data Platform'))).toEqual([0, 1, 2]);
		const stored = await harness.values('text', 'notes');
		expect([...stored].sort()).toEqual(['a', 'b', 'bad']);
	});
});

test('a create whose response was lost is not sent again by the second attempt', async () => {
	await harness.faults({ match: { path: '/data/bulk$' }, fault: { kind: 'resetAfter' } });
	const result = await harness.run('create', { table: 'notes', items: texts('a', 'b'), retry });
	expect(result.error?.message).toContain('Unknown whether this record was written');
	expect(await harness.values('text', 'notes')).toEqual(['a', 'b']);
});

test('the summary of a second try counts what the first has written', async () => {
	await harness.faults({ match: { path: '/data/bulk$' }, when: { nth: [2] }, fault: { kind: 'failRecords', indexes: [1] } });
	const result = await harness.run('create', {
		table: 'notes',
		items: texts('a', 'b', 'c', 'd'),
		options: { batchSize: 2, output: 'summary' },
		retry,
	});
	expect(result.json()).toMatchObject([{ inserted: 4, failed: 0 }]);
	expect((await harness.values('text', 'notes')).sort()).toEqual(['a', 'b', 'c', 'd']);
});

test('a delete does not look for records that the first attempt deleted', async () => {
	const stored = await harness.fill('orders', ...numbered(3));
	await harness.faults({ match: { method: 'DELETE', path: stored[1]!.id }, when: { first: 1 }, fault: { kind: 'status', status: 400 } });
	const result = await harness.run('delete', {
		items: stored.map(({ id }) => ({ id })),
		parameters: { recordId: '={{ $json.id }}' },
		retry,
	});
	expect(result.error).toBeUndefined();
	expect(outcomes(result)).toHaveLength(3);
	expect(await harness.records()).toEqual([]);
});

describe('Delete Many', () => {
	const everyOrder = {
		filterMode: 'conditions',
		matchType: 'or',
		conditions: {
			condition: [
				{ field: 'buyer', operator: 'notempty' },
				{ field: 'number', operator: 'eq', value: '-' },
			],
		},
	};
	const oneByOne = { method: 'DELETE', path: '/data/[^/]{20,}$' };
	const refuse = (nth: number) => harness.faults({ match: oneByOne, when: { nth: [nth] }, fault: { kind: 'status', status: 403 } });

	test('counts what the last try deleted, and says that there were others', async () => {
		await harness.fill('orders', ...numbered(5));
		await refuse(3);
		const result = await harness.run('deleteMany', { parameters: everyOrder, retry });
		expect(result.error).toBeUndefined();
		const [{ matched, deletedCount, ...rest }] = result.json() as [Record<string, number>];
		expect(matched).toBe(deletedCount);
		expect(matched).toBeLessThan(4);
		expect(rest).toEqual({ deleted: true, remaining: 0, attempt: 2 });
	});

	test('says in which try it failed', async () => {
		await harness.fill('orders', ...numbered(5));
		await harness.faults({ match: oneByOne, fault: { kind: 'status', status: 403 } });
		const result = await harness.run('deleteMany', { parameters: everyOrder, retry: { maxTries: 2 } });
		expect(result.error?.message).toMatch(/; 0 of 5 records were deleted in attempt 2$/);
		expect(result.error?.context?.details).toMatchObject({ outcome: 'failed', status: 403 });
	});
});

describe('what is kept for another attempt', () => {
	const kept = async (run: Run) => {
		const result = await harness.run('create', { items: firstBad, ...run });
		const { contextData } = result.run.data.executionData!;
		return JSON.stringify(contextData).includes('dataPlatformDone');
	};

	test.each<[string, Run]>([
		['without Retry On Fail', {}],
		['without Retry On Fail, if the workflow goes on', { onError: 'continueRegularOutput' }],
		['after the last try', { retry }],
		['after the last try, if the workflow goes on', { retry, onError: 'continueRegularOutput' }],
	])('is gone %s', async (_, run) => {
		expect(await kept(run)).toBe(false);
	});
});
