import type { IHttpRequestOptions } from 'n8n-workflow';
import { DataPlatformApi } from '../../../credentials/DataPlatformApi.credentials.ts';
import { allowedOrigins, baseOrigin, isLoopback, OriginError, safeUrl } from '../../../nodes/DataPlatform/transport/allowedOrigins.ts';
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
	expect(error).toBeInstanceOf(OriginError);
	expect(error).toMatchObject({ name: 'OriginError', message: `The base URL ${problem}`, hint });
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
	const { message, hint } = thrownBy(() => origin('https://user:secret@platform.example.com')) as OriginError;
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
		expect(options.skipSslCertificateValidation).toBeUndefined();
	});

	test('keeps other headers, and reads a base URL', async () => {
		const options = await send(
			{ baseURL: 'https://hooks.example.com', url: '/start', headers: { Accept: 'x' } },
			{ ...credential, ignoreSslIssues: true },
		);
		expect(options.headers).toEqual({ Accept: 'x', authorization: 'Bearer s3cret' });
		expect(options.skipSslCertificateValidation).toBe(true);
	});

	test.each([
		'https://other.example.com/api/v2/ping',
		'https://platform.example.com.evil.example/ping',
		'https://platform.example.com:8443/ping',
		'http://platform.example.com/ping',
		'https://platform.example.com@evil.example.com/ping',
	])('does not send it to %s', async (url) => {
		const error = await send({ url }).catch((reason: unknown) => reason);
		expect(error).toBeInstanceOf(OriginError);
		expect(JSON.stringify([String(error), error])).not.toContain('s3cret');
	});
});
