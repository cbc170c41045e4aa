/** Looking records up by import key or id, on a fake platform. */
import type { IHttpRequestOptions } from 'n8n-workflow';
import { lookUp, lookUpByIds } from '../../nodes/DataPlatform/bulk/lookup.ts';
import type { PlannedRecord } from '../../nodes/DataPlatform/bulk/plan.ts';
import type { FieldDefinition, FieldValues } from '../../nodes/DataPlatform/api/types.ts';
import { ServiceError } from '../../nodes/DataPlatform/transport/errors.ts';
import { fieldOf } from './fixtures.cts';
import { answer, fakePlatform } from './stubPlatform.cts';

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
	const { filter, loadFields } = JSON.parse(String(body)) as {
		filter: Array<Condition | { filter: Condition[] }>;
		loadFields?: string[];
	};
	const [{ field, operator, value }] = filter.flatMap((entry) =>
		'filter' in entry ? entry.filter : [entry],
	) as [Condition];
	const loading = loadFields ? ` loading ${loadFields.join(',')}` : '';
	return `${field} ${operator} ${value}${loading}`;
}

interface Setup {
	key?: FieldDefinition;
	records: Array<Partial<PlannedRecord>>;
	/** By request, the records that the platform finds; 404 for a GET that is not named. */
	stored: Record<string, Stored>;
	loads?: 'sentFields' | 'allFields';
}

async function look({ key = fieldOf('code'), records, stored, loads }: Setup) {
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
			if (!line.startsWith('GET ')) return answer(200, { data: list });
			return list[0] ? answer(200, { data: list[0] }) : answer(404, {});
		},
		{ retryBudgetMs: 0 },
	);
	const planned = records.map((record, index) => {
		const value = record.key ?? record.sharedKey?.text;
		const fields = { ...(value !== undefined && { [key.name]: value }), ...record.fields };
		return { index, ...record, fields };
	});
	const found = await lookUp(connection, { table: 'people' }, [key], planned, loads);
	return {
		found: planned.map((record) =>
			found
				.get(record)
				?.map(({ id }) => id)
				.join(' '),
		),
		requests: sent.map(describeRequest),
		mostUnderWay,
	};
}

describe('by import key', () => {
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
			{
				records: [{ key: 'a', fields: { code: 'a' } }],
				stored: { 'code in a': { x: { code: 'a' } } },
				loads: 'allFields',
			},
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
			'other letter case is another key',
			{ records: [{ key: 'a' }], stored: { 'code in a': { x: { code: 'A' } } } },
			[''],
			['code in a loading code'],
		],
		[
			'of two records that are to be created with one key',
			{
				records: [
					{ sharedKey: { text: 'a', isFirst: true } },
					{ sharedKey: { text: 'a', isFirst: false } },
				],
				stored: { 'code in a': { x: { code: 'a' } } },
			},
			['x', 'x'],
			['code in a loading code'],
		],
		[
			'a number in the form that it is stored in',
			{
				key: fieldOf('code', 'number'),
				records: [{ key: '7' }],
				stored: { 'code in 7': { x: { code: '7.0' } } },
			},
			['x'],
			['code in 7 loading code'],
		],
		[
			'a key that only the platform understands is looked up alone, and what is found has it',
			{
				key: fieldOf('code', 'datetime'),
				records: [{ key: '2026-11-21T09:30:00', hasUncertainKey: true }],
				stored: { 'code eq 2026-11-21T09:30:00.000': { x: { code: '2026-11-21T08:30:00Z' } } },
			},
			['x'],
			['code eq 2026-11-21T09:30:00.000 loading code'],
		],
		[
			'what was not found is looked up alone where a stored key can’t be compared',
			{
				key: fieldOf('code', 'date'),
				records: [{ key: '2026-11-20' }, { key: '2026-11-21' }, { key: '2026-11-22' }],
				stored: {
					'code in 2026-11-20,2026-11-21,2026-11-22': {
						x: { code: '2026-11-20' },
						y: { code: '2026-11-20T23:00:00Z' },
					},
					'code eq 2026-11-21': { y: { code: '2026-11-20T23:00:00Z' } },
				},
			},
			['x', 'y', ''],
			[
				'code in 2026-11-20,2026-11-21,2026-11-22 loading code',
				'code eq 2026-11-21 loading code',
				'code eq 2026-11-22 loading code',
			],
		],
		[
			'what was not found is looked up alone where a record is shown without its key',
			{
				records: [{ key: 'a' }],
				stored: { 'code in a': { x: {} }, 'code eq a': { x: {} } },
			},
			['x'],
			['code in a loading code', 'code eq a loading code'],
		],
		['nothing without records', { records: [], stored: {} }, [], []],
	])('%s', async (_, setup, found, requests) => {
		expect(await look(setup)).toMatchObject({ found, requests });
	});
});

describe('by id', () => {
	test.each<[string, Setup, found: string[], requests: string[]]>([
		[
			'one by one; none where there is none',
			{ records: [{ id: 'x' }, { id: 'y' }], stored: { 'GET x': { x: {} } } },
			['x', ''],
			['GET x', 'GET y'],
		],
		[
			'by the key first, where that finds the same record',
			{
				records: [{ id: 'x', key: 'a' }],
				stored: { 'code in a': { w: { code: 'a' }, x: { code: 'a' } } },
			},
			['x'],
			['code in a loading code'],
		],
		[
			'where the key is another record’s, or nobody’s',
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

	test('four at a time', async () => {
		const ids = [...'abcdefgh'];
		const stored = Object.fromEntries(ids.map((id) => [`GET ${id}`, { [id]: {} }]));
		const { found, mostUnderWay } = await look({ records: ids.map((id) => ({ id })), stored });
		expect(found).toEqual(ids);
		expect(mostUnderWay).toBe(4);
	});
});

test('without an import key, records are found by id only', async () => {
	const { connection, sent } = fakePlatform(() => answer(200, { data: { id: 'x', fields: {} } }));
	const records = [
		{ index: 0, key: 'a', fields: {} },
		{ index: 1, key: 'b', id: 'x', fields: {} },
	];
	const found = await lookUp(connection, { table: 'people' }, [], records);
	expect(records.map((record) => found.get(record)?.length)).toEqual([0, 1]);
	expect(sent).toHaveLength(1);
});

test.each([401, 403, 500])('a failure with status %i is not an absence', async (status) => {
	const { connection } = fakePlatform(() => answer(status, {}), { retryBudgetMs: 0 });
	await expect(lookUpByIds(connection, { table: 'people' }, ['x'])).rejects.toMatchObject({
		status,
	});
	const byKey = lookUp(
		connection,
		{ table: 'people' },
		[fieldOf('code')],
		[{ index: 0, key: 'a', fields: { code: 'a' } }],
	);
	await expect(byKey).rejects.toBeInstanceOf(ServiceError);
});

test('null for an id that the table has not got', async () => {
	const { connection } = fakePlatform(() => answer(404, {}));
	expect([...(await lookUpByIds(connection, { table: 'people' }, ['x']))]).toEqual([['x', null]]);
});
