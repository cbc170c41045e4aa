import type { IHttpRequestOptions } from 'n8n-workflow';
import { DataPlatformApi } from '../../../credentials/DataPlatformApi.credentials.ts';
import { allowedOrigins, baseOrigin, OriginError, safeUrl } from '../../../nodes/DataPlatform/transport/allowedOrigins.ts';

const origin = (address: string) => safeUrl(address, 'The base URL').origin;

test.each([
	['https://platform.example.com', 'https://platform.example.com'],
	['https://platform.example.com/api/v2/', 'https://platform.example.com'],
	[' https://platform.example.com:8443 ', 'https://platform.example.com:8443'],
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

test.each([
	['http://platform.example.com', 'must use HTTPS. Nothing was sent'],
	['http://127.0.0.1.example.com', 'must use HTTPS'],
	['http://localhost.example.com', 'must use HTTPS'],
	['http://128.0.0.1', 'must use HTTPS'],
	['http://0.0.0.0', 'must use HTTPS'],
	['http://3232235777', 'must use HTTPS'],
	['http://[::ffff:127.0.0.1]', 'must use HTTPS'],
	['http://[::2]', 'must use HTTPS'],
	['http://10.0.0.1', 'must use HTTPS'],
	['https://user:secret@platform.example.com', 'contains a user name or password'],
	['https://user@platform.example.com', 'contains a user name or password'],
	['http://localhost@evil.example.com', 'contains a user name or password'],
	['ftp://platform.example.com', 'is not a web address'],
	['file:///etc/passwd', 'is not a web address'],
	['javascript:alert(1)', 'is not a web address'],
	['platform.example.com', 'is not a web address'],
	['https://', 'is not a web address'],
	['', 'is not a web address'],
])('%s is rejected', (address, message) => {
	expect(() => origin(address)).toThrow(OriginError);
	expect(() => origin(address)).toThrow(message);
	expect(() => origin(address)).toThrow('The base URL');
});

test('a rejected URL is not shown with its password', () => {
	expect.assertions(1);
	try {
		origin('https://user:secret@platform.example.com');
	} catch (error) {
		const { message, hint } = error as OriginError;
		expect(JSON.stringify([message, hint])).not.toContain('secret');
	}
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
