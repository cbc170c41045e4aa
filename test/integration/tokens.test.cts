/** Where the token is sent, where it is not, and what errors say if it does not fit. */
import type { IDataObject } from 'n8n-workflow';
import { DataPlatformApi } from '../../credentials/DataPlatformApi.credentials';
import { picked, searchList, type Credential } from '../support/engine/engine.cts';
import { watch } from '../support/engine/polls.cts';
import type { FaultRule } from '../../harness/sandboxAdmin.mts';
import { startWorkflow, UNKNOWN_ID, useDemoData } from './fixtures.cts';
import { useStubServer } from './useStubServer.cts';

const harness = useDemoData();
/** Somebody else's server. */
const stranger = useStubServer();

const items = [{ surname: 'Sample', email: 'sample@example.com' }];

/** Lists the contacts with another credential. */
const getAll = async (credential: Partial<Credential> = {}) => await harness.run('getAll', { credential });

const trigger = async (credential: Partial<Credential>, options: IDataObject = {}) =>
	await startWorkflow(harness.credential, `${stranger.origin}/hooks/1`, { credential, options });

describe('the token stays where it belongs', () => {
	test.each([302, 307])('a redirect with %d is not followed', async (status) => {
		await harness.faults({ fault: { kind: 'redirect', status, location: `${stranger.origin}/elsewhere` } });
		for (const operation of ['getAll', 'upsert', 'create']) {
			const result = await harness.run(operation, { items });
			expect(result.error?.message).toContain(`redirect (${status})`);
		}
		expect(stranger.requests).toEqual([]);
	});

	test('a webhook URL elsewhere gets nothing, and the error says where to allow it', async () => {
		const result = await trigger({});
		expect(result.error?.message).toContain('Nothing was sent');
		expect(result.error?.description).toContain(`add ${stranger.origin} to 'Webhook Origins'`);
		expect(stranger.requests).toEqual([]);
		const allowed = await trigger({ webhookOrigins: `https://a.example.com ${stranger.origin}` });
		expect(allowed.error).toBeUndefined();
		expect(stranger.requests).toMatchObject([{ headers: { authorization: `Bearer ${harness.sandbox.tokens.role}` } }]);
	});

	test('a base URL may be pasted with its path', async () => {
		const baseUrl = `${harness.sandbox.baseUrl}/api/v2/`;
		expect((await harness.run('getAll', { parameters: { limit: 1 }, credential: { baseUrl } })).json()).toHaveLength(1);
	});
});

describe('a token that is an expression', () => {
	const get = async (token: string, tokens: string[]) =>
		await harness.run('count', { credential: { token }, items: tokens.map((own) => ({ own })) });

	test('is used if it is the same for all items', async () => {
		const { role } = harness.sandbox.tokens;
		for (const token of [`={{ '${role}' }}`, '={{ $json.own }}']) {
			const { error, json } = await get(token, [role, role]);
			expect(error).toBeUndefined();
			expect(json()).toHaveLength(2);
		}
	});

	test('is refused if another item has another one', async () => {
		const { role, readonly } = harness.sandbox.tokens;
		await harness.clearRequests();
		const { error } = await get('={{ $json.own }}', [role, role, readonly!]);
		expect(error!.message).toBe('The credential has another token or platform for item 2 than for item 0. Nothing was sent');
		expect(await harness.requests()).toEqual([]);
		expect((await get('={{ $json.own }}', [readonly!])).error).toBeUndefined();
	});
});

describe('the credential elsewhere in n8n', () => {
	const { authenticate } = new DataPlatformApi();
	const attach = async (options: IDataObject) => {
		if (typeof authenticate !== 'function') throw new Error('authenticate is no function');
		const credential = { baseUrl: harness.sandbox.baseUrl, token: 'demo', webhookOrigins: '' };
		return (await authenticate(credential, options as never)) as unknown as IDataObject;
	};

	test.each(['url', 'uri'])('the credential attaches its token for the platform, with the URL as %s', async (name) => {
		const options = await attach({ [name]: `${harness.sandbox.baseUrl}/api/v2/ping`, headers: { a: '1' } });
		expect(options.headers).toEqual({ a: '1', authorization: 'Bearer demo' });
		expect(options.sendCredentialsOnCrossOriginRedirect).toBe(false);
	});

	test('the credential refuses another address', async () => {
		await expect(attach({ uri: `${stranger.origin}/` })).rejects.toThrow('The token is not sent to');
		const relative = attach({ baseURL: harness.sandbox.baseUrl, url: `${stranger.origin}/` });
		await expect(relative).rejects.toThrow('The token is not sent to');
	});
});

describe('the error for a token that does not fit', () => {
	test('the error for an expired JWT says where to look', async () => {
		const { expired } = harness.sandbox.tokens;
		const result = await getAll({ token: expired, accessType: 'jwt' });
		expect(result.error?.message).toContain('did not accept the token');
		expect(result.error?.description).toContain("its 'valid to' in the platform");
		expect(JSON.stringify(result.run)).not.toContain(expired);
	});

	test.each([
		['short', 'Short API Token'],
		['workflow', 'Workflow Execution Token'],
	] as const)('the error for a %s token says which type data takes', async (accessType, name) => {
		const result = await getAll({ token: harness.sandbox.tokens[accessType], accessType });
		expect(result.error?.description).toContain("'API Token With Role' or 'Standard JWT Token'");
		expect(result.error?.description).toContain(`'${name}'`);
	});
});

