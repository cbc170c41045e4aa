/**
 * URLs in every format that a parser accepts: the token goes only to the origin that the credential
 * names, however it is written. Two servers record what arrives.
 */
import { SsrfProtectionConfig } from '@n8n/config';
import { Container } from '@n8n/di';
import { checkCredential } from '../support/engine/engine.cts';
import { startWorkflow, useHarness } from './fixtures.cts';
import { useStubServer } from './useStubServer.cts';

const platform = useStubServer();
const stranger = useStubServer();

/** `P` and `S` stand for the ports of the platform and of the other server. */
const withPorts = (address: string) => address.replaceAll(/\bP\b/g, String(platform.port)).replaceAll(/\bS\b/g, String(stranger.port));

describe('a webhook URL', () => {
	test.each([
		['http://127.0.0.1:P/hooks/1?a=b', '/hooks/1?a=b'],
		['HTTP://127.0.0.1:P/hooks/1#part', '/hooks/1'],
		['  http://127.0.0.1:P/hooks/1  ', '/hooks/1'],
		['http://127.0.0.1:P', '/'],
		// Other spellings of 127.0.0.1, which mean the same address to everyone.
		['http://2130706433:P/hooks', '/hooks'],
		['http://%31%32%37.0.0.1:P/hooks', '/hooks'],
		['http://127。0。0。1:P/hooks', '/hooks'],
		// Sloppy spellings that parsers correct.
		['http:\\\\127.0.0.1:P\\hooks', '/hooks'],
		['ht\ntp://127.0.0.1:P/ho\toks', '/hooks'],
		// Something that looks like another host is part of the path or the query, or is ignored.
		['http://127.0.0.1:P\\@127.0.0.1:S/', '/@127.0.0.1:S/'],
		['http://127.0.0.1:P/@127.0.0.1:S/', '/@127.0.0.1:S/'],
		['http://127.0.0.1:P//127.0.0.1:S/', '/127.0.0.1:S/'],
		// Nobody knows where the platform's webhook URLs live.
		['http://127.0.0.1:P/api/v2/hooks/1/data', '/api/v2/hooks/1/data'],
		['http://127.0.0.1:P/api/v2/webhooks/1/...?x=../apps', '/api/v2/webhooks/1/...?x=../apps'],
		['http://127.0.0.1:P/apps/1/data#/../x', '/apps/1/data'],
	])('%j goes to the platform', async (address, target) => {
		const result = await startWorkflow(platform.credential, withPorts(address));
		expect(result.error).toBeUndefined();
		expect(platform.requests.map((heard) => heard.target)).toEqual([withPorts(target)]);
		expect(platform.requests[0]?.headers).toMatchObject({
			host: `127.0.0.1:${platform.port}`,
			authorization: `Bearer ${platform.credential.token}`,
		});
		expect(stranger.requests).toEqual([]);
	});

	test.each([
		// Somebody else's server.
		...['http://127.0.0.1:S/hooks', 'http://127.0.0.2:P/hooks', 'http://localhost:P/hooks'],
		...['https://127.0.0.1:P/hooks', 'https://platform.example.com/hooks'],
		// Almost this computer.
		...['http://[::ffff:127.0.0.1]:P/hooks', 'http://0.0.0.0:P/hooks', 'http://127.0.0.1.example.com:P/hooks'],
		// With a user name that looks like the host if read from the left.
		'http://127.0.0.1:P@127.0.0.1:S/hooks',
		'http://user@127.0.0.1:P/hooks',
		'http://user:s3cret-word@127.0.0.1:P/hooks',
		'http://127.0.0.1%3AP@127.0.0.1:S/hooks',
		// Not web addresses.
		...['file:///etc/passwd', 'ftp://127.0.0.1:P/hooks', 'javascript:fetch("http://127.0.0.1:S")', '//127.0.0.1:P/hooks'],
		...['http://127.0.0.1:P/hooks/../api/v2/t/data/filter', 'http://127.0.0.1:P/a/./b', 'http://127.0.0.1:P/a/..'],
		...['%2e%2e', '.%2E', '%252e.', '..;x', '..%2f', '..%5c', '..\\', '%2f..', '.\n.', '%%32e.', `%${'25'.repeat(50_000)}2e.`].map(
			(dots) => `http://127.0.0.1:P/a/${dots}/b`,
		),
		// Records and applications.
		...[
			't/data',
			't/data/filter',
			't/data/bulk',
			'T/DATA/',
			't/data;x',
			't/%64ata',
			't%2fdata/filter',
			'apps',
			'apps/crm/tables/t/data/bulk',
		].map((path) => `http://127.0.0.1:P/api/v2/${path}`),
		...['http://127.0.0.1:P//api//v2//t/data?limit=1', 'http://127.0.0.1:P/api\\v2\\t\\data', 'http://127.0.0.1:P/%61pi/v2/apps/'],
		...['127.0.0.1:P/hooks', 'http://127.0.0.1:99999/hooks', 'http://127.0.0.1:P:S/hooks', 'x'.repeat(100_000)],
	])('%j gets nothing', async (address) => {
		const { error, run: whole } = await startWorkflow(platform.credential, withPorts(address));
		expect(error?.message).toContain('The webhook URL');
		expect(error?.message.length).toBeLessThan(300);
		expect(error?.description).toMatch(
			/^(Enter a full address|Remove the part before the @|Use https:\/\/|If this address belongs to your platform|Copy the address)/,
		);
		expect([platform.requests, stranger.requests]).toEqual([[], []]);
		// n8n adds the node's own parameters to the error, which contain what the user wrote.
		expect(`${error?.message} ${error?.description} ${error?.stack}`).not.toContain('s3cret-word');
		expect(JSON.stringify(whole)).not.toContain(platform.credential.token);
	});

	test.each(['http://127.0.0.1:S', 'http://127.1:S/any/path?x#y', ' http://2130706433:S '])(
		'elsewhere is called if the credential lists %j',
		async (webhookOrigins) => {
			const credential = { webhookOrigins: withPorts(webhookOrigins) };
			const result = await startWorkflow(platform.credential, withPorts('http://127.0.0.1:S/hooks'), { credential });
			expect(result.error).toBeUndefined();
			expect(stranger.requests).toHaveLength(1);
		},
	);

	test.each(['*', 'null', '127.0.0.1:S', 'http://*:S', 'http://user@127.0.0.1:S', '//127.0.0.1:S'])(
		'elsewhere is not called if the credential lists %j',
		async (webhookOrigins) => {
			const credential = { webhookOrigins: withPorts(webhookOrigins) };
			const result = await startWorkflow(platform.credential, withPorts('http://127.0.0.1:S/hooks'), { credential });
			expect(result.error?.message).toContain('A webhook origin');
			expect([platform.requests, stranger.requests]).toEqual([[], []]);
		},
	);
});

