/** A platform whose times are whole seconds, so that equal times prove nothing. */
import type { IDataObject } from 'n8n-workflow';
import { numbered, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

/** Waits until a second starts, so that everything that follows happens within it. */
const untilNextSecond = async () =>
	await new Promise((resolve) => setTimeout(resolve, 1000 - (Date.now() % 1000)));

const lost = (operation: string) => ({
	match: { method: 'POST', path: operation.endsWith('Many') ? 'bulk$' : 'data$' },
	when: { nth: [1] },
	fault: { kind: 'resetAfter' },
});

const items: IDataObject[] = [
	{ number: 'old', buyer: 'changed' },
	{ number: 'same', buyer: 'same' },
	{ number: 'new', buyer: 'new' },
];

beforeEach(async () => {
	await harness.settings({ timePrecisionMs: 1000 });
});

/** Stores the records, and runs the operation within the same second. */
const run = async (operation: string, { more = 0, ...rest }: Run & { more?: number } = {}) => {
	await untilNextSecond();
	await harness.fill(
		'orders',
		{ number: 'old', buyer: 'old' },
		{ number: 'same', buyer: 'same' },
		...numbered(more),
	);
	return await harness.run(operation, { items, ...rest });
};

describe.each([0, 9, 40, 1100])('beside %i records of the same second', (more) => {
	test.each<[string, Run]>([
		['upsert', {}],
		['upsertMany', {}],
		['upsertMany', { options: { batchSize: 1 } }],
		['upsertMany', { options: { skipUnchanged: true } }],
		['syncMany', {}],
	])('%s %j', async (operation, rest) => {
		const result = await run(operation, { more, ...rest });
		expect(outcomes(result)).toEqual(['updated', 'unchanged', 'inserted']);
	});

	test.each<[string, Run]>([
		['upsert', {}],
		['upsertMany', {}],
	])('%s whose response is lost', async (operation, rest) => {
		await harness.faults(lost(operation));
		const result = await run(operation, { more, ...rest });
		expect(outcomes(result)).toEqual(['updated', 'unchanged', 'inserted']);
	});

	test('upsertMany with counts that don’t say which', async () => {
		await harness.settings({ updatedCount: false });
		const result = await run('upsertMany', { more });
		expect(outcomes(result)).toEqual(['updated', 'unchanged', 'inserted']);
	});
});

test('records that another item of the run has written in the same second', async () => {
	const twice = [...items, { number: 'new', buyer: 'newer' }, { number: 'new', buyer: 'newer' }];
	const result = await run('upsert', { items: twice });
	expect(outcomes(result)).toEqual(['updated', 'unchanged', 'inserted', 'updated', 'unchanged']);
});

test('a create whose response is lost is found, an older record with its key is not', async () => {
	await harness.faults(lost('createMany'));
	const result = await run('createMany', {
		items: [{ number: 'new', buyer: 'new' }],
		onError: 'continueRegularOutput',
	});
	expect(outcomes(result)).toEqual(['inserted']);
	await harness.faults({ ...lost('createMany'), fault: { kind: 'resetBefore' } });
	const again = await harness.run('createMany', {
		items: [{ number: 'new', buyer: 'new' }],
		onError: 'continueRegularOutput',
	});
	expect(outcomes(again)).toEqual(['unknown']);
});
