/**
 * The token in real n8n: n8n's own HTTP Request node uses the credential too, and nothing that n8n
 * writes contains the token in plain text.
 */

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestEnvironment, setUpTestEnvironment } from '../../../harness/testEnvironment.mts';
import { CREDENTIAL_TYPE, sandboxCredential } from '../../../harness/examples.mts';
import type { FaultRule } from '../../../harness/sandboxAdmin.mts';
import { N8N_VERSION } from '../../../harness/install.mts';
import { type RunningN8n, startN8n } from '../../../harness/n8nProcess.mts';
import {
	type Execution,
	describeFailure,
	createOwner,
	outputItems,
	type JsonObject,
	type N8nApi,
	signIn,
} from '../../../harness/n8nApi.mts';
import { baseNode, inTable, linearWorkflow, NODE_TYPE, platformNode, type Step } from '../../support/linearWorkflow.mts';
import { storeCredential } from '../../support/n8n.mts';
import { StubServer, jsonResponse } from '../../support/stubServer.mts';

/** A token that the sandbox made up, so that it can be searched for. */
let token: string;
let environment: TestEnvironment;
let n8n: RunningN8n;
let n8nApi: N8nApi;
let credential: { id: string; name: string };

/** Somebody else's server. */
const stranger = new StubServer(() => jsonResponse({}));

before(async () => {
	await stranger.start();
	environment = await setUpTestEnvironment();
	token = await environment.sandbox.admin.createToken({
		name: 'searched-for',
		type: 'role',
		permissions: [{ app: '*', table: '*', allow: ['structure', 'read', 'create', 'update'] }],
	});
	n8n = await startN8n({
		userFolder: environment.userFolder,
		isBare: true,
		env: {
			N8N_LOG_LEVEL: 'debug',
			N8N_LOG_OUTPUT: 'file',
			N8N_LOG_FILE_LOCATION: join(environment.userFolder, 'n8n.log'),
			// The report that Node writes when it crashes, here on a signal.
			NODE_OPTIONS: `--report-on-signal --report-directory=${environment.userFolder}`,
		},
	});
	n8nApi = await signIn(n8n.url, createOwner());
	credential = await storeCredential(n8nApi, sandboxCredential(environment.sandbox), { token });
});

after(async () => {
	await n8n?.stop();
	await environment?.tearDown();
	await stranger.stop();
});

const run = async (step: Step, credentialId = credential.id): Promise<Execution> =>
	await n8nApi.runWorkflow(await n8nApi.createWorkflow(linearWorkflow('Where the token goes', credentialId, [step])), 'Start');

async function httpRequest(url: string): Promise<Execution> {
	const authentication = { authentication: 'predefinedCredentialType', nodeCredentialType: CREDENTIAL_TYPE };
	const step = baseNode('Call', 'httpRequest', 4.2, { url, ...authentication, options: {} });
	return await run({ ...step, credentials: { [CREDENTIAL_TYPE]: credential } });
}

const faults = async (...faultList: Array<FaultRule['fault']>) =>
	await environment.sandbox.admin.faults(faultList.map((fault) => ({ fault })));

test("n8n's HTTP Request node reaches the platform with the credential", async () => {
	const execution = await httpRequest(`${environment.sandbox.baseUrl}/api/v2/users/me`);
	assert.equal(describeFailure(execution), undefined);
	assert.ok((outputItems(execution, 'Call')[0]?.json.data as JsonObject).email);
});

/** Such as `={{ $secrets.vault.key }}`, which needs a licence of n8n. */
for (const [name, expression, expected] of [
	['gives the token', (text: string) => `={{ '${[...text].reverse().join('')}'.split('').reverse().join('') }}`, undefined],
	['gives nothing', () => "={{ '' }}", /token in the credential is empty/],
] as const) {
	test(`an expression in the field Token that ${name}`, async () => {
		const { id } = await storeCredential(n8nApi, sandboxCredential(environment.sandbox), { token: expression(token) });
		const failure = describeFailure(await run(platformNode('Call', 'application: getAll', {}), id));
		if (expected) assert.match(failure ?? '', expected);
		else assert.equal(failure, undefined);
	});
}

test('it reaches no other address', async () => {
	const execution = await httpRequest(`${stranger.origin}/`);
	assert.match(describeFailure(execution) ?? '', /token is not sent to/);
	assert.deepEqual(stranger.requests, []);
});

for (const status of [301, 302, 303, 307, 308]) {
	test(`it takes no token along a redirect with ${status}`, async () => {
		await faults({ kind: 'redirect', status, location: `${stranger.origin}/elsewhere` });
		const before = stranger.requests.length;
		await httpRequest(`${environment.sandbox.baseUrl}/api/v2/ping`);
		await faults();
		// That node follows redirects itself. A base URL without HTTPS is its own proxy, and gets them, too.
		assert.equal(stranger.requests.length, before);
	});
}

