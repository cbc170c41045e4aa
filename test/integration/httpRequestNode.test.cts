/**
 * The credential in n8n's HTTP Request node: whoever may use it, without seeing the token, chooses that node's options.
 * The token reaches no server but the platform, and nobody who listens on the way.
 */
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { generate } from 'selfsigned';
import type { INodeType, IRequestOptions } from 'n8n-workflow';
import { CREDENTIAL_TYPE, ITEMS_TYPE, ownTypes, runWorkflow, type Credential } from '../support/engine/engine.cts';
import { StubServer, jsonResponse, type Certificate } from '../support/stubServer.mts';

const TOKEN = 'made-up-token';
const HTTP_REQUEST = 'test.httpRequest';

/** Sends what its parameter says with the credential, by the function that n8n's HTTP Request node uses. */
const httpRequest: INodeType = {
	description: {
		displayName: 'HTTP Request',
		name: 'httpRequest',
		group: ['transform'],
		version: 1,
		description: 'Sends a request',
		defaults: { name: 'HTTP Request' },
		inputs: ['main'],
		outputs: ['main'],
		credentials: [{ name: CREDENTIAL_TYPE, required: true }],
		properties: [{ displayName: 'Options', name: 'options', type: 'json', default: {} }],
	},
	async execute() {
		const options = this.getNodeParameter('options', 0) as IRequestOptions;
		const response: unknown = await this.helpers.requestWithAuthentication.call(this, CREDENTIAL_TYPE, { json: true, ...options });
		return [[{ json: { response } as never }]];
	},
};

async function send(credential: Partial<Credential>, options: object) {
	ownTypes.set(HTTP_REQUEST, httpRequest);
	const step = {
		name: 'HTTP Request',
		type: HTTP_REQUEST,
		parameters: { options: options as never },
		credentials: { [CREDENTIAL_TYPE]: { id: '1', name: 'Data Platform' } },
	};
	const workflow = {
		nodes: [{ name: 'Items', type: ITEMS_TYPE }, step],
		connections: { Items: { main: [[{ node: step.name, type: 'main' as const, index: 0 }]] } },
	};
	return await runWorkflow(workflow, [{ json: {} }], { baseUrl: '', token: TOKEN, ...credential });
}

/** A proxy of whoever uses the credential: it answers everything itself, also what it tunnels, with a certificate of its own. */
class ListeningProxy {
	readonly heard: string[] = [];
	readonly #plain: Server;
	readonly #secure: StubServer;

	constructor(certificate: Certificate) {
		const note = (headers: object) => void this.heard.push(JSON.stringify(headers));
		this.#secure = new StubServer(({ headers }) => (note(headers), jsonResponse({})), certificate);
		this.#plain = createServer((request, response) => {
			note(request.headers);
			response.end('{}');
		});
		this.#plain.on('connect', (_request, socket) => {
			const onward = connect(this.#secure.port, '127.0.0.1', () => void socket.write('HTTP/1.1 200 OK\r\n\r\n'));
			for (const end of [socket, onward]) end.on('error', () => undefined);
			socket.pipe(onward).pipe(socket);
		});
	}

	async start(): Promise<this> {
		await this.#secure.start();
		await new Promise<void>((resolve) => this.#plain.listen(0, '127.0.0.1', resolve));
		return this;
	}

	get url() {
		return `http://127.0.0.1:${(this.#plain.address() as AddressInfo).port}`;
	}

	async stop() {
		this.#plain.closeAllConnections();
		this.#plain.close();
		await this.#secure.stop();
	}
}

let certificate: Certificate;
let proxy: ListeningProxy;
let plain: StubServer;
let secure: StubServer;
const respond = () => jsonResponse({ data: {} });

