import { startStubServer } from '../support/stubServer.mts';
import { usePlatform } from './contract.cts';

interface Run {
	status: string;
	output: unknown;
	error: string | null;
	log: string[];
	actedAs: string;
	payload: unknown;
	durationMs: number | null;
	request: number;
	workflow: string;
}

const platform = usePlatform();
beforeEach(async () => await platform.admin.reset());

interface Made {
	id: string;
	webhookUrl: string;
}
async function workflow(script: string, options: object = {}): Promise<Made> {
	const body = { name: 'Test', script, ...options };
	return (await platform.admin.http.post('/workflows', body)).data.data;
}
async function lastRun(): Promise<Run> {
	for (;;) {
		const run = (await platform.admin.http.get<{ data: Run[] }>('/runs')).data.data.at(-1);
		if (run && run.status !== 'running') return run;
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
}
/** Runs a script and returns its run. */
async function run(script: string, options: object = {}, payload: unknown = {}): Promise<Run> {
	const { webhookUrl } = await workflow(script, options);
	await platform.client.post(webhookUrl, payload);
	return lastRun();
}

test('the body is svc.workflow.payloadRequest, and the run is logged', async () => {
	const payload = { firstname: 'Ann', nested: [1, { '': null }] };
	const script = "svc.log('Got', svc.workflow.payloadRequest); return svc.workflow.payloadRequest;";
	const ended = await run(script, { name: 'Echo' }, payload);
	expect(ended).toMatchObject({
		status: 'succeeded',
		workflow: 'Echo',
		payload,
		output: payload,
		error: null,
		actedAs: 'me (admin@example.com)',
		log: [`Got ${JSON.stringify(payload)}`],
		durationMs: expect.any(Number),
	});
	const [request] = await platform.admin.requests();
	expect(request).toMatchObject({ number: ended.request, method: 'POST', token: 'role' });
});

test.each([
	[
		'import',
		"return (await import('node:fs').catch((error) => error)).constructor.constructor('return typeof process')();",
		'Code generation from strings',
	],
	['import, caught', "try { await import('node:fs') } catch (error) { return error.message }", 'Scripts cannot import modules.'],
	['toJSON without a value', 'return { toJSON() {} }', 'null'],
])('a script cannot reach or end the process: %s', async (_, script, expected) => {
	const { output, error } = await run(script);
	expect(error ?? String(output)).toContain(expected);
	expect((await run('return 1')).output).toBe(1);
});

test('the sample workflow writes a contact with the workflow token', async () => {
	const [sample] = (await platform.admin.http.get('/workflows')).data.data;
	const body = { firstname: 'Neo', surname: 'New', email: 'neo@example.com' };
	const response = await platform.as(platform.tokens.workflow).post(sample.webhookUrl, body);
	expect(response.status).toBe(202);
	expect(await lastRun()).toMatchObject({ status: 'succeeded', log: ['Contact Neo New'] });
	const contacts = await platform.admin.records('crm', 'contacts');
	expect(contacts.at(-1)?.fields).toMatchObject(body);
	const history = await platform.admin.history('crm', 'contacts', contacts.at(-1)?.id);
	expect(history[0]?.request).toBe((await platform.admin.requests()).at(-1)?.number);
});

test('a script lists, counts, gets, creates, updates and deletes records', async () => {
	const ended = await run(`
		const deals = svc.table('deals');
		const made = await deals.create({ number: 'W-1', title: 'Made' });
		await deals.update(made.id, { title: 'Changed' });
		const found = await deals.list({ filter: 'number(eq)W-1' });
		const title = (await deals.get(made.id)).fields.title;
		const before = await deals.count();
		await deals.delete(made.id);
		return [title, found.length, before, await svc.table('crm/deals').count({})];
	`);
	expect(ended).toMatchObject({ status: 'succeeded', output: ['Changed', 1, 13, 12] });
});

describe('Run As', () => {
	const script = "return (await svc.table('crm/contacts').create({ surname: 'By script' })).ver;";
	const call = async (token: string, options: object) => {
		const { webhookUrl } = await workflow(script, options);
		await platform.as(token).post(webhookUrl, {});
		return lastRun();
	};

	test('me: the rights of the user who configured it', async () => {
		const { tokens } = platform;
		expect((await call(tokens.readonly, { runAs: 'me' })).status).toBe('succeeded');
		const guest = { runAs: 'me', configuredBy: 'guest@example.com' };
		const rejected = await call(tokens.role, guest);
		expect(rejected.error).toContain("not have the right 'create'");
		expect(rejected.actedAs).toBe('me (guest@example.com)');
	});

	test('caller: the rights of the token in the request', async () => {
		const { tokens } = platform;
		expect((await call(tokens.jwt, { runAs: 'caller' })).status).toBe('succeeded');
		expect((await call(tokens.readonly, { runAs: 'caller' })).error).toContain('Reader');
		expect((await call(tokens.workflow, { runAs: 'caller' })).error).toContain('only start workflows');
	});

	test('token: the rights of the chosen token, as long as it is valid', async () => {
		const { tokens, admin } = platform;
		const permissions = [{ app: 'crm', table: 'contacts', allow: ['create'] }];
		await admin.createToken({ name: 'writer', type: 'role', permissions });
		const options = { runAs: 'token', token: 'writer' };
		expect(await call(tokens.readonly, options)).toMatchObject({ status: 'succeeded', actedAs: 'token writer' });
		await admin.changeToken('writer', { status: 'revoked' });
		expect((await call(tokens.role, options)).error).toContain('not valid');
	});
});

describe('a script', () => {
	test.each([
		['throws', 'failed', 'Stop.', "throw new Error('Stop.');"],
		['rejects with anything', 'failed', '[object Object]', 'throw { a: 1 };'],
		['cannot be read', 'failed', 'SyntaxError', 'return {;'],
		['reads a table that does not exist', 'failed', 'no table', "return svc.table('nothing').list();"],
		['uses an unknown parameter', 'failed', "'colour'", "return svc.table('deals').list({ colour: 1 });"],
		['loops', 'timedOut', 'more than 200 ms', 'for (;;);'],
		['waits for ever', 'timedOut', 'more than 200 ms', 'await new Promise(() => {});'],
	])('that %s ends as %s', async (_name, status, error, script) => {
		// Long enough for a thread to start on a busy machine, except in the test of the limit.
		const ended = await run(script, { timeLimitMs: status === 'timedOut' ? 200 : 10_000 });
		expect(ended.status).toBe(status);
		expect(ended.error).toContain(error);
	});

	test.each([
		'typeof process + typeof require + typeof fetch + typeof setTimeout',
		"(() => { try { return eval('1'); } catch (e) { return e.name; } })()",
		"(() => { try { return svc.log.constructor('return typeof process')(); } catch (e) { return e.name; } })()",
	])('sees nothing of the process: %s', async (expression) => {
		const { output } = await run(`return ${expression};`);
		expect(['undefinedundefinedundefinedundefined', 'EvalError']).toContain(output);
	});

	test('is stopped if it uses too much memory, and the sandbox keeps running', async () => {
		const script = 'const all = []; for (;;) all.push(new Array(1e5).fill(all.length));';
		expect((await run(script, { timeLimitMs: 20_000 })).status).toBe('failed');
		expect((await platform.client.get('/ping')).status).toBe(200);
	});
});

test('Send Webhook posts JSON with custom headers, only to loopback', async () => {
	const server = await startStubServer(() => ({ status: 201, body: 'thanks' }));
	const url = `${server.origin}/hook`;
	const sent = `svc.sendWebhook('${url}', { a: 1 }, { Authorization: 'Bearer demo-other' })`;
	expect((await run(`return ${sent};`)).output).toEqual({ status: 201, body: 'thanks' });
	expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Bearer demo-other', 'content-type': 'application/json' });
	expect(server.requests[0]?.body).toBe('{"a":1}');
	await server.stop();
	const remote = await run("return svc.sendWebhook('https://example.com/', {});");
	expect(remote.error).toContain('loopback');
});

describe('the webhook', () => {
	test.each([
		['accepted', 202, { data: { runId: expect.any(String) } }],
		['output', 200, { done: true }],
		['text', 200, 'OK'],
		['empty', 204, ''],
	])('can respond with %s', async (kind, status, body) => {
		const { webhookUrl } = await workflow('return { done: true };', { response: kind });
		const response = await platform.client.post(webhookUrl, {});
		expect([response.status, response.data]).toEqual([status, body]);
	});

	test('responds with 500 if the script fails and the response is its output', async () => {
		const { webhookUrl } = await workflow("throw new Error('No.');", { response: 'output' });
		const response = await platform.client.post(webhookUrl, {});
		expect(response.status).toBe(500);
		expect(response.data.errors[0].message).toContain('No.');
	});

	test('requires a valid token of the right type, a JSON object and an existing URL', async () => {
		const { webhookUrl, id } = await workflow('return 1;');
		const by = (token: string) => platform.as(token).post(webhookUrl, {});
		const { tokens } = platform;
		for (const token of [tokens.expired, tokens.revoked, 'demo-unknown']) {
			expect((await by(token)).status).toBe(401);
		}
		for (const token of [tokens.short, tokens.form]) expect((await by(token)).status).toBe(403);
		for (const body of [[], 'x', 1]) {
			const headers = { 'Content-Type': 'application/json' };
			const response = await platform.client.post(webhookUrl, JSON.stringify(body), { headers });
			expect(response.status).toBe(400);
		}
		expect((await platform.client.post(`${platform.sandbox.baseUrl}/webhooks/nothing`, {})).status).toBe(404);
		expect((await platform.admin.http.get('/runs')).data.data).toEqual([]);
		await platform.admin.http.put(`/workflows/${id}`, { name: 'New', script: 'return 2;' });
		const all = (await platform.admin.http.get('/workflows')).data.data as Array<{ id: string }>;
		const changed = all.find((entry) => entry.id === id);
		expect(changed).toMatchObject({ webhookUrl, name: 'New' });
		await platform.admin.http.delete(`/workflows/${id}`);
		expect((await by(tokens.role)).status).toBe(404);
	});

	test('faults apply to it', async () => {
		const { webhookUrl } = await workflow('return 1;');
		const fault = { kind: 'status', status: 504, afterWrite: true };
		await platform.admin.faults([{ match: { path: '^/webhooks/' }, fault }]);
		expect((await platform.client.post(webhookUrl, {})).status).toBe(504);
		expect((await lastRun()).status).toBe('succeeded');
	});
});