test('nothing that a failing run leaves behind contains a token', async () => {
	const secret = 'sample-secret-that-must-not-be-seen';
	const faults: Array<[FaultRule['fault'], message: string]> = [
		[{ kind: 'status', status: 500, body: { errors: [{ message: 'no' }] } }, '500'],
		[{ kind: 'html', status: 403 }, 'Something between n8n and the platform'],
		[{ kind: 'redirect', location: `${stranger.origin}/` }, 'redirect'],
	];
	const options = { maxRetryWait: 0 };
	for (const operation of ['getAll', 'create', 'upsert', 'deleteMany']) {
		for (const baseUrl of [harness.sandbox.baseUrl, 'http://127.0.0.1:1', stranger.origin]) {
			const result = await harness.run(operation, { items, options, credential: { token: secret, baseUrl } });
			expect(JSON.stringify(result.run)).not.toContain(secret);
		}
	}
	for (const [fault, message] of faults) {
		await harness.faults({ fault });
		const result = await harness.run('getAll', { options });
		expect(result.error?.message).toContain(message);
		expect(JSON.stringify(result.run)).not.toContain(harness.sandbox.tokens.role);
	}
});

describe('a server that echoes the request', () => {
	const secret = 'made-up/secret+that=is-echoed';
	const inJson = secret.replaceAll('+', '\\u002B').replaceAll('=', '\\u003d');
	const forms = [secret, inJson];
	const credentialOfStranger = () => ({ baseUrl: stranger.origin, token: secret });
	const options = { maxRetryWait: 0 };
	/** One of each kind of response that the node reads. */
	const runs = async () => {
		const credential = credentialOfStranger();
		const run = async (operation: string, parameters = {}) => await harness.run(operation, { credential, options, parameters });
		const file = { resource: 'attachment', recordId: UNKNOWN_ID, fileField: 'a', outputField: 'x' };
		return [
			await run('getAll'),
			await run('get', { recordId: UNKNOWN_ID }),
			await run('upsert'),
			await run('download', file),
			await trigger(credential, options),
		];
	};

	test.each([
		['an error', 400, (echoed: string) => `{"errors":[{"id":"${echoed}","message":"not ${echoed}"}]}`],
		['a failure', 500, (echoed: string) => `{"errors":[{"message":"not ${echoed}"}]}`],
		['a page', 403, (echoed: string) => `<html>authorization: ${echoed}</html>`],
		['an unreadable response', 200, (echoed: string) => `authorization: ${echoed}`],
		['a record', 200, (echoed: string) => `{"data":{"id":"${UNKNOWN_ID}","ver":1,"fields":{"a":"${echoed}"}}}`],
		['records', 200, (echoed: string) => `{"data":[{"id":"${echoed}","fields":{"${echoed}":1}}]}`],
		['the response of a webhook', 200, (echoed: string) => `{"headers":{"x":["${echoed}"]}}`],
	])('n8n keeps no token if a server echoes it in %s', async (_, status, body) => {
		for (const form of forms) {
			stranger.respond = () => ({ status, body: body(form) });
			const whole = (await runs()).map(({ run, error }) => `${JSON.stringify(run)} ${error?.stack}`);
			const lists = searchList(credentialOfStranger(), 'searchApplications', {});
			whole.push(JSON.stringify(await lists.catch((error: Error) => [error, error.message])));
			for (const seen of forms) expect(whole.join('\n')).not.toContain(seen);
		}
		expect(stranger.requests.some(({ headers }) => headers.authorization === `Bearer ${secret}`)).toBe(true);
	});

	test('n8n keeps no token if a server echoes it as the type of its response', async () => {
		stranger.respond = () => ({ status: 200, headers: { 'content-type': secret }, body: 'text' });
		const whole = (await runs()).map(({ run, error }) => `${JSON.stringify(run)} ${error?.stack}`).join('\n');
		expect(whole).toContain('[token]');
		expect(whole).not.toContain(secret);
	});

	test('the rest of a response that echoes the token is kept', async () => {
		stranger.respond = () => ({ status: 400, body: `{"errors":[{"message":"not ${secret}!"}]}` });
		const { error } = await getAll(credentialOfStranger());
		expect(error?.message).toContain('not [token]!');
	});
});

test.each(['two words', 'Bearer abc', 'a\nb', 'a\u0000b', 'tök', 'a–b', '', '  '])(
	'%j is not a token: no part of it is sent',
	async (token) => {
		const { error } = await getAll({ token, baseUrl: stranger.origin });
		expect(error?.message).toMatch(/The token in the credential (is empty|holds a space)/);
		expect(error?.description).toContain("without 'Bearer'");
		expect(stranger.requests).toEqual([]);
	},
);

test("neither what n8n stores for the trigger nor a poll's error contains a token", async () => {
	const { token } = harness.credential;
	const watching = await watch(harness.credential, { application: picked('crm'), table: picked('contacts') });
	await watching.poll();
	expect(watching.staticData()).not.toBe('{}');
	expect(watching.staticData()).not.toContain(token);
	await harness.faults({ fault: { kind: 'html', status: 403 } });
	const error = (await watching.poll().catch((caught: unknown) => caught)) as Error;
	expect(error).toBeInstanceOf(Error);
	expect(`${JSON.stringify(error)} ${error.stack}`).not.toContain(token);
});
