/** A server that is not the sandbox: somebody else's, or a platform that keeps to no contract. */
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ReceivedRequest {
	method: string;
	/** The request's target as it came: nothing in it is decoded or put straight. */
	target: string;
	headers: IncomingHttpHeaders;
	body: string;
}

export interface Certificate {
	key: string;
	cert: string;
}

export class RecordingServer {
	readonly requests: ReceivedRequest[] = [];
	/** What it answers, as JSON text. */
	respond: (requests: ReceivedRequest) => { status?: number; body: string } = () => ({
		body: '{"data":[]}',
	});
	private readonly server;

	/** @param certificate makes it speak HTTPS */
	constructor(private readonly certificate?: Certificate) {
		const listener: RequestListener = (request, response) => {
			void text(request).then((body) => {
				const { method = '', url: target = '', headers } = request;
				const requests = { method, target, headers, body };
				this.requests.push(requests);
				const { status = 200, body: respond } = this.respond(requests);
				response.writeHead(status, { 'content-type': 'application/json' }).end(respond);
			});
		};
		this.server = certificate ? createSecureServer(certificate, listener) : createServer(listener);
	}

	async open(): Promise<void> {
		await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
	}

	get port(): number {
		return (this.server.address() as AddressInfo).port;
	}

	get origin(): string {
		return `${this.certificate ? 'https' : 'http'}://127.0.0.1:${this.port}`;
	}

	async close(): Promise<void> {
		this.server.closeAllConnections();
		await new Promise((resolve) => this.server.close(resolve));
	}
}

/** A listener for a test file; what it heard is forgotten before each test. */
export function useRecordingServer(certificate?: Certificate): RecordingServer {
	const listener = new RecordingServer(certificate);
	const { respond } = listener;
	beforeAll(async () => await listener.open());
	beforeEach(() => {
		listener.requests.length = 0;
		listener.respond = respond;
	});
	afterAll(async () => await listener.close());
	return listener;
}
