/**
 * Certificates that must not be trusted: nothing is sent to a server that presents one, unless the
 * credential allows it, and the error says what is wrong with the certificate.
 */
import { generate, type SelfsignedOptions } from 'selfsigned';
import { connect, createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { automatic, checkCredential, picked, runOperation, searchList } from '../support/engine/engine.cts';
import { watch } from '../support/engine/polls.cts';
import { jsonResponse, startStubServer, type Certificate, type StubServer } from '../support/stubServer.mts';
import { useStubServer } from './useStubServer.cts';

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

const kinds = {
	good: '',
	expired: 'certificate has expired (CERT_HAS_EXPIRED)',
	'not valid yet': 'certificate is not yet valid (CERT_NOT_YET_VALID)',
	'for another name': "Hostname/IP does not match certificate's altnames",
	'signed by itself': 'self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)',
	'of an unknown authority': 'unable to verify the first certificate',
};
type Kind = keyof typeof kinds;
const bad = Object.entries(kinds).filter(([kind]) => kind !== 'good') as Array<[Kind, string]>;

const servers = new Map<Kind, StubServer>();
const certificates = new Map<Kind, Certificate>();
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
		servers.set(kind, await startStubServer(() => jsonResponse({ data: [] }), of));
	}
});
afterAll(async () => {
	setDefaultCACertificates(trusted);
	for (const server of servers.values()) await server.stop();
});
beforeEach(() => {
	for (const server of servers.values()) server.requests.length = 0;
});

const token = 'made-up-for-certificates';
const table = { application: picked('crm'), table: picked('t') };

/** Each use of a server, and its expected result. */
const uses: Array<[use: string, run: (server: StubServer, ignoreSslIssues: boolean) => ReturnType<typeof runOperation>]> = [
	[
		'reading',
		async ({ origin: baseUrl }, ignoreSslIssues) =>
			await run({ baseUrl, ignoreSslIssues }, { resource: 'record', operation: 'getAll', ...table }),
	],
	[
		'writing',
		async (server, ignoreSslIssues) => {
			const written = { data: [{ id: 'r', ver: 0 }], bulk: { successCount: 1 } };
			const definition = { id: 't', items: [{ name: 'a', type: 'text' }] };
			server.respond = ({ target, method }) => {
				if (method === 'POST') return jsonResponse(written);
				return jsonResponse({ data: target.endsWith('/t') ? definition : [] });
			};
			const write = { resource: 'record', operation: 'create', ...table, columns: automatic };
			return await run({ baseUrl: server.origin, ignoreSslIssues }, write, { a: 'x' });
		},
	],
	[
		'a webhook',
		async ({ origin }, ignoreSslIssues) =>
			await run(
				{ baseUrl: plain.origin, webhookOrigins: origin, ignoreSslIssues },
				{ resource: 'workflow', operation: 'trigger', webhookUrl: `${origin}/hooks/1` },
			),
	],
	[
		'a file elsewhere',
		async ({ origin }, ignoreSslIssues) => {
			const file = { fileId: 'f', fileName: 'a.txt', fileUrl: `${origin}/a.txt` };
			const record = { id: 'r', ver: 1, fields: { papers: [file] } };
			plain.respond = () => ({ body: JSON.stringify({ data: record }) });
			return await run(
				{ baseUrl: plain.origin, ignoreSslIssues },
				{
					resource: 'attachment',
					operation: 'download',
					...table,
					recordId: { __rl: true, mode: 'id', value: 'r' },
					fileField: 'papers',
					outputField: 'data',
				},
			);
		},
	],
];

async function run(
	credential: { baseUrl: string; webhookOrigins?: string; ignoreSslIssues: boolean },
	parameters: IDataObject,
	item: IDataObject = {},
) {
	return await runOperation({ token, ...credential }, { parameters: { options: {}, ...parameters } as INodeParameters, items: [item] });
}

