/** What n8n shows when a user saves or tests a credential. */
import { checkCredential } from '../support/engine/engine.cts';
import type { RunningSandbox } from '../../harness/sandboxProcess.mts';
import { sharedSandbox } from '../support/sharedSandbox.mts';
import { useStubServer } from './useStubServer.cts';

let sandbox: RunningSandbox;
/** Another service at the address. */
const stranger = useStubServer();

beforeAll(async () => {
	sandbox = await sharedSandbox({ seeded: true });
	await sandbox.admin.reset();
});

const check = async (credential: { baseUrl?: string; token?: string; accessType?: string }) =>
	await checkCredential({ baseUrl: sandbox.baseUrl, token: sandbox.tokens.role, ...credential });

const error = (message: unknown) => ({ status: 'Error', message });

test('a token of each type that works', async () => {
	for (const accessType of ['role', 'jwt', 'short', 'workflow'] as const) {
		const result = await check({ token: sandbox.tokens[accessType], accessType });
		expect(result).toEqual({ status: 'OK', message: 'Connection successful' });
	}
});

test('a URL that was pasted with its path', async () => {
	expect(await check({ baseUrl: `${sandbox.baseUrl}/api/v2/` })).toMatchObject({ status: 'OK' });
});

test.each([
	['an expired token', 'expired', /did not accept the token.*Check 'Token'|expired on/],
	['a revoked token', 'revoked', /did not accept the token/],
] as const)('%s', async (_, name, message) => {
	const result = await check({ token: sandbox.tokens[name] });
	expect(result).toEqual(error(expect.stringMatching(message)));
	expect(result.message).not.toContain(sandbox.tokens[name]);
});

test.each(['short', 'workflow', 'form'] as const)('a token of the type %s as an API token with a role', async (name) => {
	const result = await check({ token: sandbox.tokens[name], accessType: 'role' });
	expect(result).toEqual(error(expect.stringMatching(/may not read anything.*'Token Type' is 'API Token With Role'/)));
	expect(result.message).not.toContain(sandbox.tokens[name]);
});

test('a token whose role may only read', async () => {
	const token = sandbox.tokens.readonly;
	expect(await check({ token, accessType: 'role' })).toMatchObject({ status: 'OK' });
});

const REFUSED = { status: 403, body: '{"errors":[{"message":"not yours"}]}' };
const MISSING = { status: 404, body: '{"errors":[{"message":"no such path"}]}' };
const GATEWAY = { status: 403, body: '<html>Forbidden</html>' };
const USER = { status: 200, body: '{"data":{"id":"u1","email":"ana@example.com"}}' };
const APPS = { status: 200, body: '{"data":[]}' };
const MESSAGE = { status: 200, body: '{"data":{"message":""}}' };

test.each([
	['may read its user', { '/users/me': USER }, 'OK'],
	['may list applications', { '/users/me': REFUSED, '/apps': APPS }, 'OK'],
	['may do neither', { '/users/me': REFUSED, '/apps': REFUSED }, 'Error'],
	['has no user, on a platform that has no such path', { '/users/me': MISSING }, 'OK'],
	['is refused by a gateway', { '/users/me': GATEWAY, '/apps': GATEWAY }, 'OK'],
	['gets something else than its user', { '/users/me': MESSAGE }, 'Error'],
	['gets a user without an address', { '/users/me': { ...USER, body: '{"data":{"id":"u1"}}' } }, 'Error'],
	['gets a page for its user', { '/users/me': { ...USER, body: '<html></html>' } }, 'Error'],
	['gets no list of applications', { '/users/me': REFUSED, '/apps': MESSAGE }, 'Error'],
	['is not accepted there', { '/users/me': { ...REFUSED, status: 401 } }, 'Error'],
] as const)('a token that %s', async (_, responses: Record<string, typeof USER>, status) => {
	stranger.respond = ({ target }) => {
		const path = target.replace('/api/v2', '');
		return path === '/ping' ? { body: PONG('[]') } : (responses[path] ?? { status: 500, body: '' });
	};
	expect(await check({ baseUrl: stranger.origin })).toMatchObject({ status });
});

test.each([
	['a JWT as another type', 'jwt', 'role', /The token is a JWT.*'Token Type'/],
	['another token as a JWT', 'role', 'jwt', /not a JWT.*'Standard JWT Token'/],
] as const)('%s', async (_, token, accessType, message) => {
	const result = await check({ token: sandbox.tokens[token], accessType });
	expect(result).toEqual(error(expect.stringMatching(message)));
});

const PONG = (errors: string) => `{"data":{"message":"pong"},"errors":${errors}}`;

test.each([
	['a page', '<!doctype html><title>n8n</title>', /could not be read|can't be read|not valid JSON/],
	['JSON of another service', '{"status":"ok"}', /responds, but it is not the platform/],
	['JSON with other data', '{"data":"pong"}', /responds, but it is not the platform/],
	['JSON without data in it', '{"data":{}}', /responds, but it is not the platform/],
	['JSON with a list', '{"data":[]}', /responds, but it is not the platform/],
	['JSON with no text', '{"data":{"message":1}}', /responds, but it is not the platform/],
	['data with an error', PONG('[{"message":"locked"}]'), /with an error: locked/],
	['data with an error without words', PONG('[{}]'), /with an error: no reason given/],
	['data with other errors', PONG('{"token":"locked"}'), /responds, but it is not the platform/],
	['data with errors as text', PONG('"locked"'), /responds, but it is not the platform/],
	['nothing', '', /could not be read|can't be read|not valid JSON/],
] as const)('%s with status 200 is not the platform', async (_, body, message) => {
	stranger.respond = () => ({ body });
	expect(await check({ baseUrl: stranger.origin })).toEqual(error(expect.stringMatching(message)));
});

test('an address that knows no such path is not the platform', async () => {
	stranger.respond = () => ({ status: 404, body: '{"message":"Cannot GET"}' });
	const result = await check({ baseUrl: stranger.origin });
	expect(result).toEqual(error(expect.stringMatching(/responds, but it is not the platform/)));
});

test.each([301, 302, 303, 307, 308])('a redirect (%s) is not followed', async (status) => {
	const elsewhere = `${sandbox.baseUrl}/api/v2/ping`;
	await sandbox.admin.clearRequests();
	stranger.respond = () => ({ status, body: '', headers: { location: elsewhere } });
	const result = await check({ baseUrl: stranger.origin });
	expect(result).toEqual(error(expect.stringContaining(`redirect (${status})`)));
	expect(stranger.requests).toHaveLength(1);
	expect(await sandbox.admin.requests()).toEqual([]);
});

test('a platform that never stops to respond', async () => {
	const { timeout } = AbortSignal;
	const spy = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 100));
	stranger.respond = () => ({ body: PONG('[]'), byteIntervalMs: 100 });
	const result = await check({ baseUrl: stranger.origin });
	spy.mockRestore();
	expect(result).toEqual(error(expect.stringContaining('did not respond in time')));
});

test.each([
	['nobody at the address', 'http://127.0.0.1:1', /could not be reached.*'Base URL'/],
	['plain HTTP elsewhere', 'http://platform.example.com', /The base URL must use HTTPS/],
	['no address', 'platform', /The base URL is not a web address/],
	['nothing', '', /The base URL is not a web address/],
] as const)('%s', async (_, baseUrl, message) => {
	expect(await check({ baseUrl })).toEqual(error(expect.stringMatching(message)));
});

test.each(['', 'with space', 'Bearer\nx'])('the token %j is rejected before a request', async (token) => {
	expect(await check({ token })).toEqual(error(expect.stringMatching(/The token in the credential/)));
});
