/** The times of new records, and values that are stored after the response. */
import { waitUntil } from '../support/waitUntil.mts';
import { usePlatform } from './contract.cts';

interface Shown {
	id: string;
	created: string;
	modified: string;
	ver: number;
	fields: Record<string, unknown>;
}

const data = '/apps/shop/tables/orders/data';
const buyers = { internalName: 'buyers', fields: [{ name: 'name', type: 'text' }] };
const fields = [
	{ name: 'name', type: 'text' },
	{ name: 'number', type: 'number', metadata: { series: true, readOnly: true } },
	{ name: 'label', type: 'calculated', metadata: { template: '<{name}>' } },
	{ name: 'buyer', type: 'schema_link', metadata: { linkTableId: 'buyers' } },
	{ name: 'others', type: 'schema_link', metadata: { linkTableId: 'buyers', multiple: true } },
];
const BUYER = '00000000-0000-4000-8000-00000000000a';

const platform = usePlatform({ seeded: false });

beforeEach(async () => {
	await platform.admin.reset();
	await platform.admin.createTable({ app: 'shop', table: buyers, records: [{ id: BUYER, fields: { name: 'Ann' } }] });
	await platform.admin.createTable({ app: 'shop', table: { internalName: 'orders', fields } });
});

const create = async (values: object): Promise<Shown> => (await platform.client.post(data, { fields: values })).data.data;
const read = async (id: string): Promise<Shown> => (await platform.client.get(`${data}/${id}`)).data.data;
const short = ({ ver, fields: { name, number, label, buyer, others } }: Shown) => [
	ver,
	name,
	number,
	label,
	(buyer as { id: string } | null)?.id ?? null,
	(others as { count: number }).count,
];

test('a new record is modified when it is created, or 1 ms to 1 s later', async () => {
	const distance = ({ created, modified }: Shown) => Date.parse(modified) - Date.parse(created);
	expect(distance(await create({}))).toBe(0);
	await platform.admin.settings({ newRecordModified: 'later' });
	const made: Shown[] = [];
	for (let count = 0; count < 5; count += 1) made.push(await create({}));
	const distances = made.map(distance);
	expect(Math.min(...distances)).toBeGreaterThanOrEqual(1);
	expect(Math.max(...distances)).toBeLessThanOrEqual(1000);
	expect(new Set(distances).size).toBeGreaterThan(1);
	expect(made.map(({ ver }) => ver)).toEqual([0, 0, 0, 0, 0]);
	const times = made.map(({ modified }) => Date.parse(modified));
	expect(times).toEqual([...times].sort((a, b) => a - b));
});

test('a number series numbers new records, and nobody else', async () => {
	const numbers = [await create({}), await create({})].map((record) => record.fields.number);
	expect(numbers).toEqual([1, 2]);
	const response = await platform.client.post(data, { fields: { number: 7 } });
	expect([response.status, response.data.errors[0].message]).toEqual([400, "Field 'number' numbers itself."]);
	const { id } = await create({});
	await platform.client.put(`${data}/${id}`, { fields: { name: 'x' } });
	expect((await read(id)).fields.number).toBe(3);
	const definition = (await platform.client.get('/apps/shop/tables/orders')).data.data.items[1].metadata;
	expect(definition).not.toHaveProperty('series');
});

test('late values come after the response, in a version of their own', async () => {
	await platform.admin.settings({ lateValuesMs: 60_000 });
	const values = { name: 'a', buyer: { id: BUYER }, others: { add: [BUYER] } };
	const made = await create(values);
	expect(short(made)).toEqual([0, 'a', null, null, null, 0]);
	expect(short(await read(made.id))).toEqual([0, 'a', null, null, null, 0]);
	await platform.admin.storeLateValues();
	const late = await read(made.id);
	expect(short(late)).toEqual([1, 'a', 1, '<a>', BUYER, 1]);
	expect(Date.parse(late.modified)).toBeGreaterThan(Date.parse(made.modified));

	const patch = async (fields: object) => short((await platform.client.patch(`${data}/${made.id}`, { fields })).data.data);
	expect(await patch({ name: 'b', buyer: null })).toEqual([2, 'b', 1, '<a>', BUYER, 1]);
	await platform.admin.storeLateValues();
	expect(short(await read(made.id))).toEqual([3, 'b', 1, '<b>', null, 1]);
	// A write before the late values of the one before it.
	expect(await patch({ name: 'c' })).toEqual([4, 'c', 1, '<b>', null, 1]);
	expect(await patch({ others: { remove: [BUYER] } })).toEqual([5, 'c', 1, '<b>', null, 1]);
	await platform.admin.storeLateValues();
	expect(short(await read(made.id))).toEqual([6, 'c', 1, '<c>', null, 0]);
});

test('what has no late values, and what is written with none, stays at its version', async () => {
	await platform.admin.settings({ lateValuesMs: 60_000 });
	const buyer = (await platform.client.post('/apps/shop/tables/buyers/data', { fields: { name: 'Bob' } })).data.data;
	await platform.admin.storeLateValues();
	expect((await platform.client.get(`/apps/shop/tables/buyers/data/${buyer.id}`)).data.data.ver).toBe(0);
});

test('they come by themselves', async () => {
	await platform.admin.settings({ lateValuesMs: 30 });
	const { id } = await create({ name: 'a' });
	await waitUntil('the late values', async () => (await read(id)).ver === 1);
	expect((await read(id)).fields.label).toBe('<a>');
});

test('a record that is deleted does not come back with its late values', async () => {
	await platform.admin.settings({ lateValuesMs: 60_000 });
	const made = await create({ name: 'a' });
	await platform.client.delete(`${data}/${made.id}`);
	await platform.admin.storeLateValues();
	expect((await platform.client.get(`${data}/${made.id}`)).status).toBe(404);
});

describe('the requests of a day', () => {
	const ask = () => platform.client.get('/ping');

	test.each([
		['none', undefined, 'Too many requests.'],
		['short', /^60$/, 'Too many requests.'],
		['long', /^\d{1,5}$/, 'Too many requests.'],
		['date', / 00:00:00 GMT$/, "The day's API calls are used up."],
	])('with quotaRetryAfter %s, every further request gets 429 with Retry-After %s', async (quotaRetryAfter, header, message) => {
		await platform.admin.settings({ dailyQuota: 2, quotaRetryAfter });
		const statuses = [(await ask()).status, (await platform.as(platform.tokens.readonly).get('/ping')).status];
		expect(statuses).toEqual([200, 200]);
		for (let count = 0; count < 2; count += 1) {
			const response = await ask();
			expect([response.status, response.data.errors[0].message]).toEqual([429, message]);
			if (header) expect(response.headers['retry-after']).toMatch(header);
			else expect(response.headers).not.toHaveProperty('retry-after');
		}
		await platform.admin.settings({ latencyMs: 0 });
		expect((await ask()).status).toBe(200);
	});
});
