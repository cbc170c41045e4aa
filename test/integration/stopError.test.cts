/** What the error that stops a run contains for programs, as error workflows get it. */
import type { IDataObject } from 'n8n-workflow';
import { expectFailed, goingOn, note, numbered, order, UNKNOWN_ID, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

/** The error as n8n stores it with the execution and hands it to an error workflow. */
async function stoppedBy(operation: string, run: Run): Promise<IDataObject> {
	const result = await harness.run(operation, run);
	const { error } = result.run.data.resultData;
	expect(['NodeApiError', 'NodeOperationError']).toContain(error?.name);
	const stored = JSON.parse(JSON.stringify(error)) as { context: IDataObject };
	return stored.context.details as IDataObject;
}

test('the error of a rejected item has its outcome, item and key, and how far the run got', async () => {
	await harness.faults({ match: { path: '/data/bulk$' }, when: { nth: [2] }, fault: { kind: 'failRecords', indexes: [1] } });
	const details = await stoppedBy('create', { items: numbered(6), options: { batchSize: 2 } });
	expect(details).toMatchObject({ item: 3, outcome: 'failed', key: '4', items: 6, done: 3, confirmedThroughItem: 2 });
});

test('the error of an item with a wrong value has its field, and that nothing is done', async () => {
	expect(await stoppedBy('upsert', { items: [order(1), order(2, { price: 'x' }), order(3)] })).toEqual({
		...{ item: 1, outcome: 'failed', field: 'price', retryable: false },
		...{ items: 3, done: 0, confirmedThroughItem: null, requests: 1, waitedSeconds: 0 },
	});
});

test('the error of a write with an unknown outcome says that it must not be retried', async () => {
	await harness.faults({ match: { method: 'POST', path: '/data/bulk$' }, when: { nth: [2] }, fault: { kind: 'resetAfter' } });
	const details = await stoppedBy('create', { table: 'notes', items: [note('a'), note('b')], options: { batchSize: 1 } });
	const took = { requests: 3, waitedSeconds: 0 };
	expect(details).toEqual({ item: 1, outcome: 'unknown', retryable: false, items: 2, done: 1, confirmedThroughItem: 0, ...took });
});

test('the error of an item of a run that goes on says how many requests the run took', async () => {
	const items = [order(1), order(2, { price: 'x' })];
	expectFailed(await harness.run('upsert', { items, ...goingOn }), 1, "'price'", { requests: 2, waitedSeconds: 0 });
});

test.each<[string, string, Run, IDataObject]>([
	['a missing record', 'get', { parameters: { recordId: UNKNOWN_ID } }, { status: 404, items: 1, outcome: 'notFound' }],
	[
		'a token that the platform does not accept',
		'create',
		{ items: numbered(2), credential: { token: 'wrong' } },
		{ status: 401, items: 2 },
	],
	[
		'a URL that the token may not be sent to',
		'create',
		{ items: numbered(2), credential: { baseUrl: 'http://a.example.com' } },
		{ items: 2 },
	],
])('the error of %s has the status if there is one', async (_, operation, run, details) => {
	expect(await stoppedBy(operation, run)).toMatchObject({ item: 0, outcome: 'failed', done: 0, ...details });
});
