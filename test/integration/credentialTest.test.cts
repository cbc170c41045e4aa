/** What n8n shows when a credential is saved or tested. */
import { checkCredential } from '../support/engine/engine.cts';
import { startSandbox, type RunningSandbox } from '../../harness/sandboxProcess.mts';
import { useStubServer } from './useStubServer.cts';

let sandbox: RunningSandbox;
/** Another service behind the address. */
const stranger = useStubServer();

beforeAll(async () => {
	sandbox = await startSandbox();
});
afterAll(async () => {
	await sandbox.stop();
});

const check = async (credential: { baseUrl?: string; token?: string; accessType?: string }) =>
	await checkCredential({
		baseUrl: sandbox.baseUrl,
		token: sandbox.tokens.role,
		...credential,
	});

const error = (message: unknown) => ({ status: 'Error', message });

test('a token of each type that works', async () => {
	for (const accessType of ['role', 'jwt', 'short', 'workflow'] as const) {
		const result = await check({ token: sandbox.tokens[accessType], accessType });
		expect(result).toEqual({ status: 'OK', message: 'Connection successful' });
	}
});

test('an address that was pasted with its path', async () => {
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

test.each([
	['a JWT as another type', 'jwt', 'role', /The token is a JWT.*'Token Type'/],
	['another token as a JWT', 'role', 'jwt', /no JWT.*'Standard JWT Token'/],
] as const)('%s', async (_, token, accessType, message) => {
	const result = await check({ token: sandbox.tokens[token], accessType });
	expect(result).toEqual(error(expect.stringMatching(message)));
});

test.each([
	['a page', '<!doctype html><title>n8n</title>', /could not be read|can't be read|not valid JSON/],
	['JSON of another service', '{"status":"ok"}', /responds, but not as the platform/],
	['JSON with other data', '{"data":"pong"}', /responds, but not as the platform/],
	['nothing', '', /could not be read|can't be read|not valid JSON/],
] as const)('%s with status 200 is not the platform', async (_, body, message) => {
	stranger.respond = () => ({ body });
	expect(await check({ baseUrl: stranger.origin })).toEqual(error(expect.stringMatching(message)));
});

test('an address that knows no such path is not the platform', async () => {
	stranger.respond = () => ({ status: 404, body: '{"message":"Cannot GET"}' });
	const result = await check({ baseUrl: stranger.origin });
	expect(result).toEqual(error(expect.stringMatching(/responds, but not as the platform/)));
});

test('a redirect is not followed', async () => {
	stranger.respond = () => ({ status: 302, body: '' });
	const result = await check({ baseUrl: stranger.origin });
	expect(result).toEqual(error(expect.stringContaining('redirect (302)')));
});

test.each([
	['nobody at the address', 'http://127.0.0.1:1', /could not be reached.*'Base URL'/],
	['plain HTTP elsewhere', 'http://platform.example.com', /The base URL must use HTTPS/],
	['no address', 'platform', /The base URL is not a web address/],
	['nothing', '', /The base URL is not a web address/],
] as const)('%s', async (_, baseUrl, message) => {
	expect(await check({ baseUrl })).toEqual(error(expect.stringMatching(message)));
});

test.each(['', 'with space', 'Bearer\nx'])(
	'the token %j is rejected before a request',
	async (token) => {
		expect(await check({ token })).toEqual(
			error(expect.stringMatching(/The token in the credential/)),
		);
	},
);
