import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { HttpClient } from '../../harness/sandboxAdmin.mts';
import { UNKNOWN_ID, usePlatform } from './contract.cts';

const platform = usePlatform();
const contacts = '/apps/crm/tables/contacts/data';
const fields = { surname: 'Access' };

async function statuses(client: HttpClient): Promise<Record<string, number>> {
	const [record] = await platform.admin.records('crm', 'contacts');
	const one = `${contacts}/${record?.id}`;
	const bulk = { bulk: [{ fields }] };
	const responses = {
		ping: client.get('/ping'),
		me: client.get('/users/me'),
		apps: client.get('/apps'),
		structure: client.get('/apps/crm/tables/contacts'),
		read: client.get(contacts),
		count: client.get(`${contacts}/count`),
		create: client.post(contacts, { fields }),
		createMany: client.post(`${contacts}/bulk`, bulk),
		update: client.patch(one, { fields: { age: 20 } }),
		upsert: client.post(contacts, { fields, useUpsert: true }),
		delete: client.delete(`${contacts}/${UNKNOWN_ID}`),
		deleteMany: client.delete(`${contacts}/bulk?limit=1&filter=surname(eq)Nobody`),
	};
	const entries = Object.entries(responses).map(async ([name, response]) => [name, (await response).status] as const);
	return Object.fromEntries(await Promise.all(entries));
}

const reads = { ping: 200, me: 200, apps: 200, structure: 200, read: 200, count: 200 };
const writes = { create: 201, createMany: 200, update: 200, upsert: 400, delete: 404, deleteMany: 204 };
const noReads = { ping: 200, me: 403, apps: 403, structure: 403, read: 403, count: 403 };
const noWrites = { create: 403, createMany: 403, update: 403, upsert: 403, delete: 403, deleteMany: 403 };

test.each([
	['role', { ...reads, ...writes }],
	['jwt', { ...reads, ...writes }],
	['readonly', { ...reads, ...noWrites }],
	['short', { ...noReads, ...noWrites }],
	['workflow', { ...noReads, ...noWrites }],
	['form', { ...noReads, ...noWrites }],
] as const)('a token of the type %s may do exactly this', async (name, expected) => {
	expect(await statuses(platform.as(platform.tokens[name]))).toEqual(expected);
});

test.each(['expired', 'revoked'] as const)('an %s token is rejected', async (name) => {
	expect(new Set(Object.values(await statuses(platform.as(platform.tokens[name]))))).toEqual(new Set([401]));
});

test.each(['', 'Bearer', 'Basic demo-role-token', 'demo-role-token'])('the header "%s" is rejected', async (Authorization) => {
	const response = await platform.client.get('/ping', { headers: { Authorization } });
	expect(response.status).toBe(401);
	expect(response.headers['www-authenticate']).toBe('Bearer');
});

test('a role can be limited to one table and some rights', async () => {
	const token = await platform.admin.createToken({
		name: 'narrow',
		type: 'role',
		permissions: [
			{ app: 'crm', table: 'contacts', allow: ['create', 'read'] },
			{ app: 'crm', table: 'companies', allow: ['structure'] },
		],
	});
	const client = platform.as(token);
	expect((await client.get('/apps')).data.data).toHaveLength(1);
	const tables = (await client.get('/apps/crm/tables')).data.data;
	expect(tables.map((table: { header: string }) => table.header)).toEqual(['Companies']);
	expect((await client.get('/apps/geo')).status).toBe(403);
	expect((await client.get('/companies/data')).status).toBe(403);
	expect((await client.post(contacts, { fields })).status).toBe(201);
	const upsert = await client.post(contacts, { fields, useUpsert: true });
	expect(upsert.status).toBe(403);
	expect(upsert.data.errors[0].message).toContain("'update'");
});

test("a JWT has its creator's rights and a readable expiry, and can be revoked", async () => {
	const validTo = '2031-02-03T04:05:06.000Z';
	const token = await platform.admin.createToken({ name: 'guest-jwt', type: 'jwt', createdBy: 'guest@example.com', validTo });
	const payload = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
	expect(new Date(payload.exp * 1000).toISOString()).toBe(validTo);
	const client = platform.as(token);
	expect((await client.get('/users/me')).data.data.email).toBe('guest@example.com');
	expect((await client.post(contacts, { fields })).status).toBe(403);
	await platform.admin.changeToken('guest-jwt', { validTo: '2020-01-01T00:00:00Z' });
	expect((await client.get('/ping')).status).toBe(401);
	await platform.admin.changeToken('guest-jwt', { validTo: null, status: 'revoked' });
	expect((await client.get('/ping')).status).toBe(401);
});

test('the token list does not contain token values', async () => {
	const { data } = (await platform.admin.http.get('/tokens')).data;
	const role = data.find((token: { name: string }) => token.name === 'role');
	expect(role).toMatchObject({ createdBy: 'admin@example.com', status: 'valid', valid: true, validTo: null, templates: true });
	const text = JSON.stringify(data);
	for (const value of Object.values(platform.tokens)) expect(text).not.toContain(value);
});