/** What n8n returns to the editor, whatever the status. */
async function responseOf(path: string, body: JsonObject): Promise<string> {
	return JSON.stringify(await n8nApi.request('POST', path, body).catch((error: Error) => [error.message, error.stack]));
}

test('the credential test asks the platform twice and does not reveal the token', async () => {
	const { baseUrl, admin } = environment.sandbox;
	const { data, ...rest } = sandboxCredential(environment.sandbox);
	const check = async (change: JsonObject) =>
		await responseOf('/credentials/test', { credentials: { id: credential.id, ...rest, data: { ...data, token, ...change } } });
	const before = stranger.requests.length;
	for (const base of ['', '/', '/api/v2', '?x=/y', '/?x#y', '#/x', '/a/../b', '//x']) {
		await admin.clearRequests();
		assert.match(await check({ baseUrl: `${baseUrl}${base}` }), /"OK"/, base);
		assert.deepEqual(
			(await admin.requests()).map(({ path }) => path),
			['/api/v2/ping', '/api/v2/users/me'],
			base,
		);
	}
	await admin.clearRequests();
	const { host } = new URL(baseUrl);
	for (const wrong of [`http://x:y@${host}`, `http://localhost.:1`, `ftp://${host}`, host, '']) {
		const response = await check({ baseUrl: wrong });
		assert.ok(!response.includes('"OK"') && !response.includes(token), wrong);
	}
	assert.deepEqual(await admin.requests(), []);
	// At level debug, n8n 1 logs the platform's response to this test unchanged.
	const echo = N8N_VERSION.startsWith('1.') ? 'you' : token;
	for (const kind of [
		{ kind: 'status', status: 401, body: { errors: [{ message: `Not ${echo}` }] } },
		{ kind: 'html', status: 502 },
		{ kind: 'redirect', status: 302, location: `${stranger.origin}/` },
		{ kind: 'resetBefore' },
	]) {
		await faults(kind);
		const response = await check({});
		assert.ok(!response.includes('"OK"'), JSON.stringify(kind));
		assert.ok(!response.includes(token), JSON.stringify(kind));
	}
	await faults();
	assert.equal(stranger.requests.length, before, 'the redirect was followed');
});

test("nor does the editor's error for a list that cannot be read", async () => {
	for (const kind of [
		{ kind: 'status', status: 403, body: { errors: [{ message: `Not ${token}` }] } },
		{ kind: 'html', status: 404 },
		{ kind: 'resetBefore' },
	]) {
		await faults(kind);
		const response = await responseOf('/dynamic-node-parameters/resource-locator-results', {
			path: 'parameters.application',
			methodName: 'searchApplications',
			nodeTypeAndVersion: { name: NODE_TYPE, version: 1 },
			currentNodeParameters: { resource: 'record', operation: 'getAll' },
			credentials: { [CREDENTIAL_TYPE]: credential },
		});
		assert.match(response, /n8n returned \d+/);
		assert.ok(!response.includes(token), response);
	}
	await faults();
});

test('nothing that n8n stored after failed runs contains the token', async () => {
	const reading = platformNode('Call', 'record: getAll', { ...inTable('crm', 'contacts'), options: { maxRetryWait: 0 } });
	const trigger = platformNode('Call', 'workflow: trigger', { webhookUrl: `${stranger.origin}/` });
	for (const kind of [
		{ kind: 'status', status: 500 },
		{ kind: 'status', status: 400, body: { errors: [{ message: `You sent Bearer ${token}` }] } },
		{ kind: 'html', status: 403 },
		{ kind: 'resetBefore' },
		{ kind: 'truncate' },
	]) {
		await faults(kind);
		const execution = await run(reading);
		assert.equal(execution.status, 'error', JSON.stringify(kind));
		assert.ok(!JSON.stringify(execution).includes(token));
	}
	await faults();
	const refused = await run(trigger);
	assert.match(describeFailure(refused) ?? '', /Nothing was sent/);

	process.kill(n8n.pid, 'SIGUSR2');
	const isReported = async () => (await readdir(environment.userFolder)).some((name) => name.startsWith('report.'));
	for (let tries = 0; tries < 100 && !(await isReported()); tries += 1) await sleep(100);
	assert.ok(await isReported(), 'Node wrote no report');
	assert.ok(!n8n.output().includes(token));
	await n8n.stop();
	const names = await readdir(environment.userFolder, { recursive: true, withFileTypes: true });
	const files = names.filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'));
	const paths = files.map((entry) => join(entry.parentPath, entry.name));
	assert.ok(paths.some((path) => path.endsWith('n8n.log')));
	assert.ok(paths.some((path) => path.endsWith('database.sqlite')));
	for (const path of paths) assert.ok(!(await readFile(path)).includes(token), path);
});
