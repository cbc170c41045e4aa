import { usePlatform } from './contract.cts';

const platform = usePlatform({ seeded: false });
const people = '/apps/zoo/tables/people/data';
const homes = '00000000-0000-4000-8000-00000000000';

beforeAll(async () => {
	await platform.admin.createTable({
		app: 'zoo',
		timeZone: 'Europe/Berlin',
		table: { internalName: 'homes', fields: [{ name: 'city', type: 'text' }] },
		records: [
			{ id: `${homes}1`, fields: { city: 'Oslo' } },
			{ id: `${homes}2`, fields: { city: 'Rome, Italy' } },
		],
	});
	await platform.admin.createTable({
		app: 'zoo',
		table: {
			internalName: 'people',
			fields: [
				{ name: 'key', type: 'text', metadata: { importKey: true } },
				{ name: 'name', type: 'text' },
				{ name: 'age', type: 'number' },
				{ name: 'tall', type: 'checkbox' },
				{ name: 'born', type: 'date' },
				{ name: 'seen', type: 'datetime' },
				{ name: 'tags', type: 'chips' },
				{ name: 'pay', type: 'money_with_currency' },
				{ name: 'home', type: 'schema_link', metadata: { linkTableId: 'homes' } },
				{ name: 'visits', type: 'schema_link', metadata: { linkTableId: 'homes', multiple: true } },
				{ name: 'owner', type: 'text' },
			],
			views: [{ name: 'Grown up', filter: 'age(gte)18' }],
		},
		records: [
			{
				id: `${homes.slice(0, -1)}aa`,
				fields: {
					key: 'a',
					name: 'Fox',
					age: 10,
					tall: true,
					born: '2014-05-01',
					seen: '2024-01-01T00:30:00Z',
					tags: ['red', 'quick'],
					pay: { amount: 5, currency: 'EUR' },
					home: { id: `${homes}1` },
					visits: { add: [`${homes}1`, `${homes}2`] },
					owner: 'admin@example.com',
				},
			},
			{ fields: { key: 'b', name: 'fox terrier', age: 20, home: { id: `${homes}2` } } },
			{ fields: { key: 'c', name: 'Dog, old', age: 30, tall: false, tags: ['quick'] } },
			{ fields: { key: 'd', name: '', age: 20 } },
			{ fields: { key: 'e' } },
			{ fields: { key: 'f', name: 'a(b),c(eq)d' } },
		],
	});
});

/** The keys of the matching records, one letter each; or the status of an error. */
async function found(request: Promise<{ status: number; data: { data: unknown } }>) {
	const { status, data } = await request;
	if (status !== 200) return status;
	return (data.data as Array<{ fields: { key: string } }>).map((record) => record.fields.key).join('');
}
const byQuery = (filter: string) => found(platform.client.get(people, { params: { filter } }));
const byBody = (filter: unknown[], filterOperator?: 'and' | 'or') =>
	found(platform.client.post(`${people}/filter`, { filter, filterOperator }));

const conditions: Array<[string, string, string | undefined, string]> = [
	['name', 'contains', 'FOX', 'ab'],
	['name', 'notcontains', 'fox', 'cdef'],
	['name', 'startswith', 'fox', 'ab'],
	['name', 'endswith', 'terrier', 'b'],
	['name', 'endswith', 'OX', 'a'],
	['name', 'eq', 'fox', 'a'],
	['name', '===', 'fox', ''],
	['name', '===', 'Fox', 'a'],
	['name', 'neq', 'fox', 'bcdef'],
	['name', 'empty', undefined, 'de'],
	['name', 'notempty', undefined, 'abcf'],
	['age', 'eq', '20', 'bd'],
	['age', 'gt', '20', 'c'],
	['age', 'gte', '20', 'bcd'],
	['age', 'lt', '20', 'a'],
	['age', 'lte', '20', 'abd'],
	['age', 'neq', '20', 'acef'],
	['age', 'duplicity', undefined, 'bd'],
	['name', 'duplicity', undefined, ''],
	['owner', 'currentuser', undefined, 'a'],
	['tall', 'eq', 'true', 'a'],
	['tall', 'eq', 'false', 'c'],
	['tall', 'empty', undefined, 'bdef'],
	['born', 'lt', '2014-05-02', 'a'],
	['born', 'eq', '2014-05-01', 'a'],
	['born', 'eq', '2014-05-01T00:00:00Z', 'a'],
	['born', 'eq', '2014-04-30T23:00:00Z', 'a'],
	['seen', 'gte', '2024-01-01T01:30:00', 'a'],
	['seen', 'gt', '2024-01-01T01:30:00', ''],
	['tags', 'eq', 'red', 'a'],
	['tags', 'contains', 'ick', 'ac'],
	['tags', 'neq', 'red', 'bcdef'],
	['tags', 'empty', undefined, 'bdef'],
	['pay', 'gte', '5', 'a'],
	['home', 'eq', `${homes}1`, 'a'],
	['home', 'notempty', undefined, 'ab'],
	['home.city', 'eq', 'Oslo', 'a'],
	['home.city', 'neq', 'Oslo', 'bcdef'],
	['visits.city', 'startswith', 'rome', 'a'],
	['key', 'eq', 'A', 'a'],
	['key', 'gt', 'd', 'ef'],
	['modified', 'gt', '2020-01-01T00:00:00Z', 'abcdef'],
	['created', 'lt', '2020-01-01T00:00:00Z', ''],
	['home.id', 'eq', `${homes}1`, 'a'],
	['visits.id', 'eq', `${homes}2`, 'a'],
	['home.created', 'gt', '2020-01-01T00:00:00Z', 'ab'],
	['id', 'eq', `${homes.slice(0, -1)}AA`, 'a'],
];