describe('a base URL', () => {
	test.each([
		...['http://127.0.0.1:P', 'http://127.0.0.1:P/', 'http://127.0.0.1:P/api/v2', 'http://127.0.0.1:P/api/v2/apps/other/'],
		...['http://127.0.0.1:P/a/../../..', 'http://127.0.0.1:P//127.0.0.1:S', 'http://127.0.0.1:P?x=/y&z=1'],
		...['http://127.0.0.1:P/#/apps/crm', 'http://127.0.0.1:P/?@127.0.0.1:S#x', 'http://127.0.0.1:P\\@127.0.0.1:S'],
		'\thttp:\\\\127.1:P\\ \n',
	])('%j is used without what follows the host', async (baseUrl) => {
		platform.respond = () => ({ body: '{"data":{"count":3}}' });
		const result = await platform.run('count', { credential: { baseUrl: withPorts(baseUrl) } });
		expect(result.json()).toEqual([{ count: 3 }]);
		expect(platform.requests.map(({ target }) => target)).toEqual(['/api/v2/apps/crm/tables/t/data/count']);
		expect(stranger.requests).toEqual([]);
	});
});

describe("with n8n's SSRF protection", () => {
	const harness = useHarness();

	beforeAll(() => {
		Container.get(SsrfProtectionConfig).enabled = true;
	});
	afterAll(() => {
		Container.get(SsrfProtectionConfig).enabled = false;
	});

	const MESSAGE = "n8n's SSRF protection blocks the platform's address. Nothing was sent";

	test.each([
		['getAll', {}],
		['create', { items: [{ number: '1', buyer: 'a' }] }],
	])('%s fails at once, and says who can allow it', async (operation, run) => {
		const started = Date.now();
		const { error } = await harness.run(operation, run);
		expect(error).toMatchObject({ message: MESSAGE, description: expect.stringContaining('N8N_SSRF_ALLOWED_HOSTNAMES') });
		// No retries: they would take 11 s.
		expect(Date.now() - started).toBeLessThan(8000);
		expect(await harness.requests()).toEqual([]);
	});

	test("the credential's test says so", async () => {
		const { status, message } = await checkCredential(harness.credential);
		expect(status).toBe('Error');
		expect(message).toContain(MESSAGE);
	});
});
