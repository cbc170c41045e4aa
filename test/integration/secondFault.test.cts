/**
 * A response that is lost, and a second attempt that is rejected: what the first one did counts.
 */
import type { IDataObject } from 'n8n-workflow';
import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import { numbered, outcomes, useHarness, type Run } from './fixtures.cts';
import { useOtherWriter } from './otherWriter.cts';

const harness = useHarness();
const otherWriter = useOtherWriter(harness);

type Fault = FaultRule['fault'];

const inTurn = (match: FaultRule['match'], ...faults: Fault[]) =>
	harness.faults(...faults.map((fault, index) => ({ match, when: { nth: [index + 1] }, fault })));

const pairs: Array<[name: string, lost: Fault, refused: Fault]> = [
	['a reset, then 400', { kind: 'resetAfter' }, { kind: 'status', status: 400 }],
	['a reset, then 403', { kind: 'resetAfter' }, { kind: 'status', status: 403 }],
	['a reset, then 413', { kind: 'resetAfter' }, { kind: 'status', status: 413 }],
	['a response cut short, then 400', { kind: 'truncate' }, { kind: 'status', status: 400 }],
];

const matched: Partial<Run> = { parameters: { matchOn: 'fields', matchFields: ['buyer'] } };
const skipping: Partial<Run> = { options: { skipUnchanged: true } };

describe.each(pairs)('%s', (_, lost, refused) => {
	test.each<[string, IDataObject, Partial<Run>, string]>([
		['update', { buyer: 'new' }, {}, 'written'],
		['update', { buyer: 'new' }, skipping, 'updated'],
		['upsert', { number: '1', buyer: 'new' }, {}, 'written'],
		['upsert', { number: '2', buyer: 'new' }, {}, 'written'],
		['upsert', { number: '2', buyer: 'new' }, skipping, 'inserted'],
		['upsert', { buyer: 'old', price: 5 }, matched, 'written'],
		['upsert', { buyer: 'old', price: 5 }, { ...matched, ...skipping }, 'updated'],
	])('%s %j %j: %4$s', async (operation, item, run, outcome) => {
		const [stored] = await harness.fill('orders', { number: '1', buyer: 'old' });
		await inTurn({ path: '/data/bulk$' }, lost, refused);
		const result = await harness.run(operation, {
			items: [item],
			...(operation === 'update' && { parameters: { recordId: stored!.id } }),
			...run,
		});
		expect(result.error).toBeUndefined();
		expect(result.json()).toMatchObject([{ outcome, ...item }]);
	});

	test('Delete', async () => {
		const [stored] = await harness.fill('orders', ...numbered(1));
		await inTurn({ method: 'DELETE' }, lost, refused);
		const result = await harness.run('delete', { parameters: { recordId: stored!.id } });
		expect(result.error).toBeUndefined();
		expect(result.json()).toEqual([{ deleted: true, id: stored!.id }]);
	});

	test('a deletion of Sync', async () => {
		await harness.fill('orders', ...numbered(3));
		await inTurn({ method: 'DELETE' }, lost, refused);
		const result = await harness.run('sync', {
			items: numbered(1),
			parameters: { missingRecords: 'delete', maxRecordsToRemove: 100, maxShareToRemove: 100 },
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

describe.each<[string, Partial<Run>]>([
	['update', { items: [{ buyer: 'new' }] }],
	['upsert', { items: [{ number: '1', buyer: 'new' }] }],
	['delete', {}],
])('%s, lost and then rejected', (operation, parts) => {
	const rejection: Fault = { kind: 'status', status: 400 };

	/** @param reads a fault of the look-ups */
	const runWith = async (lost: Fault, reads?: Fault) => {
		const [stored] = await harness.fill('orders', { number: '1', buyer: 'old' });
		const methods = { update: 'PATCH', upsert: 'POST', delete: 'DELETE' };
		const match = { method: methods[operation as keyof typeof methods], path: '/data/(bulk|[^/]{20,})$' };
		await harness.faults(
			...[lost, rejection].map((fault, index) => ({ match, when: { nth: [index + 1] }, fault })),
			...(reads
				? [
						{ match: { path: 'filter$' }, fault: reads },
						{ match: { method: 'GET', path: '/data/[^/]{20,}$' }, fault: reads },
					]
				: []),
		);
		return await harness.run(operation, {
			...parts,
			...(operation !== 'upsert' && { parameters: { recordId: stored!.id } }),
			...(lost.kind === 'hang' && { options: { timeout: 0.5 } }),
			onError: 'continueRegularOutput',
		});
	};

	test('stays rejected if the record shows that it was not applied', async () => {
		const result = await runWith({ kind: 'resetBefore' });
		expect(outcomes(result)).toEqual(['failed']);
		if (operation === 'delete') return;
		expect(result.json()[0]!.error).toContain(`the record holds "old" in 'buyer'`);
	});

	test('is unknown if it may still be applied', async () => {
		expect(outcomes(await runWith({ kind: 'hang' }))).toEqual(['unknown']);
	});

	test('is unknown if it can’t be looked up', async () => {
		const result = await runWith({ kind: 'resetBefore' }, { kind: 'status', status: 403 });
		expect(outcomes(result)).toEqual(['unknown']);
	});
});

test.each<[string, Partial<Run>]>([
	['by its import key', skipping],
	['by other fields', matched],
	['by its ID', { parameters: { matchOn: 'recordId', recordId: '={{ $json.id }}' } }],
])('an update is lost, its record deleted, and a new one rejected: unknown, if found %s', async (_, run) => {
	const [stored] = await harness.fill('orders', { number: '1', buyer: 'old' });
	await harness.faults(
		{ match: { method: 'PATCH' }, when: { nth: [1] }, fault: { kind: 'resetAfter' } },
		{ match: { method: 'POST', path: '/data/bulk$' }, fault: { kind: 'status', status: 400 } },
	);
	let updates = 0;
	otherWriter.before(async (target) => {
		if (target !== 'PATCH /data/bulk') return;
		updates += 1;
		const path = `/apps/shop/tables/orders/data/${stored!.id}`;
		if (updates === 2) await harness.sandbox.client().delete(path);
	});
	const result = await harness.run('upsert', {
		items: [{ id: stored!.id, number: '1', buyer: 'old', price: 5 }],
		credential: otherWriter.credential(),
		onError: 'continueRegularOutput',
		...run,
	});
	expect(outcomes(result)).toEqual(['unknown']);
	expect(result.json()[0]!.error).toContain('a retry was rejected');
});