test.each(conditions)('%s %s %s matches %j, in a query and in a body', async (field, operator, value, keys) => {
	expect(await byQuery(`${field}(${operator})${value ?? ''}`)).toBe(keys);
	expect(await byBody([{ field, operator, value }])).toBe(keys);
});

test.each(['\\\\,', '\\,'])('a comma inside a value may be written as %s', async (comma) => {
	expect(await byQuery(`name(eq)Dog${comma} old`)).toBe('c');
	expect(await byQuery(`home.city(contains)Rome${comma} I,age(eq)20`)).toBe('b');
	expect(await byQuery(`name(in)(Dog${comma} old,Fox)`)).toBe('ac');
	expect(await byBody([{ field: 'name', operator: 'in', value: `Dog${comma} old,Fox` }])).toBe('ac');
	expect(await byBody([{ field: 'name', operator: 'notin', value: `Dog${comma} old,Fox` }])).toBe('bdef');
});

test('a single value in a body needs no escaping', async () => {
	const named = (value: string) => byBody([{ field: 'name', operator: '===', value }]);
	expect(await named('Dog, old')).toBe('c');
	expect(await named('Dog\\, old')).toBe('');
	const table = { internalName: 'odd', fields: [{ name: 'key', type: 'text', metadata: { importKey: true } }] };
	const keys = ['a,b', 'a\\,b', 'a\\\\,b', 'a\\'];
	const records = keys.map((key) => ({ fields: { key } }));
	await platform.admin.createTable({ app: 'zoo', table, records });
	for (const value of keys) {
		const filter = [{ field: 'key', operator: '===', value }];
		expect(await found(platform.client.post('/odd/data/filter', { filter }))).toBe(value);
	}
});

test('a condition can have a list of values', async () => {
	expect(await byQuery('key(in)(a,C,x)')).toBe('ac');
	expect(await byQuery('key(notin)(a,c)')).toBe('bdef');
	expect(await byQuery('name(in)(Dog\\\\, old,Fox),age(lt)20')).toBe('a');
	expect(await byQuery('name(in)(a(b)\\\\,c(eq)d,Fox)')).toBe('af');
	expect(await byQuery('age(in)(10,30),tags(in)(quick)')).toBe('ac');
	expect(await byQuery('age(in)()')).toBe(400);
	expect(await byBody([{ field: 'name', operator: 'in', value: 'Dog\\\\, old,Fox' }])).toBe('ac');
	expect(await byBody([{ field: 'age', operator: 'in', value: 10 }])).toBe('a');
	const many = Array.from({ length: 5000 }, (_, index) => `k${index}`).join(',');
	expect(await byBody([{ field: 'key', operator: 'in', value: `${many},a` }])).toBe('a');
});

test('groups of conditions can be nested, each with AND or OR', async () => {
	const fox = { field: 'name', operator: 'contains', value: 'fox' };
	const young = { field: 'age', operator: 'lt', value: 15 };
	const old = { field: 'age', operator: 'gte', value: 30 };
	expect(await byBody([fox, young])).toBe('a');
	expect(await byBody([fox, old], 'or')).toBe('abc');
	expect(await byBody([fox, { filter: [young, old], filterOperator: 'or' }])).toBe('a');
	expect(await byBody([{ filter: [{ filter: [fox] }] }, { filter: [] }])).toBe('ab');
	expect(await byBody([])).toBe('abcdef');
});

