import type { IDataObject } from 'n8n-workflow';
import { picked, runOperation } from '../support/engine/engine.cts';
import { APP, expectErrorItem, goingOn, located, numbered, order, pairedIndexes, useHarness, where } from './fixtures.cts';

const harness = useHarness();

const getMany = async (parameters: IDataObject, options?: IDataObject) => {
	const result = await harness.run('getAll', { parameters: { returnAll: true, ...parameters }, options });
	expect(result.error).toBeUndefined();
	return result.json();
};
const numbers = (items: IDataObject[]) => items.map(({ number }) => number);

describe('get many records', () => {
	test('Get Many reads all pages, each record once', async () => {
		await harness.fill('orders', ...numbered(2345));
		const items = await getMany({});
		expect(new Set(numbers(items)).size).toBe(2345);
		expect(items).toHaveLength(2345);
		expect(await harness.requests()).toHaveLength(3);
	});

	test('Get Many stops at the limit', async () => {
		await harness.fill('orders', ...numbered(60));
		expect(await getMany({ returnAll: false, limit: 7 })).toHaveLength(7);
		expect(await getMany({ returnAll: false, limit: 50 })).toHaveLength(50);
		expect((await harness.requests()).map(({ records }) => records)).toEqual([7, 50]);
	});

	test('Get Many takes a filter tree, sorts, loads chosen fields and a saved view', async () => {
		await harness.fill('orders', ...numbered(4), order(5, { state: 'open' }));
		const filterTree = JSON.stringify({
			filterOperator: 'or',
			filter: [{ field: 'number', operator: 'eq', value: '1' }, { filter: [{ field: 'number', operator: 'in', value: ['2', '4'] }] }],
		});
		const sort = { by: [{ field: 'number', direction: 'desc' }] };
		const sorted = await getMany({ filterMode: 'json', filterTree, sort }, { fieldsToLoad: ['number'] });
		expect(numbers(sorted)).toEqual(['4', '2', '1']);
		expect(sorted[0]).not.toHaveProperty('buyer');
		expect(numbers(await getMany({}, { savedView: await harness.savedView() }))).toEqual(['5']);
	});
});

describe('empty expressions when reading', () => {
	const nothing = '={{ $json.missing }}';

	test.each(['getAll', 'count', 'summarize'])('%s: an empty expression never means all records', async (operation) => {
		await harness.fill('orders', ...numbered(3));
		const needed = operation === 'summarize' ? { summaries: { summary: [{ field: 'price', aggregations: ['sum'] }] } } : {};
		for (const parameters of [
			where({ field: 'buyer', operator: 'contains', value: nothing }),
			where({ field: 'buyer', operator: 'notin', value: '={{ [] }}' }),
			where({ field: nothing, operator: 'empty' }),
			{ filterMode: 'json', filterTree: nothing },
			{ application: located(nothing) },
			{ application: located('={{ 7 > 8 }}') },
			{ application: located(nothing, 'list') },
			{ application: located(nothing, 'url') },
			{ table: located(nothing) },
		]) {
			const result = await harness.run(operation, { parameters: { ...needed, ...parameters } });
			expect(result.error?.message).toMatch(/empty|names no field|must be text/);
			expect(result.error?.message).not.toMatch(/undefined|ERROR:|Cannot read/);
		}
		expect(await harness.requests()).toEqual([]);
	});

	test('an application left empty in the workflow addresses the table by its name', async () => {
		await harness.fill('orders', ...numbered(2));
		for (const application of [picked(''), located(''), located(' ')]) {
			expect(await getMany({ application })).toHaveLength(2);
		}
		expect((await harness.requests()).map(({ path }) => path)).toEqual(Array(3).fill('/api/v2/orders/data'));
	});
});

test('a field called error does not send its record to the error output', async () => {
	await harness.createTable({ internalName: 'log', fields: [{ name: 'error', type: 'text' }] }, [{ error: 'only a value' }]);
	for (const simple of [true, false]) {
		const result = await harness.run('getAll', { table: 'log', parameters: { simple }, onError: 'continueErrorOutput' });
		expect(result.output('Data Platform', 0)).toHaveLength(1);
		expect(result.output('Data Platform', 1)).toEqual([]);
	}
});

describe('applications and tables', () => {
	test('of tables in several applications, only those of an unknown application fail', async () => {
		const items = [{ app: APP }, { app: 'nowhere' }, { app: APP }];
		const parameters = { resource: 'table', operation: 'getAll', application: picked('={{ $json.app }}') };
		const result = await runOperation(harness.credential, { parameters, items, ...goingOn });
		const output = result.output('Data Platform');
		expect(pairedIndexes(output)).toEqual([0, 0, 1, 2, 2]);
		expectErrorItem(output[2]!, 1, 'There is no application', { status: 404 });
		const names = result.json().flatMap(({ internalName }) => internalName ?? []);
		expect(names.sort()).toEqual(['notes', 'notes', 'orders', 'orders']);
		expect(output.find(({ json }) => json.internalName === 'orders')?.json).toMatchObject({
			header: 'Orders',
			importKey: 'number',
			fields: expect.arrayContaining([expect.objectContaining({ name: 'buyer', type: 'text', required: true })]),
		});
	});

	test('a table is returned with limits, links and views, and nothing that the platform does not report', async () => {
		const [table] = (await harness.run('get', { parameters: { resource: 'table' } })).json();
		const { fields, id, savedViews } = table!;
		const field = (name: string) => (fields as IDataObject[]).find((entry) => entry.name === name);
		expect(field('buyer')).toEqual({ name: 'buyer', header: expect.any(String), type: 'text', required: true, maxLength: 30 });
		expect(field('price')).toMatchObject({ min: 0, required: false });
		expect(field('state')).toMatchObject({ choices: ['open', 'sent'] });
		expect(field('label')).toMatchObject({ readOnly: true });
		expect(field('related')).toMatchObject({ multiple: true, linkTableId: id });
		expect(savedViews).toEqual([{ id: expect.any(String), name: 'Open', visibility: expect.any(String) }]);
	});
});

test('a table is found without its application, by URL and by id', async () => {
	const [{ id }] = await harness.fill('orders', order(1));
	const at = (application: object, table: object) => harness.run('get', { parameters: { recordId: id, application, table } });
	const none = picked('');
	const url = located(`https://platform.example.com/apps/${APP}/tables/orders?view=1`, 'url');
	expect((await at(none, picked('orders'))).json()).toMatchObject([{ id }]);
	expect((await at(none, located('orders'))).json()).toMatchObject([{ id }]);
	expect((await at(url, url)).json()).toMatchObject([{ id }]);
	const nothing = await at(none, picked('={{ "" }}'));
	expect(nothing.error?.message).toContain("'Table' is empty");
});
