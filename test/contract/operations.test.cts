import type { HttpClient } from '../../harness/sandboxAdmin.mts';
import { operations, seen, UNKNOWN_ID, usePlatform } from './contract.cts';

const platform = usePlatform();

let guest: HttpClient;

beforeAll(async () => {
	seen.clear();
	guest = platform.as('demo-unknown-token');
});

describe('account and structure', () => {
	test('ping and the current user require a valid token', async () => {
		expect((await platform.client.get('/ping')).status).toBe(200);
		expect((await platform.client.get('/users/me')).data.data.email).toBe('admin@example.com');
		expect((await guest.get('/ping')).status).toBe(401);
		expect((await guest.get('/users/me')).status).toBe(401);
	});

	test('applications and tables are found by ID and by internal name', async () => {
		const apps = (await platform.client.get('/apps')).data.data;
		expect(apps.map((app: { internalName: string }) => app.internalName)).toEqual(['crm', 'geo']);
		const byName = (await platform.client.get('/apps/crm')).data.data;
		expect((await platform.client.get(`/apps/${apps[0].id}`)).data.data).toEqual(byName);
		expect(byName.tables).toHaveLength(4);
		const tableIds = byName.tables.map((table: { id: string }) => table.id);
		expect(byName.modules).toEqual([{ shortId: expect.any(String), header: 'Customers', tableIds }]);
		expect(apps[0]).not.toHaveProperty('modules');

		const tables = (await platform.client.get('/apps/crm/tables')).data.data;
		const contacts = (await platform.client.get('/apps/crm/tables/contacts')).data.data;
		expect((await platform.client.get(`/apps/crm/tables/${contacts.id}`)).data.data).toEqual(contacts);
		expect((await platform.client.get(`/apps/crm/schemas/${contacts.id}`)).data.data).toEqual(contacts);
		expect(tables[1]).toEqual({
			id: contacts.id,
			shortid: contacts.shortid,
			internalNameApi: 'contacts',
			header: 'Contacts',
			items: contacts.items,
		});
		const company = contacts.items.find((item: { name: string }) => item.name === 'company');
		expect(company.metadata.linkTableId).toBe(tables[0].id);
		expect(contacts.settings.userFilters[0].name).toBe('Adults');
		expect(contacts.scripts).toEqual([]);
	});

	test.each(['/apps', '/apps/crm', '/apps/crm/tables', '/apps/crm/tables/contacts', '/apps/crm/schemas/contacts'])(
		'%s rejects an invalid token',
		async (path) => {
			expect((await guest.get(path)).status).toBe(401);
		},
	);

	test.each(['/apps/nothing', '/apps/nothing/tables', '/apps/crm/tables/nothing', '/apps/crm/schemas/nothing'])(
		'%s does not exist',
		async (path) => {
			expect((await platform.client.get(path)).status).toBe(404);
		},
	);
});

