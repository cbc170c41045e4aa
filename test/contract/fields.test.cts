import { checkFieldValue, fieldTypes, usePlatform } from './contract.cts';

const platform = usePlatform();
const data = '/apps/all/tables/types/data';
const money = { amount: 1, currency: 'EUR' };

beforeAll(async () => {
	await platform.admin.createTable({
		app: 'all',
		timeZone: 'America/New_York',
		table: {
			internalName: 'types',
			fieldNameProperty: 'id',
			fields: [
				{ name: 'text', type: 'text', metadata: { maxLength: 5 } },
				{ name: 'number', type: 'number', metadata: { min: 1, max: 9 } },
				{ name: 'decimal', type: 'decimal', metadata: { max: 1.5 } },
				{ name: 'checkbox', type: 'checkbox' },
				{ name: 'date', type: 'date' },
				{ name: 'datetime', type: 'datetime' },
				{ name: 'dropdown', type: 'dropdown', metadata: { items: [{ value: 'a' }] } },
				{ name: 'multi', type: 'dropdownmulti', metadata: { items: [{ value: 'a' }] } },
				{ name: 'chips', type: 'chips' },
				{ name: 'money', type: 'money_with_currency' },
				{ name: 'price', type: 'money' },
				{ name: 'url', type: 'url_link' },
				{ name: 'checklist', type: 'checklist' },
				{ name: 'chat', type: 'chat' },
				{ name: 'link', type: 'schema_link', metadata: { linkTableId: 'types' } },
				{ name: 'links', type: 'schema_link', metadata: { linkTableId: 'types', multiple: true } },
				{ name: 'shown', type: 'schema_link', metadata: { linkTableId: 'types', filterableFields: ['text', 'number'] } },
				{ name: 'counted', type: 'schema_link', metadata: { linkTableId: 'types', multiple: true, filterableFields: ['text', 'number'] } },
				{ name: 'button', type: 'buttonform' },
				{ name: 'system', type: 'system_type', metadata: { source: 'created' } },
				{ name: 'sum', type: 'calculated', metadata: { template: '{text}!' } },
			],
		},
	});
});

/** The value after writing it, or the error's message. */
async function written(name: string, value: unknown): Promise<unknown> {
	const response = await platform.client.post(data, { fields: { [name]: value } });
	return response.status === 201 ? response.data.data.fields[name] : response.data.errors[0].message;
}

test.each<[string, unknown, unknown]>([
	['text', 'five!', 'five!'],
	['text', '', ''],
	['text', null, null],
	['text', '😀😀😀😀😀', '😀😀😀😀😀'],
	['number', 9, 9],
	['decimal', -1.25, -1.25],
	['checkbox', false, false],
	['date', '2024-02-29', '2024-02-29'],
	['date', '2024-03-01T03:00:00Z', '2024-02-29'],
	['date', '2024-03-01T00:00:00Z', '2024-03-01'],
	['date', '2024-03-01T00:00:00.000Z', '2024-03-01'],
	['date', '2024-03-01T03:00:00', '2024-03-01'],
	['date', '2024-03-01Z', '2024-03-01'],
	['date', '2024-03-01T00:00:01Z', '2024-02-29'],
	['datetime', '2024-03-01T03:00:00Z', '2024-03-01T03:00:00.000Z'],
	['datetime', '2024-03-01T03:00:00', '2024-03-01T08:00:00.000Z'],
	['datetime', '2024-03-10T03:30:00', '2024-03-10T07:30:00.000Z'],
	['datetime', '2024-03-01T03:00:00.5Z', '2024-03-01T03:00:00.500Z'],
	['datetime', '2025-12-31Z', '2025-12-31T00:00:00.000Z'],
	['datetime', '2025-12-31', '2025-12-31T05:00:00.000Z'],
	['dropdown', 'a', 'a'],
	['multi', ['a'], ['a']],
	['multi', [], null],
	['chips', ['x', 'y'], ['x', 'y']],
	['money', money, money],
	['money', { ...money, date: '2021-05-06' }, { ...money, date: '2021-05-06' }],
	['money', { ...money, date: '2021-05-06T00:00:00' }, { ...money, date: '2021-05-06' }],
	['url', { href: 'https://example.com' }, { href: 'https://example.com' }],
	['url', { href: 'a@b' }, { href: 'a@b' }],
	['url', { href: 'a@b', description: 'd', isMailto: true }, { href: 'a@b', description: 'd', isMailto: true }],
	['price', 9.99, 9.99],
	['link', null, null],
	['link', { id: null }, null],
	['link', {}, null],
	['links', { add: [], remove: [] }, { count: 0, url: expect.any(String) }],
])('%s accepts %j and returns %j', async (name, value, expected) => {
	expect(await written(name, value)).toEqual(expected);
});

