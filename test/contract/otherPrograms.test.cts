/** Requests of programs that work against such a service, in their order. The sandbox must take them all. */
import { usePlatform } from './contract.cts';

const platform = usePlatform();

const contacts = '/apps/crm/tables/contacts/data';
const deals = '/apps/crm/tables/deals/data';
const PIXEL = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const picture = (filename: string) => ({ filename, mimetype: 'image/png', filedata: PIXEL });

interface Rec {
	id: string;
	fields: Record<string, any>;
}

/** One request; `$` in its path or body stands for the ID of the record that the program works on. */
type Step = [
	method: 'get' | 'post' | 'patch' | 'put' | 'delete',
	path: string,
	body: object | undefined,
	status: number,
	expected?: object,
];

const deal = (fields: object, status = 200, expected: object = fields): Step => ['patch', `${deals}/$`, { fields }, status, expected];

/** A record's fields after a `patch`; the count after a `get` of `count`. */
const programs: Array<[title: string, ...Step[]]> = [
	[
		'writes dates as midnight, with and without a zone',
		deal({ due: '2026-11-22T00:00:00.000Z' }, 200, { due: '2026-11-22' }),
		deal({ due: '2026-11-23T00:00:00' }, 200, { due: '2026-11-23' }),
	],
	['links to an address of mail', deal({ link: { href: 'a@b.example', isMailto: true } }), deal({ link: { href: 'a@b.example' } })],
	[
		'removes pictures and adds others, with empty lists',
		deal({ sketch: { remove: [], add: [picture('one.png')] } }, 200, { sketch: [expect.objectContaining({ fileName: 'one.png' })] }),
		deal({ sketch: { remove: [], add: [] } }, 200, { sketch: [expect.objectContaining({ fileName: 'one.png' })] }),
	],
	['empties a link with an object', deal({ company: {} }, 200, { company: null })],
	['changes links to several with empty lists', deal({ people: { add: [], remove: [] } }, 200, {})],
	['filters by an ID', ['get', `${deals}/count?filter=id(eq)$`, undefined, 200, { count: 1 }]],
	['writes a plus sign as %2B', ['get', `${deals}/count?filter=number(eq)a%2Bb`, undefined, 200, { count: 0 }]],
	[
		'filters a time with a space and without a zone',
		['get', `${deals}/count?filter=meeting(gt)2100-01-01 10:00:00`, undefined, 200, { count: 0 }],
	],
	['addresses a table as a schema', ['get', '/apps/crm/schemas/deals/data/count?filter=id(eq)$', undefined, 200, { count: 1 }]],
	['ends the address of records with a slash', ['get', '/apps/crm/schemas/deals/data/?limit=1', undefined, 200]],
	[
		'sends values as a list',
		['post', `${deals}/count/filter`, { filter: [{ field: 'channels', operator: 'in', values: ['mail', 'phone'] }] }, 200],
	],
];

test.each(programs)('a program that %s', async (_title, ...steps) => {
	const [first] = (await platform.client.get(deals, { params: { limit: 1, sort: 'number' } })).data.data as Rec[];
	for (const [method, path, body, status, expected] of steps) {
		const response = await platform.client.request({ method, url: path.replaceAll('$', first!.id), data: body });
		expect([response.status, response.data.errors ?? []]).toEqual([status, []]);
		if (expected) expect(response.data.data.fields ?? response.data.data).toMatchObject(expected);
	}
});

test('a program that upserts 1,000 records in a request, and reads pages until an empty one', async () => {
	const bulk = Array.from({ length: 1000 }, (_, number) => ({ fields: { email: `many${number}@example.com`, surname: 'Many' } }));
	for (const inserted of [1000, 0]) {
		const { status, data } = await platform.client.post(`${contacts}/bulk`, { bulk, useUpsert: true });
		expect([status, data.bulk]).toMatchObject([200, { successCount: 1000, insertedCount: inserted }]);
	}
	let read = 0;
	for (;;) {
		const { data } = await platform.client.get(`${contacts}/`, { params: { skip: read, limit: 400, filter: 'surname(eq)Many' } });
		if (data.data.length === 0) break;
		read += data.data.length;
	}
	expect(read).toBe(1000);
});

test('a program that writes back a link as the whole record that it read, and filters by it', async () => {
	const [found] = (await platform.client.get(deals, { params: { limit: 1, sort: 'number', filter: 'company(notempty)' } })).data
		.data as Rec[];
	const { company } = found!.fields;
	expect(company.fields).toMatchObject({ name: expect.any(String) });
	const { status, data } = await platform.client.patch(`${deals}/${found!.id}`, { fields: { company } });
	expect([status, data.data.fields.company.id]).toEqual([200, company.id]);
	for (const filter of [`company.id(eq)${company.id}`, `company.name(startswith)${company.fields.name.slice(0, 2).toUpperCase()}`]) {
		expect((await platform.client.get(`${deals}/count`, { params: { filter } })).data.data.count).toBeGreaterThan(0);
	}
});

test('a program that takes 200 for a created record', async () => {
	await platform.admin.settings({ createStatus: 200 });
	expect((await platform.client.post(contacts, { fields: { surname: 'Two', email: 'two@example.com' } })).status).toBe(200);
	await platform.admin.settings({ createStatus: 201 });
	expect((await platform.client.post(contacts, { fields: { surname: 'Two', email: 'three@example.com' } })).status).toBe(201);
});