test.each([
	...['name', 'name(', 'name(is)x', 'name(eq)a,b', 'name(eq)a,', ',name(eq)a', 'name(empty)x', 'name(in)a', 'nothing(eq)a', 'ver(eq)0'],
	...['age(gt)ten', 'tall(eq)maybe', 'born(gt)yesterday'],
	...['name.city(eq)x', 'home.nothing(eq)x', 'home.city(duplicity)', 'age(currentuser)'],
])('the filter %s is rejected', async (filter) => {
	expect(await byQuery(filter)).toBe(400);
});

test('a condition in a body with a missing or an extra value is rejected', async () => {
	expect(await byBody([{ field: 'name', operator: 'eq' }])).toBe(400);
	expect(await byBody([{ field: 'name', operator: 'empty', value: 'x' }])).toBe(400);
	expect(await byBody([{ field: 'name', operator: 'eq', value: '' }])).toBe('d');
});

test('a condition in a body takes a list of values in place of a value', async () => {
	const values = (field: string, operator: string, ...listed: unknown[]) => byBody([{ field, operator, values: listed }]);
	expect(await values('name', 'in', 'Dog, old', 'Fox')).toBe('ac');
	expect(await values('age', 'notin', 10, 20)).toBe('cef');
	expect(await values('tags', 'in', 'red', 'blue')).toBe('a');
	expect(await values('name', 'eq', 'Fox')).toBe('a');
	expect(await values('name', 'eq', 'Fox', 'Dog, old')).toBe(400);
	expect(await values('name', 'empty', 'Fox')).toBe(400);
	expect(await values('name', 'in')).toBe(400);
	expect(await byBody([{ field: 'name', operator: 'in', value: 'Fox', values: ['Fox'] }])).toBe(400);
});

test('fullText finds a text in any field, beside a filter', async () => {
	const filter = [{ field: 'age', operator: 'gte', value: 20 }];
	const search = (body: object) => found(platform.client.post(`${people}/filter`, body));
	expect(await search({ fullText: 'FOX' })).toBe('ab');
	expect(await search({ fullText: 'fox', filter })).toBe('b');
	const count = await platform.client.post(`${people}/count/filter`, { fullText: 'fox', filter });
	expect(count.data.data.count).toBe(1);
	expect(await search({ filter: [{ fullText: 'fox' }] })).toBe(400);
});

test('a plus in a query is a plus if it is encoded', async () => {
	expect(await found(platform.client.get(`${people}?filter=name(eq)C%2B%2B`))).toBe('');
	const key = 'C++';
	const { id } = (await platform.client.post(people, { fields: { key } })).data.data;
	expect(await found(platform.client.get(`${people}?filter=key(eq)C%2B%2B`))).toBe(key);
	await platform.client.delete(`${people}/${id}`);
});

describe('if unknown names in filters and sorts are ignored', () => {
	beforeAll(async () => await platform.admin.settings({ filterNames: 'ignored' }));
	afterAll(async () => await platform.admin.settings({ filterNames: 'validated' }));
	const filter = [{ field: 'nothing', operator: 'eq', value: 'a' }];

	test.each([
		['nothing(eq)a', 'abcdef'],
		['nothing(eq)a,age(eq)20', 'bd'],
		['home.nothing(eq)a', 'abcdef'],
		['name.city(eq)a', 'abcdef'],
		['age(gt)ten', 400],
		['nothing', 400],
	])('the filter %s matches %s', async (text, keys) => {
		expect(await byQuery(text)).toBe(keys);
	});

	test('a group of such conditions restricts nothing either', async () => {
		const age = { field: 'age', operator: 'eq', value: 20 };
		expect(await byBody([...filter, { filter, filterOperator: 'or' }])).toBe('abcdef');
		expect(await byBody([...filter, age], 'or')).toBe('bd');
		expect(await byBody([{ filter }, age], 'or')).toBe('bd');
	});

	test('sorts, counts, summaries and chosen fields leave it out', async () => {
		expect(await found(platform.client.get(people, { params: { sort: 'nothing,age(desc),key' } }))).toBe('cbdaef');
		expect(await found(platform.client.get(people, { params: { sort: 'nothing(desc)' } }))).toBe('abcdef');
		const count = { params: { filter: 'nothing(eq)a' } };
		expect((await platform.client.get(`${people}/count`, count)).data.data.count).toBe(6);
		expect((await platform.client.post(`${people}/count/filter`, { filter })).data.data.count).toBe(6);
		const fields = { age: { aggregations: ['max'] }, nothing: { aggregations: ['sum'] } };
		const summary = await platform.client.post(`${people}/summary`, { filter, fields });
		expect(summary.data.data).toEqual({ count: 6, fields: { age: { max: 30 } } });
		const loaded = await platform.client.post(`${people}/filter?limit=1`, { loadFields: ['age', 'nothing'] });
		expect(loaded.data.data[0].fields).toEqual({ age: 10 });
	});

	test('an unknown query parameter is still rejected', async () => {
		expect(await found(platform.client.get(people, { params: { filters: 'age(eq)20' } }))).toBe(400);
	});

	test('a deletion by such a filter deletes all', async () => {
		await platform.admin.createTable({
			app: 'zoo',
			table: { internalName: 'gone', fields: [{ name: 'name', type: 'text' }] },
			records: [{ fields: { name: 'a' } }, { fields: { name: 'b' } }],
		});
		const gone = '/apps/zoo/tables/gone/data';
		expect((await platform.client.delete(`${gone}/bulk?limit=9&filter=nmae(eq)a`)).status).toBe(204);
		expect((await platform.client.get(`${gone}/count`)).data.data.count).toBe(0);
	});
});

