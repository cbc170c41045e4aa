/** A server that is not the sandbox: somebody else's, or a platform that keeps to no contract. */
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Heard {
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

export class Listener {
	readonly heard: Heard[] = [];
	/** What it answers, as JSON text. */
	answer: (heard: Heard) => { status?: number; body: string } = () => ({ body: '{"data":[]}' });
	private readonly server;

	/** @param certificate makes it speak HTTPS */
	constructor(private readonly certificate?: Certificate) {
		const listener: RequestListener = (request, response) => {
			void text(request).then((body) => {
				const { method = '', url: target = '', headers } = request;
				const heard = { method, target, headers, body };
				this.heard.push(heard);
				const { status = 200, body: answer } = this.answer(heard);
				response.writeHead(status, { 'content-type': 'application/json' }).end(answer);
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
export function useListener(certificate?: Certificate): Listener {
	const listener = new Listener(certificate);
	const { answer } = listener;
	beforeAll(async () => await listener.open());
	beforeEach(() => {
		listener.heard.length = 0;
		listener.answer = answer;
	});
	afterAll(async () => await listener.close());
	return listener;
}
