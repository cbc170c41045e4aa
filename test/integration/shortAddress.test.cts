/**
 * No application is chosen. The platform may serve a table's address without one, or not: then the
 * node looks for the table's application, and uses the address that it found.
 */
import { byId, expectFailed, goingOn, note, numbered, order, UNKNOWN_ID, useHarness, where, type Run } from './fixtures.cts';
import { failureOf, watchedOrders } from './triggerFixtures.cts';
import { picked } from '../support/engine/engine.cts';

const harness = useHarness();

const run = async (operation: string, more: Run) => await harness.run(operation, { application: '', ...more });

const cheap = where({ field: 'buyer', operator: 'eq', value: 'Buyer 1' });
const removing = { missingRecords: 'delete', maxShareToRemove: 100 };

beforeEach(async () => {
	await harness.fill('orders', ...numbered(3));
});

const paths = async () => (await harness.requests()).map(({ path, status }) => `${status} ${path.replace('/api/v2', '')}`);

describe.each(['served', 'notFound'])('if it is %s', (shortAddress) => {
	beforeEach(async () => await harness.settings({ shortAddress }));

	test.each<[string, Run, object]>([
		[
			'getAll',
			{ parameters: { sort: { by: [{ field: 'number', direction: 'asc' }] } } },
			[{ number: '1' }, { number: '2' }, { number: '3' }],
		],
		['getAll', { parameters: cheap }, [{ number: '1' }]],
		['count', {}, [{ count: 3 }]],
		['count', { parameters: cheap }, [{ count: 1 }]],
		['summarize', { parameters: { summaries: { summary: [{ field: 'price', aggregations: ['max'] }] } } }, [{ count: 3 }]],
		['getChanges', {}, [{ hasMore: false }]],
		['deleteMany', { parameters: cheap }, [{ deletedCount: 1 }]],
		['create', { items: [order(4)] }, [{ outcome: 'inserted' }]],
		['upsert', { items: [order(1, { comment: 'x' })] }, [{ outcome: 'updated' }]],
		[
			'sync',
			{ items: [order(1), order(2)], parameters: removing },
			[{ outcome: 'unchanged' }, { outcome: 'unchanged' }, { outcome: 'deleted' }],
		],
	])('%s %j', async (operation, more, expected) => {
		const result = await run(operation, more);
		expect(result.error).toBeUndefined();
		expect(result.json()).toMatchObject(expected as object[]);
	});

	test.each([true, false])('a deletion whose response is lost succeeds; done before: %s', async (afterWrite) => {
		await harness.faults({ when: { nth: [1] }, fault: { kind: 'status', status: 500, afterWrite } });
		const result = await run('delete', { items: [{ id: await harness.idOf('2') }], parameters: byId });
		expect(result.error).toBeUndefined();
		expect(await harness.records()).toHaveLength(2);
	});

	test('records by ID: one that exists, one that does not', async () => {
		const id = await harness.idOf('2');
		const items = [{ id }, { id: UNKNOWN_ID }];
		for (const operation of ['get', 'update', 'delete']) {
			const result = await run(operation, { ...goingOn, items: items.map((item) => ({ ...item, comment: 'x' })), parameters: byId });
			expect(result.json()[0]).toMatchObject({ id });
			expectFailed(result, 1, UNKNOWN_ID, { outcome: 'notFound' });
		}
		expect(await harness.records()).toHaveLength(2);
	});

	test('a trigger', async () => {
		const { start, create } = watchedOrders(harness, { application: picked('') });
		const watching = await start(where({ field: 'number', operator: 'eq', value: '7' }));
		expect(await failureOf(watching)).toBeUndefined();
		await create('6', '7');
		expect((await watching.poll())?.map(({ json }) => json.number)).toEqual(['7']);
	});
});

test('if it is served, one request is enough', async () => {
	await run('getAll', {});
	expect(await paths()).toEqual(['200 /orders/data']);
});

test('if it is not, the application is looked for once', async () => {
	await harness.settings({ shortAddress: 'notFound' });
	const items = [1, 2, 3].map(() => ({}));
	await run('count', { items });
	const all = await paths();
	expect(all.filter((path) => path === '200 /apps')).toHaveLength(1);
	expect(all.filter((path) => /^200 \/apps\/[^/]+\/tables\/[^/]+\/data\/count$/.test(path))).toHaveLength(3);
	await harness.clearRequests();
	await run('count', { items, isWarm: true });
	expect(await paths()).toHaveLength(3);
});

test('what the definition was read for uses the address where it stands', async () => {
	await run('deleteMany', { parameters: cheap });
	const ofRecords = (await paths()).filter((path) => path.includes('/data'));
	expect(ofRecords.length).toBeGreaterThan(0);
	for (const path of ofRecords) expect(path).toMatch(/^20\d \/apps\//);
});

describe('without the right to see applications, the error says to choose one', () => {
	const CHOOSE = "Choose the application in 'Application'";

	test.each<[string, Run]>([
		['count', {}],
		['get', { parameters: { recordId: UNKNOWN_ID } }],
		['deleteMany', { parameters: cheap }],
		['create', { items: [note('x')] }],
	])('%s', async (operation, more) => {
		await harness.settings({ shortAddress: 'notFound' });
		await harness.faults({ match: { path: '/apps$' }, fault: { kind: 'status', status: 403 } });
		const result = await run(operation, more);
		expect(String(result.error?.description)).toContain(CHOOSE);
		expect(await harness.records()).toHaveLength(3);
	});
});
