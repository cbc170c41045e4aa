import type { IDataObject } from 'n8n-workflow';
import { picked, runOperation } from '../support/engine/engine.cts';
import { APP, expectErrorItem, numbered, pairedIndexes, useHarness } from './fixtures.cts';
import { useOtherWriter } from './otherWriter.cts';

const harness = useHarness();

const getMany = async (parameters: IDataObject, options?: IDataObject) => {
	const result = await harness.run('getAll', { parameters: { returnAll: true, ...parameters }, options });
	expect(result.error).toBeUndefined();
	return result.json();
};
const numbers = (items: IDataObject[]) => items.map(({ number }) => number);

describe('get many records', () => {
	test('reads all pages, each record once', async () => {
		await harness.fill('orders', ...numbered(2345));
		const items = await getMany({});
		expect(new Set(numbers(items)).size).toBe(2345);
		expect(items).toHaveLength(2345);
		expect(await harness.requests()).toHaveLength(3);
	});

	test('stops at the limit', async () => {
		await harness.fill('orders', ...numbered(60));
		expect(await getMany({ returnAll: false, limit: 7 })).toHaveLength(7);
		expect(await getMany({ returnAll: false, limit: 50 })).toHaveLength(50);
		expect((await harness.requests()).map(({ records }) => records)).toEqual([7, 50]);
	});

	test('in portions, by offset: each record once, in the chosen order', async () => {
		await harness.fill('orders', ...numbered(2345));
		const portion = async (offset: number, more: IDataObject = {}) =>
			numbers(await getMany({ returnAll: false, limit: 1000, ...more }, { offset }));
		const portions = [await portion(0), await portion(1000), await portion(2000)];
		expect(portions.map(({ length }) => length)).toEqual([1000, 1000, 345]);
		expect(new Set(portions.flat()).size).toBe(2345);
		expect(await portion(2345)).toEqual([]);
		expect(await portion(2340, { returnAll: true })).toHaveLength(5);
		const sort = { by: [{ field: 'number', direction: 'desc' }] };
		const [all, part] = [await portion(0, { sort, limit: 50 }), await portion(40, { sort, limit: 3 })];
		expect(part).toEqual(all.slice(40, 43));
	});

	test.each([-1, 1.5, 'two', null, '={{ NaN }}', '={{ $json.missing }}', 1e300])(
		'an offset of %j is named, and nothing is read',
		async (offset) => {
			const result = await harness.run('getAll', { options: { offset } as IDataObject });
			const isUnset = offset === null;
			expect(result.error?.message ?? '').toContain(isUnset ? '' : "'Offset' must be a whole number at least 0");
			expect(await harness.requests()).toHaveLength(isUnset ? 1 : 0);
		},
	);

	test('filters by all conditions, or by any', async () => {
		await harness.fill(
			'orders',
			{ number: 'a', buyer: 'Dog, jr.', price: 1 },
			{ number: 'b', buyer: 'Dog', price: 2 },
			{ number: 'c', buyer: 'Fox', price: 3 },
		);
		const conditions = (...condition: IDataObject[]) => ({ filterMode: 'conditions', conditions: { condition } });
		const dog = { field: 'buyer', operator: 'eq', value: 'Dog, jr.' };
		const dear = { field: 'price', operator: 'gte', value: 3 };
		expect(numbers(await getMany(conditions(dog)))).toEqual(['a']);
		expect(numbers(await getMany(conditions(dog, dear)))).toEqual([]);
		expect(numbers(await getMany({ ...conditions(dog, dear), matchType: 'or' })).sort()).toEqual(['a', 'c']);
		const list = { field: 'number', operator: 'in', value: 'a, c' };
		expect(numbers(await getMany(conditions(list))).sort()).toEqual(['a', 'c']);
		const empty = { field: 'price', operator: 'empty' };
		expect(await getMany(conditions(empty))).toEqual([]);
	});

	test('takes a filter tree, sorts, loads chosen fields and a saved view', async () => {
		await harness.fill('orders', ...numbered(4), { number: '5', buyer: 'x', state: 'open', price: 2 });
		const filterTree = JSON.stringify({
			filterOperator: 'or',
			filter: [{ field: 'number', operator: 'eq', value: '1' }, { filter: [{ field: 'number', operator: 'in', value: ['2', '4'] }] }],
		});
		const sorted = await getMany(
			{ filterMode: 'json', filterTree, sort: { by: [{ field: 'number', direction: 'desc' }] } },
			{ fieldsToLoad: ['number'] },
		);
		expect(numbers(sorted)).toEqual(['4', '2', '1']);
		expect(sorted[0]).not.toHaveProperty('buyer');
		const { client } = harness.sandbox;
		const definition = await client().get(`/apps/${APP}/tables/orders`);
		const [view] = definition.data.data.settings.userFilters as Array<{ id: string }>;
		expect(numbers(await getMany({}, { savedView: view!.id }))).toEqual(['5']);
	});
});

