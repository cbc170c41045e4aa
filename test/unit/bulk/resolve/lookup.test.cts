/** Looking records up by import key or id, on a fake platform. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import { lookUp, lookUpByIds, lookUpValues } from '../../../../nodes/DataPlatform/bulk/resolve/lookup.ts';
import type { FieldDefinition, FieldValues, JsonValue } from '../../../../nodes/DataPlatform/api/types.ts';
import { ServiceError } from '../../../../nodes/DataPlatform/transport/errors.ts';
import type { ApiClient } from '../../../../nodes/DataPlatform/transport/client.ts';
import { fieldOf } from '../../fixtures.cts';
import { httpResponse, fakePlatform, notFound, pageResponse } from '../../stubPlatform.cts';
import type { Entry } from '../../../../nodes/DataPlatform/bulk/terms.ts';

const people = (client: ApiClient) => ({ client, at: { table: 'people' } });

type Stored = Record<string, FieldValues>;

interface Condition {
	field: string;
	operator: string;
	value: string;
}

/** `code in a,b loading code,n`, or `GET x`. */
function describeRequest({ method, url, body }: IHttpRequestOptions): string {
	const id = new URL(url).pathname.split('/data/')[1]!;
	if (method === 'GET') return `GET ${id}`;
	const { filter, loadFields } = JSON.parse(String(body)) as { filter: Array<Condition | { filter: Condition[] }>; loadFields?: string[] };
	const [{ field, operator, value }] = filter.flatMap((entry) => ('filter' in entry ? entry.filter : [entry])) as [Condition];
	const loading = loadFields ? ` loading ${loadFields.join(',')}` : '';
	return `${field} ${operator} ${value}${loading}`;
}

/** Whether a request is not one that checks for more. */
const isFirstPage = ({ url }: IHttpRequestOptions) => !new URL(url).searchParams.has('skip');

const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e';

interface Setup {
	key?: FieldDefinition;
	records: Array<Partial<Entry>>;
	/** By request, the records that the platform finds. A GET that is not listed gets 404. */
	stored: Record<string, Stored>;
	loads?: 'sentFields' | 'allFields';
	enough?: number;
}

async function look({ key = fieldOf('code'), records, stored, loads, enough }: Setup) {
	let underWay = 0;
	let mostUnderWay = 0;
	const { connection, sent } = fakePlatform(
		async (request) => {
			underWay += 1;
			mostUnderWay = Math.max(mostUnderWay, underWay);
			await new Promise((resolve) => setImmediate(resolve));
			underWay -= 1;
			const line = describeRequest(request);
			const found = stored[line] ?? stored[line.replace(/ loading.*/, '')];
			const list = Object.entries(found ?? {}).map(([id, fields]) => ({ id, fields }));
			if (!line.startsWith('GET ')) return pageResponse(request, list);
			return list[0] ? httpResponse(200, { data: list[0] }) : notFound();
		},
		{ retryBudgetMs: 0 },
	);
	const planned = records.map((record, index) => {
		const fields = { ...(record.key !== undefined && { [key.name]: record.key }), ...record.fields };
		return { index, ...record, fields };
	});
	const found = await lookUp(people(connection), [key], planned, { loads, enough });
	return {
		found: planned.map((record) =>
			found
				.get(record)
				?.map(({ id }) => id)
				.join(' '),
		),
		requests: sent.filter(isFirstPage).map(describeRequest),
		pages: sent.length,
		mostUnderWay,
	};
}

test.each<[string, Setup, found: string[], requests: string[]]>([
	[
		'many in one request, with the fields that are sent',
		{
			records: [
				{ key: 'a', fields: { code: 'a', n: 1 } },
				{ key: 'b', fields: { code: 'b', m: 1 } },
			],
			stored: { 'code in a,b': { x: { code: 'a' }, y: { code: 'b' } } },
		},
		['x', 'y'],
		['code in a,b loading code,n,m'],
	],
	[
		'with all fields',
		{ records: [{ key: 'a', fields: { code: 'a' } }], stored: { 'code in a': { x: { code: 'a' } } }, loads: 'allFields' },
		['x'],
		['code in a'],
	],
	[
		'none, one and several records have it',
		{
			records: [{ key: 'a' }, { key: 'b' }, { key: 'c' }],
			stored: { 'code in a,b,c': { x: { code: 'b' }, y: { code: 'c' }, z: { code: 'c' } } },
		},
		['', 'x', 'y z'],
		['code in a,b,c loading code'],
	],
	[
		'all that have it, as import keys may repeat',
		{
			key: fieldOf('code', 'text', { importKey: true }),
			records: [{ key: 'a' }],
			stored: { 'code in a': { x: { code: 'a' }, y: { code: 'a' } } },
		},
		['x y'],
		['code in a loading code'],
	],
	[
		'other letter case is another key',
		{ records: [{ key: 'a' }], stored: { 'code in a': { x: { code: 'A' } } } },
		[''],
		['code in a loading code'],
	],
	[
		'of two records that are to be created with one key',
		{ records: [{ key: 'a' }, { key: 'a' }], stored: { 'code in a': { x: { code: 'a' } } } },
		['x', 'x'],
		['code in a loading code'],
	],
	[
		'a number in the form that it is stored in',
		{ key: fieldOf('code', 'number'), records: [{ key: '7' }], stored: { 'code in 7': { x: { code: '7.0' } } } },
		['x'],
		['code in 7 loading code'],
	],
	['nothing without records', { records: [], stored: {} }, [], []],
])('records are found by import key: %s', async (_, setup, found, requests) => {
	expect(await look(setup)).toMatchObject({ found, requests });
});