test.each<[string, unknown, string]>([
	['text', 7, 'string'],
	['text', 'sixsix', 'at most 5'],
	['text', { a: 1 }, 'string'],
	['number', 1.5, 'integer'],
	['number', '1', 'integer'],
	['number', 0, 'at least 1'],
	['number', 10, 'at most 9'],
	['decimal', '1', 'number'],
	['decimal', 2, 'at most 1.5'],
	['checkbox', 'true', 'true or false'],
	['date', '2024-02-30', 'YYYY-MM-DD'],
	['date', '01.02.2024', 'YYYY-MM-DD'],
	['date', 7, 'YYYY-MM-DD'],
	['date', '2024-03-01T00:00:00+00:00', 'YYYY-MM-DDTHH:mm:ssZ'],
	['datetime', 'now', 'YYYY-MM-DDTHH:mm:ssZ'],
	['datetime', '2024-02-30T10:00:00Z', 'YYYY-MM-DDTHH:mm:ssZ'],
	['datetime', '2024-02-30Z', 'YYYY-MM-DDTHH:mm:ssZ'],
	['datetime', '2024-W10-1', 'YYYY-MM-DDTHH:mm:ssZ'],
	['datetime', '2024-03-01T03:00:00+02:00', 'YYYY-MM-DDTHH:mm:ssZ'],
	['datetime', '2024-03-01T03:00Z', 'YYYY-MM-DDTHH:mm:ssZ'],
	['datetime', '2024-03-01 03:00:00Z', 'YYYY-MM-DDTHH:mm:ssZ'],
	['datetime', '2024-03-01T03:00:00.1234Z', 'YYYY-MM-DDTHH:mm:ssZ'],
	['price', 9.989, 'two decimals at most'],
	['dropdown', 'b', 'one of "a"'],
	['multi', ['a', 'b'], 'one of "a"'],
	['multi', 'a', 'array'],
	['chips', [1], 'string'],
	['money', 5, 'object'],
	['money', { amount: '5', currency: 'EUR' }, 'number as amount'],
	['money', { amount: 5, currency: 'euro' }, 'currency'],
	['money', { amount: 5, currency: 'EUR', tax: 1 }, "'tax'"],
	['money', { ...money, date: '2021-05-06T01:00:00' }, 'YYYY-MM-DD'],
	['money', { ...money, date: '2021-02-30' }, 'YYYY-MM-DD'],
	['url', 'https://example.com', 'object'],
	['url', {}, 'href'],
	['url', { href: 'mailto:a@b' }, 'without mailto:'],
	['url', { href: 'a@b', isMailto: 'yes' }, 'isMailto'],
	['url', { href: 'a@b', title: 'x' }, "'title'"],
	['checklist', {}, 'lists'],
	['chat', { messages: [{}] }, 'text'],
	['link', 'x', 'object'],
	['link', { id: 'x' }, 'does not exist'],
	['link', { name: 'x' }, 'id that is a string'],
	['links', { add: ['x'] }, 'does not exist'],
	['links', ['x'], 'object'],
	['button', 'x', 'never holds data'],
	['system', 'x', 'read-only'],
	['sum', 'x', 'read-only'],
	['nothing', 'x', 'unknown'],
])('%s rejects %j with: %s', async (name, value, message) => {
	const error = await written(name, value);
	expect(error).toContain(`'${name}'`);
	expect(error).toContain(message);
});