describe('get many records with another writer', () => {
	const other = useOtherWriter(harness);
	const at = `/apps/${APP}/tables/orders/data`;
	const api = () => harness.sandbox.client();
	const byPrice = { sort: { by: [{ field: 'price', direction: 'asc' }] } };
	const priced = (count: number) => numbered(count).map((record, index) => ({ ...record, price: index + 10 }));
	const find = async (number: string) => (await harness.records()).find(({ fields }) => fields.number === number)!.id;
	const patch = async (id: string, fields: IDataObject) => await api().patch(`${at}/${id}`, { fields });
	const read = async (parameters: IDataObject = {}) => {
		const result = await harness.run('getAll', {
			parameters: { returnAll: true, simple: true, ...parameters },
			credential: other.credential(),
		});
		expect(result.error).toBeUndefined();
		const found = numbers(result.json());
		expect(new Set(found).size).toBe(found.length);
		return { found, hints: result.hints };
	};
	const NOTICE = expect.stringContaining('The table changed while it was read');

	test('one that moves to the front between pages: a notice that it may be missing', async () => {
		await harness.fill('orders', ...priced(2500));
		const mover = await find('2400');
		other.before((_, count) => (count === 2 ? patch(mover, { price: 1 }) : undefined));
		const { found, hints } = await read(byPrice);
		expect(found).toHaveLength(2499);
		expect(hints).toEqual([NOTICE]);
	});

	test('records that are deleted in what was read: the others come, each once, in order', async () => {
		await harness.fill('orders', ...priced(2500));
		const ids = await Promise.all(['3', '4', '5'].map(find));
		other.before((_, count) => (count === 2 ? Promise.all(ids.map(async (id) => await api().delete(`${at}/${id}`))) : undefined));
		const { found } = await read(byPrice);
		expect(found).toEqual(priced(2500).map(({ number }: IDataObject) => number));
	});

	test('nothing that moved, nothing to notice', async () => {
		await harness.fill('orders', ...priced(2500));
		other.before((_, count) => (count === 2 ? api().post(at, { fields: { number: 'new', buyer: 'x', price: 0 } }) : undefined));
		const { found, hints } = await read();
		expect(found).toHaveLength(2501);
		expect(hints).toEqual([]);
	});
});

