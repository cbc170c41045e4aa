import type { IHttpRequestOptions } from 'n8n-workflow';
import { DataPlatformApi } from '../../../credentials/DataPlatformApi.credentials.ts';
import { allowedOrigins, baseOrigin, isLoopback, safeUrl } from '../../../nodes/DataPlatform/transport/allowedOrigins.ts';
import { InputError } from '../../../nodes/DataPlatform/transport/errors.ts';
import { thrownBy } from '../fixtures.cts';

const origin = (address: string) => safeUrl(address, 'The base URL').origin;

test.each([
	['https://platform.example.com', 'https://platform.example.com'],
	['https://platform.example.com/api/v2/', 'https://platform.example.com'],
	[' https://platform.example.com:8443 ', 'https://platform.example.com:8443'],
	['\u00a0https://platform.example.com\n', 'https://platform.example.com'],
	['HTTPS://Platform.Example.COM', 'https://platform.example.com'],
	['http://localhost:5999', 'http://localhost:5999'],
	['http://127.0.0.1', 'http://127.0.0.1'],
	['http://127.255.0.3:80', 'http://127.255.0.3'],
	['http://[::1]:5999/x', 'http://[::1]:5999'],
	// Other spellings of a loopback address, which the URL parser normalizes.
	['http://2130706433', 'http://127.0.0.1'],
	['http://0x7f.1', 'http://127.0.0.1'],
	['http://127.1', 'http://127.0.0.1'],
	['http://[0:0:0:0:0:0:0:1]', 'http://[::1]'],
])('%s is taken as %s', (address, expected) => {
	expect(origin(address)).toBe(expected);
	expect(baseOrigin(address)).toBe(expected);
});

const NO_ADDRESS = ['is not a web address', 'Enter a full address such as https://platform.example.com.'] as const;
const HAS_USER = ['contains a user name or password', 'Remove the part before the @; the token belongs in the credential.'] as const;
const LOCAL_ONLY = 'Plain HTTP is accepted for this computer only (localhost, 127.0.0.1, [::1]).';
const HTTPS = ['must use HTTPS. Nothing was sent', expect.stringContaining(LOCAL_ONLY)] as const;

test.each([
	['http://platform.example.com', HTTPS[0], `Use https:// for platform.example.com. ${LOCAL_ONLY}`],
	['http://127.0.0.1.example.com', ...HTTPS],
	['http://localhost.example.com', ...HTTPS],
	['http://128.0.0.1', ...HTTPS],
	['http://0.0.0.0', ...HTTPS],
	['http://3232235777', ...HTTPS],
	['http://[::ffff:127.0.0.1]', ...HTTPS],
	['http://[::2]', ...HTTPS],
	['http://10.0.0.1', ...HTTPS],
	['https://user:secret@platform.example.com', ...HAS_USER],
	['https://user@platform.example.com', ...HAS_USER],
	['https://:secret@platform.example.com', ...HAS_USER],
	['http://localhost@evil.example.com', ...HAS_USER],
	['ftp://platform.example.com', ...NO_ADDRESS],
	['file:///etc/passwd', ...NO_ADDRESS],
	['javascript:alert(1)', ...NO_ADDRESS],
	['platform.example.com', ...NO_ADDRESS],
	['https://', ...NO_ADDRESS],
	['', ...NO_ADDRESS],
])('%s is rejected: it %s', (address, problem, hint) => {
	const error = thrownBy(() => origin(address));
	expect(error).toBeInstanceOf(InputError);
	expect(error).toMatchObject({ name: 'InputError', message: `The base URL ${problem}`, hint });
});

test.each([
	['localhost', true],
	['[::1]', true],
	['127.0.0.1', true],
	['127.255.1.250', true],
	['127.0.0.1.example.com', false],
	['a127.0.0.1', false],
	['127.0.0', false],
	['127.0.0.1234', false],
	['128.0.0.1', false],
])('%s is this computer: %s', (host, expected) => {
	expect(isLoopback(host)).toBe(expected);
});

test('a rejected URL is not shown with its password', () => {
	const { message, hint } = thrownBy(() => origin('https://user:secret@platform.example.com')) as InputError;
	expect(JSON.stringify([message, hint])).not.toContain('secret');
});

test('allowed are the base URL and the listed origins, whatever divides them', () => {
	const extra = 'https://a.example.com/hook/1, https://b.example.com\nhttp://localhost:1 ';
	expect([...allowedOrigins('https://platform.example.com/x', extra)]).toEqual([
		'https://platform.example.com',
		'https://a.example.com',
		'https://b.example.com',
		'http://localhost:1',
	]);
	expect(allowedOrigins('https://platform.example.com', ' ').size).toBe(1);
	expect(() => allowedOrigins('https://platform.example.com', 'http://a.example.com')).toThrow('A webhook origin must use HTTPS');
});

