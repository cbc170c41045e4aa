/** The webhook trigger, called through n8n's engine, with records of a sandbox. */
import { seal } from '../../nodes/DataPlatform/api/packing.ts';
import type { IDataObject } from 'n8n-workflow';
import { picked } from '../support/engine/engine.cts';
import { listen } from '../support/engine/webhooks.cts';
import { APP, useHarness } from './fixtures.cts';

const harness = useHarness();

const SECRET = 'a long random text';
const authorized = { authorization: `Bearer ${SECRET}` };

const start = (parameters: IDataObject = {}, options: Parameters<typeof listen>[2] = {}) =>
	listen({ ...harness.credential, webhookSecret: SECRET }, { application: picked(APP), table: picked('orders'), ...parameters }, options);

const create = async (number: string) => await harness.insert({ number, buyer: 'Fox' });

describe('callers', () => {
	test.each([
		['without the header', {}],
		['with another secret', { authorization: 'Bearer a long random tex' }],
		['with the secret and more', { authorization: `Bearer ${SECRET}!` }],
		['with a part of the secret', { authorization: `Bearer ${SECRET.slice(0, 5)}` }],
		['with the secret without a scheme', { authorization: SECRET }],
		['with the secret twice', { authorization: `Bearer ${SECRET}, Bearer ${SECRET}` }],
		['with the secret in other letters', { authorization: `Bearer ${SECRET.toUpperCase()}` }],
		['with the secret in another header', { 'x-authorization': `Bearer ${SECRET}` }],
		['with a megabyte', { authorization: `Bearer ${SECRET.repeat(60_000)}` }],
		['with a megabyte of spaces', { authorization: `Bearer${' '.repeat(1_000_000)}x` }],
		['with a list of headers', { authorization: [`Basic x`, `Bearer ${SECRET}`] }],
		['with another scheme', { authorization: `Basic ${SECRET}` }],
		['with nothing after the scheme', { authorization: 'Bearer ' }],
		["with the platform's token", { authorization: 'Bearer sandbox' }],
	])('a caller %s is refused', async (_, headers) => {
		const workflow = await start();
		const recordId = await create('1');
		await harness.clearRequests();
		const began = Date.now();
		expect(await workflow.receive({ recordId }, headers)).toEqual({ status: 401, items: undefined });
		expect(Date.now() - began).toBeLessThan(10_000);
		expect(await harness.requests()).toEqual([]);
	});

	test.each([`bearer ${SECRET}`, `BEARER   ${SECRET}  `, ` Bearer ${SECRET}`])(
		'a caller who sends %j is accepted',
		async (authorization) => {
			const workflow = await start();
			const recordId = await create('1');
			expect((await workflow.receive({ recordId }, { authorization })).status).toBe(200);
		},
	);

	test("while the credential has no secret, every caller is refused, and it can't be activated", async () => {
		const workflow = await listen({ ...harness.credential }, { table: picked('orders') });
		const { status } = await workflow.receive({ recordId: 'x' }, { authorization: 'Bearer ' });
		expect(status).toBe(401);
		await expect(workflow.activate()).rejects.toThrow("The credential has no 'Webhook Secret'. Turn on 'More Settings' in the credential");
	});

	test.each(['geheimes Wört', 'two\nlines', '秘密'])(
		"with a secret that no header can contain, it can't be activated: %j",
		async (webhookSecret) => {
			const workflow = await listen({ ...harness.credential, webhookSecret }, { table: picked('orders') });
			await expect(workflow.activate()).rejects.toThrow('a character that no header can hold');
		},
	);

	test('with a secret it can be activated', async () => {
		const workflow = await start();
		await expect(workflow.activate()).resolves.not.toThrow();
	});
});

describe('accepted requests', () => {
	test.each([
		['nothing', undefined],
		['null', null],
		['text', 'recordId'],
		['a list', [{ recordId: 'x' }]],
		['an object without a record', { id: 'x' }],
		['an empty record ID', { recordId: ' ' }],
		['an object for an ID', { recordId: { id: 'x' } }],
		['true for an ID', { recordId: true }],
		['a list of IDs', { recordId: ['x'] }],
		['a number that has lost digits', JSON.parse('{"recordId":9007199254740993}')],
		['a fraction', { recordId: 1.5 }],
		['an ID without end', { recordId: 'x'.repeat(1000) }],
		['an ID of megabytes', { recordId: ' x'.repeat(5_000_000) }],
		['megabytes of something else', { records: Array.from({ length: 500_000 }, () => 'x') }],
		['a number', 5],
		['bytes', Buffer.from('{"recordId":"x"}')],
		['an ID that is inherited', Object.create({ recordId: 'x' }) as object],
	])('a body that is %s is refused', async (_, body) => {
		const workflow = await start();
		await harness.clearRequests();
		expect(await workflow.receive(body, authorized)).toEqual({ status: 400, items: undefined });
		expect(await harness.requests()).toEqual([]);
	});

	test('an ID among megabytes of other data is found', async () => {
		const workflow = await start();
		const recordId = await create('1');
		const other = Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`k${at}`, 'x']));
		let deep: unknown = recordId;
		for (let depth = 0; depth < 5000; depth += 1) deep = { recordId: deep };
		const items = [expect.objectContaining({ event: 'created', id: recordId })];
		expect(await workflow.receive({ ...other, recordId, deep }, authorized)).toEqual({ status: 200, items });
	});

	test('an ID that is a path stays one segment of the path', async () => {
		const workflow = await start();
		await create('1');
		await harness.clearRequests();
		for (const recordId of ['..', '.', '../../customers/data', 'a/b', '?limit=1', '%2e%2e']) {
			await workflow.receive({ recordId }, authorized).catch(() => undefined);
		}
		// Of those that are no segment of a path, nothing is read. With each other one, whether the table exists.
		const data = '/api/v2/apps/shop/tables/orders/data';
		const paths = (await harness.requests()).map(({ path }) => path).filter((path) => path !== data);
		expect(paths).toEqual(['..%2F..%2Fcustomers%2Fdata', 'a%2Fb', '%3Flimit%3D1', '%252e%252e'].map((id) => `${data}/${id}`));
	});
});