describe('empty expressions when reading', () => {
	const nothing = '={{ $json.missing }}';
	const located = (value: string, mode = 'id') => ({ __rl: true, mode, value });
	const condition = (entry: IDataObject) => ({ filterMode: 'conditions', conditions: { condition: [entry] } });

	test.each(['getAll', 'count', 'summarize'])('%s: never all records', async (operation) => {
		await harness.fill('orders', ...numbered(3));
		const needed = operation === 'summarize' ? { summaries: { summary: [{ field: 'price', aggregations: ['sum'] }] } } : {};
		for (const parameters of [
			condition({ field: 'buyer', operator: 'contains', value: nothing }),
			condition({ field: 'buyer', operator: 'notin', value: '={{ [] }}' }),
			condition({ field: nothing, operator: 'empty' }),
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

	test('a saved view', async () => {
		const result = await harness.run('getAll', { options: { savedView: nothing } });
		expect(result.error?.message).toBe("'Saved View Name or ID' is empty: its expression returned nothing");
		expect(await harness.requests()).toEqual([]);
	});

	test.each([
		[{ savedView: '={{ {} }}' }, "'Saved View Name or ID' must be text"],
		[{ fieldsToLoad: '={{ [{}] }}' }, "'Output Field Names or IDs' must be text"],
	])('%j is rejected with a message', async (options, message) => {
		const result = await harness.run('getAll', { options });
		expect(result.error?.message).toContain(message);
		expect(await harness.requests()).toEqual([]);
	});

	test.each([{ fieldsToLoad: nothing }, { fieldsToLoad: '={{ null }}' }, { savedView: '' }])('%j is nothing chosen', async (options) => {
		await harness.fill('orders', ...numbered(2));
		expect(await getMany({}, options)).toHaveLength(2);
	});

	test('an application left empty in the workflow addresses the table by its name', async () => {
		await harness.fill('orders', ...numbered(2));
		for (const application of [picked(''), located(''), located(' ')]) {
			expect(await getMany({ application })).toHaveLength(2);
		}
		const paths = (await harness.requests()).map(({ path }) => path);
		expect(new Set(paths)).toEqual(new Set(['/api/v2/orders/data']));
	});

	test('the record to read', async () => {
		for (const value of [nothing, '={{ null }}', '={{ {} }}', '={{ [] }}', '={{ true }}']) {
			for (const mode of ['id', 'url', 'list']) {
				const result = await harness.run('get', { parameters: { recordId: located(value, mode) } });
				expect(result.error?.message).toMatch(/^'Record' (is empty|must be text, not )/);
			}
		}
		expect(await harness.requests()).toEqual([]);
	});
});

describe('a pasted address', () => {
	const url = (value: string) => ({ __rl: true, mode: 'url', value });
	const requested = async (resource: string, operation: string, parameters: IDataObject) => {
		await harness.sandbox.admin.clearRequests();
		await runOperation(harness.credential, { parameters: { resource, operation, options: {}, ...parameters } });
		const [request] = await harness.requests();
		return request?.path;
	};
	const HOST = 'https://platform.example.com';

	test.each([
		['/apps/crm/tables/contacts/data/r1', 'crm', 'contacts', 'r1'],
		['/apps/crm/tables/contacts/data/r1/', 'crm', 'contacts', 'r1'],
		['/apps/crm/tables/contacts/data/r1?back=/apps/a/tables/b/data/c', 'crm', 'contacts', 'r1'],
		['/?v=/apps/a/tables/b/data/c#/apps/crm/tables/contacts/data/r1?tab=2', 'crm', 'contacts', 'r1'],
		['/apps/crm/tables/contacts/data/r1?tab=2#x', 'crm', 'contacts', 'r1'],
		['/ui/v3/apps/crm/tables/contacts/data/r1', 'crm', 'contacts', 'r1'],
		['/#/apps/crm/tables/contacts/data/r1', 'crm', 'contacts', 'r1'],
		['/apps/ui/apps/crm/tables/contacts/data/r1', 'crm', 'contacts', 'r1'],
		['/apps/apps/tables/tables/data/data', 'apps', 'tables', 'data'],
		['/apps/tables/tables/data/data/apps', 'tables', 'data', 'apps'],
		['/apps/data/tables/apps/data/tables', 'data', 'apps', 'tables'],
		['/apps/K%C3%BCche/tables/B%20%26%20C/data/a%2Fb', 'K%C3%BCche', 'B%20%26%20C', 'a%2Fb'],
		['/apps/100%/tables/50%25/data/%zz', '100%25', '50%25', '%25zz'],
		['/apps/apps.example/tables/t/data/r', 'apps.example', 't', 'r'],
	])('%s', async (path, application, table, record) => {
		const address = url(`${HOST}${path}`);
		const parameters = { application: address, table: address, recordId: address };
		expect(await requested('record', 'get', parameters)).toBe(`/api/v2/apps/${application}/tables/${table}/data/${record}`);
	});

	test.each([
		['https://apps/crm', 'Application'],
		['https://platform.example.com/', 'Application'],
		['https://platform.example.com/apps/', 'Application'],
		['https://platform.example.com/apps', 'Application'],
		['https://platform.example.com?next=/apps/crm', 'Application'],
		['https://platform.example.com/login?next=/apps/crm/tables/contacts', 'Application'],
	])('%s leads to none', async (address, label) => {
		const result = await runOperation(harness.credential, {
			parameters: { resource: 'table', operation: 'getAll', application: url(`={{ '${address}' }}`) },
		});
		expect(result.error?.message).toBe(`The address in '${label}' does not lead to one`);
	});
});

test('a simplified record distinguishes its fields from names that n8n and the platform use', async () => {
	const [record] = await harness.fill('orders', { number: '1', buyer: 'Fox' });
	const get = (simple: boolean) => harness.run('get', { parameters: { recordId: record!.id, simple }, options: {} });
	expect((await get(true)).json()[0]).toMatchObject({ id: record!.id, number: '1', buyer: 'Fox' });
	expect((await get(false)).json()[0]).toMatchObject({ id: record!.id, ver: 0, fields: { number: '1', buyer: 'Fox', label: '1: Fox' } });
});

test('a field called error does not send its record to the error output', async () => {
	await harness.sandbox.admin.createTable({
		app: APP,
		table: { internalName: 'log', fields: [{ name: 'error', type: 'text' }] },
		records: [{ fields: { error: 'only a value' } }],
	});
	for (const simple of [true, false]) {
		const result = await harness.run('getAll', { table: 'log', parameters: { simple }, onError: 'continueErrorOutput' });
		expect(result.output('Data Platform', 0)).toHaveLength(1);
		expect(result.output('Data Platform', 1)).toEqual([]);
	}
});

describe('applications and tables', () => {
	const items = [{ app: APP }, { app: 'nowhere' }, { app: APP }];
	const tables = { resource: 'table', operation: 'getAll', application: picked('={{ $json.app }}') };

	test('tables: the unknown application fails alone', async () => {
		const result = await runOperation(harness.credential, { parameters: tables, items, onError: 'continueRegularOutput' });
		const output = result.output('Data Platform');
		expect(pairedIndexes(output)).toEqual([0, 0, 1, 2, 2]);
		expectErrorItem(output[2]!, 1, 'There is no application', { status: 404 });
		const names = [0, 1, 3, 4].map((index) => output[index]!.json.internalName);
		expect(new Set(names)).toEqual(new Set(['orders', 'notes']));
		expect(output.find(({ json }) => json.internalName === 'orders')?.json).toMatchObject({
			header: 'Orders',
			importKey: 'number',
			fields: expect.arrayContaining([expect.objectContaining({ name: 'buyer', type: 'text', required: true })]),
		});
	});

	test('a table: with limits, links and views, and nothing that the platform does not report', async () => {
		const result = await runOperation(harness.credential, {
			parameters: { resource: 'table', operation: 'get', application: picked(APP), table: picked('orders') },
		});
		const [table] = result.json();
		const { fields, id, savedViews } = table as unknown as { id: string; fields: IDataObject[]; savedViews: IDataObject[] };
		const field = (name: string) => fields.find((entry) => entry.name === name);
		expect(field('buyer')).toEqual({ name: 'buyer', header: expect.any(String), type: 'text', required: true, maxLength: 30 });
		expect(field('price')).toMatchObject({ min: 0, required: false });
		expect(field('state')).toMatchObject({ choices: ['open', 'sent'] });
		expect(field('label')).toMatchObject({ readOnly: true });
		expect(field('related')).toMatchObject({ multiple: true, linkTableId: id });
		expect(savedViews).toEqual([{ id: expect.any(String), name: 'Open', visibility: expect.any(String) }]);
	});

	test('tables: an error on its own output, and an error that stops', async () => {
		const apart = await runOperation(harness.credential, { parameters: tables, items, onError: 'continueErrorOutput' });
		expect(pairedIndexes(apart.output('Data Platform', 0))).toEqual([0, 0, 2, 2]);
		expect(pairedIndexes(apart.output('Data Platform', 1))).toEqual([1]);
		const stopped = await runOperation(harness.credential, { parameters: tables, items });
		expect(stopped.error?.context?.itemIndex).toBe(1);
	});

	test.each(['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const)(
		'applications: %s if the second request is rejected',
		async (onError) => {
			const status = { kind: 'status', status: 403 };
			await harness.faults({ match: { path: '/apps$' }, when: { nth: [2] }, fault: status });
			const result = await runOperation(harness.credential, {
				parameters: { resource: 'application', operation: 'getAll' },
				items: [{}, {}, {}],
				onError,
			});
			if (onError === 'stopWorkflow') {
				expect(result.error?.message).toContain('The token has no right to do this');
				expect(result.error?.context?.itemIndex).toBe(1);
				return;
			}
			const [good, bad] = [0, 1].map((output) => result.output('Data Platform', output));
			const isApart = onError === 'continueErrorOutput';
			expect(pairedIndexes(good!)).toEqual(isApart ? [0, 2] : [0, 1, 2]);
			expect(pairedIndexes(bad!)).toEqual(isApart ? [1] : []);
			expect(good![0]?.json).toMatchObject({ internalName: APP });
			const error = isApart ? bad![0] : good![1];
			expectErrorItem(error!, 1, 'no right', { status: 403 });
		},
	);
});

test('a table is found without its application, by URL and by id', async () => {
	const [record] = await harness.fill('orders', { number: '1', buyer: 'Fox' });
	const at = (application: object, table: object) => harness.run('get', { parameters: { recordId: record!.id, application, table } });
	const none = picked('');
	const url = `https://platform.example.com/apps/${APP}/tables/orders?view=1`;
	const locators: Array<[object, object]> = [
		[none, picked('orders')],
		[none, { __rl: true, mode: 'id', value: 'orders' }],
		[
			{ __rl: true, mode: 'url', value: url },
			{ __rl: true, mode: 'url', value: url },
		],
	];
	for (const [application, table] of locators) {
		expect((await at(application, table)).json()).toMatchObject([{ id: record!.id }]);
	}
	const nothing = await at(none, picked('={{ "" }}'));
	expect(nothing.error?.message).toContain("'Table' is empty");
});

test('an id cannot lead out of its table', async () => {
	await harness.fill('orders', { number: '1', buyer: 'Fox' });
	for (const recordId of ['../..', '../../../users/me', 'a?b#c']) {
		for (const operation of ['get', 'delete']) {
			const result = await harness.run(operation, { parameters: { recordId } });
			expect(result.error?.message).toContain('There is no record');
		}
	}
	const inside = (await harness.requests()).every(({ path }) => path.startsWith(`/api/v2/apps/${APP}/tables/orders/data/`));
	expect(inside).toBe(true);
	expect(await harness.records()).toHaveLength(1);
});
