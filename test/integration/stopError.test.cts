import type { IDataObject } from 'n8n-workflow';
import { picked } from '../support/engine/engine.cts';
import { numbered, useHarness, type Run } from './fixtures.cts';

/** What the error that stops a run contains for programs, as error workflows get it. */
const harness = useHarness();

/** The error as n8n stores it with the execution and hands it to an error workflow. */
async function stoppedBy(operation: string, run: Run): Promise<IDataObject> {
	const result = await harness.run(operation, run);
	const { error } = result.run.data.resultData;
	expect(['NodeApiError', 'NodeOperationError']).toContain(error?.name);
	const stored = JSON.parse(JSON.stringify(error)) as { context: IDataObject };
	return stored.context.details as IDataObject;
}

test('a rejected item in the middle: outcome, item, status, code, and how far the run got', async () => {
	await harness.faults({ match: { path: '/data/bulk$' }, when: { nth: [2] }, fault: { kind: 'failRecords', indexes: [1] } });
	const details = await stoppedBy('create', { items: numbered(6), options: { batchSize: 2 } });
	expect(details).toMatchObject({ item: 3, outcome: 'failed', key: '4', items: 6, done: 3, confirmedThroughItem: 2 });
});

test('an item with a wrong value: its field, and that nothing is done', async () => {
	const items = numbered(3).map((item, index) => (index === 1 ? { ...item, price: 'x' } : item));
	expect(await stoppedBy('upsert', { items })).toEqual({
		item: 1,
		outcome: 'failed',
		field: 'price',
		retryable: false,
		items: 3,
		done: 0,
		confirmedThroughItem: null,
	});
});

test('a write with an unknown outcome', async () => {
	await harness.faults({ match: { method: 'POST', path: '/data/bulk$' }, when: { nth: [2] }, fault: { kind: 'resetAfter' } });
	const details = await stoppedBy('create', { table: 'notes', items: [{ text: 'a' }, { text: 'b' }], options: { batchSize: 1 } });
	expect(details).toEqual({ item: 1, outcome: 'unknown', retryable: false, items: 2, done: 1, confirmedThroughItem: 0 });
});

test('a missing record: its status', async () => {
	const details = await stoppedBy('get', { parameters: { recordId: picked('5f0c9f0e-3b1a-4f43-9a51-0a9c1df7a1b2') } });
	expect(details).toMatchObject({ item: 0, outcome: 'failed', status: 404, items: 1, done: 0 });
});

test('a token that the platform does not accept', async () => {
	const credential = { token: 'wrong-token' };
	const details = await stoppedBy('create', { items: numbered(2), credential });
	expect(details).toMatchObject({ item: 0, outcome: 'failed', status: 401, done: 0 });
});

test('a URL that the token may not be sent to', async () => {
	const credential = { baseUrl: 'http://platform.example.com' };
	const details = await stoppedBy('create', { items: numbered(2), credential });
	expect(details).toMatchObject({ item: 0, outcome: 'failed', done: 0 });
});