beforeAll(async () => {
	const extensions = [{ name: 'subjectAltName' as const, altNames: [{ type: 7 as const, ip: '127.0.0.1' }] }];
	const made = await generate([{ name: 'commonName', value: '127.0.0.1' }], { keyType: 'ec', algorithm: 'sha256', extensions });
	certificate = { key: made.private, cert: made.cert };
	proxy = await new ListeningProxy(certificate).start();
	plain = await new StubServer(respond).start();
	secure = await new StubServer(respond, certificate).start();
});
afterAll(async () => {
	for (const server of [proxy, plain, secure]) await server.stop();
});
beforeEach(() => {
	proxy.heard.length = 0;
	plain.requests.length = 0;
	secure.requests.length = 0;
});

const UNTRUSTED = 'SSL Issue';

test.each<[option: string, platform: () => StubServer, options: () => object, error: string | undefined]>([
	['Proxy, over plain HTTP to this machine', () => plain, () => ({ proxy: proxy.url }), undefined],
	['Proxy and Ignore SSL Issues', () => secure, () => ({ proxy: proxy.url, rejectUnauthorized: false }), UNTRUSTED],
	['Ignore SSL Issues', () => secure, () => ({ rejectUnauthorized: false }), UNTRUSTED],
	['Ignore SSL Issues of the newer function', () => secure, () => ({ skipSslCertificateValidation: true }), UNTRUSTED],
	['a certificate authority of their own', () => secure, () => ({ agentOptions: { ca: certificate.cert } }), UNTRUSTED],
	['no check of certificates in agentOptions', () => secure, () => ({ agentOptions: { rejectUnauthorized: false } }), UNTRUSTED],
])('%s: the token is not sent past the platform', async (_, platform, options, problem) => {
	const { origin, requests } = platform();
	const { error } = await send({ baseUrl: origin }, { uri: `${origin}/api/v2/ping`, ...options() });
	expect(proxy.heard).toEqual([]);
	expect(requests.map(({ target, headers }) => [target, headers.authorization])).toEqual(
		problem ? [] : [['/api/v2/ping', `Bearer ${TOKEN}`]],
	);
	if (problem) expect(JSON.stringify(error)).toContain(problem);
	else expect(error).toBeUndefined();
});

test('the platform is asked by its own name, not one in the header Host', async () => {
	const { origin, requests } = plain;
	await send({ baseUrl: origin }, { uri: `${origin}/api/v2/ping`, headers: { host: 'other.example.com', 'X-A': 'b' } });
	expect(requests.map(({ headers }) => [headers.host, headers['x-a']])).toEqual([[new URL(origin).host, 'b']]);
});

test('a redirect takes the token nowhere', async () => {
	const { origin, requests } = plain;
	plain.respond = ({ target }) =>
		target === '/api/v2/ping' ? { status: 302, headers: { location: `${proxy.url}/elsewhere` } } : respond();
	expect((await send({ baseUrl: origin }, { uri: `${origin}/api/v2/ping`, followAllRedirects: true })).error).toBeUndefined();
	plain.respond = respond;
	expect(proxy.heard).toEqual([]);
	// Without HTTPS, the platform is its own proxy, also for what follows.
	expect(requests.map(({ target, headers }) => [target, headers.authorization])).toEqual([
		['/api/v2/ping', `Bearer ${TOKEN}`],
		['/elsewhere', undefined],
	]);
});

describe('a proxy from the environment', () => {
	/** That of the engine: Jest has a copy. */
	const { env } = (globalThis as unknown as { requireByNode(name: string): NodeJS.Process }).requireByNode('node:process');
	const before = { ...env };
	beforeEach(() => void Object.assign(env, { http_proxy: proxy.url, no_proxy: '', NO_PROXY: '' }));
	afterEach(() => {
		for (const name of ['http_proxy', 'no_proxy', 'NO_PROXY']) {
			if (before[name] === undefined) delete env[name];
			else env[name] = before[name];
		}
	});

	test.each(['127.0.0.1', 'localhost'])('gets nothing that is sent to %s over plain HTTP', async (host) => {
		const origin = `http://${host}:${plain.port}`;
		expect((await send({ baseUrl: origin }, { uri: `${origin}/api/v2/ping` })).error).toBeUndefined();
		expect([plain.requests.length, proxy.heard]).toEqual([1, []]);
	});
});
