/** Where the token is sent, where it is not, and what errors say if it does not fit. */
import type { IDataObject } from 'n8n-workflow';
import { DataPlatformApi } from '../../credentials/DataPlatformApi.credentials';
import { automatic, picked, runOperation, searchList } from '../support/engine/engine.cts';
import { watch } from '../support/engine/polls.cts';
import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import type { RunningSandbox } from '../../harness/sandboxProcess.mts';
import { sharedSandbox } from '../support/sharedSandbox.mts';
import { useStubServer } from './useStubServer.cts';

let sandbox: RunningSandbox;
/** Somebody else's server. */
const stranger = useStubServer();

beforeAll(async () => {
	sandbox = await sharedSandbox({ seeded: true });
});
beforeEach(async () => {
	await sandbox.admin.reset();
});

const contacts = { resource: 'record', application: picked('crm'), table: picked('contacts') };

const run = async (
	parameters: IDataObject,
	credential: { token?: string; accessType?: string; baseUrl?: string; webhookOrigins?: string } = {},
	items: IDataObject[] = [{}],
) =>
	await runOperation(
		{ baseUrl: sandbox.baseUrl, token: sandbox.tokens.role, ...credential },
		{ parameters: parameters, defaults: { columns: automatic }, items },
	);

describe('the token stays where it belongs', () => {
	test.each([302, 307])('a redirect with %d is not followed', async (status) => {
		await sandbox.admin.faults([{ fault: { kind: 'redirect', status, location: `${stranger.origin}/elsewhere` } }]);
		for (const operation of ['getAll', 'upsert', 'create']) {
			const items = [{ surname: 'Sample', email: 'sample@example.com' }];
			const result = await run({ ...contacts, operation }, {}, items);
			expect(result.error?.message).toContain(`redirect (${status})`);
		}
		expect(stranger.requests).toEqual([]);
	});

	test('a webhook URL elsewhere gets nothing, and the error says where to allow it', async () => {
		const webhookUrl = `${stranger.origin}/hooks/1`;
		const trigger = { resource: 'workflow', operation: 'trigger', webhookUrl, options: {} };
		const result = await run(trigger);
		expect(result.error?.message).toContain('Nothing was sent');
		expect(result.error?.description).toContain(`add ${stranger.origin} to 'Webhook Origins'`);
		expect(stranger.requests).toEqual([]);

		const allowed = await run(trigger, { webhookOrigins: `https://a.example.com ${stranger.origin}` });
		expect(allowed.error).toBeUndefined();
		expect(stranger.requests).toMatchObject([{ headers: { authorization: `Bearer ${sandbox.tokens.role}` } }]);
	});

	test('a base URL may be pasted with its path', async () => {
		const baseUrl = `${sandbox.baseUrl}/api/v2/`;
		const result = await run({ ...contacts, operation: 'getAll', limit: 1 }, { baseUrl });
		expect(result.json()).toHaveLength(1);
	});
});

describe('the credential elsewhere in n8n', () => {
	const { authenticate } = new DataPlatformApi();
	const attach = async (options: IDataObject) => {
		if (typeof authenticate !== 'function') throw new Error('authenticate is no function');
		const credential = { baseUrl: sandbox.baseUrl, token: 'demo', webhookOrigins: '' };
		return (await authenticate(credential, options as never)) as unknown as IDataObject;
	};

	test.each(['url', 'uri'])('gets its token for the platform, with the URL as %s', async (name) => {
		const options = await attach({ [name]: `${sandbox.baseUrl}/api/v2/ping`, headers: { a: '1' } });
		expect(options.headers).toEqual({ a: '1', authorization: 'Bearer demo' });
		expect(options.sendCredentialsOnCrossOriginRedirect).toBe(false);
	});

	test('is not used for another address', async () => {
		await expect(attach({ uri: `${stranger.origin}/` })).rejects.toThrow('The token is not sent to');
		const look = attach({ baseURL: sandbox.baseUrl, url: `${stranger.origin}/` });
		await expect(look).rejects.toThrow('The token is not sent to');
	});
});

