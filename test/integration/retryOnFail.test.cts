/** n8n's Retry On Fail runs the whole node again: after an error, or after an error item first. */
import { byId, goingOn, note, numbered, order, outcomes, pairedIndexes, useHarness, where, type Run } from './fixtures.cts';

const harness = useHarness();

const retry = { maxTries: 3, waitBetweenTries: 1 };
const refused = { number: 'bad', buyer: 'x', state: 'lost' };
const firstBad = [refused, ...numbered(3)];
const middleBad = [order(1), order(2), refused, order(3)];
const bulk = { path: '/data/bulk$' };

/** The orders that are stored, each with its version. */
const stored = async () => (await harness.records()).map(({ fields, ver }) => [fields.number, ver]);
const eachOnce = [
	['1', 0],
	['2', 0],
	['3', 0],
];

/** `notes` has no import key: only the node itself can know what it has written. */
const createNotes = async (texts: string, run: Run = {}) =>
	await harness.run('create', { table: 'notes', items: texts.split(' ').map((text) => note(text)), retry, ...run });
const storedNotes = async () => (await harness.values('text', 'notes')).sort();

describe.each(['create', 'upsert'])('%s', (operation) => {
	test('a node that throws writes nothing twice', async () => {
		const result = await harness.run(operation, { items: middleBad, retry });
		expect(result.error?.message).toContain("'state'");
		expect(result.error?.context?.itemIndex).toBe(2);
		expect(await stored()).toEqual(eachOnce);
	});

	test.each([
		['continueRegularOutput', [0, 1, 2, 3], []],
		['continueErrorOutput', [1, 2, 3], [0]],
	] as const)('a node whose first item fails writes nothing twice (%s)', async (onError, good, bad) => {
		const result = await harness.run(operation, { items: firstBad, retry, onError });
		expect(await stored()).toEqual(eachOnce);
		expect([0, 1].map((output) => pairedIndexes(result.output('Data Platform', output)))).toEqual([good, bad]);
	});
});

describe('create without an import key', () => {
	const badIsRejected = { kind: 'failRecords', field: 'text', values: ['bad'] };

	test('a node that throws writes nothing twice', async () => {
		await harness.faults({ match: bulk, fault: badIsRejected });
		const result = await createNotes('a b bad');
		expect(result.error?.context?.itemIndex).toBe(2);
		expect(await storedNotes()).toEqual(['a', 'b']);
	});

	test('a node that succeeds on the second attempt returns every item once', async () => {
		await harness.faults({ match: { ...bulk, bodyContains: '"bad"' }, when: { first: 1 }, fault: badIsRejected });
		const result = await createNotes('a bad b');
		expect(result.error).toBeUndefined();
		expect(pairedIndexes(result.output('Data Platform'))).toEqual([0, 1, 2]);
		expect(await storedNotes()).toEqual(['a', 'b', 'bad']);
	});

	test('a write whose response was lost is not sent again by the second attempt', async () => {
		await harness.faults({ match: bulk, fault: { kind: 'resetAfter' } });
		const result = await createNotes('a b');
		expect(result.error?.message).toContain('Unknown whether this record was written');
		expect(await storedNotes()).toEqual(['a', 'b']);
	});

	test('the summary of a second attempt counts what the first has written', async () => {
		await harness.faults({ match: bulk, when: { nth: [2] }, fault: { kind: 'failRecords', indexes: [1] } });
		const result = await createNotes('a b c d', { options: { batchSize: 2, output: 'summary' } });
		expect(result.json()).toMatchObject([{ inserted: 4, failed: 0 }]);
		expect(await storedNotes()).toEqual(['a', 'b', 'c', 'd']);
	});
});

test('a delete does not look for records that the first attempt deleted', async () => {
	const items = (await harness.fill('orders', ...numbered(3))).map(({ id }) => ({ id }));
	await harness.faults({ match: { method: 'DELETE', path: items[1]!.id }, when: { first: 1 }, fault: { kind: 'status', status: 400 } });
	const result = await harness.run('delete', { items, parameters: byId, retry });
	expect(result.error).toBeUndefined();
	expect(outcomes(result)).toHaveLength(3);
	expect(await harness.records()).toEqual([]);
});

describe('Delete Many', () => {
	const everyOrder = {
		matchType: 'or',
		...where({ field: 'buyer', operator: 'notempty' }, { field: 'number', operator: 'eq', value: '-' }),
	};
	const denied = { match: { method: 'DELETE', path: '/data/[^/]{20,}$' }, fault: { kind: 'status', status: 403 } };
	beforeEach(() => harness.fill('orders', ...numbered(5)));

	test('the second attempt counts what it deleted itself, and says that it is the second', async () => {
		await harness.faults({ ...denied, when: { nth: [3] } });
		const result = await harness.run('deleteMany', { parameters: everyOrder, retry });
		expect(result.error).toBeUndefined();
		const [{ matched, deletedCount, records, ...rest }] = result.json() as [Record<string, number>];
		expect(records).toHaveLength(deletedCount!);
		expect(matched).toBe(deletedCount);
		expect(matched).toBeLessThan(4);
		expect(rest).toEqual({ deleted: true, remaining: 0, attempt: 2 });
	});

	test('the error says in which attempt the deletion failed', async () => {
		await harness.faults(denied);
		const result = await harness.run('deleteMany', { parameters: everyOrder, retry: { maxTries: 2 } });
		expect(result.error?.message).toMatch(/; 0 of 5 records were deleted in attempt 2$/);
		expect(result.error?.context?.details).toMatchObject({ outcome: 'failed', status: 403 });
	});
});

test.each<[string, Run]>([
	['without Retry On Fail', {}],
	['without Retry On Fail, if the workflow goes on', goingOn],
	['after the last try', { retry }],
	['after the last try, if the workflow goes on', { retry, ...goingOn }],
])('what is kept for another attempt is gone %s', async (_, run) => {
	const result = await harness.run('create', { items: firstBad, ...run });
	expect(JSON.stringify(result.run.data.executionData!.contextData)).not.toContain('dataPlatformDone');
});
