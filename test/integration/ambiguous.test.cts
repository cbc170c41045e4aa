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
		expect(outcomes(result)).toEqual(Array(3).fill(isWritten ? 'written' : 'unknown'));
		expect(await harness.values('number')).toEqual(isWritten ? ['1', '2', '3'] : []);
		expect(await harness.writes()).toHaveLength(1);
		if (isWritten) {
			const ids = (await harness.records()).map(({ id }) => id);
			expect(result.json().map(({ id }) => id)).toEqual(ids);
		} else {
			expectFailed(result, 0, "a look-up did not find the import key '1'");
		}
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

test('import keys of any kind are found again', async () => {
	await harness.faults(first({ kind: 'resetAfter' }));
	const named = ['Dog, jr.', "O'Brien", '(ü)', ' a ', 'A', 'a', 'x\\\\', 'y\\', '"q"', '%_*', '🦊'];
	const result = await harness.run('create', { items: named.map((number) => ({ number, buyer: 'x' })), ...goingOn });
	const stored = new Map((await harness.records()).map(({ id, fields }) => [id, fields.number]));
	expect(outcomes(result)).toEqual(named.map(() => 'written'));
	expect(result.json().map(({ id }) => stored.get(id as string))).toEqual(named);
});

test('an upsert whose every attempt fails is resolved by a look-up', async () => {
	await harness.faults({ match: bulk, fault: { kind: 'resetAfter' } });
	const result = await harness.run('upsert', { items: numbered(2), options: { maxRetryWait: 0.5 }, ...goingOn });
	expect(outcomes(result)).toEqual(['written', 'written']);
	expect(await harness.values('number')).toEqual(['1', '2']);
});
