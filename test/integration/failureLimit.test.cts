/** Max Failures (%), in the operations that write many records. */
import type { IDataObject } from 'n8n-workflow';
import { goingOn, numbered, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

/** The platform rejects each record whose buyer is `Bad`. */
const items = (count: number, isBad: (index: number) => boolean) =>
	numbered(count).map((item, index) => (isBad(index) ? { ...item, buyer: 'Bad' } : item));

const reject = () => harness.faults({ match: { path: '/data/bulk$' }, fault: { kind: 'failRecords', field: 'buyer', values: ['Bad'] } });

const run = (operation: string, given: IDataObject[], options: IDataObject, more: Run = {}) =>
	harness.run(operation, { items: given, options: { batchSize: 50, parallelRequests: 1, ...options }, ...more });

const count = (all: unknown[], outcome: string) => all.filter((one) => one === outcome).length;

test.each(['create', 'upsert', 'sync'])('%s sends nothing more after too many rejections, and each item says so', async (operation) => {
	await reject();
	const given = items(400, (index) => index % 5 === 0);
	const result = await run(operation, given, { maxFailedShare: 10 }, goingOn);
	const all = outcomes(result);
	expect(count(all, 'inserted')).toBe(80);
	expect(count(all, 'failed')).toBe(320);
	const last = result.json().at(-1);
	expect(last).toMatchObject({
		error: 'Not sent, the run stopped before: more than 10 % of the items fail (20 of the first 100 that were written failed)',
		details: { outcome: 'failed', code: 'tooManyFailed' },
	});
	expect(await harness.records()).toHaveLength(80);
});

test('after too many rejections, the error that stops the node says so in its text and in its details', async () => {
	await reject();
	const given = items(400, (index) => index >= 60 && index % 2 === 0);
	const result = await run('upsert', given, { maxFailedShare: 10 });
	expect(result.error?.description).toMatch(
		/Stopped, because more than 10 % of the items fail \(20 of the first 100 that were written failed\)\. 80 of 400 items are done, all confirmed through item 59\.$/,
	);
	const details = { item: 60, outcome: 'failed', items: 400, done: 80, confirmedThroughItem: 59, stopped: 'tooManyFailed' };
	expect(result.error?.context?.details).toMatchObject(details);
});

test('if fewer items fail than Max Failures allows, all others are written, even if the node stops at an error', async () => {
	await reject();
	const given = items(400, (index) => index % 20 === 0);
	const result = await run('upsert', given, { maxFailedShare: 10 });
	expect(result.error?.context?.details).toMatchObject({ item: 0, done: 380 });
	expect(result.error?.context?.details).not.toHaveProperty('stopped');
	expect(await harness.records()).toHaveLength(380);
});

test('if too many items have problems before anything is sent, nothing is sent', async () => {
	const given = numbered(20).map((item, index) => (index < 3 ? { ...item, price: 'x' } : item));
	const result = await run('create', given, { maxFailedShare: 10 }, goingOn);
	expect(count(outcomes(result), 'failed')).toBe(20);
	expect(result.json().at(-1)?.error).toContain('(3 of 20 items have problems)');
	expect(await harness.writes()).toEqual([]);
	const enough = await run('create', given, { maxFailedShare: 15 }, goingOn);
	expect(count(outcomes(enough), 'inserted')).toBe(17);
});

test('after too many rejections, the summary says why it stopped, and how far it got', async () => {
	await reject();
	const given = items(300, (index) => index >= 50);
	const result = await run('upsert', given, { maxFailedShare: 50, output: 'summary' }, goingOn);
	const stopped = expect.stringContaining('more than 50 % of the items fail');
	expect(result.json()).toMatchObject([{ inserted: 50, failed: 250, stopped, confirmedThroughItem: 49 }]);
});
