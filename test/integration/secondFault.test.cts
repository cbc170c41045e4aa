/**
 * A response that is lost, and a second attempt that is rejected: what the first one did counts.
 */
import type { IDataObject } from 'n8n-workflow';
import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import { numbered, outcomes, useHarness, type Run } from './fixtures.cts';

const harness = useHarness();

type Fault = FaultRule['fault'];

const inTurn = (match: FaultRule['match'], ...faults: Fault[]) =>
	harness.faults(...faults.map((fault, index) => ({ match, when: { nth: [index + 1] }, fault })));

const refusals = [400, 401, 403, 413, 422].map((status): [string, Fault] => [
	String(status),
	{ kind: 'status', status },
]);
const pairs = refusals.flatMap(([name, refusal]) =>
	(['resetAfter', 'truncate'] as const).map((kind): [string, Fault, Fault] => [
		`${kind}, then ${name}`,
		{ kind },
		refusal,
	]),
);

describe.each(pairs)('%s', (_, lost, refused) => {
	test('Update', async () => {
		const [stored] = await harness.fill('orders', { number: '1', buyer: 'old' });
		await inTurn({ method: 'PATCH' }, lost, refused);
		const result = await harness.run('update', {
			items: [{ buyer: 'new' }],
			parameters: { recordId: stored!.id },
		});
		expect(result.error).toBeUndefined();
		expect(result.json()).toMatchObject([{ id: stored!.id, buyer: 'new', number: '1', ver: 1 }]);
	});

	test.each<[string, IDataObject, string, string]>([
		['Create or Update', { number: '1', buyer: 'new' }, 'POST', 'updated'],
		['Create or Update', { number: '2', buyer: 'new' }, 'POST', 'inserted'],
		['Create or Update, matched', { buyer: 'old', price: 5 }, 'PATCH', 'updated'],
	])('%s of %j', async (name, item, method, outcome) => {
		await harness.fill('orders', { number: '1', buyer: 'old' });
		await inTurn({ method, path: '/data(/[^/]{20,})?$' }, lost, refused);
		const result = await harness.run('upsert', {
			items: [item],
			...(name.endsWith('matched') && {
				parameters: { matchOn: 'fields', matchFields: ['buyer'] },
			}),
		});
		expect(result.error).toBeUndefined();
		// With a match, the found record only proves that it has the values.
		expect(result.json()).toMatchObject([{ outcome, ...item }]);
	});

	test('Delete', async () => {
		const [stored] = await harness.fill('orders', ...numbered(1));
		await inTurn({ method: 'DELETE' }, lost, refused);
		const result = await harness.run('delete', { parameters: { recordId: stored!.id } });
		expect(result.error).toBeUndefined();
		expect(result.json()).toEqual([{ deleted: true, id: stored!.id }]);
	});

	test('a deletion of Sync Many', async () => {
		await harness.fill('orders', ...numbered(3));
		await inTurn({ method: 'DELETE' }, lost, refused);
		const result = await harness.run('syncMany', {
			items: numbered(1),
			parameters: {
				missingRecords: 'delete',
				maxRecordsToRemove: 100,
				maxShareToRemove: 100,
			},
		});
		expect(result.error).toBeUndefined();
		expect(outcomes(result)).toEqual(['unchanged', 'deleted', 'deleted']);
		expect(await harness.values('number')).toEqual(['1']);
	});

	test('Delete Many', async () => {
		await harness.fill('orders', ...numbered(2));
		await inTurn({ method: 'DELETE', path: '/data/[^/]{20,}$' }, lost, refused);
		const result = await harness.run('deleteMany', {
			parameters: {
				filterMode: 'conditions',
				matchType: 'or',
				conditions: {
					condition: [
						{ field: 'number', operator: 'eq', value: '1' },
						{ field: 'number', operator: 'eq', value: '2' },
					],
				},
			},
		});
		expect(result.error).toBeUndefined();
		expect(result.json()).toMatchObject([{ deletedCount: 2, remaining: 0 }]);
	});
});

