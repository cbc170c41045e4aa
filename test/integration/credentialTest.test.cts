/** What n8n shows when a user saves or tests a credential. */
import { checkCredential, type Credential } from '../support/engine/engine.cts';
import { useDemoData } from './fixtures.cts';
import { useStubServer } from './useStubServer.cts';

const demo = useDemoData({ once: true });
/** Responds in place of the platform. */
const stub = useStubServer();

const check = async (credential: Partial<Credential>) => await checkCredential({ ...demo.credential, ...credential });

const error = (message: unknown) => ({ status: 'Error', message });

test.each(['role', 'jwt', 'short', 'workflow'] as const)('a token of the type %s passes', async (accessType) => {
	const result = await check({ token: demo.sandbox.tokens[accessType], accessType });
	expect(result).toEqual({ status: 'OK', message: 'Connection successful' });
});

test('a base URL that was pasted with its path passes', async () => {
	expect(await check({ baseUrl: `${demo.sandbox.baseUrl}/api/v2/` })).toMatchObject({ status: 'OK' });
});

test.each([
	['an expired token', 'expired', /did not accept the token.*Check 'Token'/],
	['a revoked token', 'revoked', /did not accept the token/],
] as const)('%s fails with the reason, and the message does not contain the token', async (_, name, message) => {
	const result = await check({ token: demo.sandbox.tokens[name] });
	expect(result).toEqual(error(expect.stringMatching(message)));
	expect(result.message).not.toContain(demo.sandbox.tokens[name]);
});

test.each(['short', 'workflow', 'form'] as const)(
	'a token of the type %s fails as an API token with a role, and the message names the chosen type',
	async (name) => {
		const result = await check({ token: demo.sandbox.tokens[name], accessType: 'role' });
		expect(result).toEqual(error(expect.stringMatching(/may not read anything.*'Token Type' is 'API Token With Role'/)));
		expect(result.message).not.toContain(demo.sandbox.tokens[name]);
	},
);

test('a token whose role may only read passes', async () => {
	const token = demo.sandbox.tokens.readonly;
	expect(await check({ token, accessType: 'role' })).toMatchObject({ status: 'OK' });
});

const REFUSED = { status: 403, body: '{"errors":[{"message":"not yours"}]}' };
const MISSING = { status: 404, body: '{"errors":[{"message":"no such path"}]}' };
const GATEWAY = { status: 403, body: '<html>Forbidden</html>' };
const USER = { status: 200, body: '{"data":{"id":"u1","email":"ana@example.com"}}' };
const APPS = { status: 200, body: '{"data":[]}' };
const MESSAGE = { status: 200, body: '{"data":{"message":""}}' };

test.each([
	['may read its user', 'OK', { '/users/me': USER }],
	['may list applications', 'OK', { '/users/me': REFUSED, '/apps': APPS }],
	['may do neither', 'Error', { '/users/me': REFUSED, '/apps': REFUSED }],
	['has no user, on a platform that has no such path', 'OK', { '/users/me': MISSING }],
	['is refused by a gateway', 'OK', { '/users/me': GATEWAY, '/apps': GATEWAY }],
	['gets something else than its user', 'Error', { '/users/me': MESSAGE }],
	['gets a user without an address', 'Error', { '/users/me': { ...USER, body: '{"data":{"id":"u1"}}' } }],
	['gets a page for its user', 'Error', { '/users/me': { ...USER, body: '<html></html>' } }],
	['gets no list of applications', 'Error', { '/users/me': REFUSED, '/apps': MESSAGE }],
	['is not accepted there', 'Error', { '/users/me': { ...REFUSED, status: 401 } }],
] as const)('a token that %s has the result %s', async (_, status, responses: Record<string, typeof USER>) => {
	stub.respond = ({ target }) => {
		const path = target.replace('/api/v2', '');
		return path === '/ping' ? { body: PONG('[]') } : (responses[path] ?? { status: 500, body: '' });
	};
	expect(await check({ baseUrl: stub.origin })).toMatchObject({ status });
});

const UNREADABLE = /could not be read/;
const NOT_THE_PLATFORM = /responds, but it is not the platform/;
const PONG = (errors: string) => `{"data":{"message":"pong"},"errors":${errors}}`;

test.each([
	['a page', '<!doctype html><title>n8n</title>', UNREADABLE],
	['JSON of another service', '{"status":"ok"}', NOT_THE_PLATFORM],
	['JSON with other data', '{"data":"pong"}', NOT_THE_PLATFORM],
	['JSON without data in it', '{"data":{}}', NOT_THE_PLATFORM],
	['JSON with a list', '{"data":[]}', NOT_THE_PLATFORM],
	['JSON with no text', '{"data":{"message":1}}', NOT_THE_PLATFORM],
	['data with an error', PONG('[{"message":"locked"}]'), /with an error: locked/],
	['data with an error without words', PONG('[{}]'), /with an error: no reason given/],
	['data with errors by field', PONG('{"token":"locked"}'), /with an error: token: locked/],
	['data with errors as text', PONG('"locked"'), /with an error: locked/],
	['nothing', '', UNREADABLE],
] as const)('%s with status 200 fails and says what is wrong', async (_, body, message) => {
	stub.respond = () => ({ body });
	expect(await check({ baseUrl: stub.origin })).toEqual(error(expect.stringMatching(message)));
});

test('an address that responds with 404 fails as not the platform', async () => {
	stub.respond = () => ({ status: 404, body: '{"message":"Cannot GET"}' });
	expect(await check({ baseUrl: stub.origin })).toEqual(error(expect.stringMatching(NOT_THE_PLATFORM)));
});

test.each([301, 302, 303, 307, 308])('a redirect (%s) is not followed', async (status) => {
	const elsewhere = `${demo.sandbox.baseUrl}/api/v2/ping`;
	await demo.clearRequests();
	stub.respond = () => ({ status, body: '', headers: { location: elsewhere } });
	const result = await check({ baseUrl: stub.origin });
	expect(result).toEqual(error(expect.stringContaining(`redirect (${status})`)));
	expect(stub.requests).toHaveLength(1);
	expect(await demo.requests()).toEqual([]);
});

test('a response that never ends fails with a timeout', async () => {
	const { timeout } = AbortSignal;
	const spy = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 100));
	stub.respond = () => ({ body: PONG('[]'), byteIntervalMs: 100 });
	const result = await check({ baseUrl: stub.origin });
	spy.mockRestore();
	expect(result).toEqual(error(expect.stringContaining('did not respond in time')));
});

test.each([
	['http://127.0.0.1:1', 'an address where nobody responds', /could not be reached.*'Base URL'/],
	['http://platform.example.com', 'plain HTTP to another machine', /The base URL must use HTTPS/],
	['platform', 'no web address', /The base URL is not a web address/],
	['', 'no web address', /The base URL is not a web address/],
] as const)('the base URL %j fails: %s', async (baseUrl, _, message) => {
	expect(await check({ baseUrl })).toEqual(error(expect.stringMatching(message)));
});

test.each(['', 'with space', 'Bearer\nx'])('the token %j is rejected before a request', async (token) => {
	expect(await check({ token })).toEqual(error(expect.stringMatching(/The token in the credential/)));
});