describe.each<[settings: Record<string, unknown>, rows: Array<[name: string, value: string, shown: string | RegExp]>]>([
	[
		{ dates: 'current', dateForms: 'iso' },
		[
			['date', '2024-03-01T03:00:00+00:00', '2024-02-29'],
			['datetime', '2024-07-01T03:00', '2024-07-01T07:00:00.000Z'],
			['datetime', '2024-03-01T03:00:00.5+0200', '2024-03-01T01:00:00.500Z'],
			['datetime', '2024-03-01T03:00:00.1234567Z', '2024-03-01T03:00:00.123Z'],
		],
	],
	[
		{ dates: 'older', dateForms: 'four' },
		[
			['date', '2024-03-01T00:00:00Z', '2024-03-01T00:00:00.000Z'],
			['date', '2024-03-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
			['date', '2024-03-01', /midnight UTC/],
			['date', '2024-03-01Z', /midnight UTC/],
			['date', '2024-03-01T00:00:00', /midnight UTC/],
			['date', '2024-03-01T03:00:00Z', /midnight UTC/],
			['datetime', '2024-03-01T03:00:00.789Z', '2024-03-01T03:00:00.000Z'],
			['datetime', '2024-03-01T03:00:00', /in UTC/],
			['datetime', '2024-03-01', /in UTC/],
			['datetime', '2024-03-01Z', /in UTC/],
			['datetime', '2024-03-01T03:00:00+02:00', /in UTC/],
		],
	],
	[
		{ dates: 'older', dateForms: 'iso' },
		[
			['datetime', '2024-03-01T03:00:00.1234567Z', '2024-03-01T03:00:00.000Z'],
			['datetime', '2024-03-01T03:00:00+00:00', /in UTC/],
			['date', '2024-03-01T00:00:00.0000000Z', '2024-03-01T00:00:00.000Z'],
			['date', '2024-03-01T00:00:00+00:00', /midnight UTC/],
		],
	],
])('with %j', (settings, rows) => {
	beforeAll(() => platform.admin.settings(settings));
	afterAll(() => platform.admin.settings({ dates: 'current', dateForms: 'four' }));

	test.each(rows)('%s takes %s: %s', async (name, value, shown) => {
		if (typeof shown === 'string') expect(await written(name, value)).toBe(shown);
		else expect(await written(name, value)).toMatch(shown);
	});
});

test.each<[dates: 'current' | 'older', condition: object, found: string[]]>([
	...(['current', 'older'] as const).flatMap((dates) =>
		[
			{ field: 'day', operator: 'eq', value: '2024-03-01' },
			{ field: 'day', operator: 'eq', value: '2024-03-01T00:00:00Z' },
			{ field: 'day', operator: 'eq', value: '2024-03-01 00:00:00' },
			{ field: 'day', operator: 'gte', value: '2024-03-01' },
			{ field: 'day', operator: 'in', value: '2024-03-01,2024-03-05' },
			{ field: 'time', operator: 'eq', value: '2024-03-01T10:00:00Z' },
			{ field: 'time', operator: 'gt', value: '2024-03-01 04:59:59' },
			{ field: 'time', operator: 'eq', value: '2024-03-01T05:00:00' },
			{ field: 'time', operator: 'gte', value: '2024-03-01' },
		].map((condition): ['current' | 'older', object, string[]] => [dates, condition, ['b']]),
	),
	['current', { field: 'day', operator: 'lt', value: '2024-03-01T10:00:00Z' }, ['a']],
	['older', { field: 'day', operator: 'lt', value: '2024-03-01T10:00:00Z' }, ['a', 'b']],
])('dates: %s: the filter %j', async (dates, condition, found) => {
	const fields = ['name', 'day', 'time'].map((name, at) => ({ name, type: ['text', 'date', 'datetime'][at]! }));
	const records = [
		{ fields: { name: 'a', day: '2024-02-29', time: '2024-02-29T10:00:00Z' } },
		{ fields: { name: 'b', day: '2024-03-01', time: '2024-03-01T10:00:00Z' } },
	];
	await platform.admin.createTable({ app: 'all', table: { internalName: 'filtered', fields }, records });
	await platform.admin.settings({ dates });
	const response = await platform.client.post('/filtered/data/filter', { filter: [condition] });
	await platform.admin.settings({ dates: 'current' });
	expect((response.data.data as Array<{ fields: { name: string } }>).map((record) => record.fields.name)).toEqual(found);
});

test.each(['2024-03-01T10:00:00+01:00', '2024-03-01T10:00:00.1234Z', 'yesterday'])('no filter takes the time %s', async (value) => {
	const response = await platform.client.post(`${data}/filter`, { filter: [{ field: 'datetime', operator: 'gt', value }] });
	expect(response.status).toBe(400);
});

test('a field without a value may be absent, also of a linked record', async () => {
	await platform.admin.settings({ emptyFields: 'absent' });
	const made = (await platform.client.post(data, { fields: { text: 'a' } })).data.data;
	await platform.admin.settings({ emptyFields: 'null' });
	expect(made.fields).toEqual({ text: 'a', system: made.created, sum: 'a!' });
});

test('an application may tell its time zone', async () => {
	const read = async () => (await platform.client.get('/apps/all')).data.data.timeZone;
	expect(await read()).toBe('America/New_York');
	await platform.admin.settings({ definition: 'documented' });
	expect(await read()).toBeUndefined();
	await platform.admin.settings({ definition: 'full' });
});

test('types may have older names', async () => {
	await platform.admin.settings({ typeNames: 'older' });
	const { items } = (await platform.client.get('/apps/all/tables/types')).data.data;
	await platform.admin.settings({ typeNames: 'today' });
	const types = new Map((items as Array<{ id: string; type: string }>).map(({ id, type }) => [id, type]));
	expect([types.get('button'), types.get('sum'), types.get('text')]).toEqual(['button', 'calculatedfield', 'text']);
});

test.each(['__proto__', 'constructor'])('%s is an ordinary unknown field', async (name) => {
	const headers = { 'Content-Type': 'application/json' };
	const body = `{"fields": {"${name}": {"text": "x"}}}`;
	const response = await platform.client.post(data, body, { headers });
	expect(response.status).toBe(400);
	expect(response.data.errors[0].message).toContain(`'${name}'`);
});

test('links are returned as a URL and changed by adding and removing', async () => {
	const make = async (fields: object) => (await platform.client.post(data, { fields })).data.data;
	const [a, b] = [await make({ text: 'a' }), await make({ text: 'b' })];
	const c = await make({ link: { id: a.id }, links: { add: [a.id, b.id, a.id] } });
	expect(c.fields.link).toEqual({ ...a, fields: {}, url: expect.stringContaining(a.id) });
	expect(c.fields.links.count).toBe(2);
	const change = { link: c.fields.link, links: { remove: [a.id] } };
	const after = (await platform.client.patch(`${data}/${c.id}`, { fields: change })).data.data;
	expect(after.fields.links.count).toBe(1);
	expect((await platform.client.get(after.fields.links.url)).data.data).toEqual([b]);
});

test('links show fields of their records, in the form of the settings', async () => {
	const make = async (fields: object) => (await platform.client.post(data, { fields })).data.data;
	const [a, b] = [await make({ text: 'a', number: 1 }), await make({ text: 'b', number: 2 })];
	const { id } = await make({ shown: { id: a.id }, counted: { add: [a.id, b.id] } });
	const read = async (settings = {}) => {
		await platform.admin.settings(settings);
		const { shown, counted } = (await platform.client.get(`${data}/${id}`)).data.data.fields;
		checkFieldValue('schema_link', 'read', shown);
		checkFieldValue('schema_link', 'read', counted);
		return { shown, counted };
	};
	const url = expect.any(String);
	const fields = { text: { _$$list: 'a, b' }, number: { _$$list: '1, 2', _$$sum: 3 } };
	expect(await read()).toEqual({ shown: { ...a, fields: { text: 'a', number: 1 }, url }, counted: { count: 2, ver: 0, fields, url } });
	const { shown, counted } = await read({ links: 'flat', linkLists: 'withoutUrl' });
	expect({ shown, counted }).toEqual({ shown: { text: 'a', number: 1, id: a.id, url }, counted: { count: 2, ver: 0, fields } });
	for (const value of [shown, { id: a.id }]) checkFieldValue('schema_link', 'write', value);
	await platform.admin.settings({ links: 'nested', linkLists: 'withUrl' });
});

test('a definition has undocumented metadata only with definition full', async () => {
	const metadata = async () => {
		const { items } = (await platform.client.get('/apps/crm/tables/deals')).data.data;
		const byName = new Map<string, object>(items.map((item: { name: string; metadata: object }) => [item.name, item.metadata]));
		return [byName.get('number'), byName.get('company'), byName.get('people'), byName.get('caption')];
	};
	const [tables] = [(await platform.client.get('/apps/crm/tables')).data.data];
	const [companies, contacts] = tables.map((table: { id: string }) => table.id);
	const company = { filterableFields: ['name'] };
	expect(await metadata()).toEqual([
		{ required: true, importKey: true },
		{ ...company, linkTableId: companies },
		{ linkTableId: contacts, multiple: true },
		{ readOnly: true },
	]);
	await platform.admin.settings({ definition: 'documented' });
	expect(await metadata()).toEqual([{ required: true }, company, {}, {}]);
	await platform.admin.settings({ definition: 'full' });
});

test('a checklist has counts, and keeps ids that are not sent', async () => {
	const items = [{ header: 'x', checked: true }, { header: 'y' }];
	const fields = { checklist: { lists: [{ header: 'l', items }] } };
	const made = (await platform.client.post(data, { fields })).data.data;
	expect(made.fields.checklist).toMatchObject({
		progress: 0.5,
		lists: [{ checkedCount: 1, progress: 0.5, items: [{ checked: true }, { checked: false }] }],
	});
	expect((await platform.client.patch(`${data}/${made.id}`, { fields })).data.data).toEqual(made);
});

test('a summary returns days as midnight', async () => {
	const table = {
		internalName: 'days',
		fields: [
			{ name: 'day', type: 'date' },
			{ name: 'time', type: 'datetime' },
		],
	};
	const records = ['2024-03-01', '2023-12-31'].map((day) => ({ fields: { day, time: `${day}T10:00:00Z` } }));
	await platform.admin.createTable({ app: 'all', table, records });
	const aggregations = ['min', 'max'];
	const fields = { day: { aggregations }, time: { aggregations } };
	const summary = (await platform.client.post('/days/data/summary', { fields })).data.data;
	expect(summary.fields).toEqual({
		day: { min: '2023-12-31T00:00:00Z', max: '2024-03-01T00:00:00Z' },
		time: { min: '2023-12-31T10:00:00.000Z', max: '2024-03-01T10:00:00.000Z' },
	});
	const filter = [{ field: 'day', operator: 'lt', value: '1999-01-01' }];
	const none = (await platform.client.post('/days/data/summary', { filter, fields })).data.data;
	expect(none.fields.day).toEqual({ min: null, max: null });
});

test('computed fields are returned and cannot be sorted by', async () => {
	const made = (await platform.client.post(data, { fields: { text: 'hey' } })).data.data;
	expect(made.fields).toMatchObject({ sum: 'hey!', system: made.created });
	expect(made.fields).not.toHaveProperty('button');
	expect((await platform.client.get(`${data}?sort=sum`)).status).toBe(400);
});

test('definitions can have id instead of name, and contain no templates', async () => {
	const { items } = (await platform.client.get('/apps/all/tables/types')).data.data;
	expect(items[0]).toEqual({ id: 'text', header: 'text', type: 'text', metadata: { maxLength: 5 } });
	expect(items.at(-1).metadata).toEqual({ readOnly: true });
});

test('the sample data has every field type, in the form of the contract', async () => {
	const types = new Map<string, string>();
	const values: Array<[string, unknown]> = [];
	for (const table of ['companies', 'contacts', 'deals']) {
		const { items } = (await platform.client.get(`/apps/crm/tables/${table}`)).data.data;
		for (const item of items) types.set(`${table}.${item.name}`, item.type);
		const records = (await platform.client.get(`/${table}/data?limit=1000`)).data.data;
		for (const { fields } of records) {
			for (const [name, value] of Object.entries(fields)) {
				values.push([types.get(`${table}.${name}`) ?? name, value]);
			}
		}
	}
	for (const [type, value] of values) checkFieldValue(type, 'read', value);
	expect([...new Set(types.values())].sort()).toEqual([...fieldTypes].sort());
	const empty = new Set(['picture', 'file']);
	const filled = new Set(values.filter(([, value]) => value !== null).map(([type]) => type));
	const unseen = [...types.values()].filter((type) => !filled.has(type) && !empty.has(type));
	expect(new Set(unseen)).toEqual(new Set(['buttonform', 'freehtmlinput']));
});