describe('emitted items', () => {
	test('it emits the record as it is now: created, then updated, then deleted', async () => {
		const workflow = await start();
		const id = await create('1');
		const events = [await workflow.receive({ recordId: id, fields: { number: '9' } }, authorized)];
		await harness.change(id, { buyer: 'Hare' });
		events.push(await workflow.receive({ recordId: id, event: 'created' }, authorized));
		await harness.remove(id);
		events.push(await workflow.receive({ recordId: id }, authorized));
		expect(events).toEqual([
			{ status: 200, items: [expect.objectContaining({ event: 'created', id, ver: 0, number: '1' })] },
			{ status: 200, items: [expect.objectContaining({ event: 'updated', id, ver: 1 })] },
			{ status: 200, items: [{ event: 'deleted', id }] },
		]);
	});

	test('it emits each version once: after a repeated call, two at once, one after a restart', async () => {
		const workflow = await start({}, { workflowId: 'before the restart' });
		const id = await create('1');
		const body = { recordId: id };
		const both = await Promise.all([1, 2].map(() => workflow.receive(body, authorized)));
		expect(both.filter(({ items }) => items).length).toBe(1);
		expect(await workflow.receive(body, authorized)).toEqual({ status: 200, items: undefined });
		const again = await start({}, { staticData: workflow.staticData(), workflowId: 'after the restart' });
		expect(await again.receive(body, authorized)).toEqual({ status: 200, items: undefined });
		await harness.change(id, { buyer: 'Hare' });
		expect((await again.receive(body, authorized)).items).toHaveLength(1);
		await harness.remove(id);
		expect((await again.receive(body, authorized)).items).toHaveLength(1);
		expect((await again.receive(body, authorized)).items).toBeUndefined();
	});

	test('a missing table is a failure, not a deletion', async () => {
		const workflow = await start({ table: picked('nowhere') });
		await expect(workflow.receive({ recordId: 'x' }, authorized)).rejects.toMatchObject({ httpCode: '404' });
	});

	test.each([{ kind: 'html' }, { kind: 'status', body: { errors: [] } }])(
		'a gateway’s 404 is a failure, not a deletion: %j',
		async (fault) => {
			const workflow = await start();
			const body = { recordId: await create('1') };
			await harness.faults({ match: { path: '/data/[^/]+$' }, fault: { status: 404, ...fault } });
			await expect(workflow.receive(body, authorized)).rejects.toMatchObject({ httpCode: '404' });
			await harness.faults();
			expect((await workflow.receive(body, authorized)).items).toEqual([expect.objectContaining({ event: 'created' })]);
		},
	);

	test('a read that fails at first is repeated: the platform sends no second request', async () => {
		const workflow = await start();
		const body = { recordId: await create('1') };
		await harness.faults({ when: { first: 2 }, fault: { kind: 'status', status: 502 } });
		expect((await workflow.receive(body, authorized)).items).toHaveLength(1);
	});

	test('the stored state is bounded', async () => {
		const stored = (staticData: string) =>
			JSON.parse((JSON.parse(staticData) as Record<string, { emitted: string }>)['node:Trigger']!.emitted.slice(11)) as {
				source: string;
				versions: unknown[];
			};
		const first = await start();
		await first.receive({ recordId: await create('1') }, authorized);
		const { source } = stored(first.staticData());
		const versions = Array.from({ length: 3000 }, (_, at) => [`${at}`, 1, 1]);
		const emitted = seal('webhook 2', { source, versions });
		const workflow = await start({}, { staticData: JSON.stringify({ 'node:Trigger': { emitted } }) });
		const later = await workflow.receive({ recordId: await create('2') }, authorized);
		expect(later.items).toHaveLength(1);
		const kept = stored(workflow.staticData()).versions;
		expect(kept).toHaveLength(1000);
		expect(kept).toContainEqual(['2999', 1, 1]);
	});
});
