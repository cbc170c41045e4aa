/**
 * Certificates that must not be trusted: nothing is sent to a server that presents one, unless the
 * credential allows it, and the error says what is wrong with the certificate.
 */
import { generate, type SelfsignedOptions } from 'selfsigned';
import { connect, createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { checkCredential, picked, searchList, type RunResult } from '../support/engine/engine.cts';
import { watch } from '../support/engine/polls.cts';
import { jsonResponse, type Certificate } from '../support/stubServer.mts';
import { startWorkflow, UNKNOWN_ID } from './fixtures.cts';
import { StubPlatform, useStubServer } from './useStubServer.cts';

const DAY_MS = 24 * 60 * 60 * 1000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);
const usual: SelfsignedOptions = { keyType: 'ec', algorithm: 'sha256' };
const here = [{ type: 7 as const, ip: '127.0.0.1' }];
const elsewhere = [{ type: 2 as const, value: 'other.example.com' }];

const authority = async (name: string) =>
	await generate([{ name: 'commonName', value: name }], { ...usual, extensions: [{ name: 'basicConstraints', cA: true, critical: true }] });

type Authority = Awaited<ReturnType<typeof authority>>;

async function certificate(
	altNames: typeof here | typeof elsewhere,
	by?: Authority,
	days: [from: number, to: number] = [-1, 30],
): Promise<Certificate> {
	const { private: key, cert } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
		...usual,
		...(by && { ca: { key: by.private, cert: by.cert } }),
		notBeforeDate: inDays(days[0]),
		notAfterDate: inDays(days[1]),
		extensions: [{ name: 'subjectAltName', altNames }],
	});
	return { key, cert };
}

const bad = [
	['expired', 'certificate has expired (CERT_HAS_EXPIRED)'],
	['not valid yet', 'certificate is not yet valid (CERT_NOT_YET_VALID)'],
	['for another name', "Hostname/IP does not match certificate's altnames"],
	['signed by itself', 'self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)'],
	['of an unknown authority', 'unable to verify the first certificate'],
] as const;
type Kind = 'good' | (typeof bad)[number][0];

const servers = new Map<Kind, StubPlatform>();
const certificates = new Map<Kind, Certificate>();
const respond = () => jsonResponse({ data: [] });
/** A platform without HTTPS: only other servers have a certificate. */
const plain = useStubServer();
const trusted = getCACertificates('default');

beforeAll(async () => {
	const known = await authority('Known');
	setDefaultCACertificates([...trusted, known.cert]);
	const made: Record<Kind, Certificate> = {
		good: await certificate(here, known),
		expired: await certificate(here, known, [-30, -1]),
		'not valid yet': await certificate(here, known, [1, 30]),
		'for another name': await certificate(elsewhere, known),
		'signed by itself': await certificate(here),
		'of an unknown authority': await certificate(here, await authority('Unknown')),
	};
	for (const [kind, of] of Object.entries(made) as Array<[Kind, Certificate]>) {
		certificates.set(kind, of);
		servers.set(kind, await new StubPlatform(respond, of).start());
	}
});
afterAll(async () => {
	setDefaultCACertificates(trusted);
	for (const server of servers.values()) await server.stop();
});
beforeEach(() => {
	for (const server of servers.values()) server.requests.length = 0;
});

/** The uses of a server. */
const uses: Array<
	[use: string, at: 'the base URL' | 'another address', run: (server: StubPlatform, ignoreSslIssues: boolean) => Promise<RunResult>]
> = [
	['reading', 'the base URL', async (server, ignoreSslIssues) => await server.run('getAll', { credential: { ignoreSslIssues } })],
	[
		'writing',
		'the base URL',
		async (server, ignoreSslIssues) => {
			server.respondWith({ fields: [{ name: 'a', type: 'text' }], written: [{ id: 'r', ver: 0 }] });
			return await server.run('create', { credential: { ignoreSslIssues }, items: [{ a: 'x' }] });
		},
	],
	[
		'a webhook',
		'another address',
		async ({ origin }, ignoreSslIssues) => {
			const credential = { webhookOrigins: origin, ignoreSslIssues };
			return await startWorkflow(plain.credential, `${origin}/hooks/1`, { credential });
		},
	],
	[
		'a file',
		'another address',
		async ({ origin }, ignoreSslIssues) => {
			const papers = [{ fileId: 'f', fileName: 'a.txt', fileUrl: `${origin}/a.txt` }];
			plain.respondWith({ records: [{ id: UNKNOWN_ID, ver: 1, fields: { papers } }] });
			const parameters = { resource: 'attachment', recordId: picked(UNKNOWN_ID), fileField: 'papers', outputField: 'data' };
			return await plain.run('download', { parameters, credential: { ignoreSslIssues } });
		},
	],
];