test('a platform may serve tables within their applications only', async () => {
	await platform.admin.settings({ shortAddress: 'notFound' });
	for (const path of ['/people/data', `/people/data/${homes}1`, '/people/data/count']) {
		expect((await platform.client.get(path)).status).toBe(404);
	}
	expect((await platform.client.post('/people/data', { fields: { key: 'x' } })).status).toBe(404);
	expect(await byQuery('age(eq)20')).toBe('bd');
	expect((await platform.client.get('/apps/zoo/schemas/people/data/count')).data.data.count).toBe(6);
	await platform.admin.settings({ shortAddress: 'served' });
});

test('records are sorted, limited and skipped as requested; other values are rejected', async () => {
	const list = (params: object) => found(platform.client.get(people, { params }));
	expect(await list({ sort: 'age(desc),name' })).toBe('cdbaef');
	expect(await list({ sort: 'age(desc),name(desc)' })).toBe('cbdafe');
	expect(await list({ sort: 'modified(desc)', limit: 2 })).toBe('fe');
	expect(await list({ sort: 'id' })).toHaveLength(6);
	expect(await list({ sort: 'created', skip: 4 })).toBe('ef');
	expect(await list({ limit: 0 })).toBe('');
	expect(await list({ skip: 99 })).toBe('');
	for (const params of [{ limit: 1001 }, { limit: -1 }, { limit: 'x' }, { skip: -1 }]) {
		expect(await list(params)).toBe(400);
	}
	for (const sort of ['nothing', 'age(up)', 'tags', '']) expect(await list({ sort })).toBe(400);
	expect(await found(platform.client.get(`${people}?limit=1&limit=2`))).toBe(400);
});

test('a saved view filters, alone and with a filter', async () => {
	const table = (await platform.client.get('/apps/zoo/tables/people')).data.data;
	const userFilter = table.settings.userFilters[0].id;
	expect(await found(platform.client.get(people, { params: { userFilter } }))).toBe('bcd');
	const both = { userFilter, filter: 'name(contains)fox' };
	expect(await found(platform.client.get(people, { params: both }))).toBe('b');
	expect((await platform.client.get(`${people}/count`, { params: both })).data.data.count).toBe(1);
	expect(await found(platform.client.get(people, { params: { userFilter: 'nothing' } }))).toBe(400);
});

test('loadFields chooses the fields that are returned', async () => {
	const body = { loadFields: ['name', 'age'] };
	const response = await platform.client.post(`${people}/filter?limit=1`, body);
	expect(response.data.data[0].fields).toEqual({ name: 'Fox', age: 10 });
	expect((await platform.client.post(`${people}/filter`, { loadFields: ['nothing'] })).status).toBe(400);
});

test('the url of a link returns the linked records', async () => {
	const [fox] = (await platform.client.get(people, { params: { limit: 1 } })).data.data;
	expect((await platform.client.get(fox.fields.home.url)).data.data.fields.city).toBe('Oslo');
	expect(fox.fields.visits.count).toBe(2);
	const visits = (await platform.client.get(fox.fields.visits.url)).data.data;
	expect(visits.map((record: { id: string }) => record.id)).toEqual([`${homes}1`, `${homes}2`]);
	const [url] = fox.fields.visits.url.split('&linkField');
	expect((await platform.client.get(url)).status).toBe(400);
	expect((await platform.client.get(`${url}&linkField=home2`)).status).toBe(400);
});