test.each<[string, FieldValues, string]>([
	['a time without a zone', { code: '2026-11-21T10:30:00' }, '"2026-11-21T10:30:00"'],
	['no value', {}, 'null'],
])('a record that is found with %s in its key could be any of those sought', async (_, fields, shown) => {
	const key = fieldOf('code', 'datetime');
	const stored = { 'code in 2026-11-21T09:30:00.000Z': { x: fields } };
	const message = `The platform returned ${shown} in 'code' of the record 'x', which can't be compared with other values`;
	await expect(look({ key, records: [{ key: '2026-11-21T09:30:00Z' }], stored })).rejects.toMatchObject({
		...{ message, delivery: 'notApplied', hint: 'Find records by another field, or by their IDs.' },
	});
});

test('a value of very many records beside one of few: no more are read than matter', async () => {
	const oslo = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`o${index}`, { code: 'Oslo' }]));
	const { found, requests, pages } = await look({
		records: [{ key: 'Oslo' }, { key: 'Rome' }, { key: 'Nowhere' }],
		stored: { 'code in Nowhere,Oslo,Rome': { ...oslo, r: { code: 'Rome' } }, 'code in Nowhere,Rome': { r: { code: 'Rome' } } },
		enough: 2,
	});
	expect(found).toEqual(['o0 o1', 'r', '']);
	expect(requests).toEqual(['code in Nowhere,Oslo,Rome loading code', 'code in Nowhere,Rome loading code']);
	expect(pages).toBeLessThan(6);
});

describe('by id', () => {
	test.each<[string, Setup, found: string[], requests: string[]]>([
		[
			'one by one; none if there is none',
			{ records: [{ id: 'x' }, { id: 'y' }], stored: { 'GET x': { x: {} } } },
			['x', ''],
			['GET x', 'GET y'],
		],
		['one record, even if it has a key', { records: [{ id: 'x', key: 'a' }], stored: { 'GET x': { x: {} } } }, ['x'], ['GET x']],
		[
			'by their keys first, if those find the same records, in capitals too',
			{
				records: [
					{ id: 'x', key: 'a' },
					{ id: UUID.toUpperCase(), key: 'b' },
				],
				stored: { 'code in a,b': { x: { code: 'a' }, [UUID]: { code: 'b' } } },
			},
			['x', UUID],
			['code in a,b loading code'],
		],
		[
			'if the key is another record’s, or nobody’s',
			{
				records: [
					{ id: 'x', key: 'a' },
					{ id: 'y', key: 'b' },
				],
				stored: { 'code in a,b': { w: { code: 'a' } }, 'GET x': { x: {} }, 'GET y': { y: {} } },
			},
			['x', 'y'],
			['code in a,b loading code', 'GET x', 'GET y'],
		],
	])('%s', async (_, setup, found, requests) => {
		expect(await look(setup)).toMatchObject({ found, requests });
	});

	test('no more records of a key are read than there are IDs with it', async () => {
		const oslo = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`o${index}`, { code: 'Oslo' }]));
		const { found, requests, pages } = await look({
			records: ['o0', 'o1', 'o40000'].map((id) => ({ id, key: 'Oslo' })),
			stored: { 'code in Oslo': oslo, 'GET o40000': { o40000: {} } },
		});
		expect(found).toEqual(['o0', 'o1', 'o40000']);
		expect(requests).toEqual(['code in Oslo loading code', 'GET o40000']);
		expect(pages).toBeLessThan(4);
	});

	test('four at a time', async () => {
		const ids = [...'abcdefgh'];
		const stored = Object.fromEntries(ids.map((id) => [`GET ${id}`, { [id]: {} }]));
		const { found, mostUnderWay } = await look({ records: ids.map((id) => ({ id })), stored });
		expect(found).toEqual(ids);
		expect(mostUnderWay).toBe(4);
	});
});

