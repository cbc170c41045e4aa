import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import { byId, expectFailed, goingOn, numbered, outcomes, useHarness } from './fixtures.cts';

const harness = useHarness();

const bulk = { path: '/data/bulk$' };
const first = (fault: FaultRule['fault']): FaultRule => ({ match: bulk, when: { nth: [1] }, fault });

/** How the response to the first batch gets lost. */
const losses: Array<[how: string, rule: FaultRule, isWritten: boolean]> = [
	['a reset after the write', first({ kind: 'resetAfter' }), true],
	['a timeout before the write', first({ kind: 'hang' }), false],
	['a gateway’s 502 before the write', first({ kind: 'html', status: 502 }), false],
];
const versions = async () => (await harness.records()).map(({ ver }) => ver);

describe.each(losses)('after %s', (_, rule, isWritten) => {
	// Short only where it matters: a busy machine must not time out a second time.
	const options = rule.fault.kind === 'hang' ? { timeout: 1 } : {};

	test('an upsert is sent again, and inserts each record once', async () => {
		await harness.faults(rule);
		const result = await harness.run('upsert', { items: numbered(3), options });
		expect(outcomes(result)).toEqual(Array(3).fill(isWritten ? 'written' : 'inserted'));
		expect(await harness.values('number')).toEqual(['1', '2', '3']);
		expect(await versions()).toEqual([0, 0, 0]);
		expect(await harness.writes()).toHaveLength(2);
		expect(
			result.hints.filter((hint) => /^The response to a request was lost, so it was sent again.* outcome 'written' /.test(hint)),
		).toHaveLength(1);
	});

	test('an update is sent again, and updates each record once', async () => {
		const stored = await harness.fill('orders', ...numbered(3));
		await harness.faults(rule);
		const result = await harness.run('update', { items: stored.map(({ id }) => ({ id, buyer: 'changed' })), parameters: byId, options });
		expect(outcomes(result)).toEqual(Array(3).fill(isWritten ? 'written' : 'updated'));
		expect(await harness.values('buyer')).toEqual(['changed', 'changed', 'changed']);
		expect(await versions()).toEqual([1, 1, 1]);
	});

	test('created records with an import key are looked up, and never sent again', async () => {
		await harness.faults(rule);
		const result = await harness.run('create', { items: numbered(3), options, ...goingOn });
		expect(outcomes(result)).toEqual(Array(3).fill('unknown'));
		expect(await harness.values('number')).toEqual(isWritten ? ['1', '2', '3'] : []);
		expect(await harness.writes()).toHaveLength(1);
		const [created] = await harness.records();
		const found = `the table has a record '${created?.id}' with its values, which may have been there before`;
		expectFailed(result, 0, created ? found : "a look-up did not find the key '1'");
	});

	test('it is unknown whether records without an import key were created, and the error says how to make it safe', async () => {
		await harness.faults(rule);
		const items = ['a', 'b'].map((text) => ({ text }));
		const result = await harness.run('create', { table: 'notes', items, options, ...goingOn });
		expect(outcomes(result)).toEqual(['unknown', 'unknown']);
		expectFailed(result, 0, 'Unknown whether this record was written');
		expect(result.json()[0]!.message).toContain("'Create or Update'");
		expect(await harness.records('notes')).toHaveLength(isWritten ? 2 : 0);
		expect(await harness.writes()).toHaveLength(1);
	});
});

test('a delete whose response is lost finds the record gone, and that is a success', async () => {
	const [stored] = await harness.fill('orders', { number: '1', buyer: 'old' });
	await harness.faults({ match: { method: 'DELETE' }, when: { first: 1 }, fault: { kind: 'resetAfter' } });
	const result = await harness.run('delete', { parameters: { recordId: stored!.id } });
	expect(result.json()).toMatchObject([{ deleted: true, id: stored!.id }]);
});

test('a record that was there before is not taken for one that was never created', async () => {
	const [item] = numbered(1);
	const [twin] = await harness.fill('orders', item!);
	await harness.faults(first({ kind: 'resetBefore' }));
	const result = await harness.run('create', { items: [item!], ...goingOn });
	expect(outcomes(result)).toEqual(['unknown']);
	expectFailed(result, 0, `the table has a record '${twin!.id}' with its values, which may have been there before`);
});

describe('bulk responses in another order', () => {
	const six = numbered(6);
	const stored = async (key: string) => new Map((await harness.records()).map(({ id, fields }) => [id, fields[key]]));
	const reads = async () => (await harness.requests()).filter(({ path }) => path.endsWith('/data/filter')).length;

	test.each(['create', 'upsert'])('%s: each item gets its own ID, at the price of one request', async (operation) => {
		await harness.settings({ bulkOrder: 'other' });
		const result = await harness.run(operation, { items: six, isOrderShown: false });
		const numbers = await stored('number');
		expect(result.json().map(({ id }) => numbers.get(id as string))).toEqual(six.map(({ number }) => number));
		expect(outcomes(result)).toEqual(Array(6).fill('inserted'));
		expect(await reads()).toBe(1);
	});

	test('in the order of the request, that is read once in a process', async () => {
		await harness.run('create', { items: six, isOrderShown: false });
		expect(await reads()).toBe(1);
		await harness.run('upsert', { items: numbered(9).slice(6), isWarm: true });
		expect(await reads()).toBe(1);
	});

	test('what can not be told apart has no ID, and a notice says so', async () => {
		await harness.settings({ bulkOrder: 'other' });
		const items = ['a', 'a', 'b'].map((text) => ({ text }));
		const result = await harness.run('create', { table: 'notes', items, isOrderShown: false });
		const texts = new Map((await harness.records('notes')).map(({ id, fields }) => [id, fields.text]));
		expect(outcomes(result)).toEqual(Array(3).fill('inserted'));
		expect(result.json().map(({ id }) => texts.get(id as string))).toEqual([undefined, undefined, 'b']);
		expect(result.hints.join()).toContain('2 records got no ID');
	});
});

test('import keys of any kind are found again', async () => {
	await harness.faults(first({ kind: 'resetAfter' }));
	const named = ['Dog, jr.', "O'Brien", '(ü)', ' a ', 'A', 'a', 'x\\\\', 'y\\', '"q"', '%_*', '🦊'];
	const result = await harness.run('create', { items: named.map((number) => ({ number, buyer: 'x' })), ...goingOn });
	const records = await harness.records();
	expect(records.map(({ fields }) => fields.number)).toEqual(named);
	records.forEach(({ id }, index) => expectFailed(result, index, `the table has a record '${id}' with its values`));
});

test('an upsert whose every attempt fails is resolved by a look-up', async () => {
	await harness.faults({ match: bulk, fault: { kind: 'resetAfter' } });
	const result = await harness.run('upsert', { items: numbered(2), options: { maxRetryWait: 0.5 }, ...goingOn });
	expect(outcomes(result)).toEqual(['written', 'written']);
	expect(await harness.values('number')).toEqual(['1', '2']);
});