describe('what was not applied stays rejected', () => {
	const before: Fault = { kind: 'resetBefore' };
	const refused: Fault = { kind: 'status', status: 403 };

	test.each<[string, string, Run]>([
		['upsert', 'POST', { items: [{ number: '1', buyer: 'new' }] }],
		['delete', 'DELETE', {}],
		// Nothing was read before, so another writer may have changed what an attempt wrote.
		['update', 'PATCH', { items: [{ buyer: 'new' }] }],
	])('%s', async (operation, method, run) => {
		const [stored] = await harness.fill('orders', { number: '1', buyer: 'old' });
		await inTurn({ method, path: '/data(/[^/]{20,})?$' }, before, refused);
		const result = await harness.run(operation, {
			...run,
			...(operation !== 'upsert' && { parameters: { recordId: stored!.id } }),
			onError: 'continueRegularOutput',
		});
		expect(outcomes(result)).toEqual([operation === 'update' ? 'unknown' : 'failed']);
		expect(result.json()[0]!.details).toMatchObject({ status: 403 });
		expect(await harness.values('buyer')).toEqual(['old']);
	});

	test.each<[string, string, Run]>([
		['update', 'PATCH', { items: [{ buyer: 'new' }] }],
		['upsert', 'POST', { items: [{ number: '1', buyer: 'new' }] }],
		['delete', 'DELETE', {}],
	])('%s that may still be applied is unknown', async (operation, method, run) => {
		const [stored] = await harness.fill('orders', { number: '1', buyer: 'old' });
		await inTurn({ method, path: '/data(/[^/]{20,})?$' }, { kind: 'hang' }, refused);
		const result = await harness.run(operation, {
			...run,
			...(operation !== 'upsert' && { parameters: { recordId: stored!.id } }),
			options: { timeout: 0.25 },
			onError: 'continueRegularOutput',
		});
		expect(outcomes(result)).toEqual(['unknown']);
	});

	test.each<[string, string, Run]>([
		['update', 'PATCH', { items: [{ buyer: 'new' }] }],
		['upsert', 'POST', { items: [{ number: '1', buyer: 'new' }] }],
		['delete', 'DELETE', {}],
	])('%s that can’t be looked up is unknown', async (operation, method, run) => {
		const [stored] = await harness.fill('orders', { number: '1', buyer: 'old' });
		await inTurn({ method, path: '/data(/[^/]{20,})?$' }, before, refused);
		const reads = {
			match: {
				path: operation === 'upsert' ? 'filter$' : '/data/[^/]{20,}$',
				method: operation === 'upsert' ? 'POST' : 'GET',
			},
			fault: refused,
		};
		const rules = [before, refused].map((fault, index) => ({
			match: { method, path: '/data(/[^/]{20,})?$' },
			when: { nth: [index + 1] },
			fault,
		}));
		await harness.faults(...rules, reads);
		const result = await harness.run(operation, {
			...run,
			...(operation !== 'upsert' && { parameters: { recordId: stored!.id } }),
			onError: 'continueRegularOutput',
		});
		expect(outcomes(result)).toEqual(['unknown']);
	});
});

test('a record of many that is written again by itself', async () => {
	const [stored] = await harness.fill('orders', { number: '1', buyer: 'x', tags: ['a', 'b'] });
	const alone = { method: 'PATCH', path: `${stored!.id}$` };
	await harness.faults(
		// The response leaves the item out, and the record does not show whether it was written.
		{ match: { path: 'bulk$' }, fault: { kind: 'skipRecords', indexes: [0] } },
		{ match: alone, when: { nth: [1] }, fault: { kind: 'resetAfter' } },
		{ match: alone, when: { nth: [2] }, fault: { kind: 'status', status: 403 } },
	);
	const result = await harness.run('updateMany', {
		items: [{ id: stored!.id, tags: ['b', 'a'] }],
		parameters: { recordId: '={{ $json.id }}' },
	});
	expect(result.error).toBeUndefined();
	expect(outcomes(result)).toEqual(['updated']);
	expect(await harness.values('tags')).toEqual([['b', 'a']]);
});