describe.each([
	['by name', '/contacts'],
	['within its application', '/apps/crm/tables/contacts'],
	['as a schema of its application', '/apps/crm/schemas/contacts'],
])('a table addressed %s', (_name, table) => {
	test('lists, filters, counts and summarizes', async () => {
		expect((await platform.client.get(`${table}/data`)).data.data).toHaveLength(25);
		expect((await platform.client.get(`${table}/data/?limit=3`)).data.data).toHaveLength(3);
		const filter = [{ field: 'surname', operator: 'eq', value: 'Owl' }];
		const filtered = await platform.client.post(`${table}/data/filter?limit=100`, { filter });
		expect(filtered.data.data).toHaveLength(10);
		expect((await platform.client.get(`${table}/data/count`)).data).toEqual({ data: { count: 40 } });
		expect((await platform.client.post(`${table}/data/count/filter`, { filter })).data.data.count).toBe(10);
		const fields = { age: { aggregations: ['min', 'max', 'sum', 'avg'] } };
		const summary = (await platform.client.post(`${table}/data/summary`, { filter, fields })).data.data;
		expect(summary.count).toBe(10);
		expect(summary.fields.age.avg).toBeCloseTo(summary.fields.age.sum / 10);
	});

	test('creates, reads, updates, replaces and deletes one record', async () => {
		const email = 'one@example.com';
		const fields = { surname: 'Test', age: 30, email };
		const created = await platform.client.post(`${table}/data`, { fields });
		expect(created.status).toBe(201);
		const { id } = created.data.data;
		const url = `${table}/data/${id}`;
		expect((await platform.client.get(url)).data.data).toEqual(created.data.data);
		expect((await platform.client.patch(url, { fields: { age: 31 } })).data.data).toMatchObject({ ver: 1, fields: { age: 31, email } });
		const replaced = await platform.client.put(url, { fields: { surname: 'Test' }, skipAudit: true });
		expect(replaced.data.data.fields).toMatchObject({ surname: 'Test', age: null, email: null });
		expect((await platform.client.delete(url)).status).toBe(204);
		for (const gone of [platform.client.get(url), platform.client.delete(url), platform.client.patch(url, { fields })]) {
			expect((await gone).status).toBe(404);
		}
		expect((await platform.client.put(url, { fields })).status).toBe(404);
	});

	test('creates, updates, replaces and deletes many records', async () => {
		const bulk = ['a', 'b'].map((name) => ({ fields: { surname: name, email: `${name}@bulk.example.com` } }));
		const url = `${table}/data/bulk`;
		const created = await platform.client.post(`${url}?dataResponseType=MetadataOnly`, { bulk });
		expect(created.data.bulk).toEqual({ successCount: 2, insertedCount: 2, updatedCount: 0 });
		const ids = created.data.data.map((record: { id: string }) => record.id);
		const changes = ids.map((id: string) => ({ id, fields: { surname: 'c', age: 1 } }));
		expect((await platform.client.patch(url, { bulk: changes })).data.bulk.updatedCount).toBe(2);
		expect((await platform.client.put(url, { bulk: changes })).data).not.toHaveProperty('data');
		const filter = 'surname(eq)c';
		expect((await platform.client.delete(url, { params: { limit: 5, filter } })).status).toBe(204);
		expect((await platform.client.get(`${table}/data/count`)).data.data.count).toBe(40);
	});

	test('stores files', async () => {
		const filedata = `data:image/png;base64,${pixel}`;
		const photo = [{ filename: 'dot.png', mimetype: 'image/png', filedata }];
		const fields = { surname: 'Photo', photo };
		const created = (await platform.client.post(`${table}/data`, { fields })).data.data;
		const { fileId } = created.fields.photo[0];
		const bytes = await platform.client.get(`${table}/files/${fileId}`, { responseType: 'arraybuffer' });
		expect(Buffer.from(bytes.data).toString('base64')).toBe(pixel);
		expect((await platform.client.get(`${table}/files/${fileId}/thumbnail`)).status).toBe(200);
		for (const path of [`${table}/files/${UNKNOWN_ID}`, `${table}/files/${UNKNOWN_ID}/thumbnail`]) {
			expect((await platform.client.get(path)).status).toBe(404);
			expect((await guest.get(path)).status).toBe(401);
		}
		await platform.client.delete(`${table}/data/${created.id}`);
	});

	test('rejects invalid tokens and what the contract does not define', async () => {
		const reads = ['data', 'data/count', `data/${UNKNOWN_ID}`];
		const posts = ['data', 'data/bulk', 'data/filter', 'data/count/filter', 'data/summary'];
		for (const path of reads) {
			expect((await guest.get(`${table}/${path}`)).status).toBe(401);
			expect((await platform.client.get(`${table}/${path}?colour=red`)).status).toBe(400);
		}
		for (const path of posts) {
			expect((await guest.post(`${table}/${path}`, {})).status).toBe(401);
			expect((await platform.client.post(`${table}/${path}`, { colour: 'red' })).status).toBe(400);
		}
		for (const method of ['patch', 'put'] as const) {
			expect((await platform.client[method](`${table}/data/bulk`, { bulk: 1 })).status).toBe(400);
			expect((await platform.client[method](`${table}/data/${UNKNOWN_ID}`, {})).status).toBe(400);
		}
		expect((await platform.client.delete(`${table}/data/bulk`)).status).toBe(400);
	});
});

test('a webhook accepts a valid token, and no other', async () => {
	const [workflow] = (await platform.admin.http.get('/workflows')).data.data;
	expect((await platform.client.post(workflow.webhookUrl, { surname: 'x' })).status).toBe(202);
	expect((await guest.post(workflow.webhookUrl, {})).status).toBe(401);
});

test('every operation of the contract has responded with success and with an error', () => {
	const missing = operations.filter((operation) => {
		const statuses = [...(seen.get(operation) ?? [])];
		return !statuses.some((status) => status < 300) || !statuses.some((status) => status >= 400);
	});
	expect(missing.map(({ method, url }) => `${method} ${url}`)).toEqual([]);
});

test('whatever can be done with a table can be done with a table of an application', () => {
	const urls = operations.map(({ method, url }) => `${method} ${url}`);
	const ofTables = urls.filter((url) => url.includes('/api/v2/{table}/'));
	expect(ofTables).toContain('get {baseUrl}/api/v2/{table}/data');
	expect(urls).toEqual(expect.arrayContaining(ofTables.map((url) => url.replace('/{table}', '/apps/{app}/tables/{table}'))));
});

test('every operation has an origin', () => {
	const origins = new Set(operations.map(({ origin }) => origin));
	expect([...origins].sort()).toEqual(['documented', 'observed', 'specified']);
});

/** A PNG of one red dot. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
