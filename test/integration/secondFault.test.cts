/**
 * A response that is lost, and a second attempt that is rejected: what the first one did counts.
 */
import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import { outcomes, useHarness, type Run } from './fixtures.cts';
import { useOtherWriter } from './otherWriter.cts';

const harness = useHarness();
const otherWriter = useOtherWriter(harness);

type Fault = FaultRule['fault'];

const matched: Partial<Run> = { parameters: { matchOn: 'fields', matchFields: ['buyer'] } };
const skipping: Partial<Run> = { options: { skipUnchanged: true } };

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