describe.each(uses)('a certificate, for %s at %s', (_, at, use) => {
	test('is accepted if it is valid', async () => {
		const server = servers.get('good')!;
		expect((await use(server, false)).error).toBeUndefined();
		expect(server.requests.length).toBeGreaterThan(0);
	});

	test.each(bad)('is rejected if it is %s: %s', async (kind, problem) => {
		const server = servers.get(kind)!;
		const start = Date.now();
		const { error, run: whole } = await use(server, false);
		expect(error?.message).toContain(`certificate was not accepted: ${problem}`);
		expect(error?.description).toContain("turn on 'Ignore SSL Issues'");
		expect(server.requests).toEqual([]);
		expect(JSON.stringify(whole)).not.toContain(server.credential.token);
		// Not retried, because nothing would change.
		expect(Date.now() - start).toBeLessThan(5_000);
	});

	test.each(bad)('is accepted if it is %s and the credential allows it, at the base URL only', async (kind) => {
		const server = servers.get(kind)!;
		const { error } = await use(server, true);
		if (at === 'the base URL') expect(error).toBeUndefined();
		else expect(error?.message).toContain('certificate was not accepted');
		expect(server.requests.length > 0).toBe(at === 'the base URL');
	});
});

test.each(bad)("the credential's test works if it is %s and the credential allows it", async (kind) => {
	const server = servers.get(kind)!;
	await checkCredential({ ...server.credential, ignoreSslIssues: true });
	expect(server.requests).toHaveLength(1);
});

test.each(bad)("the editor's lists, the trigger and the credential's test say that it is %s", async (kind, problem) => {
	const { credential, requests } = servers.get(kind)!;
	const message = expect.objectContaining({ message: expect.stringContaining(problem) });
	await expect(searchList(credential, 'searchApplications', {})).rejects.toEqual(message);
	const watching = await watch(credential, { application: picked('crm'), table: picked('t') });
	await expect(watching.poll()).rejects.toEqual(message);
	expect(await checkCredential(credential)).toEqual({ status: 'Error', message: expect.stringContaining(problem) });
	expect(requests).toEqual([]);
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)('the error says that a server asks for a client certificate: %s', async (maxVersion) => {
	const asking = { ...certificates.get('good')!, requestCert: true, maxVersion };
	const server = await new StubPlatform(respond, asking).start();
	const credential = { ...server.credential, ignoreSslIssues: true };
	const { error } = await server.run('getAll', { credential });
	expect(`${error?.message} ${error?.description}`).toMatch(/ask.*client certificate/s);
	expect(error?.description).not.toContain('Ignore SSL Issues');
	const message = expect.stringContaining('client certificate');
	expect(await checkCredential(credential)).toEqual({ status: 'Error', message });
	expect(server.requests).toEqual([]);
	await server.stop();
});

describe('a response that is damaged on its way', () => {
	/** A server behind a connection that damages its first response. */
	async function damaged() {
		let isDamaging = false;
		let attempts = 0;
		const server = await new StubPlatform(({ target }) => {
			attempts += 1;
			isDamaging = attempts === 1 && !target.endsWith('/t');
			return jsonResponse({ data: [] });
		}, certificates.get('good')).start();
		const wire = createServer((client) => {
			const upstream = connect(server.port, '127.0.0.1');
			client.pipe(upstream);
			upstream.on('data', (bytes) => {
				// Not the last byte: it may belong to the end of the connection.
				if (isDamaging) bytes[Math.min(10, bytes.length - 1)]! ^= 1;
				isDamaging = false;
				client.write(bytes);
			});
			for (const socket of [client, upstream]) {
				socket.on('error', () => undefined);
				socket.on('close', () => void client.destroy());
				socket.on('close', () => void upstream.destroy());
			}
		});
		await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve));
		const { port } = wire.address() as { port: number };
		const stop = async () => {
			wire.close();
			await server.stop();
		};
		return { server, credential: { ...server.credential, baseUrl: `https://127.0.0.1:${port}` }, stop };
	}

	test('to a read is requested again', async () => {
		const { server, credential, stop } = await damaged();
		expect((await server.run('getAll', { credential })).error).toBeUndefined();
		expect(server.requests).toHaveLength(2);
		await stop();
	});

	test('to the start of a workflow makes it unknown whether it started', async () => {
		const { server, credential, stop } = await damaged();
		const { error } = await startWorkflow(credential, `${credential.baseUrl}/hooks/1`);
		expect(error?.message).toContain('Unknown whether the workflow started');
		expect(server.requests).toHaveLength(1);
		await stop();
	});
});

test('a server that speaks plain HTTP gets nothing over HTTPS, and the error says so', async () => {
	const heard: string[] = [];
	const server = createServer((socket) => {
		socket.on('error', () => undefined);
		socket.on('data', (bytes) => {
			heard.push(bytes.toString('latin1'));
			socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as { port: number };
	const credential = { baseUrl: `https://127.0.0.1:${port}`, ignoreSslIssues: true };
	const { error } = await plain.run('getAll', { credential });
	expect(error?.message).toContain('Could not establish a secure connection (ERR_SSL_WRONG_VERSION_NUMBER). Nothing was sent');
	expect(error?.description).toContain('port');
	expect(heard.join('')).not.toContain(plain.credential.token);
	server.close();
});