describe('the credential', () => {
	const { authenticate } = new DataPlatformApi();
	const credential = { baseUrl: 'https://platform.example.com', token: ' s3cret ', webhookOrigins: 'https://hooks.example.com' };
	const send = async (options: IHttpRequestOptions, data: object = credential) => {
		if (typeof authenticate !== 'function') throw new Error('it has no authenticate function');
		return await authenticate(data as never, options);
	};

	test('adds the token, trimmed, and forbids it to travel on', async () => {
		const options = await send({ url: 'https://platform.example.com/api/v2/ping' });
		expect(options.headers).toEqual({ authorization: 'Bearer s3cret' });
		expect(options.sendCredentialsOnCrossOriginRedirect).toBe(false);
		expect(options).toMatchObject(CHECKED);
	});

	test('keeps other headers and the method', async () => {
		const headers = { Accept: 'x', host: 'other.example.com', Authorization: 'Bearer other' };
		const options = await send({ method: 'PUT', url: 'https://platform.example.com/', headers });
		expect(options).toMatchObject({ method: 'PUT', headers: { Accept: 'x', authorization: 'Bearer s3cret' } });
		expect(Object.keys(options.headers!)).toEqual(['Accept', 'authorization']);
	});

	test.each<[options: object, url: string]>([
		[{ url: '\u00a0https://platform.example.com/a b' }, 'https://platform.example.com/a%20b'],
		[{ uri: 'https://platform.example.com' }, 'https://platform.example.com/'],
		[{ baseURL: 'https://hooks.example.com/x', url: '/start' }, 'https://hooks.example.com/start'],
		[{ url: 'https://platform.example.com/a', uri: 'https://other.example.com/' }, 'https://platform.example.com/a'],
	])('the address that was checked is the one that is used: %j', async (options, url) => {
		expect(await send(options as IHttpRequestOptions)).toMatchObject({ url, baseURL: undefined, uri: undefined });
	});

	/** What no option of n8n's HTTP Request node changes. */
	const CHECKED = { proxy: undefined, skipSslCertificateValidation: false, rejectUnauthorized: true, agentOptions: undefined };

	test.each<[options: object, expected: object | undefined]>([
		[{ proxy: { host: 'other.example.com', port: 80 } }, undefined],
		[{ skipSslCertificateValidation: true, rejectUnauthorized: false }, undefined],
		[
			{ agentOptions: { ca: 'a', rejectUnauthorized: false, cert: 'b', key: 'c', passphrase: 'd' } },
			{ agentOptions: { cert: 'b', key: 'c', passphrase: 'd' } },
		],
	])('decides the proxy and the check of certificates itself: %j', async (options, expected) => {
		const checked = await send({ url: 'https://platform.example.com/', ...options });
		expect(checked).toMatchObject({ ...CHECKED, ...expected });
		expect(checked.agentOptions).toEqual(expected && { cert: 'b', key: 'c', passphrase: 'd' });
	});

	test.each([
		['https://platform.example.com/', true, true],
		['https://platform.example.com/', 'true', false],
		['https://hooks.example.com/', true, false],
	])('%s with ignoreSslIssues %j: certificates are not checked: %s', async (url, ignoreSslIssues, expected) => {
		const options = await send({ url }, { ...credential, ignoreSslIssues });
		expect(options).toMatchObject({ skipSslCertificateValidation: expected, rejectUnauthorized: !expected });
	});

	test.each([
		['http://localhost/x', 'localhost', 80],
		['http://[::1]:5999/x', '[::1]', 5999],
	])('%s is its own proxy', async (url, host, port) => {
		const { proxy } = await send({ url }, { ...credential, baseUrl: url });
		expect(proxy).toEqual({ protocol: 'http', host, port });
	});

	test.each([
		'https://other.example.com/api/v2/ping',
		'https://platform.example.com.evil.example/ping',
		'https://platform.example.com:8443/ping',
		'http://platform.example.com/ping',
		'https://platform.example.com@evil.example.com/ping',
	])('does not send it to %s', async (url) => {
		const error = await send({ url }).catch((reason: unknown) => reason);
		expect(error).toBeInstanceOf(InputError);
		expect(JSON.stringify([String(error), error])).not.toContain('s3cret');
	});
});