describe('the error for a token that does not fit', () => {
	test('an expired JWT: when it expired', async () => {
		const { expired } = sandbox.tokens;
		const result = await run({ ...contacts, operation: 'getAll' }, { token: expired, accessType: 'jwt' });
		expect(result.error?.message).toContain('did not accept the token');
		expect(result.error?.description).toMatch(/The token expired on \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
		expect(JSON.stringify(result.run)).not.toContain(expired);
	});

	test.each([
		['short', 'Short API Token'],
		['workflow', 'Workflow Execution Token'],
	] as const)('a %s token for data: which type it takes', async (accessType, name) => {
		const token = sandbox.tokens[accessType];
		const result = await run({ ...contacts, operation: 'getAll' }, { token, accessType });
		expect(result.error?.description).toContain("'API Token With Role' or 'Standard JWT Token'");
		expect(result.error?.description).toContain(`'${name}'`);
	});
});

test('nothing that a failing run leaves behind contains a token', async () => {
	const secret = 'sample-secret-that-must-not-be-seen';
	const faults: Array<[FaultRule['fault'], message: string]> = [
		[{ kind: 'status', status: 500, body: { errors: [{ message: 'no' }] } }, '500'],
		[{ kind: 'html', status: 403 }, 'no right'],
		[{ kind: 'redirect', location: `${stranger.origin}/` }, 'redirect'],
	];
	const base = { ...contacts, options: { maxRetryWait: 0 } };
	for (const operation of ['getAll', 'create', 'upsert', 'deleteMany']) {
		for (const baseUrl of [sandbox.baseUrl, 'http://127.0.0.1:1', `${stranger.origin}`]) {
			const result = await run({ ...base, operation }, { token: secret, baseUrl }, [{ surname: 'Sample', email: 'sample@example.com' }]);
			expect(JSON.stringify(result.run)).not.toContain(secret);
		}
	}
	for (const [fault, message] of faults) {
		await sandbox.admin.faults([{ fault }]);
		const result = await run({ ...base, operation: 'getAll' });
		expect(result.error?.message).toContain(message);
		expect(JSON.stringify(result.run)).not.toContain(sandbox.tokens.role);
	}
});

describe('a server that echoes the request', () => {
	const secret = 'made-up/secret+that=is-echoed';
	const inJson = secret.replaceAll('+', '\\u002B').replaceAll('=', '\\u003d');
	const forms = [secret, inJson];
	const credential = () => ({ baseUrl: stranger.origin, token: secret });
	const record = { recordId: { __rl: true, mode: 'id', value: 'r' } };

	test.each([
		['an error', 400, (echoed: string) => `{"errors":[{"id":"${echoed}","message":"not ${echoed}"}]}`],
		['a failure', 500, (echoed: string) => `{"errors":[{"message":"not ${echoed}"}]}`],
		['a page', 403, (echoed: string) => `<html>authorization: ${echoed}</html>`],
		['an unreadable response', 200, (echoed: string) => `authorization: ${echoed}`],
		['a record', 200, (echoed: string) => `{"data":{"id":"r","ver":1,"fields":{"a":"${echoed}"}}}`],
		['records', 200, (echoed: string) => `{"data":[{"id":"${echoed}","fields":{"${echoed}":1}}]}`],
		['the response of a webhook', 200, (echoed: string) => `{"headers":{"x":["${echoed}"]}}`],
	])('with %s: n8n keeps no token', async (_, status, body) => {
		for (const form of forms) {
			stranger.respond = () => ({ status, body: body(form) });
			const webhookUrl = `${stranger.origin}/hooks`;
			for (const parameters of [
				{ ...contacts, operation: 'getAll' },
				{ ...contacts, operation: 'get', ...record },
				{ ...contacts, operation: 'upsert' },
				{ ...contacts, resource: 'attachment', operation: 'download', ...record, fileField: 'a', outputField: 'x' },
				{ resource: 'workflow', operation: 'trigger', webhookUrl, options: { fullResponse: true } },
			]) {
				const options = { maxRetryWait: 0, ...parameters.options };
				const { error, run: whole } = await run({ ...parameters, options }, credential());
				for (const seen of forms) {
					expect(`${JSON.stringify(whole)} ${error?.stack}`).not.toContain(seen);
				}
			}
			const lists = searchList(credential(), 'searchApplications', {});
			const list = JSON.stringify(await lists.catch((error: Error) => [error, error.message]));
			for (const seen of forms) expect(list).not.toContain(seen);
		}
		expect(stranger.requests.some(({ headers }) => headers.authorization === `Bearer ${secret}`)).toBe(true);
	});

	test('the rest of its response is kept', async () => {
		stranger.respond = () => ({ status: 400, body: `{"errors":[{"message":"not ${secret}!"}]}` });
		const { error } = await run({ ...contacts, operation: 'getAll' }, credential());
		expect(error?.message).toContain('not [token]!');
	});
});

test.each(['two words', 'Bearer abc', 'a\nb', 'a\u0000b', 'tök', 'a–b', '', '  '])(
	'%j is not a token: no part of it is sent',
	async (token) => {
		const { error } = await run({ ...contacts, operation: 'getAll' }, { token, baseUrl: stranger.origin });
		expect(error?.message).toMatch(/The token in the credential (is empty|holds a space)/);
		expect(error?.description).toContain("without 'Bearer'");
		expect(stranger.requests).toEqual([]);
	},
);

test("neither what n8n stores for the trigger nor a poll's error contains a token", async () => {
	const token = sandbox.tokens.role;
	const parameters = { application: picked('crm'), table: picked('contacts') };
	const watching = await watch({ baseUrl: sandbox.baseUrl, token }, parameters);
	await watching.poll();
	expect(watching.staticData()).not.toBe('{}');
	expect(watching.staticData()).not.toContain(token);
	await sandbox.admin.faults([{ fault: { kind: 'html', status: 403 } }]);
	const error = (await watching.poll().catch((caught: unknown) => caught)) as Error;
	expect(error).toBeInstanceOf(Error);
	expect(`${JSON.stringify(error)} ${error.stack}`).not.toContain(token);
});