describe.each(uses)('%s', (_, use) => {
	test('works if the certificate is valid', async () => {
		const server = servers.get('good')!;
		expect((await use(server, false)).error).toBeUndefined();
		expect(server.requests.length).toBeGreaterThan(0);
	});

	test.each(bad)('is rejected if it is %s', async (kind, problem) => {
		const server = servers.get(kind)!;
		const start = Date.now();
		const { error, run: whole } = await use(server, false);
		expect(error?.message).toContain(`certificate was not accepted: ${problem}`);
		expect(error?.description).toContain("turn on 'Ignore SSL Issues'");
		expect(server.requests).toEqual([]);
		expect(JSON.stringify(whole)).not.toContain(token);
		// Not retried, because nothing would change.
		expect(Date.now() - start).toBeLessThan(5_000);
	});

	test.each(bad)('works if it is %s and the credential allows it', async (kind) => {
		const server = servers.get(kind)!;
		expect((await use(server, true)).error).toBeUndefined();
		expect(server.requests.length).toBeGreaterThan(0);
	});
});

test.each(bad)("the credential's test works if it is %s and the credential allows it", async (kind) => {
	const server = servers.get(kind)!;
	const credential = { baseUrl: server.origin, token, ignoreSslIssues: true };
	await checkCredential(credential);
	expect(server.requests).toHaveLength(1);
});

test.each(bad)("the editor's lists, the trigger and the credential's test say that it is %s", async (kind, problem) => {
	const server = servers.get(kind)!;
	const credential = { baseUrl: server.origin, token };
	const message = expect.objectContaining({ message: expect.stringContaining(problem) });
	await expect(searchList(credential, 'searchApplications', {})).rejects.toEqual(message);
	const watching = await watch(credential, table as unknown as INodeParameters);
	await expect(watching.poll()).rejects.toEqual(message);
	expect(await checkCredential(credential)).toEqual({ status: 'Error', message: expect.stringContaining(problem) });
	expect(server.requests).toEqual([]);
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
	'a server that asks for a client certificate, with %s: the error says so',
	async (maxVersion) => {
		const asking = { ...certificates.get('good')!, requestCert: true, maxVersion };
		const server = await startStubServer(() => jsonResponse({ data: [] }), asking);
		const credential = { baseUrl: server.origin };
		const reading = { resource: 'record', operation: 'getAll', ...table };
		const { error } = await run({ ...credential, ignoreSslIssues: true }, reading);
		expect(`${error?.message} ${error?.description}`).toContain('ask');
		expect(`${error?.message} ${error?.description}`).toContain('client certificate');
		expect(error?.description).not.toContain('Ignore SSL Issues');
		expect(await checkCredential({ ...credential, token, ignoreSslIssues: true })).toEqual({
			status: 'Error',
			message: expect.stringContaining('client certificate'),
		});
		expect(server.requests).toEqual([]);
		await server.stop();
	},
);

describe('a response that is damaged on its way', () => {
	/** A server behind a connection that damages its first response. */
	async function damaged() {
		let isDamaging = false;
		let attempts = 0;
		const server = await startStubServer(({ target }) => {
			attempts += 1;
			isDamaging = attempts === 1 && !target.endsWith('/t');
			return jsonResponse({ data: [] });
		}, certificates.get('good'));
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
		return { server, baseUrl: `https://127.0.0.1:${port}`, stop };
	}

	test('a read is tried again', async () => {
		const { server, baseUrl, stop } = await damaged();
		const reading = { resource: 'record', operation: 'getAll', ...table };
		const { error } = await run({ baseUrl, ignoreSslIssues: false }, reading);
		expect(error).toBeUndefined();
		expect(server.requests).toHaveLength(2);
		await stop();
	});

	test('a workflow may have started', async () => {
		const { server, baseUrl, stop } = await damaged();
		const webhookUrl = `${baseUrl}/hooks/1`;
		const start = { resource: 'workflow', operation: 'trigger', webhookUrl };
		const { error } = await run({ baseUrl, ignoreSslIssues: false }, start);
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
	const { error } = await run(credential, { resource: 'record', operation: 'getAll', ...table });
	expect(error?.message).toContain('Could not establish a secure connection (ERR_SSL_WRONG_VERSION_NUMBER). Nothing was sent');
	expect(error?.description).toContain('port');
	expect(heard.join('')).not.toContain(token);
	server.close();
});