test('without an import key, records are found by id only', async () => {
	const { connection, sent } = fakePlatform(() => httpResponse(200, { data: { id: 'x', fields: {} } }));
	const records = [
		{ index: 0, key: 'a', fields: {} },
		{ index: 1, key: 'b', id: 'x', fields: {} },
	];
	const found = await lookUp(people(connection), [], records);
	expect(records.map((record) => found.get(record)?.length)).toEqual([0, 1]);
	expect(sent).toHaveLength(1);
});

test.each([401, 403, 500])('a failure with status %i is not an absence', async (status) => {
	const { connection } = fakePlatform(() => httpResponse(status, {}), { retryBudgetMs: 0 });
	await expect(lookUpByIds(people(connection), ['x'])).rejects.toMatchObject({ status });
	const byKey = lookUp(people(connection), [fieldOf('code')], [{ index: 0, key: 'a', fields: { code: 'a' } }]);
	await expect(byKey).rejects.toBeInstanceOf(ServiceError);
});

test('null for an ID that the table does not have', async () => {
	const { connection } = fakePlatform(() => notFound());
	expect([...(await lookUpByIds(people(connection), ['x']))]).toEqual([['x', null]]);
});

describe('records that have certain values in a field', () => {
	type Row = [id: string, code: JsonValue];
	interface Asked {
		operator: string;
		values: string[];
		limit: number;
	}

	/** A platform that ignores case and outer spaces in `in`, as some do, but not in `===`. */
	async function values(rows: Row[], asked: string[], type = 'text') {
		const requests: Asked[] = [];
		let underWay = 0;
		let mostUnderWay = 0;
		const plain = (value: JsonValue) => String(value).trim().replace(/\s+/g, ' ').toLowerCase();
		const { connection } = fakePlatform(async ({ url, body }) => {
			underWay += 1;
			mostUnderWay = Math.max(mostUnderWay, underWay);
			await new Promise((resolve) => setImmediate(resolve));
			underWay -= 1;
			const { filter, loadFields } = JSON.parse(String(body)) as {
				filter: Array<Condition | { filter: Condition[] }>;
				loadFields: string[];
			};
			expect(loadFields).toEqual(['code']);
			const conditions = filter.flatMap((entry) => ('filter' in entry ? entry.filter : [entry]));
			const isHit = ([, code]: Row) =>
				conditions.some(({ operator, value }) =>
					operator === 'in'
						? value.split(',').map(plain).includes(plain(code))
						: operator === '==='
							? value === code
							: plain(value) === plain(code),
				);
			const { searchParams } = new URL(url);
			const [limit, skip] = ['limit', 'skip'].map((name) => Number(searchParams.get(name) ?? 0));
			if (skip === 0) {
				requests.push({ operator: conditions[0]!.operator, values: conditions.flatMap(({ value }) => value.split(',')), limit: limit! });
			}
			const found = rows.filter(isHit).slice(skip, skip! + limit!);
			return httpResponse(200, { data: found.map(([id, code]) => ({ id, fields: { code } })) });
		});
		const found = await lookUpValues(people(connection), fieldOf('code', type), asked);
		return { found: Object.fromEntries(found), requests, mostUnderWay };
	}

	/** `x Fox`: the record x holds Fox. */
	const rowsOf = (...rows: string[]) => rows.map((row) => row.split(' ', 2) as [id: string, code: string]);

	const none = { ids: [], similar: undefined };
	test.each<[string, Row[], asked: string[], found: object]>([
		['one, none', [['x', 'a']], ['a', 'b'], { a: { ids: ['x'] }, b: none }],
		['several: two are enough to know', rowsOf('x a', 'y a', 'z a'), ['a'], { a: { ids: ['x', 'y'] } }],
		['another case is another value', [['x', 'Fox']], ['fox'], { fox: { ids: [], similar: 'Fox' } }],
		['the value itself, beside one that is similar', rowsOf('x Fox', 'y fox'), ['fox'], { fox: { ids: ['y'] } }],
		['other spaces are another value', [['x', 'Ann Fox']], [' Ann  Fox '], { ' Ann  Fox ': { ids: [], similar: 'Ann Fox' } }],
		['the first of those that are similar', rowsOf('x FOX', 'y Fox'), ['fox'], { fox: { ids: [], similar: 'FOX' } }],
	])('%s', async (_, rows, asked, found) => {
		expect((await values(rows, asked)).found).toEqual(found);
	});

	test('many in one request, twice as many as are asked for', async () => {
		const { requests } = await values([['x', 'a']], ['a', 'b', 'c']);
		expect(requests).toEqual([{ operator: 'in', values: ['a', 'b', 'c'], limit: 6 }]);
	});

	test('also without the spaces around them', async () => {
		const { requests } = await values([], [' a ', 'b']);
		expect(requests).toEqual([{ operator: 'in', values: ['a', 'b', ' a '], limit: 6 }]);
	});

	test('a value that crowds out the others is not the end of them', async () => {
		const crowd = Array.from({ length: 20 }, (_, index): Row => [`r${index}`, 'A']);
		const { found, requests } = await values([...crowd, ['x', 'a'], ['y', 'b']], ['a', 'b', 'c']);
		expect(found).toEqual({ a: { ids: ['x'] }, b: { ids: ['y'] }, c: none });
		expect(requests.map(({ operator, values: asked, limit }) => [operator, asked, limit])).toEqual([
			['in', ['a', 'b', 'c'], 6],
			['in', ['a', 'b'], 4],
			['in', ['a'], 2],
			['===', ['a'], 1000],
			['in', ['b'], 2],
			['in', ['c'], 2],
		]);
	});

	test('a number is asked for alone as the platform compares it', async () => {
		const rows: Row[] = [
			['x', 7],
			['y', 7],
			['z', 8],
		];
		const { found, requests } = await values(rows, ['7'], 'number');
		expect(found).toEqual({ 7: { ids: ['x', 'y'] } });
		expect(requests.map(({ operator }) => operator)).toEqual(['in']);
	});

	test('what is known to be there twice is not looked for again', async () => {
		const rows = Array.from({ length: 4 }, (_, index): Row => [`r${index}`, 'a']);
		const { found, requests } = await values([...rows, ['y', 'b']], ['a', 'b']);
		expect(found).toEqual({ a: { ids: ['r0', 'r1'] }, b: { ids: ['y'] } });
		expect(requests.map(({ values: asked }) => asked)).toEqual([['a', 'b'], ['b']]);
	});

	test('1,000 in a request, four requests at a time', async () => {
		const asked = Array.from({ length: 5000 }, (_, index) => `v${index}`);
		const { found, requests, mostUnderWay } = await values([['x', 'v4999']], asked);
		expect(found.v4999).toEqual({ ids: ['x'] });
		expect(requests.map(({ values: { length } }) => length)).toEqual([1000, 1000, 1000, 1000, 1000]);
		expect(mostUnderWay).toBe(4);
	});
});