describe('limits', () => {
	afterEach(() => platform.admin.reset());

	test.each([
		['seconds', expect.stringMatching(/^\d+$/)],
		['date', expect.stringMatching(/ GMT$/)],
		['none', undefined],
	])('each token has its own limit of requests; the 429 has Retry-After: %s', async (retryAfter, expected) => {
		await platform.admin.settings({ rateLimitPerMinute: 2, rateLimitWindowMs: 1000, retryAfter });
		const responses = [await platform.client.get('/ping'), await platform.client.get('/ping'), await platform.client.get('/ping')];
		expect(responses.map(({ status }) => status)).toEqual([200, 200, 429]);
		expect(responses[2]!.headers['retry-after']).toEqual(expected);
		expect((await platform.as(platform.tokens.jwt).get('/ping')).status).toBe(200);
		await new Promise((resolve) => setTimeout(resolve, 1020));
		expect((await platform.client.get('/ping')).status).toBe(200);
	});

	test('a request above the limit of records or bytes gets 413', async () => {
		const { client } = platform;
		const bulk = [{ fields }, { fields }, { fields }];
		await platform.admin.settings({ maxBulkRecords: 2 });
		expect((await client.post(`${contacts}/bulk`, { bulk })).status).toBe(413);
		expect((await client.post(`${contacts}/bulk`, { bulk: bulk.slice(1) })).status).toBe(200);
		await platform.admin.settings({ maxBulkRecords: null, maxBodyBytes: 100 });
		expect((await client.post(contacts, { fields: { surname: 'x'.repeat(100) } })).status).toBe(413);
	});

	test('a response takes at least as long as the setting for latency', async () => {
		await platform.admin.settings({ latencyMs: 100 });
		const start = Date.now();
		await platform.client.get('/ping');
		expect(Date.now() - start).toBeGreaterThanOrEqual(99);
	});
});

describe('bad requests', () => {
	test.each([
		['no JSON', '{"fields": ', 'application/json'],
		['nothing', '', 'application/json'],
		['another type', 'surname=x', 'application/x-www-form-urlencoded'],
	])('a body with %s gets 400', async (_name, body, type) => {
		const headers = { 'Content-Type': type };
		expect((await platform.client.post(contacts, body, { headers })).status).toBe(400);
	});

	test('unknown URLs get 404 with an error body', async () => {
		const response = await platform.sandbox.client().get('/nothing/here/at/all');
		expect(response.status).toBe(404);
		expect(response.data.errors[0].id).toBe('notFoundException');
		const broken = await platform.sandbox.client().get('/%zz/data');
		expect(broken.status).toBe(400);
		expect(broken.data.errors).toHaveLength(1);
	});

	test('an invalid setting, fault or table gets 400 and changes nothing', async () => {
		const { http } = platform.admin;
		await expect(http.put('/settings', { colour: 'red' })).rejects.toThrow("'colour'");
		await expect(http.put('/settings', { retryAfter: 'soon' })).rejects.toThrow('none');
		await expect(http.put('/faults', [{ fault: { kind: 'fire' } }])).rejects.toThrow('status');
		const path = [{ match: { path: '(' }, fault: { kind: 'hang' } }];
		await expect(http.put('/faults', path)).rejects.toThrow('regular expression');
		const table = { internalName: 't', fields: [{ name: 'id', type: 'text' }] };
		await expect(http.post('/tables', { app: 'a', table })).rejects.toThrow("'id'");
		expect((await http.get('/faults')).data.data).toEqual([]);
	});

	test.each([{ Origin: 'https://example.com' }, { Origin: 'null' }, { Host: 'example.com' }, { Host: 'example.com:5999' }])(
		'other web pages and host names are rejected, in the administration API and in the platform: %j',
		async (headers) => {
			const { http } = platform.admin;
			await expect(http.post('/reset', undefined, { headers })).rejects.toThrow('loopback');
			const { status, data } = await platform.client.get('/apps', { headers });
			expect([status, data.errors?.[0].message]).toEqual([403, expect.stringContaining('loopback')]);
		},
	);
});

test('the request log is in order and contains no token values', async () => {
	await platform.admin.reset();
	await platform.client.get('/ping');
	await platform.client.post(`${contacts}/bulk`, { bulk: [{ fields }] });
	await platform.client.get('/companies/files/none?token=demo-short-token');
	await platform.as('demo-unknown').get('/ping');
	await platform.sandbox.client().get('/nothing/here');
	const log = await platform.admin.requests();
	expect(log.map(({ status, token, records }) => [status, token, records])).toEqual([
		[200, 'role', null],
		[200, 'role', 1],
		[404, 'short', null],
		[401, null, null],
		[404, null, null],
	]);
	expect(log[2]?.query).toBe('token=***');
	expect(JSON.stringify(log)).not.toContain('demo-');
	await platform.admin.clearRequests();
	expect(await platform.admin.requests()).toEqual([]);
});

test('a port in use and an unknown option get a clear message', async () => {
	const main = join(__dirname, '..', '..', 'sandbox', 'main.mts');
	const { port } = new URL(platform.sandbox.baseUrl);
	for (const [args, message] of [
		[['--port', port], 'choose another port'],
		[['--port', 'x'], '--port must be'],
		[['--colour'], '--no-seed'],
	] as const) {
		const child = spawn(process.execPath, [main, ...args]);
		let printed = '';
		child.stderr.on('data', (chunk) => (printed += String(chunk)));
		const [code] = await once(child, 'close');
		expect(code).toBe(1);
		expect(printed).toContain(message);
	}
});
