/** The webhook trigger, called through n8n's engine, with records of a sandbox. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { picked } from '../support/engine/engine.cts';
import { listen } from '../support/engine/webhooks.cts';
import { APP, useHarness } from './fixtures.cts';

const harness = useHarness();

const SECRET = 'a long random text';
const authorized = { authorization: `Bearer ${SECRET}` };

const start = (parameters: IDataObject = {}, options: Parameters<typeof listen>[2] = {}) =>
	listen(
		{ ...harness.credential, webhookSecret: SECRET },
		{
			application: picked(APP),
			table: picked('orders'),
			...parameters,
		} as INodeParameters,
		options,
	);

const path = (rest = '') => `/apps/${APP}/tables/orders/data${rest}`;

async function create(number: string): Promise<string> {
	const { data } = await harness.sandbox
		.client()
		.post(path(), { fields: { number, buyer: 'Fox' } });
	return (data as { data: { id: string } }).data.id;
}

const update = (id: string, buyer: string) =>
	harness.sandbox.client().patch(path(`/${id}`), { fields: { buyer } });
const remove = (id: string) => harness.sandbox.client().delete(path(`/${id}`));

describe('who may call', () => {
	test.each([
		['without the header', {}],
		['with another secret', { authorization: 'Bearer a long random tex' }],
		['with the secret and more', { authorization: `Bearer ${SECRET}!` }],
		['with another scheme', { authorization: `Basic ${SECRET}` }],
		['with nothing after the scheme', { authorization: 'Bearer ' }],
		["with the platform's token", { authorization: 'Bearer sandbox' }],
	])('nobody %s', async (_, headers) => {
		const workflow = await start();
		const id = await create('1');
		await harness.sandbox.admin.clearRequests();
		expect(await workflow.receive({ recordId: id }, headers as Record<string, string>)).toEqual({
			status: 401,
			items: undefined,
		});
		expect(await harness.requests()).toEqual([]);
	});

	test('nobody at all, while the credential has no secret', async () => {
		const workflow = await listen({ ...harness.credential }, { table: picked('orders') } as never);
		const { status } = await workflow.receive({ recordId: 'x' }, { authorization: 'Bearer ' });
		expect(status).toBe(401);
		await expect(workflow.activate()).rejects.toThrow("The credential has no 'Webhook Secret'");
	});

	test('with a secret it can be activated', async () => {
		await (await start()).activate();
	});
});

describe('what it takes', () => {
	test.each([
		['nothing', undefined],
		['null', null],
		['text', 'recordId'],
		['a list', [{ recordId: 'x' }]],
		['an object without a record', { id: 'x' }],
		['an empty record ID', { recordId: ' ' }],
		['an object for an ID', { recordId: { id: 'x' } }],
		['an ID without end', { recordId: 'x'.repeat(1000) }],
	])('not %s', async (_, body) => {
		const workflow = await start();
		await harness.sandbox.admin.clearRequests();
		expect(await workflow.receive(body, authorized)).toEqual({ status: 400, items: undefined });
		expect(await harness.requests()).toEqual([]);
	});

	test('an ID that is a path reads nothing else', async () => {
		const workflow = await start();
		for (const recordId of ['..', '.', '../../customers/data', 'a/b', '?limit=1', '%2e%2e']) {
			const result = await workflow.receive({ recordId }, authorized).catch(() => undefined);
			expect(result?.items?.[0]?.number).toBeUndefined();
		}
	});
});

describe('what it emits', () => {
	test('the record as it is now, created, then updated, then deleted', async () => {
		const workflow = await start();
		const id = await create('1');
		const events = [await workflow.receive({ recordId: id, fields: { number: '9' } }, authorized)];
		await update(id, 'Hare');
		events.push(await workflow.receive({ recordId: id, event: 'created' }, authorized));
		await remove(id);
		events.push(await workflow.receive({ recordId: id }, authorized));
		expect(events.map(({ status }) => status)).toEqual([200, 200, 200]);
		expect(events.map(({ items }) => items)).toEqual([
			[expect.objectContaining({ event: 'created', id, ver: 0 })],
			[expect.objectContaining({ event: 'updated', id, ver: 1 })],
			[{ event: 'deleted', id }],
		]);
		expect(events[0]!.items?.[0]).toMatchObject({ number: '1' });
	});

	test('each version once: a repeated call, two at once, one after a restart', async () => {
		const workflow = await start({}, { workflowId: 'before the restart' });
		const id = await create('1');
		const body = { recordId: id };
		const both = await Promise.all([1, 2].map(() => workflow.receive(body, authorized)));
		expect(both.filter(({ items }) => items).length).toBe(1);
		expect(await workflow.receive(body, authorized)).toEqual({ status: 200, items: undefined });
		const staticData = workflow.staticData();
		const again = await start({}, { staticData, workflowId: 'after the restart' });
		expect(await again.receive(body, authorized)).toEqual({ status: 200, items: undefined });
		await update(id, 'Hare');
		expect((await again.receive(body, authorized)).items).toHaveLength(1);
		await remove(id);
		expect((await again.receive(body, authorized)).items).toHaveLength(1);
		expect((await again.receive(body, authorized)).items).toBeUndefined();
	});

	test('a call in the editor counts for nothing', async () => {
		const workflow = await start();
		const body = { recordId: await create('1') };
		expect((await workflow.receive(body, authorized, 'manual')).items).toHaveLength(1);
		expect((await workflow.receive(body, authorized, 'manual')).items).toHaveLength(1);
		expect((await workflow.receive(body, authorized)).items).toHaveLength(1);
	});

	test('a table that is not there is a failure, no deletion', async () => {
		const workflow = await start({ table: picked('nowhere') });
		await expect(workflow.receive({ recordId: 'x' }, authorized)).rejects.toMatchObject({
			httpCode: '404',
		});
	});

	test.each([
		[{ kind: 'html', status: 404 }],
		[{ kind: 'empty', status: 404 }],
		[{ kind: 'status', status: 404, body: { message: 'no route' } }],
		[{ kind: 'status', status: 404, body: { errors: [] } }],
	] as const)('a gateway’s 404 is a failure, no deletion: %j', async (fault) => {
		const workflow = await start();
		const body = { recordId: await create('1') };
		await harness.faults({ match: { path: '/data/[^/]+$' }, fault });
		await expect(workflow.receive(body, authorized)).rejects.toMatchObject({ httpCode: '404' });
		await harness.faults();
		expect((await workflow.receive(body, authorized)).items).toEqual([
			expect.objectContaining({ event: 'created' }),
		]);
	});

	test('a record that cannot be read is a failure, and the next call emits it', async () => {
		const workflow = await start();
		const body = { recordId: await create('1') };
		await harness.faults({ fault: { kind: 'status', status: 403 } });
		await expect(workflow.receive(body, authorized)).rejects.toMatchObject({ httpCode: '403' });
		await harness.faults();
		expect((await workflow.receive(body, authorized)).items).toHaveLength(1);
	});

	test('static data that is no object counts as none, and versions are remembered', async () => {
		const staticData = JSON.stringify({ 'node:Trigger': null });
		const workflow = await start({}, { staticData, workflowId: 'before it broke' });
		const body = { recordId: await create('1') };
		expect((await workflow.receive(body, authorized)).items).toHaveLength(1);
		const later = { staticData: workflow.staticData(), workflowId: 'after another restart' };
		expect((await (await start({}, later)).receive(body, authorized)).items).toBeUndefined();
	});

	test('what is stored is bounded, and a damaged one does no harm', async () => {
		const emitted = [['x'], 'y', null, ...Array.from({ length: 3000 }, (_, at) => [`${at}`, 1, 1])];
		const staticData = JSON.stringify({ 'node:Trigger': { emitted } });
		const workflow = await start({}, { staticData });
		expect(
			(await workflow.receive({ recordId: await create('1') }, authorized)).items,
		).toHaveLength(1);
		const stored = JSON.parse(workflow.staticData()) as Record<string, { emitted: unknown[] }>;
		expect(stored['node:Trigger']!.emitted).toHaveLength(1000);
	});
});