describe('by several fields, and no more than are needed', () => {
	/** The platform finds the same records, whatever the request. */
	async function find(keys: FieldDefinition[], items: FieldValues[], stored: FieldValues[], enough?: number) {
		const list = stored.map((fields, index) => ({ id: `r${index}`, fields }));
		const { connection, sent } = fakePlatform((request) => pageResponse(request, list));
		const planned = items.map((fields, index) => ({ index, fields }));
		const found = await lookUp(people(connection), keys, planned, { loads: 'keys', enough });
		return {
			ids: planned.map((record) => found.get(record)!.map(({ id }) => id)),
			requests: sent.length,
			body: JSON.parse(String(sent[0]!.body)) as object,
		};
	}
	const [name, city] = [fieldOf('name'), fieldOf('city')];
	const times = (count: number, value: FieldValues) => Array.from({ length: count }, () => value);

	test('a record has all of the values', async () => {
		const { ids, body } = await find(
			[name, city],
			[
				{ name: 'a', city: 'Oslo' },
				{ name: 'b', city: 'Rome' },
			],
			[
				{ name: 'a', city: 'Rome' },
				{ name: 'b', city: 'Rome' },
				{ name: 'a', city: 'Oslo' },
			],
		);
		expect(ids).toEqual([['r2'], ['r1']]);
		expect(body).toEqual({
			filter: [
				{ field: 'name', operator: 'in', value: 'a,b' },
				{ field: 'city', operator: 'in', value: 'Oslo,Rome' },
			],
			filterOperator: 'and',
			loadFields: ['name', 'city'],
		});
	});

	const other = times(2500, { name: 'A' });
	const [asked, inOslo] = [{ name: 'a' }, { name: 'a', city: 'Oslo' }];
	test.each<[what: string, stored: FieldValues[], enough: number, ids: string[], isWhole: boolean]>([
		['the first is enough', [asked, ...other], 1, ['r0'], false],
		['two are enough', [asked, asked, ...other], 2, ['r0', 'r1'], false],
		['two, far apart', [asked, ...other, asked], 2, ['r0', 'r2501'], true],
		['all', [asked, ...other, asked], Infinity, ['r0', 'r2501'], true],
	])('of many: %s', async (_, stored, enough, ids, isWhole) => {
		const found = await find([name], [inOslo], stored, enough);
		expect(found.ids).toEqual([ids]);
		expect(found.requests >= 3).toBe(isWhole);
	});
});
